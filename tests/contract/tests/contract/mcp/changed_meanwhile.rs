//! Changes of what a call is about while a person is asked about it: their consent is to what they were asked.

use crate::mcp::session::{Session, failure, text};
use crate::mcp::world::{Setup, World, with_passphrase};
use cairn_api::Method;
use serde_json::{Value, json};

fn yes() -> Value {
    json!({ "action": "accept", "content": { "confirm": true } })
}

async fn asking_session(world: &World, setup: Setup) -> Session {
    let mut session = world.connect(setup);
    session.initialize(json!({ "elicitation": {} })).await;
    session
}

/// Calls a tool, and returns the id of the call with its question.
async fn begin(session: &mut Session, tool: &str, arguments: Value) -> (u64, Value) {
    let params = json!({ "name": tool, "arguments": arguments });
    let id = session.begin("tools/call", params).await;
    let question = session.response_or_request(id).await;
    assert_eq!(question["method"], "elicitation/create", "{question}");
    (id, question)
}

/// Replies to the question of a call, and returns what comes next: its result, or another question.
async fn reply(session: &mut Session, id: u64, question: &Value, reply: Value) -> Value {
    let response = json!({ "jsonrpc": "2.0", "id": question["id"], "result": reply });
    session.send(response).await;
    session.response_or_request(id).await
}

fn message(question: &Value) -> &str {
    question["params"]["message"].as_str().unwrap()
}

async fn make_folder(world: &World, name: &str) -> String {
    let folder = json!({ "name": name, "kind": "folder" });
    let folder = world.rest(Method::POST, "nodes", Some(folder)).await;
    folder["id"].as_str().unwrap().to_owned()
}

async fn trash_folder(world: &World, name: &str) -> String {
    let id = make_folder(world, name).await;
    let path = format!("nodes/{id}");
    world.rest(Method::DELETE, &path, None).await;
    id
}

async fn trashed_names(world: &World) -> Vec<String> {
    let trash = world.rest(Method::GET, "trash", None).await;
    let trashed = trash["content"].as_array().unwrap().iter();
    let names = trashed.map(|node| node["name"].as_str().unwrap().to_owned());
    names.collect()
}

#[tokio::test]
async fn what_came_into_the_trash_meanwhile_is_asked_about_anew() {
    let world = World::start().await;
    let mut session = asking_session(&world, Setup::default()).await;
    trash_folder(&world, "first").await;
    let (id, question) = begin(&mut session, "empty_trash", json!({})).await;
    assert!(message(&question).contains("delete 1 item"), "{question}");
    trash_folder(&world, "second").await;
    let again = reply(&mut session, id, &question, yes()).await;
    assert_eq!(again["method"], "elicitation/create", "{again}");
    assert!(message(&again).starts_with("This has changed"), "{again}");
    assert!(message(&again).contains("delete 2 items"), "{again}");
    let refused = reply(&mut session, id, &again, json!({ "action": "decline" })).await;
    assert!(failure(&refused["result"]).is_some(), "{refused}");
    assert_eq!(trashed_names(&world).await.len(), 2);
}

/// The question is the same text.
#[tokio::test]
async fn another_item_of_the_same_size_is_asked_about_anew() {
    let world = World::start().await;
    let mut session = asking_session(&world, Setup::default()).await;
    let first = trash_folder(&world, "first").await;
    let (id, question) = begin(&mut session, "empty_trash", json!({})).await;
    let restore = format!("trash/{first}/restore");
    world.rest(Method::POST, &restore, None).await;
    trash_folder(&world, "second").await;
    let again = reply(&mut session, id, &question, yes()).await;
    assert!(message(&again).starts_with("This has changed"), "{again}");
    let done = reply(&mut session, id, &again, yes()).await;
    assert_eq!(text(&done["result"])["deleted"], 1, "{done}");
    let kept = format!("nodes/{first}");
    world.rest(Method::GET, &kept, None).await;
}

