//! The storage that a signed log takes counts for its space (the files of an account or team), and a full space can
//! still be put in order.

use super::*;
use cairn_log::{ControlBody, Epoch, NodeOp};

impl World {
    fn limit(&self, storage: u64) {
        let account = self.actor.account;
        self.store.set_limits(account, Some(storage), None).unwrap();
    }
}

#[test]
fn a_commit_counts_for_the_storage_and_needs_room() {
    let mut world = World::with_genesis(open(None));
    let before = world.used_bytes();
    let folder = world.writer.folder(node(1), None, "a");
    let commit = world.writer.commit(vec![bytes(folder)]);
    world.limit(before + commit.len() as u64);
    let refused = world.send(&commit);
    assert!(matches!(refused, Err(Error::QuotaFull(_))), "{refused:?}");
    assert_eq!(world.used_bytes(), before, "nothing of it is stored");
    world.limit(before + 10_000);
    assert_eq!(world.write(&commit), Ok(1));
    assert!(world.used_bytes() > before + commit.len() as u64);
    assert_eq!(world.store.check_integrity().unwrap(), Vec::<String>::new());
}

#[test]
fn a_full_space_still_deletes_and_revokes() {
    let mut world = World::with_genesis(open(None));
    world.create(1);
    world.create(2);
    world.limit(1);
    let refused = world.put([4; 32], [5; 32], "content");
    assert!(matches!(refused, Err(Error::QuotaFull(_))), "{refused:?}");
    let mut renamed = world.writer.next(node(2), NodeOp::Place);
    renamed.name = b"b".to_vec();
    let commit = world.writer.commit(vec![bytes(renamed)]);
    let refused = world.send(&commit);
    assert!(matches!(refused, Err(Error::QuotaFull(_))), "{refused:?}");
    let purge = bytes(world.writer.next(node(1), NodeOp::Purge));
    let commit = world.writer.commit(vec![purge]);
    world.write(&commit).unwrap();
    // A new epoch with its boxes, beside a list without a device.
    world.put([3; 32], [3; 32], "boxes").unwrap();
    let epoch = ControlBody::Epoch(Epoch {
        epoch: 2,
        check: [2; 32],
        boxes: [3; 32],
    });
    let list = world.writer.control(world.writer.list(2, &[1]));
    let epoch = world.writer.control(epoch);
    let commit = world.writer.commit(vec![list, epoch]);
    world.write(&commit).unwrap();
    // That has an end, too.
    world.run("UPDATE spaces SET storage_used = storage_used + (16 << 20)");
    let list = world.writer.control(world.writer.list(3, &[1]));
    let commit = world.writer.commit(vec![list]);
    let refused = world.send(&commit);
    assert!(matches!(refused, Err(Error::QuotaFull(_))), "{refused:?}");
}

#[test]
fn files_count_until_they_are_deleted_for_good() {
    let mut world = World::with_genesis(open(None));
    let files = |world: &World| world.store.quota(world.actor.account).unwrap().file_count;
    world.run("UPDATE accounts SET file_count_limit = 1");
    world.put([1; 32], [1; 32], "1").unwrap();
    let file = world.writer.file(node(1), "a", [1; 32]);
    let commit = world.writer.commit(vec![bytes(file)]);
    world.write(&commit).unwrap();
    let second = world.writer.file(node(2), "b", [1; 32]);
    let commit = world.writer.commit(vec![bytes(second.clone())]);
    let refused = world.send(&commit);
    assert!(matches!(refused, Err(Error::QuotaFull(_))), "{refused:?}");
    let purge = bytes(world.writer.next(node(1), NodeOp::Purge));
    let commit = world.writer.commit(vec![purge]);
    world.write(&commit).unwrap();
    assert_eq!(files(&world), 0);
    let commit = world.writer.commit(vec![bytes(second)]);
    world.write(&commit).unwrap();
    assert_eq!(files(&world), 1);
}
