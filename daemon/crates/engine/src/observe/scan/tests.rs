//! Scans of a real directory, recorded in an index in memory.

use super::*;
use crate::testing::synced_file;
use cairn_index::{FolderSettings, Index, SyncedRow};
use cairn_model::NodeId;
use cairn_platform::RealDisk;
use cairn_platform::dirs::HOME_MARK;
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
    let scan = |scope: Scope| {
        let nothing = Earlier::default();
        index
            .write(|db| scan(db, &disk, &folder, &rules, &scope, &nothing, usize::MAX))
            .unwrap()
    };
    scan(Scope::Whole);
    // Kept aside, so that the new directory can't have the old one's inode.
    fs::rename(root.join("d"), &aside).unwrap();
    fs::create_dir(root.join("d")).unwrap();
    fs::write(root.join("d/z"), "2").unwrap();
    let top = RelPath::root();
    let inside = RelPath::parse("d").unwrap();
    scan(Scope::Dirs(Hinted::from([
        (top, BTreeSet::new()),
        (inside, BTreeSet::new()),
    ])));
    assert_eq!(names(&index, &folder), ["d"]);
}

/// A folder in an index, with the means to scan it.
struct ScannedFolder {
    index: Index,
    folder: FolderRow,
    rules: Rules,
    dir: tempfile::TempDir,
}

impl ScannedFolder {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let index = Index::memory().unwrap();
        let folder = index
            .write(|db| {
                let root = dir.path().to_str().unwrap();
                let id = db.add_folder(root, "/", &FolderSettings::default())?;
                db.folder(id)
            })
            .unwrap()
            .unwrap();
        let rules = Rules::load(&RealDisk::new(), dir.path(), &folder.settings);
        Self {
            index,
            folder,
            rules,
            dir,
        }
    }

    fn scan(&self, scope: &Scope) -> ScanResult {
        self.scan_part(scope, usize::MAX)
    }

    /// Scans until `most_new` new files and directories are found.
    fn scan_part(&self, scope: &Scope, most_new: usize) -> ScanResult {
        self.scan_again(scope, most_new, &BTreeSet::new())
    }

    /// The same, after an earlier scan has missed some rows.
    fn scan_again(&self, scope: &Scope, most_new: usize, missed: &BTreeSet<LocalId>) -> ScanResult {
        let disk = RealDisk::new();
        let earlier = Earlier {
            confirmed_missing: missed.clone(),
            ..Earlier::default()
        };
        self.index
            .write(|db| {
                let (folder, rules) = (&self.folder, &self.rules);
                scan(db, &disk, folder, rules, scope, &earlier, most_new)
            })
            .unwrap()
    }

    /// Scans the directories that a scan has left, until none is left. Returns the number of scans.
    fn scan_rest(&self, found: ScanResult, most_new: usize) -> usize {
        let mut unscanned = found.unscanned;
        for scans in 0..100 {
            if unscanned.is_empty() {
                return scans;
            }
            let hinted = unscanned.into_iter().map(|dir| (dir, BTreeSet::new()));
            let found = self.scan_part(&Scope::Dirs(hinted.collect()), most_new);
            unscanned = found.unscanned;
        }
        panic!("it has no end");
    }

    /// Returns the paths of all rows, and why they take no part.
    fn rows(&self) -> BTreeMap<String, Skipped> {
        let rows = |db: &Db<'_>| {
            let mut paths = BTreeMap::new();
            for row in db.all_locals(self.folder.id)? {
                let path = db.local_path(row.id)?.unwrap();
                paths.insert(path.to_string(), row.skipped);
            }
            Ok(paths)
        };
        self.index.read(rows).unwrap()
    }
}

/// Returns the ids of the rows at the top of a folder, by name.
fn ids(it: &ScannedFolder) -> BTreeMap<String, LocalId> {
    let rows = it.index.read(|db| db.children(it.folder.id, None)).unwrap();
    let by_name = rows.iter().map(|row| (row.name.to_string(), row.id));
    by_name.collect()
}

#[test]
fn a_file_that_is_saved_with_a_backup_stays_itself() {
    for backup in ["a~", "a.bak", "#a#"] {
        let it = ScannedFolder::new();
        let (a, old) = (it.dir.path().join("a"), it.dir.path().join(backup));
        fs::write(&a, "1").unwrap();
        it.scan(&Scope::Whole);
        let before = ids(&it)["a"];
        fs::rename(&a, &old).unwrap();
        fs::write(&a, "2").unwrap();
        it.scan(&Scope::Whole);
        let after = ids(&it);
        assert_eq!((after.len(), after["a"]), (2, before), "{backup}");
        // The next time there is a backup already.
        fs::rename(&a, &old).unwrap();
        fs::write(&a, "3").unwrap();
        it.scan(&Scope::Whole);
        assert_eq!(ids(&it), after, "{backup}");
    }
}

