//! The watcher on real directories. Every wait is for an event; a lost one ends in the test's timeout.
#![cfg(target_os = "linux")]

use super::{Hint, WatchError, Watcher};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::mpsc::UnboundedReceiver;

struct Watched {
    _dir: TempDir,
    root: PathBuf,
    watcher: Watcher,
    hints: UnboundedReceiver<Hint>,
}

fn watch_folder(prepare: impl FnOnce(&Path)) -> Watched {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap().join("folder");
    fs::create_dir(&root).unwrap();
    prepare(&root);
    let (watcher, hints) = Watcher::new().unwrap();
    watcher.watch(&root).unwrap();
    Watched {
        _dir: dir,
        root,
        watcher,
        hints,
    }
}

impl Watched {
    async fn next(&mut self) -> Hint {
        tokio::time::timeout(Duration::from_secs(60), self.hints.recv())
            .await
            .expect("no hint came")
            .expect("the watcher ended")
    }

    /// Waits for a hint about `path`; returns every path that was hinted at until then.
    async fn until(&mut self, path: &Path) -> BTreeSet<PathBuf> {
        let mut seen = BTreeSet::new();
        while !seen.contains(path) {
            match self.next().await {
                Hint::Path(path) => {
                    seen.insert(path);
                }
                other @ (Hint::Overflow | Hint::Lost { .. } | Hint::Flushed(_)) => {
                    panic!("{other:?}")
                }
            }
        }
        seen
    }
}

#[tokio::test]
async fn every_kind_of_change_gives_a_hint() {
    let mut w = watch_folder(|root| fs::create_dir(root.join("sub")).unwrap());
    let file = w.root.join("sub/file");
    fs::write(&file, "new").unwrap();
    w.until(&file).await;
    fs::write(&file, "edited").unwrap();
    w.until(&file).await;
    let moved = w.root.join("moved");
    fs::rename(&file, &moved).unwrap();
    let seen = w.until(&moved).await;
    assert!(seen.contains(&file), "both ends of a move: {seen:?}");
    fs::File::options()
        .write(true)
        .open(&moved)
        .unwrap()
        .set_modified(std::time::UNIX_EPOCH)
        .unwrap();
    w.until(&moved).await;
    fs::remove_file(&moved).unwrap();
    w.until(&moved).await;
}

#[tokio::test]
async fn a_tree_that_moves_in_is_watched_by_the_time_it_is_reported() {
    let mut w = watch_folder(|_| {});
    let outside = w.root.with_file_name("outside");
    fs::create_dir_all(outside.join("b/c/d")).unwrap();
    let top = w.root.join("a");
    fs::rename(&outside, &top).unwrap();
    w.until(&top).await;
    let file = top.join("b/c/d/file");
    fs::write(&file, "").unwrap();
    w.until(&file).await;
}

/// The watcher may reach a new tree while it is still being made. A hint for a directory covers what
/// is below it, so a file is reported by its own hint or by one of the directories above it.
#[tokio::test]
async fn a_file_in_a_tree_that_is_being_made_is_reported() {
    let mut w = watch_folder(|_| {});
    let top = w.root.join("a");
    let deep = top.join("b/c/d");
    fs::create_dir_all(&deep).unwrap();
    let first = deep.join("first");
    fs::write(&first, "").unwrap();
    let mark = w.root.join("mark");
    fs::write(&mark, "").unwrap();
    let seen = w.until(&mark).await;
    let covers = |path: &PathBuf| path.starts_with(&top) && first.starts_with(path);
    assert!(seen.iter().any(covers), "{seen:?}");
    // The mark is younger than every directory: all of them are watched by now.
    let second = deep.join("second");
    fs::write(&second, "").unwrap();
    w.until(&second).await;
}

#[tokio::test]
async fn a_moved_directory_is_watched_at_its_new_place() {
    let mut w = watch_folder(|root| fs::create_dir_all(root.join("old/sub")).unwrap());
    let new = w.root.join("new");
    fs::rename(w.root.join("old"), &new).unwrap();
    w.until(&new).await;
    let file = new.join("sub/file");
    fs::write(&file, "").unwrap();
    let seen = w.until(&file).await;
    assert!(
        !seen.iter().any(|path| path.starts_with(w.root.join("old"))),
        "{seen:?}"
    );
}

#[tokio::test]
async fn directories_of_cairn_itself_give_no_hint() {
    let mut w = watch_folder(|root| fs::create_dir(root.join(".cairn-trash")).unwrap());
    fs::create_dir(w.root.join(".cairn-tmp")).unwrap();
    fs::write(w.root.join(".cairn-tmp/part"), "").unwrap();
    fs::write(w.root.join(".cairn-trash/gone"), "").unwrap();
    // Moved in as a whole, so that the report of the one means that the other is watched.
    let outside = w.root.with_file_name("outside");
    fs::create_dir_all(outside.join(".cairn-tmp")).unwrap();
    fs::rename(&outside, w.root.join("sub")).unwrap();
    w.until(&w.root.join("sub")).await;
    let file = w.root.join("sub/.cairn-tmp/file");
    fs::write(&file, "").unwrap();
    let seen = w.until(&file).await;
    for path in seen {
        assert!(
            !path.starts_with(w.root.join(".cairn-tmp")),
            "{}",
            path.display()
        );
        assert!(
            !path.starts_with(w.root.join(".cairn-trash")),
            "{}",
            path.display()
        );
    }
}

