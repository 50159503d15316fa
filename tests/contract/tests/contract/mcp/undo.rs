//! Taking back what a session changed, and leaving what others have worked on since.

use crate::mcp::session::Session;
use crate::mcp::sync::{asking_with_sync, sealed_session, with_sync};
use crate::mcp::world::{Setup, World, with_passphrase};
use serde_json::{Value, json};

pub(super) async fn folder(session: &mut Session, name: &str, parent: Option<&Value>) -> Value {
    let mut arguments = json!({ "name": name });
    if let Some(parent) = parent {
        arguments["parent_uuid"] = parent.clone();
    }
    session.call_ok("create_folder", arguments).await["id"].clone()
}

pub(super) async fn info(session: &mut Session, id: &Value) -> Value {
    session
        .call_ok("get_file_info", json!({ "file_uuid": id }))
        .await
}

fn is_active(node: &Value) -> bool {
    node.get("state").is_none()
}

async fn call(session: &mut Session, tool: &str, id: &Value) {
    session.call_ok(tool, json!({ "file_uuid": id })).await;
}

pub(super) async fn undo(session: &mut Session) -> Value {
    session.call_ok("undo_session", json!({})).await
}

/// The reasons why changes stay.
fn left_reasons(undone: &Value) -> String {
    undone["left"].to_string()
}

#[tokio::test]
async fn details_and_links_become_what_they_were() {
    let world = World::start().await;
    let (mut before, _dir) = with_sync(&world).await;
    let id = folder(&mut before, "plans", None).await;
    let describe = |text: &str| json!({ "file_uuid": id, "description": text });
    before
        .call_ok("set_file_description", describe("first"))
        .await;
    let new_link = json!({ "file_uuid": id, "storage_type": "VR_FOLDER", "expiry_days": 30 });
    let link = before.call_ok("create_share_link", new_link.clone()).await;
    let code = link["short_code"].clone();

    let (mut session, _dir) = with_sync(&world).await;
    session
        .call_ok("set_file_description", describe("second"))
        .await;
    let labels = json!({ "file_uuid": id, "labels": { "project": "x" } });
    session.call_ok("classify_file", labels).await;
    let favorite = json!({ "file_uuid": id, "action": "add" });
    session.call_ok("favorite_file", favorite).await;
    let change = json!({ "short_code": code, "access_mode": "view_only", "expiry_days": 1 });
    session.call_ok("update_share_link", change).await;
    session
        .call_ok("toggle_share_link", json!({ "short_code": code }))
        .await;
    session.call_ok("create_share_link", new_link).await;

    let undone = undo(&mut session).await;
    assert_eq!(
        (&undone["left"], &undone["taken_back"]),
        (&json!([]), &json!(6)),
        "{undone}"
    );
    let node = info(&mut session, &id).await;
    assert_eq!(node["description"], "first", "{node}");
    assert!(
        node["labels"] == json!({}) && node.get("favorite").is_none(),
        "{node}"
    );
    let links = session.call_ok("list_share_links", json!({})).await;
    assert_eq!(links["totalElements"], 1, "{links}");
    let now = &links["content"][0];
    assert_eq!(
        (&now["is_active"], &now["access_mode"]),
        (&json!(true), &json!("download")),
        "{now}"
    );
    let day = |link: &Value| link["expires_at"].as_str().unwrap()[..10].to_owned();
    assert_eq!(day(now), day(&link));
}

#[tokio::test]
async fn a_restored_folder_in_which_somebody_worked_stays() {
    let world = World::start().await;
    let (mut other, _other_dir) = with_sync(&world).await;
    let id = folder(&mut other, "project", None).await;
    let inside = folder(&mut other, "inside", Some(&id)).await;
    call(&mut other, "delete_file", &id).await;
    let (mut session, _dir) = with_sync(&world).await;
    call(&mut session, "restore_from_trash", &id).await;
    let rename = json!({ "file_uuid": inside, "new_name": "renamed since" });
    other.call_ok("rename_file", rename).await;
    let undone = undo(&mut session).await;
    assert!(
        left_reasons(&undone).contains("`project` was worked on since"),
        "{undone}"
    );
    assert!(is_active(&info(&mut session, &id).await));

    // A folder that nobody touched goes back to where it was.
    let (mut session, _dir) = with_sync(&world).await;
    let quiet = folder(&mut other, "quiet", None).await;
    folder(&mut other, "deep", Some(&quiet)).await;
    call(&mut other, "delete_file", &quiet).await;
    call(&mut session, "restore_from_trash", &quiet).await;
    let undone = undo(&mut session).await;
    assert_eq!(undone["left"], json!([]), "{undone}");
    assert_eq!(info(&mut session, &quiet).await["state"], "trashed");
}

