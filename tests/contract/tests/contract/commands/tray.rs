//! The commands that the tray uses.

use crate::commands::world::{PASSPHRASE, Stopping, World, program};
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Runs the program with lines on its standard input.
fn with_lines(world: &World, home: &str, args: &[&str], lines: &[&str]) -> Value {
    let mut child = Command::new(program())
        .arg("--json")
        .arg("--home")
        .arg(world.path(home))
        .args(args)
        .env("CAIRN_KDF_MEMORY_MIB", "64")
        .env("CAIRN_KDF_ITERATIONS", "600000")
        .env("CAIRN_API_KEY", "ck_dev_owner")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let text = lines.join("\n") + "\n";
    child
        .stdin
        .take()
        .expect("its input is piped")
        .write_all(text.as_bytes())
        .expect("it reads its input");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{args:?}: {output:?}");
    serde_json::from_slice(&output.stdout).expect("one JSON document")
}

#[test]
fn secrets_come_through_the_standard_input() {
    let world = World::new();
    let login = [
        "login",
        "--server",
        &world.url,
        "--secrets=file",
        "--passphrase-file=-",
        "--device-name=desk",
    ];
    with_lines(&world, "a", &login, &[PASSPHRASE]);
    let change = [
        "passphrase",
        "change",
        "--passphrase-file=-",
        "--new-passphrase-file=-",
    ];
    with_lines(
        &world,
        "a",
        &change,
        &[PASSPHRASE, "velvet cargo ankle rural pulse"],
    );
    let setup = ["recovery-key", "setup", "--passphrase-file=-"];
    let key = with_lines(&world, "a", &setup, &["velvet cargo ankle rural pulse"]);
    assert!(key["recovery_key"].as_str().unwrap().len() > 20);
    let devices = world.json("a", &["devices"])["devices"].clone();
    assert_eq!(
        (&devices[0]["name"], &devices[0]["this"]),
        (&json!("desk"), &json!(true))
    );
}

#[test]
fn a_device_is_removed_by_its_name_after_a_question() {
    let world = World::new();
    let passphrase = world.text("passphrase");
    for (home, name) in [("a", "desk"), ("b", "old phone")] {
        let login = world.login_args("ck_dev_owner", &passphrase);
        world.json(home, &[&login[..], &["--device-name", name]].concat());
    }
    let devices = || {
        let listed = world.json("a", &["devices"])["devices"].clone();
        let listed = listed.as_array().unwrap().clone();
        listed
            .iter()
            .map(|one| (one["name"].clone(), one["last_seen"].is_string()))
            .collect::<Vec<_>>()
    };
    devices();
    let (here, phone) = (json!("desk"), json!("old phone"));
    let listed = devices();
    assert_eq!((&listed[0], &listed[1].0), (&(here.clone(), true), &phone));

    let remove = ["devices", "remove", "old phone"];
    world
        .run("a", &remove)
        .assert_refused(5, &["nothing was done"]);
    world
        .run("a", &["devices", "remove", "desk", "--yes"])
        .assert_refused(2, &["cairn logout"]);
    world
        .run("a", &["devices", "remove", "tablet", "--yes"])
        .assert_refused(2, &["there is no device tablet"]);
    assert_eq!(devices().len(), 2);
    let removed = world.json("a", &[&remove[..], &["--yes"]].concat());
    assert_eq!(removed["logins_ended"], 0, "it uses an API key");
    assert_eq!(devices(), [(here, true)]);
}

#[test]
fn the_manual_has_a_page_for_each_command() {
    let world = World::new();
    let man = world.text("man");
    world.json("a", &["man", &man]);
    for page in ["cairn.1", "cairn-login.1", "cairn-status.1"] {
        let text = std::fs::read_to_string(world.path("man").join(page)).unwrap();
        assert!(text.contains(".SH SYNOPSIS"), "{page}");
    }
}

