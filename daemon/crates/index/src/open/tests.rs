//! Damaged, newer and older index files.

use super::*;
use crate::testing::older_index;
use crate::worklist::{PlanSizes, Round};
use cairn_model::{FolderId, LocalId, NodeId, Side};
use std::sync::Barrier;

#[test]
fn garbage_is_set_aside_and_a_new_index_begun() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index.db");
    std::fs::write(
        &path,
        b"this is no database, whatever its name says; long enough to be read",
    )
    .unwrap();
    let opened = Index::open(&path).unwrap();
    assert!(opened.set_aside.unwrap().exists());
    opened.index.write(|db| db.set_meta("a", b"1")).unwrap();
    drop(opened.index);
    let again = Index::open(&path).unwrap();
    assert!(again.set_aside.is_none());
    assert_eq!(
        again.index.read(|db| db.meta("a")).unwrap(),
        Some(b"1".to_vec())
    );
}

#[cfg(unix)]
#[test]
fn an_index_that_can_not_be_written_is_named_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index.db");
    drop(Index::open(&path).unwrap());
    // As in a read-only directory, SQLite can't make the file that it needs beside the index.
    std::os::unix::fs::symlink("nowhere", dir.path().join("index.db-shm")).unwrap();
    for opened in [
        Index::open(&path).map(drop),
        Index::open_for_lookups(&path).map(drop),
    ] {
        let text = opened.unwrap_err().to_string();
        assert!(text.contains(&path.display().to_string()), "{text}");
        assert!(text.contains("writable for this user"), "{text}");
    }
    assert!(path.exists(), "it is not set aside");
}

#[test]
fn a_damaged_index_is_set_aside() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index.db");
    drop(Index::open(&path).unwrap());
    let mut bytes = std::fs::read(&path).unwrap();
    for byte in bytes.iter_mut().skip(200) {
        *byte ^= 0x5a;
    }
    std::fs::write(&path, bytes).unwrap();
    assert!(Index::open(&path).unwrap().set_aside.is_some());
}

#[test]
fn an_index_of_a_newer_version_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index.db");
    drop(Index::open(&path).unwrap());
    Connection::open(&path)
        .unwrap()
        .pragma_update(None, "user_version", 99)
        .unwrap();
    assert!(matches!(
        Index::open(&path),
        Err(IndexError::TooNew { found: 99, .. })
    ));
}

#[test]
fn an_index_of_the_old_content_format_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index.db");
    let old = Connection::open(&path).unwrap();
    for sql in &MIGRATIONS[..9] {
        old.execute_batch(sql).unwrap();
    }
    old.pragma_update(None, "user_version", 9).unwrap();
    drop(old);
    let refused = Index::open(&path).err().unwrap();
    assert!(matches!(refused, IndexError::TooOld { .. }));
    let message = refused.to_string();
    let home = dir.path().display().to_string();
    for part in [&home, "nothing was changed", "--home", "CAIRN_HOME"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let version: i64 = Connection::open(&path)
        .unwrap()
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .unwrap();
    assert_eq!(version, 9);
}

#[test]
fn many_open_one_index_at_once_that_is_new_or_of_an_older_version() {
    for round in 0..20 {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index.db");
        if round % 2 == 1 {
            older_index(&path, "deletion_waits", "");
        }
        let threads = 8;
        let start = Barrier::new(threads);
        std::thread::scope(|scope| {
            for n in 0..threads {
                let (start, path) = (&start, &path);
                scope.spawn(move || {
                    start.wait();
                    let opened = Index::open(path).unwrap();
                    assert_eq!(opened.set_aside, None);
                    let key = format!("key {n}");
                    opened.index.write(|db| db.set_meta(&key, b"1")).unwrap();
                });
            }
        });
        let index = Index::open(&path).unwrap().index;
        let all = index.read(|db| {
            let keys = (0..threads).map(|n| db.meta(&format!("key {n}")));
            keys.collect::<Result<Vec<_>, _>>()
        });
        assert!(all.unwrap().iter().all(Option::is_some));
    }
}

#[test]
fn decisions_about_deletions_of_an_older_index_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index.db");
    older_index(
        &path,
        "deletion_waits",
        "INSERT INTO folders (id, root, remote_path, settings) VALUES (1, '/a', '/', '{}'), (2, '/b', '/', '{}');
         INSERT INTO synced (folder, node, local, parent, name, kind, size, executable)
             VALUES (1, randomblob(16), 1, x'', 'f', 0, 0, 0), (2, randomblob(16), 2, x'', 'f', 0, 0, 0);
         INSERT INTO questions (folder, side, files, at, answer)
             VALUES (1, 'remote', 1, 0, 'agreed'), (2, 'remote', 1, 0, 'asked');",
    );
    let index = Index::open(&path).unwrap().index;
    let (confirmed, waiting) = (FolderId(1), FolderId(2));
    index
        .write(|db| {
            assert_eq!(db.confirmations(confirmed)?, []);
            assert_eq!(db.confirmed_deletions(confirmed)?.len(), 1);
            assert_eq!(db.confirmations(waiting)?.len(), 1);
            db.confirm_waiting_deletions(waiting, Side::Remote)?;
            assert_eq!(db.confirmed_deletions(waiting)?.len(), 1);
            Ok(())
        })
        .unwrap();
}

