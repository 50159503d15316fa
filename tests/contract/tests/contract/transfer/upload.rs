//! Uploads: what is sent, what is not sent again, and what is never encrypted.

use crate::transfer::world::{
    Numbers, World, bytes, new_file, next_of, next_revision, node, revision, unwrap_committed,
    upload,
};
use cairn_api::ApiError;
use cairn_crypto::{KeyRing, NodeFacts, NodeSeal, content_hash, manifest_hash};
use cairn_model::{Kind, SpaceId};
use cairn_transfer::{
    Blocking, Download, Source, SourceReader, TransferError, Upload, UploadTarget, Uploaded,
};
use cairn_wire::nodes::Node;
use std::io;
use std::io::Cursor;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const MIB: usize = 1024 * 1024;

#[tokio::test]
async fn files_of_every_size_come_back_as_they_were() {
    for blocking in [Blocking::Threads, Blocking::Inline] {
        let world = World::new(blocking);
        for (n, length) in [0, 1, 256 * 1024, 256 * 1024 + 1, 9 * MIB + 7]
            .into_iter()
            .enumerate()
        {
            let n = n as u8 + 1;
            let content = bytes(u64::from(n), length);
            let (sent, manifest) =
                unwrap_committed(world.put(upload(new_file(n), revision(n), &content)).await);
            assert_eq!(
                (sent.id, sent.revision_id, sent.size),
                (node(n), Some(revision(n)), length as u64)
            );
            assert_eq!(manifest.hash, content_hash(&content));
            assert_eq!((manifest.number, manifest.base), (1, None));
            assert_eq!(
                world
                    .get(Download::new(node(n), revision(n)))
                    .await
                    .unwrap(),
                (manifest, content)
            );
        }
    }
}

#[tokio::test]
async fn the_server_never_sees_plaintext_and_gets_a_seal_that_holds() {
    let world = World::new(Blocking::Inline);
    let content = b"a sentence that nobody else may read ".repeat(1000);
    let (sent, manifest) =
        unwrap_committed(world.put(upload(new_file(1), revision(1), &content)).await);
    world.server.state(|state| {
        assert!(!state.put.is_empty());
        for (_, sealed) in &state.put {
            assert!(!sealed.windows(9).any(|window| window == b"sentence "));
        }
        let stored = &state.revisions[&(node(1), revision(1))];
        assert!(
            !stored
                .manifest
                .0
                .windows(32)
                .any(|window| window == manifest.hash.0)
        );
        let facts = NodeFacts {
            node: node(1),
            parent: None,
            name: "file 1",
            kind: Kind::File,
            executable: false,
            deleted: false,
        };
        let info = NodeSeal::check(&world.keys, &facts, &sent.seal.as_ref().unwrap().0).unwrap();
        assert_eq!(
            (info.seq, info.manifest_hash),
            (1, Some(manifest_hash(&stored.manifest.0)))
        );
    });
}

#[tokio::test]
async fn a_small_edit_in_a_big_file_sends_at_most_two_chunks() {
    let world = World::new(Blocking::Threads);
    let mut content = bytes(1, 24 * MIB);
    let (first, _) = unwrap_committed(world.put(upload(new_file(1), revision(1), &content)).await);
    let before = world.server.puts();
    assert!(before >= 15, "{before} chunks");
    content[12 * MIB..12 * MIB + 16].copy_from_slice(b"sixteen new ones");
    let (second, manifest) = unwrap_committed(
        world
            .put(upload(next_revision(&first, 2), revision(2), &content))
            .await,
    );
    // One or two chunks, and the list.
    assert!((2..=3).contains(&(world.server.puts() - before)));
    assert_eq!((manifest.number, manifest.base), (2, Some(revision(1))));
    assert_eq!(manifest.content.node, second.id);
    assert_eq!(
        world
            .get(Download::new(node(1), revision(2)))
            .await
            .unwrap()
            .1,
        content
    );
}

