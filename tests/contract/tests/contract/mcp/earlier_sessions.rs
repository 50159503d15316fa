//! Taking back what an earlier session changed: the question, what happens to a call that ends early, and later
//! attempts.

use crate::mcp::session::{Session, failure, text};
use crate::mcp::world::{Setup, World};
use cairn_mcp::{EndedSession, SessionFiles, ToolFilter};
use cairn_wire::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// The journals of all sessions, of which each takes the others for ended.
#[derive(Default)]
struct Journals {
    lines: Mutex<BTreeMap<String, String>>,
    unreadable: AtomicBool,
    taken_back: Notify,
}

struct Journal {
    id: &'static str,
    all: Arc<Journals>,
}

impl Journal {
    fn write(&self, id: &str, line: &str) {
        let mut lines = self.all.lines.lock().unwrap();
        let lines = lines.entry(id.to_owned()).or_default();
        lines.push_str(line);
        lines.push('\n');
    }
}

impl SessionFiles for Journal {
    fn append(&self, line: &str) -> io::Result<()> {
        self.write(self.id, line);
        Ok(())
    }

    fn ended_sessions(&self) -> io::Result<Vec<EndedSession>> {
        if self.all.unreadable.load(Ordering::SeqCst) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let lines = self.all.lines.lock().unwrap();
        let others = lines.iter().filter(|(id, _)| *id != self.id);
        let ended = others.map(|(id, lines)| EndedSession {
            id: id.clone(),
            at: Timestamp(1_795_316_753_000),
            lines: lines.clone(),
        });
        Ok(ended.collect())
    }

    fn append_undone(&self, session: Option<&str>, line: &str) -> io::Result<()> {
        self.write(session.unwrap_or(self.id), line);
        if line.contains("taken_back") {
            self.all.taken_back.notify_one();
        }
        Ok(())
    }
}

/// Starts a session with these journals and capabilities of its client.
async fn start(
    world: &World,
    all: &Arc<Journals>,
    id: &'static str,
    capabilities: Value,
    exclude: &[&str],
) -> Session {
    let mut session = world.connect(Setup {
        daemon: Some(PathBuf::from("/nowhere/daemon.sock")),
        sessions: Some(Arc::new(Journal {
            id,
            all: all.clone(),
        })),
        filter: ToolFilter {
            exclude: exclude.iter().map(|name| (*name).to_owned()).collect(),
            ..ToolFilter::default()
        },
        ..Setup::default()
    });
    session.initialize(capabilities).await;
    session
}

async fn folder(session: &mut Session, name: &str) -> Value {
    let made = session.call_ok("create_folder", json!({ "name": name }));
    made.await["id"].clone()
}

async fn describe(session: &mut Session, id: &Value) {
    let arguments = json!({ "file_uuid": id, "description": "x" });
    session.call_ok("set_file_description", arguments).await;
}

async fn share(session: &mut Session, id: &Value) {
    let arguments = json!({ "file_uuid": id, "storage_type": "VR_FOLDER", "expiry_days": 1 });
    session.call_ok("create_share_link", arguments).await;
}

async fn state(session: &mut Session, id: &Value) -> Value {
    let info = session.call_ok("get_file_info", json!({ "file_uuid": id }));
    info.await["state"].clone()
}

/// Asks to take a session back; returns the question to the person and the result after this reply.
async fn ask_to_undo(session: &mut Session, named: &str, action: &str) -> (String, Value) {
    let params = json!({ "name": "undo_session", "arguments": { "session": named } });
    let id = session.begin("tools/call", params).await;
    let question = session.response_or_request(id).await;
    let message = question["params"]["message"].as_str();
    let message = message
        .unwrap_or_else(|| panic!("nobody is asked: {question}"))
        .to_owned();
    let reply = json!({ "action": action, "content": { "confirm": true } });
    let reply = json!({ "jsonrpc": "2.0", "id": question["id"], "result": reply });
    session.send(reply).await;
    let result = session.response_or_request(id).await["result"].clone();
    (message, result)
}

#[tokio::test]
async fn a_person_is_asked_with_the_kinds_and_numbers_of_changes() {
    let world = World::start().await;
    let all = Arc::default();
    let mut first = start(&world, &all, "first", json!({}), &[]).await;
    let id = folder(&mut first, "made").await;
    describe(&mut first, &id).await;
    share(&mut first, &id).await;
    let elicitation = json!({ "elicitation": {} });
    let mut second = start(&world, &all, "second", elicitation.clone(), &[]).await;
    let (question, result) = ask_to_undo(&mut second, "first", "decline").await;
    let kinds =
        "Moved to the trash: 1 file or empty folder. Details as before: 1. Share links deleted: 1.";
    assert!(question.contains(kinds), "{question}");
    let refused = failure(&result).expect("it is refused");
    assert!(refused.contains("not confirmed"), "{refused}");
    assert_eq!(state(&mut second, &id).await, Value::Null);

    // What this server's tools may not change of links, it does not change here either.
    let exclude = ["delete_share_link"];
    let mut third = start(&world, &all, "third", elicitation, &exclude).await;
    let (question, result) = ask_to_undo(&mut third, "first", "accept").await;
    let left = "Share link changes that stay: 1.";
    assert!(question.contains(left), "{question}");
    let undone = text(&result);
    assert_eq!(undone["taken_back"], 2, "{undone}");
    assert!(
        undone["left"].to_string().contains("not offered"),
        "{undone}"
    );
    let links = third.call_ok("list_share_links", json!({})).await;
    assert_eq!(links["totalElements"], 1, "{links}");
    assert_eq!(state(&mut third, &id).await, "trashed");
}

