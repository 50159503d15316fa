//! The files of the server's own keys, and what happens without them.

use super::server::{Server, command, run};
use std::io::Write as _;
use std::path::Path;

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn run_ok(args: &[&str], stdin: &str) -> String {
    let ran = run(args, stdin);
    assert!(ran.status.success(), "{args:?}: {}", text(&ran.stderr));
    text(&ran.stdout).trim().to_owned()
}

fn account(data: &str) {
    let add = [
        "user",
        "add",
        "a@example.com",
        "--password-stdin",
        "--data",
        data,
    ];
    run_ok(&add, "a long secret\n");
}

#[test]
fn without_its_key_the_server_does_not_start_and_says_what_to_restore() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let data = data.to_str().unwrap();
    account(data);
    let (key, aside) = (
        Path::new(data).join("records.key"),
        dir.path().join("aside"),
    );
    std::fs::rename(&key, &aside).unwrap();
    for args in [
        vec!["--listen", "127.0.0.1:0", "--data", data],
        vec!["user", "list", "--data", data],
    ] {
        let refused = run(&args, "");
        assert_eq!(refused.status.code(), Some(1));
        let message = text(&refused.stderr);
        assert!(message.contains("records.key is missing"), "{message}");
        assert!(
            message.contains("Restore the file from a backup"),
            "{message}"
        );
        assert!(!key.exists());
    }
    std::fs::rename(&aside, &key).unwrap();
    assert!(Server::start(&["--data", data]).terminate());
}

#[cfg(unix)]
#[test]
fn whatever_the_server_writes_is_its_users_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let mut child = std::process::Command::new("sh")
        .args(["-c", "umask 000; exec \"$@\"", "sh"])
        .arg(command(&[]).get_program())
        .args(["user", "add", "a@example.com", "--password-stdin", "--data"])
        .arg(&data)
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"a long secret\n")
        .unwrap();
    assert!(child.wait().unwrap().success());
    let mut seen = Vec::new();
    for entry in std::fs::read_dir(&data).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{:?}: {mode:o}", entry.file_name());
        seen.push(entry.file_name().into_string().unwrap());
    }
    for name in ["cairn.db", "records.key", "objects"] {
        assert!(seen.iter().any(|one| one == name), "{name} not in {seen:?}");
    }
}
