//! Nodes: files and folders, their metadata.

use super::world::{Draft, World, new_node};
use axum::http::Method;
use cairn_model::Category;
use cairn_wire::nodes::{Node, NodeState};
use serde_json::{Value, json};

#[tokio::test]
async fn a_folder_is_made_once_however_often_it_is_asked_for() {
    let world = World::new();
    let owner = world.owner();
    let wanted = json!({"id": new_node(), "kind": "folder", "name": "docs", "seal": "c2VhbA=="});
    let first = owner.post("/api/v1/nodes", &wanted).await;
    first.done(201);
    assert_eq!(first.header("etag"), "\"1.1\"");
    let made: Node = first.ok();
    assert_eq!(
        (made.version, made.seq, made.state),
        (1, 1, NodeState::Active)
    );
    assert_eq!(made.seal.as_ref().unwrap().0, b"seal");
    let again = owner.post("/api/v1/nodes", &wanted).await;
    again.done(200);
    assert_eq!(again.ok::<Node>(), made);
    // The id stands for that folder, wherever it has gone since.
    owner
        .put(
            &format!("/api/v1/nodes/{}", made.id),
            &json!({"name": "moved"}),
        )
        .await
        .done(200);
    assert_eq!(
        owner.post("/api/v1/nodes", &wanted).await.ok::<Node>().name,
        "moved"
    );
}

#[tokio::test]
async fn an_id_that_is_taken_is_refused() {
    let world = World::new();
    let owner = world.owner();
    let folder = owner.folder(None, "a").await;
    let file = owner.file(None, "f", "x").await;
    let ask = |id, name: &str| json!({"id": id, "kind": "folder", "name": name});
    owner
        .post("/api/v1/nodes", &ask(folder.id, "other"))
        .await
        .failed(409);
    owner
        .post("/api/v1/nodes", &ask(file.id, "f"))
        .await
        .failed(409);
    world
        .outsider()
        .post("/api/v1/nodes", &ask(folder.id, "a"))
        .await
        .failed(409);
    owner
        .delete(&format!("/api/v1/nodes/{}", folder.id))
        .await
        .done(200);
    owner
        .post("/api/v1/nodes", &ask(folder.id, "a"))
        .await
        .failed(409);
}

#[tokio::test]
async fn names_are_checked_and_unique_after_normalisation() {
    let world = World::new();
    let owner = world.owner();
    let create = async |name: &str| {
        owner
            .post("/api/v1/nodes", &json!({"kind": "folder", "name": name}))
            .await
    };
    for bad in ["", ".", "..", "a/b", "a\0b", &"x".repeat(256)] {
        let message = create(bad).await.failed(400);
        assert!(message.contains("`name`"), "{message}");
    }
    create("\u{e9}").await.done(201);
    create("e\u{301}").await.failed(409);
    create("E\u{301}").await.done(201);
    for kind in ["file", "link"] {
        let wanted = json!({"kind": kind, "name": "f"});
        let message = owner.post("/api/v1/nodes", &wanted).await.failed(400);
        assert!(message.contains("it has to be `folder`"), "{message}");
        assert!(message.contains("POST /uploads"), "{message}");
    }
}

#[tokio::test]
async fn a_parent_has_to_be_an_active_folder() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "f", "x").await;
    let gone = owner.folder(None, "gone").await;
    owner
        .delete(&format!("/api/v1/nodes/{}", gone.id))
        .await
        .done(200);
    let inside = |parent| json!({"kind": "folder", "name": "x", "parent_id": parent});
    owner
        .post("/api/v1/nodes", &inside(new_node()))
        .await
        .failed(404);
    owner
        .post("/api/v1/nodes", &inside(file.id))
        .await
        .failed(400);
    owner
        .post("/api/v1/nodes", &inside(gone.id))
        .await
        .failed(409);
}

#[tokio::test]
async fn name_and_folder_change_in_one_step() {
    let world = World::new();
    let owner = world.owner();
    let (a, b) = (owner.folder(None, "a").await, owner.folder(None, "b").await);
    let x = owner.folder(Some(a.id), "x").await;
    owner.folder(Some(b.id), "taken").await;
    let path = format!("/api/v1/nodes/{}", x.id);
    owner
        .put(&path, &json!({"name": "taken", "parent_id": b.id}))
        .await
        .failed(409);
    assert_eq!(
        owner.node(x.id).await.ok::<Node>(),
        x,
        "a refused change changes nothing"
    );
    let moved: Node = owner
        .put(&path, &json!({"name": "y", "parent_id": b.id}))
        .await
        .ok();
    assert_eq!(
        (moved.name.as_str(), moved.parent_id, moved.version),
        ("y", Some(b.id), 2)
    );
    assert!(moved.seq > x.seq);
    let up: Node = owner.put(&path, &json!({"parent_id": null})).await.ok();
    assert_eq!((up.name.as_str(), up.parent_id), ("y", None));
    let same: Node = owner.put(&path, &json!({})).await.ok();
    assert_eq!(same, up);
}