#[tokio::test]
async fn a_copy_that_somebody_renamed_stays() {
    let world = World::start().await;
    let (mut other, _other_dir) = with_sync(&world).await;
    let original = folder(&mut other, "original", None).await;
    let target = folder(&mut other, "target", None).await;
    let (mut session, _dir) = with_sync(&world).await;
    let copy = json!({ "file_uuid": original, "target_folder_uuid": target });
    let copy = session.call_ok("copy_file", copy).await["id"].clone();
    let rename = json!({ "file_uuid": copy, "new_name": "mine now" });
    other.call_ok("rename_file", rename).await;
    // What the session does afterwards does not hide that.
    let describe = json!({ "file_uuid": copy, "description": "a copy" });
    session.call_ok("set_file_description", describe).await;
    let undone = undo(&mut session).await;
    assert!(
        left_reasons(&undone).contains("`mine now` was worked on since"),
        "{undone}"
    );
    assert!(is_active(&info(&mut session, &copy).await));
}

#[tokio::test]
async fn folders_that_were_there_before_stay() {
    let world = World::start().await;
    let (mut other, _other_dir) = with_sync(&world).await;
    let a = folder(&mut other, "a", None).await;
    let b = folder(&mut other, "b", Some(&a)).await;
    let (mut session, _dir) = with_sync(&world).await;
    let made = session
        .call_ok("create_nested_folders", json!({ "path": "a/b" }))
        .await;
    assert_eq!(made["leaf_folder_uuid"], b, "{made}");
    let made = session
        .call_ok("create_nested_folders", json!({ "path": "a/b/c" }))
        .await;
    let undone = undo(&mut session).await;
    assert_eq!(
        (&undone["left"], &undone["taken_back"]),
        (&json!([]), &json!(1)),
        "{undone}"
    );
    assert!(is_active(&info(&mut session, &a).await));
    assert!(is_active(&info(&mut session, &b).await));
    let leaf = info(&mut session, &made["leaf_folder_uuid"]).await;
    assert_eq!(leaf["state"], "trashed");
}

#[tokio::test]
async fn what_somebody_deleted_again_stays_deleted() {
    let world = World::start().await;
    let (mut other, _other_dir) = with_sync(&world).await;
    let id = folder(&mut other, "old", None).await;
    let (mut session, _dir) = with_sync(&world).await;
    call(&mut session, "delete_file", &id).await;
    call(&mut other, "restore_from_trash", &id).await;
    call(&mut other, "delete_file", &id).await;
    let undone = undo(&mut session).await;
    assert!(
        left_reasons(&undone).contains("`old` was deleted again since"),
        "{undone}"
    );
    assert_eq!(info(&mut session, &id).await["state"], "trashed");
}

#[tokio::test]
async fn a_person_is_asked_before_more_than_a_few_things_go_to_the_trash() {
    let world = World::start().await;
    let (mut session, _socket) = asking_with_sync(&world).await;
    let mut ids = Vec::new();
    for name in ["a", "b", "c"] {
        ids.push(folder(&mut session, name, None).await);
    }
    // Three are few.
    undo(&mut session).await;
    for name in ["d", "e", "f", "g"] {
        ids.push(folder(&mut session, name, None).await);
    }
    let params = json!({ "name": "undo_session", "arguments": {} });
    let id = session.begin("tools/call", params).await;
    let question = session.response_or_request(id).await;
    let message = question["params"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("4 files or empty folders"), "{question}");
    let reply = json!({ "action": "decline" });
    let reply = json!({ "jsonrpc": "2.0", "id": question["id"], "result": reply });
    session.send(reply).await;
    let result = session.response_or_request(id).await["result"].clone();
    let refused = crate::mcp::session::failure(&result).expect("it is refused");
    assert!(refused.contains("not confirmed"), "{refused}");
    let last = ids.last().unwrap();
    assert!(is_active(&info(&mut session, last).await));
}

