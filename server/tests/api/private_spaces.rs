//! Private spaces: the names of files and folders (nodes) are sealed by clients, and the server takes no others.

use super::world::{Caller, World};
use cairn_model::NameFormat;
use cairn_wire::Page;
use cairn_wire::nodes::Node;
use cairn_wire::teams::Team;
use serde_json::json;

/// A name as a client seals it.
fn sealed(letter: char) -> String {
    format!("~{}", letter.to_string().repeat(86))
}

async fn private_space(world: &World) -> Caller {
    let body = json!({"name": "Vault", "private": true});
    let made: Team = world.owner().post("/api/v1/teams", &body).await.ok();
    assert!(made.space_id.is_private());
    world.owner().in_space(made.space_id)
}

#[tokio::test]
async fn a_space_is_private_where_that_was_asked_for() {
    let world = World::new();
    let owner = world.owner();
    for body in [json!({"name": "A"}), json!({"name": "B", "private": false})] {
        let made: Team = owner.post("/api/v1/teams", &body).await.ok();
        assert!(!made.space_id.is_private());
    }
    let folder = owner.folder(None, &sealed('a')).await;
    assert_eq!(folder.name_format, NameFormat::Plain);
    let readable = json!({"name": "C", "private": "yes"});
    owner.post("/api/v1/teams", &readable).await.failed(400);
}

#[tokio::test]
async fn sealed_names_are_kept_as_they_are_and_taken_once() {
    let world = World::new();
    let inside = private_space(&world).await;
    let longest = format!("~{}", "z".repeat(427));
    let folder = inside.folder(None, &longest).await;
    let file = inside.file(Some(folder.id), &sealed('a'), "text").await;
    for node in [&folder, &file] {
        assert_eq!(node.name_format, NameFormat::Sealed);
        assert_eq!(node.mime_type, None);
    }
    assert_eq!((&*folder.name, &*file.name), (&*longest, &*sealed('a')));
    let twice = json!({"kind": "folder", "name": longest});
    inside.post("/api/v1/nodes", &twice).await.failed(409);

    let copy = format!("/api/v1/nodes/{}/copy", folder.id);
    let copied: Node = inside.post(&copy, &json!({"name": sealed('b')})).await.ok();
    let path = format!("/api/v1/nodes?parent_id={}", copied.id);
    let children: Page<Node> = inside.get(&path).await.ok();
    assert_eq!(children.content[0].name, sealed('a'));
    let by_name = format!("/api/v1/nodes?name={longest}");
    let found: Page<Node> = inside.get(&by_name).await.ok();
    assert_eq!(found.content[0].id, folder.id);
}

#[tokio::test]
async fn readable_names_and_texts_are_refused() {
    let world = World::new();
    let inside = private_space(&world).await;
    let file = inside.file(None, &sealed('a'), "text").await;
    let node = format!("/api/v1/nodes/{}", file.id);
    let copy = format!("{node}/copy");
    for name in ["plan.txt", "~short", &format!("{}.txt", sealed('a'))] {
        let folder = json!({"kind": "folder", "name": name});
        inside.post("/api/v1/nodes", &folder).await.failed(409);
        inside.put(&node, &json!({"name": name})).await.failed(409);
        inside.post(&copy, &json!({"name": name})).await.failed(409);
        let path = json!({"path": name});
        inside
            .post("/api/v1/nodes/folders", &path)
            .await
            .failed(409);
    }
    for text in [
        json!({"description": "a plan"}),
        json!({"labels": {"kind": "plan"}}),
        json!({"tags": ["plan"]}),
    ] {
        inside.put(&node, &text).await.failed(409);
    }
    let favorite = json!({"favorite": true});
    inside.put(&node, &favorite).await.done(200);
}

#[tokio::test]
async fn nothing_is_found_in_a_private_space() {
    let world = World::new();
    let inside = private_space(&world).await;
    inside.file(None, &sealed('a'), "text").await;
    for query in ["query=aaa", "query=aaa&mode=content"] {
        let found: Page<Node> = inside.get(&format!("/api/v1/search?{query}")).await.ok();
        assert_eq!(found.total_elements, 0, "{query}");
    }
}

#[tokio::test]
async fn what_comes_back_gets_no_name_that_the_server_made() {
    let world = World::new();
    let inside = private_space(&world).await;
    let first = inside.folder(None, &sealed('a')).await;
    let node = format!("/api/v1/nodes/{}", first.id);
    inside.delete(&node).await.done(200);
    let second = inside.folder(None, &sealed('a')).await;
    let restore = format!("{node}/restore");
    inside.post(&restore, &json!({})).await.failed(409);
    let second = format!("/api/v1/nodes/{}", second.id);
    inside.delete(&second).await.done(200);
    let back: Node = inside.post(&restore, &json!({})).await.ok();
    assert_eq!(back.name, sealed('a'));
}