#[tokio::test]
async fn what_changes_each_time_is_not_asked_about_for_ever() {
    let world = World::start().await;
    let mut session = asking_session(&world, Setup::default()).await;
    trash_folder(&world, "0").await;
    let (id, mut asked) = begin(&mut session, "empty_trash", json!({})).await;
    let mut questions = 1;
    while asked["method"] == "elicitation/create" {
        assert!(questions < 10, "{asked}");
        trash_folder(&world, &questions.to_string()).await;
        asked = reply(&mut session, id, &asked, yes()).await;
        questions += 1;
    }
    let refused = failure(&asked["result"]).expect("it is refused");
    assert!(refused.contains("nothing was done"), "{refused}");
    assert_eq!(trashed_names(&world).await.len(), questions);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_local_file_that_was_changed_meanwhile_is_not_replaced() {
    let world = World::start().await;
    let dir = tempfile::tempdir().unwrap();
    let mut session = asking_session(&world, with_passphrase()).await;
    let path = dir.path().join("plan.txt");
    std::fs::write(&path, "of the service").unwrap();
    let up = json!({ "local_path": path });
    let file = session.call_ok("upload_file", up).await["file_uuid"].clone();
    std::fs::write(&path, "old").unwrap();
    let down = json!({ "file_uuid": file, "output_path": path });
    let (id, question) = begin(&mut session, "download_file", down).await;
    assert!(message(&question).contains("(3 B)"), "{question}");
    std::fs::write(&path, "new and only here").unwrap();
    let again = reply(&mut session, id, &question, yes()).await;
    assert!(message(&again).contains("(17 B)"), "{again}");
    reply(&mut session, id, &again, json!({ "action": "decline" })).await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "new and only here");
}

#[tokio::test]
async fn a_confirmation_of_the_stateless_protocol_is_for_one_call() {
    let world = World::start().await;
    let capabilities = json!({ "elicitation": { "form": {} } });
    let mut session = world.connect(Setup::default()).stateless(capabilities);
    make_folder(&world, "plans").await;
    let arguments = json!({ "file_uuid": "/plans", "storage_type": "VR_FOLDER" });
    let call = json!({ "name": "create_share_link", "arguments": arguments });
    let asked = session.request("tools/call", call.clone()).await["result"].clone();
    let mut confirmed = call;
    confirmed["inputResponses"] = json!({ "confirmation": yes() });
    confirmed["requestState"] = asked["requestState"].clone();
    for kind in ["complete", "input_required", "input_required"] {
        let result = session.request("tools/call", confirmed.clone()).await;
        assert_eq!(result["result"]["resultType"], kind, "{result}");
    }
    let links = session.call_ok("list_share_links", json!({})).await;
    assert_eq!(links["totalElements"], 1, "{links}");
}

/// The path that the client repeats names another file by then, of the same name and size.
#[tokio::test]
async fn a_confirmation_of_the_stateless_protocol_is_for_one_file() {
    let world = World::start().await;
    let capabilities = json!({ "elicitation": { "form": {} } });
    let mut session = world.connect(Setup::default()).stateless(capabilities);
    let first = make_folder(&world, "plans").await;
    let arguments = json!({ "file_uuid": "/plans", "storage_type": "VR_FOLDER" });
    let call = json!({ "name": "create_share_link", "arguments": arguments });
    let asked = session.request("tools/call", call.clone()).await["result"].clone();
    let moved = json!({ "name": "old plans" });
    let path = format!("nodes/{first}");
    world.rest(Method::PUT, &path, Some(moved)).await;
    make_folder(&world, "plans").await;
    let mut confirmed = call;
    confirmed["inputResponses"] = json!({ "confirmation": yes() });
    confirmed["requestState"] = asked["requestState"].clone();
    let again = session.request("tools/call", confirmed).await["result"].clone();
    assert_eq!(again["resultType"], "input_required", "{again}");
    let question = again["inputRequests"]["confirmation"]["params"].to_string();
    assert!(question.contains("This has changed"), "{question}");
}
