//! Accounts and their keys, managed from the command line beside a running server.

use super::server::{Server, command, run};
use serde_json::Value;
use std::io::Write as _;
use std::process::Output;

struct Place {
    dir: tempfile::TempDir,
    server: Server,
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[track_caller]
fn stdout_of(output: &Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let server = Server::start(&["--data", dir.path().to_str().unwrap()]);
        let place = Self { dir, server };
        let words = ["user", "add", "a@example.com", "--password-stdin"];
        stdout_of(&place.run(&words, "a long secret\n"));
        place
    }

    fn run(&self, words: &[&str], stdin: &str) -> Output {
        let data = ["--data", self.dir.path().to_str().unwrap()];
        run(&[words, &data].concat(), stdin)
    }

    #[track_caller]
    fn json(&self, words: &[&str]) -> Value {
        let out = stdout_of(&self.run(&[words, &["--json"]].concat(), ""));
        serde_json::from_str(&out).unwrap()
    }

    #[track_caller]
    fn run_refused(&self, words: &[&str]) -> String {
        let output = self.run(words, "");
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
        text(&output.stderr)
    }

    /// The status that the server answers to a credential.
    fn status(&self, token: &str) -> u16 {
        let mut stream = self.server.connect();
        let request = format!(
            "GET /api/v1/useraccount/composite HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Authorization: Bearer {token}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let response = std::io::read_to_string(stream).unwrap();
        response.split(' ').nth(1).unwrap().parse().unwrap()
    }

    fn key(&self) -> String {
        let key = stdout_of(&self.run(&["apikey", "a@example.com"], ""));
        key.trim().to_owned()
    }
}

#[test]
fn accounts_are_listed_and_shown_with_what_they_use() {
    let place = Place::new();
    let words = ["user", "add", "b@example.com", "--password-stdin"];
    stdout_of(&place.run(&words, "a long secret\n"));
    let all = place.json(&["user", "list"]);
    let emails: Vec<&str> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["email"].as_str().unwrap())
        .collect();
    assert_eq!(emails, ["a@example.com", "b@example.com"]);
    assert_eq!(all[0]["state"], "active");
    let table = stdout_of(&place.run(&["user", "list"], ""));
    assert_eq!(table.lines().count(), 3, "{table}");
    assert!(table.starts_with("EMAIL"), "{table}");
    place.key();
    let shown = place.json(&["user", "show", "a@example.com"]);
    assert_eq!(shown["active_api_keys"], 1);
    assert!(
        place
            .run_refused(&["user", "show", "c@example.com"])
            .contains("user add c@example.com")
    );
}

#[test]
fn a_disabled_account_is_kept_out_and_comes_back() {
    let place = Place::new();
    let key = place.key();
    let token = place.json(&["token", "a@example.com"])["access_token"].clone();
    let token = token.as_str().unwrap();
    assert_eq!((place.status(&key), place.status(token)), (200, 200));
    assert_eq!(
        place.json(&["user", "disable", "a@example.com"])["state"],
        "disabled"
    );
    assert_eq!((place.status(&key), place.status(token)), (403, 403));
    assert_eq!(
        place.json(&["user", "enable", "a@example.com"])["state"],
        "active"
    );
    assert_eq!(place.status(&key), 200);
}

#[test]
fn an_account_is_deleted_after_an_agreement_alone() {
    let place = Place::new();
    let key = place.key();
    let refused = place.run_refused(&["user", "delete", "a@example.com", "--now"]);
    assert!(refused.contains("--yes"), "{refused}");
    assert_eq!(place.status(&key), 200);
    let later = place.json(&["user", "delete", "a@example.com", "--yes"]);
    assert!(
        later["purge_at"].is_string() && later["deleted"] == false,
        "{later}"
    );
    assert_eq!(
        place.json(&["user", "show", "a@example.com"])["state"],
        "pending_deletion"
    );
    assert_eq!(place.status(&key), 200, "it can still be called off");
    let now = place.json(&["user", "delete", "a@example.com", "--now", "--yes"]);
    assert_eq!(now["deleted"], true);
    assert_eq!(place.status(&key), 401);
    assert_eq!(place.json(&["user", "list"]).as_array().unwrap().len(), 0);
}

