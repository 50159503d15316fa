//! The questions before something is given away or paid: when they are asked, and what they name.

use crate::mcp::session::Session;
use crate::mcp::world::{Setup, World};
use cairn_api::Method;
use cairn_mcp::Confirm;
use serde_json::{Value, json};

/// Calls a tool, agrees to its question if there is one, and returns the question and the result.
async fn call_and_agree(
    session: &mut Session,
    tool: &str,
    arguments: Value,
) -> (Option<String>, Value) {
    let params = json!({ "name": tool, "arguments": arguments });
    let id = session.begin("tools/call", params).await;
    let reply = session.response_or_request(id).await;
    if reply.get("method").is_none() {
        return (None, reply["result"].clone());
    }
    assert_eq!(reply["method"], "elicitation/create", "{reply}");
    let yes = json!({ "action": "accept", "content": { "confirm": true } });
    let yes = json!({ "jsonrpc": "2.0", "id": reply["id"], "result": yes });
    session.send(yes).await;
    let result = session.response_or_request(id).await["result"].clone();
    let question = reply["params"]["message"].as_str().unwrap().to_owned();
    (Some(question), result)
}

async fn asking_session(world: &World) -> Session {
    let mut session = world.connect(Setup::default());
    session.initialize(json!({ "elicitation": {} })).await;
    session
}

#[tokio::test]
async fn a_person_is_asked_before_something_is_given_away() {
    let world = World::start().await;
    let mut session = asking_session(&world).await;
    let team = world.rest(Method::POST, "teams", Some(json!({ "name": "Five" })));
    let team = team.await["id"].clone();
    for (tool, arguments, words) in [
        (
            "create_api_key",
            json!({ "name": "backup", "expires_in": "30d" }),
            vec!["`backup`", "for 30d"],
        ),
        (
            "create_webhook",
            json!({ "url": "https://example.com/hook", "events": ["file.uploaded"] }),
            vec!["`https://example.com/hook`", "file.uploaded"],
        ),
        (
            "invite_team_member",
            json!({ "team_uuid": team, "email": "new@example.com" }),
            vec!["new@example.com", "`Five`"],
        ),
    ] {
        let (question, result) = call_and_agree(&mut session, tool, arguments).await;
        let question = question.unwrap_or_else(|| panic!("{tool} did not ask"));
        for word in words {
            assert!(question.contains(word), "{tool}: {question}");
        }
        assert_ne!(result["isError"], true, "{tool}: {result}");
    }
}

#[tokio::test]
async fn a_link_is_asked_about_only_where_it_gives_more() {
    let world = World::start().await;
    let mut session = asking_session(&world).await;
    let folder = json!({ "name": "plans", "kind": "folder" });
    let folder = world.rest(Method::POST, "nodes", Some(folder)).await["id"].clone();
    let link = json!({ "file_id": folder, "allowed_emails": ["ada@example.com"] });
    let link = world.rest(Method::POST, "shares", Some(link)).await["short_code"].clone();
    let with = |change: Value| {
        let mut change = change;
        change["short_code"] = link.clone();
        change
    };
    for (tool, change, words) in [
        (
            "update_share_link",
            json!({ "access_mode": "view_only" }),
            None,
        ),
        (
            "update_share_link",
            json!({ "access_mode": "download" }),
            Some("download"),
        ),
        (
            "update_share_link",
            json!({ "allowed_emails": [] }),
            Some("everyone"),
        ),
        (
            "update_share_link",
            json!({ "allowed_emails": ["eve@example.com"] }),
            None,
        ),
        ("toggle_share_link", json!({}), None),
        ("toggle_share_link", json!({}), Some("on again")),
        ("update_share_link", json!({ "is_active": false }), None),
        (
            "update_share_link",
            json!({ "is_active": true }),
            Some("on again"),
        ),
    ] {
        let (question, result) = call_and_agree(&mut session, tool, with(change.clone())).await;
        assert_ne!(result["isError"], true, "{tool} {change}: {result}");
        match words {
            None => assert_eq!(question, None, "{tool} {change}"),
            Some(words) => {
                let question = question.unwrap_or_else(|| panic!("{tool} {change} did not ask"));
                let named = question.contains(words) && question.contains("`/plans`");
                assert!(named, "{tool} {change}: {question}");
            }
        }
    }
}

