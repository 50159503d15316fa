//! More accounts than the three that a development server begins with.

use super::world::World;
use cairn_wire::Page;
use cairn_wire::nodes::Node;
use serde_json::{Value, json};

#[tokio::test]
async fn an_account_comes_with_a_key_and_folders() {
    let world = World::new();
    let nobody = world.nobody();
    let new = json!({"email": "fourth@example.com", "password": "4", "folders": ["docs/2026", "docs/2027", "photos"]});
    let made = nobody.post("/_dev/accounts", &new).await;
    made.done(201);
    let made: Value = made.json();
    assert_eq!(made["email"], "fourth@example.com");
    let fourth = world.caller(made["api_key"].as_str());
    let top: Page<Node> = fourth.get("/api/v1/nodes").await.ok();
    let names: Vec<&str> = top.content.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["docs", "photos"]);
    nobody.post("/_dev/accounts", &new).await.failed(409);
    for bad in [
        json!({"email": "fifth"}),
        json!({"email": "fifth@example.com", "folders": [""]}),
        json!({"email": "fifth@example.com", "folders": ["a/../b"]}),
    ] {
        nobody.post("/_dev/accounts", &bad).await.failed(400);
    }
    // Nothing is left of those that were refused.
    nobody
        .post("/_dev/accounts", &json!({"email": "fifth@example.com"}))
        .await
        .done(201);
}
