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

/// A server with webhooks, whose secrets and test events lie sealed; they lead nowhere.
fn with_webhooks(data: &str) -> Server {
    let server = Server::start(&["--dev", "--allow-private-webhooks", "--data", data]);
    let body = br#"{"url": "http://127.0.0.1:9/", "events": ["file.uploaded"]}"#;
    for _ in 0..40 {
        let made = server.call("POST", "/api/v1/webhooks", body);
        assert_eq!(made.status, 201);
    }
    server
}

fn lines(key: &Path) -> usize {
    std::fs::read_to_string(key).unwrap().lines().count()
}

#[test]
fn a_rotation_waits_for_no_server_and_keeps_tokens_in_force() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().to_str().unwrap();
    let key = dir.path().join("records.key");
    let server = with_webhooks(data);
    let old = std::fs::read(&key).unwrap();
    let refused = run(&["keys", "rotate", "--data", data], "");
    assert_eq!(refused.status.code(), Some(1));
    let message = text(&refused.stderr);
    assert!(message.contains("stop the server"), "{message}");
    assert_eq!(std::fs::read(&key).unwrap(), old);
    let token = run_ok(&["token", "owner@example.com", "--data", data], "");
    assert!(server.terminate());

    let printed = run_ok(&["keys", "rotate", "--data", data], "");
    assert!(printed.contains("sealed anew"), "{printed}");
    assert_ne!(std::fs::read(&key).unwrap(), old);
    assert_eq!(lines(&key), 1);
    let again = Server::on(dir.path());
    assert_eq!(status_with(&again, &token), "200");
}

/// Returns the status of a request with a token or API key.
fn status_with(server: &Server, credential: &str) -> String {
    let mut stream = server.connect();
    let request = format!(
        "GET /api/v1/useraccount/composite HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Authorization: Bearer {credential}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let response = std::io::read_to_string(stream).unwrap();
    response.split(' ').nth(1).unwrap().to_owned()
}

#[test]
fn after_new_signing_keys_tokens_from_before_are_refused_and_api_keys_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().to_str().unwrap();
    account(data);
    let start = || Server::start(&["--data", data]);
    let rotate = ["keys", "rotate", "--signing", "--data", data];
    let new_token = || run_ok(&["token", "a@example.com", "--data", data], "");
    let api_key = run_ok(&["apikey", "a@example.com", "--data", data], "");
    let server = start();
    let token = new_token();
    let refused = run(&rotate, "");
    assert_eq!(refused.status.code(), Some(1), "the server runs");
    assert_eq!(status_with(&server, &token), "200");
    assert!(server.terminate());

    let printed = run_ok(&rotate, "");
    assert!(
        printed.contains("the next start makes new ones"),
        "{printed}"
    );
    let again = start();
    assert_eq!(status_with(&again, &token), "401");
    assert_eq!(status_with(&again, &new_token()), "200");
    assert_eq!(status_with(&again, &api_key), "200");
}

#[test]
fn a_typo_in_the_directory_rotates_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let refused = run(
        &["keys", "rotate", "--data", dir.path().to_str().unwrap()],
        "",
    );
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("holds no data"));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_rotation_that_is_killed_costs_nothing_and_is_completed() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().to_str().unwrap();
    let key = dir.path().join("records.key");
    assert!(with_webhooks(data).terminate());
    let old = std::fs::read(&key).unwrap();
    // Until one is caught between its first step and its last; the others ended before they were.
    let mut caught = false;
    for _ in 0..50 {
        let mut rotation = command(&["keys", "rotate", "--data", data])
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        while lines(&key) == 1 && rotation.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        rotation.kill().unwrap();
        rotation.wait().unwrap();
        caught = lines(&key) == 2;
        if caught {
            break;
        }
    }
    assert!(caught, "no rotation was slow enough");
    let both = std::fs::read_to_string(&key).unwrap();
    assert!(both.lines().next_back().unwrap().len() == old.len());
    let server = Server::on(dir.path());
    let shown = server.call("GET", "/api/v1/webhooks", b"").json();
    assert_eq!(shown["totalElements"], 40);
    assert!(server.terminate());
    let printed = run_ok(&["keys", "rotate", "--data", data], "");
    assert!(printed.contains("An earlier rotation"), "{printed}");
    assert_eq!(
        std::fs::read_to_string(&key).unwrap(),
        both.lines().next().unwrap()
    );
    // It opens the keys that sign tokens at its start.
    assert!(Server::on(dir.path()).terminate());
}
