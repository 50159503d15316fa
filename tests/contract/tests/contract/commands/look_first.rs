//! Commands that show something before it is done, or after it went wrong: the first merge, the difference
//! of versions, the report of a fault.

use crate::commands::world::{Stopping, World};
use serde_json::json;
use std::io::Read as _;

#[test]
fn cairns_own_files_are_not_synced_and_a_dry_run_says_so() {
    let world = World::new();
    world.login("big/home");
    world.login("other");
    let says = ["Cairn keeps files of its own"];
    for home in ["big/home", "other"] {
        for folder in ["big/home", "big/home/logs"] {
            let refused = world.run(home, &["add", folder, "--remote", "/x"]);
            refused.assert_refused(2, &says);
        }
    }
    let inside = world.run("other", &["add", "big/home/new", "--remote", "/x"]);
    inside.assert_refused(2, &says);
    assert!(
        !world.path("big/home/new").exists(),
        "a refused folder stays"
    );
    world.write("big/doc", "x");
    for home in ["big/home", "other"] {
        let preview = world.json(home, &["add", "big", "--remote", "/x", "--dry-run"]);
        assert_eq!(preview["left_out"], json!(["home"]), "{preview}");
        assert_eq!(preview["upload"]["examples"], json!(["doc"]), "{preview}");
    }
    let _stopping = Stopping(&world, "big/home");
    let added = world.run("big/home", &["add", "big", "--remote", "/x"]);
    assert!(added.stderr.contains(says[0]), "{added:?}");
    world.json("big/home", &["status", "--wait", "--timeout", "60"]);
    let listed = world.json("big/home", &["ls", "/x"]);
    let names: Vec<_> = listed["nodes"].as_array().unwrap().iter().collect();
    assert_eq!(names.len(), 1, "{listed}");
    assert_eq!(names[0]["name"], "doc");
    for path in ["big/home", "big/home/index.db"] {
        let why = world.json("big/home", &["why", path]);
        assert_eq!(
            (&why["state"], &why["rule"]["source"]),
            (&json!("ignored"), &json!("built_in")),
            "{why}"
        );
        let decision = world.json("big/home", &["ignore", "big", "--check", &world.text(path)]);
        assert_eq!(decision["ignored"], true, "{decision}");
    }
}

#[test]
fn a_dry_run_of_add_counts_both_sides_and_changes_nothing() {
    let world = World::new();
    world.login("a");
    std::fs::create_dir_all(world.path("up/deep")).unwrap();
    for (name, text) in [
        ("up/equal", "the same"),
        ("up/differs", "on the service"),
        ("up/deep/there", "only there"),
        ("up/.cairnignore", "*.log\n"),
    ] {
        world.write(name, text);
    }
    world.json("a", &["mkdir", "/job"]);
    world.json("a", &["upload", "-r", "up", "--to", "/job"]);
    std::fs::create_dir_all(world.path("f/new")).unwrap();
    for (name, text) in [
        ("f/equal", "the same"),
        ("f/differs", "on this machine"),
        ("f/new/here", "only here"),
        ("f/x.log", "left out by the rules of the service"),
    ] {
        world.write(name, text);
    }
    let preview = world.json("a", &["add", "f", "--remote", "/job/up", "--dry-run"]);
    for (kind, files, example) in [
        ("upload", 1, json!(["new/here"])),
        ("conflicts", 1, json!(["differs"])),
        ("equal", 1, json!(["equal"])),
        ("skipped", 0, json!([])),
    ] {
        assert_eq!(
            (&preview[kind]["files"], &preview[kind]["examples"]),
            (&json!(files), &example),
            "{kind}: {preview}"
        );
    }
    let down = &preview["download"];
    assert_eq!(down["files"], 2, "{preview}");
    assert_eq!(down["examples"], json!([".cairnignore", "deep/there"]));
    assert!(!world.path("f/deep").exists(), "nothing was downloaded");
    assert_eq!(world.json("a", &["folders"])["folders"], json!([]));
    let text = world.run("a", &["add", "none", "--remote", "/nothing", "--dry-run"]);
    assert!(text.stdout.contains("Both sides are empty."), "{text:?}");
    assert!(!world.path("none").exists(), "the folder was made");
    let refused = world.run("a", &["add", "none", "--remote", "nothing"]);
    refused.assert_refused(2, &["has to begin with `/`"]);
    assert!(!world.path("none").exists(), "a refused folder was made");
    world.json("a", &["add", "f", "--remote", "/job/up"]);
    let nested = world.run("a", &["add", "f/none", "--remote", "/other"]);
    nested.assert_refused(2, &["already synced"]);
    assert!(!world.path("f/none").exists(), "a refused folder stays");
}

#[test]
fn a_subfolder_that_neither_side_has_is_pointed_out() {
    let world = World::new();
    world.login("a");
    world.json("a", &["mkdir", "/there"]);
    std::fs::create_dir_all(world.path("f/here")).unwrap();
    let added = world.run("a", &["add", "f", "--only", "here", "--only", "/there/"]);
    assert_eq!(added.code, 0, "{added:?}");
    assert!(!added.stderr.contains("neither"), "{added:?}");
    let slip = world.run("a", &["add", "f", "--only", "here", "--only", "thre"]);
    assert_eq!(slip.code, 0, "{slip:?}");
    let notes: Vec<&str> = slip.stderr.lines().collect();
    let note = notes.iter().find(|line| line.contains("neither"));
    let note = note.unwrap_or_else(|| panic!("{slip:?}"));
    assert!(
        note.contains("`thre`") && !note.contains("`here`"),
        "{note}"
    );
}

