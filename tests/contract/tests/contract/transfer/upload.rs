//! Files up: what is sent, what is not sent again, and what is never sealed.

use crate::transfer::world::{
    Numbers, World, bytes, committed, new_file, next_revision, node, revision, upload,
};
use cairn_api::ApiError;
use cairn_crypto::{ContentKey, KeyRing, NodeFacts, NodeSeal, content_hash, manifest_hash};
use cairn_model::{Kind, Manifest, SpaceId};
use cairn_transfer::{
    Blocking, Download, Source, SourceReader, TransferError, Upload, UploadTarget, Uploaded,
};
use cairn_wire::nodes::{ContentSource, Node};
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
                committed(world.put(upload(new_file(n), revision(n), &content)).await);
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
    let (sent, manifest) = committed(world.put(upload(new_file(1), revision(1), &content)).await);
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
    let (first, _) = committed(world.put(upload(new_file(1), revision(1), &content)).await);
    let before = world.server.puts();
    assert!(before >= 15, "{before} chunks");
    content[12 * MIB..12 * MIB + 16].copy_from_slice(b"sixteen new ones");
    let (second, manifest) = committed(
        world
            .put(upload(next_revision(&first, 2), revision(2), &content))
            .await,
    );
    assert!((1..=2).contains(&(world.server.puts() - before)));
    assert_eq!((manifest.number, manifest.base), (2, Some(revision(1))));
    assert_eq!(second.content_key, first.content_key);
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
async fn content_that_is_there_already_is_not_sent() {
    let world = World::new(Blocking::Inline);
    let content = bytes(1, 5000);
    let unchanged = Upload {
        unless: Some(content_hash(&content)),
        ..upload(new_file(1), revision(1), &content)
    };
    assert_eq!(
        world.put(unchanged.clone()).await.unwrap(),
        Uploaded::Unchanged
    );
    assert_eq!(world.server.state(|state| state.requests.len()), 0);
    let other = Upload {
        unless: Some(content_hash(b"other")),
        ..unchanged
    };
    committed(world.put(other).await);
}

#[tokio::test]
async fn a_repeated_chunk_travels_once() {
    let world = World::new(Blocking::Threads);
    let zeros = vec![0; 17 * MIB];
    let (_, manifest) = committed(world.put(upload(new_file(1), revision(1), &zeros)).await);
    assert_eq!((manifest.chunks.len(), world.server.puts()), (5, 2));
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
    assert_eq!(fetched, 2);
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
        let content = bytes(1, 6 * MIB);
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
        assert_eq!(world.server.puts(), 0);
        assert!(world.server.state(|state| state.nodes.is_empty()));
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
    let (first, _) = committed(world.put(upload(new_file(1), revision(1), b"first")).await);
    committed(
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

#[tokio::test]
async fn a_new_revision_of_a_copy_has_a_key_of_its_own() {
    let world = World::new(Blocking::Inline);
    let (original, _) = committed(
        world
            .put(upload(new_file(1), revision(1), b"original"))
            .await,
    );
    let copy = world.server.state(|state| {
        state.copy(node(1), node(2));
        state.nodes[&node(2)].clone()
    });
    let (sent, manifest) = committed(
        world
            .put(upload(next_revision(&copy, 2), revision(3), b"edited copy"))
            .await,
    );
    assert!(ContentKey::unwrap(&world.keys, node(2), &sent.content_key.unwrap().0).is_ok());
    assert_unreadable_with_key_of(&world, &original, &manifest);
    assert_eq!(
        world
            .get(Download::new(node(2), revision(3)))
            .await
            .unwrap()
            .1,
        b"edited copy"
    );
}

#[tokio::test]
async fn a_server_that_names_another_source_does_not_choose_the_key_of_the_next_revision() {
    let world = World::new(Blocking::Inline);
    let (public, _) = committed(
        world
            .put(upload(new_file(1), revision(1), b"in a link"))
            .await,
    );
    let (private, _) = committed(
        world
            .put(upload(new_file(2), revision(2), b"private"))
            .await,
    );
    let announced = Node {
        content_key: public.content_key.clone(),
        content_source: Some(ContentSource {
            node_id: public.id,
            revision_id: revision(1),
        }),
        ..private
    };
    let edited = upload(
        next_revision(&announced, 2),
        revision(3),
        b"private, edited",
    );
    let (_, manifest) = committed(world.put(edited).await);
    assert_unreadable_with_key_of(&world, &public, &manifest);
}

/// Asserts that the chunks of a file were not made with the content key of a node.
fn assert_unreadable_with_key_of(world: &World, other: &Node, manifest: &Manifest) {
    let wrapped = &other.content_key.as_ref().unwrap().0;
    let key = ContentKey::unwrap(&world.keys, other.id, wrapped).unwrap();
    for chunk in &manifest.chunks {
        let sealed = world
            .server
            .state(|state| state.chunks[&(manifest.node, chunk.id)].clone());
        assert!(key.open_chunk(&chunk.id, chunk.len, &sealed).is_err());
    }
}

#[tokio::test]
async fn a_revision_of_a_later_epoch_has_a_key_that_earlier_readers_never_had() {
    let space = SpaceId::from_random_bytes([1; 16]);
    let first = KeyRing::generate(space, 1, &mut Numbers(7));
    let second = first.renewed(2, &mut Numbers(8)).unwrap();
    let before = World::with(Arc::default(), Arc::new(first.keys()), Blocking::Inline);
    let after = World::with(
        before.server.clone(),
        Arc::new(second.keys()),
        Blocking::Inline,
    );
    let (old, old_manifest) = committed(
        before
            .put(upload(new_file(1), revision(1), b"the same"))
            .await,
    );
    // Both draw the same numbers: this one goes ahead.
    committed(after.put(upload(new_file(9), revision(9), b"")).await);
    let again = upload(next_revision(&old, 2), revision(2), b"the same");
    let (new, new_manifest) = committed(after.put(again).await);
    // Chunk ids come from the content key: another one was made for the same file.
    assert_ne!(old_manifest.chunks[0].id, new_manifest.chunks[0].id);
    let key = new.content_key.unwrap().0;
    assert!(ContentKey::unwrap(&before.keys, node(1), &key).is_err());
    for (number, reads) in [(1, true), (2, false)] {
        let download = Download::new(node(1), revision(number));
        assert_eq!(after.get(download).await.unwrap().1, b"the same");
        assert_eq!(before.get(download).await.is_ok(), reads, "{number}");
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
