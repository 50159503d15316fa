//! Hidden files and start-up files on the service: from there they come to every device that syncs them.

use crate::mcp::session::{Session, failure};
use crate::mcp::world::{Setup, World, with_passphrase};
use cairn_mcp::Confirm;
use serde_json::{Value, json};

fn reply(confirm: bool) -> Value {
    json!({ "action": "accept", "content": { "confirm": confirm } })
}

/// Calls a tool, replies to the question that it has to ask, and returns the question and the result.
async fn ask(session: &mut Session, tool: &str, arguments: Value, reply: Value) -> (String, Value) {
    let params = json!({ "name": tool, "arguments": arguments });
    let id = session.begin("tools/call", params).await;
    let question = session.response_or_request(id).await;
    assert_eq!(
        question["method"], "elicitation/create",
        "{tool}: {question}"
    );
    let response = json!({ "jsonrpc": "2.0", "id": question["id"], "result": reply });
    session.send(response).await;
    let result = session.response_or_request(id).await["result"].clone();
    let message = question["params"]["message"].as_str().unwrap().to_owned();
    (message, result)
}

async fn make_folder(session: &mut Session, name: &str) -> Value {
    let folder = json!({ "name": name });
    session.call_ok("create_folder", folder).await["id"].clone()
}

/// Each call that would put something under such a name, with the path that the question names.
async fn calls(
    session: &mut Session,
    local: &std::path::Path,
) -> Vec<(&'static str, Value, &'static str)> {
    let up = json!({ "local_path": local });
    let file = session.call_ok("upload_file", up).await["file_uuid"].clone();
    let plans = make_folder(session, "plans").await;
    let hooks = json!({ "path": "proj/.git/hooks" });
    let made = ask(session, "create_nested_folders", hooks, reply(true))
        .await
        .1;
    let hooks = crate::mcp::session::text(&made)["leaf_folder_uuid"].clone();
    let autostart = make_folder(session, "config").await;
    let renamed = json!({ "file_uuid": autostart, "new_name": "Autostart" });
    ask(session, "rename_file", renamed, reply(true)).await;
    vec![
        (
            "upload_file",
            json!({ "local_path": local, "file_name": ".bashrc" }),
            "/.bashrc",
        ),
        (
            "upload_file",
            json!({ "local_path": local, "folder_uuid": hooks }),
            "/proj/.git/hooks/up",
        ),
        (
            "upload_file",
            json!({ "local_path": local, "folder_uuid": "/Autostart" }),
            "/Autostart/up",
        ),
        (
            "create_folder",
            json!({ "name": ".ssh", "parent_uuid": plans }),
            "/plans/.ssh",
        ),
        (
            "rename_file",
            json!({ "file_uuid": file, "new_name": ".profile" }),
            "/.profile",
        ),
        (
            "move_file",
            json!({ "file_uuid": file, "target_folder_uuid": hooks }),
            "/proj/.git/hooks/up",
        ),
        (
            "copy_file",
            json!({ "file_uuid": file, "target_folder_uuid": hooks }),
            "/proj/.git/hooks/up",
        ),
        (
            "move_files",
            json!({ "file_uuids": [file], "target_folder_uuid": plans, "new_path": ".d" }),
            "/plans/.d/up",
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_asked_before_hidden_files_are_made_on_the_service() {
    let world = World::start().await;
    let dir = tempfile::tempdir().unwrap();
    let local = dir.path().join("up");
    std::fs::write(&local, "x").unwrap();
    let mut session = world.connect(with_passphrase().with_sync(dir.path()));
    session.initialize(json!({ "elicitation": {} })).await;
    let calls = calls(&mut session, &local).await;
    for (tool, arguments, path) in &calls {
        let (question, result) = ask(&mut session, tool, arguments.clone(), reply(false)).await;
        assert!(
            question.contains(&format!("`{path}`")),
            "{tool}: {question}"
        );
        assert!(failure(&result).is_some(), "{tool}: {result}");
    }
    let (tool, arguments, _) = &calls[0];
    let (_, result) = ask(&mut session, tool, arguments.clone(), reply(true)).await;
    assert_eq!(failure(&result), None, "{result}");
    // In the trash it is none, and out of it again it is.
    let file = json!({ "file_uuid": "/.bashrc" });
    let gone = session.call_ok("delete_file", file).await;
    let back = json!({ "file_uuid": gone["file_uuid"] });
    let (question, result) = ask(&mut session, "restore_from_trash", back, reply(true)).await;
    assert!(question.contains("`/.bashrc`"), "{question}");
    assert_eq!(failure(&result), None, "{result}");
}

#[tokio::test(flavor = "multi_thread")]
async fn hidden_files_are_not_made_where_nobody_can_be_asked() {
    let world = World::start().await;
    let dir = tempfile::tempdir().unwrap();
    let local = dir.path().join("up");
    std::fs::write(&local, "x").unwrap();
    let setup = || with_passphrase().with_sync(dir.path());
    let mut asking = world.connect(setup());
    asking.initialize(json!({ "elicitation": {} })).await;
    let calls = calls(&mut asking, &local).await;
    let never = Setup {
        confirm: Confirm::Never,
        ..setup()
    };
    let mut never = world.connect(never);
    never.initialize(json!({ "elicitation": {} })).await;
    for session in [&mut world.session(setup()).await, &mut never] {
        for (tool, arguments, _) in &calls {
            let refused = session.call_err(tool, arguments.clone()).await;
            assert!(refused.contains("nobody can be asked"), "{tool}: {refused}");
        }
        let list = session.call_ok("list_files", json!({})).await;
        let names = list["content"].as_array().unwrap().iter();
        let mut names = names.map(|node| node["name"].as_str().unwrap());
        assert!(names.all(|name| !name.starts_with('.')), "{list}");
        // Out of such a folder, or under another name, nobody is asked.
        session
            .call_ok("create_folder", json!({ "name": "ordinary" }))
            .await;
        session
            .call_ok("delete_file", json!({ "file_uuid": "/ordinary" }))
            .await;
    }
}
