//! Scans of a real directory, recorded in an index in memory.

use super::*;
use cairn_index::{FolderSettings, Index};
use cairn_platform::RealDisk;
use std::fs;

/// Names of the rows at the top of the folder.
fn names(index: &Index, folder: &FolderRow) -> Vec<String> {
    let rows = index.read(|db| db.children(folder.id, None)).unwrap();
    rows.iter().map(|row| row.name.to_string()).collect()
}

#[test]
fn a_folder_that_was_made_again_keeps_its_name_when_it_is_looked_at_twice() {
    let dir = tempfile::tempdir().unwrap();
    let (root, aside) = (dir.path().join("root"), dir.path().join("aside"));
    fs::create_dir_all(root.join("d")).unwrap();
    fs::write(root.join("d/a"), "1").unwrap();
    let index = Index::memory().unwrap();
    let folder = index
        .write(|db| {
            let id = db.add_folder(root.to_str().unwrap(), "/", &FolderSettings::default())?;
            db.folder(id)
        })
        .unwrap()
        .unwrap();
    let disk = RealDisk::new();
    let rules = Rules::load(&disk, &root, &folder.settings);
    let look = |scope: Scope| {
        let nothing = BTreeSet::new();
        index
            .write(|db| scan(db, &disk, &folder, &rules, &scope, &nothing))
            .unwrap()
    };
    look(Scope::Whole);
    // Kept aside, so that the new directory can't have the old one's inode.
    fs::rename(root.join("d"), &aside).unwrap();
    fs::create_dir(root.join("d")).unwrap();
    fs::write(root.join("d/z"), "2").unwrap();
    let top = RelPath::root();
    let inside = RelPath::parse("d").unwrap();
    look(Scope::Dirs(BTreeSet::from([top, inside])));
    assert_eq!(names(&index, &folder), ["d"]);
}