#[tokio::test]
async fn an_edit_of_what_was_sent_or_fetched_here_asks_for_no_list() {
    let world = World::new(Blocking::Threads);
    let reads = || {
        let is_read = |request: &&String| request.starts_with("GET");
        let count = |requests: &[String]| requests.iter().filter(is_read).count();
        world.server.state(|state| count(&state.requests))
    };
    let mut content = bytes(1, 3 * MIB);
    let (first, _) = unwrap_committed(world.put(upload(new_file(1), revision(1), &content)).await);
    content[MIB] ^= 1;
    let next = upload(next_of(&world, &first, 2), revision(2), &content);
    let puts = world.server.puts();
    let (second, _) = unwrap_committed(world.put(next).await);
    assert_eq!(reads(), 0, "it has sent the revision before");
    assert!(world.server.puts() - puts <= 3);

    let other = World::with(world.server.clone(), world.keys.clone(), Blocking::Threads);
    let next = next_of(&other, &second, 3);
    let UploadTarget::Revision { replaced, .. } = &next else {
        panic!("it is a revision");
    };
    assert_eq!(other.get(replaced.unwrap()).await.unwrap().1, content);
    let before = reads();
    content[2 * MIB] ^= 1;
    let (third, _) = unwrap_committed(other.put(upload(next, revision(3), &content)).await);
    assert_eq!(reads(), before, "it has fetched the revision before");

    // The first one has not seen the third revision.
    content[2 * MIB] ^= 1;
    let next = upload(next_of(&world, &third, 4), revision(4), &content);
    let puts = world.server.puts();
    unwrap_committed(world.put(next).await);
    assert_eq!(reads(), before + 2);
    assert!(world.server.puts() - puts <= 3);
}

#[tokio::test]
async fn content_that_is_there_already_is_not_sent() {
    let world = World::new(Blocking::Inline);
    let content = bytes(1, 5000);
    let unchanged = Upload {
        skip_if: Some(content_hash(&content)),
        ..upload(new_file(1), revision(1), &content)
    };
    assert_eq!(
        world.put(unchanged.clone()).await.unwrap(),
        Uploaded::Unchanged
    );
    assert_eq!(world.server.state(|state| state.requests.len()), 0);
    let other = Upload {
        skip_if: Some(content_hash(b"other")),
        ..unchanged
    };
    unwrap_committed(world.put(other).await);
}

#[tokio::test]
async fn a_touched_file_asks_the_service_for_nothing() {
    let world = World::new(Blocking::Inline);
    let content = bytes(1, MIB);
    let (node, manifest) =
        unwrap_committed(world.put(upload(new_file(1), revision(1), &content)).await);
    let before = world.server.state(|state| state.requests.len());
    let touched = Upload {
        skip_if: Some(manifest.hash),
        ..upload(next_of(&world, &node, 2), revision(2), &content)
    };
    assert_eq!(
        world.put(touched.clone()).await.unwrap(),
        Uploaded::Unchanged
    );
    assert_eq!(world.server.state(|state| state.requests.len()), before);
    let grown = [&content[..], b"!"].concat();
    let grown = Upload {
        skip_if: touched.skip_if,
        ..upload(touched.target, revision(2), &grown)
    };
    unwrap_committed(world.put(grown).await);
}

#[tokio::test]
async fn a_repeated_chunk_travels_once() {
    let world = World::new(Blocking::Threads);
    let zeros = vec![0; 17 * MIB];
    let (_, manifest) = unwrap_committed(world.put(upload(new_file(1), revision(1), &zeros)).await);
    // Four of zeros, the rest, and the list of the five.
    assert!(manifest.content.is_list);
    assert_eq!(world.server.puts(), 3);
    assert_eq!(
        world
            .get(Download::new(node(1), revision(1)))
            .await
            .unwrap()
            .1,
        zeros
    );
    let fetched = world.server.state(|s| {
        s.requests
            .iter()
            .filter(|r| r.starts_with("GET /api/v1/chunks"))
            .count()
    });
    assert_eq!(fetched, 3);
}

