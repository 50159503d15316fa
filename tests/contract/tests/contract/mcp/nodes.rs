//! MCP tools about files and folders, without their contents: what the server does, and what clients seal
//! (authenticate) with the account's keys.

use crate::mcp::world::{Setup, World, with_passphrase};
use cairn_api::Method;
use serde_json::{Value, json};

fn id(node: &Value) -> &str {
    node["id"]
        .as_str()
        .unwrap_or_else(|| panic!("no id in {node}"))
}

/// The same scenario with and without the account's keys.
async fn scenario(setup: Setup) {
    let world = World::start().await;
    let mut session = world.session(setup).await;
    let a = session
        .call_ok("create_folder", json!({ "name": "a" }))
        .await;
    let b = session
        .call_ok("create_folder", json!({ "name": "b" }))
        .await;
    let inner = session
        .call_ok(
            "create_folder",
            json!({ "name": "inner", "parent_uuid": id(&a) }),
        )
        .await;
    assert!(inner.get("seal").is_none() && inner.get("content_source").is_none());
    let moved = session
        .call_ok(
            "move_file",
            json!({ "file_uuid": id(&inner), "target_folder_uuid": id(&b) }),
        )
        .await;
    assert_eq!(moved["parent_id"], b["id"]);
    let renamed = session
        .call_ok(
            "rename_file",
            json!({ "file_uuid": id(&inner), "new_name": "called" }),
        )
        .await;
    assert_eq!(
        (&renamed["name"], &renamed["parent_id"]),
        (&json!("called"), &b["id"])
    );
    let copied = session
        .call_ok(
            "copy_file",
            json!({ "file_uuid": id(&inner), "target_folder_uuid": id(&a) }),
        )
        .await;
    assert_eq!(copied["parent_id"], a["id"]);
    let upper = json!({ "file_uuid": id(&copied).to_uppercase() });
    let info = session.call_ok("get_file_info", upper).await;
    assert_eq!(info["name"], "called");
    let list = session
        .call_ok(
            "list_files",
            json!({ "folder_uuid": id(&a), "page_size": 1.0 }),
        )
        .await;
    assert_eq!(list["totalElements"], 1);
    let deleted = session
        .call_ok("delete_file", json!({ "file_uuid": id(&copied) }))
        .await;
    assert_eq!(deleted["success"], true, "{deleted}");
    let restored = session
        .call_ok("restore_from_trash", json!({ "file_uuid": id(&copied) }))
        .await;
    assert_eq!(restored["success"], true);
    session
        .call_ok("delete_file", json!({ "file_uuid": id(&copied) }))
        .await;
    assert_eq!(
        session.call_ok("empty_trash", json!({})).await["success"],
        true
    );
    session
        .call_err("get_file_info", json!({ "file_uuid": id(&copied) }))
        .await;
    let root = session.call_ok("list_files", json!({})).await;
    assert_eq!(root["totalElements"], 2);
}

