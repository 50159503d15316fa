//! The tools of the sync daemon, with a daemon that the test plays.

use crate::world::{Setup, World};
use async_trait::async_trait;
use cairn_control::{
    Conflict, ConflictList, EventSource, Failure, FailureCode, Handler, Reply, Request, Status,
    serve,
};
use cairn_model::{ConflictKind, Keep};
use cairn_platform::socket::Listener;
use futures_util::StreamExt as _;
use serde_json::json;
use std::sync::{Arc, Mutex};

struct Played {
    requests: Mutex<Vec<Request>>,
}

#[async_trait]
impl Handler for Played {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the test plays only what the tools ask"
    )]
    async fn handle(&self, request: Request) -> Result<Reply, Failure> {
        self.requests.lock().unwrap().push(request.clone());
        match request {
            Request::Status => Ok(Reply::Status(Status {
                pending: 7,
                ..Status::default()
            })),
            Request::Conflicts => Ok(Reply::Conflicts(ConflictList {
                conflicts: vec![Conflict {
                    path: "/home/me/a".to_owned(),
                    copy: "/home/me/a (conflicted copy)".to_owned(),
                    folder: "/home/me".to_owned(),
                    kind: ConflictKind::Edit,
                    device: "other".to_owned(),
                    at: "2026-01-01T00:00:00Z".to_owned(),
                }],
            })),
            Request::Pause { .. } | Request::Resume { .. } | Request::Resolve { .. } => {
                Ok(Reply::DONE)
            }
            _ => Err(Failure {
                code: FailureCode::Failed,
                message: "not played".to_owned(),
            }),
        }
    }

    fn events(&self) -> EventSource {
        futures_util::stream::empty().boxed()
    }

    fn version(&self) -> String {
        "test".to_owned()
    }
}

#[tokio::test]
async fn the_daemon_is_asked_over_its_socket() {
    let world = World::start().await;
    let home = tempfile::tempdir().unwrap();
    let socket = home.path().join("run/daemon.sock");
    std::fs::create_dir(home.path().join("run")).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let private = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(home.path().join("run"), private).unwrap();
    }
    let listener = Listener::bind(&socket).unwrap();
    let played = Arc::new(Played {
        requests: Mutex::default(),
    });
    let handler = played.clone();
    let daemon = tokio::spawn(async move { serve(&listener, handler).await });
    let setup = || Setup {
        daemon: Some(socket.clone()),
        ..Setup::default()
    };
    let mut session = world.session(setup()).await;
    let list = session.request("tools/list", json!({})).await;
    let tools = list["result"]["tools"].as_array().unwrap();
    assert!(tools.len() > crate::catalogue::reference().len());
    assert_eq!(
        session.call_ok("sync_status", json!({})).await["pending"],
        7
    );
    let conflicts = session.call_ok("sync_conflicts", json!({})).await;
    assert_eq!(conflicts["conflicts"][0]["device"], "other");
    let resolve = json!({ "path": "/home/me/a", "keep": "theirs" });
    assert_eq!(
        session.call_ok("sync_resolve_conflict", resolve).await["success"],
        true
    );
    session.call_ok("sync_pause", json!({})).await;
    session
        .call_ok("sync_resume", json!({ "folder": "/home/me" }))
        .await;
    assert!(
        session
            .call_err("sync_activity", json!({ "limit": 5 }))
            .await
            .contains("not played")
    );
    let resource = session
        .request("resources/read", json!({ "uri": "service://sync" }))
        .await;
    let text = resource["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.contains("\"pending\":7"), "{text}");
    let wanted = [
        Request::Status,
        Request::Conflicts,
        Request::Resolve {
            path: "/home/me/a".to_owned(),
            keep: Keep::Theirs,
        },
        Request::Pause {
            folder: None,
            until: None,
        },
        Request::Resume {
            folder: Some("/home/me".to_owned()),
        },
        Request::Activity { limit: 5 },
        Request::Status,
    ];
    assert_eq!(*played.requests.lock().unwrap(), wanted);
    daemon.abort();
    let _ = daemon.await;
    let message = session.call_err("sync_status", json!({})).await;
    assert!(message.contains("no daemon is running"), "{message}");
}
