//! Objects beside commits: whose they are, what may replace them, when they go.

use super::*;

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
        };
        self.store.add_space_object(actor, &new)
    }

    /// The file that somebody finds under an id.
    fn find(&self, actor: &Actor, id: u8) -> Option<String> {
        let found = self.store.space_object(actor, ObjectId([id; 32]));
        found.ok().map(|found| found.file)
    }

    fn used_bytes(&self) -> u64 {
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
        assert!(world.store.has_space_object(actor, id, [6; 32]).unwrap());
        assert!(!world.store.has_space_object(actor, id, [7; 32]).unwrap());
    }
    assert_eq!(
        world.used_bytes(),
        200,
        "the other account's waits for its commit"
    );
}

#[test]
fn a_commit_brings_the_objects_within_manifests() {
    let mut world = World::with_genesis(open(None));
    for n in 1..=3 {
        world.put([n; 32], [n; 32], &format!("{n}")).unwrap();
    }
    let file = world.writer.file(node(1), "a", [1; 32]);
    let mut request = request(&world.writer.commit(vec![bytes(file)]));
    request.objects = vec![ObjectId([2; 32]), ObjectId([4; 32])];
    let refused = world.store.commit(&world.actor, &request);
    assert!(
        matches!(refused, Err(Error::Conflict { .. })),
        "{refused:?}"
    );
    request.objects = vec![ObjectId([2; 32])];
    world.store.commit(&world.actor, &request).unwrap();
    world.store.source().advance(7 * 24 * 3600 * 1000);
    // What no commit named goes after its time; the rest stays, and is what a backup needs.
    assert_eq!(world.store.collect_space_objects().unwrap(), ["3"]);
    let needed = world.store.needed_objects().unwrap();
    assert_eq!(needed.get("1"), Some(&100));
    assert_eq!((needed.len(), world.used_bytes()), (2, 200));
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
        .set_limits(world.actor.account, Some(150), None)
        .unwrap();
    world.put([1; 32], [1; 32], "1").unwrap();
    let refused = world.put([2; 32], [2; 32], "2");
    assert!(matches!(refused, Err(Error::QuotaFull(_))), "{refused:?}");
    let mut purged = crate::Purged::default();
    let erase = |tx: &Tx<'_>| crate::erasure::erase_account(tx, world.actor.account, &mut purged);
    world.store.write(erase).unwrap();
    assert_eq!(purged.objects, ["1"]);
}