#[test]
fn a_file_that_is_renamed_stays_itself_though_its_new_name_is_that_of_a_backup() {
    let it = ScannedFolder::new();
    let path = |name: &str| it.dir.path().join(name);
    for name in ["a", "b", "c"] {
        fs::write(path(name), name).unwrap();
    }
    it.scan(&Scope::Whole);
    let before = ids(&it);
    let node = NodeId::from_random_bytes([1; 16]);
    let synced = synced_file(it.folder.id, node, before["b"], "b");
    it.index.write(|db| db.put_synced(&synced)).unwrap();
    // Nothing new has its name, a file in sync has, and a new file has though this is no backup.
    fs::rename(path("a"), path("a~")).unwrap();
    fs::rename(path("b"), path("a")).unwrap();
    fs::rename(path("c"), path("d")).unwrap();
    fs::write(path("c"), "new").unwrap();
    it.scan(&Scope::Whole);
    let after = ids(&it);
    assert_eq!(after["a~"], before["a"]);
    assert_eq!(after["a"], before["b"]);
    assert_eq!(after["d"], before["c"]);
}

#[test]
fn a_hint_for_a_directory_covers_what_is_below_it() {
    let it = ScannedFolder::new();
    fs::create_dir_all(it.dir.path().join("d/e")).unwrap();
    it.scan(&Scope::Whole);
    fs::write(it.dir.path().join("d/e/new"), "1").unwrap();
    let name = Name::new("d".to_owned()).unwrap();
    it.scan(&Scope::Dirs(Hinted::from([(
        RelPath::root(),
        BTreeSet::from([name]),
    )])));
    let new = RelPath::parse("d/e/new").unwrap();
    let row = it.index.read(|db| db.local_at(it.folder.id, &new)).unwrap();
    assert!(row.is_some());
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_is_a_row_that_takes_no_part_as_long_as_it_is_there() {
    let it = ScannedFolder::new();
    let link = it.dir.path().join("link");
    std::os::unix::fs::symlink("/nowhere", &link).unwrap();
    let found = it.scan(&Scope::Whole);
    assert_eq!(found.problems.len(), 1, "{:?}", found.problems);
    let path = RelPath::parse("link").unwrap();
    let row = || {
        let row = it.index.read(|db| db.local_at(it.folder.id, &path));
        row.unwrap()
    };
    assert_eq!(row().unwrap().skipped, Skipped::Special);
    fs::remove_file(&link).unwrap();
    it.scan(&Scope::Whole);
    assert_eq!(row(), None);
}

#[cfg(unix)]
#[test]
fn many_symbolic_links_of_a_folder_are_one_line() {
    let it = ScannedFolder::new();
    for n in 0..20 {
        std::os::unix::fs::symlink("/nowhere", it.dir.path().join(format!("l{n}"))).unwrap();
    }
    let found = it.scan(&Scope::Whole);
    assert_eq!(found.problems.len(), 1, "{:?}", found.problems);
    assert!(found.problems[0].message.starts_with("20 "));
}

#[test]
fn a_marked_directory_takes_no_part_as_long_as_it_is_marked() {
    let it = ScannedFolder::new();
    let home = it.dir.path().join("d/home");
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join(HOME_MARK), "").unwrap();
    fs::write(home.join("index.db"), "1").unwrap();
    let row = |path: &str| {
        let path = RelPath::parse(path).unwrap();
        it.index
            .read(|db| db.local_at(it.folder.id, &path))
            .unwrap()
    };
    it.scan(&Scope::Whole);
    assert_eq!(row("d/home").unwrap().skipped, Skipped::Ignored);
    assert_eq!(row("d/home/index.db"), None);
    fs::write(home.join("index.db-wal"), "2").unwrap();
    assert!(
        !it.scan(&Scope::Whole).changed,
        "or one scan would lead to the next"
    );
    let inside = RelPath::parse("d/home").unwrap();
    let hinted = Scope::Dirs(Hinted::from([(inside, BTreeSet::new())]));
    assert!(!it.scan(&hinted).changed);
    fs::remove_file(home.join(HOME_MARK)).unwrap();
    it.scan(&Scope::Whole);
    assert_eq!(row("d/home").unwrap().skipped, Skipped::No);
    assert!(row("d/home/index.db").is_some());
}

