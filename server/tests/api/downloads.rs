//! Downloads: chunks (encrypted pieces of files) with ranges, manifests (encrypted descriptions of a content), and many
//! files in one frame.

use super::upload_batch;
use super::world::{Caller, Draft, TestResponse, World, id_of, new_node, new_revision};
use axum::http::Method;
use bytes::Bytes;
use cairn_wire::account::Quota;
use cairn_wire::nodes::Node;
use cairn_wire::transfer::DownloadedBatch;
use cairn_wire::{compression, frame};
use serde_json::{Value, json};

async fn batch(who: &Caller, nodes: &[&Node], content: bool) -> (DownloadedBatch, Bytes) {
    let files: Vec<Value> = nodes
        .iter()
        .map(|node| json!({"node_id": node.id, "revision_id": node.revision_id}))
        .collect();
    let response = who
        .post(
            "/api/v1/downloads/batch",
            &json!({"files": files, "content": content}),
        )
        .await;
    response.done(200);
    assert_eq!(response.header("content-type"), frame::MEDIA_TYPE);
    frame::decode(response.body).unwrap()
}

#[tokio::test]
async fn a_chunk_comes_whole_or_in_ranges() {
    let world = World::new();
    let owner = world.owner();
    let node = owner.file(None, "f", "0123456789").await;
    let path = format!("/api/v1/chunks/{}?node={}", id_of(b"0123456789"), node.id);
    let whole = owner.get(&path).await;
    assert_eq!(
        (whole.status.as_u16(), &whole.body[..]),
        (200, &b"0123456789"[..])
    );
    assert_eq!(whole.header("accept-ranges"), "bytes");
    let part = async |range: &str| -> TestResponse {
        owner
            .send(Method::GET, &path, &[("range", range)], "")
            .await
    };
    let middle = part("bytes=2-4").await;
    assert_eq!(
        (middle.status.as_u16(), &middle.body[..]),
        (206, &b"234"[..])
    );
    assert_eq!(middle.header("content-range"), "bytes 2-4/10");
    assert_eq!(part("bytes=-3").await.body, "789");
    assert_eq!(part("bytes=7-").await.body, "789");
    let outside = part("bytes=10-").await;
    outside.failed(416);
    assert_eq!(outside.header("content-range"), "bytes */10");
    owner
        .get(&format!("/api/v1/chunks/{}?node={}", id_of(b"x"), node.id))
        .await
        .failed(404);
    owner
        .get(&format!(
            "/api/v1/chunks/{}?node={}",
            id_of(b"0123456789"),
            new_node()
        ))
        .await
        .failed(404);
    owner
        .get(&format!("/api/v1/chunks/{}", id_of(b"0123456789")))
        .await
        .failed(400);
    owner
        .get(&format!("/api/v1/chunks/zz?node={}", node.id))
        .await
        .failed(404);
}

#[tokio::test]
async fn a_batch_carries_manifests_and_chunks_in_order() {
    let world = World::new();
    let owner = world.owner();
    let a = owner.file(None, "a", "alpha").await;
    let b: Node = owner
        .upload(&Draft::new("b", "").chunks(&["x", "yy", "x"]))
        .await
        .ok();
    let mut gone = a.clone();
    gone.revision_id = Some(new_revision());
    let (head, payload) = batch(&owner, &[&b, &gone, &a], true).await;
    assert_eq!(
        head.files
            .iter()
            .map(|file| file.status)
            .collect::<Vec<_>>(),
        [200, 404, 200]
    );
    assert_eq!(payload, "xyyalpha");
    let content = head.files[0].content.as_ref().unwrap();
    assert_eq!(
        content
            .chunks
            .iter()
            .map(|chunk| chunk.size)
            .collect::<Vec<_>>(),
        [1, 2]
    );
    assert!(head.files[1].content.is_none() && head.files[1].error.is_some());
    let (head, payload) = batch(&owner, &[&a, &b], false).await;
    assert!(payload.is_empty() && head.files.iter().all(|file| file.content.is_some()));
    let (head, _) = batch(&world.outsider(), &[&a], true).await;
    assert_eq!(head.files[0].status, 403);
    let many: Vec<Value> = (0..257)
        .map(|_| json!({"node_id": a.id, "revision_id": a.revision_id}))
        .collect();
    owner
        .post("/api/v1/downloads/batch", &json!({ "files": many }))
        .await
        .failed(400);
}

#[tokio::test]
async fn files_beyond_the_limit_are_asked_for_again() {
    let world = World::new();
    let owner = world.owner();
    let big = "b".repeat(5 * 1024 * 1024);
    let one = owner.file(None, "one", &big).await;
    let two = owner.file(None, "two", &big).await;
    let small = owner.file(None, "small", "s").await;
    let (head, payload) = batch(&owner, &[&one, &two, &small], true).await;
    assert_eq!(
        head.files
            .iter()
            .map(|file| file.status)
            .collect::<Vec<_>>(),
        [200, 413, 200]
    );
    assert_eq!(payload.len(), big.len() + 1);
}

