//! Resources, their errors, and the completion of their addresses.

use crate::mcp::session::Session;
use crate::mcp::sync::with_sync;
use crate::mcp::world::{Setup, World, unreachable_setup, with_passphrase};
use serde_json::{Value, json};

async fn read(session: &mut Session, uri: &str) -> Value {
    let response = session
        .request("resources/read", json!({ "uri": uri }))
        .await;
    let contents = &response["result"]["contents"];
    assert_eq!(
        contents.as_array().map(Vec::len),
        Some(1),
        "{uri}: {response}"
    );
    assert_eq!(contents[0]["uri"], uri);
    assert_eq!(contents[0]["mimeType"], "application/json");
    serde_json::from_str(contents[0]["text"].as_str().unwrap()).expect("it is JSON")
}

#[tokio::test]
async fn addresses_are_those_of_the_reference() {
    let world = World::start().await;
    let mut session = world.session(Setup::default()).await;
    let fixed = session.request("resources/list", json!({})).await;
    let templates = session.request("resources/templates/list", json!({})).await;
    let uris: Vec<_> = fixed["result"]["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|resource| resource["uri"].as_str().unwrap())
        .chain(
            templates["result"]["resourceTemplates"]
                .as_array()
                .unwrap()
                .iter()
                .map(|template| template["uriTemplate"].as_str().unwrap()),
        )
        .collect();
    let wanted = [
        "service://files",
        "service://shares",
        "service://teams",
        "service://profile",
        "service://usage",
        "service://notifications",
        "service://files/{uuid}",
        "service://teams/{uuid}",
    ];
    assert_eq!(uris, wanted);
}

#[tokio::test]
async fn files_are_read_and_their_ids_completed() {
    let world = World::start().await;
    let mut session = world.session(Setup::default()).await;
    let folder = session
        .call_ok("create_folder", json!({ "name": "f" }))
        .await;
    let id = folder["id"].as_str().unwrap();
    let root = read(&mut session, "service://files").await;
    assert_eq!(
        (&root["pageSize"], &root["content"][0]["id"]),
        (&json!(50), &folder["id"])
    );
    let one = read(&mut session, &format!("service://files/{id}")).await;
    assert_eq!(one["name"], "f");
    let params = json!({
        "ref": { "type": "ref/resource", "uri": "service://files/{uuid}" },
        "argument": { "name": "uuid", "value": &id[..4] },
    });
    let completed = session.request("completion/complete", params).await;
    assert_eq!(
        completed["result"]["completion"]["values"],
        json!([id]),
        "{completed}"
    );
    let params = json!({
        "ref": { "type": "ref/prompt", "name": "storage_audit" },
        "argument": { "name": "x", "value": "" },
    });
    let nothing = session.request("completion/complete", params).await;
    assert_eq!(nothing["result"]["completion"]["values"], json!([]));
}

#[tokio::test]
async fn only_resources_that_there_are_can_be_completed() {
    let world = World::start().await;
    let mut session = world.session(Setup::default()).await;
    let folder = json!({ "name": "f" });
    session.call_ok("create_folder", folder).await;
    let prompt = |name: &str| json!({ "type": "ref/prompt", "name": name });
    let resource = |uri: &str| json!({ "type": "ref/resource", "uri": uri });
    for (reference, is_there) in [
        (prompt("storage_audit"), true),
        (prompt("nope"), true),
        (resource("service://files"), true),
        (resource("service://files/{uuid}"), true),
        (resource("service://nope/{uuid}"), false),
    ] {
        let argument = json!({ "name": "nope", "value": "" });
        let params = json!({ "ref": reference, "argument": argument });
        let response = session.request("completion/complete", params).await;
        if is_there {
            let values = &response["result"]["completion"]["values"];
            assert_eq!(values, &json!([]), "{reference}: {response}");
        } else {
            let code = &response["error"]["code"];
            assert_eq!(code, -32602, "{reference}: {response}");
        }
    }
}

/// Devices draw ids of another version than the service does.
#[tokio::test(flavor = "multi_thread")]
async fn an_id_that_a_device_made_is_completed_and_read() {
    let world = World::start().await;
    let mut session = world.session(with_passphrase()).await;
    let file = tempfile::NamedTempFile::new().unwrap();
    let up = json!({ "local_path": file.path(), "file_name": "x" });
    let id = session.call_ok("upload_file", up).await["file_uuid"].clone();
    let id = id.as_str().unwrap();
    assert_eq!(&id[14..15], "8", "{id}");
    let params = json!({
        "ref": { "type": "ref/resource", "uri": "service://files/{uuid}" },
        "argument": { "name": "uuid", "value": &id[..4] },
    });
    let completed = session.request("completion/complete", params).await;
    let ids = &completed["result"]["completion"]["values"];
    assert_eq!(*ids, json!([id]), "{completed}");
    let one = read(&mut session, &format!("service://files/{id}")).await;
    assert_eq!(one["name"], "x", "{one}");
    let wrong = read(&mut session, "service://files/not-a-uuid").await;
    let message = wrong["error"].as_str().unwrap();
    assert!(message.contains("is not a UUID"), "{message}");
}

#[tokio::test]
async fn errors_are_resources_and_unknown_addresses_are_not() {
    let world = World::start().await;
    let mut session = world.session(Setup::default()).await;
    for uri in [
        "service://files/not-a-uuid",
        "service://files/123e4567-e89b-12d3-a456-426614174000",
        "service://files/00000000-0000-4000-8000-000000000000",
        "service://files/",
        "service://teams/../teams",
    ] {
        let error = read(&mut session, uri).await;
        assert!(error["error"].is_string(), "{uri}: {error}");
    }
    for uri in ["service://nope", "service://sync", "file:///etc/passwd", ""] {
        let response = session
            .request("resources/read", json!({ "uri": uri }))
            .await;
        assert_eq!(response["error"]["code"], -32002, "{uri}: {response}");
    }
    let mut session = world.session(unreachable_setup()).await;
    let error = read(&mut session, "service://usage").await;
    assert!(
        error["error"]
            .as_str()
            .unwrap()
            .contains("can't be reached")
    );
}

#[tokio::test]
async fn the_service_is_asked_at_the_addresses_of_the_reference() {
    let world = World::start().await;
    let mut session = world.session(Setup::default()).await;
    let folder = json!({ "name": "f" });
    let folder = session.call_ok("create_folder", folder).await["id"].clone();
    let team = session.call_ok("create_team", json!({ "name": "t" })).await["id"].clone();
    let (folder, team) = (folder.as_str().unwrap(), team.as_str().unwrap());
    let before = world.requests().await.len();
    let mut expected = Vec::new();
    for (uri, requests) in [
        (
            "files",
            vec!["/v2/nodes?page=1&page_size=50&state=active".to_owned()],
        ),
        (
            "shares",
            vec!["/api/v1/webshare/url?page=0&size=50".to_owned()],
        ),
        ("teams", vec!["/api/v1/team?page=1&page_size=50".to_owned()]),
        ("profile", vec!["/api/v1/social/profile".to_owned()]),
        (
            "notifications",
            vec!["/api/v1/social/notifications?unread_only=true&limit=50".to_owned()],
        ),
        (
            &format!("files/{folder}"),
            vec![format!("/v2/nodes/{folder}")],
        ),
        (
            &format!("teams/{team}"),
            vec![format!("/api/v1/team/{team}")],
        ),
        (
            "usage",
            vec![
                "/api/v1/ai/usage".to_owned(),
                "/api/v1/useraccount/composite".to_owned(),
            ],
        ),
    ] {
        let value = read(&mut session, &format!("service://{uri}")).await;
        assert!(value.get("error").is_none(), "{uri}: {value}");
        expected.extend(requests.iter().map(|request| format!("GET {request}")));
    }
    let mut seen = world.requests().await.split_off(before);
    let usage = seen.len().saturating_sub(2);
    // These two are made at once.
    seen[usage..].sort();
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn the_trash_is_listed_beside_the_sync_daemon() {
    let world = World::start().await;
    let (mut session, _dir) = with_sync(&world).await;
    let list = session.request("resources/list", json!({})).await;
    assert!(list.to_string().contains("service://trash"), "{list}");
    let folder = json!({ "name": "gone" });
    let folder = session.call_ok("create_folder", folder).await;
    assert_eq!(
        read(&mut session, "service://trash").await["totalElements"],
        0
    );
    let delete = json!({ "file_uuid": folder["id"] });
    session.call_ok("delete_file", delete).await;
    let trash = read(&mut session, "service://trash").await;
    assert_eq!(trash["content"][0]["id"], folder["id"], "{trash}");
    assert_eq!(trash["content"][0]["former_path"], "/gone", "{trash}");
}
