//! Pages of other origins: which of them browsers let to the API, and to what of it.

use super::world::{Caller, TestResponse, World};
use axum::http::Method;
use cairn_server::{CorsOptions, Options, build, openapi};
use serde_json::Value;
use std::collections::BTreeSet;

const APP: &str = "https://app.example.com";
const OTHER: &str = "https://evil.example";
const ALLOWED: &str = "access-control-allow-origin";

/// A server without development mode that knows these origins.
fn world(origins: &[&str]) -> World {
    let cors = CorsOptions {
        origins: origins.iter().map(|text| (*text).to_owned()).collect(),
        loopback: false,
    };
    World::around(
        build(Options {
            cors,
            ..Options::ephemeral()
        })
        .unwrap(),
    )
}

/// Asks as a browser does before it sends a request of a page.
async fn preflight(caller: &Caller, origin: &str, method: &str, path: &str) -> TestResponse {
    let headers = [
        ("origin", origin),
        ("access-control-request-method", method),
        ("access-control-request-headers", "authorization,if-match"),
    ];
    caller.send(Method::OPTIONS, path, &headers, "").await
}

async fn get_from(caller: &Caller, origin: &str, path: &str) -> TestResponse {
    caller
        .send(Method::GET, path, &[("origin", origin)], "")
        .await
}

fn words(response: &TestResponse, header: &str) -> BTreeSet<String> {
    let text = response.header(header).to_lowercase();
    text.split(',').map(|word| word.trim().to_owned()).collect()
}

/// Returns the methods, request headers and response headers of the documented API.
fn documented() -> [BTreeSet<String>; 3] {
    let document: &Value = openapi::document();
    let [mut methods, mut sent, mut read] = [(); 3].map(|()| BTreeSet::new());
    let paths = document["paths"].as_object().unwrap();
    let of_the_api = paths.iter().filter(|(path, _)| path.starts_with("/api/"));
    let operations = of_the_api.flat_map(|(_, item)| item.as_object().unwrap());
    for (method, operation) in operations {
        methods.insert(method.clone());
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let parameter = match parameter["$ref"].as_str() {
                Some(at) => document.pointer(at.trim_start_matches('#')).unwrap(),
                None => parameter,
            };
            if parameter["in"] == "header" {
                sent.insert(parameter["name"].as_str().unwrap().to_lowercase());
            }
        }
        for response in operation["responses"].as_object().unwrap().values() {
            let headers = response["headers"].as_object().into_iter().flatten();
            read.extend(headers.map(|(name, _)| name.to_lowercase()));
        }
    }
    [methods, sent, read]
}

#[tokio::test]
async fn a_page_of_a_known_origin_can_use_all_that_the_document_describes() {
    let world = world(&[APP]);
    let nobody = world.nobody();
    let allowed = preflight(&nobody, APP, "PUT", "/api/v1/nodes/x").await;
    allowed.done(200);
    assert_eq!(allowed.header(ALLOWED), APP);
    assert!(!allowed.header("access-control-max-age").is_empty());
    let [methods, mut sent, read] = documented();
    sent.extend(["authorization", "content-type"].map(str::to_owned));
    assert!(sent.len() > 8 && methods.len() > 3 && !read.is_empty());
    for (wanted, header) in [
        (methods, "access-control-allow-methods"),
        (sent, "access-control-allow-headers"),
    ] {
        let given = words(&allowed, header);
        let missing: Vec<_> = wanted.difference(&given).collect();
        assert!(missing.is_empty(), "{header}: {missing:?}");
    }
    let response = get_from(&nobody, APP, "/api/v1/health").await;
    response.done(200);
    let readable = words(&response, "access-control-expose-headers");
    let missing: Vec<_> = read.difference(&readable).collect();
    assert!(missing.is_empty(), "{missing:?}");
    for name in [
        "etag",
        "retry-after",
        "ratelimit",
        "location",
        "content-range",
    ] {
        assert!(readable.contains(name), "{name}");
    }
}

#[tokio::test]
async fn a_page_reads_failures_as_well() {
    let world = world(&[APP]);
    let nobody = world.nobody();
    let refused = get_from(&nobody, APP, "/api/v1/nodes").await;
    refused.failed(401);
    assert_eq!(refused.header(ALLOWED), APP);
    let missing = get_from(&nobody, APP, "/api/v1/nothing/").await;
    missing.failed(404);
    assert_eq!(missing.header(ALLOWED), APP);
    assert!(words(&missing, "vary").contains("origin"));
}