#[test]
fn what_an_account_may_use_is_changed() {
    let place = Place::new();
    let before = place.json(&["user", "quota", "a@example.com"]);
    let after = place.json(&[
        "user",
        "quota",
        "a@example.com",
        "--storage",
        "2GiB",
        "--files",
        "7",
    ]);
    assert_eq!(after["storage_limit"], 2_u64 << 30);
    assert_eq!(after["file_count_limit"], 7);
    assert_eq!(after["bandwidth_limit"], before["bandwidth_limit"]);
    let output = place.run(&["user", "quota", "a@example.com", "--storage", "much"], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("500MB"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn what_a_team_may_use_is_changed() {
    let place = Place::new();
    let key = place.key();
    let make = |name: &str| {
        let body = format!("{{\"name\": \"{name}\"}}");
        let mut stream = place.server.connect();
        let request = format!(
            "POST /api/v1/teams HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\
             Content-Type: application/json\r\nAuthorization: Bearer {key}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let response = std::io::read_to_string(stream).unwrap();
        assert!(response.contains(" 201 "), "{response}");
    };
    make("Crew");
    make("Two");
    make("Two");
    let all = place.json(&["team", "list"]);
    assert_eq!(all[0]["name"], "Crew");
    assert_eq!(
        (&all[0]["owner"], &all[0]["members"]),
        (&"a@example.com".into(), &1.into())
    );
    let after = place.json(&["team", "quota", "Crew", "--storage", "2GiB"]);
    assert_eq!(after["storage_limit"], 2_u64 << 30);
    assert_eq!(after["file_count_limit"], all[0]["file_count_limit"]);
    let id = after["id"].as_str().unwrap();
    assert_eq!(place.json(&["team", "quota", id]), after);
    let several = place.run_refused(&["team", "quota", "Two", "--files", "7"]);
    assert!(several.contains("by its id"), "{several}");
    let unknown = place.run_refused(&["team", "quota", "Three"]);
    assert!(unknown.contains("team list"), "{unknown}");
}

#[test]
fn keys_are_listed_and_revoked_by_what_lists_show_of_them() {
    let place = Place::new();
    let first = place.key();
    let second = place.json(&["apikey", "add", "a@example.com", "--name", "backup"]);
    let text = second["key"].as_str().unwrap();
    let all = place.json(&["apikey", "list", "a@example.com"]);
    assert_eq!(all.as_array().unwrap().len(), 2);
    assert!(
        all.as_array()
            .unwrap()
            .iter()
            .any(|key| key["name"] == "backup")
    );
    let shown: String = text.chars().take(10).collect();
    assert_eq!(
        place.json(&["apikey", "revoke", "a@example.com", &shown])["active"],
        false
    );
    assert_eq!((place.status(text), place.status(&first)), (401, 200));
    assert!(
        place
            .run_refused(&["apikey", "revoke", "a@example.com", "ck_unknown"])
            .contains("apikey list")
    );
}

#[test]
fn a_new_password_is_set_without_the_old_one() {
    let place = Place::new();
    let words = [
        "user",
        "reset-password",
        "a@example.com",
        "--password-stdin",
    ];
    let short = place.run(&words, "short\n");
    assert!(text(&short.stderr).contains("at least 8 characters"));
    assert!(stdout_of(&place.run(&words, "another secret\n")).contains("a@example.com"));
    assert_eq!(
        place
            .json(&["user", "sessions", "a@example.com"])
            .as_array()
            .unwrap()
            .len(),
        0
    );
    let unknown = ["--end", "00000000-0000-4000-8000-000000000001"];
    let words = [&["user", "sessions", "a@example.com"], &unknown[..]].concat();
    assert!(place.run_refused(&words).contains("has no login"));
}

#[test]
fn a_second_factor_that_is_not_there_is_not_taken_away() {
    let place = Place::new();
    let refused = place.run_refused(&["user", "reset-2fa", "a@example.com"]);
    assert!(refused.contains("no second factor"), "{refused}");
    let shown = place.json(&["user", "show", "a@example.com"]);
    assert_eq!(shown["second_factor"], false);
}

#[test]
fn the_role_of_an_administrator_is_given_and_taken_beside_the_server() {
    let place = Place::new();
    let role = |more: &[&str]| place.json(&[&["user", "role", "a@example.com"], more].concat());
    assert_eq!(role(&[])["admin"], false);
    assert_eq!(role(&["--set", "admin"])["admin"], true);
    assert_eq!(role(&[])["admin"], true);
    let text = stdout_of(&place.run(&["user", "show", "a@example.com"], ""));
    assert!(text.contains("administrator"), "{text}");
    assert_eq!(role(&["--set", "user"])["admin"], false);
}

#[test]
fn a_typo_in_the_directory_makes_no_server() {
    let dir = tempfile::tempdir().unwrap();
    let typo = dir.path().join("typo");
    for words in [
        &["user", "list"][..],
        &["apikey", "a@example.com"],
        &["token", "a@example.com"],
    ] {
        let mut command = command(words);
        let output = command
            .arg("--data")
            .arg(&typo)
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        assert!(
            text(&output.stderr).contains("there is no directory"),
            "{words:?}"
        );
        assert!(!typo.exists(), "{words:?}");
    }
    let output = command(&["user", "list"])
        .arg("--data")
        .arg(dir.path())
        .output()
        .unwrap();
    assert!(
        text(&output.stderr).contains("holds no data"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}
