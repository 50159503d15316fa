//! The space (file tree) of a team: its members reach the files and folders in it, each by their role, and nobody else
//! does.

use super::world::{Caller, Draft, World, id_of, new_revision};
use axum::http::Method;
use bytes::Bytes;
use cairn_model::SpaceId;
use cairn_wire::changes::Changes;
use cairn_wire::nodes::{Node, NodeResults};
use cairn_wire::shares::Share;
use cairn_wire::teams::Team;
use cairn_wire::transfer::{Upload, UploadBatch};
use cairn_wire::{Page, frame};
use futures_util::StreamExt as _;
use serde_json::json;
use uuid::Uuid;

async fn team(who: &Caller) -> Team {
    let page: Page<Team> = who.get("/api/v1/teams").await.ok();
    page.content.into_iter().next().unwrap()
}

#[tokio::test]
async fn members_work_on_the_same_files() {
    let world = World::new();
    let space = team(&world.owner()).await.space_id;
    let (owner, member) = (
        world.owner().in_space(space),
        world.member().in_space(space),
    );
    let folder = owner.folder(None, "plans").await;
    assert_eq!(folder.space_id, space);
    let file = member.file(Some(folder.id), "a.txt", "from member").await;
    owner.chunk(file.id, "from member").await.done(200);
    let changed: Node = owner.upload(&Draft::of(&file, "from owner")).await.ok();
    member.chunk(changed.id, "from owner").await.done(200);
    let renamed: Node = member
        .put(
            &format!("/api/v1/nodes/{}", file.id),
            &json!({"name": "b.txt"}),
        )
        .await
        .ok();
    assert_eq!(renamed.name, "b.txt");
    let feed: Changes = owner.get("/api/v1/changes").await.ok();
    assert_eq!(feed.changes.len(), 2);
    assert!(feed.changes.iter().all(|change| {
        change
            .node
            .as_ref()
            .is_some_and(|node| node.space_id == space)
    }));
    let found: Page<Node> = member.get("/api/v1/search?query=b.txt").await.ok();
    assert_eq!(found.total_elements, 1);
}

#[tokio::test]
async fn a_space_and_what_lies_in_it_are_hidden_from_everybody_else() {
    let world = World::new();
    let space = team(&world.owner()).await.space_id;
    let inside = world.owner().in_space(space);
    let file = inside.file(None, "a", "text").await;
    let stranger = world.outsider().in_space(space);
    stranger.get("/api/v1/nodes").await.failed(403);
    stranger.node(file.id).await.failed(403);
    stranger.chunk(file.id, "text").await.failed(403);
    let body = json!({"kind": "folder", "name": "x"});
    stranger.post("/api/v1/nodes", &body).await.failed(403);
    // Without the header even a member looks into their own space.
    world.owner().node(file.id).await.failed(403);
    assert_eq!(
        world
            .owner()
            .get("/api/v1/nodes")
            .await
            .ok::<Page<Node>>()
            .total_elements,
        0
    );
    // Another's personal space is no team's.
    let personal = world.owner().folder(None, "mine").await.space_id;
    world
        .member()
        .in_space(personal)
        .get("/api/v1/nodes")
        .await
        .failed(403);
    world
        .owner()
        .in_space(personal)
        .get("/api/v1/nodes")
        .await
        .done(200);
    world
        .owner()
        .in_space(SpaceId(Uuid::new_v4()))
        .get("/api/v1/nodes")
        .await
        .failed(404);
    world
        .owner()
        .send(
            axum::http::Method::GET,
            "/api/v1/nodes",
            &[("x-space-id", "nonsense")],
            "",
        )
        .await
        .failed(400);
}

