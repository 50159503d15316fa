//! Folders that can be paired, those that need a confirmation, and those that are refused.

use super::*;
use cairn_model::DeletionGate;

#[test]
fn a_view_of_the_kernel_is_refused() {
    let found = |kind| Filesystem {
        kind,
        ..filesystem::of(Path::new("/")).unwrap()
    };
    let root = Path::new("/proc");
    let refused = check_filesystem(root, &found(FilesystemKind::Pseudo)).unwrap_err();
    assert_eq!(refused.exit, Exit::Usage);
    assert!(refused.message.contains("/proc"), "{}", refused.message);
    for kind in [FilesystemKind::Local, FilesystemKind::Network] {
        check_filesystem(root, &found(kind)).unwrap();
    }
}

#[test]
fn the_whole_disk_and_the_whole_home_need_an_agreement() {
    assert!(reason_to_ask(Path::new("/")).unwrap().is_some());
    let home = dirs::user_home().unwrap();
    assert!(reason_to_ask(&home).unwrap().is_some());
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(reason_to_ask(dir.path()).unwrap(), None);
}

use crate::failure::Exit;
use cairn_model::SyncMode;

fn new(local: &Path, remote: &str) -> NewFolder {
    NewFolder {
        local: local.to_str().unwrap().to_owned(),
        remote: remote.to_owned(),
        ..Default::default()
    }
}

#[test]
fn a_pair_is_added_found_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::memory().unwrap();
    let row = add(&index, &new(dir.path(), "//work/")).unwrap();
    assert_eq!(row.remote_path, "/work");
    assert_eq!(find(&index, &row.root).unwrap().id, row.id);
    let (found, below) = pair_containing(&index, &dir.path().join("a/b")).unwrap();
    assert_eq!((found.id, below.to_string().as_str()), (row.id, "a/b"));
    remove(&index, &row.root).unwrap();
    assert_eq!(find(&index, &row.root).unwrap_err().exit, Exit::Usage);
}

#[test]
fn a_pair_changes_its_choices_and_stays_where_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::memory().unwrap();
    let before = add(&index, &new(dir.path(), "/work")).unwrap();
    let wanted = NewFolder {
        mode: SyncMode::Upload,
        only: vec!["photos".into()],
        gate: Some(DeletionGate {
            percent: 10,
            files: 5,
        }),
        ..new(dir.path(), "/elsewhere")
    };
    let after = change(&index, &wanted).unwrap();
    assert_eq!((after.id, after.remote_path.as_str()), (before.id, "/work"));
    let reported = to_control(&after);
    assert_eq!(
        (reported.mode, reported.only, reported.gate),
        (SyncMode::Upload, wanted.only, wanted.gate)
    );
    let wrong = NewFolder {
        only: vec!["../up".into()],
        ..new(dir.path(), "/work")
    };
    assert_eq!(change(&index, &wrong).unwrap_err().exit, Exit::Usage);
    assert_eq!(
        change(&index, &new(Path::new("/no/pair"), "/"))
            .unwrap_err()
            .exit,
        Exit::Usage
    );
}

#[test]
fn a_pair_that_can_not_be_is_refused_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::memory().unwrap();
    let (inner, file) = (dir.path().join("inner"), dir.path().join("file"));
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(&file, "").unwrap();
    add(&index, &new(&inner, "/")).unwrap();
    for (folder, says) in [
        (new(&inner, "/b"), "synced already"),
        (new(dir.path(), "/b"), "contains"),
        (new(&file, "/b"), "isn't a folder"),
        (new(&dir.path().join("gone"), "/b"), "can't sync"),
        (new(dir.path(), "relative"), "has to begin with"),
        (new(dir.path(), "/a/../b"), "`.` or `..`"),
    ] {
        let failure = add(&index, &folder).unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
        assert!(failure.message.contains(says), "{}", failure.message);
    }
}
