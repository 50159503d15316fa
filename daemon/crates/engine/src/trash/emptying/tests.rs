//! The items that leave the local trash, and those that stay.

use super::*;
use crate::trash::{list, put};
use cairn_model::RelPath;
use cairn_platform::RealDisk;

const NOW: i64 = 400 * DAY_MS;

/// Returns a folder whose trash holds files of 100 bytes; each comes with the days since it was put there.
fn folder(files: &[(&str, i64)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, days) in files {
        let file = dir.path().join(name);
        std::fs::write(&file, [0; 100]).unwrap();
        let path = RelPath::parse(name).unwrap();
        put(
            &RealDisk::new(),
            dir.path(),
            &file,
            &path,
            NOW - days * DAY_MS,
        )
        .unwrap();
    }
    dir
}

/// Returns the names in the trash, newest first.
fn names(dir: &tempfile::TempDir) -> Vec<String> {
    let listed = list(&RealDisk::new(), dir.path()).unwrap();
    listed.into_iter().map(|t| t.path.to_string()).collect()
}

fn make_room_for(dir: &tempfile::TempDir, missing: u64) -> bool {
    make_room(&RealDisk::new(), dir.path(), missing, NOW).unwrap()
}

#[test]
fn the_oldest_things_give_way_when_there_is_too_much() {
    let dir = folder(&[("a", 9), ("b", 3), ("c", 6)]);
    assert!(make_room_for(&dir, 0));
    assert_eq!(names(&dir), ["b", "c", "a"]);
    assert!(make_room_for(&dir, 50));
    assert_eq!(names(&dir), ["b", "c"]);
    assert!(make_room_for(&dir, 200));
    assert_eq!(names(&dir), Vec::<String>::new());
}

#[test]
fn nothing_is_deleted_when_that_does_not_make_enough_room() {
    let dir = folder(&[("a", 9), ("b", 3)]);
    assert!(!make_room_for(&dir, 201));
    assert_eq!(names(&dir), ["b", "a"]);
}

#[test]
fn what_is_younger_than_a_day_stays_however_scarce_the_space_is() {
    let dir = folder(&[("old", 2), ("young", 0)]);
    assert!(!make_room_for(&dir, 200));
    assert_eq!(names(&dir), ["young", "old"]);
    assert!(make_room_for(&dir, 100));
    assert_eq!(names(&dir), ["young"]);
}

#[test]
fn old_things_are_deleted_after_thirty_days() {
    let dir = folder(&[("old", 31), ("new", 29)]);
    empty(&RealDisk::new(), dir.path(), NOW).unwrap();
    assert_eq!(names(&dir), ["new"]);
}

#[test]
fn the_trash_takes_a_third_of_what_is_free_without_it() {
    let dir = folder(&[("a", 9), ("b", 6), ("c", 3), ("young", 0)]);
    let disk = RealDisk::new();
    let shrink = |free| {
        let buckets = buckets(&disk, dir.path()).unwrap();
        shrink(&disk, buckets, free, NOW);
    };
    shrink(800);
    assert_eq!(names(&dir), ["young", "c", "b", "a"]);
    shrink(500);
    assert_eq!(names(&dir), ["young", "c", "b"]);
    shrink(0);
    assert_eq!(names(&dir), ["young"]);
}

#[test]
fn what_can_not_be_read_keeps_nothing_else_in_the_trash() {
    let dir = folder(&[("old", 31), ("older", 40), ("new", 29)]);
    // Something that is no directory can't be listed, as one can't that belongs to somebody else.
    let unreadable = dir.path().join(TRASH_DIR).join("1971-01-01 000000");
    std::fs::write(&unreadable, b"").unwrap();
    empty(&RealDisk::new(), dir.path(), NOW).unwrap();
    assert!(unreadable.exists());
    std::fs::remove_file(unreadable).unwrap();
    assert_eq!(names(&dir), ["new"]);
}

#[test]
fn what_is_deleted_by_its_id_takes_nothing_else_with_it() {
    let dir = folder(&[("a", 9), ("b", 3)]);
    let listed = list(&RealDisk::new(), dir.path()).unwrap();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("mine"), "").unwrap();
    let ids = [
        listed[1].id.as_str(),
        "1971-01-01 000000/gone",
        "1970-01-01 000000/../../mine",
        "1970-01-01 000000",
        "../mine",
    ];
    let delete = |ids: &[&str]| {
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        delete(&RealDisk::new(), dir.path(), &ids)
    };
    delete(&ids).unwrap();
    assert_eq!(names(&dir), ["b"]);
    #[cfg(unix)]
    {
        let planted = "1970-01-01 000000";
        let place = dir.path().join(TRASH_DIR).join(planted);
        std::os::unix::fs::symlink(outside.path(), &place).unwrap();
        assert!(delete(&[&format!("{planted}/mine")]).is_err());
        empty(&RealDisk::new(), dir.path(), NOW).unwrap();
        assert!(outside.path().join("mine").exists());
    }
}

#[test]
fn a_folder_goes_with_what_was_listed_in_it_and_stays_with_what_came_since() {
    let dir = tempfile::tempdir().unwrap();
    let trash = |name: &str| {
        let (file, path) = (dir.path().join(name), RelPath::parse(name).unwrap());
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "").unwrap();
        put(&RealDisk::new(), dir.path(), &file, &path, NOW).unwrap();
    };
    trash("d/e/f");
    let all = || -> BTreeSet<String> {
        let listed = list(&RealDisk::new(), dir.path()).unwrap();
        listed.into_iter().map(|one| one.id).collect()
    };
    let listed = all();
    // In the same second.
    trash("d/new");
    delete(&RealDisk::new(), dir.path(), &listed).unwrap();
    assert_eq!(names(&dir), ["d", "d/new"]);
    delete(&RealDisk::new(), dir.path(), &all()).unwrap();
    let left = std::fs::read_dir(dir.path().join(TRASH_DIR)).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, [".gitignore"], "the time goes, too");
}

/// Shows nothing where the tests run as root, who may write everywhere.
#[cfg(unix)]
#[test]
fn a_folder_without_the_right_to_write_is_deleted_like_others() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let closed = dir.path().join("closed");
    std::fs::create_dir_all(closed.join("sub")).unwrap();
    for file in ["a", "sub/b"] {
        std::fs::write(closed.join(file), "x").unwrap();
    }
    for folder in [closed.join("sub"), closed.clone()] {
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o555)).unwrap();
    }
    let (disk, path) = (RealDisk::new(), RelPath::parse("closed").unwrap());
    put(&disk, dir.path(), &closed, &path, 0).unwrap();
    assert_eq!(names(&dir).len(), 4);
    empty(&disk, dir.path(), NOW).unwrap();
    assert_eq!(names(&dir), Vec::<String>::new());
}
