//! Tests of the events after which a sent place (parent folder and name) is forgotten.

use super::*;
use crate::{FolderSettings, Index, LocalRow, LocalStat, RemoteRow, Skipped};
use cairn_model::Kind;
use uuid::Uuid;

const NODE: NodeId = NodeId(Uuid::from_u128(1));

/// An index with a folder pair and a directory in it.
fn index() -> (Index, FolderId, LocalId) {
    let index = Index::memory().unwrap();
    let (folder, local) = index
        .write(|db| {
            let folder = db.add_folder("/r", "/", &FolderSettings::default())?;
            let row = LocalRow {
                id: LocalId(0),
                folder,
                parent: None,
                name: Name::new("d").unwrap(),
                kind: Kind::Folder,
                stat: LocalStat::default(),
                executable: false,
                hash: None,
                skipped: Skipped::No,
            };
            Ok((folder, db.insert_local(&row)?))
        })
        .unwrap();
    (index, folder, local)
}

fn place(folder: FolderId, local: LocalId, name: &str, version: u64) -> SentPlace {
    SentPlace {
        node: NODE,
        folder,
        local,
        creates: version == 1,
        parent: None,
        name: Name::new(name.to_owned()).unwrap(),
        version,
    }
}

fn names(db: &Db<'_>) -> Vec<String> {
    let places = db.sent_places(NODE).unwrap();
    places
        .into_iter()
        .map(|place| place.name.to_string())
        .collect()
}

#[test]
fn a_place_that_is_sent_again_is_the_latest() {
    let (index, folder, local) = index();
    index
        .write(|db| {
            for name in ["a", "b", "a"] {
                db.put_sent_place(&place(folder, local, name, 2))?;
            }
            assert_eq!(names(db), ["b", "a"]);
            db.end_sent_place(&place(folder, local, "a", 2))?;
            assert_eq!(db.sent_places(NODE)?, [place(folder, local, "b", 2)]);
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_version_of_the_node_ends_the_places_up_to_it() {
    let (index, folder, local) = index();
    index
        .write(|db| {
            for (name, version) in [("a", 2), ("b", 2), ("c", 3)] {
                db.put_sent_place(&place(folder, local, name, version))?;
            }
            assert_eq!(db.nodes_with_known_places(folder)?, []);
            let row = RemoteRow::folder(NODE, None, Name::new("x").unwrap());
            db.put_remote(&[], &row)?;
            assert_eq!(
                db.nodes_with_known_places(folder)?,
                [],
                "it is at version 1"
            );
            db.put_remote(&[], &RemoteRow { version: 2, ..row })?;
            assert_eq!(db.nodes_with_known_places(folder)?, [NODE]);
            db.end_sent_places(NODE, 2)?;
            assert_eq!(names(db), ["c"]);
            assert_eq!(db.nodes_with_known_places(folder)?, []);
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_directory_is_sent_as_one_node_until_it_has_one() {
    let (index, folder, local) = index();
    index
        .write(|db| {
            assert_eq!(db.sent_folder(local)?, None);
            db.put_sent_place(&place(folder, local, "moved", 2))?;
            assert_eq!(db.sent_folder(local)?, None);
            db.put_sent_place(&place(folder, local, "d", 1))?;
            assert_eq!(db.sent_folder(local)?, Some(NODE));
            db.end_sent_folder(local)?;
            assert_eq!(db.sent_folder(local)?, None);
            assert_eq!(names(db), ["moved"]);
            Ok(())
        })
        .unwrap();
}

#[test]
fn places_end_with_their_node_their_directory_their_pair_and_the_history() {
    type End = fn(&Db<'_>, FolderId, LocalId) -> Result<(), IndexError>;
    let ends: [End; 6] = [
        |db, _, _| db.end_sent_node(NODE),
        |db, folder, local| db.forget_sent_below(folder, local),
        |db, folder, local| db.forget_local(folder, local),
        |db, folder, _| db.forget_sent(folder),
        |db, folder, _| db.remove_folder(folder),
        |db, _, _| db.clear_sent(),
    ];
    for end in ends {
        let (index, folder, local) = index();
        index
            .write(|db| {
                db.put_sent_place(&place(folder, local, "d", 1))?;
                assert_eq!(names(db), ["d"]);
                end(db, folder, local)?;
                assert_eq!(names(db), [""; 0]);
                Ok(())
            })
            .unwrap();
    }
}

#[test]
fn a_directory_that_was_deleted_keeps_what_was_sent_of_it() {
    let (index, folder, local) = index();
    index
        .write(|db| {
            db.put_sent_place(&place(folder, local, "d", 1))?;
            db.remove_local(folder, local)?;
            assert_eq!(names(db), ["d"]);
            Ok(())
        })
        .unwrap();
}
