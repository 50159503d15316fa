//! Asking before what can't be undone, in the older and the newer revision of MCP.

use crate::mcp::session::Session;
use crate::mcp::world::{Setup, World};
use cairn_api::Method;
use cairn_mcp::Confirm;
use serde_json::{Value, json};

/// Puts a folder into the trash: an empty one is not asked about.
async fn fill_trash(world: &World) {
    let folder = json!({ "name": "gone", "kind": "folder" });
    let folder = world.rest(Method::POST, "nodes", Some(folder)).await;
    let path = format!("nodes/{}", folder["id"].as_str().unwrap());
    world.rest(Method::DELETE, &path, None).await;
}

async fn reply_to_question(session: &mut Session, response: Value) -> Value {
    let call = json!({ "name": "empty_trash", "arguments": {} });
    let id = session.begin("tools/call", call).await;
    let question = session.response_or_request(id).await;
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.starts_with("Empty the trash"), "{message}");
    session
        .send(json!({ "jsonrpc": "2.0", "id": question["id"], "result": response }))
        .await;
    session.response_or_request(id).await["result"].clone()
}

#[tokio::test]
async fn a_client_that_can_ask_is_asked_to() {
    let world = World::start().await;
    let mut session = world.connect(Setup::default());
    session.initialize(json!({ "elicitation": {} })).await;
    let yes = json!({ "action": "accept", "content": { "confirm": true } });
    fill_trash(&world).await;
    assert_ne!(reply_to_question(&mut session, yes).await["isError"], true);
    fill_trash(&world).await;
    for no in [
        json!({ "action": "accept", "content": { "confirm": false } }),
        json!({ "action": "accept", "content": { "confirm": "true" } }),
        json!({ "action": "accept", "content": { "confirm": null } }),
        json!({ "action": "accept", "content": {} }),
        json!({ "action": "accept" }),
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
    ] {
        let result = reply_to_question(&mut session, no).await;
        let message = crate::mcp::session::failure(&result).expect("it is refused");
        assert!(message.contains("not confirmed"), "{message}");
    }
    session.call_ok("list_files", json!({})).await;
}

#[tokio::test]
async fn the_stateless_protocol_asks_through_the_result() {
    let world = World::start().await;
    let capabilities = json!({ "elicitation": { "form": {} } });
    let mut session = world.connect(Setup::default()).stateless(capabilities);
    fill_trash(&world).await;
    let call = json!({ "name": "empty_trash", "arguments": {} });
    let first = session.request("tools/call", call.clone()).await["result"].clone();
    assert_eq!(first["resultType"], "input_required", "{first}");
    let (key, request) = first["inputRequests"]
        .as_object()
        .and_then(|asks| asks.iter().next())
        .expect("one question");
    assert_eq!(request["method"], "elicitation/create");
    let again = |action: &str, state: &Value| {
        let mut call = call.clone();
        call["inputResponses"] =
            json!({ key: { "action": action, "content": { "confirm": true } } });
        call["requestState"] = state.clone();
        call
    };
    let state = &first["requestState"];
    let done = session.request("tools/call", again("accept", state)).await;
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
    assert_ne!(done["result"]["isError"], true, "{done}");
    fill_trash(&world).await;
    let second = session.request("tools/call", call.clone()).await["result"].clone();
    let second = &second["requestState"];
    let declined = session
        .request("tools/call", again("decline", second))
        .await;
    assert_eq!(declined["result"]["isError"], true);
    let forged = session
        .request("tools/call", again("accept", &json!("x")))
        .await;
    assert_eq!(
        forged["result"]["resultType"], "input_required",
        "asked anew"
    );
}

#[tokio::test]
async fn nobody_is_asked_where_it_is_switched_off_or_impossible() {
    let world = World::start().await;
    let never = Setup {
        confirm: Confirm::Never,
        ..Setup::default()
    };
    let mut session = world.connect(never);
    session.initialize(json!({ "elicitation": {} })).await;
    fill_trash(&world).await;
    session.call_ok("empty_trash", json!({})).await;
    let mut session = world.session(Setup::default()).await;
    fill_trash(&world).await;
    session.call_ok("empty_trash", json!({})).await;
}

