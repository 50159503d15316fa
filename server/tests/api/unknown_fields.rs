//! Input that nothing reads is refused: a misspelt field must not pass as one that was left out.

use super::openapi::fill_path;
use super::world::{Draft, World};
use axum::http::Method;
use cairn_server::openapi;
use cairn_wire::frame;
use cairn_wire::transfer::UploadBatch;
use serde_json::{Value, json};

const JSON: &str = "/requestBody/content/application~1json";

/// An example of each operation's JSON body, with its method and path.
fn bodies() -> Vec<(Method, String, Value)> {
    let document = openapi::document();
    let mut found = Vec::new();
    for (template, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let Some(body) = operation.pointer(JSON) else {
                continue;
            };
            let schema = body["schema"]["$ref"].as_str().unwrap();
            let example = [
                body.get("example"),
                document.pointer(&format!("{}/example", &schema[1..])),
            ];
            let example = example.into_iter().flatten().next().unwrap();
            found.push((
                method.to_uppercase().parse().unwrap(),
                fill_path(template),
                example.clone(),
            ));
        }
    }
    found
}

#[tokio::test]
async fn every_body_is_held_to_its_fields() {
    let world = World::new();
    world.app.set_user_admin("owner@example.com", true).unwrap();
    let bodies = bodies();
    assert!(bodies.len() > 40, "{} bodies", bodies.len());
    for (method, path, mut body) in bodies {
        body["no_such_field"] = json!(1);
        let text = body.to_string();
        let response = world.owner().send(method.clone(), &path, &[], text).await;
        let message = response.failed(400);
        assert!(
            message.contains("no_such_field"),
            "{method} {path}: {message}"
        );
    }
}

#[tokio::test]
async fn the_message_says_where_the_field_stands() {
    let world = World::new();
    let owner = world.owner();
    let (_, _, mut body) = bodies()
        .into_iter()
        .find(|(method, path, _)| method == Method::PUT && path == "/api/v1/keys")
        .unwrap();
    let object = body
        .as_object_mut()
        .unwrap()
        .values_mut()
        .find(|value| value.is_object())
        .unwrap();
    object["colour"] = json!("red");
    let message = owner.put("/api/v1/keys", &body).await.failed(400);
    assert!(message.contains(".colour`"), "{message}");

    let operation = json!({"op": "create_folder", "name": "a", "colour": "red"});
    let refused = owner
        .post("/api/v1/nodes/batch", &json!({"operations": [operation]}))
        .await;
    assert!(refused.failed(400).contains("colour"));
}

#[tokio::test]
async fn a_frame_is_held_to_its_fields_too() {
    let world = World::new();
    let draft = Draft::new("a", "12345");
    let head = UploadBatch {
        files: vec![draft.batch_file()],
    };
    let send = async |head: &Value| {
        let body = frame::encode(head, &draft.chunks).unwrap();
        let kind = ("content-type", frame::MEDIA_TYPE);
        let path = "/api/v1/uploads/batch";
        world.owner().send(Method::POST, path, &[kind], body).await
    };
    let good = serde_json::to_value(&head).unwrap();
    for (place, field) in [
        ("", "files_total"),
        ("/files/0", "colour"),
        ("/files/0/chunks/0", "colour"),
    ] {
        let mut bad = good.clone();
        bad.pointer_mut(place).unwrap()[field] = json!(1);
        let message = send(&bad).await.failed(400);
        assert!(message.contains(field), "{message}");
    }
    send(&good).await.done(200);
}

#[tokio::test]
async fn a_megabyte_of_nonsense_is_refused_at_once_and_not_sent_back() {
    let world = World::new();
    let nobody = world.nobody();
    let path = "/api/v1/public/shares/x/open";
    let long = " enum A".repeat(149_000);
    let field = format!("{{\"{long}\": 1}}");
    for body in [format!("\"{long}\""), field] {
        let refused = nobody.send(Method::POST, path, &[], body).await;
        let message = refused.failed(400);
        assert!(message.len() < 1_000, "{message}");
        assert!(message.contains(" enum A enum A"), "{message}");
    }
    let words = "\"a struct Foo, expected a map\"";
    let refused = nobody.send(Method::POST, path, &[], words).await;
    let message = refused.failed(400);
    assert!(message.contains(words), "{message}");
}
