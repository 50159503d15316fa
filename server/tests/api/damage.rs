//! Stored chunks whose bytes went bad: found, named to the devices of the space, and healed by whoever sends them again.

use super::expiry::{DAY, advance};
use super::shares::share;
use super::upload_batch::upload as upload_batch;
use super::visitors::{open, path, put_file, with_access};
use super::world::{Caller, Draft, TestResponse, World, id_of};
use axum::http::Method;
use bytes::Bytes;
use cairn_server::{MetricsOptions, Options};
use cairn_wire::frame;
use cairn_wire::nodes::Node;
use cairn_wire::shares::OpenedShare;
use cairn_wire::transfer::{
    CreateUpload, DamagedChunks, DownloadBatch, DownloadFile, DownloadedBatch, Upload,
};
use serde_json::json;
use std::path::{Path, PathBuf};

/// The token of those who read the metrics.
const METRICS: &str = "watcher";
const DAMAGED: &str = "/api/v1/chunks/damaged";

/// The ways in which what is stored goes bad.
const WAYS: [fn(&Path); 3] = [
    |object| std::fs::remove_file(object).unwrap(),
    |object| std::fs::write(object, b"").unwrap(),
    |object| {
        let mut bytes = std::fs::read(object).unwrap();
        bytes[0] ^= 1;
        std::fs::write(object, bytes).unwrap();
    },
];

fn stored_world(data: &Path) -> World {
    World::with(Options {
        data: data.to_owned(),
        metrics: MetricsOptions {
            token: Some(METRICS.to_owned()),
            ..MetricsOptions::default()
        },
        ..Options::default()
    })
}

/// The files of all objects in a data directory.
fn objects(data: &Path) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(data.join("objects")).unwrap();
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap());
    files.map(|file| file.unwrap().path()).collect()
}

fn only_object(data: &Path) -> PathBuf {
    let all = objects(data);
    assert_eq!(all.len(), 1, "{all:?}");
    all[0].clone()
}

async fn damaged(who: &Caller) -> DamagedChunks {
    who.get(DAMAGED).await.ok()
}

/// Begins an upload of the content that a file has.
async fn begin_again(who: &Caller, node: &Node, content: &str) -> Upload {
    let create: CreateUpload = Draft::of(node, content).create();
    who.post("/api/v1/uploads", &create).await.ok()
}

/// Sends bytes as the chunk that `content` is.
async fn send(who: &Caller, upload: &Upload, content: &str, bytes: &'static str) -> TestResponse {
    let id = id_of(content.as_bytes());
    let path = format!("/api/v1/uploads/{}/chunks/{id}", upload.upload_id);
    who.send(Method::PUT, &path, &[], bytes).await
}

/// Returns the line of the metrics about damage.
async fn counted(world: &World) -> String {
    let metrics = world.caller(Some(METRICS)).get("/metrics").await;
    let text = String::from_utf8(metrics.body.to_vec()).unwrap();
    let line = text
        .lines()
        .find(|line| line.starts_with("cairn_damaged_chunks "));
    line.unwrap_or_else(|| panic!("{text}")).to_owned()
}

#[tokio::test]
async fn a_chunk_that_is_read_and_damaged_is_named_and_healed_by_the_same_bytes() {
    for damage in WAYS {
        let dir = tempfile::tempdir().unwrap();
        let world = stored_world(dir.path());
        let owner = world.owner();
        let node = owner.file(None, "f", "content").await;
        damage(&only_object(dir.path()));
        let message = owner.chunk(node.id, "content").await.failed(500);
        assert!(message.contains("sends it again"), "{message}");
        let found = damaged(&owner).await;
        let [one] = &found.chunks[..] else {
            panic!("{found:?}");
        };
        assert_eq!((one.node_id, one.chunk_id), (node.id, id_of(b"content")));
        assert_eq!(damaged(&world.outsider()).await.chunks, []);
        assert_eq!(counted(&world).await, "cairn_damaged_chunks 1");

        let upload = begin_again(&owner, &node, "content").await;
        assert_eq!(upload.missing, [id_of(b"content")]);
        send(&owner, &upload, "content", "cOntent")
            .await
            .failed(409);
        send(&owner, &upload, "content", "content").await.done(204);
        owner
            .delete(&format!("/api/v1/uploads/{}", upload.upload_id))
            .await
            .done(204);
        assert_eq!(owner.chunk(node.id, "content").await.body, "content");
        assert_eq!(damaged(&owner).await.chunks, []);
        let checked = world.app.check(true).await.unwrap();
        assert_eq!(checked.problems, Vec::<String>::new());
    }
}

