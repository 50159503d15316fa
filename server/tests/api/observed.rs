//! Monitoring: readiness and metrics.

use super::world::World;
use axum::http::Method;
use cairn_server::{MetricsOptions, Options, RateLimits};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

fn watched_world() -> World {
    World::with(Options {
        metrics: MetricsOptions {
            listen: None,
            token: Some("a token".to_owned()),
        },
        ..Options::ephemeral()
    })
}

async fn metrics(world: &World) -> String {
    let response = world.caller(Some("a token")).get("/metrics").await;
    response.done(200);
    assert!(
        response
            .header("content-type")
            .starts_with("application/openmetrics-text")
    );
    String::from_utf8(response.body.to_vec()).unwrap()
}

#[track_caller]
fn has(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(
            text.lines().any(|one| one == *line),
            "{line} not in\n{text}"
        );
    }
}

#[tokio::test]
async fn a_server_is_ready_until_it_is_about_to_end() {
    let world = World::new();
    let nobody = world.nobody();
    let ready: Value = nobody.get("/api/v1/ready").await.ok();
    assert_eq!(ready, json!({"status": "ready"}));
    world.app.close();
    let message = nobody.get("/api/v1/ready").await.failed(503);
    assert!(message.contains("about to end"), "{message}");
    nobody.get("/api/v1/health").await.done(200);
}

#[tokio::test]
async fn a_low_limit_without_a_token_makes_no_server_look_down() {
    let world = World::with(Options {
        rate_limits: RateLimits {
            open: 1,
            ..RateLimits::default()
        },
        ..Options::ephemeral()
    });
    let nobody = world.nobody();
    nobody.get("/api/v1/nodes").await.failed(401);
    nobody.get("/api/v1/nodes").await.failed(429);
    for _ in 0..3 {
        nobody.get("/api/v1/health").await.done(200);
        nobody.get("/api/v1/ready").await.done(200);
    }
}

#[tokio::test]
async fn a_server_that_can_not_write_is_not_ready_and_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::stored_in(dir.path());
    let nobody = world.nobody();
    nobody.get("/api/v1/ready").await.done(200);
    let left: Vec<_> = std::fs::read_dir(dir.path().join("objects"))
        .unwrap()
        .collect();
    assert!(left.is_empty(), "the check leaves nothing: {left:?}");
    std::fs::remove_dir_all(dir.path().join("objects")).unwrap();
    let message = nobody.get("/api/v1/ready").await.failed(503);
    assert!(message.contains("data directory"), "{message}");
}

#[tokio::test]
async fn a_database_of_another_schema_is_not_ready() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::stored_in(dir.path());
    let conn = rusqlite::Connection::open(dir.path().join("cairn.db")).unwrap();
    conn.pragma_update(None, "user_version", 9999).unwrap();
    let message = world.nobody().get("/api/v1/ready").await.failed(503);
    assert!(message.contains("another version's schema"), "{message}");
}

#[tokio::test]
async fn metrics_are_for_those_with_the_token() {
    let world = World::new();
    world.nobody().get("/metrics").await.failed(401);
    world.owner().get("/metrics").await.failed(404);
    let world = watched_world();
    world.nobody().get("/metrics").await.failed(401);
    world.owner().get("/metrics").await.failed(401);
    world
        .caller(Some("a toke"))
        .get("/metrics")
        .await
        .failed(401);
    world
        .caller(Some("a token"))
        .get("/metrics")
        .await
        .done(200);
}

