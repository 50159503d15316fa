//! The attributes that a replaced and a new file have; each as far as the file system and this user
//! allow it.

use super::{folder, read};
use crate::disk::{Disk as _, Expect};
use std::fs;
use std::path::Path;

/// Sets an extended attribute; `false` where the file system has none.
fn set_attribute(path: &Path, name: &str, value: &[u8]) -> bool {
    use rustix::fs::{XattrFlags, setxattr};
    match setxattr(path, name, value, XattrFlags::empty()) {
        Ok(()) => true,
        Err(rustix::io::Errno::NOTSUP) => false,
        Err(error) => panic!("{name}: {error}"),
    }
}

fn attribute(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 1024];
    let length = rustix::fs::getxattr(path, name, &mut value[..]).ok()?;
    value.truncate(length);
    Some(value)
}

/// An access list with one more reader, in the form of acl(5): version, then tag, permissions and id.
fn access_list(reader: u32) -> Vec<u8> {
    let none = u32::MAX;
    let entries: [(u16, u16, u32); 5] = [
        (0x01, 6, none),
        (0x02, 4, reader),
        (0x04, 0, none),
        (0x10, 4, none),
        (0x20, 0, none),
    ];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in entries {
        list.extend(tag.to_le_bytes());
        list.extend(permissions.to_le_bytes());
        list.extend(id.to_le_bytes());
    }
    list
}

#[test]
fn a_replaced_file_keeps_its_extended_attributes_and_access_list() {
    const LIST: &str = "system.posix_acl_access";
    let f = folder();
    let target = f.write("file", "old");
    let has_attributes = set_attribute(&target, "user.tag", b"red");
    let list = access_list(12_345);
    let has_lists = set_attribute(&target, LIST, &list);
    let temp = f.temp("new");
    let key = f.disk.stat(&target).unwrap().key();
    f.disk.replace(&temp, &target, Expect::Same(key)).unwrap();
    assert_eq!(read(&target), "new");
    if has_attributes {
        assert_eq!(attribute(&target, "user.tag").as_deref(), Some(&b"red"[..]));
    }
    if has_lists {
        assert_eq!(attribute(&target, LIST), Some(list));
    }
}

#[test]
fn a_replaced_file_gets_no_access_list_from_the_temporary_directory() {
    const LIST: &str = "system.posix_acl_access";
    let f = folder();
    let target = f.write("file", "old");
    let temp = f.temp("new");
    if !set_attribute(&temp, LIST, &access_list(12_345)) {
        return;
    }
    let key = f.disk.stat(&target).unwrap().key();
    f.disk.replace(&temp, &target, Expect::Same(key)).unwrap();
    assert_eq!(attribute(&target, LIST), None);
}

#[test]
fn a_new_file_gets_the_access_list_and_the_group_of_its_directory() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
    let f = folder();
    let dir = f.path("shared");
    fs::create_dir(&dir).unwrap();
    let has_lists = set_attribute(&dir, "system.posix_acl_default", &access_list(12_345));
    // Only root may choose any group.
    let has_group = chown(&dir, None, Some(12_346)).is_ok();
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o2770)).unwrap();
    let (temp, target) = (f.temp("new"), dir.join("file"));
    f.disk.replace(&temp, &target, Expect::Absent).unwrap();
    let found = fs::metadata(&target).unwrap();
    if has_lists {
        let list = attribute(&target, "system.posix_acl_access");
        assert_eq!(list, Some(access_list(12_345)));
        assert_eq!(found.mode() & 0o777, 0o640);
    }
    if has_group {
        assert_eq!(found.gid(), 12_346);
    }
}

#[test]
fn a_replaced_file_keeps_its_owner_where_this_user_may_set_it() {
    use std::os::unix::fs::{MetadataExt as _, chown};
    let f = folder();
    let target = f.write("file", "old");
    // Only root may give files away.
    if chown(&target, Some(12_345), Some(12_346)).is_err() {
        return;
    }
    let temp = f.temp("new");
    let key = f.disk.stat(&target).unwrap().key();
    f.disk.replace(&temp, &target, Expect::Same(key)).unwrap();
    let found = fs::metadata(&target).unwrap();
    assert_eq!((found.uid(), found.gid()), (12_345, 12_346));
}
