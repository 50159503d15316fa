//! Changes whose results nobody got: they are reported as open, and taken back if they were made.

use crate::mcp::session::Session;
use crate::mcp::sync::{sealed_session, with_sync};
use crate::mcp::undo::{folder, info, undo};
use crate::mcp::world::{Setup, World, with_passphrase};
use cairn_api::Method;
use serde_json::{Value, json};

/// Returns a fault that loses the responses to the next requests, which are carried out.
fn lose_responses(path: &str, method: &str, count: u64) -> Value {
    json!({
        "path_pattern": path, "method": method, "status": 502, "processed": true, "count": count,
    })
}

/// The response is lost on the way, and the change is made.
#[tokio::test]
async fn a_change_whose_response_was_lost_is_taken_back() {
    let world = World::start().await;
    let (mut session, _dir) = with_sync(&world).await;
    let id = folder(&mut session, "plans", None).await;
    let target = folder(&mut session, "target", None).await;
    let (mut session, _dir) = with_sync(&world).await;
    let rename = json!({ "file_uuid": id, "new_name": "renamed" });
    let made = json!({ "name": "made" });
    let link = json!({ "file_uuid": id, "storage_type": "VR_FOLDER" });
    let copy = json!({ "file_uuid": id, "target_folder_uuid": target });
    for (tool, arguments, fault) in [
        (
            "rename_file",
            rename,
            lose_responses("/api/v1/nodes/*", "PUT", 1),
        ),
        (
            "create_folder",
            made,
            lose_responses("/api/v1/nodes$", "POST", 3),
        ),
        (
            "create_share_link",
            link,
            lose_responses("/api/v1/shares$", "POST", 3),
        ),
        (
            "copy_file",
            copy,
            lose_responses("/api/v1/nodes/*/copy", "POST", 3),
        ),
    ] {
        world.dev("/_dev/faults", fault).await;
        let message = session.call_err(tool, arguments).await;
        assert!(message.contains("may have been done"), "{tool}: {message}");
    }
    assert_eq!(info(&mut session, &id).await["name"], "renamed");
    let undone = undo(&mut session).await;
    assert_eq!(
        (&undone["left"], &undone["taken_back"]),
        (&json!([]), &json!(4)),
        "{undone}"
    );
    assert_eq!(info(&mut session, &id).await["name"], "plans");
    let links = session.call_ok("list_share_links", json!({})).await;
    assert_eq!(links["totalElements"], 0, "{links}");
}

/// The request never reached the handler of the service.
#[tokio::test]
async fn a_change_that_was_not_made_is_not_taken_back() {
    let world = World::start().await;
    let (mut before, _dir) = with_sync(&world).await;
    let id = folder(&mut before, "plans", None).await;
    let (mut session, _dir) = with_sync(&world).await;
    let failing = json!({
        "path_pattern": "/api/v1/nodes/*", "method": "PUT", "status": 502, "count": 1,
    });
    world.dev("/_dev/faults", failing).await;
    let rename = json!({ "file_uuid": id, "new_name": "renamed" });
    session.call_err("rename_file", rename).await;
    let undone = undo(&mut session).await;
    assert_eq!(undone["taken_back"], 0, "{undone}");
    assert_eq!(info(&mut session, &id).await["name"], "plans");
}

/// The response arrives, and the state after it can't be read.
#[tokio::test]
async fn a_change_whose_result_can_not_be_read_is_taken_back() {
    let world = World::start().await;
    let (mut session, _dir) = with_sync(&world).await;
    let id = folder(&mut session, "plans", None).await;
    let (mut session, _dir) = with_sync(&world).await;
    // The folder is read for its path, before it is renamed, and after that.
    let path = format!("/api/v1/nodes/{}$", id.as_str().unwrap());
    let unreadable =
        json!({ "path_pattern": path, "method": "GET", "status": 403, "skip": 2, "count": 1 });
    world.dev("/_dev/faults", unreadable).await;
    let rename = json!({ "file_uuid": id, "new_name": "renamed" });
    session.call_ok("rename_file", rename).await;
    let undone = undo(&mut session).await;
    assert_eq!(undone["taken_back"], 1, "{undone}");
    assert_eq!(info(&mut session, &id).await["name"], "plans");
}

