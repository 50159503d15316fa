//! Files of this machine: which of them tools use, and that none is replaced without a person's consent.

use crate::mcp::session::{Session, failure};
use crate::mcp::world::{Setup, World, with_passphrase};
use cairn_mcp::Confirm;
use serde_json::{Value, json};
use std::path::Path;

const NOBODY: &str = "00000000-0000-4000-8000-000000000000";

fn setup_limited_to(dir: &Path) -> Setup {
    Setup {
        allowed: Some(vec![dir.to_owned()]),
        ..with_passphrase()
    }
}

/// Uploads a file with this content and returns its id.
async fn upload(session: &mut Session, path: &Path, content: &str) -> Value {
    std::fs::write(path, content).unwrap();
    let given = json!({ "local_path": path });
    session.call_ok("upload_file", given).await["file_uuid"].clone()
}

/// Calls a tool, replies to its question, and returns the question and the result.
async fn call_and_reply(
    session: &mut Session,
    tool: &str,
    arguments: Value,
    reply: Value,
) -> (String, Value) {
    let params = json!({ "name": tool, "arguments": arguments });
    let id = session.begin("tools/call", params).await;
    let question = session.response_or_request(id).await;
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let response = json!({ "jsonrpc": "2.0", "id": question["id"], "result": reply });
    session.send(response).await;
    let result = session.response_or_request(id).await["result"].clone();
    let message = question["params"]["message"].as_str().unwrap().to_owned();
    (message, result)
}

fn yes() -> Value {
    json!({ "action": "accept", "content": { "confirm": true } })
}