#[tokio::test]
async fn no_part_of_a_damaged_chunk_is_sent() {
    for damage in WAYS {
        for range in ["bytes=0-6", "bytes=2-3", "bytes=-1"] {
            let dir = tempfile::tempdir().unwrap();
            let world = stored_world(dir.path());
            let owner = world.owner();
            let node = owner.file(None, "f", "content").await;
            let path = format!("/api/v1/chunks/{}?node={}", id_of(b"content"), node.id);
            let headers = [("range", range)];
            let ask = async || owner.send(Method::GET, &path, &headers, "").await;
            assert_eq!(ask().await.status, 206, "{range}");
            damage(&only_object(dir.path()));
            ask().await.failed(500);
            assert_eq!(damaged(&owner).await.chunks.len(), 1, "{range}");
            let head = owner.send(Method::HEAD, &path, &[], "").await;
            assert_eq!(head.status, 500, "{range}");
        }
    }
}

#[tokio::test]
async fn the_headers_of_a_lost_chunk_are_those_of_a_failure() {
    // Other bytes are found where they are read.
    for damage in &WAYS[..2] {
        let dir = tempfile::tempdir().unwrap();
        let world = stored_world(dir.path());
        let owner = world.owner();
        let node = owner.file(None, "f", "content").await;
        let path = format!("/api/v1/chunks/{}?node={}", id_of(b"content"), node.id);
        let head = async || owner.send(Method::HEAD, &path, &[], "").await.status;
        assert_eq!(head().await, 200);
        damage(&only_object(dir.path()));
        assert_eq!(head().await, 500);
        assert_eq!(damaged(&owner).await.chunks.len(), 1);
    }
}

#[tokio::test]
async fn a_visitor_of_a_link_learns_of_damage_from_the_headers_too() {
    let dir = tempfile::tempdir().unwrap();
    let world = stored_world(dir.path());
    let (owner, stranger) = (world.owner(), world.nobody());
    let file = owner.file(None, "f", "content").await;
    let link = share(&owner, &file, json!({})).await;
    put_file(&owner, &link, &file).await.done(200);
    let opened: OpenedShare = open(&stranger, &link, json!({})).await.ok();
    let part = format!("/chunks/{}?node={}", id_of(b"content"), file.id);
    let ask = async |method: Method| {
        let path = path(&link, &part);
        let response = with_access(&stranger, method, &path, &opened.access).await;
        response.status.as_u16()
    };
    assert_eq!(ask(Method::HEAD).await, 200);
    std::fs::remove_file(only_object(dir.path())).unwrap();
    assert_eq!(
        (ask(Method::HEAD).await, ask(Method::GET).await),
        (500, 500)
    );
}

