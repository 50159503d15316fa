//! Commands that work on the server's files without a synced folder.

use crate::commands::past::settle;
use crate::commands::world::{Stopping, World, names};
use crate::support::noise;
use serde_json::{Value, json};

fn listed_names(world: &World, folder: &str) -> Vec<String> {
    let list = world.json("a", &["list", folder]);
    list["nodes"]
        .as_array()
        .expect("a list of named nodes")
        .iter()
        .map(|n| {
            n["name"]
                .as_str()
                .expect("a list of named nodes")
                .to_owned()
        })
        .collect()
}

#[test]
fn a_file_goes_up_and_comes_down_in_all_its_versions() {
    let world = World::new();
    world.login("a");
    let first = noise(3_000_000);
    let second = [
        &first[..1_000_000],
        b"an edit in the middle",
        &first[1_000_000..],
    ]
    .concat();
    world.write("big", &first);
    let made = world.json("a", &["upload", "big"])["node"].clone();
    assert_eq!(
        (&made["path"], &made["size"]),
        (&json!("/big"), &json!(3_000_000))
    );
    world.write("big", &second);
    let changed = world.json("a", &["upload", "big"])["node"].clone();
    assert_eq!(
        changed["id"], made["id"],
        "the same file, in a new revision"
    );

    world.json("a", &["download", "/big", "--out", "second"]);
    assert!(std::fs::read(world.path("second")).unwrap() == second);
    world
        .run("a", &["download", "/big", "--out", "second"])
        .assert_refused(5, &["exists already", "--force"]);
    let versions = world.json("a", &["versions", "/big"])["versions"].clone();
    let revisions: Vec<&Value> = versions
        .as_array()
        .unwrap()
        .iter()
        .map(|v| &v["id"])
        .collect();
    assert_eq!(revisions, [&changed["revision_id"], &made["revision_id"]]);
    let old = made["revision_id"].as_str().unwrap();
    world.json(
        "a",
        &[
            "versions",
            "/big",
            "--download",
            old,
            "--out",
            "second",
            "--force",
        ],
    );
    assert!(std::fs::read(world.path("second")).unwrap() == first);
    // By its number, or the beginning of its id, as the list shows them.
    let by_number = ["versions", "/big", "--download", "1", "--out", "first"];
    world.json("a", &by_number);
    assert!(std::fs::read(world.path("first")).unwrap() == first);
    world
        .run("a", &["versions", "/big", "--restore", "7"])
        .assert_refused(2, &["no version 7", "cairn versions"]);
    world.json("a", &["versions", "/big", "--restore", &old[..8]]);
    world.json("a", &["download", "/big", "--out", "third"]);
    assert!(std::fs::read(world.path("third")).unwrap() == first);
    let id = made["id"].as_str().unwrap();
    assert_eq!(world.json("a", &["info", id])["path"], "/big");
    let checked = world.json("a", &["verify", "/big"]);
    assert_eq!(checked["files"][0]["ok"], true);
    let stranger = "00000000-0000-4000-8000-000000000000";
    world
        .run("a", &["download", "/big", "--revision", stranger])
        .assert_refused(2, &["no version"]);
    for revision in ["1", &old[..8]] {
        world.json(
            "a",
            &[
                "download",
                "/big",
                "--revision",
                revision,
                "--out",
                "third",
                "--force",
            ],
        );
        assert!(std::fs::read(world.path("third")).unwrap() == first);
    }
    world
        .run("a", &["download", "/big", "--out", "-"])
        .assert_refused(2, &["cairn cat"]);
    assert!(
        names(world.dir.path())
            .iter()
            .all(|name| !name.starts_with(".cairn"))
    );
}