#[tokio::test]
async fn what_is_unknown_or_unreadable_is_refused_without_a_question() {
    let world = World::start().await;
    let all: Arc<Journals> = Arc::default();
    let mut first = start(&world, &all, "first", json!({}), &[]).await;
    folder(&mut first, "made").await;
    let mut second = start(&world, &all, "second", json!({ "elicitation": {} }), &[]).await;
    let undo = |session: &str| json!({ "session": session });
    let refused = second.call_err("undo_session", undo("other")).await;
    assert!(refused.contains("no earlier session"), "{refused}");
    all.unreadable.store(true, Ordering::SeqCst);
    let refused = second.call_err("undo_session", undo("first")).await;
    assert!(
        refused.contains("journals of earlier sessions"),
        "{refused}"
    );
    all.unreadable.store(false, Ordering::SeqCst);
    let (question, _) = ask_to_undo(&mut second, "first", "decline").await;
    assert!(question.contains("1 file or empty folder"), "{question}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_call_loses_no_change() {
    let world = World::start().await;
    let all: Arc<Journals> = Arc::default();
    let mut session = start(&world, &all, "first", json!({}), &[]).await;
    let mut ids = Vec::new();
    for name in ["a", "b", "c"] {
        ids.push(folder(&mut session, name).await);
    }
    // The second folder takes very long to delete.
    let rule = json!({
        "path_pattern": "/api/v1/nodes", "method": "DELETE", "latency_ms": 600_000, "skip": 1, "count": 1,
    });
    world.dev("/_dev/faults", rule).await;
    let params = json!({ "name": "undo_session", "arguments": {} });
    let call = session.begin("tools/call", params).await;
    all.taken_back.notified().await;
    let cancelled = json!({ "requestId": call, "reason": "enough" });
    session
        .send(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled }))
        .await;
    // Another session sees what is left at once.
    let mut second = start(&world, &all, "second", json!({}), &[]).await;
    let listed = second.call_ok("undo_session", json!({})).await;
    assert_eq!(listed["earlier_sessions"][0]["changes"], 2, "{listed}");
    world.end_faults().await;
    // The call has ended when its changes are back in the journal.
    for id in &ids {
        while state(&mut session, id).await != "trashed" {
            let undone = session.call_ok("undo_session", json!({})).await;
            assert_eq!(undone["left"], json!([]), "{undone}");
        }
    }
}

#[tokio::test]
async fn a_later_attempt_knows_what_the_first_one_changed() {
    for by_itself in [true, false] {
        let world = World::start().await;
        let all = Arc::default();
        let mut first = start(&world, &all, "first", json!({}), &[]).await;
        let id = folder(&mut first, "made").await;
        describe(&mut first, &id).await;
        let mut second = start(&world, &all, "second", json!({}), &[]).await;
        let path = "/api/v1/nodes";
        let rule = json!({ "path_pattern": path, "method": "DELETE", "status": 403, "count": 1 });
        world.dev("/_dev/faults", rule).await;
        let named = json!({ "session": "first" });
        let undone = if by_itself {
            first.call_ok("undo_session", json!({})).await
        } else {
            second.call_ok("undo_session", named.clone()).await
        };
        assert_eq!(undone["taken_back"], 1, "the description: {undone}");
        let undone = second.call_ok("undo_session", named).await;
        assert_eq!(
            (&undone["taken_back"], &undone["left"]),
            (&json!(1), &json!([])),
            "{undone}"
        );
        assert_eq!(state(&mut second, &id).await, "trashed");
    }
}

#[tokio::test]
async fn all_earlier_sessions_are_listed() {
    const IDS: [&str; 12] = [
        "s01", "s02", "s03", "s04", "s05", "s06", "s07", "s08", "s09", "s10", "s11", "s12",
    ];
    let world = World::start().await;
    let all = Arc::default();
    for id in IDS {
        folder(&mut start(&world, &all, id, json!({}), &[]).await, id).await;
    }
    let mut last = start(&world, &all, "last", json!({}), &[]).await;
    let listed = last.call_ok("undo_session", json!({})).await;
    let sessions = listed["earlier_sessions"].as_array().map(Vec::len);
    assert_eq!(sessions, Some(IDS.len()), "{listed}");
}
