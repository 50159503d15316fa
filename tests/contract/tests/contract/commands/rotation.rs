//! Replaced keys of the account: shutting a device out, crashes and lost answers meanwhile, and the other devices.

use crate::commands::world::{CommandOutput, Stopping, World};
use serde_json::{Value, json};

const NEW_PASSPHRASE: &str = "seven quiet otters mend a copper kettle";

/// The commands of one home with the passphrase's file.
fn keys(world: &World, home: &str, action: &str) -> CommandOutput {
    let passphrase = world.text("passphrase");
    world.run(
        home,
        &["--json", "keys", action, "--passphrase-file", &passphrase],
    )
}

fn document(output: &CommandOutput) -> Value {
    assert_eq!(output.code, 0, "{output:?}");
    serde_json::from_str(&output.stdout).unwrap()
}

fn upload(world: &World, home: &str, name: &str, content: &str) -> CommandOutput {
    world.write(name, content);
    world.run(home, &["upload", &world.text(name)])
}

fn read(world: &World, home: &str, name: &str) -> CommandOutput {
    world.run(home, &["cat", &format!("/{name}")])
}

fn epoch(world: &World, home: &str) -> Value {
    document(&keys(world, home, "update"))["epoch"].clone()
}

#[test]
fn new_keys_are_taken_over_with_the_passphrase_and_the_former_ones_open_nothing_new() {
    let world = World::new();
    world.login("a");
    world.login("b");
    assert_eq!(upload(&world, "a", "before.txt", "old text").code, 0);
    world.json(
        "a",
        &[
            "recovery-key",
            "setup",
            "--passphrase-file",
            &world.text("passphrase"),
        ],
    );
    let served = world.served_keys();

    let rotated = document(&keys(&world, "a", "rotate"));
    assert_eq!(
        (&rotated["rotated"], &rotated["epoch"]),
        (&json!(true), &json!(2))
    );
    assert!(rotated["recovery_key"].is_string(), "{rotated}");
    assert!(!world.path("a/rotation.json").exists());
    assert_eq!(upload(&world, "a", "after.txt", "new text").code, 0);
    assert_eq!(read(&world, "a", "before.txt").stdout, "old text");

    // The other device says what to do, and uses the former keys for nothing.
    let stopped = upload(&world, "b", "mine.txt", "sealed under what?");
    stopped.assert_refused(5, &["were replaced on", "cairn keys update"]);
    let changed = [
        "passphrase",
        "change",
        "--passphrase-file",
        &world.text("passphrase"),
    ];
    world
        .run("b", &changed)
        .assert_refused(5, &["cairn keys update"]);
    keys(&world, "b", "rotate").assert_refused(5, &["cairn keys update"]);
    world.write("wrong", "something else altogether");
    let wrong = ["keys", "update", "--passphrase-file", &world.text("wrong")];
    world
        .run("b", &wrong)
        .assert_refused(1, &["passphrase is wrong"]);

    // A server that hides the replacement: what it has from before opens, and nothing newer.
    world.dev(
        "/_dev/faults",
        json!({"path_pattern": "/api/v1/keys$", "method": "GET", "set": {"": served}}),
    );
    assert_eq!(read(&world, "b", "before.txt").stdout, "old text");
    let unread = read(&world, "b", "after.txt");
    assert!(
        unread.code != 0 && !unread.stdout.contains("new text"),
        "{unread:?}"
    );
    // And one that shows the past to a device that knows better.
    keys(&world, "a", "update").assert_refused(1, &["was seen before"]);
    world
        .run("a", &changed)
        .assert_refused(1, &["was seen before"]);
    world
        .run(
            "a",
            &world.login_args("ck_dev_owner", &world.text("passphrase")),
        )
        .assert_refused(1, &["was seen before"]);
    world.clear_faults();

    assert_eq!(document(&keys(&world, "b", "update"))["updated"], true);
    assert_eq!(document(&keys(&world, "b", "update"))["updated"], false);
    assert_eq!(read(&world, "b", "after.txt").stdout, "new text");
    assert_eq!(upload(&world, "b", "mine.txt", "from b").code, 0);
    assert_eq!(read(&world, "a", "mine.txt").stdout, "from b");
}

