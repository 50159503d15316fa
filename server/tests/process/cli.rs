//! The commands and what they print.

use super::server::{Server, command, run};
use cairn_server::openapi;
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn accounts_keys_and_tokens_are_made_beside_a_running_server() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().to_str().unwrap();
    let server = Server::start(&["--data", data]);
    let added = run(
        &[
            "user",
            "add",
            "a@example.com",
            "--password-stdin",
            "--data",
            data,
        ],
        "a long secret\n",
    );
    assert!(added.status.success(), "{}", text(&added.stderr));
    let again = run(
        &[
            "user",
            "add",
            "a@example.com",
            "--password-stdin",
            "--data",
            data,
        ],
        "a long secret\n",
    );
    assert_eq!(again.status.code(), Some(1));
    assert!(
        text(&again.stderr).contains("a@example.com exists already"),
        "{}",
        text(&again.stderr)
    );
    for command in ["apikey", "token"] {
        let made = run(&[command, "a@example.com", "--data", data], "");
        assert!(made.status.success());
        let token = text(&made.stdout);
        assert_eq!(token.lines().count(), 1);
        if command == "apikey" {
            assert!(token.starts_with("ck_"));
        }
        let request = format!(
            "GET /api/v1/useraccount/composite HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Authorization: Bearer {}\r\n\r\n",
            token.trim()
        );
        let mut stream = server.connect();
        std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
        let response = std::io::read_to_string(stream).unwrap();
        assert!(
            response.starts_with("HTTP/1.1 200") && response.contains("a@example.com"),
            "{response}"
        );
    }
    let unknown = run(&["apikey", "b@example.com", "--data", data], "");
    assert_eq!(unknown.status.code(), Some(1));
    assert!(
        text(&unknown.stderr).contains("user add b@example.com"),
        "it says what to do"
    );
    assert!(server.terminate());
}

#[test]
fn health_tells_a_server_that_is_ready_from_none() {
    let server = Server::start(&["--ephemeral"]);
    let address = server.address.clone();
    let ready = run(&["health", "--address", &address], "");
    assert!(ready.status.success(), "{}", text(&ready.stderr));
    assert!(ready.stdout.is_empty());
    assert!(server.terminate());
    let gone = run(&["health", "--address", &address], "");
    assert_eq!(gone.status.code(), Some(1));
    let message = text(&gone.stderr);
    assert!(message.contains(&address), "{message}");
}

#[test]
fn development_and_production_data_stay_apart() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("dev");
    let data = data.to_str().unwrap();
    let development = Server::start(&["--dev", "--data", data]);
    assert!(development.terminate());
    let refused = run(&["--listen", "127.0.0.1:0", "--data", data], "");
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("start the server with --dev"));

    let data = dir.path().join("production");
    std::fs::create_dir(&data).unwrap();
    let data = data.to_str().unwrap();
    let words = [
        "user",
        "add",
        "a@example.com",
        "--password-stdin",
        "--data",
        data,
    ];
    assert!(run(&words, "a long secret\n").status.success());
    let refused = run(&["--dev", "--listen", "127.0.0.1:0", "--data", data], "");
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("leave --dev out"));
}

#[test]
fn a_development_account_whose_keys_are_revoked_gets_a_new_one() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().to_str().unwrap();
    let first = Server::on(dir.path());
    let keys = first.call("GET", "/api/v1/apikeys", b"").json();
    let id = keys["content"][0]["id"].as_str().unwrap().to_owned();
    let gone = first.call("DELETE", &format!("/api/v1/apikeys/{id}"), b"");
    assert_eq!(gone.status, 204);
    assert!(first.terminate());

    // The passwords are still what everybody knows.
    let refused = run(&["--listen", "127.0.0.1:0", "--data", data], "");
    assert_eq!(refused.status.code(), Some(1));

    let mut again = command(&["--dev", "--listen", "127.0.0.1:0", "--data", data])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(again.stdout.take().unwrap());
    let mut lines = [String::new(), String::new()];
    for line in &mut lines {
        out.read_line(line).unwrap();
    }
    assert!(
        lines[0].starts_with("cairn-server listening on "),
        "{}",
        lines[0]
    );
    let made = lines[1].trim().split_once("owner@example.com: ").unwrap();
    assert!(made.1.starts_with("ck_"), "{}", lines[1]);
    again.kill().unwrap();
    let log = text(&again.wait_with_output().unwrap().stderr);
    assert!(!log.contains("ck_"), "{log}");
}

