//! Renames and replacements, with another program interfering at the worst moments.

use super::{Folder, folder, read};
use crate::disk::{Disk, Expect, Stat, is_target_changed};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

#[test]
fn a_new_file_is_put_in_place() {
    let f = folder();
    let temp = f.temp("new");
    let target = f.path("file");
    let stat = f.disk.replace(&temp, &target, Expect::Absent).unwrap();
    assert_eq!(read(&target), "new");
    assert_eq!(stat, f.disk.stat(&target).unwrap());
    assert!(!temp.exists());
}

#[test]
fn a_new_file_replaces_nothing() {
    let f = folder();
    let temp = f.temp("new");
    let target = f.write("file", "precious");
    let error = f.disk.replace(&temp, &target, Expect::Absent).unwrap_err();
    assert!(is_target_changed(&error), "{error}");
    assert_eq!(read(&target), "precious");
    assert_eq!(read(&temp), "new");
}

#[test]
fn an_untouched_file_is_replaced_and_kept_for_the_trash() {
    let f = folder();
    let target = f.write("file", "old");
    let temp = f.temp("new");
    let key = f.disk.stat(&target).unwrap().key();
    let stat = f.disk.replace(&temp, &target, Expect::Same(key)).unwrap();
    assert_eq!(read(&target), "new");
    assert_eq!(stat, f.disk.stat(&target).unwrap());
    assert_eq!(read(&temp), "old");
}

#[test]
fn a_file_that_is_not_as_expected_stays() {
    let f = folder();
    let target = f.write("file", "old");
    let key = f.disk.stat(&target).unwrap().key();
    fs::write(&target, "edited").unwrap();
    let temp = f.temp("new");
    let error = f
        .disk
        .replace(&temp, &target, Expect::Same(key))
        .unwrap_err();
    assert!(is_target_changed(&error), "{error}");
    assert_eq!(read(&target), "edited");
    fs::remove_file(&target).unwrap();
    let error = f
        .disk
        .replace(&temp, &target, Expect::Same(key))
        .unwrap_err();
    assert!(is_target_changed(&error), "{error}");
    assert!(!target.exists());
    assert_eq!(read(&temp), "new");
}

#[cfg(unix)]
#[test]
fn a_replaced_file_keeps_its_permissions_and_takes_the_new_executable_bit() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let f = folder();
    let target = f.write("file", "old");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
    for (executable, mode) in [(true, 0o700), (false, 0o600)] {
        let dir = f.path(".cairn-tmp");
        let mut temp = f.disk.create_temp(&dir, "new").unwrap();
        temp.set_executable(executable).unwrap();
        let key = f.disk.stat(&target).unwrap().key();
        let stat = f
            .disk
            .replace(&dir.join("new"), &target, Expect::Same(key))
            .unwrap();
        assert_eq!(stat.executable, Some(executable));
        assert_eq!(fs::metadata(&target).unwrap().mode() & 0o777, mode);
    }
}