#[test]
fn rules_are_tried_replaced_and_a_pair_is_changed_while_it_syncs() {
    let world = World::new();
    world.login("a");
    let _stop = Stopping(&world, "a");
    std::fs::create_dir(world.path("shared")).unwrap();
    let folder = world.text("shared");
    world.json("a", &["add", &folder]);
    world.write("shared/keep.txt", "x");
    world.json("a", &["status", "--wait", "--timeout", "60"]);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let home = cairn_control::Home::at(&world.path("a"));
        let client = cairn_control::Client::connect(&home.socket_path(), "tray")
            .await
            .unwrap();
        let tried = |lines: Vec<String>| cairn_control::typed::CheckIgnore {
            folder: folder.clone(),
            path: format!("{folder}/x.log"),
            lines: Some(lines),
        };
        let decision: cairn_control::IgnoreDecision =
            client.send(tried(vec!["*.log".into()])).await.unwrap();
        assert!(decision.ignored && !world.path("shared/.cairnignore").exists());
        client
            .send(cairn_control::typed::SetIgnore {
                folder: folder.clone(),
                lines: vec!["*.log".into()],
            })
            .await
            .unwrap();
        let changed: cairn_control::Folder = client
            .send(cairn_control::typed::ChangeFolder {
                folder: cairn_control::NewFolder {
                    local: folder.clone(),
                    remote: "/".into(),
                    mode: cairn_model::SyncMode::Upload,
                    ..Default::default()
                },
            })
            .await
            .unwrap();
        assert_eq!(changed.mode, cairn_model::SyncMode::Upload);
    });
    world.write("shared/no.log", "x");
    world.write("shared/yes.txt", "x");
    world.json("a", &["status", "--wait", "--timeout", "60"]);
    let listed = world.json("a", &["list"])["nodes"].clone();
    let names: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, [".cairnignore", "keep.txt", "yes.txt"]);
    assert_eq!(
        world.json("a", &["folders"])["folders"][0]["mode"],
        "upload"
    );
}

#[test]
fn webhooks_are_added_tried_switched_and_removed() {
    let world = World::new();
    world.login("a");
    let url = "https://hooks.example.org/cairn";
    let added = world.json(
        "a",
        &["webhooks", "add", "--event", "file.uploaded", "--", url],
    );
    assert!(!added["webhook"]["secret"].as_str().unwrap().is_empty());
    let listed = world.json("a", &["webhooks"])["webhooks"].clone();
    assert_eq!(
        (&listed[0]["url"], &listed[0]["status"]),
        (&json!(url), &json!("active"))
    );
    assert!(listed[0].get("secret").is_none(), "shown once: {listed}");
    let id = listed[0]["id"].as_str().unwrap();
    world.json("a", &["webhooks", "test", id]);
    let sent = world.json("a", &["webhooks", "deliveries", id])["deliveries"].clone();
    assert_eq!(sent[0]["event"], "webhook.test");
    world.json("a", &["webhooks", "disable", id]);
    let listed = world.json("a", &["webhooks", "list"])["webhooks"].clone();
    assert_eq!(listed[0]["status"], "disabled");
    world.json("a", &["webhooks", "enable", id]);
    world.json("a", &["webhooks", "remove", id]);
    assert_eq!(world.json("a", &["webhooks"])["webhooks"], json!([]));
    world
        .run(
            "a",
            &[
                "webhooks",
                "add",
                "--event",
                "file.uploaded",
                "--",
                "http://127.0.0.1/x",
            ],
        )
        .assert_refused(1, &["add a webhook"]);
}

#[test]
fn a_list_says_what_is_below_each_folder_if_the_server_does() {
    let world = World::new();
    world.login("a");
    world.json("a", &["mkdir", "--parents", "/photos/2026"]);
    world.write("f", "12345");
    for folder in ["/", "/photos", "/photos/2026"] {
        world.json("a", &["upload", "f", "--to", folder, "--name", "f"]);
    }
    let total = |args: &[&str]| {
        let listed = world.json("a", args)["nodes"].clone();
        let nodes = listed.as_array().unwrap();
        let folder = nodes.iter().find(|node| node["kind"] == "folder").unwrap();
        folder["total"].clone()
    };
    let sizes = ["list", "--sizes"];
    assert_eq!(total(&sizes), json!({"files": 2, "bytes": 10}));
    let below = ["list", "--sizes", "/photos"];
    assert_eq!(total(&below), json!({"files": 1, "bytes": 5}));
    assert_eq!(total(&["list"]), Value::Null, "unasked");

    world.json("a", &["teams", "create", "Alpha"]);
    world.json("a", &["teams", "grant", "Alpha"]);
    world.json("a", &["mkdir", "--team", "Alpha", "/plans"]);
    let to_team = ["upload", "f", "--team", "Alpha", "--to", "/plans"];
    world.json("a", &to_team);
    let team = ["list", "--sizes", "--team", "Alpha"];
    assert_eq!(total(&team), json!({"files": 1, "bytes": 5}));

    // An older server takes the path for that of a node.
    let older = json!({"path_pattern": "/api/v1/nodes/folder-sizes", "status": 404});
    world.dev("/_dev/faults", older);
    assert_eq!(total(&sizes), Value::Null, "the list is there without");
}
