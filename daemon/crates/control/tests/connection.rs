//! Both ends of the protocol against each other.

use async_trait::async_trait;
use cairn_control::envelope::{Hello, Welcome};
use cairn_control::{
    Client, ControlError, Event, EventSource, Failure, FailureCode, Handler, Limits, Reply,
    Request, SILENCE_LIMIT, Status, serve, serve_connection, typed,
};
use cairn_model::SyncState;
use futures_util::StreamExt as _;
use std::sync::Arc;
use tokio::io::{
    AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, duplex,
};
use tokio::sync::{Notify, broadcast};

struct Fake {
    release: Notify,
    dropped: Arc<Notify>,
    events: broadcast::Sender<Event>,
}

impl Fake {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            release: Notify::new(),
            dropped: Arc::default(),
            events: broadcast::channel(16).0,
        })
    }
}

struct Tell(Arc<Notify>);
impl Drop for Tell {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[async_trait]
impl Handler for Fake {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the fake carries out only a few requests"
    )]
    async fn handle(&self, request: Request) -> Result<Reply, Failure> {
        match request {
            Request::Status => Ok(Reply::Status(Status {
                pending: 7,
                ..Default::default()
            })),
            Request::WaitUntilSynced { .. } => {
                let _tell = Tell(self.dropped.clone());
                self.release.notified().await;
                Ok(Reply::Status(Status::default()))
            }
            Request::Limits => Ok(Reply::Limits(Limits {
                up: Some(5),
                down: None,
            })),
            Request::Resume { .. } => Ok(Reply::DONE),
            Request::Doctor => panic!("on purpose"),
            _ => Err(Failure::new(FailureCode::Decision, "someone has to decide")),
        }
    }

    fn events(&self) -> EventSource {
        let first = futures_util::stream::iter([Event::Status {
            status: Status::default(),
        }]);
        let rest = futures_util::stream::unfold(self.events.subscribe(), |mut events| async {
            Some((events.recv().await.ok()?, events))
        });
        first.chain(rest).boxed()
    }

    fn version(&self) -> String {
        "9.9.9".into()
    }
}

async fn connect(handler: &Arc<Fake>) -> Client {
    let (ours, theirs) = duplex(4096);
    tokio::spawn(serve_connection(theirs, handler.clone()));
    Client::over(ours, "test")
        .await
        .expect("the fake daemon greets")
}

#[tokio::test]
async fn responses_find_their_requests_in_any_order() {
    let fake = Fake::new();
    let client = connect(&fake).await;
    assert_eq!(
        (client.version(), client.pid()),
        ("9.9.9", std::process::id())
    );
    let settled = client.send(typed::WaitUntilSynced { timeout_ms: None });
    let others = async {
        let status: Status = client.send(typed::Status {}).await.unwrap();
        assert_eq!(status.pending, 7);
        let limits: Limits = client.send(typed::Limits {}).await.unwrap();
        assert_eq!(limits.up, Some(5));
        client.send(typed::Resume { folder: None }).await.unwrap();
        fake.release.notify_one();
    };
    let (settled, ()) = tokio::join!(settled, others);
    assert_eq!(settled.unwrap().state, SyncState::Idle);
}

#[tokio::test]
async fn failures_and_panics_reach_the_one_who_asked() {
    let fake = Fake::new();
    let client = connect(&fake).await;
    let error = client.send(typed::Shutdown {}).await.unwrap_err();
    assert!(matches!(error, ControlError::Refused(f) if f.code == FailureCode::Decision));
    let error = client.send(typed::Doctor {}).await.unwrap_err();
    assert!(matches!(error, ControlError::Refused(f) if f.code == FailureCode::Failed));
    assert!(client.send(typed::Status {}).await.is_ok());
}

#[tokio::test]
async fn a_subscriber_gets_the_status_and_then_what_happens() {
    let fake = Fake::new();
    let client = connect(&fake).await;
    let mut events = client.subscribe().await.unwrap();
    assert_eq!(
        events.next().await,
        Some(Event::Status {
            status: Status::default()
        })
    );
    let status = Status {
        state: SyncState::Paused,
        ..Default::default()
    };
    fake.events
        .send(Event::Status {
            status: status.clone(),
        })
        .unwrap();
    assert_eq!(events.next().await, Some(Event::Status { status }));
}

#[tokio::test]
async fn a_client_that_leaves_takes_its_waiting_request_along() {
    let fake = Fake::new();
    let client = Arc::new(connect(&fake).await);
    let waiting = client.clone();
    let asking = tokio::spawn(async move {
        waiting
            .send(typed::WaitUntilSynced { timeout_ms: None })
            .await
    });
    // Its response shows that the request before it has arrived.
    client.send(typed::Status {}).await.unwrap();
    asking.abort();
    assert!(asking.await.unwrap_err().is_cancelled());
    drop(client);
    fake.dropped.notified().await;
}

#[tokio::test]
async fn the_end_of_the_daemon_ends_everything() {
    let (ours, theirs) = duplex(4096);
    let server = tokio::spawn(serve_connection(theirs, Fake::new()));
    let client = Client::over(ours, "test").await.unwrap();
    let mut events = client.subscribe().await.unwrap();
    events.next().await.unwrap();
    server.abort();
    assert_eq!(events.next().await, None);
    assert!(matches!(
        client.send(typed::Status {}).await,
        Err(ControlError::Closed)
    ));
    client.wait_closed().await;
}