#[tokio::test]
async fn long_lists_of_objects_fill_a_batch_too() {
    let world = World::new();
    let owner = world.owner();
    let texts: Vec<String> = (0..9_000).map(|n| format!("{n:04}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let draft = Draft::new("many", "").chunks(&texts);
    let stored = upload_batch::upload(&owner, &[draft]).await;
    let node = stored.results[0].node.as_ref().unwrap();
    let (head, payload) = batch(&owner, &[node; 5], true).await;
    let statuses: Vec<u16> = head.files.iter().map(|file| file.status).collect();
    assert_eq!(statuses, [200, 200, 200, 413, 413]);
    assert_eq!(payload.len(), 3 * 4 * 9_000);
    // Records alone come without the lists, and all fit.
    let (head, _) = batch(&owner, &[node; 5], false).await;
    for file in head.files {
        assert_eq!(file.status, 200);
        assert!(file.content.unwrap().chunks.is_empty());
    }
}

#[tokio::test]
async fn a_range_of_another_chunk_is_not_served() {
    let world = World::new();
    let owner = world.owner();
    let node = owner.file(None, "f", "0123456789").await;
    let path = format!("/api/v1/chunks/{}?node={}", id_of(b"0123456789"), node.id);
    let tag = format!("\"{}\"", id_of(b"0123456789"));
    let part = async |wanted: &str| {
        let headers = [("range", "bytes=2-4"), ("if-range", wanted)];
        owner.send(Method::GET, &path, &headers, "").await
    };
    let same = part(&tag).await;
    assert_eq!((same.status.as_u16(), &same.body[..]), (206, &b"234"[..]));
    for other in [
        "\"other\"",
        &format!("W/{tag}"),
        "Sun, 06 Nov 1994 08:49:37 GMT",
    ] {
        let whole = part(other).await;
        assert_eq!(
            (whole.status.as_u16(), whole.body.len()),
            (200, 10),
            "{other}"
        );
    }
    let headers = [("if-none-match", tag.as_str())];
    let known = owner.send(Method::GET, &path, &headers, "").await;
    known.done(304);
    assert_eq!(known.header("etag"), tag);
}

#[tokio::test]
async fn a_look_at_the_headers_of_a_chunk_transfers_nothing() {
    let world = World::new();
    let owner = world.owner();
    let node = owner.file(None, "f", "0123456789").await;
    let used = async || {
        let quota: Quota = owner.get("/api/v1/userusage/quota-limit").await.ok();
        quota.bandwidth_used
    };
    let before = used().await;
    let path = format!("/api/v1/chunks/{}?node={}", id_of(b"0123456789"), node.id);
    let head = owner.send(Method::HEAD, &path, &[], "").await;
    head.done(200);
    assert_eq!((head.header("content-length"), head.body.len()), ("10", 0));
    assert_eq!(used().await, before);
    owner.get(&path).await.done(200);
    assert_eq!(used().await, before + 10);
}

#[tokio::test]
async fn the_head_of_a_batch_is_compressed_if_the_request_accepts_it() {
    let world = World::new();
    let owner = world.owner();
    let mut files = Vec::new();
    for number in 0..8 {
        let node = owner.file(None, &format!("f{number}"), "content").await;
        files.push(json!({"node_id": node.id, "revision_id": node.revision_id}));
    }
    let body = json!({ "files": files }).to_string();
    let get = async |accept: &str| {
        let headers = [
            ("content-type", "application/json"),
            ("accept-encoding", accept),
        ];
        let path = "/api/v1/downloads/batch";
        owner.send(Method::POST, path, &headers, body.clone()).await
    };
    let (plain, compressed) = (get("gzip").await, get("zstd").await);
    assert!(plain.body[0] & 0x80 == 0 && compressed.body[0] & 0x80 != 0);
    assert!(compressed.body.len() < plain.body.len());
    let [one, other] = [plain, compressed]
        .map(|response| frame::decode::<DownloadedBatch>(response.body).unwrap());
    assert_eq!(one, other);
}

#[tokio::test]
async fn the_objects_of_a_large_file_are_listed_compressed_if_the_request_accepts_it() {
    let world = World::new();
    let owner = world.owner();
    let contents: Vec<String> = (0..50).map(|number| format!("chunk {number}")).collect();
    let contents: Vec<&str> = contents.iter().map(String::as_str).collect();
    let draft = Draft::new("large", "").chunks(&contents);
    let node: Node = owner.upload(&draft).await.ok();
    let revision = node.revision_id.unwrap();
    let path = format!("/api/v1/nodes/{}/revisions/{revision}/manifest", node.id);
    let get = async |accept: &str| {
        let headers = [("accept-encoding", accept)];
        owner.send(Method::GET, &path, &headers, "").await
    };
    let (plain, compressed) = (get("gzip").await, get("zstd").await);
    assert!(plain.headers.get("content-encoding").is_none());
    assert_eq!(compressed.header("content-encoding"), "zstd");
    // An id is half as long as its digits.
    let (long, short) = (plain.body.len(), compressed.body.len());
    assert!(short * 5 < long * 3, "{short} of {long} bytes");
    let text = compression::decompress(&compressed.body, long).unwrap();
    assert_eq!(text, plain.body);
}
