//! A file of more chunks (encrypted pieces) than one list of chunks holds.

use crate::transfer::world::{
    Numbers, World, bytes, new_file, next_of, node, revision, unwrap_committed, upload,
};
use cairn_crypto::format2::{
    ChunkRow, Compression, Manifest as List, ObjectId, ROWS_PER_PART, plan_manifest,
};
use cairn_crypto::{content_hash, seal_manifest};
use cairn_model::{ChunkId, ContentObject};
use cairn_transfer::{Blocking, Check, Download, TransferError};
use cairn_wire::Sealed;
use cairn_wire::nodes::Node;
use cairn_wire::transfer::SealedChunk;

/// More than two parts.
const CHUNKS: usize = 2 * ROWS_PER_PART + 5;

/// A file of many short chunks, which no chunker would cut.
struct Long {
    world: World,
    node: Node,
    content: Vec<u8>,
    parts: Vec<ChunkId>,
}

impl Long {
    async fn new() -> Self {
        let world = World::new(Blocking::Inline);
        let (node, manifest) =
            unwrap_committed(world.put(upload(new_file(1), revision(1), b"x")).await);
        let key = world.keys.node_key(node.id);
        let mut content = Vec::new();
        let mut objects = Vec::new();
        let mut rows = Vec::new();
        for n in 0..CHUNKS as u32 {
            let plain = n.to_be_bytes();
            let sealed = key.seal_chunk(&plain, Compression::Off).unwrap();
            rows.push(ChunkRow {
                key: 0,
                id: sealed.id,
                length: 4,
                hash: content_hash(&plain).0,
            });
            content.extend(plain);
            objects.push(sealed);
        }
        let list = List {
            keys: vec![key.at()],
            cut: 0,
            rows,
        };
        let planned = plan_manifest(&key, &list).unwrap();
        let parts = planned.parts.iter().map(|part| id(&part.id)).collect();
        let mut record = manifest.clone();
        record.size = content.len() as u64;
        record.hash = content_hash(&content);
        record.content = ContentObject {
            id: id(&planned.named.id),
            is_list: true,
            ..manifest.content
        };
        objects.extend(planned.parts);
        objects.push(planned.named);
        let sealed = seal_manifest(&world.keys, &record, &mut Numbers(5)).unwrap();
        world.server.state(|state| {
            let stored = state.revisions.get_mut(&(node.id, revision(1))).unwrap();
            stored.manifest = Sealed(sealed);
            stored.chunks.clear();
            for object in objects {
                let (id, size) = (id(&object.id), object.bytes.len() as u64);
                stored.chunks.push(SealedChunk { id, size });
                state.chunks.insert((node.id, id), object.bytes.into());
            }
        });
        Self {
            world,
            node,
            content,
            parts,
        }
    }
}

fn id(id: &ObjectId) -> ChunkId {
    ChunkId(id.0)
}

#[tokio::test]
async fn a_file_whose_list_has_parts_comes_down_and_is_edited() {
    let long = Long::new().await;
    let world = &long.world;
    let (record, content) = world
        .get(Download::new(node(1), revision(1)))
        .await
        .unwrap();
    assert!(content == long.content);
    let shared = world
        .transfer
        .shared_revision(Download::new(node(1), revision(1)), record)
        .await
        .unwrap();
    let ids: Vec<ChunkId> = shared.chunks.iter().map(|chunk| id(&chunk.id)).collect();
    assert!(ids[..] == world.objects((node(1), revision(1)))[..CHUNKS]);
    // Its list is fetched for the chunks that could stay.
    let other = bytes(1, 300_000);
    let next = upload(next_of(world, &long.node, 2), revision(2), &other);
    unwrap_committed(world.put(next).await);
    let fetched = |id: &ChunkId| {
        let path = format!("GET /api/v1/chunks/{id}");
        let count = |requests: &[String]| requests.iter().filter(|r| r.starts_with(&path)).count();
        world.server.state(|state| count(&state.requests))
    };
    assert_eq!(
        long.parts.iter().map(fetched).collect::<Vec<_>>(),
        [3, 3, 3]
    );
}

#[tokio::test]
async fn parts_in_another_order_are_refused() {
    let long = Long::new().await;
    let (a, b) = (long.parts[0], long.parts[1]);
    long.world.server.state(|state| {
        let first = state.chunks[&(node(1), a)].clone();
        let second = state.chunks.insert((node(1), b), first).unwrap();
        state.chunks.insert((node(1), a), second);
    });
    let refused = long.world.get(Download::new(node(1), revision(1))).await;
    assert!(
        matches!(
            refused,
            Err(TransferError::Refused {
                check: Check::Manifest,
                ..
            })
        ),
        "{refused:?}"
    );
}
