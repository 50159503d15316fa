//! Data that the server deletes after its time, and that nothing which is still needed goes with it.

use super::shares::share;
use super::visitors::put_file;
use super::world::{Draft, World, id_of};
use cairn_model::NodeId;
use cairn_server::{Expiry, KeptRevisions, Options};
use cairn_wire::Page;
use cairn_wire::nodes::Node;
use cairn_wire::transfer::Upload;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;

pub(crate) const DAY: u64 = 86_400_000;

pub(crate) async fn advance(world: &World, ms: u64) {
    let by = json!({ "ms": ms });
    world
        .nobody()
        .post("/_dev/clock/advance", &by)
        .await
        .done(200);
}

fn stored_world(data: &Path, expiry: Expiry) -> World {
    World::with(Options {
        data: data.to_owned(),
        expiry,
        ..Options::default()
    })
}

async fn trashed_count(world: &World) -> u64 {
    let page: Page<Node> = world.owner().get("/api/v1/trash").await.ok();
    page.total_elements
}

async fn delete(world: &World, node: NodeId) {
    let path = format!("/api/v1/nodes/{node}");
    world.owner().delete(&path).await.done(200);
}

#[tokio::test]
async fn the_trash_is_emptied_after_thirty_days_or_as_configured() {
    for (days, expiry) in [
        (30, Expiry::default()),
        (
            2,
            Expiry {
                trash_days: 2,
                ..Expiry::default()
            },
        ),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let world = stored_world(dir.path(), expiry);
        let owner = world.owner();
        let folder = owner.folder(None, "d").await;
        let inside = owner.file(Some(folder.id), "f", "inside").await;
        let live = owner.file(None, "live", "live").await;
        delete(&world, folder.id).await;
        advance(&world, DAY).await;
        let later = owner.file(None, "later", "later").await;
        delete(&world, later.id).await;
        advance(&world, (days - 1) * DAY - 1).await;
        assert_eq!(trashed_count(&world).await, 2);
        owner.chunk(inside.id, "inside").await.done(200);
        advance(&world, 1).await;
        assert_eq!(
            trashed_count(&world).await,
            1,
            "the later one has a day left"
        );
        owner.chunk(inside.id, "inside").await.failed(404);
        owner.chunk(later.id, "later").await.done(200);
        advance(&world, DAY).await;
        assert_eq!(trashed_count(&world).await, 0);
        owner.chunk(live.id, "live").await.done(200);
        let checked = world.app.check(true).await.unwrap();
        assert!(checked.problems.is_empty(), "{checked:?}");
        assert_eq!((checked.objects, checked.unreferenced), (1, 0));
    }
}

#[tokio::test]
async fn a_trash_without_an_end_keeps_everything() {
    let dir = tempfile::tempdir().unwrap();
    let never = Expiry {
        trash_days: 0,
        share_days: 0,
        notification_days: 0,
    };
    let world = stored_world(dir.path(), never);
    let owner = world.owner();
    let file = owner.file(None, "f", "content").await;
    delete(&world, file.id).await;
    advance(&world, 4000 * DAY).await;
    owner
        .post(&format!("/api/v1/trash/{}/restore", file.id), &json!({}))
        .await
        .done(200);
    owner.chunk(file.id, "content").await.done(200);
}

#[tokio::test]
async fn restoring_begins_the_time_anew() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "f", "content").await;
    delete(&world, file.id).await;
    advance(&world, 29 * DAY).await;
    let restore = format!("/api/v1/trash/{}/restore", file.id);
    owner.post(&restore, &json!({})).await.done(200);
    delete(&world, file.id).await;
    advance(&world, 29 * DAY).await;
    owner.post(&restore, &json!({})).await.done(200);
    advance(&world, 100 * DAY).await;
    owner.chunk(file.id, "content").await.done(200);
}

#[tokio::test]
async fn a_file_in_the_trash_that_an_upload_goes_to_waits_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let daily = Expiry {
        trash_days: 1,
        ..Expiry::default()
    };
    let world = stored_world(dir.path(), daily);
    let owner = world.owner();
    let file = owner.file(None, "f", "1").await;
    let draft = Draft::of(&file, "2");
    let upload: Upload = owner.post("/api/v1/uploads", &draft.create()).await.ok();
    owner
        .put_chunk(&upload, &draft, id_of(b"2"))
        .await
        .done(204);
    delete(&world, file.id).await;
    advance(&world, 3 * DAY).await;
    let restore = format!("/api/v1/trash/{}/restore", file.id);
    owner.post(&restore, &json!({})).await.done(200);
    owner.complete(&upload, &draft).await.done(200);
    owner.chunk(file.id, "2").await.done(200);
    delete(&world, file.id).await;
    advance(&world, DAY).await;
    owner.post(&restore, &json!({})).await.failed(404);
}