#[test]
fn folders_are_made_moved_copied_deleted_and_brought_back() {
    let world = World::new();
    world.login("a");
    world
        .run("a", &["mkdir", "/x/y"])
        .assert_refused(1, &["there is no /x"]);
    assert_eq!(
        world.json("a", &["mkdir", "--parents", "/x/y"])["created"],
        2
    );
    assert_eq!(
        world.json("a", &["mkdir", "--parents", "/x/y"])["created"],
        0
    );
    world
        .run("a", &["mkdir", "/x"])
        .assert_refused(5, &["there already"]);
    world.write("f", "content");
    world.json("a", &["upload", "f", "--to", "/x/y", "--name", "é.txt"]);
    world
        .run("a", &["mkdir", "/x/y/é.txt/z"])
        .assert_refused(2, &["not a folder"]);
    let moved = world.json("a", &["move", "/x/y/e\u{301}.txt", "/x"]);
    assert_eq!(
        moved["node"]["path"], "/x/é.txt",
        "found in any normal form"
    );
    assert_eq!(
        world.json("a", &["move", "/x/é.txt", "/x/f.txt"])["node"]["id"],
        moved["node"]["id"]
    );
    assert_eq!(world.json("a", &["info", "/x/f.txt"])["verified"], true);
    world
        .run("a", &["copy", "/x/f.txt", "/x/f.txt"])
        .assert_refused(2, &["source and target are the same, /x/f.txt"]);
    world.json("a", &["copy", "/x", "/z"]);
    assert_eq!(listed_names(&world, "/z"), ["f.txt", "y"]);
    world.json("a", &["download", "/z/f.txt", "--out", "copy"]);
    assert_eq!(std::fs::read(world.path("copy")).unwrap(), b"content");
    world
        .run("a", &["move", "/x", "/x/y"])
        .assert_refused(2, &["can't go into itself"]);
    assert_eq!(world.json("a", &["search", "f.t"])["total"], 2);
    let tree = world.json("a", &["tree"]);
    assert_eq!(
        (&tree["files"], tree["nodes"].as_array().unwrap().len()),
        (&json!(2), 6)
    );

    let gone = world.json("a", &["delete", "/x/f.txt", "/z"])["trashed"].clone();
    assert_eq!(listed_names(&world, "/"), ["x"]);
    assert_eq!(
        world.json("a", &["trash", "list", "--remote"])["trashed"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let back = world.json(
        "a",
        &["trash", "restore", "--remote", gone[0].as_str().unwrap()],
    );
    assert_eq!(back["path"], "/x/f.txt");
    world
        .run("a", &["delete", "/x", "/nope"])
        .assert_refused(1, &["/nope"]);
    assert_eq!(listed_names(&world, "/"), ["x"], "a typo deletes nothing");
    world
        .run("a", &["info", gone[1].as_str().unwrap()])
        .assert_refused(1, &["in the trash"]);
}

#[test]
fn what_goes_along_with_its_folder_is_deleted_once() {
    let world = World::new();
    world.login("a");
    world.json("a", &["mkdir", "--parents", "/x/y"]);
    let planned = world.json("a", &["rm", "/x/y", "/x", "--dry-run"]);
    assert_eq!(planned["would_trash"][0]["path"], "/x");
    assert_eq!(planned["would_trash"].as_array().unwrap().len(), 1);
    assert_eq!(listed_names(&world, "/"), ["x"]);
    let gone = world.json("a", &["rm", "/x/y", "/x", "/x"])["trashed"].clone();
    assert_eq!(gone.as_array().unwrap().len(), 1, "{gone}");
    let undone = world.json("a", &["undo", "--last", "--yes"]);
    assert_eq!(undone["left"], json!([]), "{undone}");
    assert_eq!(listed_names(&world, "/x"), ["y"]);

    world.json("a", &["rm", "/x"]);
    let empty = ["trash", "empty", "--remote"];
    world.run("a", &empty).assert_refused(5, &["--yes"]);
    let planned = world.json("a", &[&empty[..], &["--dry-run"]].concat());
    assert_eq!(planned["deleted"], json!([]), "{planned}");
    let emptied = world.json("a", &[&empty[..], &["--yes"]].concat());
    assert_eq!(emptied["deleted"].as_array().unwrap().len(), 1, "{emptied}");
    let left = world.json("a", &["trash", "list", "--remote"]);
    assert_eq!(left["trashed"], json!([]));
}

#[test]
fn one_file_is_listed_and_an_empty_path_is_none() {
    let world = World::new();
    world.login("a");
    world.write("f", "content");
    world.json("a", &["upload", "f"]);
    let listed = world.json("a", &["ls", "/f"]);
    assert_eq!(
        (&listed["path"], &listed["nodes"][0]["path"]),
        (&json!("/f"), &json!("/f"))
    );
    for command in ["ls", "mkdir"] {
        world
            .run("a", &[command, ""])
            .assert_refused(2, &["empty path"]);
    }
    world.json("a", &["mkdir", "--parents", "/d/e"]);
    let tree = world.json("a", &["tree", "--depth", "1"]);
    assert_eq!(
        (&tree["files"], &tree["complete"]),
        (&json!(1), &json!(false))
    );
    assert_eq!(world.json("a", &["tree"])["complete"], true);
    world
        .run("a", &["verify", "/d"])
        .assert_refused(2, &["/d is a folder"]);
    world
        .run("a", &["upload", "f", "--name", "d"])
        .assert_refused(5, &["a folder is called `d`"]);
}

#[test]
fn a_name_that_no_device_can_have_is_refused_before_keys_are_made() {
    let world = World::new();
    let passphrase = world.text("passphrase");
    let login = world.login_args(crate::support::OWNER, &passphrase);
    world
        .run(
            "a",
            &[&login[..], &["--device-name", "two\nlines"]].concat(),
        )
        .assert_refused(2, &["line breaks"]);
    assert_eq!(world.login("a")["keys_created"], true);
}

#[test]
fn the_password_of_a_link_is_asked_for_by_its_own_flag() {
    let world = World::new();
    world.login("a");
    world.write("f", "content");
    world.json("a", &["upload", "f"]);
    let made = world.json("a", &["share", "create", "/f"]);
    let address = made["address"].as_str().unwrap();
    world
        .run("a", &["share", "password", address])
        .assert_refused(2, &["--password-file"]);
    let changed = world.run(
        "a",
        &[
            "share",
            "password",
            address,
            "--password-file",
            "passphrase",
        ],
    );
    assert_eq!(changed.code, 0, "{changed:?}");
    assert!(
        changed.stderr.contains("The link shares /f."),
        "{changed:?}"
    );
    for action in ["disable", "enable"] {
        let switched = world.json("a", &["share", action, address]);
        assert_eq!(switched["address"], made["address"], "{action}");
    }
    world.json("a", &["delete", "/f"]);
    let gone = world.run("a", &["share", "enable", address]);
    assert_eq!(gone.code, 0, "{gone:?}");
    assert!(
        gone.stdout.contains("is on, but opens for nobody")
            && gone.stdout.contains("what it shares is in the trash"),
        "{gone:?}"
    );
    let refused = world.run("a", &["share", "create", "/f", "--limit", "0"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.stderr.contains("1 or more"), "{refused:?}");
}

#[test]
fn without_the_servers_keys_no_check_is_reported_as_failed() {
    let world = World::new();
    world.login("a");
    world.dev(
        "/_dev/faults",
        json!({ "path_pattern": "/api/v1/keys$", "status": 403 }),
    );
    let refused = world.run("a", &["verify"]);
    refused.assert_refused(1, &["fetch the account's keys"]);
    assert_eq!(refused.stdout, "");
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_can_not_be_written_is_a_failure() {
    let world = World::new();
    for args in [
        &["completions", "bash"][..],
        &["completions", "bash", "--json"],
        &["--help"],
    ] {
        let full = std::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let ended = std::process::Command::new(crate::commands::world::program())
            .arg("--home")
            .arg(world.path("a"))
            .args(args)
            .stdout(full)
            .output()
            .unwrap();
        assert_eq!(ended.status.code(), Some(1), "{args:?}");
        let why = String::from_utf8_lossy(&ended.stderr);
        assert!(why.contains("can't write the result"), "{args:?}: {why}");
    }
    let tools = world.json("a", &["mcp", "--print-tools"]);
    assert_eq!(tools["format"], "markdown");
    let script = world.json("a", &["completions", "bash"]);
    assert_eq!(script["shell"], "bash");
    assert!(script["script"].as_str().unwrap().contains("cairn"));
}

#[test]
fn whole_folders_go_up_and_come_down() {
    let world = World::new();
    world.login("a");
    std::fs::create_dir_all(world.path("up/deep/er")).unwrap();
    world.write("up/one", "1");
    world.write("up/deep/er/two", noise(400_000));
    world
        .run("a", &["upload", "up"])
        .assert_refused(2, &["--recursive"]);
    let up = world.json("a", &["upload", "up", "--recursive"]);
    assert_eq!((&up["files"], &up["folders"]), (&json!(2), &json!(3)));
    let down = world.json("a", &["download-folder", "/up", "--out", "down"]);
    assert_eq!(
        (&down["downloaded"], &down["skipped"]),
        (&json!(2), &json!(0))
    );
    assert!(std::fs::read(world.path("down/deep/er/two")).unwrap() == noise(400_000));
    let again = world.json("a", &["download-folder", "/up", "--out", "down"]);
    assert_eq!(
        (&again["downloaded"], &again["skipped"]),
        (&json!(0), &json!(2))
    );
    world
        .run(
            "a",
            &["download-folder", "/up", "--out", "new", "--limit", "0"],
        )
        .assert_refused(1, &["--limit"]);
    world
        .run("a", &["download", "/up"])
        .assert_refused(2, &["download-folder"]);
}

#[test]
fn many_small_files_go_together_and_a_second_time_what_is_new_of_them() {
    let world = World::new();
    let content = |name: &str| std::fs::read_to_string(world.path(name)).unwrap();
    world.login("a");
    std::fs::create_dir_all(world.path("up/deep")).unwrap();
    for number in 0..600 {
        world.write(&format!("up/{number}"), format!("content of {number}"));
        world.write(&format!("up/deep/{number}"), noise(number));
    }
    world.write("up/empty", "");
    let up = world.json("a", &["upload", "up", "--recursive"]);
    assert_eq!((&up["files"], &up["folders"]), (&json!(1201), &json!(2)));
    assert_eq!(up["failed"], json!([]));

    // What has the name of a folder there fails alone; all others get a new version.
    std::fs::remove_dir_all(world.path("up/deep")).unwrap();
    world.write("up/deep", "a file now");
    world.write("up/7", "another seven");
    std::fs::remove_file(world.path("up/9")).unwrap();
    std::fs::create_dir(world.path("up/9")).unwrap();
    let response = world.run("a", &["--json", "upload", "up", "--recursive"]);
    response.assert_refused(1, &["2 files could not be uploaded"]);
    let again: Value = serde_json::from_str(&response.stdout).unwrap();
    assert_eq!(
        (&again["files"], &again["unchanged"]),
        (&json!(1), &json!(599))
    );
    let why = again["failed"].to_string();
    assert!(why.contains("a folder is called `deep`"), "{why}");
    assert!(
        why.contains("a file is called `9` where a folder is needed"),
        "{why}"
    );
    let versions = |path: &str| {
        let listed = world.json("a", &["versions", path]);
        listed["versions"].as_array().unwrap().len()
    };
    assert_eq!((versions("/up/7"), versions("/up/8")), (2, 1));
    world.json("a", &["upload", "up/8", "--to", "/up"]);
    assert_eq!(versions("/up/8"), 1, "the same content is no new version");

    let down = world.json("a", &["download-folder", "/up", "--out", "down"]);
    assert_eq!(
        (&down["downloaded"], &down["skipped"]),
        (&json!(1201), &json!(0))
    );
    assert_eq!(content("down/7"), "another seven");
    assert_eq!(content("down/599"), "content of 599");
    assert!(std::fs::read(world.path("down/deep/599")).unwrap() == noise(599));
    assert_eq!(content("down/empty"), "");
    let names = names(&world.path("down"));
    assert_eq!(names.len(), 602, "something else was left there");

    // One that is not as it was there is replaced if that is wanted, the others are not fetched.
    world.write("down/8", "my own work");
    std::fs::remove_file(world.path("down/7")).unwrap();
    let command = ["download-folder", "/up", "--out", "down"];
    let planned = world.run("a", &[&["--json"], &command[..], &["--dry-run"]].concat());
    planned.assert_refused(5, &["1 file", "--force"]);
    let planned: Value = serde_json::from_str(&planned.stdout).unwrap();
    assert_eq!(
        (&planned["downloaded"], &planned["dry_run"]),
        (&json!(1), &json!(true))
    );
    assert!(!world.path("down/7").exists(), "nothing is written");
    let kept = world.run("a", &[&["--json"], &command[..]].concat());
    kept.assert_refused(5, &["1 file", "--force"]);
    let kept: Value = serde_json::from_str(&kept.stdout).unwrap();
    assert_eq!(
        (&kept["downloaded"], &kept["skipped"]),
        (&json!(1), &json!(1199))
    );
    assert!(kept["differing"].to_string().contains("down/8"), "{kept}");
    assert_eq!(content("down/8"), "my own work");
    let third = world.json("a", &[&command[..], &["--force"]].concat());
    assert_eq!(
        (&third["downloaded"], &third["replaced"], &third["skipped"]),
        (&json!(1), &json!(1), &json!(1200))
    );
    assert_eq!(content("down/8"), "content of 8");
}

#[cfg(unix)]
#[test]
fn what_can_not_be_uploaded_is_named_and_holds_up_nothing() {
    let world = World::new();
    world.login("a");
    std::fs::create_dir(world.path("up")).unwrap();
    world.write("up/ok", "1");
    std::os::unix::fs::symlink("/etc", world.path("up/link")).unwrap();
    let response = world.run("a", &["--json", "upload", "up", "--recursive"]);
    response.assert_refused(1, &["1 file could not be uploaded"]);
    let document: Value = serde_json::from_str(&response.stdout).unwrap();
    assert_eq!(
        (
            &document["files"],
            document["failed"].as_array().unwrap().len()
        ),
        (&json!(1), 1)
    );
}

#[test]
fn a_file_that_is_no_text_is_printed_in_base64() {
    let world = World::new();
    world.login("a");
    world.write("text", "é");
    world.write("other", [0xff, 0, 1]);
    world.json("a", &["upload", "text"]);
    world.json("a", &["upload", "other"]);
    for (path, text, base64) in [
        ("/text", json!("é"), Value::Null),
        ("/other", Value::Null, json!("/wAB")),
    ] {
        let cat = world.json("a", &["cat", path]);
        assert_eq!((&cat["text"], &cat["base64"]), (&text, &base64), "{cat}");
    }
}

#[test]
fn a_slash_at_the_end_names_a_folder() {
    let world = World::new();
    world.login("a");
    world.write("f", "content");
    world.json("a", &["upload", "f"]);
    world.json("a", &["mkdir", "/there"]);
    for command in ["copy", "move"] {
        for more in [&[][..], &["--dry-run"]] {
            world
                .run("a", &[&[command, "/f", "/missing/"][..], more].concat())
                .assert_refused(2, &["no folder /missing/", "cairn mkdir"]);
        }
    }
    assert_eq!(listed_names(&world, "/"), ["f", "there"]);
    world.json("a", &["copy", "/f", "/there/"]);
    assert_eq!(listed_names(&world, "/there"), ["f"]);
    // Of a folder, it is the new name.
    world.json("a", &["copy", "/there", "/copied/"]);
    world.json("a", &["move", "/there", "/moved/"]);
    assert_eq!(listed_names(&world, "/"), ["copied", "f", "moved"]);

    world
        .run("a", &["download", "/f", "--out", "missing/"])
        .assert_refused(2, &["there is no folder missing/"]);
    assert!(!world.path("missing").exists());
}

#[test]
fn times_of_other_centuries_arrive() {
    use std::time::{Duration, UNIX_EPOCH};
    let day = Duration::from_secs(86_400);
    // Of 1902, 1969, and 2400: nanoseconds in 64 bits end in 2262.
    let times = [
        ("1902", UNIX_EPOCH - day * 24_700),
        ("1969", UNIX_EPOCH - day),
        ("2400", UNIX_EPOCH + day * 157_054),
    ];
    let world = World::new();
    world.login("a");
    world.json("a", &["add", "synced", "--remote", "/synced"]);
    let _stopping = Stopping(&world, "a");
    for (name, time) in &times {
        for (place, length) in [("synced/", 10), ("synced/large-", 2_000_000), ("", 10)] {
            let path = format!("{place}{name}");
            world.write(&path, noise(length));
            let file = std::fs::File::options()
                .append(true)
                .open(world.path(&path));
            file.and_then(|file| file.set_modified(*time))
                .expect("a time");
        }
        world.json("a", &["upload", name]);
    }
    settle(&world, "a");
    let modified = |path: &str| {
        let meta = std::fs::metadata(world.path(path));
        meta.and_then(|meta| meta.modified()).expect("a time")
    };
    for (name, time) in times {
        for from in ["/", "/synced/", "/synced/large-"] {
            let path = format!("{from}{name}");
            world.json("a", &["download", &path, "--out", "got", "--force"]);
            assert_eq!(modified("got"), time, "{path}");
        }
    }
    // Nor does another device change them, or see a change in them.
    world.login("b");
    world.json("b", &["add", "other", "--remote", "/synced"]);
    let _other = Stopping(&world, "b");
    settle(&world, "b");
    for (name, time) in times {
        assert_eq!(modified(&format!("other/{name}")), time);
    }
    world.json("b", &["sync"]);
    settle(&world, "b");
    assert_eq!(world.json("b", &["status"])["counters"]["uploads"], 0);
}

#[test]
fn a_move_to_where_something_is_already_changes_nothing() {
    let world = World::new();
    world.login("a");
    world.write("f", "content");
    world.json("a", &["upload", "f"]);
    let version = || world.json("a", &["info", "/f"])["version"].clone();
    let before = version();
    assert_eq!(world.json("a", &["mv", "/f", "/f"])["node"]["path"], "/f");
    assert_eq!(version(), before);
}
