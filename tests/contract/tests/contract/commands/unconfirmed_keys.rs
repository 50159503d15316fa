//! Keys that are replaced although the answer is lost, or the home or the standard output can't be written: whoever
//! has chosen a passphrase, or has to keep a recovery key, must not be told that nothing was done.

use crate::commands::world::World;
use serde_json::{Value, json};

const NEW: &str = "velvet cargo ankle rural pulse";

/// Has the service replace the keys, and loses its answer on the way.
fn lose_answer(world: &World) {
    world.dev("/_dev/faults", with(lost_answers(), "count", 1));
}

fn lost_answers() -> Value {
    let path = "/api/v1/keys$";
    json!({ "path_pattern": path, "method": "PUT", "status": 502, "processed": true })
}

/// Loses every answer, and lets nobody ask afterwards which keys are in force.
fn lose_all_answers(world: &World) {
    let get = json!({ "path_pattern": "/api/v1/keys$", "method": "GET", "status": 503 });
    world.dev("/_dev/faults", lost_answers());
    world.dev("/_dev/faults", with(get, "skip", 1));
}

fn with(mut rule: Value, name: &str, value: u64) -> Value {
    rule[name] = value.into();
    rule
}

fn setup(world: &World) -> [String; 4] {
    let arguments = ["recovery-key", "setup", "--passphrase-file"].map(str::to_owned);
    let [first, second, third] = arguments;
    [first, second, third, world.text("passphrase")]
}