#[test]
fn a_server_whose_address_is_not_configured_says_what_follows() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().to_str().unwrap();
    let (server, log) = Server::start_with_log(&["--data", data]);
    assert!(server.terminate());
    assert!(log().contains("public_url"));

    let config = dir.path().join("server.toml");
    std::fs::write(&config, "public_url = 'https://files.example.com'\n").unwrap();
    let config = config.to_str().unwrap();
    let (server, log) = Server::start_with_log(&["--data", data, "--config", config]);
    assert!(server.terminate());
    assert!(!log().contains("public_url"));
}

#[test]
fn a_development_server_listens_to_this_machine_alone_unless_opened() {
    let refused = run(&["--dev", "--ephemeral", "--listen", "0.0.0.0:0"], "");
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("--dev-open"));
}

#[test]
fn a_short_password_is_refused_and_so_is_one_that_is_easy_to_guess() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().to_str().unwrap();
    for (password, reason) in [
        ("seven c\n", "at least 8 characters"),
        ("12345678\n", "easy to guess"),
        ("password1\n", "easy to guess"),
        ("a@example.com\n", "easy to guess"),
    ] {
        let refused = run(
            &[
                "user",
                "add",
                "a@example.com",
                "--password-stdin",
                "--data",
                data,
            ],
            password,
        );
        assert_eq!(refused.status.code(), Some(1), "{password}");
        let message = text(&refused.stderr);
        assert!(message.contains(reason), "{message}");
    }
}

#[test]
fn the_document_is_the_one_that_is_served() {
    let printed = run(&["openapi"], "");
    let printed: Value = serde_json::from_slice(&printed.stdout).unwrap();
    assert_eq!(&printed, openapi::document());
    let server = Server::start(&["--ephemeral"]);
    assert_eq!(
        server.call("GET", "/api/v1/openapi.json", b"").json(),
        printed
    );
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure_but_for_what_can_not_be_shown_again() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().to_str().unwrap();
    let of_data = ["--data", data];
    let add = ["user", "add", "a@example.com", "--password-stdin"];
    let added = run(&[&add[..], &of_data].concat(), "a long secret\n");
    assert!(added.status.success());
    let into_a_closed_pipe = |args: &[&str]| {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ended = command(args).stdout(writer).output().unwrap();
        (ended.status.code(), text(&ended.stderr))
    };
    for args in [vec!["openapi"], [&["user", "list"][..], &of_data].concat()] {
        assert_eq!(into_a_closed_pipe(&args), (Some(0), String::new()));
    }
    for more in [&[][..], &["--json"]] {
        let args = [&["apikey", "a@example.com"][..], &of_data, more].concat();
        let (code, why) = into_a_closed_pipe(&args);
        assert_eq!(code, Some(1));
        assert!(why.contains("can't write to stdout"), "{why}");
    }
}

#[test]
fn wrong_usage_has_an_exit_code_of_its_own() {
    assert_eq!(run(&["--listen", "nowhere"], "").status.code(), Some(2));
    assert_eq!(
        run(&["--ephemeral", "--data", "x"], "").status.code(),
        Some(2)
    );
    assert_eq!(run(&["fly"], "").status.code(), Some(2));
}

#[test]
fn a_bad_configuration_is_reported_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("server.toml");
    std::fs::write(&config, "[limits]\nstorag = 5\n").unwrap();
    let refused = run(&["--ephemeral", "--config", config.to_str().unwrap()], "");
    assert_eq!(refused.status.code(), Some(1));
    let message = text(&refused.stderr);
    assert!(
        message.contains("line 2") && message.contains("storag"),
        "{message}"
    );
    std::fs::write(
        &config,
        "public_url = 'https://files.example.com/'\n[limits]\nstorage = 5\n",
    )
    .unwrap();
    let server = Server::start(&["--ephemeral", "--dev", "--config", config.to_str().unwrap()]);
    let quota = server
        .call("GET", "/api/v1/userusage/quota-limit", b"")
        .json();
    assert_eq!(quota["storage_limit"], 5);
    let upload =
        br#"{"node_id":"00000000-0000-4000-8000-000000000001","name":"f","size":0,"chunks":[],
        "revision_id":"00000000-0000-4000-8000-000000000002"}"#;
    let begun = server.call("POST", "/api/v1/uploads", upload).json();
    assert_eq!(begun["chunk_url"], "https://files.example.com/api/v1");
}

