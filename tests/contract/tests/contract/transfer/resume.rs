//! Uploads that were cut off, given up, forgotten, or whose response was lost.

use crate::transfer::world::{
    Heard, Numbers, World, bytes, new_file, next_of, node, revision, unwrap_committed, upload,
};
use cairn_api::{ApiError, Method, Request};
use cairn_crypto::{KeyRing, NodeFacts, NodeSeal, content_hash};
use cairn_model::{ChunkId, SpaceId};
use cairn_transfer::{Blocking, Download, ResumableUpload, TransferError, Upload, UploadTarget};
use cairn_wire::nodes::Node;
use std::collections::HashMap;
use std::sync::Arc;

const MIB: usize = 1024 * 1024;

/// No path has it.
const NOTHING: &str = "(nothing)";

/// Uploads a file but lets the server fail after some chunks; answers what it takes to resume.
async fn interrupt_upload(world: &World, content: &[u8], after: usize) -> ResumableUpload {
    interrupt(
        world,
        upload(new_file(1), revision(1), content),
        after,
        NOTHING,
    )
    .await
}

/// Interrupts as [`interrupt_upload`] does; what is fetched from paths with `fails` in them isn't to be had either.
async fn interrupt(
    world: &World,
    upload: Upload,
    after: usize,
    fails: &'static str,
) -> ResumableUpload {
    let mut left = after;
    world.server.intercept(move |request| {
        if request.method != Method::PUT {
            return fetch_fails(request, fails, 500);
        }
        let fails = left == 0;
        left = left.saturating_sub(1);
        fails.then(|| (500, Vec::new()))
    });
    let heard = Heard::default();
    let failed = world.transfer.upload(upload, &heard).await;
    assert!(
        matches!(
            failed,
            Err(TransferError::Api(ApiError::Server { status: 500, .. }))
        ),
        "{failed:?}"
    );
    world.server.stop_lying();
    heard.last_started()
}

fn fetch_fails(request: &Request, part: &str, status: u16) -> Option<(u16, Vec<u8>)> {
    let fails = request.method == Method::GET && request.path.contains(part);
    fails.then(|| (status, Vec::new()))
}

#[tokio::test]
async fn a_resumed_upload_sends_only_what_is_missing() {
    let world = World::new(Blocking::Inline);
    let content = bytes(1, 12 * MIB);
    let started = interrupt_upload(&world, &content, 5).await;
    let (sent, missing) = world.server.state(|state| {
        let upload = state.uploads.values().next().unwrap();
        (state.put.len(), upload.chunks.len() - state.put.len())
    });
    assert!(sent >= 5 && missing > 0);

    // After a crash the process knows no more than what it was told to remember.
    let reborn = World::with(world.server.clone(), world.keys.clone(), Blocking::Threads);
    let resumed = Upload {
        resume: Some(started.clone()),
        ..upload(new_file(1), revision(9), &content)
    };
    let heard = Heard::default();
    let (node, _) = unwrap_committed(reborn.transfer.upload(resumed, &heard).await);
    assert_eq!(
        node.revision_id,
        Some(revision(1)),
        "the revision stays the one that was begun"
    );
    assert_eq!(world.server.puts(), sent + missing);
    assert_eq!(heard.last_started(), started);
    assert_eq!(
        reborn
            .get(Download::new(node.id, revision(1)))
            .await
            .unwrap()
            .1,
        content
    );
    let moved = heard.moved.lock().unwrap().clone();
    assert!(
        moved[0].0 > 0
            && moved.is_sorted()
            && moved.last() == Some(&(content.len() as u64, content.len() as u64))
    );
}

#[tokio::test]
async fn a_file_that_was_renamed_meanwhile_is_sealed_where_it_is_made() {
    let world = World::new(Blocking::Inline);
    let content = bytes(1, 12 * MIB);
    let started = interrupt_upload(&world, &content, 5).await;
    let before = world.server.puts();
    let heard = Heard::default();
    let resumed = renamed(&started, &content);
    let result = world.transfer.upload(resumed, &heard).await;
    let (made, _) = unwrap_committed(result);
    assert_eq!(
        made.name, "file 1",
        "the name that the upload was begun with"
    );
    assert!(is_sealed(&world, &made), "the seal names another place");
    assert_eq!(heard.last_started(), started);
    assert!(world.server.puts() - before < 12, "it was sent anew");
}

#[tokio::test]
async fn a_file_that_was_renamed_is_made_in_its_place_if_the_server_forgot_the_upload() {
    let world = World::new(Blocking::Inline);
    let content = bytes(1, 3 * MIB);
    let started = interrupt_upload(&world, &content, 1).await;
    world.server.state(|state| state.uploads.clear());
    let resumed = renamed(&started, &content);
    let (made, _) = unwrap_committed(world.put(resumed).await);
    assert_eq!(made.name, "renamed");
    assert!(is_sealed(&world, &made));
}