/// Returns other bytes each time it is opened.
struct Changing(Vec<Vec<u8>>, AtomicUsize);

impl Source for Changing {
    fn open(&self) -> io::Result<Box<dyn SourceReader>> {
        let turn = self.1.fetch_add(1, Ordering::Relaxed).min(self.0.len() - 1);
        Ok(Box::new(Cursor::new(self.0[turn].clone())))
    }
}

#[tokio::test]
async fn a_file_that_changes_between_the_passes_is_never_sealed_under_the_old_ids() {
    for blocking in [Blocking::Threads, Blocking::Inline] {
        let world = World::new(blocking);
        // More than is kept from the first pass: the rest is read again.
        let content = bytes(1, 14 * MIB);
        let mut edited = content.clone();
        edited.iter_mut().step_by(1000).for_each(|byte| *byte ^= 1);
        let mut shorter = content.clone();
        shorter.truncate(10);
        for other in [edited, shorter] {
            let source = Arc::new(Changing(vec![content.clone(), other], AtomicUsize::new(0)));
            let changing = Upload {
                source,
                ..upload(new_file(1), revision(1), &content)
            };
            assert!(matches!(
                world.put(changing).await,
                Err(TransferError::SourceChanged)
            ));
        }
        assert!(world.server.state(|state| state.nodes.is_empty()));
        let sent = world.server.state(|state| state.put.clone());
        let whole = upload(new_file(1), revision(1), &content);
        let (_, manifest) = unwrap_committed(world.put(whole).await);
        assert_eq!(manifest.hash, content_hash(&content));
        let honest = world.objects((node(1), revision(1)));
        assert!(sent.iter().all(|(id, _)| honest.contains(id)));
        let read = world.get(Download::new(node(1), revision(1))).await;
        assert!(read.unwrap().1 == content);
        let grown = Upload {
            size: content.len() as u64 - 1,
            ..upload(new_file(1), revision(1), &content)
        };
        assert!(matches!(
            world.put(grown).await,
            Err(TransferError::SourceChanged)
        ));
    }
}

#[tokio::test]
async fn a_file_of_few_mebibytes_goes_up_as_it_was_read_at_once() {
    for blocking in [Blocking::Threads, Blocking::Inline] {
        let world = World::new(blocking);
        let content = bytes(1, 6 * MIB);
        let mut edited = content.clone();
        edited[5 * MIB] ^= 1;
        let turns = vec![content.clone(), edited];
        let changing = Upload {
            source: Arc::new(Changing(turns, AtomicUsize::new(0))),
            ..upload(new_file(1), revision(1), &content)
        };
        let (_, manifest) = unwrap_committed(world.put(changing).await);
        assert_eq!(manifest.hash, content_hash(&content));
        let read = world.get(Download::new(node(1), revision(1))).await;
        assert!(read.unwrap().1 == content);
    }
}

#[tokio::test]
async fn an_unreadable_source_is_reported_as_such() {
    let world = World::new(Blocking::Threads);
    let source = Arc::new(cairn_transfer::FileSource("/nowhere/at/all".into()));
    let missing = Upload {
        source,
        ..upload(new_file(1), revision(1), b"x")
    };
    assert!(matches!(
        world.put(missing).await,
        Err(TransferError::Source(_))
    ));
}

#[tokio::test]
async fn who_comes_second_gets_a_conflict_and_nothing_changes() {
    let world = World::new(Blocking::Inline);
    let (first, _) = unwrap_committed(world.put(upload(new_file(1), revision(1), b"first")).await);
    unwrap_committed(
        world
            .put(upload(next_revision(&first, 2), revision(2), b"second"))
            .await,
    );
    let late = world
        .put(upload(next_revision(&first, 2), revision(3), b"late"))
        .await;
    assert!(
        matches!(late, Err(TransferError::Api(ApiError::Conflict { .. }))),
        "{late:?}"
    );
    let same_name = UploadTarget::New {
        node: node(7),
        parent: None,
        name: "file 1".to_owned(),
    };
    let taken = world.put(upload(same_name, revision(4), b"taken")).await;
    assert!(
        matches!(taken, Err(TransferError::Api(ApiError::Conflict { .. }))),
        "{taken:?}"
    );
    assert_eq!(
        world
            .server
            .state(|state| state.nodes[&node(1)].revision_id),
        Some(revision(2))
    );
}