#[tokio::test]
async fn links_and_notifications_go_long_after_they_are_over() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "f", "content").await;
    let lasting = share(&owner, &file, json!({})).await;
    let ending = share(&owner, &file, json!({"expiry_days": 1})).await;
    let shown = async |id| owner.get(&format!("/api/v1/shares/{id}")).await.status;
    advance(&world, 91 * DAY - 1).await;
    assert_eq!(shown(ending.id).await, 200);
    advance(&world, 1).await;
    assert_eq!(shown(ending.id).await, 404);
    assert_eq!(shown(lasting.id).await, 200);
}

#[tokio::test]
async fn chunks_that_nothing_refers_to_are_collected() {
    let dir = tempfile::tempdir().unwrap();
    let world = stored_world(dir.path(), Expiry::default());
    let owner = world.owner();
    let file = owner.file(None, "f", "kept").await;
    let upload = async |name: &str, content: &str| {
        let draft = Draft::new(name, content);
        let upload: Upload = owner.post("/api/v1/uploads", &draft.create()).await.ok();
        let chunk = id_of(content.as_bytes());
        owner.put_chunk(&upload, &draft, chunk).await.done(204);
        (upload, draft)
    };
    let (lost, _) = upload("lost", "lost").await;
    let (open, draft) = upload("open", "open").await;
    // As a fault would leave it: the upload is gone, and what it sent is not.
    let conn = rusqlite::Connection::open(dir.path().join("cairn.db")).unwrap();
    let id = lost.upload_id.0.as_bytes().to_vec();
    assert_eq!(
        conn.execute("DELETE FROM uploads WHERE id = ?1", [id])
            .unwrap(),
        1
    );
    assert_eq!(world.app.check(false).await.unwrap().objects, 3);
    world.app.housekeep().await.unwrap();
    let checked = world.app.check(true).await.unwrap();
    assert!(checked.problems.is_empty(), "{checked:?}");
    assert_eq!((checked.objects, checked.unreferenced), (2, 0));
    owner.complete(&open, &draft).await.done(200);
    owner.chunk(file.id, "kept").await.done(200);
}

/// The chunks of a file.
type Chunks = Vec<String>;

fn with_chunks(draft: Draft, chunks: &[String]) -> Draft {
    let texts: Vec<&str> = chunks.iter().map(String::as_str).collect();
    draft.chunks(&texts)
}

/// The chunks of a revision that the next one has as well: none, the first, or all.
fn kept_chunks(old: &[String], draw: usize) -> Chunks {
    old[..[0, 1, old.len()][draw % 3]].to_vec()
}

async fn fetch(world: &World, node: NodeId, chunks: &[String], expected: u16) {
    for chunk in chunks {
        world.owner().chunk(node, chunk).await.done(expected);
    }
}

/// Everything that has to be there, as its owner remembers it.
#[derive(Default)]
struct Memory {
    live: HashMap<NodeId, (Node, Chunks)>,
    trash: Vec<(NodeId, Chunks, u64)>,
    shared: Vec<(NodeId, Chunks)>,
    open: Vec<(Upload, Draft)>,
    /// Revisions of copies that have chunks of their original.
    reused: u64,
    days: u64,
    next: u64,
}

impl Memory {
    fn content(&mut self) -> String {
        self.next += 1;
        format!("content {}", self.next)
    }

    fn any(&self, draw: usize) -> Option<(Node, Chunks)> {
        let mut all: Vec<_> = self.live.values().cloned().collect();
        // By name: the ids differ from run to run.
        all.sort_by(|(one, _), (other, _)| one.name.cmp(&other.name));
        (!all.is_empty()).then(|| all.swap_remove(draw % all.len()))
    }

