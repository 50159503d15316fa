//! Objects (encrypted blobs) that commits of a signed log refer to: whose they are, what may replace them, when they
//! go.

use super::*;
use cairn_log::ObjectId;

impl World {
    pub(super) fn put(&self, id: [u8; 32], sha256: [u8; 32], file: &str) -> Result<Vec<String>> {
        self.put_by(&self.actor, id, sha256, file)
    }

    fn put_by(
        &self,
        actor: &Actor,
        id: [u8; 32],
        sha256: [u8; 32],
        file: &str,
    ) -> Result<Vec<String>> {
        let new = NewSpaceObject {
            id: ObjectId(id),
            sha256,
            size: 100,
            file,
            heals: None,
        };
        self.store.add_space_object(actor, &new)
    }

    /// The file that somebody finds under an id.
    fn find(&self, actor: &Actor, id: u8) -> Option<String> {
        let found = self.store.space_object(actor, ObjectId([id; 32]));
        found.ok().map(|found| found.file)
    }

    /// The bytes that objects alone use.
    fn object_bytes(&self) -> u64 {
        let sum = "SELECT coalesce(sum(size), 0) FROM log_objects";
        let conn = self.store.writer.lock();
        conn.query_row(sum, [], |row| row.get(0)).unwrap()
    }

    pub(super) fn used_bytes(&self) -> u64 {
        self.store.quota(self.actor.account).unwrap().storage_used
    }
}

#[test]
fn an_object_is_its_senders_until_a_commit_names_it() {
    let mut world = World::with_genesis(open(None));
    let (own, other) = (
        world.actor,
        Actor {
            account: AccountId::from_random_bytes([9; 16]),
            ..world.actor
        },
    );
    let no_garbage: Vec<String> = Vec::new();
    assert_eq!(
        world.put_by(&other, [1; 32], [8; 32], "theirs").unwrap(),
        no_garbage
    );
    assert_eq!(world.find(&own, 1), None);
    let file = world.writer.file(node(1), "a", [1; 32]);
    let commit = world.writer.commit(vec![bytes(file)]);
    // Somebody else's bytes are no content of this commit.
    let refused = world.send(&commit);
    assert!(
        matches!(refused, Err(Error::Conflict { .. })),
        "{refused:?}"
    );
    assert_eq!(world.put([1; 32], [7; 32], "first").unwrap(), no_garbage);
    assert_eq!(world.put([1; 32], [7; 32], "again").unwrap(), ["again"]);
    assert_eq!(world.put([1; 32], [6; 32], "second").unwrap(), ["first"]);
    assert_eq!(world.write(&commit), Ok(1));
    for actor in [&own, &other] {
        assert_eq!(world.find(actor, 1).as_deref(), Some("second"));
        let refused = world.put_by(actor, [1; 32], [5; 32], "late");
        assert!(
            matches!(refused, Err(Error::Conflict { .. })),
            "{refused:?}"
        );
        assert_eq!(
            world.put_by(actor, [1; 32], [6; 32], "same").unwrap(),
            ["same"]
        );
        let id = ObjectId([1; 32]);
        let like = |sha256| world.store.space_object_like(actor, id, sha256).unwrap();
        assert!(like([6; 32]).is_some());
        assert_eq!(like([7; 32]), None);
    }
    assert_eq!(
        world.object_bytes(),
        200,
        "the other account's waits for its commit"
    );
}

/// Bytes that go bad on the server are somebody's only copy there: who has them can send them again.
#[test]
fn a_damaged_object_takes_the_same_bytes_from_anybody_and_no_others() {
    let mut world = World::with_genesis(open(None));
    world.put([1; 32], [7; 32], "first").unwrap();
    let file = world.writer.file(node(1), "a", [1; 32]);
    let commit = world.writer.commit(vec![bytes(file)]);
    world.write(&commit).unwrap();
    let used = world.used_bytes();
    world.store.note_space_object("first", true).unwrap();
    let other = Actor {
        account: AccountId::from_random_bytes([9; 16]),
        ..world.actor
    };
    let damaged = world.store.space_object(&other, ObjectId([1; 32])).unwrap();
    assert!(damaged.is_damaged);
    let heal = |sha256, file, heals| {
        let new = NewSpaceObject {
            id: ObjectId([1; 32]),
            sha256,
            size: 100,
            file,
            heals: Some(heals),
        };
        world.store.add_space_object(&other, &new)
    };
    let refused = heal([8; 32], "wrong", "first");
    assert!(
        matches!(refused, Err(Error::Conflict { .. })),
        "{refused:?}"
    );
    assert_eq!(heal([7; 32], "second", "first").unwrap(), ["first"]);
    // Somebody else was as fast.
    assert_eq!(heal([7; 32], "third", "first").unwrap(), ["third"]);
    let healed = world.store.space_object(&other, ObjectId([1; 32])).unwrap();
    assert_eq!((healed.file.as_str(), healed.is_damaged), ("second", false));
    assert_eq!(world.used_bytes(), used);
    assert_eq!(world.store.check_integrity().unwrap(), Vec::<String>::new());
}

#[test]
fn objects_count_and_end_with_their_space() {
    let world = World::empty(open(None));
    let refused = world.put([1; 32], [1; 32], "1");
    assert!(matches!(refused, Err(Error::NotFound(_))), "{refused:?}");
    let mut world = world;
    let commit = world.writer.first_commit();
    world.write(&commit).unwrap();
    world
        .store
        .set_limits(world.actor.account, Some(world.used_bytes() + 150), None)
        .unwrap();
    world.put([1; 32], [9; 32], "1").unwrap();
    let refused = world.put([2; 32], [9; 32], "2");
    assert!(matches!(refused, Err(Error::QuotaFull(_))), "{refused:?}");
    let mut purged = crate::Purged::default();
    let erase = |tx: &Tx<'_>| crate::erasure::erase_account(tx, world.actor.account, &mut purged);
    world.store.write(erase).unwrap();
    assert_eq!(purged.objects, ["1"]);
}