/// A copy of node 1 as node 2, made without keys.
fn copy_of_first(world: &World) -> Node {
    world.server.state(|state| {
        state.copy(node(1), node(2));
        state.nodes[&node(2)].clone()
    })
}

#[tokio::test]
async fn a_copy_that_nobody_vouches_for_is_sealed_anew_under_its_own_key() {
    let world = World::new(Blocking::Inline);
    let content = bytes(1, 5 * MIB);
    unwrap_committed(world.put(upload(new_file(1), revision(1), &content)).await);
    let copy = copy_of_first(&world);
    let again = upload(next_revision(&copy, 2), revision(3), &content);
    let (_, manifest) = unwrap_committed(world.put(again).await);
    assert_eq!(manifest.content.node, node(2));
    let before = world.objects((node(1), revision(1)));
    let after = world.objects((node(2), revision(3)));
    assert!(after.iter().all(|id| !before.contains(id)));
    let read = world.get(Download::new(node(2), revision(3))).await;
    assert!(read.unwrap().1 == content);
}

#[tokio::test]
async fn a_new_revision_of_a_copy_keeps_the_chunks_of_the_original() {
    for blocking in [Blocking::Threads, Blocking::Inline] {
        let world = World::new(blocking);
        let mut content = bytes(1, 9 * MIB);
        unwrap_committed(world.put(upload(new_file(1), revision(1), &content)).await);
        let copy = copy_of_first(&world);
        content[4 * MIB] ^= 1;
        let before = world.server.puts();
        let edited = upload(next_of(&world, &copy, 2), revision(3), &content);
        let (_, manifest) = unwrap_committed(world.put(edited).await);
        assert_eq!(manifest.content.node, node(2));
        // One or two chunks under its own key, and its own list.
        assert!((2..=3).contains(&(world.server.puts() - before)));
        let (original, own) = (
            world.objects((node(1), revision(1))),
            world.objects((node(2), revision(3))),
        );
        let kept = own.iter().filter(|id| original.contains(id)).count();
        assert!(
            kept >= 4 && kept + 3 >= own.len(),
            "{kept} of {}",
            own.len()
        );
        let read = world.get(Download::new(node(2), revision(3))).await;
        assert!(read.unwrap().1 == content);
    }
}

#[tokio::test]
async fn chunks_that_the_server_lost_are_sealed_again() {
    let world = World::new(Blocking::Inline);
    let mut content = bytes(1, 5 * MIB);
    unwrap_committed(world.put(upload(new_file(1), revision(1), &content)).await);
    let copy = copy_of_first(&world);
    for id in world.objects((node(1), revision(1))).iter().take(2) {
        world
            .server
            .state(|state| state.chunks.remove(&(node(2), *id)));
    }
    content.push(1);
    let edited = upload(next_of(&world, &copy, 2), revision(3), &content);
    unwrap_committed(world.put(edited).await);
    let read = world.get(Download::new(node(2), revision(3))).await;
    assert!(read.unwrap().1 == content);
}

