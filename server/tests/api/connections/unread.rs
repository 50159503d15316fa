//! Bodies that a response didn't need, bodies that trickle in, and responses that nobody takes.

use super::{HEALTH, Running, ask, rest, short_limits};
use cairn_server::ConnectionLimits;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

/// Reads a response, without the body of the next one; returns its head.
async fn head_of_response(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let head = loop {
        assert!(stream.read_buf(&mut bytes).await.unwrap() > 0, "closed");
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, _)) = text.split_once("\r\n\r\n") {
            break head.to_lowercase();
        }
    };
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.map_or(0, |text| text.parse().unwrap());
    while bytes.len() < head.len() + 4 + length {
        assert!(stream.read_buf(&mut bytes).await.unwrap() > 0, "closed");
    }
    head
}

fn post(path: &str, more: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n")
}

#[tokio::test]
async fn a_connection_goes_on_after_a_response_that_did_not_need_the_body() {
    let running = Running::start(ConnectionLimits::default()).await;
    let owner = "Authorization: Bearer ck_dev_owner\r\n";
    let body = "x".repeat(60_000);
    let length = format!("Content-Length: {}\r\n", body.len());
    for (path, more, status) in [
        ("/api/v1/nothing", "", 404),
        ("/api/v1/nodes", "", 401),
        ("/api/v1/health", "", 405),
        (
            "/api/v1/nodes",
            "Authorization: Bearer ck_dev_owner\r\nContent-Type: text/plain\r\n",
            415,
        ),
        ("/api/v1/useraccount/restore", owner, 409),
    ] {
        let mut stream = running.connect().await;
        let head = post(path, &format!("{more}{length}"));
        stream.write_all(head.as_bytes()).await.unwrap();
        let response = head_of_response(&mut stream).await;
        assert!(
            response.starts_with(&format!("http/1.1 {status}")),
            "{response}"
        );
        assert!(!response.contains("connection: close"), "{response}");
        // The body comes after the response.
        stream.write_all(body.as_bytes()).await.unwrap();
        ask(&mut stream).await;
    }
    running.end().await;
}

#[tokio::test]
async fn the_rest_of_a_large_body_is_not_waited_for_and_the_response_says_so() {
    let running = Running::start(ConnectionLimits::default()).await;
    for length in [
        "Content-Length: 70000\r\n",
        "Content-Length: 5000000\r\n",
        "Content-Length: 10\r\nExpect: 100-continue\r\n",
        "Transfer-Encoding: chunked\r\n",
    ] {
        let mut stream = running.connect().await;
        let head = post("/api/v1/nothing", length);
        stream.write_all(head.as_bytes()).await.unwrap();
        let response = head_of_response(&mut stream).await;
        assert!(response.starts_with("http/1.1 404"), "{response}");
        assert!(response.contains("connection: close"), "{response}");
        drop(stream.shutdown().await);
        rest(&mut stream).await;
    }
    running.end().await;
}

#[tokio::test]
async fn a_client_that_sends_everything_before_it_reads_gets_the_response() {
    let running = Running::start(ConnectionLimits::default()).await;
    // More than both systems keep for a connection.
    let body = vec![b'x'; 7_000_000];
    for (more, framed) in [
        (format!("Content-Length: {}\r\n", body.len()), body.clone()),
        (
            "Transfer-Encoding: chunked\r\n".to_owned(),
            [&b"6acfc0\r\n"[..], body.as_slice(), b"\r\n0\r\n\r\n"].concat(),
        ),
    ] {
        let mut stream = running.connect().await;
        let head = post("/api/v1/nodes", &more);
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&framed).await.unwrap();
        let response = head_of_response(&mut stream).await;
        assert!(response.starts_with("http/1.1 401"), "{response}");
        assert!(response.contains("connection: close"), "{response}");
        assert_eq!(rest(&mut stream).await, "", "the end of the connection");
    }
    running.end().await;
}

#[tokio::test]
async fn a_body_that_trickles_in_is_given_up() {
    let running = Running::start(ConnectionLimits {
        body: Duration::from_millis(400),
        ..ConnectionLimits::default()
    })
    .await;
    let mut stream = running.connect().await;
    let form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 16000\r\n";
    let head = post("/oauth/token", form);
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut beats = tokio::time::interval(Duration::from_millis(20));
    let mut response = Vec::new();
    for _ in 0..500 {
        tokio::select! {
            biased;
            read = stream.read_buf(&mut response) => {
                assert!(read.unwrap() > 0, "closed");
                break;
            }
            _ = beats.tick() => stream.write_all(b"x").await.unwrap(),
        }
    }
    let end = rest(&mut stream).await;
    let response = (String::from_utf8_lossy(&response) + end.as_str()).to_lowercase();
    assert!(response.starts_with("http/1.1 408"), "{response}");
    assert!(response.contains("the body broke off"), "{response}");
    assert!(response.contains("connection: close"), "{response}");
    running.end().await;
}

#[tokio::test]
async fn a_client_that_takes_nothing_of_a_response_loses_its_place() {
    let running = Running::start(ConnectionLimits {
        most: 1,
        ..short_limits()
    })
    .await;
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let address = running.address.parse().unwrap();
    let mut idle = socket.connect(address).await.unwrap();
    let page = "GET /swagger-ui/swagger-ui-bundle.js HTTP/1.1\r\nHost: localhost\r\n\r\n";
    idle.write_all(page.repeat(20).as_bytes()).await.unwrap();
    let mut other = running.connect().await;
    other.write_all(HEALTH).await.unwrap();
    let answered = tokio::time::timeout(Duration::from_secs(20), head_of_response(&mut other));
    assert!(answered.await.unwrap().starts_with("http/1.1 200"));
    drop((idle, other));
    running.end().await;
}