#[test]
fn a_login_on_a_device_takes_new_keys_over_too() {
    let world = World::new();
    world.login("a");
    world.login("b");
    document(&keys(&world, "a", "rotate"));
    assert_eq!(upload(&world, "a", "after.txt", "new text").code, 0);
    world.login("b");
    assert_eq!(read(&world, "b", "after.txt").stdout, "new text");
    world.login("c");
    assert_eq!(read(&world, "c", "after.txt").stdout, "new text");
}

#[test]
fn a_lost_answer_and_a_crash_are_completed_by_the_next_run() {
    let world = World::new();
    world.login("a");
    world.login("b");
    // The keys are in force, and the answer to that is lost.
    let lost_answer =
        json!({"path_pattern": "/api/v1/keys$", "method": "PUT", "status": 503, "processed": true});
    world.dev("/_dev/faults", lost_answer.clone());
    let rotated = document(&keys(&world, "a", "rotate"));
    assert_eq!(
        rotated["epoch"], 2,
        "the server was asked which keys it has"
    );

    world.clear_faults();
    document(&keys(&world, "b", "update"));
    let before = std::fs::read(world.path("b/account.json")).unwrap();
    world.dev("/_dev/faults", lost_answer);
    // Nor can the server be asked then.
    world.dev(
        "/_dev/faults",
        json!({"path_pattern": "/api/v1/keys$", "method": "GET", "status": 503, "skip": 1}),
    );
    let lost = keys(&world, "b", "rotate");
    assert!(lost.code == 1 || lost.code == 4, "{lost:?}");
    assert_eq!(std::fs::read(world.path("b/account.json")).unwrap(), before);
    world.clear_faults();
    // No passphrase is needed: the new account key was kept before it was sent.
    let completed = document(&world.run("b", &["--json", "keys", "rotate"]));
    assert_eq!(completed["epoch"], 3, "{completed}");
    assert!(!world.path("b/rotation.json").exists());
    assert_eq!(epoch(&world, "a"), 3);
    assert_eq!(upload(&world, "b", "after.txt", "new text").code, 0);
    assert_eq!(read(&world, "a", "after.txt").stdout, "new text");
}

#[test]
fn of_two_devices_that_replace_the_keys_at_once_one_wins_and_the_other_is_refused() {
    let world = World::new();
    world.login("a");
    world.login("b");
    let outputs = std::thread::scope(|scope| {
        let both = ["a", "b"].map(|home| {
            let world = &world;
            scope.spawn(move || keys(world, home, "rotate"))
        });
        both.map(|one| one.join().unwrap())
    });
    // Whoever begins after the other has ended is told before anything is made.
    let (won, lost): (Vec<_>, Vec<_>) = outputs.iter().partition(|output| output.code == 0);
    assert_eq!((won.len(), lost.len()), (1, 1), "{outputs:?}");
    let lost = lost[0];
    assert_eq!(lost.code, 5, "{lost:?}");
    assert!(
        lost.stderr.contains("run the command again") || lost.stderr.contains("cairn keys update"),
        "{lost:?}"
    );
    let loser = if outputs[0].code == 0 { "b" } else { "a" };
    assert_eq!(epoch(&world, loser), 2);
    document(&world.run(
        loser,
        &[
            "--json",
            "keys",
            "rotate",
            "--passphrase-file",
            &world.text("passphrase"),
        ],
    ));
}

