//! A server that falsifies responses: each response is refused and reported with the check that failed,
//! and nothing unverified is written.

use crate::transfer::world::{
    World, bytes, new_file, next_of, next_revision, node, revision, unwrap_committed, upload,
    with_file,
};
use cairn_api::ApiError;
use cairn_crypto::{SpaceKeys, manifest_hash};
use cairn_model::SpaceId;
use cairn_transfer::{Blocking, Check, Download, MemoryTarget, TransferError};
use cairn_wire::nodes::{ContentSource, Node};
use std::sync::Arc;

const MIB: usize = 1024 * 1024;

#[tokio::test]
async fn a_corrupted_chunk_is_refused_and_nothing_of_it_is_written() {
    for blocking in [Blocking::Threads, Blocking::Inline] {
        let content = bytes(1, 6 * MIB);
        let (world, _) = with_file(blocking, &content).await;
        let victim = world.objects((node(1), revision(1)))[2];
        let good: usize = world.lengths(node(1), &content)[..2].iter().sum();
        let damages: [fn(&mut Vec<u8>); 5] = [
            |body| body[1000] ^= 1,
            |body| body.truncate(body.len() - 1),
            |body| body.push(0),
            |body| body.clear(),
            |body| body[0] = 9,
        ];
        for damage in damages {
            world.server.tamper(move |request, body| {
                if request.path.contains(&victim.to_string()) {
                    damage(body);
                }
            });
            let target = Arc::new(MemoryTarget::default());
            let refused = world
                .transfer
                .download(Download::new(node(1), revision(1)), target.clone(), &())
                .await;
            let refused = refused.unwrap_err();
            assert!(
                matches!(
                    refused,
                    TransferError::Refused {
                        check: Check::Chunk,
                        ..
                    }
                ),
                "{refused:?}"
            );
            assert!(content[..good].starts_with(&target.take()));
        }
    }
}

#[tokio::test]
async fn chunks_swapped_or_repeated_by_the_server_are_refused() {
    let content = bytes(1, 6 * MIB);
    let (world, _) = with_file(Blocking::Inline, &content).await;
    let objects = world.objects((node(1), revision(1)));
    let (a, b) = (objects[0], objects[1]);
    world.server.state(|state| {
        let other = state.chunks[&(node(1), b)].clone();
        state.chunks.insert((node(1), a), other);
    });
    let refused = world
        .get(Download::new(node(1), revision(1)))
        .await
        .unwrap_err();
    assert_eq!(refused.class().unwrap().as_str(), "auth_failed");
}

#[tokio::test]
async fn content_of_another_file_or_revision_or_space_is_refused() {
    let world = World::new(Blocking::Inline);
    let (one, _) = unwrap_committed(world.put(upload(new_file(1), revision(1), b"one")).await);
    unwrap_committed(
        world
            .put(upload(next_revision(&one, 2), revision(2), b"one, later"))
            .await,
    );
    unwrap_committed(world.put(upload(new_file(3), revision(3), b"three")).await);
    let asked = Download::new(node(1), revision(2));
    let swap = |from| {
        world.server.state(|state| {
            let honest = state.revisions[&(node(1), revision(2))].clone();
            let other = state.revisions[&from].clone();
            state.revisions.insert((node(1), revision(2)), other);
            honest
        })
    };
    for from in [(node(1), revision(1)), (node(3), revision(3))] {
        let honest = swap(from);
        let refused = world.get(asked).await.unwrap_err();
        assert!(
            matches!(
                refused,
                TransferError::Refused {
                    check: Check::Manifest,
                    ..
                }
            ),
            "{refused:?}"
        );
        let one = vec![((), asked)];
        let batch = world.transfer.download_batch(one.clone(), 0, &()).await;
        assert!(matches!(
            batch[..],
            [((), Err(TransferError::Refused { .. }))]
        ));
        let manifests = world.transfer.manifests(one).await;
        assert!(matches!(
            manifests[..],
            [((), Err(TransferError::Refused { .. }))]
        ));
        world
            .server
            .state(|state| state.revisions.insert((node(1), revision(2)), honest));
    }
    let keys = SpaceKeys::from_raw(SpaceId::from_random_bytes([2; 16]), 1, &[7; 32]).unwrap();
    let elsewhere = World::with(world.server.clone(), Arc::new(keys), Blocking::Inline);
    assert!(
        elsewhere
            .get(Download::new(node(3), revision(3)))
            .await
            .unwrap_err()
            .class()
            .is_some()
    );
}

