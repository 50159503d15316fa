//! The nodes that a plan is also about because of a temporary name.

use super::*;
use crate::testing::{local, name, node};
use crate::{Dirty, FolderSettings, Index, Round};

/// Returns the input of a plan that begins with one key.
fn around(db: &Db<'_>, folder: &FolderRow, key: Key) -> Result<Snapshot, IndexError> {
    let keys = match key {
        Key::Local(local) => Dirty {
            local: vec![local],
            node: vec![],
        },
        Key::Node(node) => Dirty {
            local: vec![],
            node: vec![node],
        },
    };
    let worklist = Worklist {
        keys,
        is_whole: false,
        round: Round::default(),
        is_more: false,
    };
    db.snapshot(folder, &worklist)
}

fn folder(db: &Db<'_>) -> Result<FolderRow, IndexError> {
    let id = db.add_folder("/home/x", "/", &FolderSettings::default())?;
    let folder = db.folder(id)?.expect("it was added");
    Ok(FolderRow {
        remote_node: Some(None),
        ..folder
    })
}

fn locals(snapshot: &Snapshot) -> Vec<LocalId> {
    snapshot.local.keys().copied().collect()
}

fn nodes(snapshot: &Snapshot) -> Vec<NodeId> {
    snapshot.remote.keys().copied().collect()
}

#[test]
fn a_temporary_name_brings_what_has_the_original_one() {
    let index = Index::memory().unwrap();
    let scene = |db: &Db<'_>| {
        let folder = folder(db)?;
        let aside = local(folder.id, None, ".cairn-detour-01020304-d");
        let aside = db.insert_local(&aside)?;
        let there = db.insert_local(&local(folder.id, None, "d"))?;
        db.insert_local(&local(folder.id, None, "f"))?;
        let remote = RemoteRow::folder(node(2), None, name("d"));
        db.put_remote(std::slice::from_ref(&folder), &remote)?;
        let snapshot = around(db, &folder, Key::Local(aside))?;
        assert_eq!(locals(&snapshot), [aside, there]);
        assert_eq!(nodes(&snapshot), [node(2)]);

        let remote = RemoteRow::folder(node(3), None, name(".cairn-detour-05060708-f"));
        db.put_remote(std::slice::from_ref(&folder), &remote)?;
        let snapshot = around(db, &folder, Key::Node(node(3)))?;
        assert_eq!(locals(&snapshot).len(), 1, "the file f");
        assert_eq!(nodes(&snapshot), [node(3)]);
        Ok(())
    };
    index.write(scene).unwrap();
}

#[test]
fn a_temporary_name_brings_what_has_the_place_before() {
    let index = Index::memory().unwrap();
    let scene = |db: &Db<'_>| {
        let folder = folder(db)?;
        let dir = LocalRow {
            kind: Kind::Folder,
            ..local(folder.id, None, "dir")
        };
        let dir = db.insert_local(&dir)?;
        let aside = local(folder.id, None, ".cairn-detour-01020304-d");
        let aside = db.insert_local(&aside)?;
        let there = db.insert_local(&local(folder.id, Some(dir), "d"))?;
        let remote = RemoteRow::folder(node(1), None, name("dir"));
        db.put_remote(std::slice::from_ref(&folder), &remote)?;
        for (node, parent, local, text) in [
            (node(1), None, dir, "dir"),
            (node(2), Some(node(1)), aside, "d"),
        ] {
            db.put_synced(&SyncedRow {
                folder: folder.id,
                node,
                local,
                name: name(text),
                parent,
                kind: Kind::Folder,
                hash: None,
                revision: None,
                size: 0,
                executable: false,
            })?;
        }
        let snapshot = around(db, &folder, Key::Local(aside))?;
        assert_eq!(locals(&snapshot), [dir, aside, there]);
        Ok(())
    };
    index.write(scene).unwrap();
}

#[test]
fn the_whole_trees_are_read_only_for_a_large_part_of_them() {
    let index = Index::memory().unwrap();
    let scene = |db: &Db<'_>| {
        let folder = folder(db)?;
        let mut all = Vec::new();
        for number in 0..2 * MANY + 1 {
            let file = local(folder.id, None, &format!("f{number}"));
            all.push(db.insert_local(&file)?);
        }
        let read = |files: &[LocalId]| -> Result<usize, IndexError> {
            let keys = Dirty {
                local: files.to_vec(),
                node: vec![],
            };
            let worklist = Worklist {
                keys,
                is_whole: true,
                round: Round::default(),
                is_more: false,
            };
            Ok(db.snapshot(&folder, &worklist)?.local.len())
        };
        let (less, half) = (MANY as usize, MANY as usize + 1);
        assert_eq!(read(&all[..less])?, less);
        assert_eq!(read(&all[..half])?, all.len());
        Ok(())
    };
    index.write(scene).unwrap();
}
