//! Scans of a real directory, recorded in an index in memory.

use super::*;
use cairn_index::{FolderSettings, Index};
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
        let nothing = BTreeSet::new();
        index
            .write(|db| scan(db, &disk, &folder, &rules, &scope, &nothing))
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
        let (disk, nothing) = (RealDisk::new(), BTreeSet::new());
        self.index
            .write(|db| scan(db, &disk, &self.folder, &self.rules, scope, &nothing))
            .unwrap()
    }
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
