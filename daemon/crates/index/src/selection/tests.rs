//! Selected subfolders that are moved, renamed and deleted.

use super::*;
use crate::{FolderSettings, Index, LocalStat, SyncedRow};
use cairn_model::{Kind, LocalId, Name};
use uuid::Uuid;

fn node(id: u128) -> NodeId {
    NodeId(Uuid::from_u128(id))
}

fn folder_node(id: u128, parent: u128, name: &str, version: u64) -> RemoteRow {
    let parent = (parent > 0).then(|| node(parent));
    RemoteRow {
        version,
        ..RemoteRow::folder(node(id), parent, Name::new(name).unwrap())
    }
}

/// Returns a pair of the whole space with `p/a` and `p/b`, nodes 1, 2 and 3.
fn pair(settings: &FolderSettings) -> (Index, FolderId) {
    let index = Index::memory().unwrap();
    let id = index
        .write(|db| {
            let id = db.add_folder("/home/x", "/", settings)?;
            db.attach_folder(id, None, LocalStat::default().identity())?;
            for (id, parent, name) in [(1, 0, "p"), (2, 1, "a"), (3, 1, "b")] {
                db.put_remote(&db.folders()?, &folder_node(id, parent, name, 1))?;
            }
            Ok(id)
        })
        .unwrap();
    (index, id)
}

fn only_settings(paths: &[&str]) -> FolderSettings {
    FolderSettings {
        only: paths.iter().map(|&path| path.to_owned()).collect(),
        ..FolderSettings::default()
    }
}

fn put(index: &Index, row: &RemoteRow) {
    index
        .write(|db| db.put_remote(&db.folders()?, row))
        .unwrap();
}

fn follow(index: &Index, id: FolderId) -> Vec<String> {
    index.write(|db| db.follow_choice(id)).unwrap();
    let row = index.read(|db| db.folder(id)).unwrap();
    row.unwrap().settings.only
}

fn dirty_nodes(index: &Index, id: FolderId) -> Vec<NodeId> {
    index.read(|db| db.dirty_keys(id)).unwrap().node
}

fn clean(index: &Index, id: FolderId) {
    let all = dirty_nodes(index, id);
    index
        .write(|db| all.iter().try_for_each(|node| db.clean_node(id, *node)))
        .unwrap();
}

#[test]
fn an_entry_goes_where_its_folder_goes_and_stays_when_that_is_gone() {
    let (index, id) = pair(&only_settings(&["/p/a/", "later"]));
    assert_eq!(follow(&index, id), ["/p/a/", "later"], "as it was written");
    put(&index, &folder_node(2, 1, "z", 2));
    put(&index, &folder_node(1, 0, "q", 2));
    assert_eq!(follow(&index, id), ["q/z", "later"]);
    // Another folder under the old name is another folder.
    put(&index, &folder_node(4, 1, "a", 1));
    put(&index, &folder_node(5, 0, "later", 1));
    assert_eq!(follow(&index, id), ["q/z", "later"]);
    put(&index, &folder_node(5, 4, "now", 2));
    assert_eq!(follow(&index, id), ["q/z", "q/a/now"]);
    index.write(|db| db.remove_remote(node(2))).unwrap();
    assert_eq!(follow(&index, id), ["q/z", "q/a/now"]);
}

#[test]
fn entries_that_swap_names_are_kept_apart() {
    let (index, id) = pair(&only_settings(&["p/a", "p/b"]));
    follow(&index, id);
    put(&index, &folder_node(2, 1, "b", 2));
    put(&index, &folder_node(3, 1, "a", 2));
    assert_eq!(follow(&index, id), ["p/b", "p/a"]);
    put(&index, &folder_node(3, 1, "c", 3));
    assert_eq!(follow(&index, id), ["p/b", "p/c"]);
}

#[test]
fn what_was_left_out_stays_out_until_it_moves_itself() {
    let (index, id) = pair(&FolderSettings::default());
    let row = folder_node(2, 1, "a", 1);
    index.write(|db| db.exclude(id, &row)).unwrap();
    let is_out = |row: &RemoteRow| index.read(|db| db.is_excluded(id, row)).unwrap();
    assert!(is_out(&folder_node(2, 1, "a", 9)), "another version");
    assert!(!is_out(&folder_node(2, 1, "z", 2)), "another name");
    assert!(!is_out(&folder_node(2, 3, "a", 2)), "another folder");
    let paused = FolderSettings {
        paused: true,
        ..FolderSettings::default()
    };
    index
        .write(|db| db.set_folder_settings(id, &paused))
        .unwrap();
    assert!(is_out(&row), "the choice is the same");
    index
        .write(|db| db.set_folder_settings(id, &only_settings(&["p"])))
        .unwrap();
    assert!(!is_out(&row), "another choice");
}

#[test]
fn a_folder_that_moves_takes_along_what_may_be_wanted_now() {
    let (index, id) = pair(&FolderSettings::default());
    put(&index, &folder_node(4, 2, "d", 1));
    clean(&index, id);
    put(&index, &folder_node(2, 1, "z", 2));
    assert_eq!(
        dirty_nodes(&index, id),
        [node(2), node(4)],
        "it was not here"
    );
    clean(&index, id);
    index
        .write(|db| {
            db.put_synced(&SyncedRow {
                folder: id,
                node: node(2),
                local: LocalId(7),
                parent: Some(node(1)),
                name: Name::new("z").unwrap(),
                kind: Kind::Folder,
                revision: None,
                hash: None,
                size: 0,
                executable: false,
            })
        })
        .unwrap();
    put(&index, &folder_node(2, 1, "y", 3));
    assert_eq!(
        dirty_nodes(&index, id),
        [node(2)],
        "a rename costs one node"
    );
    clean(&index, id);
    index
        .write(|db| db.set_rules_text(id, &RelPath::root(), "y"))
        .unwrap();
    put(&index, &folder_node(2, 1, "x", 4));
    assert_eq!(
        dirty_nodes(&index, id),
        [node(2), node(4)],
        "a rule may have kept the one below away"
    );
    clean(&index, id);
    index
        .write(|db| {
            db.remove_rules_text(id, &RelPath::root())?;
            db.set_folder_settings(id, &only_settings(&["p"]))
        })
        .unwrap();
    put(&index, &folder_node(2, 1, "w", 5));
    assert_eq!(
        dirty_nodes(&index, id),
        [node(2), node(4)],
        "it may be chosen"
    );
}
