//! Marks of deletions, and those of an index from before there were any.

use super::*;
use crate::folders::FolderSettings;
use crate::open::Index;
use crate::remote::RemoteRow;
use cairn_model::{Kind, LocalId, Name};

fn node(n: u8) -> NodeId {
    NodeId::from_random_bytes([n; 16])
}

fn name(n: u8) -> Name {
    Name::new(format!("n{n}")).unwrap()
}

/// Records a node of the service as synced with a local row that is gone.
fn put(
    db: &Db<'_>,
    folder: FolderId,
    n: u8,
    parent: Option<u8>,
    kind: Kind,
) -> Result<(), IndexError> {
    let parent = parent.map(node);
    let row = RemoteRow {
        kind,
        ..RemoteRow::folder(node(n), parent, name(n))
    };
    db.put_remote(&[], &row)?;
    db.put_synced(&SyncedRow {
        folder,
        node: node(n),
        local: LocalId(i64::from(n)),
        parent,
        name: name(n),
        kind,
        revision: None,
        hash: None,
        size: 0,
        executable: false,
    })
}

#[test]
fn a_folder_is_confirmed_if_each_file_in_it_is() {
    let index = Index::memory().unwrap();
    index
        .write(|db| {
            let folder = db.add_folder("/r", "/", &FolderSettings::default())?;
            put(db, folder, 1, None, Kind::Folder)?;
            put(db, folder, 2, Some(1), Kind::File)?;
            put(db, folder, 3, Some(1), Kind::File)?;
            put(db, folder, 4, None, Kind::Folder)?;
            for waiting in [[node(1), node(2)], [node(1), node(3)]] {
                assert!(!db.is_deletion_confirmed(folder, node(1))?);
                db.put_waiting_deletions(folder, Side::Remote, &waiting.into())?;
                db.confirm_waiting_deletions(folder, Side::Remote)?;
            }
            assert!(db.is_deletion_confirmed(folder, node(1))?);
            assert!(db.is_deletion_confirmed(folder, node(3))?);
            assert!(!db.is_deletion_confirmed(folder, node(4))?, "it is empty");
            // Another device puts a file there that nobody has asked about.
            let row = RemoteRow::folder(node(5), Some(node(1)), name(5));
            let kind = Kind::File;
            db.put_remote(&[], &RemoteRow { kind, ..row })?;
            assert!(!db.is_deletion_confirmed(folder, node(1))?);
            Ok(())
        })
        .unwrap();
}

#[test]
fn marks_end_with_the_question_and_when_both_sides_agree_anew() {
    let index = Index::memory().unwrap();
    index
        .write(|db| {
            let folder = db.add_folder("/r", "/", &FolderSettings::default())?;
            for n in 1..=3 {
                put(db, folder, n, None, Kind::File)?;
            }
            let all = (1..=3).map(node).collect();
            db.put_waiting_deletions(folder, Side::Local, &all)?;
            assert_eq!(db.waiting_deletions(folder, Side::Local)?, all);
            let fewer = [node(1), node(2)].into();
            db.put_waiting_deletions(folder, Side::Local, &fewer)?;
            assert_eq!(db.waiting_deletions(folder, Side::Local)?, fewer);
            assert_eq!(db.waiting_deletions(folder, Side::Remote)?, [].into());
            let kept = db.deletions_to_keep(folder, Side::Local)?;
            assert_eq!(kept.len(), 2, "the service has them, elsewhere");

            put(db, folder, 1, None, Kind::File)?;
            db.confirm_waiting_deletions(folder, Side::Local)?;
            db.end_confirmation(folder, Side::Local)?;
            assert_eq!(db.waiting_deletions(folder, Side::Local)?, [].into());
            assert_eq!(db.confirmed_deletions(folder)?, [node(2)].into());
            put(db, folder, 2, None, Kind::File)?;
            assert_eq!(db.confirmed_deletions(folder)?, [].into());
            Ok(())
        })
        .unwrap();
}