#[tokio::test]
async fn what_could_not_be_taken_back_is_not_changed() {
    let world = World::start().await;
    let (mut session, _dir) = with_sync(&world).await;
    let id = folder(&mut session, "plans", None).await;
    let path = format!("/api/v1/nodes/{}$", id.as_str().unwrap());
    let unreadable = json!({ "path_pattern": path, "method": "GET", "status": 503, "count": 3 });
    world.dev("/_dev/faults", unreadable).await;
    let rename = json!({ "file_uuid": id, "new_name": "renamed" });
    let message = session.call_err("rename_file", rename).await;
    assert!(!message.contains("may have been done"), "{message}");
    assert_eq!(info(&mut session, &id).await["name"], "plans");
}

#[tokio::test]
async fn folders_for_moved_files_are_taken_back_though_their_response_was_lost() {
    let world = World::start().await;
    let (mut session, _dir) = with_sync(&world).await;
    let id = folder(&mut session, "plans", None).await;
    let target = folder(&mut session, "target", None).await;
    let (mut session, _dir) = with_sync(&world).await;
    let fault = lose_responses("/api/v1/nodes/folders", "POST", 3);
    world.dev("/_dev/faults", fault).await;
    let moved = json!({ "file_uuids": [id], "target_folder_uuid": target, "new_path": "a/b" });
    let message = session.call_err("move_files", moved).await;
    assert!(message.contains("look at list_files"), "{message}");
    let undone = undo(&mut session).await;
    assert_eq!(
        (&undone["left"], &undone["taken_back"]),
        (&json!([]), &json!(2)),
        "{undone}"
    );
    assert!(info(&mut session, &id).await["parent_id"].is_null());
}

/// A call makes several links, each of which may be lost by itself.
#[tokio::test(flavor = "multi_thread")]
async fn each_of_many_links_is_taken_back_though_its_response_was_lost() {
    let world = World::start().await;
    let (mut session, dir) = sealed_session(&world).await;
    let mut files = Vec::new();
    for name in ["a", "b"] {
        std::fs::write(dir.path().join(name), name).unwrap();
        let up = json!({ "local_path": dir.path().join(name) });
        files.push(session.call_ok("upload_file", up).await["file_uuid"].clone());
    }
    let fault = lose_responses("/api/v1/shares$", "POST", 3);
    world.dev("/_dev/faults", fault).await;
    let links = json!({ "file_uuids": files });
    let links = session.call_ok("bulk_create_share_links", links).await;
    assert_eq!(
        (&links["succeeded"], &links["failed"]),
        (&json!(1), &json!(1)),
        "{links}"
    );
    let message = links["results"][0]["error"].as_str().unwrap();
    assert!(message.contains("may have been done"), "{message}");
    assert!(message.contains("look at list_share_links"), "{message}");
    let made = session.call_ok("list_share_links", json!({})).await;
    assert_eq!(made["totalElements"], 2, "{made}");
    let undone = undo(&mut session).await;
    assert_eq!(
        (&undone["left"], &undone["taken_back"]),
        (&json!([]), &json!(2)),
        "{undone}"
    );
    let left = session.call_ok("list_share_links", json!({})).await;
    assert_eq!(left["totalElements"], 0, "{left}");
}

#[tokio::test]
async fn many_names_only_links_are_taken_back_though_their_response_was_lost() {
    let world = World::start().await;
    let (mut session, _dir) = with_sync(&world).await;
    let ids = [
        folder(&mut session, "a", None).await,
        folder(&mut session, "b", None).await,
    ];
    let (mut session, _dir) = with_sync(&world).await;
    let fault = lose_responses("/api/v1/shares/bulk", "POST", 3);
    world.dev("/_dev/faults", fault).await;
    let links = json!({ "file_uuids": ids });
    let message = session.call_err("bulk_create_share_links", links).await;
    assert!(message.contains("look at list_share_links"), "{message}");
    let undone = undo(&mut session).await;
    assert_eq!(undone["taken_back"], 2, "{undone}");
    let left = session.call_ok("list_share_links", json!({})).await;
    assert_eq!(left["totalElements"], 0, "{left}");
}

