//! Parameters of requests, in the OpenAPI document and at the server: those that may not be empty, those of pages, and the
//! filters of the search.

use super::world::World;
use axum::http::Method;
use cairn_server::openapi;
use serde_json::{Value, json};

/// Returns the description of a parameter.
fn parameter<'a>(document: &'a Value, path: &str, method: &str, name: &str) -> &'a Value {
    let all = document["paths"][path][method]["parameters"].as_array();
    let found = all.unwrap().iter().find(|one| one["name"] == name);
    found.unwrap_or_else(|| panic!("{path}: {name}"))
}

#[tokio::test]
async fn a_page_is_described_as_the_server_takes_it() {
    let document = openapi::document();
    let owner = World::new().owner();
    for (path, first) in [("/api/v1/nodes/", 1), ("/api/v1/shares/", 0)] {
        let page = parameter(document, path, "get", "page");
        assert_eq!(
            (&page["schema"]["default"], &page["schema"]["minimum"]),
            (&json!(first), &json!(first))
        );
        let words = page["description"].as_str().unwrap();
        assert!(words.contains(&format!("from {first}")), "{path}: {words}");
        let size = &parameter(document, path, "get", "page_size")["schema"];
        assert_eq!(
            (&size["default"], &size["maximum"]),
            (&json!(20), &json!(100))
        );
        let list: Value = owner.get(path).await.ok();
        assert_eq!(
            (&list["page"], &list["pageSize"]),
            (&json!(first), &json!(20))
        );
    }
    for (path, default) in [
        ("/api/v1/changes", 1_000),
        ("/api/v1/chunks/damaged", 1_000),
        ("/api/v1/social/notifications", 20),
    ] {
        let limit = &parameter(document, path, "get", "limit")["schema"];
        assert_eq!(limit["default"], default, "{path}");
    }
}

#[tokio::test]
async fn filters_narrow_every_search_and_are_described_so() {
    let document = openapi::document();
    let category = parameter(document, "/api/v1/search/", "get", "category");
    let words = category["description"].as_str().unwrap();
    assert!(words.contains("every mode, `quick` included"), "{words}");
    let owner = World::new().owner();
    owner.file(None, "trip.pdf", "x").await;
    owner.file(None, "trip.jpg", "x").await;
    for mode in ["quick", "filtered", "content"] {
        let path = format!("/api/v1/search/?query=trip&mode={mode}&ext=PDF");
        let found: Value = owner.get(&path).await.ok();
        assert_eq!(found["totalElements"], 1, "{mode}");
    }
}

#[test]
fn a_header_is_text_and_never_null() {
    let document = openapi::document();
    let if_match = parameter(document, "/api/v1/nodes/{id}", "put", "If-Match");
    let pattern = if_match["schema"]["pattern"].as_str().unwrap();
    let form = regex::Regex::new(pattern).unwrap();
    assert!(form.is_match("\"3\"") && !form.is_match("null"));
    for (path, item) in document["paths"].as_object().unwrap() {
        for operation in item.as_object().unwrap().values() {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            for header in parameters.filter(|one| one["in"] == "header") {
                assert_eq!(header["schema"]["type"], "string", "{path}: {header}");
            }
        }
    }
}

#[tokio::test]
async fn a_parameter_that_may_not_be_empty_says_so() {
    let document = openapi::document();
    let parameter =
        |path: &str, method: &str, name: &str| parameter(document, path, method, name).clone();
    for (path, method, name) in [
        ("/api/v1/nodes/{id}", "put", "If-Match"),
        ("/api/v1/nodes/{id}", "delete", "seen"),
        ("/api/v1/changes", "get", "cursor"),
        ("/api/v1/changes/past", "get", "after"),
        ("/api/v1/changes/snapshot", "get", "after"),
    ] {
        let schema = &parameter(path, method, name)["schema"];
        assert_eq!(schema["minLength"], 1, "{path}: {name}");
    }
    let query = parameter("/api/v1/search/", "get", "query");
    assert_eq!(
        (&query["required"], &query["schema"]["type"]),
        (&json!(true), &json!("string"))
    );
    let owner = World::new().owner();
    for path in [
        "changes?cursor=",
        "changes/past?after=",
        "changes/snapshot?after=",
        "search/?query=",
        "nodes/?name=",
    ] {
        owner.get(&format!("/api/v1/{path}")).await.failed(400);
    }
    let node = owner.folder(None, "d").await;
    let path = format!("/api/v1/nodes/{}", node.id);
    owner.delete(&format!("{path}?seen=")).await.failed(400);
    let empty = [("if-match", "")];
    let refused = owner.send(Method::DELETE, &path, &empty, "").await;
    refused.failed(400);
}
