//! Moves and new folders whose response was lost: what the feed shows of them becomes the merge base.

use super::*;
use cairn_index::{FolderSettings, Index, LocalStat};
use cairn_model::Name;
use uuid::Uuid;

const NODE: NodeId = NodeId(Uuid::from_u128(1));
const HERE: DeviceId = DeviceId(Uuid::from_u128(2));
const ELSEWHERE: DeviceId = DeviceId(Uuid::from_u128(3));

fn name(text: &str) -> Name {
    Name::new(text.to_owned()).unwrap()
}

fn remote(text: &str, version: u64, device: DeviceId) -> RemoteRow {
    RemoteRow {
        node: NODE,
        parent: None,
        name: name(text),
        kind: Kind::Folder,
        revision: None,
        size: 0,
        modified_ms: None,
        executable: false,
        version,
        seal: None,
        source: None,
        device: Some(device),
        hash: None,
        number: None,
        number_before: 0,
        seen: 0,
        changed_ms: None,
    }
}

/// An index with a folder pair and a directory in it.
fn index() -> (Index, FolderRow, LocalId) {
    let index = Index::memory().unwrap();
    let (folder, local) = index
        .write(|db| {
            let id = db.add_folder("/r", "/", &FolderSettings::default())?;
            db.attach_folder(id, None, LocalStat::default().identity())?;
            let row = LocalRow {
                id: LocalId(0),
                folder: id,
                parent: None,
                name: name("here"),
                kind: Kind::Folder,
                stat: LocalStat::default(),
                executable: false,
                hash: None,
                skipped: Skipped::No,
            };
            let folder = db.folder(id)?.ok_or(IndexError::Corrupt("test"))?;
            Ok((folder, db.insert_local(&row)?))
        })
        .unwrap();
    (index, folder, local)
}

/// Sends places of a node that was at version 5 as `a`, or of a new one, lets the service show a state of it, and
/// returns the name in the merge base after that.
fn base_after(creates: bool, sent: &[(&str, u64)], shown: &RemoteRow) -> Option<String> {
    let (index, folder, local) = index();
    index
        .write(|db| {
            if !creates {
                let before = remote("a", 5, ELSEWHERE);
                db.put_remote(&db.folders()?, &before)?;
                adopt(db, &folder, local, &before, Content::default())?;
            }
            for (text, version) in sent {
                db.put_sent_place(&SentPlace {
                    node: NODE,
                    folder: folder.id,
                    local,
                    creates,
                    parent: None,
                    name: name(text),
                    version: *version,
                })?;
            }
            db.put_remote(&db.folders()?, shown)?;
            end_known_places(db, folder.id, HERE)?;
            let left = db.sent_places(NODE)?;
            assert!(left.iter().all(|place| place.version > shown.version));
            Ok(db
                .synced_row(folder.id, NODE)?
                .map(|base| base.name.to_string()))
        })
        .unwrap()
}

#[test]
fn a_move_of_this_device_is_the_merge_base_and_one_of_another_device_is_not() {
    for (shown, expected) in [
        (remote("b", 6, HERE), "b"),
        // Ours arrived, and something else has changed since.
        (remote("b", 7, ELSEWHERE), "b"),
        // Another device did the same; ours was refused.
        (remote("b", 6, ELSEWHERE), "a"),
        (remote("x", 6, ELSEWHERE), "a"),
        (remote("x", 7, ELSEWHERE), "a"),
        (remote("a", 5, ELSEWHERE), "a"),
    ] {
        let base = base_after(false, &[("b", 6)], &shown);
        assert_eq!(base.as_deref(), Some(expected), "{shown:?}");
    }
}

#[test]
fn of_moves_that_were_sent_one_after_the_other_the_one_that_arrived_counts() {
    let sent = [("b", 6), ("c", 6), ("d", 7)];
    for (text, version) in sent {
        let base = base_after(false, &sent, &remote(text, version, HERE));
        assert_eq!(base.as_deref(), Some(text));
    }
}

#[test]
fn a_new_folder_is_the_pair_of_its_directory_where_it_was_made() {
    for (shown, expected) in [
        (remote("d", 1, HERE), "d"),
        (remote("e", 1, HERE), "e"),
        // Another device has renamed it since: that is its change.
        (remote("x", 2, ELSEWHERE), "d"),
    ] {
        let base = base_after(true, &[("d", 1), ("e", 1)], &shown);
        assert_eq!(base.as_deref(), Some(expected), "{shown:?}");
    }
}

#[test]
fn a_directory_that_has_a_node_already_gets_no_other() {
    let (index, folder, local) = index();
    index
        .write(|db| {
            db.put_sent_place(&SentPlace {
                node: NODE,
                folder: folder.id,
                local,
                creates: true,
                parent: None,
                name: name("d"),
                version: 1,
            })?;
            let other = RemoteRow {
                node: NodeId(Uuid::from_u128(9)),
                ..remote("d", 1, ELSEWHERE)
            };
            db.put_remote(&db.folders()?, &other)?;
            adopt(db, &folder, local, &other, Content::default())?;
            assert_eq!(db.sent_folder(local)?, None);
            db.put_remote(&db.folders()?, &remote("d", 1, HERE))?;
            end_known_places(db, folder.id, HERE)?;
            assert_eq!(db.synced_row(folder.id, NODE)?, None);
            let base = db.synced_by_local(local)?;
            assert_eq!(base.map(|base| base.node), Some(other.node));
            Ok(())
        })
        .unwrap();
}