#[test]
fn a_data_directory_has_one_server_and_a_port_has_one_listener() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().to_str().unwrap();
    let server = Server::start(&["--data", data]);
    let second = run(&["--listen", "127.0.0.1:0", "--data", data], "");
    assert_eq!(second.status.code(), Some(1));
    assert!(
        text(&second.stderr).contains("another cairn-server"),
        "{}",
        text(&second.stderr)
    );
    assert_eq!(text(&second.stdout), "", "it never listened");
    let third = run(&["--listen", &server.address, "--ephemeral"], "");
    assert_eq!(third.status.code(), Some(1));
    assert!(text(&third.stderr).contains(&server.address));
    drop(server);
    assert!(
        Server::start(&["--data", data]).terminate(),
        "the lock went with the process"
    );
}

#[test]
fn the_development_accounts_are_there_only_with_dev() {
    for (args, status) in [
        (["--ephemeral", "--dev"].as_slice(), 200),
        (&["--ephemeral"], 401),
    ] {
        let server = Server::start(args);
        assert_eq!(server.call("GET", "/api/v1/nodes/", b"").status, status);
    }
}

/// Starts a production server whose log goes to a file, and returns the log.
fn log_of(config: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let (log, file) = (dir.path().join("log"), dir.path().join("config.toml"));
    std::fs::write(&file, config).unwrap();
    let mut child = command(&["--listen", "127.0.0.1:0", "--ephemeral"])
        .arg("--config")
        .arg(&file)
        .env("CAIRN_LOG", "debug")
        .stdout(Stdio::piped())
        .stderr(std::fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::read_to_string(log).unwrap()
}

#[test]
fn the_log_in_a_file_has_no_colours_and_is_json_where_asked() {
    let plain = log_of("");
    assert!(plain.contains("public_url is not configured"), "{plain}");
    assert!(!plain.contains('\u{1b}'), "{plain}");
    let known = log_of("public_url = 'https://files.example.com'\n");
    assert!(!known.contains("public_url is not configured"), "{known}");
    let json = log_of("log_format = 'json'\n");
    assert!(json.contains("public_url is not configured"), "{json}");
    for line in json.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(
            line["level"].is_string() && line["timestamp"].is_string(),
            "{line}"
        );
    }
}

#[test]
fn reports_are_listed_and_answered_beside_a_running_server() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().to_str().unwrap();
    let server = Server::start(&["--dev", "--data", data]);
    let of_data = |words: &[&str]| {
        let ran = run(&[&["--data", data, "--json"], words].concat(), "");
        assert!(ran.status.success(), "{words:?}: {}", text(&ran.stderr));
        serde_json::from_slice::<Value>(&ran.stdout).unwrap()
    };
    let member = of_data(&["user", "show", "member@example.com"])["id"].clone();
    let new = format!(r#"{{"user_id": {member}, "reason": "spam", "details": "a\nb"}}"#);
    let made = server.call("POST", "/api/v1/social/reports", new.as_bytes());
    assert_eq!(made.status, 201);
    let reports = of_data(&["reports", "list"]);
    let id = reports[0]["id"].as_str().unwrap();
    let listed = run(&["reports", "list", "--data", data], "");
    let listed = text(&listed.stdout);
    assert!(
        listed
            .lines()
            .nth(1)
            .unwrap()
            .ends_with("spam    received  a b"),
        "{listed}"
    );
    let answered = run(
        &[
            "reports",
            "answer",
            id,
            "--status",
            "dismissed",
            "--text",
            "no",
            "--data",
            data,
        ],
        "",
    );
    assert_eq!(
        text(&answered.stdout),
        "the report about member@example.com is answered\n"
    );
    let none = run(&["reports", "list", "--data", data], "");
    assert_eq!(text(&none.stdout), "no reports\n");
    let all = of_data(&["reports", "list", "--all"]);
    assert_eq!(
        (&all[0]["status"], &all[0]["answer"]),
        (&"dismissed".into(), &"no".into())
    );
    let long = "x".repeat(1001);
    let refused = run(
        &[
            "reports",
            "answer",
            id,
            "--status",
            "dismissed",
            "--text",
            &long,
            "--data",
            data,
        ],
        "",
    );
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        text(&refused.stderr).contains("`answer`"),
        "{}",
        text(&refused.stderr)
    );
}