#[tokio::test]
async fn an_empty_trash_is_not_asked_about_and_those_of_teams_are_named() {
    let world = World::start().await;
    let mut session = world.connect(Setup::default());
    session.initialize(json!({ "elicitation": {} })).await;
    let empty = session.call_ok("empty_trash", json!({})).await;
    let message = empty["message"].as_str().unwrap();
    assert!(message.contains("your own space was empty"), "{empty}");
    assert!(empty.get("note").is_none(), "{empty}");

    let team = json!({ "name": "Five" });
    let team = session.call_ok("create_team", team).await["id"].clone();
    for name in ["a", "b"] {
        let folder = json!({ "name": name, "parent_uuid": team });
        let folder = session.call_ok("create_folder", folder).await["id"].clone();
        let folder = json!({ "file_uuid": folder });
        session.call_ok("delete_file", folder).await;
    }
    // Nothing of it is in the trash that is emptied.
    let empty = session.call_ok("empty_trash", json!({})).await;
    let stays = "the trash of your teams stays as it is, with 2 items";
    assert_eq!(empty["note"], stays, "{empty}");
    fill_trash(&world).await;
    let call = json!({ "name": "empty_trash", "arguments": {} });
    let id = session.begin("tools/call", call).await;
    let question = session.response_or_request(id).await;
    let message = question["params"]["message"].as_str().unwrap();
    for words in ["your own space: delete 1 item", stays] {
        assert!(message.contains(words), "{message}");
    }
    let yes = json!({ "action": "accept", "content": { "confirm": true } });
    let yes = json!({ "jsonrpc": "2.0", "id": question["id"], "result": yes });
    session.send(yes).await;
    let emptied = session.response_or_request(id).await["result"].clone();
    let emptied = crate::mcp::session::text(&emptied);
    assert_eq!(
        (&emptied["deleted"], &emptied["note"]),
        (&json!(1), &json!(stays)),
        "{emptied}"
    );
}

/// The look for the question and the one of the call itself may see different things.
#[tokio::test]
async fn what_came_since_the_trash_was_seen_empty_is_not_deleted() {
    let world = World::start().await;
    let mut session = world.connect(Setup::default());
    session.initialize(json!({ "elicitation": {} })).await;
    fill_trash(&world).await;
    let empty = json!({
        "path_pattern": "/api/v1/nodes$", "method": "GET", "count": 1,
        "set": { "/totalElements": 0, "/content": [] },
    });
    world.dev("/_dev/faults", empty).await;
    let emptied = session.call_ok("empty_trash", json!({})).await;
    assert_eq!(emptied["deleted"], 0, "{emptied}");
    let requests = world.requests().await;
    let is_deletion = |request: &String| request.starts_with("DELETE /api/v1/trash");
    assert!(!requests.iter().any(is_deletion), "{requests:?}");
}

#[tokio::test]
async fn deletions_that_wait_for_a_person_go_on_waiting_where_nobody_is_asked() {
    let world = World::start().await;
    let dir = tempfile::tempdir().unwrap();
    let delete = json!({ "folder": "/home/me/Docs", "answer": "delete" });
    for (confirm, capabilities) in [
        (Confirm::Risky, json!({})),
        (Confirm::Never, json!({ "elicitation": {} })),
    ] {
        let setup = Setup {
            confirm,
            ..Setup::default()
        };
        let mut session = world.connect(setup.with_sync(dir.path()));
        session.initialize(capabilities).await;
        let refused = session.call_err("sync_confirm", delete.clone()).await;
        assert!(refused.contains("cairn confirm"), "{confirm:?}: {refused}");
    }
}

#[tokio::test]
async fn settings_that_are_only_shown_need_no_confirmation() {
    let world = World::start().await;
    let always = Setup {
        confirm: Confirm::Always,
        ..Setup::default()
    };
    let mut session = world.session(always).await;
    session.call_ok("set_share_link_defaults", json!({})).await;
    let change = json!({ "default_access_mode": "view_only" });
    let refused = session.call_err("set_share_link_defaults", change).await;
    assert!(refused.contains("confirmation"), "{refused}");
}

