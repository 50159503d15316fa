//! Behaviour that only shows on a real connection: keep-alive, cuts, large bodies, streams, the
//! end.

use super::server::{Server, request};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ck_dev_owner\r\n\r\n")
}

/// Reads one response off a connection that stays open.
fn read_response(reader: &mut impl std::io::BufRead) -> (u16, Vec<u8>) {
    let mut status = 0;
    let mut length = 0;
    loop {
        let mut line = String::new();
        assert!(reader.read_line(&mut line).unwrap() > 0, "closed");
        if line.starts_with("HTTP/1.1 ") {
            status = line[9..12].parse().unwrap();
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length: ") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (status, body)
}

#[test]
fn one_connection_serves_many_requests() {
    let server = Server::start(&["--ephemeral", "--dev"]);
    let mut stream = server.connect();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    for path in ["/api/v1/nodes/", "/nope", "/v2/nodes"] {
        stream.write_all(get(path).as_bytes()).unwrap();
        let (status, body) = read_response(&mut reader);
        assert_eq!(status, if path == "/nope" { 404 } else { 200 });
        assert!(body.starts_with(b"{"));
    }
}

#[test]
fn a_cut_breaks_the_connection_in_the_body() {
    let server = Server::start(&["--ephemeral", "--dev"]);
    let rule = br#"{"path_pattern": "/api/v1/nodes", "cut_after_bytes": 5, "count": 1}"#;
    assert_eq!(server.call("POST", "/_dev/faults", rule).status, 201);
    let mut stream = server.connect();
    stream.write_all(get("/api/v1/nodes").as_bytes()).unwrap();
    let mut all = Vec::new();
    // The connection may end or be reset; either way the body stays short.
    drop(stream.read_to_end(&mut all));
    let text = String::from_utf8_lossy(&all);
    if let Some((head, body)) = text.split_once("\r\n\r\n") {
        assert!(head.to_lowercase().contains("content-length: "), "{head}");
        assert!(body.len() <= 5, "{body}");
    }
    assert!(server.try_call("GET", "/api/v1/nodes", b"").is_ok());
    // A change whose response is cut has happened.
    let rule =
        br#"{"path_pattern": "/api/v1/nodes", "method": "POST", "cut_after_bytes": 0, "count": 1}"#;
    server.call("POST", "/_dev/faults", rule);
    assert!(
        server
            .try_call("POST", "/api/v1/nodes", br#"{"kind":"folder","name":"a"}"#)
            .is_err()
    );
    assert_eq!(
        server.call("GET", "/api/v1/nodes", b"").json()["content"][0]["name"],
        "a"
    );
}

#[test]
fn a_body_that_is_announced_too_large_is_refused_before_it_is_sent() {
    let server = Server::start(&["--ephemeral", "--dev"]);
    let mut stream = server.connect();
    let head = "POST /api/v1/nodes HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ck_dev_owner\r\n\
                Content-Length: 99999999\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    assert_eq!(read_response(&mut reader).0, 413);
}

#[test]
fn a_request_that_breaks_off_changes_nothing() {
    let server = Server::start(&["--ephemeral", "--dev"]);
    let mut stream = server.connect();
    let body = br#"{"kind":"folder","name":"half"}"#;
    let head = format!(
        "POST /api/v1/nodes HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ck_dev_owner\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&body[..body.len() - 1]).unwrap();
    drop(stream);
    assert_eq!(
        server.call("GET", "/api/v1/nodes", b"").json()["totalElements"],
        0
    );
}

#[test]
fn a_stream_pushes_and_does_not_hold_up_the_end() {
    let server = Server::start(&["--ephemeral", "--dev"]);
    let mut stream = server.connect();
    stream
        .write_all(get("/api/v1/changes/stream").as_bytes())
        .unwrap();
    let mut lines = BufReader::new(stream).lines();
    let mut find = |start: &str| {
        lines
            .by_ref()
            .map(Result::unwrap)
            .find(|line| line.starts_with(start))
    };
    assert!(find("HTTP/1.1 200").is_some());
    // The head has come, so the listener is in place.
    server.call(
        "POST",
        "/api/v1/nodes",
        br#"{"kind":"folder","name":"pushed"}"#,
    );
    assert_eq!(find("event: ").as_deref(), Some("event: change"));
    assert!(find("data: ").unwrap().contains("pushed"));
    let address = server.address.clone();
    assert!(server.terminate(), "with the stream still open");
    assert!(request(&address, "GET", "/api/v1/health", b"").is_err());
}

#[test]
fn a_request_names_one_host() {
    let server = Server::start(&["--ephemeral", "--dev"]);
    for (hosts, status) in [
        ("Host: localhost\r\n", 200),
        ("", 400),
        ("Host: localhost\r\nHost: example.com\r\n", 400),
    ] {
        let mut stream = server.connect();
        let head = format!("GET /api/v1/health HTTP/1.1\r\n{hosts}\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let (answered, body) = read_response(&mut BufReader::new(stream));
        assert_eq!(
            answered,
            status,
            "{hosts:?}: {}",
            String::from_utf8_lossy(&body)
        );
    }
}
