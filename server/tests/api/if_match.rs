//! `If-Match` and `version`: a change is made of the state that was seen alone, and only the device that made it may
//! send it again.

use super::world::{Caller, TestResponse, World};
use axum::http::Method;
use cairn_model::NodeId;
use cairn_wire::Page;
use cairn_wire::nodes::{Node, NodeResults};
use cairn_wire::teams::Team;
use serde_json::{Value, json};

async fn send(who: &Caller, method: Method, path: &str, seen: u64, body: &Value) -> TestResponse {
    let seen = format!("\"{seen}\"");
    let text = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    who.send(method, path, &[("if-match", &seen)], text).await
}

async fn lock(who: &Caller, node: NodeId, seen: u64) -> u16 {
    let body = json!({"labels": {"lock": "on"}});
    let path = format!("/api/v1/nodes/{node}");
    send(who, Method::PUT, &path, seen, &body)
        .await
        .status
        .as_u16()
}

async fn operate(who: &Caller, operation: Value) -> u16 {
    let body = json!({ "operations": [operation] });
    let results: NodeResults = who.post("/api/v1/nodes/batch", &body).await.ok();
    results.results[0].status
}

#[tokio::test]
async fn callers_that_name_no_device_are_never_the_same_one() {
    let world = World::new();
    let owner = world.owner();
    let node = owner.folder(None, "lock").await.id;
    for expected in [200, 412, 412] {
        assert_eq!(lock(&owner, node, 1).await, expected);
    }
    let favorite = format!("/api/v1/nodes/{node}/favorite");
    for expected in [200, 412] {
        let response = send(&owner, Method::PUT, &favorite, 2, &Value::Null).await;
        response.done(expected);
    }
    for expected in [200, 412] {
        let operation = json!({"op": "move", "id": node, "name": "moved", "version": 3});
        assert_eq!(operate(&owner, operation).await, expected);
    }
    for (op, version) in [("trash", 4), ("restore", 5)] {
        for expected in [200, 412] {
            let operation = json!({"op": op, "id": node, "version": version});
            assert_eq!(operate(&owner, operation).await, expected, "{op}");
        }
    }
    let path = format!("/api/v1/nodes/{node}");
    for expected in [200, 412] {
        send(&owner, Method::DELETE, &path, 6, &Value::Null)
            .await
            .done(expected);
    }
    let restore = format!("{path}/restore");
    for expected in [200, 412] {
        send(&owner, Method::POST, &restore, 7, &json!({}))
            .await
            .done(expected);
    }
}

#[tokio::test]
async fn members_of_a_team_without_devices_compete() {
    let world = World::new();
    let teams: Page<Team> = world.owner().get("/api/v1/teams").await.ok();
    let space = teams.content[0].space_id;
    let (owner, member) = (
        world.owner().in_space(space),
        world.member().in_space(space),
    );
    let node = owner.folder(None, "lock").await.id;
    assert_eq!(lock(&owner, node, 1).await, 200);
    assert_eq!(lock(&member, node, 1).await, 412);
}

#[tokio::test]
async fn the_device_that_made_a_change_may_send_it_again_and_no_other_one() {
    let world = World::new();
    let (laptop, phone) = (world.owner().on_device(1), world.owner().on_device(2));
    let node = laptop.folder(None, "a").await.id;
    for _ in 0..2 {
        assert_eq!(lock(&laptop, node, 1).await, 200);
    }
    assert_eq!(lock(&phone, node, 1).await, 412);
    assert_eq!(lock(&world.owner(), node, 1).await, 412);
    for (op, version) in [("trash", 2), ("restore", 3)] {
        let operation = json!({"op": op, "id": node, "version": version});
        for who in [&laptop, &laptop] {
            assert_eq!(operate(who, operation.clone()).await, 200, "{op}");
        }
        assert_eq!(operate(&phone, operation).await, 412, "{op}");
        let older = json!({"op": op, "id": node, "version": 1});
        assert_eq!(operate(&laptop, older).await, 412, "{op}");
    }
    let path = format!("/api/v1/nodes/{node}");
    let restore = format!("/api/v1/trash/{node}/restore");
    for (method, path, version) in [(Method::DELETE, &path, 4), (Method::POST, &restore, 5)] {
        let body = if method == Method::POST {
            json!({})
        } else {
            Value::Null
        };
        let ask = async |who: &Caller, seen| send(who, method.clone(), path, seen, &body).await;
        ask(&laptop, version).await.done(200);
        ask(&laptop, version).await.done(200);
        for (who, seen) in [
            (&phone, version),
            (&phone, 999),
            (&laptop, 999),
            (&laptop, 1),
        ] {
            ask(who, seen).await.failed(412);
        }
        // As it is now.
        ask(&phone, version + 1).await.done(200);
    }
}

#[tokio::test]
async fn what_went_into_the_trash_with_its_folder_is_not_deleted_for_itself_by_an_older_decision() {
    let world = World::new();
    let laptop = world.owner().on_device(1);
    let folder = laptop.folder(None, "d").await;
    let node = laptop.folder(Some(folder.id), "a").await.id;
    assert_eq!(lock(&laptop, node, 1).await, 200);
    laptop
        .delete(&format!("/api/v1/nodes/{}", folder.id))
        .await
        .done(200);
    let path = format!("/api/v1/nodes/{node}");
    send(&laptop, Method::DELETE, &path, 1, &Value::Null)
        .await
        .failed(412);
    let alone: Node = send(&laptop, Method::DELETE, &path, 2, &Value::Null)
        .await
        .ok();
    assert_eq!(alone.version, 3);
}