#[test]
fn a_lost_device_is_logged_out_and_a_second_run_completes_that() {
    let world = World::new();
    world.login("a");
    let key = world.api_key("phone");
    let name = ["--device-name", "phone"];
    let passphrase = world.text("passphrase");
    world.json(
        "c",
        &[&world.login_args(&key, &passphrase)[..], &name].concat(),
    );
    assert_eq!(upload(&world, "c", "before.txt", "old text").code, 0);
    let kept = [
        "devices",
        "revoke",
        "phone",
        "--yes",
        "--passphrase-file",
        &passphrase,
    ];
    world.write("new", NEW_PASSPHRASE);
    let new = world.text("new");
    let revoke = [&kept[..], &["--new-passphrase-file", &new]].concat();
    world
        .run("c", &revoke)
        .assert_refused(2, &["device that you are using"]);
    let unasked = ["devices", "revoke", "phone", "--new-passphrase-file", &new];
    world.run("a", &unasked).assert_refused(5, &["--yes"]);
    // The passphrase opens the former keys, too.
    let refused = world.run("a", &kept);
    refused.assert_refused(
        2,
        &[
            "nothing was done",
            "--new-passphrase-file",
            "--keep-passphrase",
        ],
    );
    assert_eq!(
        world.json("a", &["keys"])["epoch"],
        1,
        "the device is still in the list, and the keys are the same"
    );
    world
        .run("a", &["devices", "revoke", "desk", "--yes"])
        .assert_refused(2, &["no device desk"]);

    // The device is off the list when something ends the command.
    world.dev(
        "/_dev/faults",
        json!({"path_pattern": "/api/v1/keys$", "method": "PUT", "status": 503}),
    );
    assert_ne!(world.run("a", &revoke).code, 0);
    world.clear_faults();
    let names = |list: &Value| {
        list["devices"]
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one["name"] == "phone")
    };
    let devices = world.json("a", &["devices"]);
    assert!(!names(&devices));
    assert_eq!(devices["unfinished"]["name"], "phone", "{devices}");
    let id = devices["unfinished"]["id"].as_str().expect("it has an id");
    let shown = world.run("a", &["devices"]);
    let command = format!("run `cairn devices revoke {id}` again");
    assert!(shown.stderr.contains(&command), "{shown:?}");
    let done = document(&world.run("a", &[&["--json"], &revoke[..], &["--api-keys"]].concat()));
    assert_eq!(
        (&done["epoch"], &done["device"]["name"]),
        (&json!(2), &json!("phone"))
    );
    let keys = done["api_keys"].as_array().unwrap();
    let revoked = keys.iter().filter(|one| one["revoked"] == true).count();
    assert!(
        revoked >= 1 && keys.iter().any(|one| one["this_device"] == true),
        "{done}"
    );

    assert_eq!(world.json("a", &["devices"])["unfinished"], Value::Null);
    world.run("c", &["list"]).assert_refused(3, &["log"]);
    world.json("a", &["list"]);
}

#[test]
fn a_failure_once_the_keys_are_in_force_leaves_a_whole_document() {
    let world = World::new();
    world.login("a");
    world.api_key("phone");
    world.dev(
        "/_dev/faults",
        json!({"path_pattern": "/api/v1/apikeys/*", "method": "DELETE", "status": 500}),
    );
    let passphrase = world.text("passphrase");
    let rotate = ["--json", "keys", "rotate", "--passphrase-file", &passphrase];
    let rotate = [&rotate[..], &["--api-keys"]].concat();
    let failed = world.run("a", &rotate);
    assert_ne!(failed.code, 0, "{failed:?}");
    let shown: Value = serde_json::from_str(&failed.stdout).expect("one document");
    let why = shown["failed"].as_str().expect("the reason");
    assert!(why.contains("revoke the API key"), "{shown}");
    assert_eq!(
        (&shown["rotated"], &shown["epoch"]),
        (&json!(true), &json!(2))
    );
    assert_eq!(shown["teams"][0]["name"], "Dev Team", "{shown}");
    let revoked = |document: &Value| {
        let keys = document["api_keys"].as_array().unwrap();
        let key = keys.iter().find(|one| one["name"] == "phone");
        key.unwrap()["revoked"].clone()
    };
    assert_eq!(revoked(&shown), false, "{shown}");
    world.clear_faults();
    let done = document(&world.run("a", &rotate));
    assert_eq!((&done["epoch"], &done["failed"]), (&json!(2), &Value::Null));
    assert_eq!(revoked(&done), true, "{done}");
}