#[tokio::test]
async fn the_service_changes_what_it_is_reported_to() {
    scenario(Setup::default()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_the_keys_the_same_things_happen_sealed() {
    let world = World::start().await;
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("x"), "x").unwrap();
    let mut session = world.session(with_passphrase()).await;
    let file = json!({ "local_path": dir.path().join("x") });
    session.call_ok("upload_file", file).await;
    let folder = session
        .call_ok("create_folder", json!({ "name": "sealed" }))
        .await;
    let raw = world
        .rest(
            cairn_api::Method::GET,
            &format!("nodes/{}", id(&folder)),
            None,
        )
        .await;
    assert!(raw["seal"].is_string(), "{raw}");
    let nested = json!({ "path": "/deep/er/", "parent_uuid": id(&folder) });
    let nested = session.call_ok("create_nested_folders", nested).await;
    assert_eq!(nested["folders"].as_array().unwrap().len(), 2, "{nested}");
    assert_eq!(nested["leaf_folder_uuid"], nested["folders"][1]["id"]);
    let again = json!({ "path": "deep/er", "parent_uuid": id(&folder) });
    let again = session.call_ok("create_nested_folders", again).await;
    assert_eq!(again["folders"], json!([]));
    assert_eq!(again["leaf_folder_uuid"], nested["leaf_folder_uuid"]);
    scenario(with_passphrase()).await;
}

#[tokio::test]
async fn names_that_hide_something_are_shown_plainly() {
    let world = World::start().await;
    let mut session = world.session(Setup::default()).await;
    let name = "in\u{200b}voice\u{202e}fdp.exe";
    session
        .call_ok("create_folder", json!({ "name": name }))
        .await;
    let list = session.call_ok("list_files", json!({})).await;
    assert_eq!(list["content"][0]["name"], "invoicefdp.exe");
}

#[tokio::test]
async fn every_file_and_folder_has_its_path() {
    let world = World::start().await;
    let mut session = world.session(Setup::default()).await;
    let levels = json!({ "path": "job/2026/plans" });
    let made = session.call_ok("create_nested_folders", levels).await;
    let paths = |list: &Value| -> Vec<String> {
        let items = list.as_array().unwrap().iter();
        items
            .map(|node| node["path"].as_str().unwrap_or("none").to_owned())
            .collect()
    };
    assert_eq!(
        paths(&made["folders"]),
        ["/job", "/job/2026", "/job/2026/plans"]
    );
    let leaf = made["leaf_folder_uuid"].clone();
    let other = json!({ "name": "plans" });
    session.call_ok("create_folder", other).await;
    let found = session
        .call_ok("search_files", json!({ "query": "plans" }))
        .await;
    let mut found = paths(&found["content"]);
    found.sort();
    assert_eq!(found, ["/job/2026/plans", "/plans"]);
    let list = json!({ "folder_uuid": made["folders"][1]["id"] });
    let list = session.call_ok("list_files", list).await;
    assert_eq!(paths(&list["content"]), ["/job/2026/plans"]);
    let rename = json!({ "file_uuid": made["folders"][0]["id"], "new_name": "archive" });
    assert_eq!(
        session.call_ok("rename_file", rename).await["path"],
        "/archive"
    );
    let info = json!({ "file_uuid": leaf });
    let info = session.call_ok("get_file_info", info).await;
    assert_eq!(
        info["path"], "/archive/2026/plans",
        "nothing old is remembered"
    );
    // Files of a team begin with its name.
    let team = session
        .call_ok("create_team", json!({ "name": "Us" }))
        .await;
    let shared = json!({ "name": "ours", "parent_uuid": team["id"] });
    let shared = session.call_ok("create_folder", shared).await;
    assert_eq!(shared["path"], "Us/ours", "{shared}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_call_names_the_largest_and_the_stale_files() {
    let world = World::start().await;
    let mut session = world.session(with_passphrase()).await;
    let dir = tempfile::tempdir().unwrap();
    let local = dir.path().join("all");
    std::fs::create_dir_all(local.join("old")).unwrap();
    for n in 1..=12 {
        std::fs::write(local.join(format!("f{n:02}")), "x".repeat(n * 10)).unwrap();
    }
    let old = std::fs::File::create(local.join("old/report")).unwrap();
    old.set_len(500).unwrap();
    let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_500_000_000);
    old.set_modified(long_ago).unwrap();
    let up = json!({ "local_path": local });
    session.call_ok("upload_folder", up).await;
    let usage = session.call_ok("get_storage_usage", json!({})).await;
    let files = &usage["files"];
    let largest = files["largest"].as_array().unwrap();
    assert_eq!(largest.len(), 10, "{usage}");
    assert_eq!(largest[0]["path"], "/all/old/report");
    assert_eq!(
        (&largest[1]["path"], &largest[1]["size"]),
        (&json!("/all/f12"), &json!(120))
    );
    let stale = &files["not_modified_for_90_days"];
    assert_eq!(
        (&stale["count"], &stale["bytes"]),
        (&json!(1), &json!(500)),
        "{stale}"
    );
    assert!(files.get("note").is_none(), "{files}");
    assert!(
        usage.to_string().len() < 8_000 * 2,
        "{}",
        usage.to_string().len()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_is_restored_by_its_number_without_keys() {
    let world = World::start().await;
    let mut session = world.session(with_passphrase()).await;
    let dir = tempfile::tempdir().unwrap();
    let local = dir.path().join("x");
    let mut file = Value::Null;
    for text in ["first", "second"] {
        std::fs::write(&local, text).unwrap();
        let up = json!({ "local_path": local });
        file = session.call_ok("upload_file", up).await["file_uuid"].clone();
    }
    let mut session = world.session(Setup::default()).await;
    let size = async |session: &mut crate::mcp::session::Session| {
        let info = session.call_ok("get_file_info", json!({ "file_uuid": file }));
        info.await["size"].clone()
    };
    let newer = size(&mut session).await;
    let restore = |number: &str| json!({ "file_uuid": file, "version_id": number });
    session.call_ok("restore_file_version", restore("1")).await;
    assert_ne!(size(&mut session).await, newer);
    let missing = session.call_err("restore_file_version", restore("9")).await;
    assert!(missing.contains("has no such version"), "{missing}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_back_or_is_copied_stays_verified() {
    let world = World::start().await;
    let mut session = world.session(with_passphrase()).await;
    let dir = tempfile::tempdir().unwrap();
    let local = dir.path().join("all");
    std::fs::create_dir_all(local.join("deep")).unwrap();
    std::fs::write(local.join("deep/notes.txt"), "first").unwrap();
    let up = json!({ "local_path": local });
    let folder = session.call_ok("upload_folder", up.clone()).await["folder_uuid"].clone();
    std::fs::write(local.join("deep/notes.txt"), "second").unwrap();
    session.call_ok("upload_folder", up).await;
    let found = session.call_ok("search_files", json!({ "query": "notes" }));
    let file = json!({ "file_uuid": found.await["content"][0]["id"] });
    let content = async |session: &mut crate::mcp::session::Session, file: &Value| {
        let read = session.call_ok("read_file_content", file.clone()).await;
        assert_eq!(read["verified"], true, "{read}");
        session.call_ok("create_share_link", file.clone()).await;
        read["content"].clone()
    };

    session.call_ok("delete_file", file.clone()).await;
    session.call_ok("restore_from_trash", file.clone()).await;
    assert_eq!(content(&mut session, &file).await, "second");
    let versions = session.call_ok("get_file_versions", file.clone()).await;
    let rows = versions["content"].as_array().unwrap();
    let first = rows.iter().find(|row| row["number"] == 1).unwrap();
    let restore = json!({ "file_uuid": file["file_uuid"], "version_id": first["id"] });
    session.call_ok("restore_file_version", restore).await;
    assert_eq!(content(&mut session, &file).await, "first");
    // The number that the list of versions shows does as well as the id.
    for (number, text) in [("2", "second"), ("1", "first")] {
        let restore = json!({ "file_uuid": file["file_uuid"], "version_id": number });
        session.call_ok("restore_file_version", restore).await;
        assert_eq!(content(&mut session, &file).await, text);
    }
    let stranger = json!({ "file_uuid": file["file_uuid"], "version_id": "v9" });
    let missing = session.call_err("restore_file_version", stranger).await;
    assert!(missing.contains("get_file_versions"), "{missing}");

    let target = session
        .call_ok("create_folder", json!({ "name": "target" }))
        .await;
    let copy = json!({ "file_uuid": folder, "target_folder_uuid": id(&target) });
    let copy = session.call_ok("copy_file", copy).await;
    assert!(copy.get("note").is_none(), "{copy}");
    let deep = session.call_ok("list_files", json!({ "folder_uuid": id(&copy) }));
    let deep = deep.await["content"][0]["id"].clone();
    let inside = session.call_ok("list_files", json!({ "folder_uuid": deep }));
    let copied = json!({ "file_uuid": inside.await["content"][0]["id"] });
    assert_eq!(content(&mut session, &copied).await, "first");
}

#[tokio::test]
async fn a_folder_in_the_trash_is_not_shown_as_an_empty_one() {
    let world = World::start().await;
    let mut session = world.session(Setup::default()).await;
    let made = json!({ "path": "gone/inside" });
    let made = session.call_ok("create_nested_folders", made).await;
    let gone = json!({ "folder_uuid": made["folders"][0]["id"] });
    let before = session.call_ok("list_files", gone.clone()).await;
    assert!(before.get("note").is_none(), "{before}");
    let delete = json!({ "file_uuid": made["folders"][0]["id"] });
    session.call_ok("delete_file", delete).await;
    let after = session.call_ok("list_files", gone).await;
    let note = after["note"].as_str().unwrap_or_default();
    assert!(note.contains("restore_from_trash"), "{after}");
}

/// The two look the same where invisible characters are left out.
#[tokio::test]
async fn a_path_never_leads_to_another_file_that_looks_the_same() {
    let world = World::start().await;
    let mut session = world.session(Setup::default()).await;
    let mut ids = Vec::new();
    for name in ["invoice", "in\u{200b}voice"] {
        let folder = json!({ "name": name, "kind": "folder" });
        let made = world.rest(Method::POST, "nodes", Some(folder)).await;
        ids.push(made["id"].clone());
    }
    let list = session.call_ok("list_files", json!({})).await;
    for node in list["content"].as_array().unwrap() {
        assert_eq!(node["name"], "invoice", "{list}");
        let is_plain = node["id"] == ids[0];
        assert_eq!(node.get("path").is_some(), is_plain, "{list}");
        assert_eq!(
            node.get("invisible_characters").is_none(),
            is_plain,
            "{list}"
        );
    }
    let info = json!({ "file_uuid": "/invoice" });
    let info = session.call_ok("get_file_info", info).await;
    assert_eq!(info["id"], ids[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_back_to_its_place_in_a_folder_that_is_made_again_says_so() {
    for setup in [Setup::default(), with_passphrase()] {
        let is_sealed = setup.passphrase.is_some();
        let world = World::start().await;
        let mut session = world.session(setup).await;
        if is_sealed {
            // The account's keys are made with its first content.
            let file = tempfile::NamedTempFile::new().unwrap();
            let upload = json!({ "local_path": file.path(), "file_name": "x" });
            session.call_ok("upload_file", upload).await;
        }
        let gone = json!({ "name": "gone" });
        let gone = session.call_ok("create_folder", gone).await;
        let inside = json!({ "name": "inside", "parent_uuid": gone["id"] });
        let inside = session.call_ok("create_folder", inside).await;
        for node in [&inside, &gone] {
            let delete = json!({ "file_uuid": node["id"] });
            session.call_ok("delete_file", delete).await;
        }
        let restore = json!({ "file_uuid": inside["id"] });
        let restored = session.call_ok("restore_from_trash", restore).await;
        assert_eq!(restored["path"], "/gone/inside", "{restored}");
        let note = restored["note"].as_str().unwrap_or_default();
        assert!(note.contains("another one of that name"), "{restored}");
        assert!(!note.contains("unverified"), "{restored}");
        let info = json!({ "file_uuid": "/gone/inside" });
        let info = session.call_ok("get_file_info", info).await;
        assert_eq!(info["id"], inside["id"], "{info}");

        // What has no folder any more is at the top.
        for node in [&inside["id"], &restored["parent_id"]] {
            let delete = json!({ "file_uuid": node });
            session.call_ok("delete_file", delete).await;
        }
        let folder = restored["parent_id"].as_str().unwrap();
        let path = format!("trash/{folder}");
        world.rest(Method::DELETE, &path, None).await;
        let restore = json!({ "file_uuid": inside["id"] });
        let restored = session.call_ok("restore_from_trash", restore).await;
        assert_eq!(restored["path"], "/inside", "{restored}");
        let note = restored["note"].as_str().unwrap_or_default();
        assert!(note.contains("is gone"), "{restored}");
        assert_eq!(note.contains("unverified"), is_sealed, "{restored}");
    }
}