#[tokio::test]
async fn a_new_file_of_which_an_older_cairn_noted_no_place_is_begun_anew() {
    let world = World::new(Blocking::Inline);
    let content = bytes(1, 3 * MIB);
    let started = ResumableUpload {
        place: None,
        ..interrupt_upload(&world, &content, 1).await
    };
    let (made, _) = unwrap_committed(world.put(renamed(&started, &content)).await);
    assert_eq!(made.name, "renamed");
    assert!(is_sealed(&world, &made));
    assert_eq!(deletions(&world), 1, "what was begun is given up");
}

/// Returns the upload that goes on with one that was begun, of a file that has another name by now.
fn renamed(started: &ResumableUpload, content: &[u8]) -> Upload {
    let target = UploadTarget::New {
        node: node(1),
        parent: None,
        name: "renamed".into(),
    };
    Upload {
        resume: Some(started.clone()),
        ..upload(target, revision(1), content)
    }
}

/// Returns whether the seal of a node is about the node as it is.
fn is_sealed(world: &World, node: &Node) -> bool {
    let facts = NodeFacts {
        node: node.id,
        parent: node.parent_id,
        name: &node.name,
        kind: node.kind,
        executable: node.executable,
        deleted: false,
    };
    let seal = node.seal.as_ref();
    seal.is_some_and(|seal| NodeSeal::check(&world.keys, &facts, &seal.0).is_ok())
}

#[tokio::test]
async fn an_upload_of_content_that_changed_meanwhile_is_given_up_and_begun_anew() {
    let world = World::new(Blocking::Inline);
    let mut content = bytes(1, 12 * MIB);
    let started = interrupt_upload(&world, &content, 4).await;
    content[10] ^= 1;
    let resumed = Upload {
        resume: Some(started.clone()),
        ..upload(new_file(1), revision(1), &content)
    };
    let (sent, _) = unwrap_committed(world.put(resumed).await);
    assert_ne!(
        sent.revision_id,
        Some(revision(1)),
        "one revision never has two contents"
    );
    let download = Download::new(node(1), sent.revision_id.unwrap());
    assert_eq!(world.get(download).await.unwrap().1, content);
    world.server.state(|state| {
        assert!(
            state
                .requests
                .contains(&format!("DELETE /api/v1/uploads/{}", started.upload))
        );
        // No two ciphertexts under one key: the same id always carries the same bytes.
        let mut seen = HashMap::new();
        for (id, sealed) in &state.put {
            assert_eq!(seen.entry(*id).or_insert(sealed), &sealed);
        }
    });
}

#[tokio::test]
async fn an_upload_that_the_server_forgot_begins_again() {
    let world = World::new(Blocking::Inline);
    let content = bytes(1, 6 * MIB);
    let started = interrupt_upload(&world, &content, 2).await;
    world.server.state(|state| state.uploads.clear());
    let resumed = Upload {
        resume: Some(started),
        ..upload(new_file(1), revision(1), &content)
    };
    let (sent, _) = unwrap_committed(world.put(resumed).await);
    assert_eq!(sent.revision_id, Some(revision(1)));
}

#[tokio::test]
async fn a_commit_whose_response_was_lost_is_recognised_when_repeated() {
    let world = World::new(Blocking::Inline);
    let content = bytes(1, 300_000);
    world.server.tamper(|request, body| {
        if request.path.ends_with("/complete") {
            body.truncate(3);
        }
    });
    let heard = Heard::default();
    let lost = world
        .transfer
        .upload(upload(new_file(1), revision(1), &content), &heard)
        .await;
    assert!(
        matches!(lost, Err(TransferError::Api(ApiError::Protocol(_)))),
        "{lost:?}"
    );
    world.server.stop_lying();
    for resume in [Some(heard.last_started()), None] {
        let again = Upload {
            resume,
            ..upload(new_file(1), revision(1), &content)
        };
        let (sent, manifest) = unwrap_committed(world.put(again).await);
        assert_eq!(
            (sent.revision_id, manifest.hash),
            (Some(revision(1)), content_hash(&content))
        );
    }
    assert_eq!(world.server.state(|state| state.revisions.len()), 1);
}

/// The first revision's record, and the list of its chunks.
const RECORD: &str = "/revisions/";
const LIST: &str = "/api/v1/chunks/";

/// A file that was encrypted with an earlier key of the space (an earlier epoch), to which as much is appended: its
/// chunks stay, under another key.
async fn appended_file() -> (World, Upload, Vec<u8>) {
    let space = SpaceId::from_random_bytes([1; 16]);
    let first = KeyRing::generate(space, 1, &mut Numbers(7));
    let second = first.renew(2, &mut Numbers(8)).unwrap();
    let before = World::with(Arc::default(), Arc::new(first.keys()), Blocking::Inline);
    let mut content = bytes(1, 8 * MIB);
    let (old, _) = unwrap_committed(before.put(upload(new_file(1), revision(1), &content)).await);
    let keys = Arc::new(second.keys());
    let world = World::with(before.server.clone(), keys, Blocking::Inline);
    content.extend(bytes(2, 20 * MIB));
    let next = upload(next_of(&world, &old, 2), revision(2), &content);
    world.server.state(|state| state.put.clear());
    (world, next, content)
}

