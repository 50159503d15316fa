//! The view of those who run the server: the log, and metrics at an address of their own.

use super::server::{Server, command, request, run};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;

/// Sends a request with an id; returns the whole response.
fn with_id(server: &Server, path: &str, id: &str) -> String {
    let mut stream = server.connect();
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ck_dev_owner\r\n\
         X-Request-Id: {id}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    std::io::read_to_string(stream).unwrap()
}

#[test]
fn each_request_is_a_line_of_the_access_log_and_what_fails_has_its_id() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("server.toml");
    std::fs::write(&config, "log_format = 'json'\naccess_log = true\n").unwrap();
    let config = config.to_str().unwrap();
    let (server, log) = Server::start_with_log(&["--dev", "--ephemeral", "--config", config]);
    let rule = br#"{"path_pattern": "/api/v1/trash", "panic": true}"#;
    assert_eq!(server.call("POST", "/_dev/faults", rule).status, 201);
    assert!(with_id(&server, "/api/v1/trash", "the-failed").starts_with("HTTP/1.1 500"));
    let good = with_id(&server, "/api/v1/nodes/?page_size=7", "the-good");
    assert!(good.contains("x-request-id: the-good"), "{good}");
    let bad = with_id(&server, "/api/v1/nodes/", "two words");
    assert!(
        bad.starts_with("HTTP/1.1 200") && !bad.contains("two words"),
        "{bad}"
    );
    assert!(server.terminate());
    let log = log();
    let line = |id: &str, message: &str| -> Value {
        let found = log
            .lines()
            .find(|line| line.contains(id) && line.contains(message));
        serde_json::from_str(found.unwrap_or_else(|| panic!("no {id} {message} in {log}"))).unwrap()
    };
    assert_eq!(
        line("the-failed", "request failed")["span"]["id"],
        "the-failed"
    );
    assert_eq!(line("the-failed", "answered")["status"], 500);
    let access = line("the-good", "answered");
    let body = good.split_once("\r\n\r\n").unwrap().1;
    assert_eq!(access["target"], "access");
    assert_eq!(access["route"], "/api/v1/nodes");
    assert_eq!(access["method"], "GET");
    assert_eq!(access["status"], 200);
    assert_eq!(access["bytes"], body.len());
    assert_eq!(access["address"], "127.0.0.xxx");
    assert!(
        access["ms"].is_u64() && access["account"].is_string(),
        "{access}"
    );
    assert!(!log.contains("page_size"), "no line has a query");
}

#[test]
fn requests_are_not_logged_unless_asked_for() {
    let (server, log) = Server::start_with_log(&["--dev", "--ephemeral"]);
    assert_eq!(server.call("GET", "/api/v1/nodes", b"").status, 200);
    assert!(server.terminate());
    assert!(!log().contains("answered"));
}

#[test]
fn metrics_have_an_address_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("server.toml");
    std::fs::write(&config, "[metrics]\nlisten = '127.0.0.1:0'\n").unwrap();
    let mut child = command(&["--listen", "127.0.0.1:0", "--ephemeral", "--config"])
        .arg(&config)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut lines = [String::new(), String::new()];
    for line in &mut lines {
        out.read_line(line).unwrap();
    }
    let named = |line: &str, before: &str| line.trim().strip_prefix(before).unwrap().to_owned();
    let main = named(&lines[0], "cairn-server listening on http://");
    let metrics = named(&lines[1], "metrics at http://");
    let metrics = metrics.strip_suffix("/metrics").unwrap();
    let response = request(metrics, "GET", "/metrics", b"").unwrap();
    let text = String::from_utf8(response.body).unwrap();
    assert_eq!(response.status, 200);
    assert!(text.contains("cairn_stream_subscribers 0"), "{text}");
    let other = request(metrics, "GET", "/api/v1/health", b"").unwrap();
    assert_eq!(other.status, 404, "the API is not served there");
    assert_eq!(request(&main, "GET", "/metrics", b"").unwrap().status, 404);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn metrics_for_every_machine_without_a_token_stop_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("server.toml");
    std::fs::write(&config, "[metrics]\nlisten = '0.0.0.0:0'\n").unwrap();
    let refused = run(&["--ephemeral", "--config", config.to_str().unwrap()], "");
    assert_eq!(refused.status.code(), Some(1));
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(message.contains("set `token`"), "{message}");
}

/// Reads one request from a connection; returns its head and its body.
fn read_request(stream: &mut TcpStream) -> (String, Vec<u8>) {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (head, body)
}

fn has(body: &[u8], part: &[u8]) -> bool {
    body.windows(part.len()).any(|window| window == part)
}

#[test]
fn each_request_is_a_span_for_the_collector() {
    let collector = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = collector.local_addr().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("server.toml");
    let text = format!("[telemetry]\nendpoint = 'http://{address}'\n");
    std::fs::write(&config, text).unwrap();
    let config = config.to_str().unwrap();
    let server = Server::start(&["--dev", "--ephemeral", "--config", config]);
    let mut stream = server.connect();
    let head = "GET /api/v1/nodes/7d444840-9dc0-11d1-b245-5ffdce74fad2?secret=query HTTP/1.1\r\nHost: localhost\r\n\
         Connection: close\r\nAuthorization: Bearer ck_dev_owner\r\nX-Request-Id: the-traced\r\n\
         Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let response = std::io::read_to_string(stream).unwrap();
    assert!(response.starts_with("HTTP/1.1 404"), "{response}");
    // What is not sent yet is sent at the end.
    let ended = std::thread::spawn(move || server.terminate());
    let (mut stream, _) = collector.accept().unwrap();
    let (head, body) = read_request(&mut stream);
    stream
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        .unwrap();
    drop(stream);
    assert!(ended.join().unwrap());
    assert!(head.starts_with("POST /v1/traces "), "{head}");
    assert!(has(&body, b"GET /api/v1/nodes/{id}"), "{body:?}");
    for part in ["cairn-server", "the-traced", "http.response.status_code"] {
        assert!(has(&body, part.as_bytes()), "{part} is not in {body:?}");
    }
    let trace = hex::decode("4bf92f3577b34da6a3ce929d0e0e4736").unwrap();
    assert!(has(&body, &trace), "the caller's trace goes on");
    for secret in ["7d444840", "query", "owner"] {
        assert!(!has(&body, secret.as_bytes()), "{secret} is in {body:?}");
    }
}

#[test]
fn a_collector_without_an_address_stops_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("server.toml");
    std::fs::write(&config, "[telemetry]\nendpoint = 'localhost:4318'\n").unwrap();
    let refused = run(&["--ephemeral", "--config", config.to_str().unwrap()], "");
    assert_eq!(refused.status.code(), Some(1));
    let message = String::from_utf8_lossy(&refused.stderr);
    assert!(message.contains("no address such as http://"), "{message}");
}

#[test]
fn a_collector_that_never_answers_keeps_no_request_and_no_end_waiting() {
    // It takes connections, and reads nothing of them.
    let collector = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = collector.local_addr().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("server.toml");
    std::fs::write(
        &config,
        format!("[telemetry]\nendpoint = 'http://{address}'\n"),
    )
    .unwrap();
    let config = config.to_str().unwrap();
    let (server, log) = Server::start_with_log(&["--dev", "--ephemeral", "--config", config]);
    for _ in 0..3 {
        assert_eq!(server.call("GET", "/api/v1/nodes", b"").status, 200);
    }
    assert!(server.terminate());
    let log = log();
    assert!(log.contains("BatchSpanProcessor"), "{log}");
}