async fn greet(mut ours: DuplexStream, line: &[u8]) -> String {
    ours.write_all(line).await.expect("the peer is there");
    let mut text = String::new();
    BufReader::new(&mut ours)
        .read_line(&mut text)
        .await
        .expect("the peer is there");
    let mut rest = Vec::new();
    ours.read_to_end(&mut rest)
        .await
        .expect("the peer is there");
    assert!(rest.is_empty());
    text
}

#[tokio::test]
async fn another_protocol_is_reported_the_version_and_no_more() {
    let (ours, theirs) = duplex(4096);
    tokio::spawn(serve_connection(theirs, Fake::new()));
    let hello = serde_json::to_string(&Hello {
        protocol: 99,
        client: "old".into(),
    })
    .unwrap()
        + "\n";
    let welcome: Welcome = serde_json::from_str(&greet(ours, hello.as_bytes()).await).unwrap();
    assert_eq!(welcome.version, "9.9.9");
}

#[tokio::test]
async fn an_older_daemon_is_named() {
    let (ours, mut theirs) = duplex(4096);
    let serving = tokio::spawn(async move {
        theirs
            .write_all(b"{\"protocol\":0,\"version\":\"0.0.1\",\"pid\":3}\n")
            .await
            .unwrap();
        theirs
    });
    let error = Client::over(ours, "test").await.err().unwrap();
    assert!(
        matches!(error, ControlError::Version { theirs: 0, .. }),
        "{error}"
    );
    serving.await.unwrap();
}

#[tokio::test]
async fn garbage_ends_the_connection_alone() {
    let (mut ours, theirs) = duplex(4096);
    let server = tokio::spawn(serve_connection(theirs, Fake::new()));
    ours.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    assert!(server.await.unwrap().is_err());
}

#[tokio::test]
async fn it_works_over_the_real_socket() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("private/daemon.sock");
    assert!(matches!(
        Client::connect(&socket, "test").await,
        Err(ControlError::NotRunning)
    ));
    let listener = cairn_platform::socket::Listener::bind(&socket).unwrap();
    let serving = tokio::spawn(async move { serve(&listener, Fake::new()).await });
    let (first, second) = tokio::join!(
        Client::connect(&socket, "one"),
        Client::connect(&socket, "two")
    );
    let (first, second) = (first.unwrap(), second.unwrap());
    let status: Status = first.send(typed::Status {}).await.unwrap();
    assert_eq!(status.pending, 7);
    second.send(typed::Resume { folder: None }).await.unwrap();
    serving.abort();
    first.wait_closed().await;
    second.wait_closed().await;
    assert!(matches!(
        Client::connect(&socket, "test").await,
        Err(ControlError::NotRunning)
    ));
}

/// Greets a client, and reads what it sends without an answer.
async fn fall_silent(stream: DuplexStream, welcomes: bool) {
    let (reader, mut writer) = tokio::io::split(stream);
    if welcomes {
        let welcome = Welcome {
            protocol: cairn_control::PROTOCOL,
            version: "1".into(),
            pid: 7,
        };
        let line = format!("{}\n", serde_json::to_string(&welcome).expect("it is JSON"));
        let written = writer.write_all(line.as_bytes()).await;
        written.expect("the client reads");
    }
    let mut reader = BufReader::new(reader);
    let mut line = String::new();
    while reader.read_line(&mut line).await.is_ok_and(|read| read > 0) {
        line.clear();
    }
}

#[tokio::test(start_paused = true)]
async fn a_daemon_that_falls_silent_is_given_up_and_one_that_works_is_not() {
    let (ours, theirs) = duplex(4096);
    tokio::spawn(fall_silent(theirs, true));
    let client = Client::over(ours, "test").await.unwrap();
    let begun = tokio::time::Instant::now();
    let error = client.send(typed::Status {}).await.unwrap_err();
    assert!(
        matches!(error, ControlError::Silent { pid: Some(7) }),
        "{error}"
    );
    let waited = begun.elapsed();
    assert!(
        waited >= SILENCE_LIMIT && waited < 2 * SILENCE_LIMIT,
        "{waited:?}"
    );

    let fake = Fake::new();
    let client = connect(&fake).await;
    let settled = client.send(typed::WaitUntilSynced { timeout_ms: None });
    let release = async {
        tokio::time::advance(100 * SILENCE_LIMIT).await;
        tokio::time::advance(SILENCE_LIMIT).await;
        fake.release.notify_one();
    };
    let (settled, ()) = tokio::join!(settled, release);
    assert!(settled.is_ok(), "{settled:?}");
}

#[cfg(unix)]
#[tokio::test(start_paused = true)]
async fn a_daemon_that_greets_nobody_is_noted_and_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("socket");
    // It listens, and accepts nothing.
    let _listener = cairn_platform::socket::Listener::bind(&socket).unwrap();
    let noted = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let notice = {
        let noted = noted.clone();
        move || {
            noted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    };
    let connected = Client::connect_watched(&socket, "test", Arc::new(notice)).await;
    assert!(matches!(connected, Err(ControlError::Silent { pid: None })));
    assert_eq!(noted.load(std::sync::atomic::Ordering::Relaxed), 1);
}
