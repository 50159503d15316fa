//! Listing, statting, opening, temporary files, directories.

use super::{folder, read};
use crate::disk::{Disk, FileKind, RealDisk};
use std::fs;
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

#[test]
fn a_listing_is_sorted_by_bytes_and_has_every_kind() {
    let f = folder();
    for name in ["b", "a", "é", "Z", "a b", "e\u{301}"] {
        f.write(name, name);
    }
    fs::create_dir(f.path("dir")).unwrap();
    let names: Vec<_> = f
        .disk
        .list(&f.root)
        .unwrap()
        .into_iter()
        .map(|e| (e.name.into_string().unwrap(), e.stat.unwrap().kind))
        .collect();
    let file = FileKind::File;
    let expected = [
        ("Z", file),
        ("a", file),
        ("a b", file),
        ("b", file),
        ("dir", FileKind::Dir),
        ("e\u{301}", file),
        ("é", file),
    ];
    assert_eq!(names, expected.map(|(n, k)| (n.to_owned(), k)));
}

#[test]
fn a_stat_tells_what_an_edit_changes() {
    let f = folder();
    let path = f.write("a", "one");
    let first = f.disk.stat(&path).unwrap();
    assert_eq!(first.size, 3);
    assert_eq!(first.links, 1);
    assert!(first.mtime_ns > 1_600_000_000_000_000_000);
    assert_eq!(f.disk.stat(&path).unwrap(), first);

    // Two changes within one tick of the file system's clock have one change time.
    while f.disk.stat(&f.write("tick", "x")).unwrap().ctime_ns <= first.ctime_ns {}

    // Same size, and the modification time put back: no other tool looks further than that.
    fs::write(&path, "two").unwrap();
    let old = std::time::UNIX_EPOCH + std::time::Duration::from_nanos(first.mtime_ns as u64);
    fs::File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(old)
        .unwrap();
    let second = f.disk.stat(&path).unwrap();
    assert_eq!(second.mtime_ns, first.mtime_ns);
    assert_eq!(second.size, first.size);
    assert_ne!(second.key(), first.key());

    fs::rename(&path, f.path("b")).unwrap();
    let moved = f.disk.stat(&f.path("b")).unwrap();
    assert_eq!(moved.file_id, first.file_id);
    assert_eq!(moved.birth_ns, first.birth_ns);
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_no_text_is_listed_and_opened() {
    use std::os::unix::ffi::OsStrExt as _;
    let f = folder();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.txt");
    fs::write(f.root.join(name), "latin1").unwrap();
    let entries = f.disk.list(&f.root).unwrap();
    assert_eq!(entries[0].name, name);
    let mut text = String::new();
    f.disk
        .open(&f.root.join(name))
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(text, "latin1");
}

#[test]
fn a_listing_that_fails_is_an_error_and_not_empty() {
    let f = folder();
    let file = f.write("file", "");
    let kind = |path: &std::path::Path| f.disk.list(path).unwrap_err().kind();
    assert_eq!(kind(&f.path("gone")), ErrorKind::NotFound);
    assert_eq!(kind(&file), ErrorKind::NotADirectory);
    let message = f.disk.list(&f.path("gone")).unwrap_err().to_string();
    assert!(message.starts_with("can't list "), "{message}");
    assert!(message.contains("gone"), "{message}");
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_is_reported_and_never_followed() {
    let f = folder();
    let outside = f.root.with_file_name("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret"), "secret").unwrap();
    let to_dir = f.path("to-dir");
    let to_file = f.path("to-file");
    std::os::unix::fs::symlink(&outside, &to_dir).unwrap();
    std::os::unix::fs::symlink(outside.join("secret"), &to_file).unwrap();

    assert_eq!(f.disk.stat(&to_file).unwrap().kind, FileKind::Symlink);
    assert_eq!(f.disk.stat(&to_dir).unwrap().kind, FileKind::Symlink);
    let opened = f.disk.open(&to_file).map(|_| ()).unwrap_err();
    assert_eq!(opened.kind(), ErrorKind::InvalidInput);
    let listed = f.disk.list(&to_dir).unwrap_err();
    assert_eq!(listed.kind(), ErrorKind::NotADirectory);
    let changed = f.disk.set_executable(&to_file, true).unwrap_err();
    assert_eq!(changed.kind(), ErrorKind::InvalidInput);
}

#[cfg(unix)]
#[test]
fn no_operation_leaves_the_folder_through_a_link_on_the_way() {
    let f = folder();
    let outside = f.root.with_file_name("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("kept"), "kept").unwrap();
    std::os::unix::fs::symlink(&outside, f.path("way")).unwrap();
    fs::create_dir(f.path("real")).unwrap();
    let inside = f.write("real/inside", "inside");
    let target = f.path("way/kept");
    let new = f.path("way/new");

    fn assert_refused<T>(result: io::Result<T>) {
        let kind = result.map(|_| ()).unwrap_err().kind();
        assert_eq!(kind, ErrorKind::NotADirectory);
    }
    assert_refused(f.disk.stat(&target));
    assert_refused(f.disk.open(&target));
    assert_refused(f.disk.remove_file(&target));
    assert_refused(f.disk.mkdir(&new));
    assert_refused(f.disk.rename(&inside, &new));
    assert_refused(f.disk.rename(&target, &f.path("real/stolen")));
    assert_refused(f.disk.create_temp(&f.path("way/tmp"), "x"));
    assert_eq!(read(&outside.join("kept")), "kept");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    assert_eq!(read(&inside), "inside");
}

#[cfg(unix)]
#[test]
fn a_folder_added_later_is_guarded_in_all_clones() {
    let f = folder();
    let outside = f.root.with_file_name("outside");
    fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, f.path("way")).unwrap();
    let through = f.path("way/new");
    let disk = RealDisk::new();
    disk.mkdir(&through).unwrap();
    disk.remove_dir(&through).unwrap();
    disk.clone().guard(&f.root);
    let error = disk.mkdir(&through).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotADirectory);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_instead_of_waited_for() {
    let f = folder();
    let path = f.path("pipe");
    let status = std::process::Command::new("mkfifo")
        .arg(&path)
        .status()
        .unwrap();
    assert!(status.success());
    assert_eq!(f.disk.stat(&path).unwrap().kind, FileKind::Other);
    let error = f.disk.open(&path).map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
}

#[test]
fn an_open_file_tells_of_itself_after_its_path_is_gone() {
    let f = folder();
    let path = f.write("a", "text");
    let before = f.disk.stat(&path).unwrap();
    let mut file = f.disk.open(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let after = file.stat().unwrap();
    assert_eq!(after.file_id, before.file_id);
    assert_eq!(after.size, 4);
    file.seek(SeekFrom::Start(2)).unwrap();
    let mut rest = String::new();
    file.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "xt");
}

#[test]
fn a_temporary_file_is_found_again_with_what_it_held() {
    let f = folder();
    let dir = f.path(".cairn-tmp");
    let mut first = f.disk.create_temp(&dir, "part").unwrap();
    first.write_all(b"verified").unwrap();
    drop(first);
    let mut again = f.disk.create_temp(&dir, "part").unwrap();
    assert_eq!(again.stat().unwrap().size, 8);
    again.seek(SeekFrom::End(0)).unwrap();
    again.write_all(b" more").unwrap();
    // Of 1969, and of a year that nanoseconds can't have.
    for modified_ms in [-1_500, 13_569_465_600_000] {
        again.set_modified(modified_ms).unwrap();
        again.sync().unwrap();
        assert_eq!(again.stat().unwrap().modified_ms, modified_ms);
    }
    assert_eq!(read(again.path()), "verified more");
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        assert_eq!(fs::metadata(&dir).unwrap().mode() & 0o777, 0o700);
    }
}

