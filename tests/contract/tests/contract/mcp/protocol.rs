//! The older and the newer revision of MCP, and lines that are no message of it.

use crate::mcp::session::text;
use crate::mcp::world::{Setup, World, unreachable_setup};
use cairn_mcp::ToolFilter;
use serde_json::{Value, json};

#[tokio::test]
async fn the_older_handshake_names_server_and_groups() {
    let world = World::start().await;
    let mut session = world.connect(Setup::default());
    let response = session.initialize(json!({})).await;
    let result = &response["result"];
    assert_eq!(result["protocolVersion"], "2025-11-25");
    assert_eq!(result["serverInfo"]["name"], "cairn");
    for capability in ["tools", "resources", "prompts", "completions"] {
        assert!(
            result["capabilities"][capability].is_object(),
            "{capability}"
        );
    }
    let map = result["instructions"].as_str().unwrap();
    assert!(map.contains("Sharing") && map.contains("create_share_link"));
    assert!(!map.contains("sync_status"));
    assert!(session.request("ping", json!({})).await["result"].is_object());
    session.end().await;
}

#[tokio::test]
async fn every_older_revision_is_accepted() {
    let world = World::start().await;
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut session = world.connect(Setup::default());
        let params = json!({
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let response = session.request("initialize", params).await;
        assert_eq!(response["result"]["protocolVersion"], version);
        session.end().await;
    }
}

#[tokio::test]
async fn the_stateless_protocol_needs_no_handshake() {
    let world = World::start().await;
    let mut session = world.connect(Setup::default()).stateless(json!({}));
    let discovered = session.request("server/discover", json!({})).await;
    let versions = discovered["result"]["supportedVersions"].as_array();
    assert!(
        versions.is_some_and(|all| all.contains(&json!("2026-07-28"))),
        "{discovered}"
    );
    let sum = json!({ "operation": "sum", "values": [1, 2] });
    let response = session
        .request("tools/call", json!({ "name": "compute", "arguments": sum }))
        .await;
    assert_eq!(response["result"]["resultType"], "complete", "{response}");
    assert_eq!(text(&response["result"])["result"], 3);
    session.end().await;
}

#[tokio::test]
async fn tools_of_no_name_and_methods_of_no_name_are_protocol_errors() {
    let world = World::start().await;
    let mut session = world.session(Setup::default()).await;
    let response = session
        .request("tools/call", json!({ "name": "nope", "arguments": {} }))
        .await;
    assert_eq!(response["error"]["code"], -32602);
    assert!(
        response["error"]["message"]
            .as_str()
            .unwrap()
            .contains("`nope`")
    );
    for odd in [json!("x"), json!(5), json!({})] {
        let cursor = session
            .request("tools/list", json!({ "cursor": odd }))
            .await;
        assert_eq!(cursor["error"]["code"], -32602, "{cursor}");
    }
}

#[tokio::test]
async fn the_error_of_an_unknown_method_is_a_sentence() {
    let world = World::start().await;
    let mut session = world.session(Setup::default()).await;
    let long = "x".repeat(100_000);
    for (method, params, named) in [
        ("nope/nope", json!({}), "`nope/nope`"),
        ("nope/\u{202e}nope", json!([1]), "`nope/nope`"),
        // Known to the library, but not to this server.
        (
            "logging/setLevel",
            json!({ "level": "debug" }),
            "`logging/setLevel`",
        ),
        (&long, json!({}), "xxx"),
    ] {
        let response = session.request(method, params).await;
        let error = &response["error"];
        assert_eq!(error["code"], -32601, "{response}");
        let message = error["message"].as_str().unwrap();
        assert!(
            message.starts_with("this server has no method `"),
            "{message}"
        );
        assert!(message.contains(named) && message.len() < 300, "{message}");
    }
    for method in ["ping", "tools/list", "tools/call"] {
        let response = session.request(method, json!([1])).await;
        let text = format!("the parameters of {method} have to be an object");
        assert_eq!(response["error"]["message"], text, "{response}");
        assert_eq!(response["error"]["code"], -32602, "{response}");
    }
}

#[tokio::test]
async fn odd_lines_are_answered_and_end_nothing() {
    let world = World::start().await;
    let mut session = world.session(Setup::default()).await;
    session.send_line("this is no JSON").await;
    assert_eq!(session.line().await.unwrap()["error"]["code"], -32700);
    session.send_line("").await;
    session.send_line("[]").await;
    assert_eq!(session.line().await.unwrap()["error"]["code"], -32600);
    session
        .send_line(r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"arguments":{}}}"#)
        .await;
    let response = session.line().await.unwrap();
    assert_eq!(
        (&response["id"], &response["error"]["code"]),
        (&json!("x"), &json!(-32602))
    );
    // Nobody waits for an answer to these.
    for line in [
        r#"{"jsonrpc":"2.0","method":"nope"}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":5,"result":{}}"#,
    ] {
        session.send_line(line).await;
    }
    // Somebody waits for an answer to each of these.
    for (line, id) in [
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            json!(null),
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"nope"}"#,
            json!(null),
        ),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, json!(null)),
        (
            r#"{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}"#,
            json!(null),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1180591620717411303424,"method":"ping"}"#,
            json!(null),
        ),
        (r#"{"jsonrpc":"1.0","id":9,"method":"ping"}"#, json!(9)),
        (r#"{"id":"x","method":"ping"}"#, json!("x")),
    ] {
        session.send_line(line).await;
        let response = session.line().await.unwrap();
        assert_eq!(response["error"]["code"], -32600, "{line}: {response}");
        assert_eq!(response["id"], id, "{line}: {response}");
    }
    session
        .send_line(&format!(
            "{{\"a\":{}1{}}}",
            "[".repeat(500),
            "]".repeat(500)
        ))
        .await;
    assert_eq!(session.line().await.unwrap()["error"]["code"], -32700);
    let deep = "[".repeat(500) + &"]".repeat(500);
    for (field, code) in [
        (r#""name":"cut \ud83d""#.to_owned(), -32602),
        (r#""name":"\ude00""#.to_owned(), -32602),
        (r#""name":1e400"#.to_owned(), -32700),
        (format!(r#""name":{deep}"#), -32700),
        (r#""name":tru"#.to_owned(), -32700),
    ] {
        for (before, after) in [(r#""id":"r7","#, ""), ("", r#","id":"r7""#)] {
            let line = format!(
                r#"{{"jsonrpc":"2.0",{before}"method":"tools/call","params":{{{field}}}{after}}}"#
            );
            session.send_line(&line).await;
            let response = session.line().await.unwrap();
            assert_eq!(response["id"], "r7", "{line}: {response}");
            assert_eq!(response["error"]["code"], code, "{line}: {response}");
        }
    }
    let long = "x".repeat(17 * 1024 * 1024);
    session
        .send_line(&format!(
            r#"{{"jsonrpc":"2.0","method":"ping","params":{{"a":"{long}"}},"id":"r8"}}"#
        ))
        .await;
    let response = session.line().await.unwrap();
    assert_eq!(
        (&response["id"], &response["error"]["code"]),
        (&json!("r8"), &json!(-32600)),
        "{response}"
    );
    session
        .send_line("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"ping\"}\r")
        .await;
    assert_eq!(session.line().await.unwrap()["id"], 77);
    session
        .send_line(r#"[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"b","method":"ping"}]"#)
        .await;
    let mut ids = [
        session.line().await.unwrap()["id"].to_string(),
        session.line().await.unwrap()["id"].to_string(),
    ];
    ids.sort();
    assert_eq!(ids, ["\"a\"", "\"b\""]);
    session.end().await;
}

#[tokio::test]
async fn arguments_that_are_no_object_are_the_tools_failure() {
    let world = World::start().await;
    let mut session = world.session(Setup::default()).await;
    for odd in [json!([1]), json!("text"), json!(5), json!(true)] {
        let message = session.call_err("list_files", odd).await;
        assert!(message.contains("JSON object"), "{message}");
    }
    let params = json!({ "name": "get_profile", "arguments": null });
    let response = session.request("tools/call", params).await;
    assert_eq!(response["result"]["isError"], true, "{response}");
}

#[tokio::test]
async fn what_comes_before_the_handshake_does_no_harm() {
    let world = World::start().await;
    let mut session = world.connect(Setup::default());
    session
        .send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
        .await;
    session.send_line("rubbish").await;
    assert_eq!(session.line().await.unwrap()["error"]["code"], -32700);
    let early = session.request("tools/list", json!({})).await;
    assert!(early.get("error").is_some(), "{early}");
    assert!(session.initialize(json!({})).await["result"].is_object());
    session.end().await;
}

#[tokio::test]
async fn nothing_is_asked_of_the_service_to_begin() {
    let world = World::start().await;
    let mut session = world.session(unreachable_setup()).await;
    let list = session.request("tools/list", json!({})).await;
    let tools = list["result"]["tools"].as_array().unwrap().len();
    assert_eq!(tools, crate::mcp::catalogue::reference().len());
    session.end().await;
}

#[tokio::test]
async fn prompts_are_written_out() {
    let world = World::start().await;
    let mut session = world.session(Setup::default()).await;
    let list = session.request("prompts/list", json!({})).await;
    let names: Vec<_> = list["result"]["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|prompt| prompt["name"].as_str().unwrap())
        .collect();
    let wanted = [
        "organize_files",
        "share_summary",
        "storage_audit",
        "team_overview",
        "security_check",
    ];
    assert_eq!(names, wanted);
    for (name, words) in [
        ("organize_files", vec!["service://files", "duplicates"]),
        (
            "share_summary",
            vec!["expiring soon", "neither expiry nor password"],
        ),
        (
            "storage_audit",
            vec![
                "Usage Overview",
                "Top 10 Largest Files",
                "Stale Files",
                "Recommended Actions",
            ],
        ),
        ("team_overview", vec!["only admin or owner"]),
        ("security_check", vec!["scorecard"]),
    ] {
        let prompt = session
            .request("prompts/get", json!({ "name": name }))
            .await;
        let text = prompt["result"]["messages"][0]["content"]["text"]
            .as_str()
            .unwrap();
        for word in words {
            assert!(text.contains(word), "{name}: {word}");
        }
    }
    let unknown: Value = session.request("prompts/get", json!({ "name": "x" })).await;
    assert_eq!(unknown["error"]["code"], -32602);
}

#[tokio::test]
async fn only_prompts_whose_tools_are_offered_are_listed() {
    let world = World::start().await;
    let names = async |filter: ToolFilter| -> Vec<String> {
        let setup = Setup {
            filter,
            ..Setup::default()
        };
        let mut session = world.session(setup).await;
        let list = session.request("prompts/list", json!({})).await;
        let prompts = list["result"]["prompts"].as_array().unwrap().clone();
        let name = |prompt: &Value| prompt["name"].as_str().unwrap().to_owned();
        prompts.iter().map(name).collect()
    };
    let all = names(ToolFilter::default()).await;
    assert_eq!(all.len(), 5, "{all:?}");
    let read_only = ToolFilter {
        read_only: true,
        ..ToolFilter::default()
    };
    assert_eq!(names(read_only).await, all, "they only look");
    let without_teams = ToolFilter {
        exclude: vec!["list_team_members".to_owned()],
        ..ToolFilter::default()
    };
    let fewer = names(without_teams).await;
    assert!(!fewer.contains(&"team_overview".to_owned()), "{fewer:?}");
    assert_eq!(fewer.len(), 4, "{fewer:?}");
}
