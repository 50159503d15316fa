//! Uploads of what has Cairn's own files in it: secrets, and what was deleted.

use crate::commands::world::World;
use serde_json::Value;

/// A home in the folder `docs`, beside another installation's and a synced folder.
const HOME: &str = "docs/a";

fn world_with_own_files() -> World {
    let world = World::new();
    world.login(HOME);
    for dir in ["docs/second", "docs/sub/.cairn-trash/1", "docs/.cairn-tmp"] {
        std::fs::create_dir_all(world.path(dir)).unwrap();
    }
    for file in [
        "docs/second/.cairn-home",
        "docs/second/secrets.json",
        "docs/sub/.cairn-trash/1/deleted",
        "docs/.cairn-tmp/unfinished",
        "docs/kept",
        "docs/sub/.cairn-trash.txt",
    ] {
        world.write(file, "x");
    }
    world
}

#[test]
fn a_folder_is_uploaded_without_the_secrets_and_the_trash_in_it() {
    let world = world_with_own_files();
    let docs = world.text("docs");
    let up = world.json(HOME, &["upload", "--recursive", &docs]);
    assert_eq!(
        (&up["files"], &up["folders"]),
        (&2.into(), &2.into()),
        "{up}"
    );
    let left_out: Vec<String> = up["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["path"].as_str().unwrap().to_owned())
        .collect();
    let top = world.path("docs").canonicalize().unwrap();
    let expected = [".cairn-tmp", "a", "second", "sub/.cairn-trash"];
    assert_eq!(
        left_out,
        expected.map(|name| top.join(name).display().to_string())
    );

    let on_service = world.run(HOME, &["tree", "/"]).stdout;
    for secret in ["secrets", "deleted", "unfinished", "index.db"] {
        assert!(!on_service.contains(secret), "{on_service}");
    }
    let again = world.run(HOME, &["upload", "--recursive", &docs]);
    assert_eq!(again.code, 0, "{again:?}");
    assert!(
        again.stderr.contains("trash of a synced folder"),
        "{again:?}"
    );
}

#[test]
fn what_an_installation_keeps_is_not_uploaded_by_its_name() {
    let world = world_with_own_files();
    for name in ["docs/a/secrets.json", "docs/a", "docs/second/secrets.json"] {
        world
            .run(HOME, &["upload", "--recursive", &world.text(name)])
            .assert_refused(2, &["Cairn keeps files of its own", "stay on this machine"]);
    }
    #[cfg(unix)]
    {
        let link = world.path("link");
        std::os::unix::fs::symlink(world.path("docs/a/secrets.json"), &link).unwrap();
        world
            .run(HOME, &["upload", &world.text("link")])
            .assert_refused(2, &["Cairn keeps files of its own"]);
    }
    // What was deleted is the person's own.
    let deleted = world.text("docs/sub/.cairn-trash/1/deleted");
    let up: Value = world.json(HOME, &["upload", &deleted]);
    assert_eq!(up["node"]["name"], "deleted", "{up}");
}