#[tokio::test]
async fn only_admins_empty_the_trash_of_a_team() {
    let world = World::new();
    let team = team(&world.owner()).await;
    let (owner, member) = (
        world.owner().in_space(team.space_id),
        world.member().in_space(team.space_id),
    );
    let first = member.file(None, "a", "one").await;
    let second = member.file(None, "b", "two").await;
    for node in [&first, &second] {
        member
            .delete(&format!("/api/v1/nodes/{}", node.id))
            .await
            .done(200);
    }
    member.delete("/api/v1/trash").await.failed(403);
    let one = format!("/api/v1/trash/{}", first.id);
    member.delete(&one).await.failed(403);
    member
        .post(&format!("/api/v1/trash/{}/restore", second.id), &json!({}))
        .await
        .done(200);
    owner.delete(&one).await.done(200);
    owner.delete("/api/v1/trash").await.done(200);
    member.node(second.id).await.done(200);
}

#[tokio::test]
async fn whoever_leaves_reaches_nothing_any_more() {
    let world = World::new();
    let team = team(&world.owner()).await;
    let member = world.member().in_space(team.space_id);
    let file = member.file(None, "a", "text").await;
    let id = world.member().id().await;
    world
        .owner()
        .delete(&format!("/api/v1/teams/{}/members/{id}", team.id))
        .await
        .done(204);
    member.node(file.id).await.failed(403);
    member.chunk(file.id, "text").await.failed(403);
    // What they made stays with the team.
    world
        .owner()
        .in_space(team.space_id)
        .chunk(file.id, "text")
        .await
        .done(200);
}

#[tokio::test]
async fn a_stream_ends_for_whoever_has_left() {
    let world = World::new();
    let team = team(&world.owner()).await;
    let owner = world.owner().in_space(team.space_id);
    let listen = async || {
        let response = world
            .member()
            .in_space(team.space_id)
            .open(
                axum::http::Method::GET,
                "/api/v1/changes/stream",
                &[],
                axum::body::Body::empty(),
            )
            .await;
        assert_eq!(response.status(), 200);
        response.into_body()
    };
    let (open, left) = (listen().await, listen().await);
    owner.folder(None, "seen by both").await;
    let first = open.into_data_stream().next().await.unwrap().unwrap();
    assert!(String::from_utf8_lossy(&first).contains("seen by both"));
    let id = world.member().id().await;
    world
        .owner()
        .delete(&format!("/api/v1/teams/{}/members/{id}", team.id))
        .await
        .done(204);
    owner.folder(None, "not theirs any more").await;
    let all = axum::body::to_bytes(left, usize::MAX).await.unwrap();
    assert!(all.is_empty(), "{}", String::from_utf8_lossy(&all));
}

#[tokio::test]
async fn a_team_that_is_deleted_takes_its_files_along() {
    let world = World::new();
    let team = team(&world.owner()).await;
    let owner = world.owner().in_space(team.space_id);
    let folder = owner.folder(None, "f").await;
    owner.file(Some(folder.id), "a", "text").await;
    let path = format!("/api/v1/teams/{}", team.id);
    world.member().delete(&path).await.failed(403);
    world.owner().delete(&path).await.done(204);
    owner.get("/api/v1/nodes").await.failed(404);
    assert_eq!(
        world
            .member()
            .get("/api/v1/teams")
            .await
            .ok::<Page<Team>>()
            .total_elements,
        0
    );
    assert_eq!(world.app.sweep_objects(i64::MAX).await.unwrap(), 0);
}

#[tokio::test]
async fn the_same_request_in_two_spaces_is_two_requests() {
    let world = World::new();
    let space = team(&world.owner()).await.space_id;
    let body = serde_json::to_vec(&json!({"kind": "folder", "name": "x"})).unwrap();
    let key = [("idempotency-key", "k")];
    let post = axum::http::Method::POST;
    let owner = world.owner();
    owner
        .send(post.clone(), "/api/v1/nodes", &key, body.clone())
        .await
        .done(201);
    owner
        .in_space(space)
        .send(post, "/api/v1/nodes", &key, body)
        .await
        .failed(400);
}

