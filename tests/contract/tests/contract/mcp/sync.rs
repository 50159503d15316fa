//! The MCP tools about the sync daemon while no daemon runs. With a real one they are tested in
//! `commands/tasks/sync.rs`.

use crate::mcp::session::Session;
use crate::mcp::world::{Setup, World, with_passphrase};
use serde_json::{Value, json};

/// Limit in tokens for the list of all tools, which an assistant reads before the first question.
const MOST_TOKENS: usize = 12_000;

/// Bytes of the list for ten tokens (of the tokenizer o200k).
const BYTES_OF_TEN_TOKENS: usize = 42;

/// Returns an MCP session that has the tools about sync.
pub(crate) async fn with_sync(world: &World) -> (Session, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let setup = Setup::default().with_sync(dir.path());
    (world.session(setup).await, dir)
}

/// Returns the same with the account's keys, and a folder for local files.
pub(crate) async fn sealed_session(world: &World) -> (Session, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let setup = with_passphrase().with_sync(dir.path());
    (world.session(setup).await, dir)
}

/// Returns a session with the tools about sync, whose client asks a person.
pub(crate) async fn asking_with_sync(world: &World) -> (Session, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let mut session = world.connect(Setup::default().with_sync(dir.path()));
    session.initialize(json!({ "elicitation": {} })).await;
    (session, dir)
}

#[tokio::test]
async fn all_tools_together_stay_small() {
    let world = World::start().await;
    let (mut session, _dir) = with_sync(&world).await;
    let list = session.request("tools/list", json!({})).await;
    let bytes = list["result"].to_string().len();
    let tokens = bytes * 10 / BYTES_OF_TEN_TOKENS;
    assert!(tokens <= MOST_TOKENS, "{tokens} tokens, {bytes} bytes");
}

/// The ids of new folders at the top.
async fn folders(session: &mut Session, names: &[&str]) -> Vec<Value> {
    let mut ids = Vec::new();
    for name in names {
        let made = session.call_ok("create_folder", json!({ "name": name }));
        ids.push(made.await["id"].clone());
    }
    ids
}

/// The names in a folder, in order.
async fn listed_names(session: &mut Session, folder: Option<&Value>) -> Vec<String> {
    let arguments = match folder {
        Some(folder) => json!({ "folder_uuid": folder }),
        None => json!({}),
    };
    let page = session.call_ok("list_files", arguments).await;
    let nodes = page["content"].as_array().expect("a list");
    let names = nodes
        .iter()
        .map(|node| node["name"].as_str().unwrap().to_owned());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[tokio::test]
async fn many_files_are_moved_in_one_call_and_a_session_is_taken_back() {
    let world = World::start().await;
    let (mut session, _dir) = with_sync(&world).await;
    let ids = folders(&mut session, &["a", "b", "c", "d"]).await;
    // What was there before this session's undo begins is not its business.
    let (mut session, _dir) = with_sync(&world).await;
    let stranger = "00000000-0000-4000-8000-000000000000";
    let moved = session
        .call_ok(
            "move_files",
            json!({
                "file_uuids": [ids[0], ids[1], stranger],
                "target_folder_uuid": ids[3],
                "new_path": "2026/03",
            }),
        )
        .await;
    assert_eq!(moved["moved"], 2, "{moved}");
    assert_eq!(moved["failed"][0]["file_uuid"], stranger, "{moved}");
    assert_eq!(
        listed_names(&mut session, Some(&moved["folder_uuid"])).await,
        ["a", "b"]
    );
    let rename = json!({ "file_uuid": ids[2], "new_name": "C" });
    session.call_ok("rename_file", rename).await;
    session
        .call_ok("delete_file", json!({ "file_uuid": ids[2] }))
        .await;
    assert_eq!(listed_names(&mut session, None).await, ["d"]);

    let undone = session.call_ok("undo_session", json!({})).await;
    assert_eq!(undone["left"], json!([]), "{undone}");
    assert_eq!(undone["taken_back"], 6, "{undone}");
    assert_eq!(listed_names(&mut session, None).await, ["a", "b", "c", "d"]);
    assert_eq!(
        listed_names(&mut session, Some(&ids[3])).await,
        Vec::<String>::new()
    );
    let again = session.call_ok("undo_session", json!({})).await;
    assert_eq!(again["taken_back"], 0, "{again}");
}

#[tokio::test]
async fn what_was_changed_since_is_not_taken_back() {
    let world = World::start().await;
    let (mut session, _dir) = with_sync(&world).await;
    let ids = folders(&mut session, &["made"]).await;
    let (mut other, _other_dir) = with_sync(&world).await;
    let inside = json!({ "name": "inside", "parent_uuid": ids[0] });
    other.call_ok("create_folder", inside).await;
    let undone = session.call_ok("undo_session", json!({})).await;
    assert_eq!(undone["left"], json!(["`made` is not empty"]), "{undone}");
    assert_eq!(listed_names(&mut session, None).await, ["made"]);
}

#[tokio::test]
async fn a_daemon_that_does_not_run_is_a_state_and_not_a_missing_tool() {
    let world = World::start().await;
    let (mut session, _dir) = with_sync(&world).await;
    let list = session.request("tools/list", json!({})).await;
    let tools = list["result"]["tools"].as_array().unwrap();
    assert!(tools.len() > crate::mcp::catalogue::reference().len());
    let status = session.call_ok("sync_status", json!({})).await;
    assert_eq!(status["running"], false, "{status}");
    assert!(status["hint"].as_str().unwrap().contains("cairn start"));
    let resource = json!({ "uri": "service://sync" });
    let resource = session.request("resources/read", resource).await;
    let text = resource["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.contains("\"running\":false"), "{text}");
    let message = session.call_err("sync_conflicts", json!({})).await;
    assert!(message.contains("cairn start"), "{message}");
}