#[test]
fn a_login_after_a_lost_device_is_not_taken_in_by_the_former_keys() {
    let world = World::new();
    world.login("a");
    let key = world.api_key("phone");
    let passphrase = world.text("passphrase");
    let phone = [
        &world.login_args(&key, &passphrase)[..],
        &["--device-name", "phone"],
    ];
    world.json("c", &phone.concat());
    let before = world.served_keys();
    world.write("new", NEW_PASSPHRASE);
    let new = world.text("new");
    let revoke = ["devices", "revoke", "phone", "--yes", "--passphrase-file"];
    let revoke = [&revoke[..], &[&passphrase, "--new-passphrase-file", &new]].concat();
    world.json("a", &revoke);

    // A server that gives the former keys, which whoever has the phone has too.
    world.dev(
        "/_dev/faults",
        json!({"path_pattern": "/api/v1/keys$", "method": "GET", "set": {"": before}}),
    );
    let login = world.login_args("ck_dev_owner", &new);
    world
        .run("d", &login)
        .assert_refused(1, &["passphrase is wrong"]);
    world.clear_faults();
    let logged_in = world.json("d", &login);
    assert_eq!(logged_in["keys"]["epoch"], 2, "{logged_in}");
    assert_eq!(logged_in["keys"], world.json("a", &["keys"]));

    // With the passphrase kept, only a person can tell; they are told how.
    let other = world.api_key("tablet");
    let tablet = [
        &world.login_args(&other, &new)[..],
        &["--device-name", "tablet"],
    ];
    world.json("e", &tablet.concat());
    let before = world.served_keys();
    let keep = ["devices", "revoke", "tablet", "--yes", "--keep-passphrase"];
    let keep = [&keep[..], &["--passphrase-file", &new]].concat();
    let kept = world.run("a", &keep);
    assert_eq!(kept.code, 0, "{kept:?}");
    assert!(kept.stderr.contains("compare `cairn keys`"), "{kept:?}");
    world.dev(
        "/_dev/faults",
        json!({"path_pattern": "/api/v1/keys$", "method": "GET", "set": {"": before}}),
    );
    let fooled = world.run("f", &login);
    assert!(
        fooled.stdout.contains("epoch 2, keys replaced on")
            && fooled.stdout.contains("shows a later epoch"),
        "{fooled:?}"
    );
    let here = world.run("a", &["keys"]);
    assert!(
        here.stdout.contains("epoch 3, keys replaced on"),
        "{here:?}"
    );
}

#[test]
fn the_key_of_a_team_is_renewed_with_the_owners_keys() {
    let world = World::new();
    world.login("a");
    world.json("a", &["teams", "create", "Solo"]);
    world.json("a", &["teams", "grant", "Solo"]);
    world.write("plan", "for us");
    let plan = world.text("plan");
    world.json("a", &["upload", &plan, "--team", "Solo"]);
    let rotated = document(&keys(&world, "a", "rotate"));
    let teams = rotated["teams"].as_array().unwrap();
    let solo = teams.iter().find(|team| team["name"] == "Solo").unwrap();
    assert_eq!(solo["key"], "renewed", "{rotated}");
    let shown = world.json("a", &["teams", "keys", "Solo"]);
    assert_eq!(shown["epoch"], 2, "{shown}");
    let read = world.run("a", &["cat", "/plan", "--team", "Solo"]);
    assert_eq!(read.stdout, "for us");
    let granted = world.json("a", &["teams", "grant", "Solo", "--new-key"]);
    assert_eq!(
        (&granted["epoch"], &granted["new_key"]),
        (&json!(3), &json!(true))
    );
}

#[test]
fn a_wait_right_after_an_update_waits_until_the_daemon_has_the_new_keys() {
    let world = World::new();
    world.login("a");
    world.json("a", &["teams", "create", "Solo"]);
    world.json("a", &["teams", "grant", "Solo"]);
    world.login("b");
    world.json("b", &["add", "own", "--remote", "/own"]);
    let team = ["add", "solo", "--remote", "/", "--space", "Solo", "--yes"];
    world.json("b", &team);
    let _stopping = Stopping(&world, "b");
    for name in ["own/f", "solo/f"] {
        world.write(name, name);
    }
    let wait = || world.run("b", &["status", "--wait", "--timeout", "60"]);
    assert_eq!(wait().code, 0);
    for _ in 0..3 {
        document(&keys(&world, "a", "rotate"));
        let halted = wait();
        assert_eq!(halted.code, 5, "{halted:?}");
        let headline = halted.stdout.lines().next().unwrap_or_default();
        assert!(headline.contains(", 1 key to accept"), "{headline}");
        document(&keys(&world, "b", "update"));
        let status = wait();
        assert_eq!(status.code, 0, "{status:?}");
    }
}
