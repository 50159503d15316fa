//! Fault rules (failures on purpose) and the recording of requests.

use super::world::World;
use axum::body::Body;
use axum::http::Method;
use cairn_wire::Page;
use cairn_wire::nodes::Node;
use futures_util::StreamExt as _;
use serde_json::{Value, json};

#[tokio::test]
async fn a_rule_strikes_as_often_as_it_says() {
    let world = World::new();
    let owner = world.owner();
    let rule = json!({"path_pattern": "/v2/nodes", "method": "get", "status": 429, "retry_after": 7, "skip": 1, "count": 2});
    let made: Value = owner.post("/_dev/faults", &rule).await.ok();
    assert_eq!(
        (made["id"].as_u64(), made["hits"].as_u64()),
        (Some(1), Some(0))
    );
    owner.get("/api/v1/nodes").await.done(200);
    for _ in 0..2 {
        let response = owner.get("/api/v1/nodes/?page=1").await;
        response.failed(429);
        assert_eq!(response.header("retry-after"), "7");
        assert!(!response.header("x-request-id").is_empty());
    }
    owner.get("/api/v1/nodes").await.done(200);
    owner.folder(None, "a").await;
    let list: Value = owner.get("/_dev/faults").await.ok();
    assert_eq!(
        (
            list["faults"][0]["hits"].as_u64(),
            list["faults"][0]["matched"].as_u64()
        ),
        (Some(2), Some(4))
    );
    owner.delete("/_dev/faults/1").await.done(204);
    owner.delete("/_dev/faults/1").await.failed(404);
    owner
        .post("/_dev/faults", &json!({"path_pattern": "/", "status": 500}))
        .await
        .done(201);
    owner.get("/api/v1/nodes").await.failed(500);
    owner.delete("/_dev/faults").await.done(204);
    owner.get("/api/v1/nodes").await.done(200);
}

#[tokio::test]
async fn a_rule_strikes_only_whom_it_means() {
    let world = World::new();
    let (owner, outsider) = (world.owner(), world.outsider());
    let laptop = owner.on_device(9);
    let device = "09090909-0909-0909-0909-090909090909";
    for (filter, failed) in [
        (json!({"account": "owner@example.com"}), [500, 500, 200]),
        (json!({"token": "ck_dev_outsider"}), [200, 200, 500]),
        (json!({"device": device}), [200, 500, 200]),
        (
            json!({"device": "09090909-0909-0909-0909-09090909090A"}),
            [200, 200, 200],
        ),
        (json!({"probability": 0.0}), [200, 200, 200]),
        (json!({"probability": 1.0}), [500, 500, 500]),
    ] {
        let mut rule = json!({"path_pattern": "/api", "status": 500});
        rule.as_object_mut()
            .unwrap()
            .extend(filter.as_object().unwrap().clone());
        owner.post("/_dev/faults", &rule).await.done(201);
        let mut got = Vec::new();
        for who in [&owner, &laptop, &outsider] {
            got.push(who.get("/api/v1/nodes").await.status.as_u16());
        }
        assert_eq!(got, failed, "{filter}");
        owner.delete("/_dev/faults").await.done(204);
    }
    for pointless in [
        json!({"path_pattern": "/"}),
        json!({"path_pattern": "/", "retry_after": 3, "processed": true, "count": 1}),
        json!({"path_pattern": "/", "set": {"no-slash": 1}}),
    ] {
        let refused = owner.post("/_dev/faults", &pointless).await;
        refused.failed(400);
    }
    owner
        .post("/_dev/faults", &json!({"status": 500}))
        .await
        .failed(400);
    owner
        .post("/_dev/faults", &json!({"path_pattern": "/", "statsu": 500}))
        .await
        .failed(400);
    owner
        .post("/_dev/faults", &json!({"path_pattern": "/", "status": 99}))
        .await
        .failed(400);
    owner
        .post(
            "/_dev/faults",
            &json!({"path_pattern": "/", "probability": 2}),
        )
        .await
        .failed(400);
    owner
        .post(
            "/_dev/faults",
            &json!({"path_pattern": "/", "account": "no@example.com"}),
        )
        .await
        .failed(404);
}

#[tokio::test]
async fn a_refused_request_does_nothing_and_a_lost_response_does() {
    let world = World::new();
    let owner = world.owner();
    let create = |name: &str| json!({"kind": "folder", "name": name});
    owner
        .post(
            "/_dev/faults",
            &json!({"path_pattern": "/", "status": 503, "count": 1}),
        )
        .await
        .done(201);
    owner.post("/api/v1/nodes", &create("a")).await.failed(503);
    let lost = json!({"path_pattern": "/", "status": 503, "processed": true, "count": 1});
    owner.post("/_dev/faults", &lost).await.done(201);
    owner.post("/api/v1/nodes", &create("b")).await.failed(503);
    let page: Page<Node> = owner.get("/api/v1/nodes").await.ok();
    assert_eq!(
        page.content
            .iter()
            .map(|node| node.name.as_str())
            .collect::<Vec<_>>(),
        ["b"]
    );
}