#[tokio::test]
async fn links_and_uploads_end_with_the_membership() {
    let world = World::new();
    let its = team(&world.owner()).await;
    let (owner, member) = (
        world.owner().in_space(its.space_id),
        world.member().in_space(its.space_id),
    );
    let file = member.file(None, "plan.txt", "x").await;
    let link: Share = member
        .post("/api/v1/shares", &json!({"file_id": file.id}))
        .await
        .ok();
    let (path, public) = (
        format!("/api/v1/shares/{}", link.id),
        format!("/api/v1/public/shares/{}", link.short_code),
    );
    world.nobody().get(&public).await.done(200);
    let listed: Page<Share> = owner.get("/api/v1/shares").await.ok();
    assert_eq!(listed.content.len(), 1);
    owner.get(&path).await.done(200);

    let upload = Draft::new("unfinished.txt", "never completed");
    let upload: Upload = member.post("/api/v1/uploads", &upload.create()).await.ok();
    let member_id = world.member().id().await;
    world
        .owner()
        .delete(&format!("/api/v1/teams/{}/members/{member_id}", its.id))
        .await
        .done(204);
    let member = world.member();
    member
        .get(&format!("/api/v1/uploads/{}", upload.upload_id))
        .await
        .failed(404);
    world.nobody().get(&public).await.failed(404);
    member
        .post(&format!("{path}/toggle"), &json!({"is_active": true}))
        .await
        .failed(403);
    member.get(&path).await.failed(403);
    owner.delete(&path).await.done(204);
}

#[tokio::test]
async fn a_chunk_is_sent_in_the_space_that_pays_for_it() {
    let world = World::new();
    let team = team(&world.owner()).await;
    let (owner, there) = (world.owner(), world.owner().in_space(team.space_id));
    let draft = Draft::new("a", "text");
    let upload: Upload = there.post("/api/v1/uploads", &draft.create()).await.ok();
    let chunk = upload.missing[0];
    let refused = owner.put_chunk(&upload, &draft, chunk).await;
    assert!(refused.failed(400).contains("X-Space-Id"));
    let used: cairn_wire::account::Quota = owner.get("/api/v1/userusage/quota-limit").await.ok();
    assert_eq!(used.bandwidth_used, 0);
    there.put_chunk(&upload, &draft, chunk).await.done(204);
    there.complete(&upload, &draft).await.done(200);
}

#[tokio::test]
async fn a_member_can_not_replace_what_another_s_upload_has_sent() {
    let world = World::new();
    let space = team(&world.owner()).await.space_id;
    let (owner, member) = (
        world.owner().in_space(space),
        world.member().in_space(space),
    );
    let put = async |who: &Caller, upload: &Upload, bytes: &'static str| {
        let id = id_of(b"good");
        let path = format!("/api/v1/uploads/{}/chunks/{id}", upload.upload_id);
        who.send(Method::PUT, &path, &[], bytes).await
    };
    let draft = Draft::new("a", "good");
    let upload: Upload = owner.post("/api/v1/uploads", &draft.create()).await.ok();
    put(&owner, &upload, "good").await.done(204);
    let other = Draft {
        revision: new_revision(),
        ..draft.clone()
    };
    let theirs: Upload = member.post("/api/v1/uploads", &other.create()).await.ok();
    assert_eq!(
        theirs.missing,
        [id_of(b"good")],
        "what nobody has compared is sent"
    );
    let refused = put(&member, &theirs, "evil").await;
    assert!(refused.failed(409).contains("another member's upload"));
    let mut file = other.batch_file();
    file.create.revision_id = new_revision();
    let frame = frame::encode(
        &UploadBatch { files: vec![file] },
        &[Bytes::from_static(b"evil")],
    );
    let path = "/api/v1/uploads/batch";
    let batch: NodeResults = member
        .send(Method::POST, path, &[], frame.unwrap())
        .await
        .ok();
    assert_eq!(batch.results[0].status, 409);
    put(&member, &theirs, "good").await.done(204);
    let node: Node = owner.complete(&upload, &draft).await.ok();
    assert_eq!(owner.chunk(node.id, "good").await.body, "good");
}
