//! The service without a synced folder.

use crate::commands::world::{World, names};
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
        .assert_refused(2, &["no revision"]);
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

    // One that is not as it was there is replaced, the others are not fetched.
    world.write("down/8", "damaged");
    let third = world.json("a", &["download-folder", "/up", "--out", "down"]);
    assert_eq!(
        (&third["downloaded"], &third["skipped"]),
        (&json!(1), &json!(1200))
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