#[tokio::test]
async fn reading_gives_no_hint() {
    let mut w = watch_folder(|root| fs::write(root.join("file"), "text").unwrap());
    assert_eq!(fs::read_to_string(w.root.join("file")).unwrap(), "text");
    assert_eq!(fs::read_dir(&w.root).unwrap().count(), 1);
    let mark = w.root.join("mark");
    fs::write(&mark, "").unwrap();
    let seen = w.until(&mark).await;
    assert_eq!(seen, BTreeSet::from([mark]));
}

#[tokio::test]
async fn a_folder_that_goes_away_is_lost_and_can_be_watched_again() {
    let mut w = watch_folder(|_| {});
    let away = w.root.with_file_name("away");
    fs::rename(&w.root, &away).unwrap();
    loop {
        if let Hint::Lost { root, error } = w.next().await {
            assert_eq!(root, w.root);
            assert!(matches!(error, WatchError::Gone { .. }), "{error}");
            break;
        }
    }
    fs::rename(&away, &w.root).unwrap();
    w.watcher.watch(&w.root).unwrap();
    let file = w.root.join("file");
    fs::write(&file, "").unwrap();
    w.until(&file).await;
}

#[tokio::test]
async fn an_unwatched_folder_is_silent_and_others_are_not() {
    let mut w = watch_folder(|_| {});
    let second = w.root.with_file_name("second");
    fs::create_dir(&second).unwrap();
    w.watcher.watch(&second).unwrap();
    w.watcher.unwatch(&w.root);
    fs::write(w.root.join("unseen"), "").unwrap();
    let file = second.join("seen");
    fs::write(&file, "").unwrap();
    let seen = w.until(&file).await;
    assert_eq!(seen, BTreeSet::from([file]));
}

#[tokio::test]
async fn too_few_watches_name_the_setting_and_a_value_that_is_enough() {
    let w = watch_folder(|_| {});
    for i in 0..100 {
        fs::create_dir_all(w.root.join(format!("more/{i}"))).unwrap();
    }
    w.watcher.sys.set_limit(10);
    let error = w.watcher.watch(&w.root).unwrap_err();
    match &error {
        WatchError::Limit {
            root,
            needed,
            current,
            setting,
        } => {
            assert_eq!(root, &w.root);
            assert_eq!(*setting, "fs.inotify.max_user_watches");
            assert!(*needed >= *current + 102 - 10, "{needed} from {current}");
            let command = format!("sysctl -w fs.inotify.max_user_watches={needed}");
            assert!(error.to_string().contains(&command), "{error}");
        }
        WatchError::Gone { .. } | WatchError::Io { .. } | WatchError::Ended => panic!("{error}"),
    }
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    let (watcher, _hints) = Watcher::new().unwrap();
    let error = watcher.watch(Path::new("/nowhere/at/all")).unwrap_err();
    assert!(matches!(error, WatchError::Io { .. }), "{error}");
}

#[test]
fn dropping_the_watcher_ends_its_channel() {
    let (watcher, mut hints) = Watcher::new().unwrap();
    drop(watcher);
    assert!(hints.blocking_recv().is_none());
}

/// Runs `mount` or `umount`; false where this user may not.
fn mount(arguments: &[&str]) -> bool {
    let program = if arguments.len() == 1 {
        "umount"
    } else {
        "mount"
    };
    let run = std::process::Command::new(program).args(arguments).output();
    run.is_ok_and(|output| output.status.success())
}

#[tokio::test]
async fn an_unmount_inside_a_folder_gives_a_hint_and_what_is_below_is_watched() {
    let mut is_mounted = false;
    let mut w = watch_folder(|root| {
        let sub = root.join("sub");
        fs::create_dir(&sub).unwrap();
        is_mounted = mount(&["-t", "tmpfs", "none", sub.to_str().unwrap()]);
    });
    if !is_mounted {
        println!("not tested: mounting needs the rights of root");
        return;
    }
    let sub = w.root.join("sub");
    assert!(mount(&[sub.to_str().unwrap()]));
    w.until(&sub).await;
    let file = sub.join("file");
    fs::write(&file, b"1").unwrap();
    w.until(&file).await;
}

#[tokio::test]
async fn mounts_that_come_and_go_inside_a_folder_give_hints_and_are_watched() {
    let mut w = watch_folder(|root| fs::create_dir_all(root.join("my disk/below")).unwrap());
    let disk = w.root.join("my disk");
    let outside = w.root.with_file_name("outside");
    fs::create_dir(&outside).unwrap();
    let (at, from) = (disk.to_str().unwrap(), outside.to_str().unwrap());
    if !mount(&["-t", "tmpfs", "none", at]) {
        println!("not tested: mounting needs the rights of root");
        return;
    }
    w.until(&disk).await;
    let file = disk.join("on the disk");
    fs::write(&file, b"1").unwrap();
    w.until(&file).await;
    assert!(mount(&[at]));
    w.until(&disk).await;
    let file = disk.join("below/file");
    fs::write(&file, b"1").unwrap();
    w.until(&file).await;
    // The file system stays, and the kernel tells nobody that it is not here any more.
    assert!(mount(&["--bind", from, at]));
    w.until(&disk).await;
    let file = disk.join("outside");
    fs::write(&file, b"1").unwrap();
    w.until(&file).await;
    assert!(mount(&[at]));
    w.until(&disk).await;
    let file = disk.join("below/file");
    fs::write(&file, b"2").unwrap();
    w.until(&file).await;
}