fn resume_upload(next: &Upload, started: &ResumableUpload) -> Upload {
    Upload {
        resume: Some(started.clone()),
        ..next.clone()
    }
}

fn deletions(world: &World) -> usize {
    let is_deletion = |request: &&String| request.starts_with("DELETE");
    let count = |requests: &[String]| requests.iter().filter(is_deletion).count();
    world.server.state(|state| count(&state.requests))
}

/// Checks that nothing travelled twice, and that what was committed is the upload that was begun.
async fn is_finished(world: &World, next: Upload, content: &[u8]) {
    let started = next.resume.clone().unwrap();
    let (node, _) = unwrap_committed(world.put(next).await);
    assert_eq!(node.revision_id, Some(started.revision));
    let mut sent: Vec<ChunkId> = world
        .server
        .state(|state| state.put.iter().map(|(id, _)| *id).collect());
    let all = sent.len();
    sent.sort_unstable();
    sent.dedup();
    assert_eq!(sent.len(), all, "a chunk travelled twice");
    let read = world.get(Download::new(node.id, started.revision)).await;
    assert!(read.unwrap().1 == content);
}

#[tokio::test]
async fn a_list_that_is_not_to_be_had_for_a_while_costs_no_upload_that_was_begun() {
    for part in [RECORD, LIST] {
        let (world, next, content) = appended_file().await;
        let started = interrupt(&world, next.clone(), 4, NOTHING).await;
        for status in [401, 408, 429, 500, 503] {
            world
                .server
                .intercept(move |request| fetch_fails(request, part, status));
            let again = world.put(resume_upload(&next, &started)).await;
            assert!(
                matches!(again, Err(TransferError::Api(_))),
                "{status}: {again:?}"
            );
        }
        world.server.stop_lying();
        assert_eq!(deletions(&world), 0);
        is_finished(&world, resume_upload(&next, &started), &content).await;
        let old = world.objects((node(1), revision(1)));
        let new = world.objects((node(1), revision(2)));
        assert!(new.iter().filter(|id| old.contains(id)).count() >= 4);
    }
}

#[tokio::test]
async fn a_list_that_is_never_to_be_had_keeps_no_upload_from_its_end() {
    for part in [RECORD, LIST] {
        let (world, next, content) = appended_file().await;
        let started = interrupt(&world, next.clone(), 9, part).await;
        let fails = move |request: &Request| fetch_fails(request, part, 500);
        world.server.intercept(fails);
        let (sent, _) = unwrap_committed(world.put(resume_upload(&next, &started)).await);
        assert_eq!(sent.revision_id, Some(started.revision));
        assert_eq!(deletions(&world), 0);
        world.server.stop_lying();
        let read = world.get(Download::new(node(1), started.revision)).await;
        assert!(read.unwrap().1 == content);
    }
}

#[tokio::test]
async fn an_upload_that_the_server_forgot_waits_for_no_list() {
    let (world, next, content) = appended_file().await;
    let started = interrupt(&world, next.clone(), 4, NOTHING).await;
    world.server.state(|state| state.uploads.clear());
    world
        .server
        .intercept(|request| fetch_fails(request, LIST, 500));
    let (sent, _) = unwrap_committed(world.put(resume_upload(&next, &started)).await);
    world.server.stop_lying();
    let read = world.get(Download::new(node(1), sent.revision_id.unwrap()));
    assert!(read.await.unwrap().1 == content);
}

#[tokio::test]
async fn what_was_sent_after_a_chunk_was_lost_counts_after_a_restart() {
    let (world, next, content) = appended_file().await;
    let lost = world.objects((node(1), revision(1)))[1];
    world
        .server
        .state(|state| state.chunks.remove(&(node(1), lost)));
    // The attempt that would use it is given up, and all is sealed.
    let started = interrupt(&world, next.clone(), 9, NOTHING).await;
    assert_eq!(deletions(&world), 1);
    is_finished(&world, resume_upload(&next, &started), &content).await;
    assert_eq!(deletions(&world), 1);
}

#[tokio::test]
async fn a_lost_chunk_that_would_be_compressed_in_another_way_is_no_dead_end() {
    let world = World::new(Blocking::Inline);
    let hex = |bytes: Vec<u8>| {
        bytes
            .into_iter()
            .flat_map(|byte| [b'a' + byte / 16, b'a' + byte % 16])
    };
    let mut content: Vec<u8> = hex(bytes(1, 3 * MIB)).collect();
    let (old, _) = unwrap_committed(world.put(upload(new_file(1), revision(1), &content)).await);
    let lost = world.objects((node(1), revision(1)))[1];
    world
        .server
        .state(|state| state.chunks.remove(&(node(1), lost)));
    let mut target = next_of(&world, &old, 2);
    if let UploadTarget::Revision { name, .. } = &mut target {
        "file.db".clone_into(name);
    }
    content.push(b'!');
    unwrap_committed(world.put(upload(target, revision(2), &content)).await);
    let read = world.get(Download::new(node(1), revision(2))).await;
    assert!(read.unwrap().1 == content);
}