#[tokio::test]
async fn a_revision_of_a_later_epoch_has_a_key_that_earlier_readers_never_had() {
    let space = SpaceId::from_random_bytes([1; 16]);
    let first = KeyRing::generate(space, 1, &mut Numbers(7));
    let second = first.renew(2, &mut Numbers(8)).unwrap();
    let before = World::with(Arc::default(), Arc::new(first.keys()), Blocking::Inline);
    let after = World::with(
        before.server.clone(),
        Arc::new(second.keys()),
        Blocking::Inline,
    );
    let (old, old_manifest) = unwrap_committed(
        before
            .put(upload(new_file(1), revision(1), b"the same"))
            .await,
    );
    let again = upload(next_revision(&old, 2), revision(2), b"the same");
    let (_, manifest) = unwrap_committed(after.put(again).await);
    assert_ne!(old_manifest.content.id, manifest.content.id);
    assert_eq!((old_manifest.content.epoch, manifest.content.epoch), (1, 2));
    for (number, reads) in [(1, true), (2, false)] {
        let download = Download::new(node(1), revision(number));
        assert_eq!(after.get(download).await.unwrap().1, b"the same");
        assert_eq!(before.get(download).await.is_ok(), reads, "{number}");
    }
}

#[tokio::test]
async fn unchanged_chunks_stay_under_the_key_of_their_epoch() {
    let space = SpaceId::from_random_bytes([1; 16]);
    let first = KeyRing::generate(space, 1, &mut Numbers(7));
    let second = first.renew(2, &mut Numbers(8)).unwrap();
    let before = World::with(Arc::default(), Arc::new(first.keys()), Blocking::Inline);
    let keys = Arc::new(second.keys());
    let after = World::with(before.server.clone(), keys, Blocking::Inline);
    let mut content = bytes(1, 9 * MIB);
    let (old, _) = unwrap_committed(before.put(upload(new_file(1), revision(1), &content)).await);
    let sent = before.server.puts();
    content[4 * MIB] ^= 1;
    let edited = upload(next_of(&after, &old, 2), revision(2), &content);
    let (_, manifest) = unwrap_committed(after.put(edited).await);
    assert_eq!(manifest.content.epoch, 2);
    assert!((2..=3).contains(&(before.server.puts() - sent)));
    let download = Download::new(node(1), revision(2));
    assert!(after.get(download).await.unwrap().1 == content);
    assert!(before.get(download).await.is_err());
}

#[tokio::test]
async fn text_is_sent_compressed_and_a_mailbox_is_not() {
    let world = World::new(Blocking::Inline);
    let text = b"the same words again and again; ".repeat(8000);
    let mailbox = UploadTarget::New {
        node: node(2),
        parent: None,
        name: "inbox.mbox".to_owned(),
    };
    unwrap_committed(world.put(upload(new_file(1), revision(1), &text)).await);
    unwrap_committed(world.put(upload(mailbox, revision(2), &text)).await);
    let sent: Vec<usize> = world
        .server
        .state(|state| state.put.iter().map(|(_, bytes)| bytes.len()).collect());
    assert!(
        sent[0] * 20 < text.len() && sent[1] >= text.len(),
        "{sent:?}"
    );
    for n in [1, 2] {
        let read = world.get(Download::new(node(n), revision(n))).await;
        assert!(read.unwrap().1 == text);
    }
}

#[tokio::test]
async fn statuses_become_what_the_caller_can_do() {
    let world = World::new(Blocking::Inline);
    type Fits = fn(&TransferError) -> bool;
    let cases: [(u16, Fits); 6] = [
        (401, |e| {
            matches!(e, TransferError::Api(ApiError::Unauthorized))
        }),
        (403, |e| {
            matches!(e, TransferError::Api(ApiError::Forbidden { .. }))
        }),
        (413, |e| {
            matches!(e, TransferError::Api(ApiError::TooLarge { .. }))
        }),
        (507, |e| {
            matches!(e, TransferError::Api(ApiError::QuotaFull { .. }))
        }),
        (429, |e| {
            matches!(e, TransferError::Api(ApiError::RateLimited { .. }))
        }),
        (503, |e| {
            matches!(e, TransferError::Api(ApiError::Server { status: 503, .. }))
        }),
    ];
    for (status, fits) in cases {
        world
            .server
            .intercept(move |_| Some((status, br#"{"code":1,"message":"m"}"#.to_vec())));
        let error = world
            .put(upload(new_file(1), revision(1), b"x"))
            .await
            .unwrap_err();
        assert!(fits(&error), "{status}: {error:?}");
    }
}