#[tokio::test]
async fn requests_are_counted_by_route_and_never_by_path() {
    let world = watched_world();
    let owner = world.owner();
    let file = owner.file(None, "a", "12345").await;
    owner.get("/api/v1/nodes").await.done(200);
    owner.get("/v2/nodes/").await.done(200);
    owner.node(file.id).await.done(200);
    owner.get("/api/v1/nodes/nonsense").await.done(404);
    owner.get("/of/nobody").await.done(404);
    let invented = Method::from_bytes(b"INVENTED").unwrap();
    owner
        .send(invented, "/api/v1/nodes", &[], "")
        .await
        .done(405);
    let fault = json!({"path_pattern": "/api/v1/trash", "panic": true});
    owner.post("/_dev/faults", &fault).await.done(201);
    owner.get("/api/v1/trash").await.done(500);
    let text = metrics(&world).await;
    has(
        &text,
        &[
            "cairn_http_requests_total{method=\"GET\",route=\"/api/v1/nodes\",status=\"2xx\"} 2",
            "cairn_http_requests_total{method=\"GET\",route=\"/api/v1/nodes/{id}\",status=\"2xx\"} 1",
            "cairn_http_requests_total{method=\"GET\",route=\"/api/v1/nodes/{id}\",status=\"4xx\"} 1",
            "cairn_http_requests_total{method=\"GET\",route=\"unknown path\",status=\"4xx\"} 1",
            "cairn_http_requests_total{method=\"other\",route=\"/api/v1/nodes\",status=\"4xx\"} 1",
            "cairn_http_requests_total{method=\"GET\",route=\"none\",status=\"5xx\"} 1",
            "cairn_http_request_duration_seconds_count{method=\"GET\",route=\"/api/v1/nodes\"} 2",
            "cairn_accounts{state=\"active\"} 3",
            "cairn_files 1",
            "cairn_open_uploads 0",
            "cairn_chunks_stored_total 1",
            "cairn_webhook_deliveries{state=\"failed\"} 0",
            "cairn_background_last_run_timestamp_seconds{task=\"uploads\"} 0",
        ],
    );
    for secret in ["nonsense", "nobody", "INVENTED", &file.id.to_string()] {
        assert!(!text.contains(secret), "{secret} in\n{text}");
    }
    assert!(text.ends_with("# EOF\n"));
}

#[tokio::test]
async fn bytes_streams_and_background_work_are_counted() {
    let world = watched_world();
    let owner = world.owner();
    let folder = json!({"kind": "folder", "name": "d"});
    let response = owner.post("/api/v1/nodes", &folder).await;
    let text = metrics(&world).await;
    let value = |text: &str, name: &str| -> u64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap().trim().parse().unwrap()
    };
    assert_eq!(
        value(&text, "cairn_http_received_bytes_total"),
        folder.to_string().len() as u64
    );
    assert_eq!(
        value(&text, "cairn_http_sent_bytes_total"),
        response.body.len() as u64
    );
    let stream = owner
        .open(Method::GET, "/api/v1/changes/stream", &[], "")
        .await;
    has(&metrics(&world).await, &["cairn_stream_subscribers 1"]);
    drop(stream);
    has(&metrics(&world).await, &["cairn_stream_subscribers 0"]);
    world.app.housekeep().await.unwrap();
    let now = world.app.source().now_ms() / 1000;
    has(
        &metrics(&world).await,
        &[
            &format!("cairn_background_last_run_timestamp_seconds{{task=\"uploads\"}} {now}"),
            &format!("cairn_background_last_success_timestamp_seconds{{task=\"uploads\"}} {now}"),
            "cairn_background_failures_total{task=\"uploads\"} 0",
        ],
    );
}

/// The names of the samples of all metrics.
fn samples(text: &str) -> BTreeSet<String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.split(['{', ' ']).next().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn every_metric_of_the_dashboard_exists() {
    let world = watched_world();
    world.owner().get("/api/v1/nodes").await.done(200);
    let known = samples(&metrics(&world).await);
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging/grafana/cairn-server.json");
    let dashboard: Value = serde_json::from_slice(&std::fs::read(page).unwrap()).unwrap();
    let mut queries = Vec::new();
    let panels = dashboard["panels"].as_array().unwrap();
    for panel in panels {
        for target in panel["targets"].as_array().unwrap() {
            queries.push(target["expr"].as_str().unwrap().to_owned());
        }
    }
    assert!(queries.len() >= panels.len(), "each panel shows something");
    let name = regex::Regex::new(r"cairn_[a-z_]+").unwrap();
    let mut named = BTreeSet::new();
    for query in &queries {
        let before = named.len();
        named.extend(name.find_iter(query).map(|found| found.as_str().to_owned()));
        assert!(named.len() > before || name.is_match(query), "{query}");
    }
    let unknown: Vec<_> = named.difference(&known).collect();
    assert!(unknown.is_empty(), "{unknown:?} not in {known:?}");
}

#[test]
fn metrics_for_everyone_are_refused() {
    let listen = |address: &str, token: Option<&str>| {
        let metrics = MetricsOptions {
            listen: Some(address.parse().unwrap()),
            token: token.map(str::to_owned),
        };
        cairn_server::build(Options {
            metrics,
            ..Options::ephemeral()
        })
    };
    let error = listen("0.0.0.0:9464", None).map(drop).unwrap_err();
    assert!(error.to_string().contains("token"), "{error}");
    assert!(listen("0.0.0.0:9464", Some("t")).is_ok());
    assert!(listen("127.0.0.1:9464", None).is_ok());
}
