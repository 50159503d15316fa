//! Both places for secrets; the keyring in a session of its own, with a keyring service of its own.

use super::{FileSecrets, Secrets, SecretsChoice, SecretsError, open};

fn keeps_what_it_is_given(secrets: &dyn Secrets) {
    assert_eq!(secrets.get("token").unwrap(), None);
    secrets.set("token", b"first").unwrap();
    secrets.set("token", b"\x00\xff binary").unwrap();
    secrets.set("key", &[7; 4096]).unwrap();
    let found = secrets.get("token").unwrap().unwrap();
    assert_eq!(found.as_slice(), b"\x00\xff binary");
    assert_eq!(secrets.get("key").unwrap().unwrap().len(), 4096);
    secrets.delete("token").unwrap();
    secrets.delete("token").unwrap();
    assert_eq!(secrets.get("token").unwrap(), None);
    assert!(secrets.get("key").unwrap().is_some());
    secrets.delete("key").unwrap();
}

#[test]
fn a_file_keeps_secrets_across_runs() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("secrets.json");
    let choice = SecretsChoice::File(path.clone());
    keeps_what_it_is_given(&*open(&choice, "account").unwrap());
    FileSecrets::open(&path).unwrap().set("a", b"1").unwrap();
    let again = FileSecrets::open(&path).unwrap();
    assert_eq!(again.get("a").unwrap().unwrap().as_slice(), b"1");
}

#[test]
fn secrets_that_several_set_at_once_are_all_kept() {
    const WRITERS: usize = 8;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("secrets.json");
    let begin = std::sync::Barrier::new(WRITERS);
    std::thread::scope(|scope| {
        for name in 0..WRITERS {
            let (path, begin) = (&path, &begin);
            scope.spawn(move || {
                // As another process has it.
                let own = FileSecrets::open(path).unwrap();
                begin.wait();
                own.set(&name.to_string(), b"kept").unwrap();
            });
        }
    });
    let secrets = FileSecrets::open(&path).unwrap();
    for name in 0..WRITERS {
        assert!(secrets.get(&name.to_string()).unwrap().is_some(), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_of_secrets_is_closed_to_others_and_refused_when_it_is_not() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("secrets.json");
    let secrets = FileSecrets::open(&path).unwrap();
    secrets.set("a", b"1").unwrap();
    let mode = std::fs::metadata(&path).unwrap().mode();
    assert_eq!(mode & 0o777, 0o600);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    for error in [
        secrets.get("a").unwrap_err(),
        secrets.set("a", b"2").unwrap_err(),
        FileSecrets::open(&path).unwrap_err(),
    ] {
        assert!(
            matches!(error, SecretsError::Exposed { mode: 0o644, .. }),
            "{error}"
        );
    }
}

#[test]
fn a_damaged_file_differs_from_an_empty_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("secrets.json");
    FileSecrets::open(&path).unwrap().set("a", b"1").unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &text[..text.len() - 1]).unwrap();
    let error = FileSecrets::open(&path).unwrap_err();
    assert!(matches!(error, SecretsError::Damaged { .. }), "{error}");
}

#[cfg(target_os = "linux")]
mod keyring {
    use super::super::KeyringSecrets;
    use super::{Secrets, SecretsError, keeps_what_it_is_given};
    use std::process::{Command, Stdio};

    /// Set for the process inside the session that a test makes.
    const INSIDE: &str = "CAIRN_TEST_INSIDE_KEYRING_SESSION";

    fn is_inside() -> bool {
        std::env::var_os(INSIDE).is_some()
    }

    /// Runs `test` once more in a process started by `command`, with a home of its own.
    fn run_again(mut command: Command, test: &str) {
        let home = tempfile::tempdir().unwrap();
        let output = command
            .args(["--exact", &format!("secrets::tests::keyring::{test}")])
            .arg("--nocapture")
            .env(INSIDE, "1")
            .env("HOME", home.path())
            .env("XDG_DATA_HOME", home.path().join("data"))
            .env("XDG_RUNTIME_DIR", home.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && printed.contains("1 passed"),
            "{printed}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    /// Runs the test again in a session with a bus, after `script`.
    fn again_in_session(script: &str, test: &str) {
        for program in ["dbus-run-session", "gnome-keyring-daemon"] {
            let found = Command::new(program)
                .arg("--version")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            assert!(
                found.is_ok(),
                "{program} is missing: `cargo xtask setup` installs what this test needs"
            );
        }
        let mut command = Command::new("dbus-run-session");
        command
            .args(["--", "sh", "-c", script, "sh"])
            .arg(std::env::current_exe().unwrap());
        run_again(command, test);
    }

    #[test]
    fn a_keyring_keeps_the_secrets_of_two_accounts_apart() {
        if is_inside() {
            let one = KeyringSecrets::open("one@example.com").unwrap();
            keeps_what_it_is_given(&one);
            one.set("token", b"1").unwrap();
            let two = KeyringSecrets::open("two@example.com").unwrap();
            assert_eq!(two.get("token").unwrap(), None);
            let again = KeyringSecrets::open("one@example.com").unwrap();
            assert_eq!(again.get("token").unwrap().unwrap().as_slice(), b"1");
            return;
        }
        again_in_session(
            "printf pass | gnome-keyring-daemon --unlock --components=secrets >/dev/null \
             && exec \"$@\"",
            "a_keyring_keeps_the_secrets_of_two_accounts_apart",
        );
    }

    #[test]
    fn a_keyring_that_nobody_can_unlock_is_an_error_with_a_way_out() {
        if is_inside() {
            let error = KeyringSecrets::open("one@example.com")
                .and_then(|keyring| keyring.set("token", b"1"))
                .unwrap_err();
            assert!(error.to_string().contains("--secrets file"), "{error}");
            return;
        }
        again_in_session(
            "exec \"$@\"",
            "a_keyring_that_nobody_can_unlock_is_an_error_with_a_way_out",
        );
    }

    #[test]
    fn a_session_without_a_bus_has_no_keyring() {
        if is_inside() {
            let error = KeyringSecrets::open("one@example.com").unwrap_err();
            assert!(matches!(error, SecretsError::NoKeyring { .. }), "{error}");
            assert!(error.to_string().contains("--secrets file"), "{error}");
            return;
        }
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus");
        run_again(command, "a_session_without_a_bus_has_no_keyring");
    }
}