async fn asking_session(world: &World, setup: Setup) -> Session {
    let mut session = world.connect(setup);
    session.initialize(json!({ "elicitation": {} })).await;
    session
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_use_allowed_folders_only_and_nothing_hidden_there() {
    let world = World::start().await;
    let dir = tempfile::tempdir().unwrap();
    let allowed = dir.path().join("allowed");
    std::fs::create_dir_all(allowed.join(".ssh")).unwrap();
    std::fs::write(dir.path().join("outside"), "x").unwrap();
    std::fs::write(allowed.join(".ssh/id_rsa"), "x").unwrap();
    let mut session = world.session(setup_limited_to(&allowed)).await;
    let id = upload(&mut session, &allowed.join("fine"), "x").await;
    for (path, word) in [
        (dir.path().join("outside"), "--allow-dir"),
        (allowed.join("../outside"), "--allow-dir"),
        (allowed.join(".ssh/id_rsa"), "hidden"),
        (allowed.join(".bashrc"), "hidden"),
        (allowed.join("Library/LaunchAgents/x"), "log-in"),
    ] {
        for (tool, given) in [
            (
                "download_file",
                json!({ "file_uuid": id, "output_path": path }),
            ),
            (
                "download_folder",
                json!({ "folder_uuid": NOBODY, "output_path": path }),
            ),
            ("upload_file", json!({ "local_path": path })),
            ("upload_folder", json!({ "local_path": path })),
        ] {
            let message = session.call_err(tool, given).await;
            assert!(message.contains(word), "{tool} {path:?}: {message}");
        }
    }
    assert!(!allowed.join(".bashrc").exists());
    let up = json!({ "local_path": allowed });
    let up = session.call_ok("upload_folder", up).await;
    assert_eq!(
        (&up["files_uploaded"], &up["failed"]),
        (&json!(1), &json!(1)),
        "{up}"
    );
    assert!(
        up["errors"][0]["error"]
            .as_str()
            .unwrap()
            .contains("hidden")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_another_installation_is_uploaded() {
    let world = World::start().await;
    let dir = tempfile::tempdir().unwrap();
    let docs = dir.path().join("docs");
    let other = docs.join("second");
    std::fs::create_dir_all(other.join("logs")).unwrap();
    std::fs::write(other.join(".cairn-home"), "").unwrap();
    for file in ["secrets.json", "logs/daemon.log"] {
        std::fs::write(other.join(file), "x").unwrap();
    }
    std::fs::write(docs.join("fine"), "x").unwrap();
    let mut session = world.session(setup_limited_to(dir.path())).await;
    let (secrets, logs) = (other.join("secrets.json"), other.join("logs"));
    for (tool, path) in [("upload_file", &secrets), ("upload_folder", &logs)] {
        let message = session.call_err(tool, json!({ "local_path": path })).await;
        assert!(message.contains("belongs to Cairn itself"), "{message}");
    }
    let up = json!({ "local_path": docs });
    let up = session.call_ok("upload_folder", up).await;
    let sums = (&up["files_uploaded"], &up["folders_created"]);
    assert_eq!(sums, (&json!(1), &json!(1)), "{up}");
    let error = up["errors"][0]["error"].as_str().unwrap();
    assert!(error.contains("Cairn keeps files of its own"), "{up}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_roots_of_the_client_are_allowed() {
    let world = World::start().await;
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let root = dir.path().join("my project");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("x"), "x").unwrap();
    let mut session = world.connect(with_passphrase());
    session.initialize(json!({ "roots": {} })).await;
    for (uri, word) in [
        (
            format!("file://{}", root.display()).replace(' ', "%20"),
            None,
        ),
        ("file:///".to_owned(), Some("--allow-dir")),
        ("https://example.com/".to_owned(), Some("--allow-dir")),
    ] {
        let arguments = json!({ "local_path": root.join("x") });
        let params = json!({ "name": "upload_file", "arguments": arguments });
        let id = session.begin("tools/call", params).await;
        let request = session.response_or_request(id).await;
        assert_eq!(request["method"], "roots/list", "{request}");
        let roots = json!({ "roots": [{ "uri": uri }] });
        session
            .send(json!({ "jsonrpc": "2.0", "id": request["id"], "result": roots }))
            .await;
        let result = session.response_or_request(id).await["result"].clone();
        match word {
            None => assert_ne!(result["isError"], true, "{result}"),
            Some(word) => assert!(failure(&result).unwrap().contains(word), "{result}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_roots_of_a_client_of_the_stateless_protocol_are_allowed_too() {
    let world = World::start().await;
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = dir.path().join("x");
    std::fs::write(&file, "x").unwrap();
    let capabilities = json!({ "roots": {}, "elicitation": { "form": {} } });
    let mut session = world.connect(with_passphrase()).stateless(capabilities);
    let up = json!({ "name": "upload_file", "arguments": { "local_path": file } });
    let first = session.request("tools/call", up.clone()).await["result"].clone();
    assert_eq!(first["resultType"], "input_required", "{first}");
    assert_eq!(
        first["inputRequests"]["roots"]["method"], "roots/list",
        "{first}"
    );
    let roots = |uri: &str| json!({ "roots": [{ "uri": uri }] });
    let own = format!("file://{}", dir.path().display());
    let mut elsewhere = up.clone();
    elsewhere["inputResponses"] = json!({ "roots": roots("file:///nowhere") });
    let refused = session.request("tools/call", elsewhere).await["result"].clone();
    assert!(
        failure(&refused).unwrap().contains("--allow-dir"),
        "{refused}"
    );
    let mut again = up;
    again["inputResponses"] = json!({ "roots": roots(&own) });
    let done = session.request("tools/call", again).await["result"].clone();
    let id = crate::mcp::session::text(&done)["file_uuid"].clone();
    // A question about the same call asks for the roots again: its reply has only what was asked last.
    let arguments = json!({ "file_uuid": id, "output_path": file });
    let mut down = json!({ "name": "download_file", "arguments": arguments });
    down["inputResponses"] = json!({ "roots": roots(&own) });
    let asked = session.request("tools/call", down.clone()).await["result"].clone();
    assert!(asked["inputRequests"]["roots"].is_object(), "{asked}");
    down["requestState"] = asked["requestState"].clone();
    down["inputResponses"] = json!({ "roots": roots(&own), "confirmation": yes() });
    let replaced = session.request("tools/call", down).await["result"].clone();
    assert_ne!(replaced["isError"], true, "{replaced}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_written_where_no_answer_can_name_it() {
    let world = World::start().await;
    let dir = tempfile::tempdir().unwrap();
    let mut session = world.session(setup_limited_to(dir.path())).await;
    let id = upload(&mut session, &dir.path().join("a"), "text").await;
    for to in ["x\u{200b}y.txt", "in\u{202e}visible/y.txt"] {
        let to = dir.path().join(to);
        let down = json!({ "file_uuid": id, "output_path": to });
        let message = session.call_err("download_file", down).await;
        assert!(message.contains("invisible characters"), "{message}");
        let down = json!({ "folder_uuid": NOBODY, "output_path": to });
        let message = session.call_err("download_folder", down).await;
        assert!(message.contains("invisible characters"), "{message}");
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_person_no_local_file_is_replaced() {
    let world = World::start().await;
    let dir = tempfile::tempdir().unwrap();
    let never = Setup {
        confirm: Confirm::Never,
        ..setup_limited_to(dir.path())
    };
    let mut session = world.session(setup_limited_to(dir.path())).await;
    let id = upload(&mut session, &dir.path().join("x"), "theirs").await;
    std::fs::write(dir.path().join("x"), "mine").unwrap();
    let down = json!({ "file_uuid": id, "output_path": dir.path() });
    for mut session in [session, world.session(never).await] {
        let message = session.call_err("download_file", down.clone()).await;
        assert!(message.contains("exists already") && message.contains("--overwrite"));
        assert_eq!(
            std::fs::read_to_string(dir.path().join("x")).unwrap(),
            "mine"
        );
    }
    let overwrite = Setup {
        overwrite: true,
        ..setup_limited_to(dir.path())
    };
    let mut session = asking_session(&world, overwrite).await;
    session.call_ok("download_file", down).await;
    assert_eq!(
        std::fs::read_to_string(dir.path().join("x")).unwrap(),
        "theirs"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_asked_before_local_files_are_replaced() {
    let world = World::start().await;
    let dir = tempfile::tempdir().unwrap();
    let mut session = asking_session(&world, setup_limited_to(dir.path())).await;
    let source = dir.path().join("source");
    std::fs::create_dir(&source).unwrap();
    std::fs::write(source.join("a"), "new a").unwrap();
    std::fs::write(source.join("b"), "new b").unwrap();
    let up = json!({ "local_path": source });
    let folder = session.call_ok("upload_folder", up).await["folder_uuid"].clone();
    let list = json!({ "folder_uuid": folder, "sort_by": "name" });
    let file = session.call_ok("list_files", list).await["content"][0]["id"].clone();
    let target = dir.path().join("target");
    std::fs::create_dir(&target).unwrap();
    let write = |text: &str| std::fs::write(target.join("a"), text).unwrap();
    let read = || std::fs::read_to_string(target.join("a")).unwrap();
    for (tool, arguments) in [
        (
            "download_file",
            json!({ "file_uuid": file, "output_path": target }),
        ),
        (
            "download_folder",
            json!({ "folder_uuid": folder, "output_path": target }),
        ),
    ] {
        write("old");
        let no = json!({ "action": "decline" });
        let (question, result) = call_and_reply(&mut session, tool, arguments.clone(), no).await;
        assert!(
            question.starts_with("Replace ") && question.contains('a'),
            "{question}"
        );
        assert!(failure(&result).unwrap().contains("not confirmed"));
        assert_eq!(read(), "old");
        let (_, result) = call_and_reply(&mut session, tool, arguments, yes()).await;
        assert_ne!(result["isError"], true, "{result}");
        assert_eq!(read(), "new a");
    }
    // Nothing to replace: no question.
    let elsewhere = json!({ "folder_uuid": folder, "output_path": dir.path().join("fresh") });
    let down = session.call_ok("download_folder", elsewhere).await;
    assert_eq!(down["downloaded"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_name_what_they_are_about() {
    let world = World::start().await;
    let dir = tempfile::tempdir().unwrap();
    let mut session = asking_session(&world, setup_limited_to(dir.path())).await;
    let id = upload(&mut session, &dir.path().join("report.txt"), "12345").await;
    let link = json!({ "file_uuid": id, "expiry_days": 7 });
    let (question, result) = call_and_reply(&mut session, "create_share_link", link, yes()).await;
    assert_eq!(
        question,
        "Create a share link to `/report.txt` (5 B) for 7 days and let everyone with the address open it?"
    );
    let link = crate::mcp::session::text(&result);
    let code = json!({ "short_code": link["short_code"] });
    let (question, _) = call_and_reply(&mut session, "delete_share_link", code, yes()).await;
    assert_eq!(
        question,
        "Delete the share link to `/report.txt` (5 B) permanently?"
    );
    session
        .call_ok("delete_file", json!({ "file_uuid": id }))
        .await;
    let (question, _) = call_and_reply(&mut session, "empty_trash", json!({}), yes()).await;
    assert!(
        question.contains("delete 1 item, 5 B permanently"),
        "{question}"
    );
    let teams = session.call_ok("list_teams", json!({})).await;
    let team = json!({ "team_uuid": teams["content"][0]["id"] });
    let members = session.call_ok("list_team_members", team.clone()).await;
    let members = members["content"].as_array().unwrap();
    let other = members.iter().find(|one| one["role"] == "member").unwrap();
    let mut member = team;
    member["user_id"] = other["user_id"].clone();
    let (question, _) = call_and_reply(&mut session, "remove_team_member", member, yes()).await;
    assert!(
        question.contains("member@example.com") && question.contains("`Dev Team`"),
        "{question}"
    );
}

#[tokio::test]
async fn every_change_is_confirmed_if_the_settings_say_so() {
    let world = World::start().await;
    let always = || Setup {
        confirm: Confirm::Always,
        ..Setup::default()
    };
    let mut session = asking_session(&world, always()).await;
    session.call_ok("list_files", json!({})).await;
    let folder = json!({ "name": "f" });
    let (question, result) =
        call_and_reply(&mut session, "create_folder", folder.clone(), yes()).await;
    assert!(question.contains("Create folder"), "{question}");
    assert_ne!(result["isError"], true);
    let mut session = world.session(always()).await;
    let message = session.call_err("create_folder", folder).await;
    assert!(message.contains("--confirm risky"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_file_is_dropped_silently_because_of_its_name() {
    let world = World::start().await;
    let dir = tempfile::tempdir().unwrap();
    let mut session = world.session(setup_limited_to(dir.path())).await;
    let source = dir.path().join("source");
    std::fs::create_dir(&source).unwrap();
    let names = [
        ("../../evil.txt", Some("evil.txt")),
        ("/etc/x", Some("x")),
        ("re\u{202e}port\u{1b}[31m.txt", Some("report[31m.txt")),
        ("..", None),
        ("", None),
        ("../.bashrc", None),
    ];
    let mut lies = serde_json::Map::new();
    for (at, (name, _)) in names.iter().enumerate() {
        std::fs::write(source.join(at.to_string()), at.to_string()).unwrap();
        lies.insert(format!("/content/{at}/name"), json!(name));
    }
    let up = json!({ "local_path": source });
    let folder = session.call_ok("upload_folder", up).await["folder_uuid"].clone();
    let rule = json!({ "path_pattern": "/api/v1/nodes*", "set": lies });
    world.dev("/_dev/faults", rule).await;
    let to = dir.path().join("to");
    let down = json!({ "folder_uuid": folder, "output_path": to });
    let down = session.call_ok("download_folder", down).await;
    assert_eq!(
        (&down["downloaded"], &down["failed"]),
        (&json!(3), &json!(3)),
        "{down}"
    );
    assert_eq!(down["errors"].as_array().map(Vec::len), Some(3));
    for (at, (_, arrives)) in names.iter().enumerate() {
        if let Some(name) = arrives {
            let content = std::fs::read_to_string(to.join(name)).unwrap();
            assert_eq!(content, at.to_string(), "{name}");
        }
    }
    assert_eq!(std::fs::read_dir(&to).unwrap().count(), 3);
}
