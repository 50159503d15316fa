//! Logging in and out, passphrase and recovery key.

use crate::commands::world::{PASSPHRASE, World, names};
use serde_json::json;

#[test]
fn the_first_login_makes_keys_and_later_ones_open_them() {
    let world = World::new();
    assert_eq!(world.login("a")["keys_created"], true);
    let second = world.login("b");
    assert_eq!(second["keys_created"], false);
    let me = world.json("b", &["whoami"]);
    assert_eq!(
        (&me["email"], &me["device_id"]),
        (&json!("owner@example.com"), &second["device_id"])
    );

    let ready = world.json("b", &["verify"]);
    assert_eq!(
        (
            &ready["encryption_ready"],
            &ready["recovery_key_configured"]
        ),
        (&json!(true), &json!(false))
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(world.path("a/secrets.json"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    for file in ["a/account.json", "a/config.toml"] {
        let text = std::fs::read_to_string(world.path(file)).unwrap_or_default();
        assert!(
            !text.contains("ck_dev_owner") && !text.contains(PASSPHRASE),
            "{file}"
        );
    }
}

#[test]
fn a_login_that_can_not_be_says_why_and_changes_nothing() {
    let world = World::new();
    world.login("a");
    world.write("wrong", "another passphrase");
    let (right, wrong) = (world.text("passphrase"), world.text("wrong"));
    world
        .run("b", &world.login_args("ck_dev_owner", &wrong))
        .assert_refused(1, &["passphrase is wrong"]);
    world
        .run("b", &world.login_args("ck_nonsense", &right))
        .assert_refused(3, &["API key"]);
    let nowhere = [
        "login",
        "--server",
        "http://127.0.0.1:1",
        "--api-key",
        "k",
        "--secrets",
        "file",
    ];
    world
        .run("b", &nowhere)
        .assert_refused(4, &["can't be reached", "127.0.0.1:1"]);
    world
        .run("b", &["login", "--server", "ftp://x", "--api-key", "k"])
        .assert_refused(2, &["https://"]);
    for how in ["--no-browser", "--device-code"] {
        world
            .run("b", &["login", "--server", "http://127.0.0.1:1", how])
            .assert_refused(4, &["can't be reached", "127.0.0.1:1"]);
    }
    let asks = [
        "login",
        "--server",
        &world.url,
        "--api-key",
        "ck_dev_owner",
        "--secrets",
        "file",
    ];
    world
        .run("b", &asks)
        .assert_refused(2, &["--passphrase-file"]);
    assert!(!world.path("b/account.json").exists() && !world.path("b/secrets.json").exists());
    for command in [
        &["whoami"][..],
        &["status"],
        &["list"],
        &["daemon"],
        &["add", "x"],
    ] {
        world.run("b", command).assert_refused(3, &["cairn login"]);
    }
    let refused = world.run("b", &["--json", "whoami"]);
    let document: serde_json::Value = serde_json::from_str(&refused.stdout).unwrap();
    assert_eq!(document["error"]["code"], 3);
}

/// Returns the names of the account's devices, as another device sees them.
fn device_names(world: &World) -> Vec<String> {
    let devices = world.json("a", &["devices"])["devices"].clone();
    let names = devices.as_array().unwrap().iter();
    names
        .map(|one| one["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_login_that_fails_leaves_no_device_in_the_account() {
    let world = World::new();
    world.login("a");
    let before = device_names(&world);
    world.write("wrong", "another passphrase");
    let (right, wrong) = (world.text("passphrase"), world.text("wrong"));
    let name = ["--device-name", "ghost"];
    let refused = [&world.login_args("ck_dev_owner", &wrong)[..], &name].concat();
    world.run("b", &refused).assert_refused(1, &["passphrase"]);
    assert_eq!(device_names(&world), before);

    // The server registers the device, and each answer to that is lost.
    world.dev(
        "/_dev/faults",
        json!({"path_pattern": "/api/v1/devices/", "method": "PUT", "status": 503, "processed": true}),
    );
    let login = [&world.login_args("ck_dev_owner", &right)[..], &name].concat();
    let lost = world.run("b", &login);
    assert!(
        lost.code != 0 && lost.stderr.contains("register this device"),
        "{lost:?}"
    );
    world.clear_faults();
    assert_eq!(device_names(&world), before);
    assert!(!world.path("b/account.json").exists());

    // The control: the next login registers it.
    world.json("b", &login);
    assert!(device_names(&world).contains(&"ghost".to_owned()));
}

#[test]
fn a_purge_deletes_what_was_known_and_none_of_your_files() {
    let world = World::new();
    world.login("a");
    world.json("a", &["config", "set", "limits.up", "2MB"]);
    world.json("a", &["add", "f", "--remote", "/f"]);
    world.write("f/mine.txt", "x");
    world.write("f/gone.txt", "x");
    world.write("a/mine.txt", "x");
    world.json("a", &["status", "--wait", "--timeout", "60"]);
    world.login("b");
    world.json("b", &["delete", "/f/gone.txt"]);
    world.json("a", &["sync"]);
    world.json("a", &["status", "--wait", "--timeout", "60"]);
    world.json("a", &["mkdir", "/d"]);

    let planned = world.json("a", &["logout", "--purge", "--dry-run"])["would_delete"].clone();
    let ended = world.json("a", &["logout", "--purge"]);
    assert_eq!(ended["purged"], true);
    for path in planned.as_array().unwrap() {
        let path = path.as_str().unwrap();
        assert!(!std::path::Path::new(path).exists(), "{path}");
        assert!(path.starts_with(&world.text("a/")), "{path}");
    }
    let left = names(&world.path("a"));
    let known = [
        "config.lock",
        "config.toml",
        "daemon.lock",
        "login.lock",
        "mine.txt",
        "secrets.lock",
    ];
    assert!(
        known.iter().all(|name| left.iter().any(|one| one == name)),
        "{left:?}"
    );
    for name in &left {
        let text = std::fs::read(world.path("a").join(name)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let is_known = text.contains("owner@example.com") || text.contains("gone.txt");
        assert!(!is_known, "{name} is left: {text}");
    }
    assert_eq!(left, known, "nothing else is left");
    assert_eq!(names(&world.path("f")), ["mine.txt"]);
    let trash = world.path("f/.cairn-trash");
    assert!(trash.is_dir(), "what sync deleted can still be had");
    let listed = world.json("b", &["list", "/f"]);
    assert_eq!(listed["nodes"][0]["name"], "mine.txt");
}

#[test]
fn a_home_with_folders_belongs_to_its_account() {
    let world = World::new();
    let device = world.login("a")["device_id"].clone();
    world.json("a", &["add", "folder"]);
    let passphrase = world.text("passphrase");
    let other = world.login_args("ck_dev_outsider", &passphrase);
    world
        .run("a", &other)
        .assert_refused(1, &["owner@example.com", "cairn remove"]);
    assert_eq!(
        world.login("a")["device_id"],
        device,
        "the same account again is the same device"
    );
    world.json("a", &["remove", "folder"]);
    let outsider = world.json("a", &other);
    assert_eq!(outsider["email"], "outsider@example.com");
}

#[test]
fn logging_out_forgets_the_secrets_and_keeps_the_device() {
    let world = World::new();
    let device = world.login("a")["device_id"].clone();
    let ended = world.json("a", &["logout"]);
    assert_eq!(
        (
            &ended["device_removed"],
            &ended["login_ended"],
            &ended["api_key_stays_valid"]
        ),
        (&json!(true), &json!(false), &json!(true))
    );
    world.login("b");
    let devices = world.json("b", &["devices"])["devices"].clone();
    let ids = devices.as_array().unwrap().iter().map(|one| &one["id"]);
    assert!(!ids.into_iter().any(|id| *id == device), "{devices}");
    world
        .run("a", &["whoami"])
        .assert_refused(3, &["cairn login"]);
    let left = std::fs::read_to_string(world.path("a/secrets.json")).unwrap_or_default();
    assert!(
        !left.contains("api-key") && !left.contains("account-key"),
        "{left}"
    );
    assert_eq!(world.login("a")["device_id"], device);
}

#[test]
fn a_new_passphrase_counts_for_new_logins_only() {
    let world = World::new();
    world.login("a");
    world.login("b");
    world.write("new", "velvet cargo ankle rural pulse");
    let (old, new) = (world.text("passphrase"), world.text("new"));
    let change = [
        "passphrase",
        "change",
        "--new-passphrase-file",
        &new,
        "--passphrase-file",
    ];
    world
        .run("a", &[&change[..], &[&new]].concat())
        .assert_refused(1, &["passphrase is wrong"]);
    assert_eq!(
        world.json("a", &[&change[..], &[&old]].concat())["changed"],
        true
    );
    world.json("b", &["whoami"]);
    world
        .run("c", &world.login_args("ck_dev_owner", &old))
        .assert_refused(1, &["passphrase is wrong"]);
    world.json("c", &world.login_args("ck_dev_owner", &new));
    // What was known before the change is not accepted any more, not even from the server.
    world.json("b", &["verify"]);
}

#[test]
fn a_recovery_key_replaces_a_forgotten_passphrase() {
    let world = World::new();
    world.login("a");
    assert_eq!(world.json("a", &["recovery-key"])["configured"], false);
    let passphrase = world.text("passphrase");
    let made = world.json(
        "a",
        &["recovery-key", "setup", "--passphrase-file", &passphrase],
    );
    assert_eq!(
        world.json("a", &["recovery-key", "status"])["configured"],
        true
    );
    let key = made["recovery_key"].as_str().unwrap();
    world.write("key", key);
    world.write(
        "mistyped",
        key.replacen(|c: char| c.is_ascii_digit(), "Z", 1),
    );
    world.write("new", "velvet cargo ankle rural pulse");
    let (new, right, wrong) = (world.text("new"), world.text("key"), world.text("mistyped"));
    let recover = [
        "recovery-key",
        "use",
        "--new-passphrase-file",
        &new,
        "--key-file",
    ];
    world
        .run("a", &[&recover[..], &[&wrong]].concat())
        .assert_refused(1, &["not a recovery key", "mistyped"]);
    world.json("a", &[&recover[..], &[&right]].concat());
    world.json("b", &world.login_args("ck_dev_owner", &new));
    world
        .run("c", &world.login_args("ck_dev_owner", &passphrase))
        .assert_refused(1, &["passphrase is wrong"]);
}

#[test]
fn a_recovery_key_opens_the_account_on_a_new_device() {
    let world = World::new();
    world.login("a");
    world.json("a", &["upload", "passphrase"]);
    let passphrase = world.text("passphrase");
    let setup = ["recovery-key", "setup", "--passphrase-file", &passphrase];
    let made = world.json("a", &setup);
    let key = made["recovery_key"].as_str().unwrap();
    world.write("key", key);
    world.write("forgotten", "something else");
    world.write("new", "velvet cargo ankle rural pulse");
    let (key, forgotten, new) = (
        world.text("key"),
        world.text("forgotten"),
        world.text("new"),
    );
    world
        .run("b", &world.login_args("ck_dev_owner", &forgotten))
        .assert_refused(1, &["passphrase is wrong", "--recovery-key-file FILE"]);
    let hint = "--recovery-key-file FILE";
    world
        .run("b", &["recovery-key", "use", "--key-file", &key])
        .assert_refused(3, &["not logged in", hint]);

    let login = |key: &str| {
        let mut args = world.login_args("ck_dev_owner", key);
        let at = args.iter().position(|arg| *arg == "--passphrase-file");
        args[at.unwrap()] = "--recovery-key-file";
        let new: [String; 2] = ["--new-passphrase-file".to_owned(), new.clone()];
        let all = args.into_iter().map(str::to_owned).chain(new);
        let all: Vec<String> = all.collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        world.run("b", &all)
    };
    login(&forgotten).assert_refused(1, &["recovery key"]);
    assert_eq!(login(&key).code, 0);
    assert_eq!(world.run("b", &["cat", "/passphrase"]).stdout, PASSPHRASE);
    world.json("b", &["verify"]);
    // The new passphrase is that of the account; the key stays valid, and the first device goes on.
    world.json("c", &world.login_args("ck_dev_owner", &new));
    world
        .run("d", &world.login_args("ck_dev_owner", &passphrase))
        .assert_refused(1, &["passphrase is wrong"]);
    assert_eq!(world.json("b", &["recovery-key"])["configured"], true);
    assert_eq!(world.run("a", &["cat", "/passphrase"]).stdout, PASSPHRASE);
}

/// The server holds what is needed to test guesses, so an easily guessed passphrase is no protection.
#[test]
fn a_new_passphrase_that_is_easily_guessed_is_refused() {
    let world = World::new();
    world.login("a");
    let old = world.text("passphrase");
    let change = |new: &str, more: &[&str]| {
        world.write("new", new);
        let new = world.text("new");
        let arguments = ["passphrase", "change", "--passphrase-file", &old];
        let arguments = [&arguments[..], &["--new-passphrase-file", &new], more].concat();
        world.run("a", &arguments)
    };
    change("summer2026", &[]).assert_refused(2, &["too easy to guess", "passphrase generate"]);
    let generated = world.json("a", &["passphrase", "generate"]);
    change(generated["passphrase"].as_str().unwrap(), &[]);
    let (old, new) = (world.text("new"), world.path("weak"));
    world.write("weak", "summer2026");
    let allowed = world.json(
        "a",
        &[
            "passphrase",
            "change",
            "--allow-weak-passphrase",
            "--passphrase-file",
            &old,
            "--new-passphrase-file",
            &new.display().to_string(),
        ],
    );
    assert_eq!(allowed["changed"], true);
}
