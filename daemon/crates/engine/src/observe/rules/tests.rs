//! Patterns against paths.

use super::*;
use cairn_platform::RealDisk;

fn rules(text: &str, settings: &FolderSettings) -> Rules {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(IGNORE_FILE), text).unwrap();
    Rules::load(&RealDisk::new(), dir.path(), settings)
}

fn ignores(rules: &Rules, path: &str) -> bool {
    rules.ignores(&RelPath::parse(path).unwrap(), false)
}

#[test]
fn a_later_pattern_brings_a_file_back() {
    let rules = rules("*.log\n!keep.log\nbuild/\n", &FolderSettings::default());
    assert!(ignores(&rules, "a/x.log"));
    assert!(!ignores(&rules, "keep.log"));
    assert!(ignores(&rules, "build/deep/file"));
    assert!(
        !ignores(&rules, "build"),
        "a file of that name is no folder"
    );
    assert!(rules.errors.is_empty());
}

#[test]
fn what_the_shared_rules_forbid_is_not_brought_back_here() {
    let texts = Texts {
        file: "!id.key\n".into(),
        shared: "*.key\n".into(),
        own: Vec::new(),
    };
    let rules = Rules::new(texts, &FolderSettings::default());
    assert!(ignores(&rules, "id.key"));
    assert!(!ignores(&rules, "doc"));
}

#[test]
fn our_own_folders_can_not_be_brought_in() {
    let rules = rules("!.cairn-trash/\n!.DS_Store\n", &FolderSettings::default());
    assert!(ignores(&rules, ".cairn-trash/x"));
    assert!(ignores(&rules, "a/.DS_Store"));
    for own in ["a/.cairn-trash/x", "a/.cairn-tmp/x"] {
        assert!(
            ignores(&rules, own),
            "of a pair that was or is below this one"
        );
    }
    assert!(!ignores(&rules, "a/.cairn-trash"), "a file of that name");
}

#[test]
fn an_installations_own_files_can_not_be_brought_in() {
    let root = Path::new("/home/me");
    let places = ["/home/me/.local/share/cairn", "/home/me/c", "/srv/cairn"].map(PathBuf::from);
    let text = "!.cairn-home\n!.local/share/cairn/\n!index.db\n";
    let mine = rules(text, &FolderSettings::default()).with_own_places(root, &places);
    for own in [
        ".local/share/cairn",
        ".local/share/cairn/index.db",
        "c/x",
        "a/.cairn-home",
    ] {
        assert!(ignores(&mine, own), "{own}");
    }
    for other in [".local/share/cairns", ".local/share", "cc", "index.db"] {
        assert!(!ignores(&mine, other), "{other}");
    }
    let origin = mine.origin(&RelPath::parse("c/x").unwrap(), false).unwrap();
    assert_eq!(
        (origin.pattern.as_str(), origin.matched.to_string().as_str()),
        (OWN_FILES, "c")
    );
    let inside =
        rules("", &FolderSettings::default()).with_own_places(Path::new("/srv/cairn"), &places);
    assert!(
        ignores(&inside, "anything"),
        "a folder that is such a place itself"
    );
}

#[test]
fn only_the_chosen_subfolders_come() {
    let settings = FolderSettings {
        only: vec!["/a/b".into()],
        ..Default::default()
    };
    let rules = rules("", &settings);
    assert!(!rules.ignores(&RelPath::parse("a").unwrap(), true));
    assert!(!ignores(&rules, "a/b/c"));
    assert!(ignores(&rules, "a/new"));
    assert!(ignores(&rules, "x"));
}

#[test]
fn the_choice_goes_along_with_a_folder_on_the_way_to_it() {
    let path = |text: &str| RelPath::parse(text).unwrap();
    let settings = FolderSettings {
        only: vec!["p/a".into()],
        exclude: vec!["ex/".into()],
        ..Default::default()
    };
    let mut rules = rules("", &settings);
    assert!(!rules.follow(&path("p/b"), &path("b")));
    assert!(!rules.follow(&path("p/a/d"), &path("d")));
    assert!(rules.follow(&path("p"), &path("q/r")));
    assert!(!ignores(&rules, "q/r/a/f"));
    assert!(ignores(&rules, "p/a/f"));
    assert!(rules.is_unchosen(&path("p"), true));
    assert!(!rules.is_unchosen(&path("ex"), true), "a pattern says so");
    assert!(!rules.is_unchosen(&path("q"), true));
    assert!(rules.excludes(&path("q/ex"), true));
    assert!(!rules.excludes(&path("q/ex/f"), false), "its folder is");
}
