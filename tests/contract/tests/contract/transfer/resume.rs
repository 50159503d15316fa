//! Uploads that were cut off, given up, forgotten, or whose response was lost.

use crate::transfer::world::{Heard, World, bytes, committed, new_file, node, revision, upload};
use cairn_api::ApiError;
use cairn_crypto::content_hash;
use cairn_transfer::{Blocking, Download, Started, TransferError, Upload};
use std::collections::HashMap;

const MIB: usize = 1024 * 1024;

/// Uploads a file but lets the server fail after some chunks; answers what it takes to resume.
async fn interrupted(world: &World, content: &[u8], after: usize) -> Started {
    let mut left = after;
    world.server.intercept(move |request| {
        if !request.path.contains("/chunks/") {
            return None;
        }
        let fails = left == 0;
        left = left.saturating_sub(1);
        fails.then(|| (500, Vec::new()))
    });
    let heard = Heard::default();
    let failed = world
        .transfer
        .upload(upload(new_file(1), revision(1), content), &heard)
        .await;
    assert!(
        matches!(
            failed,
            Err(TransferError::Api(ApiError::Server { status: 500, .. }))
        ),
        "{failed:?}"
    );
    world.server.honest();
    heard.started()
}

#[tokio::test]
async fn a_resumed_upload_sends_only_what_is_missing() {
    let world = World::new(Blocking::Inline);
    let content = bytes(1, 12 * MIB);
    let started = interrupted(&world, &content, 5).await;
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
    let (node, _) = committed(reborn.transfer.upload(resumed, &heard).await);
    assert_eq!(
        node.revision_id,
        Some(revision(1)),
        "the revision stays the one that was begun"
    );
    assert_eq!(world.server.puts(), sent + missing);
    assert_eq!(heard.started(), started);
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
async fn an_upload_of_content_that_changed_meanwhile_is_given_up_and_begun_anew() {
    let world = World::new(Blocking::Inline);
    let mut content = bytes(1, 12 * MIB);
    let started = interrupted(&world, &content, 4).await;
    content[10] ^= 1;
    let resumed = Upload {
        resume: Some(started.clone()),
        ..upload(new_file(1), revision(1), &content)
    };
    let (sent, _) = committed(world.put(resumed).await);
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
    let started = interrupted(&world, &content, 2).await;
    world.server.state(|state| state.uploads.clear());
    let resumed = Upload {
        resume: Some(started),
        ..upload(new_file(1), revision(1), &content)
    };
    let (sent, _) = committed(world.put(resumed).await);
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
    world.server.honest();
    for resume in [Some(heard.started()), None] {
        let again = Upload {
            resume,
            ..upload(new_file(1), revision(1), &content)
        };
        let (sent, manifest) = committed(world.put(again).await);
        assert_eq!(
            (sent.revision_id, manifest.hash),
            (Some(revision(1)), content_hash(&content))
        );
    }
    assert_eq!(world.server.state(|state| state.revisions.len()), 1);
}
