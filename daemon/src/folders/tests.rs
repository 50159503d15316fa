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
use crate::output::text::now_ms;
use cairn_model::SyncMode;

fn add(home: &Home, index: &Index, new: &NewFolder) -> CommandResult<FolderRow> {
    let pause = index.read(|db| PauseOfAll::read(db, now_ms()))?;
    super::add(home, index, new, pause)
}

/// Returns an installation that keeps nothing where the tests work.
fn no_home() -> Home {
    Home::at(Path::new("/nowhere/cairn"))
}

#[test]
fn a_folder_that_holds_the_files_of_an_installation_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (own, other) = (Home::at(&root.join("own")), Home::at(&root.join("other")));
    let index = Index::memory().unwrap();
    own.create().unwrap();
    other.create().unwrap();
    let refused = [
        own.data_dir(),
        &own.logs_dir(),
        other.data_dir(),
        &other.logs_dir(),
    ];
    for folder in refused {
        let failure = add(&own, &index, &new(folder, "/x")).unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
        let says = "Cairn keeps files of its own";
        assert!(failure.message.contains(says), "{}", failure.message);
    }
    let around = add(&own, &index, &new(&root, "/x")).unwrap();
    assert_eq!(find(&index, root.to_str().unwrap()).unwrap().id, around.id);
}

#[test]
fn a_folder_from_before_that_is_another_installations_is_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let index = Index::memory().unwrap();
    add(&no_home(), &index, &new(&root, "/x")).unwrap();
    assert!(!own_places(&no_home(), &index).unwrap().contains(&root));
    Home::at(&root).create().unwrap();
    assert!(own_places(&no_home(), &index).unwrap().contains(&root));
}

#[test]
fn a_folder_that_is_added_while_everything_is_paused_is_paused_too() {
    let (dir, now) = (tempfile::tempdir().unwrap(), now_ms());
    let index = Index::memory().unwrap();
    let added = |name: &str| {
        let root = dir.path().join(name);
        std::fs::create_dir(&root).unwrap();
        let row = add(&no_home(), &index, &new(&root, "/x")).unwrap();
        (row.settings.paused, row.settings.paused_until)
    };
    assert_eq!(added("before"), (false, None));
    for (name, kept, expected) in [
        ("for ever", String::new(), (true, None)),
        (
            "until later",
            (now + 3_600_000).to_string(),
            (true, Some(now + 3_600_000)),
        ),
        ("until then", (now - 1).to_string(), (false, None)),
    ] {
        let begin = |db: &Db<'_>| db.set_meta("everything_paused", kept.as_bytes());
        index.write(begin).unwrap();
        assert_eq!(added(name), expected, "{name}");
    }
}

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
    let row = add(&no_home(), &index, &new(dir.path(), "//work/")).unwrap();
    assert_eq!(row.remote_path, "/work");
    assert_eq!(find(&index, &row.root).unwrap().id, row.id);
    let below = containing_row(&row, &dir.path().join("a/b")).unwrap();
    assert_eq!(below.unwrap().to_string(), "a/b");
    assert_eq!(containing_row(&row, Path::new("/elsewhere")).unwrap(), None);
    remove(&index, &row.root).unwrap();
    assert_eq!(find(&index, &row.root).unwrap_err().exit, Exit::Usage);
}

#[test]
fn a_pair_changes_its_choices_and_stays_where_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::memory().unwrap();
    let before = add(&no_home(), &index, &new(dir.path(), "/work")).unwrap();
    let wanted = NewFolder {
        mode: SyncMode::Upload,
        only: vec!["photos".into()],
        gate: Some(DeletionGate {
            percent: 10,
            files: 5,
            most: 1000,
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
    add(&no_home(), &index, &new(&inner, "/")).unwrap();
    for (folder, says) in [
        (new(&inner, "/b"), "synced already"),
        (new(dir.path(), "/b"), "contains"),
        (new(&file, "/b"), "isn't a folder"),
        (new(&dir.path().join("gone"), "/b"), "can't sync"),
        (new(dir.path(), "relative"), "has to begin with"),
        (new(dir.path(), "/a/../b"), "`.` or `..`"),
        (
            NewFolder {
                exclude: vec!["[".into()],
                ..new(dir.path(), "/b")
            },
            "`[` is not a valid pattern",
        ),
    ] {
        let failure = add(&no_home(), &index, &folder).unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
        assert!(failure.message.contains(says), "{}", failure.message);
    }
}
