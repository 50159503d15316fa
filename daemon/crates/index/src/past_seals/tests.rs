//! Tests of what is kept of nodes that are gone.

use crate::remote::{PutResult, RemoteRow};
use crate::{Db, Index};
use cairn_model::{Kind, Name, NodeId, RevisionId};
use uuid::Uuid;

fn node(id: u128) -> NodeId {
    NodeId(Uuid::from_u128(id))
}

fn file(id: u128, parent: Option<NodeId>, seen: u64, seal: u8) -> RemoteRow {
    RemoteRow {
        kind: Kind::File,
        revision: Some(RevisionId(Uuid::from_u128(2))),
        version: seen,
        seal: Some(vec![seal]),
        seen,
        ..RemoteRow::folder(node(id), parent, Name::new(format!("f{id}")).unwrap())
    }
}

fn put(db: &Db<'_>, row: &RemoteRow) -> PutResult {
    db.put_remote(&[], row).unwrap()
}

#[test]
fn a_file_that_comes_back_does_not_come_back_as_it_was_before_its_deletion() {
    let index = Index::memory().unwrap();
    index
        .write(|db| {
            put(db, &file(1, None, 3, 3));
            db.remove_remote(node(1))?;
            db.put_deletion_seal(node(1), 4)?;
            assert_eq!(db.newest_seal(node(1))?, 4);
            assert_eq!(db.deletion_seal(node(1))?, Some(4));
            for past in [
                file(1, None, 2, 2),
                file(1, None, 3, 3),
                file(1, None, 4, 5),
            ] {
                assert_eq!(put(db, &past), PutResult::Rollback, "{past:?}");
                assert_eq!(db.remote_row(node(1))?, None);
            }
            // Restored without keys, then changed by somebody who has them.
            let restored = RemoteRow {
                seen: 0,
                seal: None,
                ..file(1, None, 5, 5)
            };
            assert_eq!(put(db, &restored), PutResult::New);
            assert_eq!(db.deletion_seal(node(1))?, None, "it is there again");
            assert_eq!(db.newest_seal(node(1))?, 4);
            assert_eq!(put(db, &file(1, None, 3, 3)), PutResult::Known);
            let past = RemoteRow {
                version: 6,
                ..file(1, None, 3, 3)
            };
            assert_eq!(put(db, &past), PutResult::Rollback);
            assert_eq!(put(db, &file(1, None, 7, 7)), PutResult::New);
            Ok(())
        })
        .unwrap();
}

#[test]
fn what_went_with_its_folder_comes_back_as_it_was_last_and_not_as_before() {
    let index = Index::memory().unwrap();
    index
        .write(|db| {
            let folder = RemoteRow::folder(node(1), None, Name::new("d").unwrap());
            put(db, &folder);
            put(db, &file(2, Some(node(1)), 3, 3));
            db.remove_remote(node(1))?;
            assert_eq!(db.deletion_seal(node(2))?, None);
            put(db, &folder);
            for past in [file(2, Some(node(1)), 2, 2), file(2, Some(node(1)), 3, 4)] {
                assert_eq!(put(db, &past), PutResult::Rollback, "{past:?}");
            }
            assert_eq!(put(db, &file(2, Some(node(1)), 3, 3)), PutResult::New);
            Ok(())
        })
        .unwrap();
}

#[test]
fn what_was_seen_outlives_the_whole_tree() {
    let index = Index::memory().unwrap();
    index
        .write(|db| {
            put(db, &file(1, None, 3, 3));
            db.clear_remote()?;
            assert!(db.is_past(&file(1, None, 2, 2))?);
            assert!(!db.is_past(&file(1, None, 3, 3))?);
            db.remove_past_seal(node(1))?;
            assert_eq!(put(db, &file(1, None, 2, 2)), PutResult::New);
            Ok(())
        })
        .unwrap();
}
