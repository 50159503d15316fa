//! The account, its devices and its API keys.

use super::world::World;
use cairn_wire::account::{AccountInfo, ApiKey, CreatedApiKey, Device, KnownDevice, RemovedDevice};
use cairn_wire::{Page, Timestamp};
use serde_json::{Value, json};
use uuid::Uuid;

#[tokio::test]
async fn an_account_knows_itself_its_space_and_the_time() {
    let world = World::new();
    let info: AccountInfo = world
        .owner()
        .get("/api/v1/useraccount/composite")
        .await
        .ok();
    assert_eq!(
        (info.email.as_str(), info.display_name.as_str()),
        ("owner@example.com", "owner")
    );
    assert_eq!(info.server_time.to_string(), "2026-01-01T00:00:00.000Z");
    let folder = world.owner().folder(None, "a").await;
    assert_eq!(folder.space_id, info.space_id);
    let other: AccountInfo = world
        .outsider()
        .get("/api/v1/useraccount/composite")
        .await
        .ok();
    assert!(
        other.id != info.id
            && other.space_id != info.space_id
            && other.history_id == info.history_id
    );
}

#[tokio::test]
async fn devices_are_registered_and_renamed() {
    let world = World::new();
    let owner = world.owner();
    let id = Uuid::new_v4();
    let path = format!("/api/v1/devices/{id}");
    owner
        .put(&path, &json!({"id": id, "name": "laptop"}))
        .await
        .done(200);
    owner
        .put(&path, &json!({"id": id, "name": " new name "}))
        .await
        .done(200);
    let page: Page<Device> = owner.get("/api/v1/devices").await.ok();
    assert_eq!(
        page.content
            .iter()
            .map(|device| device.name.as_str())
            .collect::<Vec<_>>(),
        ["new name"]
    );
    assert_eq!(
        world
            .outsider()
            .get("/api/v1/devices")
            .await
            .ok::<Page<Device>>()
            .total_elements,
        0
    );
    owner
        .put(&path, &json!({"id": Uuid::new_v4(), "name": "x"}))
        .await
        .failed(400);
    owner
        .put(&path, &json!({"id": id, "name": " "}))
        .await
        .failed(400);
    owner
        .put(&path, &json!({"id": id, "name": "x".repeat(101)}))
        .await
        .failed(400);
    owner
        .put("/api/v1/devices/laptop", &json!({"id": id, "name": "x"}))
        .await
        .failed(404);
}

#[tokio::test]
async fn a_device_is_seen_with_its_requests_and_stays_removed_until_it_comes_again() {
    let world = World::new();
    let owner = world.owner();
    let laptop = owner.on_device(7);
    let id = Uuid::from_bytes([7; 16]);
    let path = format!("/api/v1/devices/{id}");
    let listed = || async {
        let page: Page<KnownDevice> = owner.get("/api/v1/devices").await.ok();
        page.content
    };
    // As a login does, which learns the account's keys before it registers the device.
    laptop.get("/api/v1/devices").await.done(200);
    owner
        .put(&path, &json!({"id": id, "name": "laptop"}))
        .await
        .done(200);
    assert_eq!(listed().await[0].last_seen_at, None);
    laptop.get("/api/v1/devices").await.done(200);
    let seen = listed().await[0].last_seen_at;
    assert_eq!(seen, Some(Timestamp(1_767_225_600_000)));

    world.outsider().delete(&path).await.failed(404);
    let removed: RemovedDevice = owner.delete(&path).await.ok();
    assert_eq!(removed.logins_ended, 0);
    assert_eq!(listed().await, []);
    owner.delete(&path).await.failed(404);

    // Its API key is still valid, which nobody must overlook.
    world.app.source().advance(1_000);
    laptop.get("/api/v1/devices").await.done(200);
    assert_eq!(listed().await[0].name, "laptop");
}

