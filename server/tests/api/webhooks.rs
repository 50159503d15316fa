//! Webhooks: who may have one, what is delivered when, and how failures go on.

mod described;
mod secrets;

use super::world::{Caller, Draft, TestResponse, World};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode};
use cairn_server::Options;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

/// Holds what a receiver got and what it answers; 204 once the list of responses is used up.
#[derive(Clone, Default)]
struct Receiver {
    got: Arc<Mutex<Vec<(HeaderMap, Bytes)>>>,
    responses: Arc<Mutex<VecDeque<(u16, String)>>>,
}

impl Receiver {
    /// Starts one; answers its address, too.
    async fn start() -> (Self, String) {
        let receiver = Self::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let router = Router::new().fallback(take).with_state(receiver.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (receiver, url)
    }

    fn will_answer(&self, status: u16, times: usize) {
        let response = (status, format!("answer {status} {}", "x".repeat(3_000)));
        let mut responses = self.responses.lock().unwrap();
        responses.extend(std::iter::repeat_n(response, times));
    }

    /// The bodies since the last call.
    fn bodies(&self) -> Vec<Value> {
        let got = std::mem::take(&mut *self.got.lock().unwrap());
        got.iter()
            .map(|(_, body)| serde_json::from_slice(body).unwrap())
            .collect()
    }

    fn requests(&self) -> Vec<(HeaderMap, Bytes)> {
        std::mem::take(&mut *self.got.lock().unwrap())
    }
}

async fn take(
    State(receiver): State<Receiver>,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, String) {
    receiver.got.lock().unwrap().push((headers, body));
    let response = receiver.responses.lock().unwrap().pop_front();
    let (status, text) = response.unwrap_or((204, String::new()));
    (StatusCode::from_u16(status).unwrap(), text)
}

/// A server that delivers to addresses of this machine.
fn world() -> World {
    world_with(Options::ephemeral())
}

/// The same with its data in a directory.
fn world_in(data: &Path) -> World {
    world_with(Options {
        data: data.to_owned(),
        ..Options::default()
    })
}

fn world_with(options: Options) -> World {
    World::with(Options {
        allow_private_webhooks: true,
        ..options
    })
}

async fn hook(caller: &Caller, url: &str, events: &[&str]) -> Value {
    caller
        .post("/api/v1/webhooks/", &json!({"url": url, "events": events}))
        .await
        .ok()
}

fn path(hook: &Value, rest: &str) -> String {
    format!("/api/v1/webhooks/{}{rest}", hook["id"].as_str().unwrap())
}

/// A webhook whose first test event has been delivered and taken.
async fn ready_webhook(world: &World, events: &[&str]) -> (Receiver, Value) {
    let (receiver, url) = Receiver::start().await;
    let made = hook(&world.owner(), &url, events).await;
    assert_eq!(world.app.deliver_due().await.unwrap(), 1);
    assert_eq!(receiver.bodies()[0]["event"], "webhook.test");
    (receiver, made)
}

fn signature(secret: &str, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(body);
    format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
}

async fn deliveries(world: &World, hook: &Value) -> Vec<Value> {
    let page: Value = world.owner().get(&path(hook, "/deliveries")).await.ok();
    page["content"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_change_that_changes_nothing_is_refused() {
    let world = world();
    let (_receiver, made) = ready_webhook(&world, &["file.uploaded"]).await;
    let refused = world.owner().put(&path(&made, ""), &json!({})).await;
    let message = refused.failed(400);
    let expected = "the body: it names nothing to change; give `events`, `url`, or both";
    assert_eq!(message, expected);
}

#[tokio::test]
async fn an_upload_is_delivered_with_a_signature_over_the_documented_body() {
    let world = world();
    let (receiver, made) = ready_webhook(&world, &["file.uploaded"]).await;
    let folder = world.owner().folder(None, "docs").await;
    let file = world.owner().file(Some(folder.id), "a.txt", "hello").await;
    assert_eq!(world.app.deliver_due().await.unwrap(), 1);

    let (headers, body) = receiver.requests().remove(0);
    let secret = made["secret"].as_str().unwrap();
    assert_eq!(headers["x-service-signature"], signature(secret, &body));
    assert_eq!(headers["content-type"], "application/json");
    let payload: Value = serde_json::from_slice(&body).unwrap();
    let delivery = payload["delivery_id"].clone();
    assert_eq!(
        payload,
        json!({
            "event": "file.uploaded",
            "timestamp": "2026-01-01T00:00:00.000Z",
            "data": {"file_id": file.id, "file_name": "a.txt", "folder_id": folder.id, "size_bytes": 5},
            "webhook_id": made["id"],
            "delivery_id": delivery,
        })
    );
    let log = deliveries(&world, &made).await;
    assert_eq!(log[0]["id"], delivery);
    assert_eq!(log[0]["state"], "delivered");
    assert_eq!(log[0]["attempts"][0]["status"], 204);
}

#[tokio::test]
async fn every_event_of_a_file_is_raised_and_only_those_that_were_asked_for() {
    let world = world();
    let owner = world.owner();
    let all = [
        "file.uploaded",
        "file.downloaded",
        "file.moved",
        "file.renamed",
        "file.deleted",
    ];
    let (receiver, _) = ready_webhook(&world, &all).await;
    let (quiet, _) = ready_webhook(&world, &["share.created"]).await;
    let folder = owner.folder(None, "docs").await;
    let draft = Draft::new("a.txt", "hello");
    let frame = cairn_wire::frame::encode(
        &cairn_wire::transfer::UploadBatch {
            files: vec![draft.batch_file()],
        },
        &draft.chunks,
    )
    .unwrap();
    let post = axum::http::Method::POST;
    let sent = owner.send(post, "/api/v1/uploads/batch", &[], frame).await;
    sent.done(200);
    let node = format!("/api/v1/nodes/{}", draft.node);
    owner
        .get(&format!("{node}/revisions/{}/manifest", draft.revision))
        .await
        .done(200);
    owner
        .put(&node, &json!({"name": "b.txt", "parent_id": folder.id}))
        .await
        .done(200);
    owner.put(&node, &json!({"favorite": true})).await.done(200);
    owner.delete(&node).await.done(200);
    owner.delete(&node).await.done(200);
    assert_eq!(world.app.deliver_due().await.unwrap(), 5);

    let mut bodies = receiver.bodies();
    bodies.sort_by_key(|body| all.iter().position(|name| body["event"] == *name));
    let events: Vec<&Value> = bodies.iter().map(|body| &body["event"]).collect();
    assert_eq!(events, all);
    let space = owner
        .get("/api/v1/useraccount/composite")
        .await
        .ok::<Value>()["space_id"]
        .clone();
    assert_eq!(bodies[0]["data"]["folder_id"], space);
    assert_eq!(bodies[2]["data"]["from_folder_id"], space);
    assert_eq!(bodies[2]["data"]["folder_id"], json!(folder.id));
    assert_eq!(bodies[3]["data"]["old_name"], "a.txt");
    assert_eq!(bodies[4]["data"]["file_name"], "b.txt");
    assert_eq!(quiet.bodies().len(), 0);
}

#[tokio::test]
async fn a_file_that_did_not_fit_into_a_batch_was_not_downloaded() {
    let world = world();
    let owner = world.owner();
    let big = "b".repeat(5 * 1024 * 1024);
    let one = owner.file(None, "one", &big).await;
    let two = owner.file(None, "two", &big).await;
    let (receiver, _) = ready_webhook(&world, &["file.downloaded"]).await;
    let files =
        [&one, &two].map(|node| json!({"node_id": node.id, "revision_id": node.revision_id}));
    let body = json!({"files": files, "content": true});
    let batch = owner.post("/api/v1/downloads/batch", &body).await;
    batch.done(200);
    assert_eq!(world.app.deliver_due().await.unwrap(), 1);
    assert_eq!(receiver.bodies()[0]["data"]["file_id"], json!(one.id));
}

#[tokio::test]
async fn a_failing_receiver_is_tried_again_on_schedule_with_one_id_until_it_has_failed() {
    let world = world();
    let (receiver, made) = ready_webhook(&world, &["file.uploaded"]).await;
    receiver.will_answer(500, 6);
    world.owner().file(None, "a.txt", "hello").await;
    assert_eq!(world.app.deliver_due().await.unwrap(), 1);
    let minute = 60_000;
    for wait in [minute, 5 * minute, 30 * minute, 120 * minute, 720 * minute] {
        assert_eq!(deliveries(&world, &made).await[0]["state"], "retrying");
        world.app.source().advance(wait - 1);
        assert_eq!(world.app.deliver_due().await.unwrap(), 0, "{wait}");
        world.app.source().advance(1);
        assert_eq!(world.app.deliver_due().await.unwrap(), 1, "{wait}");
    }
    let bodies = receiver.bodies();
    assert_eq!(bodies.len(), 6);
    assert!(bodies.iter().all(|body| *body == bodies[0]));

    let failed = deliveries(&world, &made).await[0].clone();
    assert_eq!(failed["state"], "failed");
    assert_eq!(failed["next_attempt_at"], Value::Null);
    let attempts = failed["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 6);
    assert_eq!(attempts[0]["status"], 500);
    assert_eq!(attempts[0]["response"].as_str().unwrap().len(), 1_024);
    world.app.source().advance(24 * 60 * minute);
    assert_eq!(world.app.deliver_due().await.unwrap(), 0);

    let retry = path(
        &made,
        &format!("/deliveries/{}/retry", failed["id"].as_str().unwrap()),
    );
    world.owner().post(&retry, &json!({})).await.done(202);
    assert_eq!(world.app.deliver_due().await.unwrap(), 1);
    assert_eq!(receiver.bodies()[0]["delivery_id"], failed["id"]);
    assert_eq!(deliveries(&world, &made).await[0]["state"], "delivered");
    world.owner().post(&retry, &json!({})).await.failed(409);
}

#[tokio::test]
async fn a_failed_delivery_that_fails_again_by_hand_stays_failed() {
    let world = world();
    let (receiver, made) = ready_webhook(&world, &["file.uploaded"]).await;
    receiver.will_answer(503, 7);
    world.owner().file(None, "a.txt", "hello").await;
    for _ in 0..6 {
        world.app.deliver_due().await.unwrap();
        world.app.source().advance(43_200_000);
    }
    let failed = deliveries(&world, &made).await[0].clone();
    let retry = format!("/deliveries/{}/retry", failed["id"].as_str().unwrap());
    let response: Value = world
        .owner()
        .post(&path(&made, &retry), &json!({}))
        .await
        .ok();
    assert_eq!(response["state"], "retrying");
    assert_eq!(world.app.deliver_due().await.unwrap(), 1);
    assert_eq!(deliveries(&world, &made).await[0]["state"], "failed");
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_a_dead_address_is_reported() {
    let world = world();
    let (receiver, made) = ready_webhook(&world, &["file.uploaded"]).await;
    receiver.will_answer(302, 1);
    world.owner().file(None, "a.txt", "hello").await;
    assert_eq!(world.app.deliver_due().await.unwrap(), 1);
    let log = deliveries(&world, &made).await;
    assert_eq!(log[0]["attempts"][0]["status"], 302);
    assert_eq!(log[0]["state"], "retrying");

    let unused = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", unused.local_addr().unwrap());
    drop(unused);
    let dead = hook(&world.owner(), &url, &["file.uploaded"]).await;
    assert_eq!(world.app.deliver_due().await.unwrap(), 1);
    let attempt = deliveries(&world, &dead).await[0]["attempts"][0].clone();
    assert_eq!(attempt["status"], Value::Null);
    assert!(!attempt["error"].as_str().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_says_nothing_for_thirty_seconds_has_failed() {
    let world = world();
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let holding = tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = silent.accept().await {
            held.push(stream);
        }
        held.len()
    });
    let made = hook(&world.owner(), &url, &["file.uploaded"]).await;
    assert_eq!(world.app.deliver_due().await.unwrap(), 1);
    let attempt = deliveries(&world, &made).await[0]["attempts"][0].clone();
    assert_eq!(attempt["error"], "no response within 30 s");
    assert!(attempt["latency_ms"].as_u64().unwrap() >= 30_000);
    assert_eq!(deliveries(&world, &made).await[0]["state"], "retrying");
    holding.abort();
}

#[tokio::test]
async fn a_disabled_webhook_waits_and_goes_on_when_it_is_enabled() {
    let world = world();
    let owner = world.owner();
    let (receiver, made) = ready_webhook(&world, &["file.uploaded"]).await;
    owner.file(None, "before", "x").await;
    let off: Value = owner.post(&path(&made, "/disable"), &json!({})).await.ok();
    assert_eq!(off["status"], "disabled");
    for (query, count) in [("", 0), ("?status=disabled", 1), ("?status=all", 1)] {
        let list: Value = owner.get(&format!("/api/v1/webhooks{query}")).await.ok();
        assert_eq!(list["totalElements"], count, "{query}");
    }
    owner.file(None, "meanwhile", "x").await;
    assert_eq!(world.app.deliver_due().await.unwrap(), 0);
    owner
        .post(&path(&made, "/test"), &json!({}))
        .await
        .failed(409);
    let on: Value = owner.post(&path(&made, "/enable"), &json!({})).await.ok();
    assert_eq!(on["status"], "active");
    assert_eq!(world.app.deliver_due().await.unwrap(), 1);
    assert_eq!(receiver.bodies()[0]["data"]["file_name"], "before");
}

#[tokio::test]
async fn events_can_be_replaced_and_a_deleted_webhook_hears_nothing() {
    let world = world();
    let owner = world.owner();
    let (receiver, made) = ready_webhook(&world, &["file.uploaded"]).await;
    let changed: Value = owner
        .put(
            &path(&made, ""),
            &json!({"events": ["file.deleted", "file.deleted"]}),
        )
        .await
        .ok();
    assert_eq!(changed["events"], json!(["file.deleted"]));
    assert_eq!(changed["secret"], Value::Null);
    let node = owner.file(None, "a", "x").await;
    assert_eq!(world.app.deliver_due().await.unwrap(), 0);
    owner
        .delete(&format!("/api/v1/nodes/{}", node.id))
        .await
        .done(200);
    owner.delete(&path(&made, "")).await.done(204);
    assert_eq!(world.app.deliver_due().await.unwrap(), 0);
    assert_eq!(receiver.bodies().len(), 0);
    owner.delete(&path(&made, "")).await.failed(404);
    let left: Value = owner.get("/api/v1/webhooks").await.ok();
    assert_eq!(left["totalElements"], 0);
}

#[tokio::test]
async fn a_webhook_is_nobody_elses() {
    let world = world();
    let (_, made) = ready_webhook(&world, &["file.uploaded"]).await;
    let other = world.outsider();
    let none = json!({});
    for response in [
        other
            .put(&path(&made, ""), &json!({"events": ["file.deleted"]}))
            .await,
        other.delete(&path(&made, "")).await,
        other.post(&path(&made, "/test"), &none).await,
        other.post(&path(&made, "/rotate"), &none).await,
        other.post(&path(&made, "/disable"), &none).await,
        other.get(&path(&made, "/deliveries")).await,
    ] {
        response.failed(403);
    }
    other.file(None, "theirs", "x").await;
    assert_eq!(world.app.deliver_due().await.unwrap(), 0);
    world.nobody().get("/api/v1/webhooks").await.failed(401);
}

#[tokio::test]
async fn addresses_inside_and_bad_subscriptions_are_refused() {
    let world = World::new();
    let owner = world.owner();
    let post = async |body: Value| -> TestResponse { owner.post("/api/v1/webhooks", &body).await };
    for url in [
        "http://example.com/",
        "https://127.0.0.1/",
        "https://metadata.google.internal/",
    ] {
        let message = post(json!({"url": url, "events": ["file.uploaded"]}))
            .await
            .failed(400);
        assert!(message.contains("`url`"), "{message}");
    }
    let url = "https://example.com/";
    for body in [
        json!({"url": url, "events": []}),
        json!({"url": url, "events": ["file.eaten"]}),
        json!({"url": url, "events": "file.uploaded"}),
        json!({"url": url}),
        json!({"events": ["file.uploaded"]}),
        json!({"url": 5, "events": ["file.uploaded"]}),
        json!({"url": url, "events": ["file.uploaded"], "secret": "mine"}),
        json!([]),
    ] {
        post(body).await.failed(400);
    }
    for _ in 0..50 {
        post(json!({"url": url, "events": ["file.uploaded"]}))
            .await
            .done(201);
    }
    post(json!({"url": url, "events": ["file.uploaded"]}))
        .await
        .failed(409);
}

#[tokio::test]
async fn neither_secrets_nor_deliveries_lie_open_in_the_database() {
    let dir = tempfile::tempdir().unwrap();
    let world = world_in(dir.path());
    let (receiver, url) = Receiver::start().await;
    receiver.will_answer(500, 1);
    let made = hook(&world.owner(), &url, &["file.uploaded"]).await;
    world.app.deliver_due().await.unwrap();
    drop(world);
    let mut bytes = Vec::new();
    for name in ["cairn.db", "cairn.db-wal"] {
        bytes.extend(std::fs::read(dir.path().join(name)).unwrap_or_default());
    }
    let holds = |text: &str| {
        bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    };
    assert!(
        holds(made["url"].as_str().unwrap()),
        "the search itself works"
    );
    for secret in [
        made["secret"].as_str().unwrap(),
        "delivery_id",
        "This is a test event",
        "answer 500",
    ] {
        assert!(!holds(secret), "{secret}");
    }

    let again = world_in(dir.path());
    again.app.source().advance(60_000);
    assert_eq!(again.app.deliver_due().await.unwrap(), 1);
    let bodies = receiver.bodies();
    assert_eq!(bodies[0], bodies[1]);
}

#[tokio::test]
async fn finished_deliveries_are_forgotten_after_a_month() {
    let world = world();
    let (_, made) = ready_webhook(&world, &["file.uploaded"]).await;
    let month = 30 * 24 * 3600 * 1000;
    world.app.source().advance(month - 1);
    world.app.housekeep().await.unwrap();
    assert_eq!(deliveries(&world, &made).await.len(), 1);
    world.app.source().advance(1);
    world.app.housekeep().await.unwrap();
    assert_eq!(deliveries(&world, &made).await.len(), 0);
}

#[tokio::test]
async fn a_delivery_that_no_key_opens_is_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let world = world_in(dir.path());
    let (receiver, made) = ready_webhook(&world, &["file.uploaded"]).await;
    let owner = world.owner();
    owner.file(None, "a", "x").await;
    owner.file(None, "b", "x").await;
    let database = rusqlite::Connection::open(dir.path().join("cairn.db")).unwrap();
    let damage = "UPDATE webhook_deliveries SET payload = zeroblob(60) \
                  WHERE row = (SELECT max(row) FROM webhook_deliveries)";
    assert_eq!(database.execute(damage, []).unwrap(), 1);
    world.app.deliver_due().await.unwrap();
    // The other one arrived, and this one is not tried again.
    assert_eq!(receiver.bodies().len(), 1);
    let given_up = deliveries(&world, &made).await.remove(0);
    assert_eq!(
        (&given_up["state"], &given_up["next_attempt_at"]),
        (&json!("failed"), &Value::Null)
    );
    let reason = given_up["attempts"][0]["error"].as_str().unwrap();
    assert!(reason.contains("records.key"), "{reason}");
    assert_eq!(world.app.deliver_due().await.unwrap(), 0);
}

#[tokio::test]
async fn the_webhooks_of_a_disabled_account_wait_and_get_nothing_new() {
    let world = world();
    let (owner, member) = (world.owner(), world.member());
    let (receiver, url) = Receiver::start().await;
    hook(&member, &url, &["team.member_joined", "file.uploaded"]).await;
    assert_eq!(world.app.deliver_due().await.unwrap(), 1);
    receiver.bodies();
    member.file(None, "before", "x").await;
    let disable = |on| world.app.set_user_disabled("member@example.com", on);
    disable(true).unwrap();
    let teams: Value = owner.get("/api/v1/teams").await.ok();
    let team = teams["content"][0]["id"].as_str().unwrap();
    let invited: Value = owner
        .post(
            &format!("/api/v1/teams/{team}/invite"),
            &json!({"email": "outsider@example.com"}),
        )
        .await
        .ok();
    let accept = format!(
        "/api/v1/teams/invitations/{}/accept",
        invited["id"].as_str().unwrap()
    );
    world.outsider().post(&accept, &json!({})).await.done(200);
    assert_eq!(world.app.deliver_due().await.unwrap(), 0);
    disable(false).unwrap();
    assert_eq!(world.app.deliver_due().await.unwrap(), 1);
    let bodies = receiver.bodies();
    assert_eq!(bodies.len(), 1);
    assert_eq!(bodies[0]["data"]["file_name"], "before");
}

#[tokio::test]
async fn a_look_at_the_headers_of_a_manifest_is_no_download() {
    let world = world();
    let owner = world.owner();
    let file = owner.file(None, "a", "x").await;
    let (receiver, _) = ready_webhook(&world, &["file.downloaded"]).await;
    let revision = file.revision_id.unwrap();
    let path = format!("/api/v1/nodes/{}/revisions/{revision}/manifest", file.id);
    owner.send(Method::HEAD, &path, &[], "").await.done(200);
    assert_eq!(world.app.deliver_due().await.unwrap(), 0);
    owner.get(&path).await.done(200);
    assert_eq!(world.app.deliver_due().await.unwrap(), 1);
    assert_eq!(receiver.bodies().len(), 1);
}