#[test]
fn a_rename_replaces_nothing() {
    let f = folder();
    let from = f.write("from", "from");
    let to = f.write("to", "to");
    let error = f.disk.rename(&from, &to).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert!(error.to_string().contains("/to"), "{error}");
    fs::create_dir(f.path("a")).unwrap();
    fs::create_dir(f.path("b")).unwrap();
    let error = f.disk.rename(&f.path("a"), &f.path("b")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_eq!(read(&from), "from");
    assert_eq!(read(&to), "to");
    let error = f.disk.rename(&f.path("gone"), &f.path("x")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[test]
fn a_directory_is_moved_with_everything_in_it() {
    let f = folder();
    fs::create_dir(f.path("a")).unwrap();
    f.write("a/file", "text");
    fs::create_dir(f.path("b")).unwrap();
    f.disk.rename(&f.path("a"), &f.path("b/c")).unwrap();
    assert_eq!(read(&f.path("b/c/file")), "text");
}

#[test]
fn a_change_of_case_alone_works() {
    let f = folder();
    let from = f.write("readme", "text");
    let to = f.path("README");
    f.disk.rename(&from, &to).unwrap();
    let names: Vec<_> = f.disk.list(&f.root).unwrap();
    assert_eq!(names.len(), 1);
    assert_eq!(names[0].name, "README");
}

#[cfg(unix)]
#[test]
fn two_links_to_one_file_are_two_names() {
    let f = folder();
    let from = f.write("a", "text");
    fs::hard_link(&from, f.path("A")).unwrap();
    let error = f.disk.rename(&from, &f.path("A")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert!(from.exists());
}

#[cfg(unix)]
mod races {
    use super::*;
    use crate::disk::replace::{Point, Swap, displace, exchange, move_in_two_steps, replace_with};
    use crate::disk::unix::ResolvedPath;

    /// Replaces while `interfere` plays the other program, with both ways to swap.
    fn race(moment: Point, interfere: impl Fn(&Path), check: impl Fn(&Folder, &Race)) {
        let interfere = |now, target: &Path| {
            if now == moment {
                interfere(target);
            }
        };
        race_throughout(interfere, check);
    }

    /// Replaces like [`race`], with another program that is there at every moment.
    fn race_throughout(interfere: impl Fn(Point, &Path), check: impl Fn(&Folder, &Race)) {
        for swap in [exchange as Swap, displace as Swap] {
            let f = folder();
            let target = f.write("file", "old");
            let temp = f.temp("new");
            let key = f.disk.stat(&target).unwrap().key();
            let place = |path| ResolvedPath::new(path, Some(&f.root)).unwrap();
            let result = replace_with(
                &place(&temp),
                &place(&target),
                Expect::Same(key),
                swap,
                &mut |now| interfere(now, &target),
            );
            check(
                &f,
                &Race {
                    result,
                    target: target.clone(),
                    temp: temp.clone(),
                },
            );
        }
    }

    struct Race {
        result: io::Result<Stat>,
        target: PathBuf,
        temp: PathBuf,
    }

    impl Race {
        fn is_refused(&self) -> bool {
            matches!(&self.result, Err(e) if is_target_changed(e))
        }
    }

    #[test]
    fn an_edit_in_place_after_the_check_is_put_back() {
        race(
            Point::Checked,
            |target| fs::write(target, "edited").unwrap(),
            |_, race| {
                assert!(race.is_refused(), "{:?}", race.result);
                assert_eq!(read(&race.target), "edited");
                assert_eq!(read(&race.temp), "new");
            },
        );
    }

    #[test]
    fn an_edit_by_rename_after_the_check_is_put_back() {
        race(
            Point::Checked,
            |target| {
                let beside = target.with_file_name("editor~");
                fs::write(&beside, "saved").unwrap();
                fs::rename(&beside, target).unwrap();
            },
            |_, race| {
                assert!(race.is_refused(), "{:?}", race.result);
                assert_eq!(read(&race.target), "saved");
                assert_eq!(read(&race.temp), "new");
            },
        );
    }

    #[test]
    fn a_deletion_after_the_check_is_respected() {
        race(
            Point::Checked,
            |target| fs::remove_file(target).unwrap(),
            |_, race| {
                assert!(race.is_refused(), "{:?}", race.result);
                assert!(!race.target.exists());
                assert_eq!(read(&race.temp), "new");
            },
        );
    }

    #[test]
    fn an_edit_of_the_new_file_is_not_taken_for_our_own_write() {
        race(
            Point::Swapped,
            |target| fs::write(target, "edited at once").unwrap(),
            |f, race| {
                let ours = race.result.as_ref().unwrap();
                assert_eq!(ours.size, 3, "the stat of what was put in place");
                let now = f.disk.stat(&race.target).unwrap();
                assert_ne!(ours.key(), now.key());
                assert_eq!(read(&race.target), "edited at once");
                assert_eq!(read(&race.temp), "old");
            },
        );
    }

    #[test]
    fn a_writer_that_kept_the_old_file_open_is_noticed() {
        use std::cell::RefCell;
        use std::io::Write as _;
        let open = RefCell::new(None);
        // The file is opened before the swap and written to after it, by the old handle.
        race_throughout(
            |now, target| match now {
                Point::Checked => {
                    let file = fs::File::options().append(true).open(target).unwrap();
                    *open.borrow_mut() = Some(file);
                }
                Point::Swapped => {
                    let mut file = open.borrow_mut().take().unwrap();
                    file.write_all(b" and more").unwrap();
                }
            },
            |_, race| {
                assert!(race.is_refused(), "{:?}", race.result);
                assert_eq!(read(&race.target), "old and more");
                assert_eq!(read(&race.temp), "new");
            },
        );
    }

    #[test]
    fn the_second_name_of_a_replaced_file_is_cleaned_up() {
        race(
            Point::Swapped,
            |_| {},
            |f, race| {
                assert!(race.result.is_ok());
                assert_eq!(read(&race.target), "new");
                assert_eq!(read(&race.temp), "old");
                let left = f.disk.list(&f.path(".cairn-tmp")).unwrap();
                assert_eq!(left.len(), 1, "{left:?}");
            },
        );
    }

    #[test]
    fn without_the_flag_a_rename_still_replaces_nothing() {
        let f = folder();
        fn resolve<'a>(f: &Folder, path: &'a Path) -> ResolvedPath<'a> {
            ResolvedPath::new(path, Some(&f.root)).unwrap()
        }
        for kind in ["file", "dir"] {
            let (from, to) = (
                f.path(&format!("{kind}-from")),
                f.path(&format!("{kind}-to")),
            );
            let make = |path: &Path| {
                if kind == "file" {
                    fs::write(path, kind).unwrap();
                } else {
                    fs::create_dir(path).unwrap();
                    fs::write(path.join("inside"), kind).unwrap();
                }
            };
            make(&from);
            move_in_two_steps(&resolve(&f, &from), &resolve(&f, &to)).unwrap();
            assert!(!from.exists() && to.exists());
            make(&from);
            let error = move_in_two_steps(&resolve(&f, &from), &resolve(&f, &to)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::AlreadyExists);
            assert!(from.exists() && to.exists());
        }
        assert_eq!(read(&f.path("dir-from/inside")), "dir");
    }
}
