//! Webhooks between processes: the sink, and what `kill -9` of the server leaves to do.

use super::server::{Server, command};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Stdio};

/// A running `webhook-sink`; dropping it kills it.
struct Sink {
    child: Child,
    lines: BufReader<ChildStdout>,
    url: String,
}

impl Sink {
    fn start(args: &[&str]) -> Self {
        let place: &[&str] = if args.contains(&"--listen") {
            &[]
        } else {
            &["--listen", "127.0.0.1:0"]
        };
        let mut child = command(&["webhook-sink"])
            .args(place)
            .args(args)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        let url = line
            .trim_end()
            .strip_prefix("webhook-sink listening on ")
            .unwrap_or_else(|| panic!("said {line:?}"))
            .to_owned();
        Self { child, lines, url }
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"))
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        // Both fail where it has ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn hook(server: &Server, url: &str) -> Value {
    let body = json!({"url": url, "events": ["file.deleted"]}).to_string();
    let response = server.call("POST", "/api/v1/webhooks", body.as_bytes());
    assert_eq!(response.status, 201, "{response:?}");
    response.json()
}

#[test]
fn the_server_delivers_by_itself_and_the_sink_checks_what_arrives() {
    let server = Server::start(&["--ephemeral", "--dev", "--allow-private-webhooks"]);
    let mut open = Sink::start(&[]);
    let made = hook(&server, &open.url);
    let first = open.next();
    assert_eq!(first["verified"], false);
    assert_eq!(first["payload"]["event"], "webhook.test");
    assert_eq!(first["payload"]["webhook_id"], made["id"]);

    let id = made["id"].as_str().unwrap();
    let mut checking = Sink::start(&["--secret", made["secret"].as_str().unwrap()]);
    let moved = json!({ "url": checking.url }).to_string();
    let path = format!("/api/v1/webhooks/{id}");
    assert_eq!(server.call("PUT", &path, moved.as_bytes()).status, 200);
    let tested = server.call("POST", &format!("{path}/test"), b"");
    assert_eq!(tested.status, 202);
    let line = checking.next();
    assert_eq!(line["verified"], true);
    assert_eq!(line["payload"]["delivery_id"], tested.json()["id"]);
}

#[test]
fn the_sink_refuses_what_is_not_signed_and_prints_a_repetition_once() {
    let mut sink = Sink::start(&["--secret", "whsec_1"]);
    let address = sink.url.trim_start_matches("http://").to_owned();
    let forged = super::server::request(&address, "POST", "/", b"{\"delivery_id\":\"1\"}").unwrap();
    assert_eq!(forged.status, 401);

    let mut open = Sink::start(&[]);
    let address = open.url.trim_start_matches("http://").to_owned();
    for id in ["1", "1", "2"] {
        let body = json!({ "delivery_id": id }).to_string();
        let response =
            super::server::request(&address, "POST", "/any/path", body.as_bytes()).unwrap();
        assert_eq!(response.status, 204);
    }
    assert_eq!(open.next()["payload"]["delivery_id"], "1");
    assert_eq!(open.next()["payload"]["delivery_id"], "2");
    assert!(sink.child.try_wait().unwrap().is_none());
}

#[test]
fn what_was_raised_before_a_kill_is_delivered_after_it() {
    let dir = tempfile::tempdir().unwrap();
    let args = [
        "--dev",
        "--allow-private-webhooks",
        "--data",
        dir.path().to_str().unwrap(),
    ];
    let server = Server::start(&args);
    // Nothing listens there yet: the port is kept by a sink that has ended.
    let gone = Sink::start(&[]);
    let address = gone.url.trim_start_matches("http://").to_owned();
    drop(gone);
    let made = hook(&server, &format!("http://{address}"));
    let folder = server.call(
        "POST",
        "/api/v1/nodes",
        json!({"kind": "folder", "name": "a"})
            .to_string()
            .as_bytes(),
    );
    let node = folder.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(
        server
            .call("DELETE", &format!("/api/v1/nodes/{node}"), b"")
            .status,
        200
    );
    server.kill();

    let mut sink = Sink::start(&[
        "--listen",
        &address,
        "--secret",
        made["secret"].as_str().unwrap(),
    ]);
    let server = Server::start(&args);
    let advanced = server.call("POST", "/_dev/clock/advance", b"{\"ms\": 43200000}");
    assert_eq!(advanced.status, 200);
    let mut events = [sink.next(), sink.next()].map(|line| {
        assert_eq!(line["verified"], true);
        line["payload"]["event"].as_str().unwrap().to_owned()
    });
    events.sort();
    assert_eq!(events, ["file.deleted", "webhook.test"]);
}