#[tokio::test]
async fn questions_about_money_name_the_price_and_who_gets_it() {
    let world = World::start().await;
    let mut session = asking_session(&world).await;
    let member = async |path: &str| {
        world
            .rest_as("ck_dev_member", Method::GET, path, None)
            .await
    };
    let plan = member("payment/creator/plans").await["content"][0]["id"].clone();
    let profile = member("social/profile").await;
    let name = profile["display_name"].as_str().unwrap();
    let plan = json!({ "plan_uuid": plan });
    let (question, _) = call_and_agree(&mut session, "subscribe_to_creator", plan).await;
    let question = question.expect("it asks");
    assert!(
        question.contains("`Supporter`") && question.contains("5.00"),
        "{question}"
    );
    let tip = json!({
        "tip_jar_uuid": profile["tip_jar_id"], "amount": "2.50", "message": "thank you",
    });
    let (question, _) = call_and_agree(&mut session, "send_tip", tip).await;
    let question = question.expect("it asks");
    for word in [name, "2.50 USD", "`thank you`"] {
        assert!(question.contains(word), "{question}");
    }
    assert!(!question.contains(profile["tip_jar_id"].as_str().unwrap()));
}

#[tokio::test]
async fn other_questions_name_what_they_are_about() {
    let world = World::start().await;
    let mut session = asking_session(&world).await;
    let folder = json!({ "name": "plans" });
    let (_, made) = call_and_agree(&mut session, "create_folder", folder).await;
    let folder = crate::mcp::session::text(&made)["id"].clone();
    let comment = json!({ "file_uuid": folder, "text": "looks good" });
    let comment = session.call_ok("add_comment", comment).await["id"].clone();
    let comment = json!({ "comment_id": comment });
    let (question, result) = call_and_agree(&mut session, "delete_comment", comment).await;
    assert_eq!(
        question.as_deref(),
        Some("Delete your comment `looks good` on the folder `/plans` permanently?")
    );
    assert_ne!(result["isError"], true, "{result}");
    let rule = json!({ "folder_uuid": folder, "delete_after_days": 1, "name": "old" });
    let (question, _) = call_and_agree(&mut session, "create_retention_rule", rule).await;
    let question = question.expect("it asks");
    assert!(question.contains("after 1 day?"), "{question}");
}

#[tokio::test]
async fn a_general_question_shows_paths_and_no_password() {
    let world = World::start().await;
    let mut session = world.connect(Setup {
        confirm: Confirm::Always,
        ..Setup::default()
    });
    session.initialize(json!({ "elicitation": {} })).await;
    let folder = json!({ "name": "plans", "kind": "folder" });
    let folder = world.rest(Method::POST, "nodes", Some(folder)).await["id"].clone();
    let link = json!({ "file_id": folder });
    let link = world.rest(Method::POST, "shares", Some(link)).await["short_code"].clone();
    let inner = json!({ "name": "inner", "parent_uuid": "/plans" });
    let trashed = json!({ "file_uuid": folder });
    for (tool, arguments, words) in [
        ("create_folder", inner, "parent_uuid = the folder `/plans`"),
        (
            "rename_file",
            json!({ "file_uuid": folder, "new_name": "plans" }),
            "file_uuid = the folder `/plans`",
        ),
        (
            "move_file",
            json!({ "file_uuid": "/plans/inner", "target_folder_uuid": "/" }),
            "target_folder_uuid = the top of your own space",
        ),
        (
            "update_share_link",
            json!({ "short_code": link, "password": "hunter2 secret" }),
            "password = a new password",
        ),
        (
            "delete_file",
            trashed.clone(),
            "file_uuid = the folder `/plans`",
        ),
        (
            "restore_from_trash",
            trashed,
            "file_uuid = the folder `/plans`",
        ),
    ] {
        let (question, result) = call_and_agree(&mut session, tool, arguments).await;
        assert_ne!(result["isError"], true, "{tool}: {result}");
        let question = question.expect("it asks");
        assert!(question.contains(words), "{tool}: {question}");
        assert!(!question.contains("hunter2"), "{question}");
        assert!(!question.contains(folder.as_str().unwrap()), "{question}");
    }
}