#[tokio::test]
async fn bodies_are_cut_corrupted_and_rewritten() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "f", "0123456789").await;
    let fault = async |effect: Value| {
        let mut rule = json!({"path_pattern": "/api/v1/chunks/*", "count": 1});
        rule.as_object_mut()
            .unwrap()
            .extend(effect.as_object().unwrap().clone());
        owner.post("/_dev/faults", &rule).await.done(201);
    };
    fault(json!({"cut_after_bytes": 4})).await;
    let path = format!(
        "/api/v1/chunks/{}?node={}",
        super::world::id_of(b"0123456789"),
        file.id
    );
    let cut = owner.open(Method::GET, &path, &[], Body::empty()).await;
    assert_eq!(
        (
            cut.status().as_u16(),
            cut.headers()["content-length"].to_str().unwrap()
        ),
        (200, "10")
    );
    let mut pieces = cut.into_body().into_data_stream();
    assert_eq!(pieces.next().await.unwrap().unwrap(), "0123");
    assert!(pieces.next().await.unwrap().is_err());
    fault(json!({"corrupt": true})).await;
    assert_eq!(owner.get(&path).await.body, "0123446789");
    assert_eq!(owner.get(&path).await.body, "0123456789");
    let lie = json!({"path_pattern": "/api/v1/nodes/*", "count": 1, "set": {"/name": "../evil", "/seq": 0}});
    owner.post("/_dev/faults", &lie).await.done(201);
    let lied: Value = owner.node(file.id).await.ok();
    assert_eq!(
        (lied["name"].as_str(), lied["seq"].as_u64()),
        (Some("../evil"), Some(0))
    );
    assert_eq!(owner.node(file.id).await.ok::<Node>(), file);
}

#[tokio::test(start_paused = true)]
async fn latency_passes_on_the_clock_of_the_runtime() {
    let world = World::new();
    let owner = world.owner();
    owner
        .post(
            "/_dev/faults",
            &json!({"path_pattern": "/api", "latency_ms": 1500}),
        )
        .await
        .done(201);
    let begun = tokio::time::Instant::now();
    owner.get("/api/v1/nodes").await.done(200);
    assert_eq!(begun.elapsed().as_millis(), 1500);
}

#[tokio::test]
async fn requests_are_recorded_with_what_they_cost() {
    let world = World::new();
    let laptop = world.owner().on_device(9);
    let file = laptop.file(None, "f", "0123456789").await;
    laptop.chunk(file.id, "0123456789").await.done(200);
    world.outsider().get("/api/v1/nodes?page=2").await.done(200);
    let fault: Value = laptop
        .post(
            "/_dev/faults",
            &json!({"path_pattern": "/api", "status": 500, "count": 1}),
        )
        .await
        .ok();
    laptop.get("/api/v1/nodes").await.failed(500);
    let all: Value = laptop.get("/_dev/requests").await.ok();
    let requests = all["requests"].as_array().unwrap();
    let paths: Vec<_> = requests
        .iter()
        .map(|r| r["path"].as_str().unwrap().split('/').nth(3).unwrap())
        .collect();
    assert_eq!(
        paths,
        ["uploads", "uploads", "uploads", "chunks", "nodes", "nodes"],
        "and none to /_dev"
    );
    let put = &requests[1];
    assert_eq!(
        (put["method"].as_str(), put["status"].as_u64()),
        (Some("PUT"), Some(204))
    );
    assert_eq!(
        (
            put["request_bytes"].as_u64(),
            put["response_bytes"].as_u64()
        ),
        (Some(10), Some(0))
    );
    assert_eq!(put["device"], "09090909-0909-0909-0909-090909090909");
    assert_eq!(
        (
            requests[3]["response_bytes"].as_u64(),
            requests[3]["finished"].as_bool()
        ),
        (Some(10), Some(true))
    );
    assert_eq!(
        (
            requests[4]["query"].as_str(),
            requests[4]["device"].as_str()
        ),
        (Some("page=2"), None)
    );
    assert_eq!(
        (&requests[5]["fault"], requests[5]["status"].as_u64()),
        (&fault["id"], Some(500))
    );
    assert_eq!(all["count"], 6);
    let sum: u64 = requests
        .iter()
        .map(|r| r["request_bytes"].as_u64().unwrap())
        .sum();
    assert_eq!(all["request_bytes"], sum);
    let some: Value = laptop
        .get("/_dev/requests?path=/api/v1/uploads&method=put")
        .await
        .ok();
    assert_eq!(some["count"], 1);
    let later: Value = laptop
        .get(&format!("/_dev/requests?after={}", requests[4]["id"]))
        .await
        .ok();
    assert_eq!(later["count"], 1);
    laptop.delete("/_dev/requests").await.done(204);
    assert_eq!(laptop.get("/_dev/requests").await.ok::<Value>()["count"], 0);
}

#[tokio::test]
async fn without_dev_there_is_no_back_door() {
    let app = cairn_server::build(cairn_server::Options::ephemeral()).unwrap();
    app.add_user("a@example.com", "x").unwrap();
    let key = app.create_api_key("a@example.com").unwrap();
    let request = |path: &str, token: &str| {
        let builder = axum::http::Request::builder()
            .uri(path)
            .header("authorization", format!("Bearer {token}"));
        tower::ServiceExt::oneshot(app.router(), builder.body(Body::empty()).unwrap())
    };
    for path in ["/_dev/faults", "/_dev/requests", "/_dev/clock"] {
        assert_eq!(request(path, &key).await.unwrap().status(), 404);
    }
    assert_eq!(request("/api/v1/nodes", &key).await.unwrap().status(), 200);
    assert_eq!(
        request("/api/v1/nodes", "ck_dev_owner")
            .await
            .unwrap()
            .status(),
        401
    );
}
