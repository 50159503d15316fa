//! Tools at services whose records have fewer fields than Cairn's own.

use super::*;
use crate::call;
use crate::error::ToolResult;
use crate::services::Services;
use crate::test_services::{call_of, stub_services};
use crate::time_limit::TimeLimit;
use crate::toolset;
use cairn_api::Method;
use cairn_wire::nodes::NodeState;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const ID: &str = "11111111-1111-4111-8111-111111111111";

/// A record with what is needed to recognize a change, and little more.
fn brief_record(kind: &str, state: &str) -> Value {
    json!({
        "id": ID, "name": "x", "kind": kind, "parent_id": null, "space_id": ID, "version": 1,
        "state": state, "labels": {}, "description": "", "favorite": null,
    })
}

async fn run(services: Services, tool: &str, arguments: Value) -> ToolResult<Value> {
    let mut tools = toolset::ALL.iter().flat_map(|set| set.tools);
    let tool = tools.find(|one| one.name == tool).expect("it is one");
    Box::pin(call::run(
        tool,
        call_of(services, arguments),
        TimeLimit::NONE,
    ))
    .await
}

/// Runs a tool at a service that answers everything in the same way.
async fn run_at(body: &Value, tool: &str, arguments: Value) -> ToolResult<Value> {
    let body = body.clone();
    run(stub_services(move |_| (200, body.clone())), tool, arguments).await
}

/// Calls that change a file or folder, each with the kind and the state of what it is for.
fn changes() -> [(&'static str, Value, Value); 11] {
    let file = || brief_record("file", "active");
    let of = |more: Value| {
        let mut given = json!({ "file_uuid": ID });
        for (name, value) in more.as_object().unwrap() {
            given[name] = value.clone();
        }
        given
    };
    let to = json!({ "target_folder_uuid": ID });
    let many = json!({ "file_uuids": [ID], "target_folder_uuid": ID });
    let folder = json!({ "folder_uuid": ID, "confirm_token_use": true });
    [
        ("move_file", of(to.clone()), file()),
        ("move_files", many, file()),
        ("rename_file", of(json!({ "new_name": "q" })), file()),
        ("copy_file", of(to), file()),
        ("delete_file", of(json!({})), file()),
        (
            "restore_from_trash",
            of(json!({})),
            brief_record("file", "trashed"),
        ),
        ("favorite_file", of(json!({ "action": "add" })), file()),
        (
            "set_file_description",
            of(json!({ "description": "q" })),
            file(),
        ),
        (
            "restore_file_version",
            of(json!({ "version_id": ID })),
            file(),
        ),
        ("classify_file", of(json!({ "labels": {} })), file()),
        (
            "auto_classify_folder",
            folder,
            brief_record("folder", "active"),
        ),
    ]
}

#[tokio::test]
async fn a_change_is_made_where_the_record_of_the_file_is_not_complete() {
    for (tool, arguments, brief) in changes() {
        let mut without_version = brief.clone();
        without_version.as_object_mut().unwrap().remove("version");
        for record in [brief, without_version, json!({}), Value::Null] {
            let result = run_at(&record, tool, arguments.clone()).await;
            assert!(result.is_ok(), "{tool} {record}: {result:?}");
        }
    }
}

#[tokio::test]
async fn a_change_that_can_not_be_taken_back_says_so() {
    let rename = json!({ "file_uuid": ID, "new_name": "q" });
    let brief = brief_record("file", "active");
    let noted = run_at(&brief, "rename_file", rename.clone()).await;
    assert!(noted.unwrap().get("note").is_none());
    let unnoted = run_at(&json!({}), "rename_file", rename).await.unwrap();
    let note = unnoted["note"].as_str().unwrap_or_default();
    assert!(note.contains("leaves this one"), "{unnoted}");
}

#[tokio::test]
async fn a_change_of_a_brief_record_can_be_taken_back() {
    let is_renamed = AtomicBool::new(false);
    let services = Arc::new(stub_services(move |request| {
        if request.method == Method::PUT {
            is_renamed.store(true, Ordering::Relaxed);
        }
        let mut record = brief_record("file", "active");
        if is_renamed.load(Ordering::Relaxed) {
            record["name"] = json!("q");
            record["version"] = json!(2);
        }
        (200, record)
    }));
    let mut tools = toolset::ALL.iter().flat_map(|set| set.tools);
    let tool = tools.find(|tool| tool.name == "rename_file").unwrap();
    let mut rename = call_of(
        stub_services(|_| (500, Value::Null)),
        json!({ "file_uuid": ID, "new_name": "q" }),
    );
    rename.services = services.clone();
    Box::pin(call::run(tool, rename, TimeLimit::NONE))
        .await
        .unwrap();
    assert_eq!(services.journal.noted_changes().len(), 1);
}

#[tokio::test]
async fn what_is_made_needs_no_list_of_what_was_there() {
    let link = json!({ "file_uuid": ID, "email": "a@b.example" });
    let setting = json!({ "short_code": "abc", "is_active": false, "password": "long enough" });
    for (tool, arguments) in [
        ("create_folder", json!({ "name": "q" })),
        ("create_nested_folders", json!({ "path": "a/b" })),
        ("create_share_link", json!({ "file_uuid": ID })),
        ("share_file_by_email", link),
        ("bulk_create_share_links", json!({ "file_uuids": [ID] })),
        ("update_share_link", setting),
        ("toggle_share_link", json!({ "short_code": "abc" })),
    ] {
        let brief = brief_record("file", "active");
        let link = json!({ "short_code": "abc", "url": "https://files.example/s/abc" });
        for body in [json!({}), json!([]), Value::Null, brief, link] {
            let result = run_at(&body, tool, arguments.clone()).await;
            assert!(result.is_ok(), "{tool} {body}: {result:?}");
        }
    }
}

#[tokio::test]
async fn the_quota_is_shown_where_the_files_can_not_be_listed() {
    for (status, snapshot) in [(404, json!({ "message": "no" })), (200, json!({}))] {
        let services = stub_services(move |request| {
            if request.path.contains("/changes/snapshot") {
                (status, snapshot.clone())
            } else {
                (200, json!({ "used": 7 }))
            }
        });
        let usage = run(services, "get_storage_usage", json!({})).await.unwrap();
        assert_eq!(usage["used"], 7);
        assert!(usage["note"].is_string() && usage.get("files").is_none());
    }
}

#[test]
fn only_what_claims_nothing_is_filled_in() {
    let node = read_node(brief_record("file", "trashed")).unwrap();
    assert_eq!((node.version, node.state), (1, NodeState::Trashed));
    assert_eq!((node.size, node.updated_at.0, node.favorite), (0, 0, false));
    for name in ["id", "name", "kind", "space_id", "version", "state"] {
        let mut record = brief_record("file", "active");
        record.as_object_mut().unwrap().remove(name);
        let error = read_node(record).unwrap_err().public_message();
        assert!(error.contains("response can't be used"), "{name}: {error}");
        assert!(error.contains(name), "{name}: {error}");
    }
}