#[tokio::test]
async fn a_question_about_a_link_knows_the_default_expiry() {
    let world = World::start().await;
    let mut session = asking_session(&world).await;
    let folder = json!({ "name": "plans", "kind": "folder" });
    let folder = world.rest(Method::POST, "nodes", Some(folder)).await["id"].clone();
    let link = json!({ "file_uuid": folder, "storage_type": "VR_FOLDER" });
    for (days, words) in [(0, "without expiry"), (7, "for 7 days (your default)")] {
        let defaults = json!({ "default_expiry_days": days });
        world
            .rest(Method::PUT, "shares/defaults", Some(defaults))
            .await;
        let asked = call_and_agree(&mut session, "create_share_link", link.clone()).await;
        let question = asked.0.unwrap();
        assert!(question.contains(words), "{question}");
    }
}

#[tokio::test]
async fn nobody_is_asked_about_a_call_that_is_refused_anyway() {
    let world = World::start().await;
    let mut session = asking_session(&world).await;
    let team = world.rest(Method::GET, "teams", None).await["content"][0]["id"].clone();
    let folder = json!({ "name": "plans", "kind": "folder" });
    let folder = world.rest(Method::POST, "nodes", Some(folder)).await["id"].clone();
    let own = world.rest(Method::GET, "useraccount/composite", None).await["id"].clone();
    let nothing = "00000000-0000-4000-8000-000000000000";
    let rule = json!({ "folder_uuid": nothing, "delete_after_days": 1, "name": "old" });
    for (tool, arguments, words) in [
        (
            "create_share_link",
            json!({ "file_uuid": nothing }),
            "not found",
        ),
        (
            "create_share_link",
            json!({ "file_uuid": folder, "storage_type": "VR_FILE" }),
            "VR_FOLDER",
        ),
        (
            "delete_share_link",
            json!({ "short_code": "nope" }),
            "list_share_links",
        ),
        (
            "update_share_link",
            json!({ "short_code": "nope", "is_active": true }),
            "list_share_links",
        ),
        (
            "delete_webhook",
            json!({ "webhook_id": nothing }),
            "list_webhooks",
        ),
        (
            "delete_comment",
            json!({ "comment_id": nothing }),
            "list_comments",
        ),
        ("create_retention_rule", rule, "not found"),
        (
            "remove_team_member",
            json!({ "team_uuid": team, "user_id": nothing }),
            "list_team_members",
        ),
        (
            "offboard_team_member",
            json!({ "team_uuid": team, "user_id": own }),
            "owner",
        ),
        (
            "request_token_withdrawal",
            json!({ "amount": "99999.00" }),
            "100.00 tokens",
        ),
    ] {
        let (question, result) = call_and_agree(&mut session, tool, arguments).await;
        assert_eq!(question, None, "{tool}");
        let message = crate::mcp::session::failure(&result).expect("it is refused");
        assert!(message.contains(words), "{tool}: {message}");
    }
}

#[tokio::test]
async fn a_member_without_the_right_is_refused_and_nobody_is_asked() {
    let world = World::start().await;
    let team = world.rest(Method::GET, "teams", None).await["content"][0]["id"].clone();
    let mut session = world.connect(Setup {
        key: "ck_dev_member",
        ..Setup::default()
    });
    session.initialize(json!({ "elicitation": {} })).await;
    let me = session.call_ok("get_account_info", json!({})).await["id"].clone();
    let leave = json!({ "team_uuid": team, "user_id": me });
    for (tool, arguments, words) in [
        (
            "invite_team_member",
            json!({ "team_uuid": team, "email": "new@example.com" }),
            "owner and admins may invite",
        ),
        (
            "offboard_team_member",
            leave.clone(),
            "owner and admins may offboard",
        ),
    ] {
        let (question, result) = call_and_agree(&mut session, tool, arguments).await;
        assert_eq!(question, None, "{tool}");
        let message = crate::mcp::session::failure(&result).expect("it is refused");
        assert!(message.contains(words), "{tool}: {message}");
    }
    let (question, left) = call_and_agree(&mut session, "remove_team_member", leave).await;
    assert!(
        question.is_some(),
        "everybody may leave, and is asked: {left}"
    );
    assert_eq!(crate::mcp::session::failure(&left), None);
}