/// The advice after a lost payment names what shows it.
#[tokio::test]
async fn a_tip_whose_response_was_lost_shows_where_the_message_says() {
    let world = World::start().await;
    let mut session = world.session(Setup::default()).await;
    let profile = world
        .rest_as("ck_dev_member", Method::GET, "social/profile", None)
        .await;
    let tip = json!({ "tip_jar_uuid": profile["tip_jar_id"], "amount": "2.50" });
    let before = session.call_ok("get_spending_alerts", json!({})).await;
    let fault = lose_responses("/api/v1/social/tips", "POST", 3);
    world.dev("/_dev/faults", fault).await;
    let message = session.call_err("send_tip", tip).await;
    let advice = "look at get_spending_alerts (spent_this_month)";
    assert!(message.contains(advice), "{message}");
    let alerts = session.call_ok("get_spending_alerts", json!({})).await;
    let spent = |alerts: &Value| alerts["spent_this_month"].as_str().unwrap().to_owned();
    assert_ne!(spent(&before), spent(&alerts), "{alerts}");
}

/// No tool lists open invitations: the message says that repeating does no harm.
#[tokio::test]
async fn an_invitation_whose_response_was_lost_may_be_repeated() {
    let world = World::start().await;
    let mut session = world.session(Setup::default()).await;
    let team = json!({ "name": "Five" });
    let team = session.call_ok("create_team", team).await["id"].clone();
    let invite = json!({ "team_uuid": team, "email": "new@example.com" });
    let fault = lose_responses("/api/v1/teams/*/invite", "POST", 3);
    world.dev("/_dev/faults", fault).await;
    let message = session.call_err("invite_team_member", invite.clone()).await;
    assert!(message.contains("it may be repeated"), "{message}");
    let again = session.call_err("invite_team_member", invite).await;
    assert!(again.contains("open invitation"), "{again}");
}

/// Returns the ids of a folder and of a file in it that the service can label.
async fn folder_to_label(world: &World) -> (Value, Value) {
    let mut session = world.session(with_passphrase()).await;
    let id = folder(&mut session, "reports", None).await;
    let file = tempfile::NamedTempFile::with_suffix(".pdf").unwrap();
    let upload = json!({ "local_path": file.path(), "folder_uuid": id, "file_name": "x.pdf" });
    let file = session.call_ok("upload_file", upload).await["file_uuid"].clone();
    (id, file)
}

fn classify(folder: &Value) -> Value {
    json!({ "folder_uuid": folder, "confirm_token_use": true })
}

/// Returns true if a file has labels.
async fn has_labels(session: &mut Session, file: &Value) -> bool {
    info(session, file).await["labels"] != json!({})
}

#[tokio::test(flavor = "multi_thread")]
async fn labels_that_the_service_chose_are_taken_back() {
    let world = World::start().await;
    let (id, file) = folder_to_label(&world).await;
    for fault in [None, Some(lose_responses("/api/v1/ai/classify", "POST", 3))] {
        let (mut session, _dir) = with_sync(&world).await;
        let is_lost = fault.is_some();
        if let Some(fault) = fault {
            world.dev("/_dev/faults", fault).await;
        }
        let result = session.call("auto_classify_folder", classify(&id)).await;
        assert_eq!(result["isError"] == true, is_lost, "{result}");
        assert!(has_labels(&mut session, &file).await);
        let undone = undo(&mut session).await;
        assert_eq!(
            (&undone["left"], &undone["taken_back"]),
            (&json!([]), &json!(1)),
            "{undone}"
        );
        assert!(!has_labels(&mut session, &file).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn labels_are_not_changed_where_the_former_ones_can_not_be_read() {
    let world = World::start().await;
    let (id, file) = folder_to_label(&world).await;
    let (mut session, _dir) = with_sync(&world).await;
    let unreadable =
        json!({ "path_pattern": "/api/v1/nodes$", "method": "GET", "status": 503, "count": 3 });
    world.dev("/_dev/faults", unreadable).await;
    session
        .call_err("auto_classify_folder", classify(&id))
        .await;
    world.end_faults().await;
    assert!(!has_labels(&mut session, &file).await);
}