fn words(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

/// Makes a first recovery key.
fn with_recovery_key() -> World {
    let world = World::new();
    world.login("a");
    world.json("a", &words(&setup(&world)));
    world
}

/// Sets a new passphrase with a recovery key, which opens the account only if it is in force.
fn assert_opens(world: &World, key: &Value) {
    world.write("key", key.as_str().expect("a key"));
    world.write("new", NEW);
    let (key, new) = (world.text("key"), world.text("new"));
    let recover = ["recovery-key", "use", "--key-file", &key];
    let recover = [&recover[..], &["--new-passphrase-file", &new]].concat();
    assert_eq!(world.json("a", &recover)["changed"], true);
}

fn change(world: &World) -> Vec<String> {
    world.write("new", NEW);
    let old = ["passphrase", "change", "--passphrase-file"].map(str::to_owned);
    let new = ["--new-passphrase-file".to_owned(), world.text("new")];
    [&old[..], &[world.text("passphrase")], &new[..]].concat()
}

fn assert_passphrase_is(world: &World, home: &str, file: &str) {
    let login = world.login_args("ck_dev_owner", file);
    assert_eq!(world.json(home, &login)["keys_created"], false);
}

#[test]
fn a_recovery_key_whose_answer_is_lost_is_shown() {
    let world = with_recovery_key();
    lose_answer(&world);
    let made = world.json("a", &words(&setup(&world)));
    assert_eq!(made["in_force"], true);
    assert_opens(&world, &made["recovery_key"]);
}

#[test]
fn a_recovery_key_that_may_be_in_force_is_shown() {
    let world = with_recovery_key();
    lose_all_answers(&world);
    let made = world.run("a", &[&["--json"], &words(&setup(&world))[..]].concat());
    world.clear_faults();
    assert!(made.code == 1 || made.code == 4, "{made:?}");
    assert!(made.stderr.contains("it may be in force"), "{made:?}");
    let document: Value = serde_json::from_str(&made.stdout).expect("one document");
    assert_eq!(document["in_force"], Value::Null);
    assert_opens(&world, &document["recovery_key"]);
}

#[test]
fn keys_that_were_not_taken_are_sent_again() {
    let world = with_recovery_key();
    let refused = json!({ "path_pattern": "/api/v1/keys$", "method": "PUT", "status": 503 });
    world.dev("/_dev/faults", with(refused.clone(), "count", 1));
    let made = world.json("a", &words(&setup(&world)));
    // None that could be in force is shown where the service refuses it.
    let refused = json!({ "path_pattern": "/api/v1/keys$", "method": "PUT", "status": 403 });
    world.dev("/_dev/faults", with(refused, "count", 1));
    let not_made = world.run("a", &words(&setup(&world)));
    not_made.assert_refused(1, &["replace the account's keys"]);
    assert_eq!(not_made.stdout, "");
    assert_opens(&world, &made["recovery_key"]);
}

#[test]
fn a_new_passphrase_whose_answer_is_lost_is_set() {
    let world = World::new();
    world.login("a");
    let arguments = change(&world);
    lose_answer(&world);
    assert_eq!(world.json("a", &words(&arguments))["changed"], true);
    assert_passphrase_is(&world, "b", &world.text("new"));
}

#[test]
fn a_new_passphrase_that_may_be_in_force_is_to_be_kept() {
    let world = World::new();
    world.login("a");
    let arguments = change(&world);
    lose_all_answers(&world);
    let changed = world.run("a", &words(&arguments));
    world.clear_faults();
    assert!(changed.code == 1 || changed.code == 4, "{changed:?}");
    assert!(changed.stderr.contains("keep both"), "{changed:?}");
    assert_passphrase_is(&world, "b", &world.text("new"));
}

#[test]
fn the_first_keys_whose_answer_is_lost_are_made() {
    let world = World::new();
    lose_answer(&world);
    assert_eq!(world.login("a")["keys_created"], true);
    assert_passphrase_is(&world, "b", &world.text("passphrase"));

    let world = World::new();
    lose_all_answers(&world);
    let passphrase = world.text("passphrase");
    let lost = world.run("a", &world.login_args("ck_dev_owner", &passphrase));
    world.clear_faults();
    assert!(lost.stderr.contains("keep the passphrase"), "{lost:?}");
    assert_passphrase_is(&world, "a", &passphrase);
}

/// A full disk, and a standard output that takes nothing.
#[cfg(unix)]
mod unwritable {
    use super::{assert_opens, assert_passphrase_is, change, setup, with_recovery_key, words};
    use crate::commands::world::{World, program};
    use serde_json::Value;
    use std::process::{Command, Stdio};

    /// Lets a process write no byte to any file; pipes stay open to it.
    const FULL_DISK: &str = "trap '' XFSZ; ulimit -f 0; exec \"$@\"";

    /// Runs the program from a shell script. Returns its exit code, and what it has written.
    fn run_in(world: &World, script: &str, arguments: &[&str]) -> (i32, String, String) {
        let output = Command::new("sh")
            .args(["-c", script, "sh"])
            .arg(program())
            .arg("--home")
            .arg(world.path("a"))
            .args(arguments)
            .env("CAIRN_KDF_MEMORY_MIB", "64")
            .env("CAIRN_KDF_ITERATIONS", "600000")
            .env_remove("CAIRN_API_KEY")
            .current_dir(world.dir.path())
            .stdin(Stdio::null())
            .output()
            .expect("a shell can be run");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let code = output.status.code().unwrap_or(-1);
        (code, text(&output.stdout), text(&output.stderr))
    }

    fn account(world: &World) -> Vec<u8> {
        std::fs::read(world.path("a/account.json")).expect("it is there")
    }

    #[test]
    fn a_recovery_key_is_shown_though_the_home_is_full() {
        let world = with_recovery_key();
        let before = account(&world);
        let setup = setup(&world);
        let arguments = [&["--json"], &words(&setup)[..]].concat();
        let (code, stdout, stderr) = run_in(&world, FULL_DISK, &arguments);
        assert_eq!(code, 0, "{stdout} {stderr}");
        assert!(stderr.contains("account.json"), "{stderr}");
        assert_eq!(account(&world), before, "nothing could be written");
        let made: Value = serde_json::from_str(&stdout).expect("one document");
        assert_opens(&world, &made["recovery_key"]);
    }

    #[test]
    fn a_recovery_key_that_nobody_could_see_is_reported_as_the_one_in_force() {
        let world = with_recovery_key();
        let setup = setup(&world);
        for script in ["exec \"$@\" >/dev/full", "{ \"$@\"; echo $? >&2; } | :"] {
            if script.contains("/dev/full") && !std::path::Path::new("/dev/full").exists() {
                continue;
            }
            let (_, _, stderr) = run_in(&world, script, &words(&setup));
            assert!(stderr.contains("was replaced by it"), "{script}: {stderr}");
        }
    }

    #[test]
    fn a_new_passphrase_is_set_though_the_home_is_full() {
        let world = World::new();
        world.login("a");
        let (before, arguments) = (account(&world), change(&world));
        let (code, stdout, stderr) = run_in(&world, FULL_DISK, &words(&arguments));
        assert_eq!(code, 0, "{stdout} {stderr}");
        assert!(stderr.contains("the change is in force"), "{stderr}");
        assert_passphrase_is(&world, "b", &world.text("new"));
        // The advice that was given works.
        assert_eq!(account(&world), before, "nothing could be written");
        assert_eq!(world.json("a", &["keys", "update"])["updated"], false);
        assert_ne!(account(&world), before);
    }

    #[test]
    fn the_first_passphrase_is_to_be_kept_though_the_home_is_full() {
        let world = World::new();
        let passphrase = world.text("passphrase");
        let login = world.login_args("ck_dev_owner", &passphrase);
        let (code, _, stderr) = run_in(&world, FULL_DISK, &login);
        assert_eq!(code, 1, "{stderr}");
        assert!(stderr.contains("the passphrase opens them"), "{stderr}");
        assert_passphrase_is(&world, "a", &passphrase);
    }
}