#[tokio::test]
async fn a_page_of_another_origin_reads_nothing() {
    let world = world(&[APP]);
    let nobody = world.nobody();
    for origin in [
        OTHER,
        "null",
        "http://app.example.com",
        "https://app.example.com.evil.example",
        "https://app.example.com:8443",
        "http://localhost:5173",
    ] {
        let asked = preflight(&nobody, origin, "GET", "/api/v1/nodes").await;
        assert_eq!(asked.header(ALLOWED), "", "{origin}");
        let sent = get_from(&nobody, origin, "/api/v1/health").await;
        assert_eq!(sent.header(ALLOWED), "", "{origin}");
        assert!(words(&sent, "vary").contains("origin"));
    }
    let unmarked = nobody.get("/api/v1/health").await;
    assert_eq!(unmarked.header(ALLOWED), "");
    assert!(words(&unmarked, "vary").contains("origin"));
}

#[tokio::test]
async fn pages_for_people_and_what_sends_no_origin_stay_as_they_are() {
    let world = world(&[APP]);
    let nobody = world.nobody();
    for path in [
        "/oauth/authorize",
        "/oauth/device",
        "/oauth/second-factor",
        "/s/abcdefgh",
        "/metrics",
        "/",
    ] {
        let asked = preflight(&nobody, APP, "POST", path).await;
        assert_eq!(asked.header(ALLOWED), "", "{path}");
        assert!(!asked.status.is_success(), "{path}: {}", asked.status);
        let shown = get_from(&nobody, APP, path).await;
        assert_eq!(shown.header(ALLOWED), "", "{path}");
    }
    for path in ["/oauth/token", "/.well-known/openid-configuration"] {
        let asked = preflight(&nobody, APP, "POST", path).await;
        assert_eq!(asked.header(ALLOWED), APP, "{path}");
    }
    let options = nobody.send(Method::OPTIONS, "/api/v1/trash", &[], "").await;
    options.failed(405);
}

#[tokio::test]
async fn no_page_is_let_in_unless_it_is_configured_and_none_with_cookies() {
    let nobody = world(&[]).nobody();
    let asked = preflight(&nobody, APP, "GET", "/api/v1/health").await;
    asked.failed(405);
    let sent = get_from(&nobody, APP, "/api/v1/health").await;
    assert_eq!((sent.header(ALLOWED), sent.header("vary")), ("", ""));
    for (origins, answer) in [(["*"], "*"), ([APP], APP)] {
        let nobody = world(&origins).nobody();
        for response in [
            preflight(&nobody, APP, "GET", "/api/v1/health").await,
            get_from(&nobody, APP, "/api/v1/health").await,
        ] {
            assert_eq!(response.header(ALLOWED), answer);
            let cookies = response.headers.get("access-control-allow-credentials");
            assert_eq!(cookies, None);
        }
    }
}

#[tokio::test]
async fn a_development_server_lets_pages_of_its_machine_in_and_keeps_its_tools_to_itself() {
    let world = World::new();
    let owner = world.owner();
    for origin in ["http://localhost:5173", "http://127.0.0.1:3000"] {
        let sent = get_from(&owner, origin, "/api/v1/nodes").await;
        sent.done(200);
        assert_eq!(sent.header(ALLOWED), origin);
        let tools = get_from(&owner, origin, "/_dev/clock").await;
        tools.failed(403);
        assert_eq!(tools.header(ALLOWED), "");
    }
    let other = get_from(&owner, OTHER, "/api/v1/nodes").await;
    assert_eq!(other.header(ALLOWED), "");
}

#[test]
fn a_server_does_not_start_with_an_origin_that_is_none() {
    for origin in ["app.example.com", "https://app.example.com/login"] {
        let cors = CorsOptions {
            origins: vec![origin.to_owned()],
            loopback: false,
        };
        let error = build(Options {
            cors,
            ..Options::ephemeral()
        })
        .err()
        .unwrap()
        .to_string();
        assert!(error.contains(origin), "{error}");
    }
}