#[tokio::test]
async fn damage_to_one_file_of_a_batch_fails_that_file_alone() {
    let dir = tempfile::tempdir().unwrap();
    let world = stored_world(dir.path());
    let owner = world.owner();
    let drafts = [Draft::new("a", "alpha"), Draft::new("b", "beta")];
    upload_batch(&owner, &drafts).await;
    let object = only_object(dir.path());
    let mut bytes = std::fs::read(&object).unwrap();
    assert_eq!(bytes, b"alphabeta");
    bytes[0] = b'A';
    std::fs::write(&object, bytes).unwrap();
    let wanted = DownloadBatch {
        files: drafts
            .iter()
            .map(|draft| DownloadFile {
                node_id: draft.node,
                revision_id: draft.revision,
            })
            .collect(),
        content: true,
    };
    let response = owner.post("/api/v1/downloads/batch", &wanted).await;
    assert_eq!(response.status, 200);
    let (head, payload) = frame::split(vec![response.body]).unwrap();
    let head: DownloadedBatch = serde_json::from_slice(&head).unwrap();
    let statuses: Vec<u16> = head.files.iter().map(|file| file.status).collect();
    assert_eq!(statuses, [500, 200]);
    assert_eq!(payload.concat(), b"beta");

    // The same batch heals it, and stores nothing twice.
    let upload = begin_again(&owner, &owner.node(drafts[0].node).await.ok(), "alpha").await;
    send(&owner, &upload, "alpha", "alpha").await.done(204);
    let response = owner.post("/api/v1/downloads/batch", &wanted).await;
    let (_, payload) = frame::split(vec![response.body]).unwrap();
    assert_eq!(payload.concat(), b"alphabeta");
    let checked = world.app.check(true).await.unwrap();
    assert_eq!(checked.problems, Vec::<String>::new());
}

#[tokio::test]
async fn a_new_version_in_a_batch_heals_the_chunk_that_it_shares() {
    for damage in WAYS {
        let dir = tempfile::tempdir().unwrap();
        let world = stored_world(dir.path());
        let owner = world.owner();
        let node = owner.file(None, "f", "content").await;
        damage(&only_object(dir.path()));
        let next = Draft::of(&node, "content");
        let results = upload_batch(&owner, &[next]).await;
        assert_eq!(results.results[0].status, 200, "{results:?}");
        assert_eq!(owner.chunk(node.id, "content").await.body, "content");
        let checked = world.app.check(true).await.unwrap();
        assert_eq!(checked.problems, Vec::<String>::new());
    }
}

#[tokio::test]
async fn everything_is_read_once_in_thirty_days() {
    let dir = tempfile::tempdir().unwrap();
    let world = stored_world(dir.path());
    let owner = world.owner();
    for name in ["a", "b", "c"] {
        owner.file(None, name, &name.repeat(3_000)).await;
    }
    // The check begins.
    world.app.housekeep().await.unwrap();
    for object in objects(dir.path()) {
        std::fs::write(object, b"").unwrap();
    }
    for (days, found) in [(15, 1), (20, 3)] {
        for _ in 0..days {
            advance(&world, DAY).await;
            world.app.housekeep().await.unwrap();
        }
        assert_eq!(damaged(&owner).await.chunks.len(), found, "{days} days");
    }
    // Page by page.
    let first: DamagedChunks = owner.get(&format!("{DAMAGED}?limit=2")).await.ok();
    let next = first.next.unwrap();
    let second: DamagedChunks = owner
        .get(&format!("{DAMAGED}?limit=2&cursor={next}"))
        .await
        .ok();
    assert_eq!((first.chunks.len(), second.chunks.len()), (2, 1));
    assert_eq!(second.next, None);
    owner.get(&format!("{DAMAGED}?cursor=ab")).await.failed(400);
    let checked = world.app.check(true).await.unwrap();
    assert_eq!(checked.problems.len(), 3, "{:?}", checked.problems);
}

#[tokio::test]
async fn a_copy_whose_original_is_gone_is_healed_by_whoever_has_the_copy() {
    let dir = tempfile::tempdir().unwrap();
    let world = stored_world(dir.path());
    let owner = world.owner();
    let original = owner.file(None, "a", "content").await;
    let path = format!("/api/v1/nodes/{}/copy", original.id);
    let copy: Node = owner.post(&path, &json!({ "name": "b" })).await.ok();
    for path in ["nodes", "trash"] {
        let path = format!("/api/v1/{path}/{}", original.id);
        owner.delete(&path).await.done(200);
    }
    std::fs::write(only_object(dir.path()), b"").unwrap();
    owner.chunk(copy.id, "content").await.failed(500);
    let found = damaged(&owner).await.chunks;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].node_id, copy.id);
    let upload = begin_again(&owner, &copy, "content").await;
    send(&owner, &upload, "content", "content").await.done(204);
    assert_eq!(owner.chunk(copy.id, "content").await.body, "content");
    assert_eq!(damaged(&owner).await.chunks, []);
}