#[test]
fn versions_of_a_text_are_compared_with_each_other_and_with_the_file_here() {
    let world = World::new();
    world.login("a");
    for text in ["one\ntwo\n", "one\nTWO\n"] {
        world.write("f", text);
        world.json("a", &["upload", "f", "--to", "/"]);
    }
    let diff = world.json("a", &["diff", "/f"]);
    assert_eq!(
        (
            &diff["from"]["version"],
            &diff["to"]["version"],
            &diff["equal"]
        ),
        (&json!(1), &json!(2), &json!(false))
    );
    let lines = diff["diff"].as_str().unwrap();
    assert!(lines.contains("-two\n+TWO"), "{lines}");
    let back = world.json("a", &["diff", "/f", "2", "1"]);
    assert!(
        back["diff"].as_str().unwrap().contains("-TWO\n+two"),
        "{back}"
    );
    assert_eq!(world.json("a", &["diff", "/f", "2", "2"])["equal"], true);
    world
        .run("a", &["diff", "/f", "7"])
        .assert_refused(2, &["no version 7"]);

    // A file of a synced folder against the newest version on the service.
    let _stopping = Stopping(&world, "a");
    std::fs::create_dir_all(world.path("folder")).unwrap();
    world.json("a", &["add", "folder", "--remote", "/"]);
    world.json("a", &["status", "--wait", "--timeout", "60"]);
    world.json("a", &["pause"]);
    world.write("folder/f", "one\nTWO\nthree\n");
    let diff = world.json("a", &["diff", "folder/f"]);
    assert!(diff["diff"].as_str().unwrap().contains("+three"), "{diff}");
    assert!(diff["to"]["local"].is_string(), "{diff}");

    world.write("picture", [0u8, 159, 146, 150]);
    world.json("a", &["upload", "picture", "--to", "/"]);
    world.write("picture", [1u8, 0, 255]);
    world.json("a", &["upload", "picture", "--to", "/"]);
    let binary = world.json("a", &["diff", "/picture"]);
    assert_eq!(binary["text"], false, "{binary}");
    let shown = world.run("a", &["diff", "/picture"]).stdout;
    assert!(shown.contains("only text is compared"), "{shown}");
}

/// The texts in an archive.
fn unpack(path: &str) -> Vec<(String, String)> {
    let file = std::fs::File::open(path).expect("the archive is there");
    let mut archive = zip::ZipArchive::new(file).expect("it is an archive");
    (0..archive.len())
        .map(|at| {
            let mut entry = archive.by_index(at).expect("an entry");
            let mut text = String::new();
            entry.read_to_string(&mut text).expect("text");
            (entry.name().expect("a name").into_owned(), text)
        })
        .collect()
}

#[test]
fn a_bug_report_has_state_and_logs_and_no_names() {
    let world = World::new();
    world.login("a");
    let _stopping = Stopping(&world, "a");
    std::fs::create_dir_all(world.path("holiday")).unwrap();
    world.write("holiday/secretplan.txt", "x");
    world.json("a", &["add", "holiday", "--remote", "/holiday"]);
    world.json("a", &["status", "--wait", "--timeout", "60"]);

    let made = world.json("a", &["bugreport", "--out", "report.zip"]);
    let path = made["path"].as_str().unwrap();
    let entries = unpack(path);
    let files: Vec<_> = entries.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(files, ["report.json", "log.txt"]);
    for (file, text) in &entries {
        for name in [
            "secretplan",
            "holiday",
            "owner@example.com",
            "127.0.0.1",
            "ck_dev",
        ] {
            assert!(!text.contains(name), "{name} is in {file}: {text}");
        }
    }
    let report: serde_json::Value = serde_json::from_str(&entries[0].1).unwrap();
    assert_eq!(
        (
            &report["daemon"]["running"],
            &report["daemon"]["status"]["folders"][0]["files"],
            &report["settings"]["sync.verify"]
        ),
        (&json!(true), &json!(1), &json!("warn"))
    );
    assert!(entries[1].1.contains("the daemon runs"), "{}", entries[1].1);
    world
        .run("a", &["bugreport", "--out", "report.zip"])
        .assert_refused(1, &["report.zip"]);

    let named = world.json("a", &["bugreport", "--names", "--out", "named.zip"]);
    let entries = unpack(named["path"].as_str().unwrap());
    assert!(entries[0].1.contains("holiday") && entries[0].1.contains("owner@example.com"));
    assert!(!entries.iter().any(|(_, text)| text.contains("ck_dev")));
}

#[test]
fn a_bug_report_of_a_folder_that_is_gone_has_no_word_of_its_name() {
    let world = World::new();
    world.login("a");
    let _stopping = Stopping(&world, "a");
    std::fs::create_dir_all(world.path("Geheim Ordner")).unwrap();
    world.json("a", &["add", "Geheim Ordner", "--remote", "/Privat Archiv"]);
    world.json("a", &["status", "--wait", "--timeout", "60"]);
    std::fs::remove_dir_all(world.path("Geheim Ordner")).unwrap();
    let made = world.json("a", &["bugreport", "--out", "report.zip"]);
    let entries = unpack(made["path"].as_str().unwrap());
    let report = &entries[0].1;
    assert!(report.contains("os error 2"), "{report}");
    for (file, text) in &entries {
        for word in ["Geheim", "Ordner", "Privat", "Archiv"] {
            assert!(!text.contains(word), "{word} is in {file}: {text}");
        }
    }
}