    async fn step(&mut self, world: &World, draw: usize) {
        let owner = world.owner();
        let content = self.content();
        let chosen = self.any(draw / 8);
        match (draw % 8, chosen) {
            (1, Some((node, old))) => {
                let is_copy = node.content_source.is_some();
                let mut chunks = if is_copy {
                    old
                } else {
                    kept_chunks(&old, draw / 64)
                };
                self.reused += u64::from(is_copy && !chunks.is_empty());
                chunks.push(content);
                let next = with_chunks(Draft::of(&node, ""), &chunks);
                let node: Node = owner.upload(&next).await.ok();
                self.live.insert(node.id, (node, chunks));
            }
            (2, Some((node, content))) => {
                let name = format!("copy {}", self.next);
                let body = json!({"name": name});
                let path = format!("/api/v1/nodes/{}/copy", node.id);
                let copy: Node = owner.post(&path, &body).await.ok();
                self.live.insert(copy.id, (copy, content));
            }
            (3, Some((node, content))) => {
                let link = share(&owner, &node, json!({})).await;
                put_file(&owner, &link, &node).await.done(200);
                self.shared.push((node.id, content));
            }
            (4, Some((node, content))) => {
                delete(world, node.id).await;
                self.live.remove(&node.id);
                self.shared.retain(|(shared, _)| *shared != node.id);
                self.trash.push((node.id, content, self.days));
            }
            (5, Some((node, old))) => {
                let mut chunks = kept_chunks(&old, draw / 64);
                let sent = id_of(content.as_bytes());
                chunks.extend([content, self.content()]);
                let draft = with_chunks(Draft::of(&node, ""), &chunks);
                let upload: Upload = owner.post("/api/v1/uploads", &draft.create()).await.ok();
                owner.put_chunk(&upload, &draft, sent).await.done(204);
                self.open.push((upload, draft));
            }
            (6 | 7, _) => {
                self.days += 1;
                self.open.retain(|(upload, _)| {
                    upload.expires_at.0 > world.app.source().now_ms() + DAY.cast_signed()
                });
                advance(world, DAY).await;
            }
            _ => {
                let name = format!("file {}", self.next);
                let node = owner.file(None, &name, &content).await;
                self.live.insert(node.id, (node, vec![content]));
            }
        }
    }

    async fn check(&self, world: &World, trash_days: u64) {
        let owner = world.owner();
        for (node, chunks) in self.live.values() {
            fetch(world, node.id, chunks, 200).await;
        }
        for (node, chunks) in &self.shared {
            fetch(world, *node, chunks, 200).await;
        }
        for (node, chunks, day) in &self.trash {
            let is_uploaded = self.open.iter().any(|(upload, _)| upload.node_id == *node);
            let is_kept = is_uploaded || self.days - day < trash_days;
            let expected = if is_kept { 200 } else { 404 };
            fetch(world, *node, chunks, expected).await;
        }
        for (upload, draft) in &self.open {
            let path = format!("/api/v1/uploads/{}", upload.upload_id);
            let missing = owner.get(&path).await.ok::<Upload>().missing;
            assert_eq!(missing, [id_of(draft.chunks.last().unwrap())]);
        }
        let checked = world.app.check(true).await.unwrap();
        assert!(checked.problems.is_empty(), "{checked:?}");
    }
}

#[tokio::test]
async fn whatever_happens_nothing_goes_that_is_needed() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::with(Options {
        data: dir.path().join("data"),
        expiry: Expiry {
            trash_days: 3,
            ..Expiry::default()
        },
        revisions: KeptRevisions {
            newest: Some(1),
            days: None,
        },
        ..Options::default()
    });
    let mut memory = Memory::default();
    let mut state = 20_260_101_usize;
    for step in 0..200 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        memory.step(&world, state >> 33).await;
        world.app.housekeep().await.unwrap();
        world.app.sweep_objects(i64::MAX).await.unwrap();
        world.app.compact_objects(0).await.unwrap();
        if step % 10 == 0 {
            memory.check(&world, 3).await;
        }
        if step % 50 == 25 {
            let copy = dir.path().join(format!("backup {step}"));
            world.app.backup(&copy).unwrap();
            let restored = dir.path().join(format!("restored {step}"));
            cairn_server::restore(&copy, &restored).unwrap();
            let restored = stored_world(&restored, Expiry::default());
            memory.check_restored(&restored).await;
        }
    }
    assert!(
        memory.days > 20 && memory.shared.len() > 3 && memory.reused > 0,
        "the steps were about everything"
    );
}

impl Memory {
    async fn check_restored(&self, world: &World) {
        for (node, chunks) in self.live.values() {
            fetch(world, node.id, chunks, 200).await;
        }
        let checked: Value = serde_json::to_value(world.app.check(true).await.unwrap()).unwrap();
        assert_eq!(checked["problems"], json!([]));
    }
}
