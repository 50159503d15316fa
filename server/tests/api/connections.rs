//! Clients who connect and say little, say it slowly, or come in great numbers.

mod unread;

use cairn_server::{ConnectionLimits, Options, Server, build_dev, serve};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

struct Running {
    address: String,
    stop: oneshot::Sender<()>,
    server: JoinHandle<cairn_server::Result<()>>,
}

impl Running {
    async fn start(connections: ConnectionLimits) -> Self {
        let app: Server = build_dev(Options {
            connections,
            ..Options::ephemeral()
        })
        .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (stop, stopped) = oneshot::channel::<()>();
        let server =
            tokio::spawn(
                async move { serve(&app, listener, async move { drop(stopped.await) }).await },
            );
        Self {
            address,
            stop,
            server,
        }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.address).await.unwrap()
    }

    async fn end(self) {
        self.stop.send(()).unwrap();
        self.server.await.unwrap().unwrap();
    }
}

fn short_limits() -> ConnectionLimits {
    ConnectionLimits {
        head: Duration::from_millis(50),
        body: Duration::from_millis(50),
        ..ConnectionLimits::default()
    }
}

/// Everything that comes until the server closes the connection.
async fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    // A reset is an end, too.
    drop(stream.read_to_end(&mut bytes).await);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Asks for the server's health on a connection that stays open.
async fn ask(stream: &mut TcpStream) {
    stream.write_all(HEALTH).await.unwrap();
    response(stream).await;
}

async fn response(stream: &mut TcpStream) {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"}") {
        assert!(stream.read_buf(&mut bytes).await.unwrap() > 0, "closed");
    }
    assert!(bytes.starts_with(b"HTTP/1.1 200"));
}

const HEALTH: &[u8] = b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n";

#[tokio::test]
async fn a_connection_that_says_nothing_or_half_a_head_is_closed() {
    let running = Running::start(short_limits()).await;
    for sent in [
        "",
        "G",
        "GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n",
    ] {
        let mut stream = running.connect().await;
        stream.write_all(sent.as_bytes()).await.unwrap();
        let response = rest(&mut stream).await;
        assert!(!response.contains("200"), "{sent}: {response}");
    }
    running.end().await;
}

#[tokio::test]
async fn a_body_that_stops_on_its_way_may_be_sent_again() {
    let running = Running::start(short_limits()).await;
    let mut stream = running.connect().await;
    let head = "POST /api/v1/nodes HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ck_dev_owner\r\n\
                Content-Length: 100\r\n\r\n{\"kind\":";
    stream.write_all(head.as_bytes()).await.unwrap();
    let response = rest(&mut stream).await;
    assert!(response.starts_with("HTTP/1.1 408"), "{response}");
    assert!(response.contains("the body broke off"), "{response}");
    running.end().await;
}

#[tokio::test]
async fn a_head_that_does_not_end_is_refused() {
    let running = Running::start(ConnectionLimits::default()).await;
    let mut stream = running.connect().await;
    let line = format!("X-Long: {}\r\n", "x".repeat(1_000));
    let head = format!("GET /api/v1/health HTTP/1.1\r\n{}", line.repeat(80));
    // The server may close before it has read everything.
    drop(stream.write_all(head.as_bytes()).await);
    let response = rest(&mut stream).await;
    assert!(
        response.is_empty() || response.starts_with("HTTP/1.1 431"),
        "{response}"
    );
    running.end().await;
}

#[tokio::test]
async fn a_head_that_can_not_be_read_is_refused_with_the_body_of_all_errors() {
    let running = Running::start(ConnectionLimits::default()).await;
    let long = format!("GET /{} HTTP/1.1\r\n", "x".repeat(65_600));
    for (sent, status) in [
        ("nonsense\r\n\r\n", 400),
        (
            "POST /api/v1/nodes HTTP/1.1\r\nHost: localhost\r\nContent-Length: abc\r\n\r\n",
            400,
        ),
        (long.as_str(), 0),
    ] {
        let mut stream = running.connect().await;
        // A whole response on the same connection before.
        ask(&mut stream).await;
        drop(stream.write_all(sent.as_bytes()).await);
        let response = rest(&mut stream).await;
        // A connection with unread bytes may be reset before the response is read.
        if status == 0 && response.is_empty() {
            continue;
        }
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        let body: cairn_wire::ErrorBody = serde_json::from_str(body).unwrap();
        assert!(
            head.starts_with(&format!("HTTP/1.1 {}", body.code)),
            "{response}"
        );
        assert!(status == 0 || body.code == status, "{response}");
        assert!(head.contains("x-request-id: "), "{response}");
    }
    running.end().await;
}

#[tokio::test]
async fn hundreds_of_open_connections_are_served_and_more_than_the_most_wait() {
    let most = 300;
    let running = Running::start(ConnectionLimits {
        most,
        ..ConnectionLimits::default()
    })
    .await;
    let mut open = Vec::new();
    for _ in 0..most {
        let mut stream = running.connect().await;
        ask(&mut stream).await;
        open.push(stream);
    }
    let mut late = running.connect().await;
    late.write_all(HEALTH).await.unwrap();
    // The server goes on meanwhile, and has every occasion to answer.
    for stream in &mut open {
        ask(stream).await;
    }
    let nothing = late.try_read(&mut [0; 1]).unwrap_err();
    assert_eq!(nothing.kind(), std::io::ErrorKind::WouldBlock);
    open.pop();
    response(&mut late).await;
    drop((open, late));
    running.end().await;
}