#[tokio::test]
async fn a_folder_never_lands_inside_itself() {
    let world = World::new();
    let owner = world.owner();
    let a = owner.folder(None, "a").await;
    let b = owner.folder(Some(a.id), "b").await;
    let c = owner.folder(Some(b.id), "c").await;
    for into in [a.id, b.id, c.id] {
        owner
            .put(
                &format!("/api/v1/nodes/{}", a.id),
                &json!({"parent_id": into}),
            )
            .await
            .failed(409);
    }
    owner
        .put(
            &format!("/api/v1/nodes/{}", c.id),
            &json!({"parent_id": a.id}),
        )
        .await
        .done(200);
    owner
        .put(
            &format!("/api/v1/nodes/{}", b.id),
            &json!({"parent_id": c.id}),
        )
        .await
        .done(200);
}

#[tokio::test]
async fn if_match_guards_a_change_but_not_its_repetition() {
    let world = World::new();
    let laptop = world.owner().on_device(1);
    let phone = world.owner().on_device(2);
    let node = laptop.folder(None, "a").await;
    let path = format!("/api/v1/nodes/{}", node.id);
    let rename = async |who: &super::world::Caller, version: &str, name: &str| {
        let body = serde_json::to_vec(&json!({"name": name})).unwrap();
        who.send(Method::PUT, &path, &[("if-match", version)], body)
            .await
    };
    let changed: Node = rename(&laptop, "\"1\"", "b").await.ok();
    assert_eq!(changed.version, 2);
    assert_eq!(
        rename(&laptop, "\"1\"", "b").await.ok::<Node>(),
        changed,
        "the answer was lost, say it again"
    );
    let stale = rename(&phone, "\"1\"", "b").await;
    stale.failed(412);
    assert_eq!(stale.header("etag"), "\"2\"");
    rename(&phone, "\"1\"", "c").await.failed(412);
    rename(&phone, "latest", "c").await.failed(400);
    rename(&phone, "*", "c").await.done(200);
    rename(&phone, "\"3\"", "d").await.done(200);
}

#[tokio::test]
async fn a_change_that_changes_nothing_bumps_no_version_and_is_in_no_feed() {
    let world = World::new();
    let laptop = world.owner().on_device(1);
    let phone = world.owner().on_device(2);
    let node = laptop.folder(None, "a").await;
    let path = format!("/api/v1/nodes/{}", node.id);
    let put = async |who: &super::world::Caller, version: &str, body: Value| {
        who.send(
            Method::PUT,
            &path,
            &[("if-match", version)],
            body.to_string(),
        )
        .await
    };
    for who in [&phone, &laptop, &world.owner()] {
        for body in [json!({}), json!({"name": "a", "favorite": false})] {
            let same: Node = put(who, "\"1\"", body.clone()).await.ok();
            assert_eq!(same, node, "{body}");
        }
        put(who, "\"7\"", json!({})).await.failed(412);
    }
    put(&phone, "\"7\"", json!({"name": "a"})).await.failed(412);
    let favorite = format!("{path}/favorite");
    let seen = [("if-match", "\"1\"")];
    let same = phone.send(Method::DELETE, &favorite, &seen, "").await;
    assert_eq!(same.ok::<Node>(), node);
    let changed: Value = laptop.get("/api/v1/changes").await.ok();
    let entries = changed["changes"].as_array().unwrap();
    assert_eq!(entries.len(), 1, "{changed}");
}

#[tokio::test]
async fn metadata_is_kept_and_bounded() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "a.png", "x").await;
    let path = format!("/api/v1/nodes/{}", file.id);
    let change = json!({
        "description": "a picture", "labels": {"project": "north"}, "tags": ["b", "a"], "favorite": true
    });
    let node: Node = owner.put(&path, &change).await.ok();
    assert_eq!(node.description, "a picture");
    assert_eq!(node.labels["project"], "north");
    assert_eq!(node.tags, ["b", "a"]);
    assert!(node.favorite && node.revision_id == file.revision_id);
    assert_eq!(
        (
            node.mime_type.as_deref(),
            node.category.map(Category::as_str)
        ),
        (Some("image/png"), Some("image"))
    );
    owner
        .put(&path, &json!({"description": "x".repeat(10_001)}))
        .await
        .failed(400);
    owner
        .put(&path, &json!({"tags": vec!["x"; 101]}))
        .await
        .failed(400);
    owner
        .put(&path, &json!({"labels": {"k": "x".repeat(256)}}))
        .await
        .failed(400);
    // Characters, as the document says, and not bytes.
    let umlauts = json!({
        "description": "ä".repeat(10_000), "labels": {"ö".repeat(255): "ü".repeat(255)}, "tags": ["ß".repeat(255)]
    });
    owner.put(&path, &umlauts).await.done(200);
    owner
        .put(&path, &json!({"labels": {"ö".repeat(256): "v"}}))
        .await
        .failed(400);
    let executable: Node = owner.put(&path, &json!({"executable": true})).await.ok();
    assert!(executable.executable);
    let folder = owner.folder(None, "d").await;
    owner
        .put(
            &format!("/api/v1/nodes/{}", folder.id),
            &json!({"executable": true}),
        )
        .await
        .failed(400);
}