#[tokio::test]
async fn an_older_manifest_than_the_node_seal_names_is_refused() {
    let (world, _) = with_file(Blocking::Inline, b"content").await;
    let sealed = world
        .server
        .state(|state| state.revisions[&(node(1), revision(1))].manifest.0.clone());
    let right = Download {
        manifest_hash: Some(manifest_hash(&sealed)),
        ..Download::new(node(1), revision(1))
    };
    assert_eq!(world.get(right).await.unwrap().1, b"content");
    let wrong = Download {
        manifest_hash: Some([0; 32]),
        ..right
    };
    let refused = world.get(wrong).await.unwrap_err();
    assert!(matches!(
        refused,
        TransferError::Refused {
            check: Check::Manifest,
            ..
        }
    ));
}

#[tokio::test]
async fn a_damaged_or_foreign_list_of_chunks_is_refused() {
    let content = bytes(1, 6 * MIB);
    let (world, _) = with_file(Blocking::Inline, &content).await;
    let other = bytes(2, 6 * MIB);
    unwrap_committed(world.put(upload(new_file(2), revision(2), &other)).await);
    let list = *world.objects((node(1), revision(1))).last().unwrap();
    let foreign = *world.objects((node(2), revision(2))).last().unwrap();
    let honest = world
        .server
        .state(|state| state.chunks[&(node(1), list)].clone());
    let foreign = world
        .server
        .state(|state| state.chunks[&(node(2), foreign)].clone());
    let mut flipped = honest.to_vec();
    flipped[40] ^= 1;
    for lie in [flipped.into(), honest.slice(..honest.len() - 1), foreign] {
        world
            .server
            .state(|state| state.chunks.insert((node(1), list), lie));
        let refused = world.get(Download::new(node(1), revision(1))).await;
        let refused = refused.unwrap_err();
        assert!(
            matches!(
                refused,
                TransferError::Refused {
                    check: Check::Manifest,
                    ..
                }
            ),
            "{refused:?}"
        );
    }
}

#[tokio::test]
async fn a_request_for_what_was_never_announced_is_refused() {
    let world = World::new(Blocking::Inline);
    let (first, _) = unwrap_committed(world.put(upload(new_file(1), revision(1), b"mine")).await);
    // Asking for a chunk that the file has not, or twice for one.
    for extra in ["f".repeat(64), String::new()] {
        world.server.tamper(move |request, body| {
            if request.path == "/api/v1/uploads" {
                let mut response: serde_json::Value = serde_json::from_slice(body).unwrap();
                let missing = response["missing"].as_array_mut().unwrap();
                missing.push(if extra.is_empty() {
                    missing[0].clone()
                } else {
                    extra.clone().into()
                });
                *body = serde_json::to_vec(&response).unwrap();
            }
        });
        let refused = world
            .put(upload(next_revision(&first, 2), revision(3), b"new"))
            .await;
        assert!(
            matches!(refused, Err(TransferError::Api(ApiError::Protocol(_)))),
            "{refused:?}"
        );
    }
}

#[tokio::test]
async fn a_server_that_names_another_source_does_not_choose_the_key_of_the_next_revision() {
    let world = World::new(Blocking::Inline);
    let content = bytes(1, 3 * MIB);
    let public = upload(new_file(1), revision(1), &content);
    let (public, _) = unwrap_committed(world.put(public).await);
    let private = upload(new_file(2), revision(2), b"private");
    let (private, _) = unwrap_committed(world.put(private).await);
    // With all objects of the file in the link at hand, and its record in place of that of the private one.
    world.server.state(|state| {
        let foreign = state.chunks.clone().into_iter();
        let foreign = foreign.filter(|((of, _), _)| *of == node(1));
        let foreign: Vec<_> = foreign
            .map(|((_, id), chunk)| ((node(2), id), chunk))
            .collect();
        state.chunks.extend(foreign);
    });
    let announced = Node {
        content_source: Some(ContentSource {
            node_id: public.id,
            revision_id: revision(1),
        }),
        ..private
    };
    // Either the private file's seal authenticates its own record, or nothing does.
    let targets = [next_of(&world, &announced, 2), next_revision(&announced, 2)];
    let linked = world.objects((node(1), revision(1)));
    for (n, target) in (3..).zip(targets) {
        world.server.state(|state| {
            let record = state.revisions[&(node(1), revision(1))].clone();
            state.revisions.insert((node(2), revision(2)), record);
            state.nodes.get_mut(&node(2)).unwrap().revision_id = Some(revision(2));
        });
        let edited = upload(target, revision(n), &content);
        let (_, manifest) = unwrap_committed(world.put(edited).await);
        assert_eq!(manifest.content.node, node(2));
        let own = world.objects((node(2), revision(n)));
        assert!(own.iter().all(|id| !linked.contains(id)), "{n}");
    }
}
