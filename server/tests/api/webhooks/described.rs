//! The OpenAPI document describes what webhooks get: each event's data as it is really delivered.

use super::super::shares::share;
use super::super::visitors::{begin, open, put_file};
use super::super::world::{Caller, World};
use super::{path, ready_webhook, world};
use cairn_model::EventKind;
use cairn_server::openapi;
use cairn_wire::shares::{OpenedShare, Share};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// Checks a value against its schema: type, format, choices, and that exactly the described fields are there.
fn assert_fits(schema: &Value, value: &Value, place: &str) {
    let of_type = &schema["type"];
    let choices = of_type.as_array().map_or(&[][..], Vec::as_slice);
    let types: Vec<&str> = choices
        .iter()
        .chain([of_type])
        .filter_map(Value::as_str)
        .collect();
    let own = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    assert!(types.contains(&own), "{place}: {value} is no {types:?}");
    if let Some(words) = schema["enum"].as_array() {
        assert!(words.contains(value), "{place}: {value}");
    }
    if let Some(only) = schema.get("const") {
        assert_eq!(only, value, "{place}");
    }
    if let (Some("uuid"), Some(text)) = (schema["format"].as_str(), value.as_str()) {
        assert!(text.parse::<Uuid>().is_ok(), "{place}: {text}");
    }
    let Some(fields) = value.as_object() else {
        return;
    };
    let described = schema["properties"].as_object().unwrap();
    let names = |keys: &mut dyn Iterator<Item = &String>| keys.cloned().collect::<BTreeSet<_>>();
    let sent = names(&mut fields.keys());
    assert_eq!(sent, names(&mut described.keys()), "{place}");
    assert_eq!(sent.len(), schema["required"].as_array().unwrap().len());
    for (name, value) in fields {
        assert_fits(&described[name], value, &format!("{place}.{name}"));
    }
}

/// Does everything with a file that raises an event.
async fn use_files(owner: &Caller) {
    let folder = owner.folder(None, "docs").await;
    let file = owner.file(None, "a.txt", "hello").await;
    let node = format!("/api/v1/nodes/{}", file.id);
    let revision = file.revision_id.unwrap();
    let manifest = format!("{node}/revisions/{revision}/manifest");
    owner.get(&manifest).await.done(200);
    let change = json!({"name": "b.txt", "parent_id": folder.id});
    owner.put(&node, &change).await.done(200);
    owner.delete(&node).await.done(200);
}

/// Does everything with a link that raises an event.
async fn use_link(world: &World, owner: &Caller) {
    let file = owner.file(None, "shared.txt", "x").await;
    let link: Share = share(owner, &file, json!({})).await;
    put_file(owner, &link, &file).await.done(200);
    let stranger = world.nobody();
    let opened: OpenedShare = open(&stranger, &link, json!({})).await.ok();
    begin(&stranger, &link, &opened.access).await.done(200);
    let own = format!("/api/v1/shares/{}", link.id);
    owner.delete(&own).await.done(204);
}

/// Lets somebody join the owner's team, and leave it.
async fn use_team(world: &World, owner: &Caller) {
    let teams: Value = owner.get("/api/v1/teams").await.ok();
    let team = format!(
        "/api/v1/teams/{}",
        teams["content"][0]["id"].as_str().unwrap()
    );
    let email = json!({"email": "outsider@example.com"});
    let invited: Value = owner.post(&format!("{team}/invite"), &email).await.ok();
    let accept = format!(
        "/api/v1/teams/invitations/{}/accept",
        invited["id"].as_str().unwrap()
    );
    let outsider = world.outsider();
    outsider.post(&accept, &json!({})).await.done(200);
    let account: Value = outsider.get("/api/v1/useraccount/composite").await.ok();
    let user = account["id"].as_str().unwrap();
    let member = format!("{team}/members/{user}");
    owner.delete(&member).await.done(204);
}

#[tokio::test]
async fn every_event_is_described_as_it_is_delivered() {
    let document = openapi::document();
    let described = document["webhooks"].as_object().unwrap();
    assert_eq!(described.len(), EventKind::ALL.len());
    let world = world();
    let owner = world.owner();
    let (receiver, made) = ready_webhook(&world, EventKind::TEXTS).await;
    use_files(&owner).await;
    use_link(&world, &owner).await;
    use_team(&world, &owner).await;
    owner
        .post(&path(&made, "/test"), &json!({}))
        .await
        .done(202);
    world.app.deliver_due().await.unwrap();

    let mut seen = BTreeMap::new();
    for (headers, body) in receiver.requests() {
        let payload: Value = serde_json::from_slice(&body).unwrap();
        let event = payload["event"].as_str().unwrap().to_owned();
        let request = &described[&event]["post"];
        let content = &request["requestBody"]["content"]["application/json"];
        assert_fits(&content["schema"], &payload, &event);
        assert_fits(&content["schema"], &content["example"], &event);
        for header in request["parameters"].as_array().unwrap() {
            let is_there = headers.contains_key(header["name"].as_str().unwrap());
            assert_eq!(is_there, header["required"] == true, "{header}");
        }
        seen.insert(event, payload);
    }
    let seen: Vec<&str> = seen.keys().map(String::as_str).collect();
    let all: BTreeSet<&str> = EventKind::TEXTS.iter().copied().collect();
    assert_eq!(seen, Vec::from_iter(all));
}

#[test]
fn the_document_of_webhooks_has_their_payloads_and_no_other_has() {
    for name in openapi::modules() {
        let module = openapi::module(&name).unwrap();
        assert_eq!(
            module.get("webhooks").is_some(),
            name == "webhooks",
            "{name}"
        );
    }
}