#[test]
fn what_was_dirty_in_an_older_index_is_dirty_still() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index.db");
    older_index(
        &path,
        "dirty_local_marks",
        "INSERT INTO folders (id, root, remote_path, settings) VALUES (1, '/a', '/', '{}');
         INSERT INTO synced (folder, node, local, parent, name, kind, size, executable)
             VALUES (1, zeroblob(16), 1, x'', 'f', 0, 0, 0);
         INSERT INTO dirty_local (folder, local) VALUES (1, 1), (1, 2), (1, 3);
         INSERT INTO dirty_node (folder, node) VALUES (1, zeroblob(16)), (1, randomblob(16));",
    );
    let index = Index::open(&path).unwrap().index;
    let folder = FolderId(1);
    let sizes = PlanSizes { whole: 4, part: 1 };
    index
        .read(|db| {
            let dirty = db.dirty_keys(folder)?;
            assert_eq!((dirty.local.len(), dirty.node.len()), (3, 2));
            // Besides the newest mark, what was in sync is in a part.
            let part = db.worklist(folder, Round::default(), sizes, true)?;
            assert_eq!(part.keys.local, [LocalId(1), LocalId(3)]);
            assert!(part.keys.node.contains(&NodeId(uuid::Uuid::nil())));
            assert!(part.is_more);
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_failed_write_leaves_nothing_behind() {
    let index = Index::memory().unwrap();
    let failed: Result<(), _> = index.write(|db| {
        db.set_meta("a", b"1")?;
        Err(IndexError::Corrupt("test"))
    });
    assert!(failed.is_err());
    assert_eq!(index.read(|db| db.meta("a")).unwrap(), None);
}

#[test]
fn a_read_does_not_wait_for_a_write_and_sees_none_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::open(&dir.path().join("index.db")).unwrap().index;
    let read = || index.read(|db| db.meta("a")).unwrap();
    index.write(|db| db.set_meta("a", b"1")).unwrap();
    let beside = index.write(|db| {
        db.set_meta("a", b"2")?;
        Ok(std::thread::scope(|scope| {
            scope.spawn(read).join().unwrap()
        }))
    });
    assert_eq!(beside.unwrap(), Some(b"1".to_vec()));
    assert_eq!(read(), Some(b"2".to_vec()));
}

#[test]
fn a_read_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::open(&dir.path().join("index.db")).unwrap().index;
    assert!(index.read(|db| db.set_meta("a", b"1")).is_err());
    assert_eq!(index.read(|db| db.meta("a")).unwrap(), None);
}

#[test]
fn only_an_index_that_was_closed_in_order_and_left_alone_is_not_checked() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index.db");
    let is_trusted = || crate::closed_in_order::is_as_it_was_closed(&path);
    let index = Index::open(&path).unwrap().index;
    index.write(|db| db.set_meta("a", b"1")).unwrap();
    assert!(!is_trusted(), "it is open");
    drop(index);
    assert!(is_trusted());
    assert!(Index::open(&path).unwrap().set_aside.is_none());
    assert!(is_trusted(), "closed once more");

    // A crash leaves the log.
    let index = Index::open(&path).unwrap().index;
    index.write(|db| db.set_meta("a", b"2")).unwrap();
    let wal = with_suffix(&path, "-wal");
    let copies = [&path, &wal].map(|file| std::fs::read(file).unwrap());
    drop(index);
    for (file, bytes) in [&path, &wal].into_iter().zip(copies) {
        std::fs::write(file, bytes).unwrap();
    }
    assert!(!is_trusted());
    let index = Index::open(&path).unwrap().index;
    assert_eq!(index.read(|db| db.meta("a")).unwrap(), Some(b"2".to_vec()));
    drop(index);

    // Somebody else has changed a page that no query of the start would read.
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 4096].fill(0x5a);
    std::fs::write(&path, bytes).unwrap();
    assert!(!is_trusted());
    assert!(Index::open(&path).unwrap().set_aside.is_some());
}

#[test]
fn an_index_is_looked_into_beside_its_owner_and_a_damaged_one_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index.db");
    let owner = Index::open(&path).unwrap().index;
    owner.write(|db| db.set_meta("a", b"1")).unwrap();
    let other = Index::open_for_lookups(&path).unwrap();
    assert_eq!(other.read(|db| db.meta("a")).unwrap(), Some(b"1".to_vec()));
    drop((other, owner));
    std::fs::write(&path, "no database").unwrap();
    assert!(Index::open_for_lookups(&path).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"no database");
}

#[test]
fn the_log_of_an_index_that_rests_is_empty() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index.db");
    let index = Index::open(&path).unwrap().index;
    index.write(|db| db.set_meta("a", &[1; 100_000])).unwrap();
    let length = || std::fs::metadata(with_suffix(&path, "-wal")).unwrap().len();
    assert!(length() > 100_000);
    index.shrink().unwrap();
    assert_eq!(length(), 0);
    assert_eq!(
        index.read(|db| db.meta("a")).unwrap(),
        Some(vec![1; 100_000])
    );
    Index::memory().unwrap().shrink().unwrap();
}

#[test]
fn an_index_whose_damage_was_met_while_it_was_open_is_checked_by_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index.db");
    let index = Index::open(&path).unwrap().index;
    let keys: Vec<String> = (0..40).map(|n| format!("key {n}")).collect();
    index
        .write(|db| {
            keys.iter()
                .try_for_each(|key| db.set_meta(key, &[1; 100_000]))
        })
        .unwrap();
    drop(index);
    let index = Index::open(&path).unwrap().index;
    assert!(crate::closed_in_order::is_as_it_was_closed(&path));
    // The disk loses pages, and nobody has written: neither size nor time need to tell.
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..].fill(0x5a);
    std::fs::write(&path, bytes).unwrap();
    let read = index.read(|db| keys.iter().try_for_each(|key| db.meta(key).map(drop)));
    assert!(matches!(read, Err(IndexError::Sql(_))), "{read:?}");
    drop(index);
    assert!(!crate::closed_in_order::is_as_it_was_closed(&path));
    assert!(Index::open(&path).unwrap().set_aside.is_some());
}
