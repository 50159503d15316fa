//! Parameters of requests that may not be empty, in the OpenAPI document and at the server.

use super::world::World;
use axum::http::Method;
use cairn_server::openapi;
use serde_json::json;

#[tokio::test]
async fn a_parameter_that_may_not_be_empty_says_so() {
    let document = openapi::document();
    let parameter = |path: &str, method: &str, name: &str| {
        let all = document["paths"][path][method]["parameters"].as_array();
        let found = all.unwrap().iter().find(|one| one["name"] == name);
        found.unwrap_or_else(|| panic!("{path}: {name}")).clone()
    };
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