#[tokio::test]
async fn what_a_session_deleted_after_restoring_it_is_back_where_it_was() {
    let world = World::start().await;
    let (mut other, _other_dir) = with_sync(&world).await;
    let id = folder(&mut other, "old", None).await;
    let (mut session, _dir) = with_sync(&world).await;
    call(&mut session, "delete_file", &id).await;
    call(&mut session, "restore_from_trash", &id).await;
    let undone = undo(&mut session).await;
    assert_eq!(undone["left"], json!([]), "{undone}");
    assert!(is_active(&info(&mut session, &id).await));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_version_is_taken_back_unless_somebody_changed_the_file() {
    let world = World::start().await;
    let (mut session, dir) = sealed_session(&world).await;
    let local = dir.path().join("report.txt");
    let mut id = Value::Null;
    for text in ["first", "second"] {
        std::fs::write(&local, text).unwrap();
        let upload = json!({ "local_path": local });
        id = session.call_ok("upload_file", upload).await["file_uuid"].clone();
    }
    let file = json!({ "file_uuid": id });
    let versions = session.call_ok("get_file_versions", file.clone()).await;
    let versions = versions["content"].as_array().unwrap();
    let older = versions.iter().find(|version| version["number"] == 1);
    let restore = json!({ "file_uuid": id, "version_id": older.unwrap()["id"] });
    let read = async |session: &mut Session| {
        let content = session.call_ok("read_file_content", file.clone()).await;
        content["content"].clone()
    };
    session
        .call_ok("restore_file_version", restore.clone())
        .await;
    assert_eq!(read(&mut session).await, "first");
    let undone = undo(&mut session).await;
    assert_eq!(undone["left"], json!([]), "{undone}");
    assert_eq!(read(&mut session).await, "second");

    session.call_ok("restore_file_version", restore).await;
    std::fs::write(&local, "third").unwrap();
    let upload = json!({ "local_path": local });
    session.call_ok("upload_file", upload).await;
    let undone = undo(&mut session).await;
    assert!(
        left_reasons(&undone).contains("`report.txt` was changed since"),
        "{undone}"
    );
    assert_eq!(read(&mut session).await, "third");
}

#[tokio::test]
async fn details_are_taken_back_whether_the_result_can_be_read_or_not() {
    let world = World::start().await;
    let (mut session, _dir) = with_sync(&world).await;
    let id = folder(&mut session, "made", None).await;
    let describe = json!({ "file_uuid": id, "description": "x" });
    session.call_ok("set_file_description", describe).await;
    // The folder is read before the description is reset, and after that.
    let path = format!("/api/v1/nodes/{}$", id.as_str().unwrap());
    let fault =
        json!({ "path_pattern": path, "method": "GET", "status": 403, "skip": 1, "count": 1 });
    world.dev("/_dev/faults", fault).await;
    let undone = undo(&mut session).await;
    assert_eq!(
        (&undone["left"], &undone["taken_back"]),
        (&json!([]), &json!(2)),
        "{undone}"
    );
    assert_eq!(info(&mut session, &id).await["state"], "trashed");
}

#[tokio::test]
async fn what_a_call_found_as_it_wanted_it_is_not_taken_back() {
    let world = World::start().await;
    let (mut other, _other_dir) = with_sync(&world).await;
    let active = folder(&mut other, "active", None).await;
    let trashed = folder(&mut other, "trashed", None).await;
    call(&mut other, "delete_file", &trashed).await;
    let (mut session, _dir) = with_sync(&world).await;
    let restore = json!({ "file_uuid": active });
    let refused = session.call_err("restore_from_trash", restore).await;
    assert!(refused.contains("is not in the trash"), "{refused}");
    let delete = json!({ "file_uuid": trashed });
    let again = session.call_ok("delete_file", delete).await;
    let message = again["message"].as_str().unwrap();
    assert!(message.contains("already"), "{again}");
    let undone = undo(&mut session).await;
    assert_eq!(undone["taken_back"], 0, "{undone}");
    assert!(is_active(&info(&mut session, &active).await));
    assert_eq!(info(&mut session, &trashed).await["state"], "trashed");
}

/// A session's own work is all taken back, also where one of its changes went over another.
async fn own_work_over_own_work(setup: Setup) {
    let world = World::start().await;
    let dir = tempfile::tempdir().unwrap();
    let is_sealed = setup.passphrase.is_some();
    let mut session = world.session(setup.with_sync(dir.path())).await;
    if is_sealed {
        // The first content makes the account's keys.
        std::fs::write(dir.path().join("x"), "x").unwrap();
        let first = json!({ "local_path": dir.path().join("x") });
        session.call_ok("upload_file", first).await;
    }
    let original = folder(&mut session, "original", None).await;
    let inside = folder(&mut session, "inside", Some(&original)).await;
    folder(&mut session, "deeper", Some(&inside)).await;
    let around = folder(&mut session, "around", None).await;
    let copy = json!({ "file_uuid": original, "target_folder_uuid": around });
    let copy = session.call_ok("copy_file", copy).await["id"].clone();
    let same = json!({ "file_uuid": around, "new_name": "around" });
    session.call_ok("rename_file", same).await;
    call(&mut session, "delete_file", &around).await;
    let undone = undo(&mut session).await;
    assert_eq!(undone["left"], json!([]), "{undone}");
    assert_eq!(info(&mut session, &copy).await["state"], "trashed");
    assert_eq!(info(&mut session, &around).await["state"], "trashed");
}

#[tokio::test]
async fn a_sessions_own_work_is_no_reason_to_leave_anything() {
    own_work_over_own_work(Setup::default()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sessions_own_sealed_work_is_no_reason_to_leave_anything() {
    own_work_over_own_work(with_passphrase()).await;
}

#[tokio::test]
async fn a_link_that_is_deleted_already_is_not_counted_as_taken_back() {
    let world = World::start().await;
    let (mut session, _dir) = with_sync(&world).await;
    let id = folder(&mut session, "plans", None).await;
    let (mut session, _dir) = with_sync(&world).await;
    let link = json!({ "file_uuid": id, "storage_type": "VR_FOLDER" });
    let link = session.call_ok("create_share_link", link).await;
    let path = format!("shares/{}", link["short_code"].as_str().unwrap());
    world.rest(cairn_api::Method::DELETE, &path, None).await;
    let undone = undo(&mut session).await;
    assert_eq!(
        (&undone["taken_back"], &undone["changes"], &undone["left"]),
        (&json!(0), &json!([]), &json!([])),
        "{undone}"
    );
    let already = json!(["a link is deleted already"]);
    assert_eq!(undone["as_before_already"], already, "{undone}");
}
