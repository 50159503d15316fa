//! The rights of a user who has none of root's, also where the tests run as root.

use super::*;
use crate::disk::FileKind;
use std::fs::Permissions;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;

/// Does something as a user without rights, in a directory where everybody may write.
fn as_nobody<T: Send>(work: impl FnOnce(&Path) -> T + Send) -> T {
    let dir = tempfile::tempdir().unwrap();
    set_mode(dir.path(), 0o777);
    std::thread::scope(|scope| {
        let work = || {
            if rustix::process::geteuid().is_root() {
                let nobody = rustix::process::Uid::from_raw(65534);
                rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
            }
            work(dir.path())
        };
        scope.spawn(work).join().unwrap()
    })
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_directory_that_may_not_be_read_is_an_error() {
    as_nobody(|dir| {
        let closed = dir.join("closed");
        fs::create_dir(&closed).unwrap();
        set_mode(&closed, 0o000);
        let disk = RealDisk::new();
        let found = disk.list(&closed);
        assert_eq!(found.unwrap_err().kind(), ErrorKind::PermissionDenied);
        let parent = disk.list(dir).unwrap();
        assert_eq!(parent[0].stat.as_ref().unwrap().kind, FileKind::Dir);
        set_mode(&closed, 0o755);
    });
}

#[test]
fn a_temporary_file_that_became_read_only_is_made_anew() {
    as_nobody(|dir| {
        let disk = RealDisk::new();
        let temps = dir.join("temps");
        let file = disk.create_temp(&temps, "t").unwrap();
        set_mode(file.path(), 0o444);
        drop(file);
        let mut file = disk.create_temp(&temps, "t").unwrap();
        file.write_all(b"new").unwrap();
    });
}

#[test]
fn a_directory_without_the_right_to_write_moves_to_another_one_and_keeps_its_mode() {
    as_nobody(|dir| {
        let (from, to) = (dir.join("from"), dir.join("to/moved"));
        fs::create_dir(&from).unwrap();
        fs::create_dir(dir.join("to")).unwrap();
        fs::write(from.join("f"), "f").unwrap();
        set_mode(&from, 0o2555);
        let disk = RealDisk::guarding(vec![dir.to_owned()]);
        disk.rename(&from, &to).unwrap();
        assert_eq!(read(&to.join("f")), "f");
        assert_eq!(mode(&to), 0o2555);
        set_mode(&to, 0o755);
    });
}

#[test]
fn a_move_that_stays_refused_leaves_the_mode_as_it_was() {
    as_nobody(|dir| {
        let (above, from) = (dir.join("above"), dir.join("above/from"));
        fs::create_dir_all(&from).unwrap();
        set_mode(&from, 0o555);
        set_mode(&above, 0o555);
        let refused = RealDisk::new().rename(&from, &dir.join("to"));
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::PermissionDenied);
        assert_eq!(mode(&from), 0o555);
        set_mode(&above, 0o755);
    });
}

#[test]
fn what_is_in_a_directory_goes_once_its_owner_may_write_in_it() {
    as_nobody(|dir| {
        let (closed, file) = (dir.join("closed"), dir.join("closed/f"));
        fs::create_dir(&closed).unwrap();
        fs::write(&file, "f").unwrap();
        set_mode(&closed, 0o555);
        let disk = RealDisk::new();
        let refused = disk.remove_file(&file).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::PermissionDenied);
        disk.make_writable(&closed).unwrap();
        disk.remove_file(&file).unwrap();
        // Nobody takes that right for a directory of somebody else.
        let others = disk.make_writable(Path::new("/proc"));
        assert_eq!(others.unwrap_err().kind(), ErrorKind::PermissionDenied);
    });
}
