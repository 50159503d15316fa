//! The tools of the sync daemon while none runs. With a real daemon they are tested beside the program.

use crate::mcp::world::{Setup, World};
use serde_json::json;

#[tokio::test]
async fn a_daemon_that_does_not_run_is_a_state_and_not_a_missing_tool() {
    let world = World::start().await;
    let dir = tempfile::tempdir().unwrap();
    let stopped = Setup {
        daemon: Some(dir.path().join("daemon.sock")),
        ..Setup::default()
    };
    let mut session = world.session(stopped).await;
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
