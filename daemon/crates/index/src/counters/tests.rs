//! After each kind of change the counters are what counting the rows gives.

use crate::open::{Db, Index};
use crate::testing::{local, node, older_index};
use crate::{FolderSettings, IndexError, LocalRow, LocalStat, Skipped, SyncedRow};
use cairn_model::{FolderId, Kind, LocalId, NodeId, Side};
use std::collections::BTreeSet;

/// Counts the rows, and checks the counters against it. Returns the files, bytes and unconfirmed files.
fn checked(db: &Db<'_>, folder: FolderId) -> Result<(u64, u64, u64), IndexError> {
    let (mut files, mut bytes) = (0, 0);
    for row in db.all_locals(folder)? {
        if row.kind == Kind::File && row.skipped == Skipped::No {
            files += 1;
            bytes += row.stat.size;
        }
    }
    let confirmed = db.confirmed_deletions(folder)?;
    let synced = db.all_synced(folder)?.into_iter();
    let unconfirmed = synced
        .filter(|row| row.kind == Kind::File && !confirmed.contains(&row.node))
        .map(|_| 1)
        .sum();
    assert_eq!(db.local_totals(folder)?, (files, bytes));
    assert_eq!(db.unconfirmed_files(folder)?, unconfirmed);
    Ok((files, bytes, unconfirmed))
}

fn sized(row: LocalRow, size: u64) -> LocalRow {
    let stat = LocalStat {
        size,
        ..LocalStat::default()
    };
    LocalRow { stat, ..row }
}

fn synced(folder: FolderId, node: NodeId, local: &LocalRow) -> SyncedRow {
    SyncedRow {
        folder,
        node,
        local: local.id,
        parent: None,
        name: local.name.clone(),
        kind: local.kind,
        revision: None,
        hash: None,
        size: local.stat.size,
        executable: false,
    }
}

/// A folder with a directory, a file in it, one beside it, and one that is not synced.
fn fill(db: &Db<'_>) -> Result<(FolderId, [LocalRow; 3]), IndexError> {
    let other = db.add_folder("/other", "/other", &FolderSettings::default())?;
    db.insert_local(&sized(local(other, None, "elsewhere"), 1_000))?;
    let folder = db.add_folder("/r", "/", &FolderSettings::default())?;
    let mut dir = local(folder, None, "dir");
    dir.kind = Kind::Folder;
    dir.id = db.insert_local(&dir)?;
    let mut inside = sized(local(folder, Some(dir.id), "inside"), 5);
    inside.id = db.insert_local(&inside)?;
    let mut beside = sized(local(folder, None, "beside"), 7);
    beside.id = db.insert_local(&beside)?;
    let ignored = LocalRow {
        skipped: Skipped::Ignored,
        ..sized(local(folder, None, "ignored"), 9)
    };
    db.insert_local(&ignored)?;
    Ok((folder, [dir, inside, beside]))
}

#[test]
fn files_that_come_change_and_go_are_counted() {
    let index = Index::memory().unwrap();
    index
        .write(|db| {
            let (folder, [dir, inside, beside]) = fill(db)?;
            assert_eq!(checked(db, folder)?, (2, 12, 0));
            let longer = sized(beside, 70);
            db.update_local(&longer)?;
            assert_eq!(checked(db, folder)?, (2, 75, 0));
            db.update_local(&LocalRow {
                skipped: Skipped::Unreadable,
                ..longer.clone()
            })?;
            assert_eq!(checked(db, folder)?, (1, 5, 0));
            db.update_local(&longer)?;
            db.move_local_aside(inside.id)?;
            assert_eq!(checked(db, folder)?, (2, 75, 0));
            db.remove_local(folder, dir.id)?;
            assert_eq!(checked(db, folder)?, (1, 70, 0));
            db.update_local(&LocalRow {
                kind: Kind::Folder,
                ..longer
            })?;
            assert_eq!(checked(db, folder)?, (0, 0, 0));
            db.remove_folder(folder)?;
            assert_eq!(db.local_totals(folder)?, (0, 0));
            Ok(())
        })
        .unwrap();
}

#[test]
fn files_in_sync_are_counted_until_somebody_confirms_their_deletion() {
    let index = Index::memory().unwrap();
    index
        .write(|db| {
            let (folder, rows) = fill(db)?;
            let [dir, inside, beside] = &rows;
            for (id, row) in [(1, dir), (2, inside), (3, beside)] {
                db.put_synced(&synced(folder, node(id), row))?;
            }
            assert_eq!(checked(db, folder)?, (2, 12, 2));
            db.put_synced(&synced(folder, node(3), beside))?;
            assert_eq!(checked(db, folder)?, (2, 12, 2), "the same again");
            db.put_waiting_deletions(folder, Side::Remote, &BTreeSet::from([node(2)]))?;
            db.confirm_waiting_deletions(folder, Side::Remote)?;
            assert_eq!(checked(db, folder)?, (2, 12, 1));
            db.put_synced(&synced(folder, node(2), inside))?;
            assert_eq!(checked(db, folder)?, (2, 12, 2), "agreed upon anew");
            db.forget_local_below(folder, dir.id)?;
            assert_eq!(checked(db, folder)?, (2, 12, 1));
            db.remove_synced(folder, node(3))?;
            assert_eq!(checked(db, folder)?, (2, 12, 0));
            db.put_synced(&synced(folder, node(3), beside))?;
            db.clear_synced()?;
            assert_eq!(checked(db, folder)?, (2, 12, 0));
            Ok(())
        })
        .unwrap();
}

#[test]
fn the_files_of_an_older_index_are_counted_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index.db");
    older_index(
        &path,
        "TABLE counters",
        "INSERT INTO folders (id, root, remote_path, settings) VALUES (1, '/a', '/', '{}'), (2, '/b', '/b', '{}');
         INSERT INTO local (folder, parent, name, key, kind, size, mtime, ctime, device, inode, executable, held)
             VALUES (1, 0, 'f', 'f', 0, 3, 0, 0, 0, 1, 0, 0), (1, 0, 'g', 'g', 0, 4, 0, 0, 0, 2, 0, 0),
             (1, 0, 'left out', 'left out', 0, 5, 0, 0, 0, 3, 0, 1), (1, 0, 'd', 'd', 1, 0, 0, 0, 0, 4, 0, 0);
         INSERT INTO synced (folder, node, local, parent, name, kind, size, executable)
             VALUES (1, zeroblob(16), 1, zeroblob(16), 'f', 0, 3, 0);",
    );
    let index = Index::open(&path).unwrap().index;
    index
        .write(|db| {
            assert_eq!(checked(db, FolderId(1))?, (2, 7, 1));
            assert_eq!(checked(db, FolderId(2))?, (0, 0, 0));
            db.remove_local(FolderId(1), LocalId(2))?;
            assert_eq!(checked(db, FolderId(1))?, (1, 3, 1));
            Ok(())
        })
        .unwrap();
}
