//! Each state of a file in a pair, under each mode.

use super::*;
use cairn_engine::Rules;
use cairn_index::{FolderSettings, LocalStat};
use cairn_model::{ContentHash, FolderId, RevisionId};
use cairn_platform::RealDisk;
use std::path::Path;

const FOLDER: FolderId = FolderId(1);

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

fn node(id: u8) -> NodeId {
    NodeId::from_random_bytes([id; 16])
}

fn local(id: u8, content: u8) -> LocalRow {
    LocalRow {
        id: LocalId(id.into()),
        folder: FOLDER,
        parent: None,
        name: name(&format!("f{id}")),
        kind: Kind::File,
        stat: LocalStat::default(),
        executable: false,
        hash: Some(ContentHash([content; 32])),
        skipped: Skipped::No,
    }
}

fn remote(id: u8, content: u8) -> RemoteRow {
    RemoteRow {
        kind: Kind::File,
        revision: Some(RevisionId::from_random_bytes([content; 16])),
        hash: Some(ContentHash([content; 32])),
        ..RemoteRow::folder(node(id), Some(node(0)), name(&format!("f{id}")))
    }
}

fn synced(id: u8) -> SyncedRow {
    SyncedRow {
        folder: FOLDER,
        node: node(id),
        local: LocalId(id.into()),
        parent: Some(node(0)),
        name: name(&format!("f{id}")),
        kind: Kind::File,
        revision: remote(id, 1).revision,
        hash: local(id, 1).hash,
        size: 0,
        executable: false,
    }
}

/// Returns one file in each state; the content 1 is what both sides had.
fn trees() -> Snapshot {
    let states: [(u8, Option<u8>, Option<u8>); 9] = [
        (1, Some(1), Some(1)),
        (2, Some(2), Some(1)),
        (3, Some(1), Some(2)),
        (4, Some(2), Some(3)),
        (5, Some(2), Some(2)),
        (6, Some(1), None),
        (7, Some(2), None),
        (8, None, Some(1)),
        (9, None, Some(2)),
    ];
    let mut trees = Snapshot::default();
    for (id, here, there) in states {
        let here = here.map(|content| (LocalId(id.into()), local(id, content)));
        trees.local.extend(here);
        let there = there.map(|content| (node(id), remote(id, content)));
        trees.remote.extend(there);
        trees.synced.insert(node(id), synced(id));
    }
    // Of these nothing was ever synced.
    trees.local.insert(LocalId(10), local(10, 1));
    trees.remote.insert(node(11), remote(11, 1));
    trees
}

fn changes_of(trees: &Snapshot, mode: SyncMode) -> Changes {
    let row = FolderRow {
        id: FOLDER,
        root: "/none".into(),
        remote_path: "/f".into(),
        remote_node: Some(Some(node(0))),
        root_file: None,
        settings: FolderSettings::default(),
    };
    let root = Path::new(&row.root);
    let rules = Rules::load(&RealDisk::new(), root, &row.settings);
    changes(&row, trees, mode, &mut Walk::new(rules, root))
}

fn names(counted: &FileCount) -> Vec<&str> {
    assert_eq!(counted.files, counted.examples.len() as u64);
    counted.examples.iter().map(String::as_str).collect()
}

#[test]
fn two_way_does_on_each_side_what_the_other_one_has_done() {
    let found = changes_of(&trees(), SyncMode::TwoWay);
    assert_eq!(names(&found.upload), ["f10", "f2", "f7"]);
    assert_eq!(names(&found.download), ["f11", "f3", "f9"]);
    assert_eq!(names(&found.delete_local), ["f6"]);
    assert_eq!(names(&found.delete_remote), ["f8"]);
    assert_eq!(names(&found.conflicts), ["f4"]);
    assert_eq!(names(&found.equal), ["f1", "f5"]);
    assert_eq!(found.unchanged.files, 0);
}

#[test]
fn one_way_leaves_alone_what_the_other_side_has_done() {
    let found = changes_of(&trees(), SyncMode::Upload);
    assert_eq!(names(&found.upload), ["f10", "f2", "f7"]);
    assert_eq!(names(&found.delete_remote), ["f8"]);
    assert_eq!(names(&found.unchanged), ["f11", "f3", "f4", "f6", "f9"]);
    let found = changes_of(&trees(), SyncMode::Download);
    assert_eq!(names(&found.download), ["f11", "f3", "f9"]);
    assert_eq!(names(&found.delete_local), ["f6"]);
    assert_eq!(names(&found.unchanged), ["f10", "f2", "f4", "f7", "f8"]);
}

#[test]
fn an_executable_bit_that_one_side_has_changed_is_counted() {
    let mut trees = Snapshot::default();
    for (id, here, there) in [(1, true, false), (2, false, true), (3, true, true)] {
        let here = LocalRow {
            executable: here,
            ..local(id, 1)
        };
        let there = RemoteRow {
            executable: there,
            ..remote(id, 1)
        };
        trees.local.insert(here.id, here);
        trees.remote.insert(there.node, there);
        trees.synced.insert(node(id), synced(id));
    }
    let found = changes_of(&trees, SyncMode::TwoWay);
    assert_eq!(names(&found.executable_remote), ["f1"]);
    assert_eq!(names(&found.executable_local), ["f2"]);
    assert_eq!(names(&found.equal), ["f3"]);
    let found = changes_of(&trees, SyncMode::Upload);
    assert_eq!(names(&found.unchanged), ["f2"]);
}

#[test]
fn what_was_moved_on_one_side_moves_on_the_other() {
    let mut trees = trees();
    if let Some(row) = trees.local.get_mut(&LocalId(1)) {
        row.name = name("here");
    }
    if let Some(row) = trees.remote.get_mut(&node(3)) {
        row.name = name("there");
    }
    let found = changes_of(&trees, SyncMode::TwoWay);
    assert_eq!(names(&found.move_remote), ["here"]);
    assert_eq!(names(&found.move_local), ["f3"]);
    let found = changes_of(&trees, SyncMode::Upload);
    assert_eq!(found.move_local.files, 0);
}