#[tokio::test]
async fn the_other_chunks_of_a_damaged_file_are_looked_at_soon() {
    let dir = tempfile::tempdir().unwrap();
    let world = stored_world(dir.path());
    let owner = world.owner();
    world.app.housekeep().await.unwrap();
    advance(&world, 1_000).await;
    let draft = Draft::new("f", "one").chunks(&["one", "two", "three"]);
    let node: Node = owner.upload(&draft).await.ok();
    owner.file(None, "other", "other").await;
    for object in objects(dir.path()) {
        std::fs::write(object, b"").unwrap();
    }
    owner.chunk(node.id, "two").await.failed(500);
    assert_eq!(damaged(&owner).await.chunks.len(), 1);
    world.app.housekeep().await.unwrap();
    let found = damaged(&owner).await.chunks;
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|one| one.node_id == node.id), "{found:?}");
}

#[cfg(unix)]
#[tokio::test]
async fn an_object_that_can_not_be_read_does_not_keep_the_check_from_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let world = stored_world(dir.path());
    let owner = world.owner();
    owner.file(None, "a", &"a".repeat(3_000)).await;
    let first = only_object(dir.path());
    owner.file(None, "b", &"b".repeat(3_000)).await;
    world.app.housekeep().await.unwrap();
    let others = objects(dir.path())
        .into_iter()
        .filter(|path| *path != first);
    others.for_each(|path| std::fs::write(path, b"").unwrap());
    // A link to itself can't be read, and isn't missing.
    std::fs::remove_file(&first).unwrap();
    std::os::unix::fs::symlink(&first, &first).unwrap();
    let mut failures = 0;
    for _ in 0..40 {
        world.app.source().advance(DAY);
        failures += u32::from(world.app.housekeep().await.is_err());
    }
    assert_eq!(damaged(&owner).await.chunks.len(), 1);
    assert!((1..10).contains(&failures), "{failures}");
}

#[tokio::test]
async fn a_disk_that_shows_the_bytes_again_is_believed() {
    let dir = tempfile::tempdir().unwrap();
    let world = stored_world(dir.path());
    let owner = world.owner();
    let node = owner.file(None, "f", "content").await;
    let object = only_object(dir.path());
    let away = dir.path().join("away");
    std::fs::rename(&object, &away).unwrap();
    owner.chunk(node.id, "content").await.failed(500);
    std::fs::rename(&away, &object).unwrap();
    assert_eq!(
        owner.chunk(node.id, "content").await.body,
        Bytes::from("content")
    );
    assert_eq!(
        damaged(&owner).await.chunks.len(),
        1,
        "until it is looked at"
    );
    let checked = world.app.check(true).await.unwrap();
    assert_eq!(checked.problems, Vec::<String>::new());
    assert_eq!(damaged(&owner).await.chunks, []);
}

#[tokio::test]
async fn a_development_server_damages_on_purpose_what_it_stores() {
    for damage in ["lost", "flipped"] {
        let world = World::new();
        let owner = world.owner();
        let wanted = json!({ "number": 7, "damage": damage });
        owner.post("/_dev/damage", &wanted).await.failed(404);
        let node = owner.file(None, "f", "content").await;
        owner.post("/_dev/damage", &wanted).await.done(200);
        owner.chunk(node.id, "content").await.failed(500);
        assert_eq!(damaged(&owner).await.chunks.len(), 1, "{damage}");
    }
}