#[tokio::test]
async fn an_api_key_is_shown_once_and_works_until_it_is_revoked() {
    let world = World::new();
    let owner = world.owner();
    let response = owner
        .post("/api/v1/apikeys", &json!({"name": "backup"}))
        .await;
    response.done(201);
    assert_eq!(response.header("cache-control"), "no-store");
    let created: CreatedApiKey = response.ok();
    assert!(created.key.starts_with("ck_") && created.key.starts_with(&created.info.prefix));
    let machine = world.caller(Some(&created.key));
    machine.get("/api/v1/nodes").await.done(200);
    let list = owner.get("/api/v1/apikeys").await;
    assert!(
        !String::from_utf8(list.body.to_vec())
            .unwrap()
            .contains(&created.key)
    );
    let keys: Page<ApiKey> = list.ok();
    let mine = keys
        .content
        .iter()
        .find(|key| key.id == created.info.id)
        .unwrap();
    assert!(mine.active && mine.last_used_at.is_some() && mine.expires_at.is_none());
    let path = format!("/api/v1/apikeys/{}", created.info.id);
    world.outsider().delete(&path).await.failed(403);
    owner.delete(&path).await.done(204);
    owner.delete(&path).await.done(204);
    machine.get("/api/v1/nodes").await.failed(401);
    let keys: Page<ApiKey> = owner.get("/api/v1/apikeys").await.ok();
    assert!(
        !keys
            .content
            .iter()
            .find(|key| key.id == created.info.id)
            .unwrap()
            .active
    );
}

#[tokio::test]
async fn an_api_key_expires_at_the_time_it_was_given() {
    let world = World::new();
    let owner = world.owner();
    let created: CreatedApiKey = owner
        .post(
            "/api/v1/apikeys",
            &json!({"name": "k", "expires_in": "12h"}),
        )
        .await
        .ok();
    assert_eq!(
        created.info.expires_at.unwrap().to_string(),
        "2026-01-01T12:00:00.000Z"
    );
    let machine = world.caller(Some(&created.key));
    world.app.source().advance(12 * 3600 * 1000 - 1);
    machine.get("/api/v1/nodes").await.done(200);
    world.app.source().advance(1);
    machine.get("/api/v1/nodes").await.failed(401);
}

#[tokio::test]
async fn ten_keys_are_enough() {
    let world = World::new();
    let owner = world.owner();
    let mut last = String::new();
    for number in 2..=10 {
        let created: CreatedApiKey = owner
            .post("/api/v1/apikeys", &json!({"name": format!("k{number}")}))
            .await
            .ok();
        last = created.info.id;
    }
    owner
        .post("/api/v1/apikeys", &json!({"name": "eleventh"}))
        .await
        .failed(409);
    owner
        .delete(&format!("/api/v1/apikeys/{last}"))
        .await
        .done(204);
    owner
        .post("/api/v1/apikeys", &json!({"name": "tenth again"}))
        .await
        .done(201);
    for bad in [
        json!({"name": ""}),
        json!({"name": "x".repeat(101)}),
        json!({"name": "x", "expires_in": "soon"}),
    ] {
        owner.post("/api/v1/apikeys", &bad).await.failed(400);
    }
    let page: Value = owner.get("/api/v1/apikeys?page_size=3&page=2").await.ok();
    assert_eq!(
        (
            page["content"].as_array().unwrap().len(),
            page["totalElements"].as_u64()
        ),
        (3, Some(11))
    );
}

#[tokio::test]
async fn accounts_are_added_with_a_proper_address_once() {
    let world = World::new();
    world.app.add_user("new@example.com", "secret").unwrap();
    assert!(world.app.add_user("NEW@example.com", "secret").is_err());
    world
        .app
        .add_user("\u{dc}nal@example.com", "secret")
        .unwrap();
    for spelling in ["\u{fc}nal@example.com", "U\u{308}nal@EXAMPLE.com"] {
        assert!(world.app.add_user(spelling, "secret").is_err());
        let found = world.app.user(spelling).unwrap();
        assert_eq!(found.email, "\u{fc}nal@example.com");
    }
    for bad in [
        "",
        "new",
        "@example.com",
        "a@",
        "a b@example.com",
        "a@b@c",
        "a\u{7}@b",
        "<a@b>",
    ] {
        assert!(world.app.add_user(bad, "secret").is_err(), "{bad}");
    }
    assert!(world.app.add_user("x@example.com", "").is_err());
    let key = world.app.create_api_key("new@example.com").unwrap();
    world
        .caller(Some(&key))
        .get("/api/v1/nodes")
        .await
        .done(200);
    assert!(world.app.create_api_key("nobody@example.com").is_err());
}