impl ScannedFolder {
    /// Scans the disk, and takes over the rules that were found.
    fn scan_and_take_rules(&mut self, scope: &Scope) -> ScanResult {
        let mut found = self.scan(scope);
        if let Some(rules) = found.rules.take() {
            self.rules = rules;
        }
        found
    }

    fn write(&self, below: &str, text: &str) {
        let path = self.dir.path().join(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Returns why the row at a path takes no part; `None` if there is no row.
    fn skipped(&self, below: &str) -> Option<Skipped> {
        let path = RelPath::parse(below).unwrap();
        let row = self.index.read(|db| db.local_at(self.folder.id, &path));
        row.unwrap().map(|row| row.skipped)
    }

    /// Returns a scan of one directory because of its rules file.
    fn hint(dir: &str) -> Scope {
        let name = Name::new(".cairnignore".to_owned()).unwrap();
        let dir = RelPath::parse(dir).unwrap();
        Scope::Dirs(Hinted::from([(dir, BTreeSet::from([name]))]))
    }
}

#[test]
fn rules_in_a_directory_count_for_what_comes_with_them() {
    let mut it = ScannedFolder::new();
    it.write("sub/.cairnignore", "*.key\n");
    it.write("sub/deep/id.key", "secret");
    it.write("sub/doc", "d");
    it.write("id.key", "k");
    it.scan_and_take_rules(&Scope::Whole);
    assert_eq!(it.skipped("sub/deep/id.key"), None);
    for synced in ["sub/doc", "sub/.cairnignore", "sub/deep", "id.key"] {
        assert_eq!(it.skipped(synced), Some(Skipped::No), "{synced}");
    }
    let texts = it.index.read(|db| db.rules_texts(it.folder.id)).unwrap();
    assert_eq!(texts[&RelPath::parse("sub").unwrap()], "*.key\n");
}

#[test]
fn a_change_of_rules_in_a_directory_concerns_all_below_it() {
    let mut it = ScannedFolder::new();
    it.write("sub/deep/x.log", "x");
    it.write("other/x.log", "x");
    it.scan_and_take_rules(&Scope::Whole);
    it.write("sub/.cairnignore", "*.log\n");
    it.scan_and_take_rules(&ScannedFolder::hint("sub"));
    assert_eq!(it.skipped("sub/deep/x.log"), Some(Skipped::Ignored));
    assert_eq!(it.skipped("other/x.log"), Some(Skipped::No));
    assert!(
        it.scan_and_take_rules(&ScannedFolder::hint("sub"))
            .rules
            .is_none()
    );
    it.write("sub/.cairnignore", "*.tmp\n");
    it.scan_and_take_rules(&ScannedFolder::hint("sub"));
    assert_eq!(it.skipped("sub/deep/x.log"), Some(Skipped::No));
}

#[test]
fn rules_go_with_their_file_and_their_directory() {
    let mut it = ScannedFolder::new();
    it.write("sub/.cairnignore", "*.log\n");
    it.write("sub/x.log", "x");
    it.scan_and_take_rules(&Scope::Whole);
    fs::rename(it.dir.path().join("sub"), it.dir.path().join("new")).unwrap();
    it.write("sub/x.log", "another");
    it.scan_and_take_rules(&Scope::Whole);
    assert_eq!(it.skipped("new/x.log"), None);
    assert_eq!(it.skipped("sub/x.log"), Some(Skipped::No));
    fs::remove_file(it.dir.path().join("new/.cairnignore")).unwrap();
    it.scan_and_take_rules(&ScannedFolder::hint("new"));
    assert_eq!(it.skipped("new/x.log"), Some(Skipped::No));
    assert_eq!(it.rules.nested_dirs(), []);
    let texts = it.index.read(|db| db.rules_texts(it.folder.id)).unwrap();
    assert!(texts.is_empty(), "{texts:?}");
}

#[test]
fn rules_of_a_directory_that_is_gone_are_forgotten() {
    let mut it = ScannedFolder::new();
    it.write("sub/.cairnignore", "*.log\n");
    it.scan_and_take_rules(&Scope::Whole);
    fs::remove_dir_all(it.dir.path().join("sub")).unwrap();
    it.scan_and_take_rules(&Scope::Whole);
    assert_eq!(it.rules.nested_dirs(), []);
}

#[test]
fn invalid_lines_in_a_directory_are_a_problem() {
    let mut it = ScannedFolder::new();
    it.write("sub/.cairnignore", "[a\n*.log\n");
    it.write("sub/x.log", "x");
    let found = it.scan_and_take_rules(&Scope::Whole);
    assert_eq!(it.skipped("sub/x.log"), None);
    assert_eq!(found.problems.len(), 1, "{:?}", found.problems);
    assert_eq!(found.problems[0].path, "sub/.cairnignore");
}

/// Three directories with two files each, one of them in another one, and a file beside them.
fn folder_of_three() -> ScannedFolder {
    let it = ScannedFolder::new();
    for dir in ["a", "b", "b/c"] {
        for name in ["1", "2"] {
            it.write(&format!("{dir}/{name}"), dir);
        }
    }
    it.write("z", "beside them");
    it
}

#[test]
fn many_new_directories_are_scanned_in_parts_that_come_to_the_same() {
    let whole = folder_of_three();
    whole.scan(&Scope::Whole);
    assert_eq!(whole.rows().len(), 10);
    for most_new in 0..12 {
        let it = folder_of_three();
        let found = it.scan_part(&Scope::Whole, most_new);
        let left: Vec<String> = found.unscanned.iter().map(RelPath::to_string).collect();
        // What is not looked into takes no part, and what stands beside it does.
        for dir in &left {
            assert_eq!(it.rows()[dir], Skipped::Unscanned, "{most_new}");
        }
        assert_eq!(it.skipped("z"), Some(Skipped::No), "{most_new}");
        let scans = it.scan_rest(found, most_new);
        assert_eq!(it.rows(), whole.rows(), "{most_new}");
        // The order of names is the disk's.
        match most_new {
            0..=3 => assert!(scans > 0, "{most_new}"),
            4..=8 => {}
            _ => assert_eq!(scans, 0, "{most_new}: {left:?}"),
        }
    }
}

#[test]
fn a_whole_scan_looks_into_what_an_earlier_one_has_left() {
    let it = folder_of_three();
    let left = it.scan_part(&Scope::Whole, 1).unscanned;
    assert!(!left.is_empty());
    let found = it.scan(&Scope::Whole);
    assert!(found.changed && found.unscanned.is_empty());
    let whole = folder_of_three();
    whole.scan(&Scope::Whole);
    assert_eq!(it.rows(), whole.rows());
}

#[test]
fn a_hint_for_a_file_beside_it_leaves_a_directory_that_is_not_looked_into_yet() {
    let it = folder_of_three();
    let left = it.scan_part(&Scope::Whole, 1).unscanned;
    it.write("y", "new");
    let name = Name::new("y".to_owned()).unwrap();
    let hinted = Hinted::from([(RelPath::root(), BTreeSet::from([name]))]);
    let before = it.rows();
    let found = it.scan_part(&Scope::Dirs(hinted), 1);
    assert_eq!(it.skipped("y"), Some(Skipped::No));
    // The scan has room for one of them.
    assert!(found.unscanned.is_subset(&left) && found.unscanned.len() + 1 >= left.len());
    for dir in &found.unscanned {
        assert_eq!(before[&dir.to_string()], Skipped::Unscanned);
        assert_eq!(it.rows()[&dir.to_string()], Skipped::Unscanned);
    }
}

#[test]
fn what_was_moved_into_a_new_directory_is_found_by_the_scan_that_misses_it() {
    let it = ScannedFolder::new();
    it.write("old/f", "moved");
    it.scan(&Scope::Whole);
    let id = |path: &str| {
        let path = RelPath::parse(path).unwrap();
        let row = it.index.read(|db| db.local_at(it.folder.id, &path));
        row.unwrap().map(|row| row.id)
    };
    let before = id("old/f");
    it.write("new/other", "o");
    fs::rename(it.dir.path().join("old/f"), it.dir.path().join("new/f")).unwrap();
    let found = it.scan_part(&Scope::Whole, 0);
    assert_eq!(id("new/f"), before);
    assert!(found.missing.is_empty() && found.unscanned.is_empty());
}

#[test]
fn what_may_be_in_a_directory_that_is_left_counts_as_missing_and_not_as_gone() {
    let it = ScannedFolder::new();
    it.write("old/f", "moved");
    it.scan(&Scope::Whole);
    let path = |path: &str| RelPath::parse(path).unwrap();
    let row = |at: &str| {
        let row = it.index.read(|db| db.local_at(it.folder.id, &path(at)));
        row.unwrap()
    };
    let before = row("old/f").unwrap();
    let base = SyncedRow {
        size: 5,
        ..synced_file(
            it.folder.id,
            NodeId::from_random_bytes([1; 16]),
            before.id,
            "f",
        )
    };
    it.index.write(|db| db.put_synced(&base)).unwrap();
    for dir in ["n1", "n2"] {
        it.write(&format!("{dir}/other"), dir);
    }
    let left = it.scan_part(&Scope::Dirs([(RelPath::root(), BTreeSet::new())].into()), 1);
    assert!(left.unscanned.contains(&path("n2")), "{left:?}");
    fs::rename(it.dir.path().join("old/f"), it.dir.path().join("n2/f")).unwrap();
    let dirs = ["n1", "n2", "old"].map(|dir| (path(dir), BTreeSet::new()));
    let found = it.scan_again(&Scope::Dirs(dirs.into()), 1, &[before.id].into());
    assert_eq!(found.unscanned, [path("n2")].into());
    assert_eq!(found.missing, [before.id].into());
    it.scan_rest(found, 1);
    assert_eq!(row("n2/f").map(|row| row.id), Some(before.id));
}

#[cfg(unix)]
#[test]
fn a_change_through_one_name_of_a_file_is_found_at_its_other_names() {
    use std::os::unix::fs::PermissionsExt as _;
    let it = ScannedFolder::new();
    it.write("a", "one");
    it.write("d/other", "of its own");
    let at = |path: &str| it.dir.path().join(path);
    let linked = |new: &str| fs::hard_link(at("a"), at(new)).unwrap();
    linked("b");
    it.scan(&Scope::Whole);
    let rows = || {
        let rows = it.index.read(|db| db.all_locals(it.folder.id)).unwrap();
        let names = rows.into_iter().filter(|row| row.stat.size != 10);
        let names = names.filter(|row| row.kind == Kind::File);
        let names = names.map(|row| (row.stat.size, row.executable));
        names.collect::<Vec<_>>()
    };
    let hinted = || {
        let dir = RelPath::parse("d").unwrap();
        it.scan(&Scope::Dirs([(dir, BTreeSet::new())].into()))
    };
    let before = rows();
    linked("d/c");
    hinted();
    assert_eq!(rows(), [before, vec![(3, false)]].concat());
    // Changed through a name that is known, and through one that is new.
    fs::write(at("d/c"), "longer").unwrap();
    assert!(hinted().changed);
    assert_eq!(rows(), vec![(6, false); 3]);
    linked("d/e");
    fs::write(at("d/e"), "longest").unwrap();
    hinted();
    assert_eq!(rows(), vec![(7, false); 4]);
    fs::set_permissions(at("d/c"), fs::Permissions::from_mode(0o700)).unwrap();
    hinted();
    assert_eq!(rows(), vec![(7, true); 4]);
    assert!(!hinted().changed);
}

#[cfg(unix)]
#[test]
fn a_change_through_one_name_of_a_file_is_hinted_at_in_the_other_pairs_that_have_it() {
    let (it, beside) = (ScannedFolder::new(), tempfile::tempdir().unwrap());
    it.write("a", "one");
    fs::hard_link(it.dir.path().join("a"), beside.path().join("b")).unwrap();
    let root = beside.path().to_str().unwrap();
    let other = it.index.write(|db| {
        let id = db.add_folder(root, "/other", &FolderSettings::default())?;
        Ok(db.folder(id)?.unwrap())
    });
    let other = other.unwrap();
    let scanned = |folder: &FolderRow| {
        let scanned = it.index.write(|db| {
            let (rules, earlier) = (&it.rules, Earlier::default());
            let disk = RealDisk::new();
            scan(db, &disk, folder, rules, &Scope::Whole, &earlier, 100)
        });
        scanned.unwrap()
    };
    assert!(it.scan(&Scope::Whole).elsewhere.is_empty());
    assert!(scanned(&other).elsewhere.is_empty(), "it is as it is known");
    fs::write(beside.path().join("b"), "longer").unwrap();
    let found = scanned(&other);
    let name = RelPath::parse("a").unwrap();
    assert_eq!(found.elsewhere, [(it.folder.id, name)].into());
    let found = it.scan(&Scope::Whole);
    assert!(found.changed && found.elsewhere.is_empty(), "{found:?}");
}