#[tokio::test]
async fn a_seal_lives_until_a_keyless_change_of_what_it_covers() {
    let world = World::new();
    let owner = world.owner();
    let sealed = json!({"kind": "folder", "name": "a", "seal": "b25l"});
    let node: Node = owner.post("/api/v1/nodes", &sealed).await.ok();
    let path = format!("/api/v1/nodes/{}", node.id);
    let tagged: Node = owner.put(&path, &json!({"tags": ["x"]})).await.ok();
    assert_eq!(tagged.seal, node.seal);
    let moved: Node = owner
        .put(&path, &json!({"name": "b", "seal": "dHdv"}))
        .await
        .ok();
    assert_eq!(moved.seal.unwrap().0, b"two");
    let keyless: Node = owner.put(&path, &json!({"name": "c"})).await.ok();
    assert_eq!(keyless.seal, None);
    let trashed = owner
        .send(Method::DELETE, &path, &[("x-node-seal", "dGhyZWU=")], "")
        .await;
    assert_eq!(trashed.ok::<Node>().seal.unwrap().0, b"three");
    owner
        .send(Method::DELETE, &path, &[("x-node-seal", "***")], "")
        .await
        .failed(400);
}

#[tokio::test]
async fn changes_carry_the_device_that_made_them() {
    let world = World::new();
    let node = world.owner().on_device(7).folder(None, "a").await;
    assert_eq!(node.device_id.unwrap().as_bytes(), &[7; 16]);
    let path = format!("/api/v1/nodes/{}", node.id);
    let by_nobody: Node = world.owner().put(&path, &json!({"name": "b"})).await.ok();
    assert_eq!(by_nobody.device_id, None);
}

#[tokio::test]
async fn if_match_guards_every_change_of_a_node() {
    let world = World::new();
    let owner = world.owner().on_device(1);
    let file = owner.file(None, "f", "one").await;
    let first = file.revision_id.unwrap();
    let second: Node = owner.upload(&Draft::of(&file, "two")).await.ok();
    let path = format!("/api/v1/nodes/{}", file.id);
    let restore_revision = format!("{path}/revisions/{first}/restore");
    let (restore, purge) = (
        format!("/api/v1/trash/{}/restore", file.id),
        format!("/api/v1/trash/{}", file.id),
    );
    let ask = async |method: Method, path: &str, tag: &str| {
        let body = if method == Method::POST { "{}" } else { "" };
        owner.send(method, path, &[("if-match", tag)], body).await
    };
    let stale = "\"1\"";
    for (method, path) in [
        (Method::DELETE, &path),
        (Method::PUT, &format!("{path}/favorite")),
        (Method::POST, &restore_revision),
        (Method::POST, &format!("{path}/copy")),
    ] {
        ask(method, path, stale).await.failed(412);
    }
    let unchanged: Node = owner.node(file.id).await.ok();
    assert_eq!(unchanged, second);
    // As `ETag` gave it, weak, and in a list.
    let tag = owner.node(file.id).await.header("etag").to_owned();
    let favorite = format!("{path}/favorite");
    ask(Method::PUT, &favorite, &tag).await.done(200);
    ask(Method::DELETE, &favorite, stale).await.failed(412);
    let now: Node = owner.node(file.id).await.ok();
    let list = format!("\"1\", W/\"{}\"", now.version);
    ask(Method::DELETE, &favorite, &list).await.done(200);
    let now: Node = owner.node(file.id).await.ok();
    let present = format!("\"{}\"", now.version);
    ask(Method::POST, &restore_revision, &present)
        .await
        .done(200);
    ask(Method::DELETE, &path, &present).await.failed(412);
    let now: Node = owner.node(file.id).await.ok();
    let present = format!("\"{}\"", now.version);
    ask(Method::DELETE, &path, &present).await.done(200);
    // The response may have been lost.
    ask(Method::DELETE, &path, &present).await.done(200);
    for (method, path) in [(Method::POST, &restore), (Method::DELETE, &purge)] {
        ask(method, path, &present).await.failed(412);
    }
    let trashed: Node = owner.node(file.id).await.ok();
    let present = format!("\"{}\"", trashed.version);
    ask(Method::POST, &restore, &present).await.done(200);
    ask(Method::POST, &restore, &present).await.done(200);
    owner.delete(&path).await.done(200);
    let tag = owner.node(file.id).await.header("etag").to_owned();
    ask(Method::DELETE, &purge, &tag).await.done(200);
}