#[cfg(unix)]
#[test]
fn the_executable_bit_goes_to_whoever_may_read() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let f = folder();
    let path = f.write("run.sh", "");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let on = f.disk.set_executable(&path, true).unwrap();
    assert_eq!(on.executable, Some(true));
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o750);
    let off = f.disk.set_executable(&path, false).unwrap();
    assert_eq!(off.executable, Some(false));
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
}

#[test]
fn directories_are_made_once_and_removed_when_empty() {
    let f = folder();
    let path = f.path("dir");
    let made = f.disk.mkdir(&path).unwrap();
    assert_eq!(made.kind, FileKind::Dir);
    let again = f.disk.mkdir(&path).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::AlreadyExists);
    f.write("dir/file", "");
    let full = f.disk.remove_dir(&path).unwrap_err();
    assert_eq!(full.kind(), ErrorKind::DirectoryNotEmpty);
    f.disk.remove_file(&f.path("dir/file")).unwrap();
    f.disk.remove_dir(&path).unwrap();
    assert!(!path.exists());
}

#[test]
fn writing_to_the_medium_skips_directories_that_are_gone() {
    let f = folder();
    let mut dirs = vec![f.root.clone(), f.path("gone")];
    f.disk.sync_dirs(&dirs).unwrap();
    for i in 0..20 {
        let dir = f.path(&i.to_string());
        f.disk.mkdir(&dir).unwrap();
        dirs.push(dir);
    }
    f.disk.sync_dirs(&dirs).unwrap();
    f.disk.sync_all(&f.root).unwrap();
    assert!(f.disk.free_space(&f.root).unwrap() > 0);
    assert_ne!(f.disk.free_files(&f.root).unwrap(), Some(0));
    let gone = f.disk.sync_all(&f.path("gone")).unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::NotFound);
}

#[cfg(target_os = "linux")]
#[test]
fn a_listing_shows_where_another_file_system_is_mounted() {
    let disk = RealDisk::new();
    let root = disk.stat(Path::new("/")).unwrap();
    let entries = disk.list(Path::new("/")).unwrap();
    let find = |name: &str| {
        let mut found = entries.iter().filter(|entry| entry.name == name);
        *found.next().unwrap().stat.as_ref().unwrap()
    };
    let proc = find("proc");
    assert_ne!(proc.file_id.device, root.file_id.device);
    if root.mount.is_some() {
        assert_ne!(proc.mount, root.mount);
    }
}
