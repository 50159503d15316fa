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
        files: [(RelPath::root(), "!id.key\n".into())].into(),
        shared: [(RelPath::root(), "*.key\n".into())].into(),
        own: Vec::new(),
    };
    let rules = Rules::new(&texts, &FolderSettings::default());
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

/// Returns rules of files in several directories.
fn rules_of(files: &[(&str, &str)]) -> Rules {
    let texts = |(dir, text): &(&str, &str)| (RelPath::parse(dir).unwrap(), (*text).to_owned());
    let texts = Texts {
        files: files.iter().map(texts).collect(),
        ..Texts::default()
    };
    Rules::new(&texts, &FolderSettings::default())
}

#[test]
fn a_deeper_file_decides_before_one_above_it() {
    let rules = rules_of(&[
        ("", "*.log\n!/a/b/top.key\n"),
        ("a", "!keep.log\n*.tmp\n"),
        ("a/b", "*.key\nkeep.log\n"),
    ]);
    for (path, ignored) in [
        ("keep.log", true),
        ("a/keep.log", false),
        ("a/x.log", true),
        ("a/b/keep.log", true),
        ("a/b/c/keep.log", true),
        ("a/c/keep.log", false),
        ("x.tmp", false),
        ("a/x.tmp", true),
        ("a/b/x.tmp", true),
        ("a/b/top.key", true),
        ("a/x.key", false),
    ] {
        assert_eq!(ignores(&rules, path), ignored, "{path}");
    }
}

#[test]
fn patterns_are_relative_to_the_directory_of_their_file() {
    let rules = rules_of(&[("a", "/x\nb/y\nbuild/\n")]);
    for (path, ignored) in [
        ("x", false),
        ("a/x", true),
        ("a/c/x", false),
        ("a/b/y", true),
        ("a/c/b/y", false),
        ("a/c/build/z", true),
        ("build/z", false),
        ("a/a/x", false),
    ] {
        assert_eq!(ignores(&rules, path), ignored, "{path}");
    }
    assert!(rules.ignores(&RelPath::parse("a/build").unwrap(), true));
    assert!(!ignores(&rules, "a/build"), "a file of that name");
}

#[test]
fn nothing_below_an_ignored_directory_is_brought_back() {
    let rules = rules_of(&[("", "out/\n"), ("out", "!*\n"), ("a", "deep\n!deep/x\n")]);
    assert!(ignores(&rules, "out/x"));
    assert!(ignores(&rules, "a/deep/x"));
}

#[test]
fn what_the_service_forbids_in_a_directory_is_not_brought_back_here() {
    let dir = |text: &str| RelPath::parse(text).unwrap();
    let texts = Texts {
        files: [(dir("a"), "!id.key\n".into())].into(),
        shared: [
            (dir("a"), "*.key\n".into()),
            (dir("a/b"), "!id.key\n".into()),
        ]
        .into(),
        own: Vec::new(),
    };
    let rules = Rules::new(&texts, &FolderSettings::default());
    assert!(ignores(&rules, "a/id.key"));
    assert!(!ignores(&rules, "a/b/id.key"), "the service's rules say so");
    assert!(!ignores(&rules, "id.key"));
}

#[test]
fn a_file_that_can_not_be_used_lets_nothing_through_but_itself() {
    let mut rules = rules_of(&[("", "!x\n")]);
    let dir = RelPath::parse("a").unwrap();
    rules.set_file(&dir, Some(Arc::new(RulesFile::without_text())));
    assert!(ignores(&rules, "a/x") && ignores(&rules, "a/b/c"));
    assert!(!ignores(&rules, "a/.cairnignore") && !ignores(&rules, "x"));
    let origin = rules.origin(&RelPath::parse("a/x").unwrap(), false);
    assert_eq!(origin.unwrap().pattern, UNUSABLE_RULES);
    rules.set_file(&dir, None);
    assert!(!ignores(&rules, "a/x"));
    assert_eq!(rules.nested_dirs(), []);
}

#[test]
fn files_of_very_many_lines_count_to_their_last_one() {
    let many: String = (0..3_000).map(|n| format!("x{n}*?.[ab]\n")).collect();
    let rules = rules_of(&[("a", &format!("{many}*.key\n{many}!id.key\n"))]);
    assert!(ignores(&rules, "a/x2999-.a") && ignores(&rules, "a/b.key"));
    assert!(!ignores(&rules, "a/id.key") && !ignores(&rules, "a/doc"));
    let origin = rules.origin(&RelPath::parse("a/b.key").unwrap(), false);
    assert_eq!(origin.unwrap().line, Some(3_001));
}

#[test]
fn invalid_lines_are_named_and_the_others_count() {
    let text = format!("[a\n*.key\n{}\nb\\\n[[:x:]]\n", "a".repeat(5_000));
    let file = RulesFile::new(&text);
    let errors = file.errors();
    assert!(errors[0].starts_with("line 1, `[a`"), "{errors:?}");
    assert_eq!(errors.len(), 4, "{errors:?}");
    assert_eq!(errors[3], "and 1 more");
    assert!(file.decide("x.key", false).unwrap().is_ignored);
}

#[test]
fn a_pattern_that_matches_nothing_is_refused_with_the_reason() {
    for (pattern, says) in [
        ("[", ""),
        ("", "empty"),
        ("  ", "empty"),
        ("#hash", "comment"),
        ("a\nb", "one line"),
        ("b\\", ""),
    ] {
        let why = check_pattern(pattern).unwrap_err();
        assert!(why.contains(says), "{pattern:?}: {why}");
    }
    for pattern in ["*.tmp", "\\#hash", "/build/", "!keep", "a b", "[ab]"] {
        check_pattern(pattern).unwrap();
    }
}

#[test]
fn bytes_that_are_no_text_match_no_name() {
    let file = RulesFile::new(&text_of(b"*.key\n\xff\xfe*\n"));
    assert!(file.decide("x.key", false).is_some());
    assert!(file.decide("doc", false).is_none());
    assert!(file.errors().is_empty());
}

#[cfg(unix)]
#[test]
fn the_files_above_a_path_are_read() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("a/b/c.d")).unwrap();
    std::fs::write(dir.path().join("a/.cairnignore"), "*.log\n").unwrap();
    std::fs::write(dir.path().join("a/b/.cairnignore"), "!x.log\n").unwrap();
    std::fs::create_dir(dir.path().join("a/b/c.d/.cairnignore")).unwrap();
    let disk = RealDisk::new();
    let mut rules = Rules::load(&disk, dir.path(), &FolderSettings::default());
    for (path, ignored) in [
        ("a/x.log", true),
        ("a/b/x.log", false),
        ("a/b/c.d/y", false),
    ] {
        rules.read_above(&disk, dir.path(), &RelPath::parse(path).unwrap());
        assert_eq!(ignores(&rules, path), ignored, "{path}");
    }
}