#[tokio::test]
async fn a_plan_that_changes_nothing_needs_no_confirmation() {
    let world = World::start().await;
    let dir = tempfile::tempdir().unwrap();
    let always = Setup {
        confirm: Confirm::Always,
        ..Setup::default()
    };
    let mut session = world.session(always.with_sync(dir.path())).await;
    let plan = json!({ "path": "/docs", "to": "2h ago" });
    let planned = session.call_err("sync_rewind", plan).await;
    assert!(!planned.contains("needs a confirmation"), "{planned}");
    let change = json!({ "path": "/docs", "to": "2h ago", "carry_out": true });
    let refused = session.call_err("sync_rewind", change).await;
    assert!(refused.contains("needs a confirmation"), "{refused}");
}

/// The reference marks what has to be confirmed; each of those asks, and nothing else does.
#[tokio::test]
async fn exactly_what_the_reference_marks_is_asked_about() {
    let world = World::start().await;
    let capabilities = json!({ "elicitation": { "form": {} } });
    let mut session = world.connect(Setup::default()).stateless(capabilities);
    fill_trash(&world).await;
    let there = what_is_there(&world).await;
    let mut reference = crate::mcp::catalogue::reference();
    // A question changes nothing, and the other calls do.
    reference.sort_by_key(|tool| tool["confirm"] != true);
    for tool in &reference {
        let value = |param: &Value| match there.get(param["name"].as_str().unwrap()) {
            Some(known) if tool["confirm"] == true => known.clone(),
            Some(_) | None => sample(param),
        };
        let arguments: serde_json::Map<_, _> = tool["params"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|param| param["required"] == true || param["name"] == "storage_type")
            .map(|param| (param["name"].as_str().unwrap().to_owned(), value(param)))
            .collect();
        let call = json!({ "name": tool["name"], "arguments": arguments });
        let result = session.request("tools/call", call).await["result"].clone();
        let asks = result["resultType"] == "input_required";
        assert_eq!(asks, tool["confirm"] == true, "{}: {result}", tool["name"]);
    }
}

/// Makes something for every argument that names something, and returns its id.
async fn what_is_there(world: &World) -> Value {
    let make = async |path: &str, body: Value| world.rest(Method::POST, path, Some(body)).await;
    let folder = make("nodes", json!({ "name": "plans", "kind": "folder" })).await["id"].clone();
    let comments = format!("nodes/{}/comments", folder.as_str().unwrap());
    let comment = make(&comments, json!({ "text": "looks good" })).await;
    let link = make("shares", json!({ "file_id": folder })).await;
    let hook = json!({ "url": "https://example.com/", "events": ["file.uploaded"] });
    let hook = make("webhooks", hook).await;
    let team = world.rest(Method::GET, "teams", None).await["content"][0]["id"].clone();
    let as_member = async |path: &str| {
        let key = "ck_dev_member";
        world.rest_as(key, Method::GET, path, None).await
    };
    let plans = as_member("payment/creator/plans").await;
    json!({
        "file_uuid": folder,
        "storage_type": "VR_FOLDER",
        "folder_uuid": folder,
        "comment_id": comment["id"],
        "short_code": link["short_code"],
        "webhook_id": hook["id"],
        "team_uuid": team,
        "user_id": as_member("useraccount/composite").await["id"],
        "tip_jar_uuid": as_member("social/profile").await["tip_jar_id"],
        "plan_uuid": plans["content"][0]["id"],
    })
}

/// A value that passes the check and means nothing to the service.
fn sample(param: &Value) -> Value {
    if let Some(first) = param.pointer("/enum/0") {
        return first.clone();
    }
    match (
        param["type"].as_str().unwrap(),
        param["name"].as_str().unwrap(),
    ) {
        ("boolean", _) => json!(true),
        ("number", _) => json!(1),
        ("object", _) => json!({ "a": "b" }),
        ("array", "events") => json!(["file.uploaded"]),
        ("array", _) => json!(["00000000-0000-4000-8000-000000000000"]),
        (_, "email") => json!("nobody@example.com"),
        (_, "url") => json!("https://example.com/"),
        (_, "amount" | "price_monthly") => json!("1.00"),
        (_, "passphrase_hash") => json!("ab".repeat(32)),
        (_, "local_path" | "output_path") => json!("/nowhere/at/all"),
        _ if param["format"] == "uuid" => json!("00000000-0000-4000-8000-000000000000"),
        _ => json!("abcde"),
    }
}
