//! Vectors of content: wrapped keys, chunks, manifests, node seals, cuts.

use super::{AUTH, case, damages, file, flip, keys, node, swaps, with_ids, wrapped};
use crate::File;
use crate::seeded::Seeded;
use cairn_crypto::{NodeFacts, NodeSeal, Random as _, SealInfo, seal_manifest};
use cairn_model::{ChunkRef, ContentHash, DeviceId, Kind, Manifest, NodeId, RevisionId, SpaceId};
use serde_json::json;

pub(super) fn content_key() -> File {
    let operation = "unwrap_content_key";
    let (_, wrapped) = wrapped("vectors/content-key");
    let mut cases = vec![
        case(operation, "of its node", json!({}), "ok"),
        case(
            operation,
            "another epoch in front",
            json!({"wrapped": flip(&wrapped, 3)}),
            "key_missing",
        ),
        case(
            operation,
            "opened in a later epoch",
            json!({"epoch": 2}),
            "key_missing",
        ),
        case(
            operation,
            "an epoch alone",
            json!({"wrapped": "00000001"}),
            AUTH,
        ),
    ];
    cases.extend(swaps(operation));
    let mut damaged = damages(operation, "wrapped", &wrapped, 4);
    damaged.retain(|case| case.name != "wrapped: nothing");
    cases.extend(damaged);
    cases.push(case(operation, "nothing", json!({"wrapped": ""}), AUTH));
    file(
        "A content key, wrapped for its node.",
        with_ids(json!({"wrapped": hex::encode(wrapped)})),
        cases,
    )
}

pub(super) fn chunk() -> File {
    let (key, wrapped) = wrapped("vectors/chunk");
    let mut plain = vec![0; 1000];
    Seeded::new("vectors/chunk/plain").fill(&mut plain);
    let id = key.chunk_id(&plain);
    let sealed = key.seal_chunk(&id, &plain);
    let base = with_ids(json!({
        "wrapped": hex::encode(&wrapped),
        "id": id.to_string(),
        "length": plain.len(),
        "sealed": hex::encode(&sealed),
    }));
    let other = key.chunk_id(b"other");
    let other_sealed = key.seal_chunk(&other, b"other");
    let elsewhere = super::wrapped("vectors/chunk/elsewhere").1;
    let mut cases = vec![
        case("open_chunk", "as it was sealed", json!({}), "ok"),
        case("seal_chunk", "one byte", json!({"plain": "61"}), "ok"),
        case(
            "seal_chunk",
            "without padding",
            json!({"plain": "00".repeat(64)}),
            "ok",
        ),
        case(
            "seal_chunk",
            "with padding",
            json!({"plain": "00".repeat(65)}),
            "ok",
        ),
        case(
            "open_chunk",
            "under the id of another chunk",
            json!({"id": other.to_string()}),
            AUTH,
        ),
        case(
            "open_chunk",
            "another chunk of the same node",
            json!({"sealed": hex::encode(other_sealed)}),
            AUTH,
        ),
        case(
            "open_chunk",
            "with the key of another node",
            json!({"wrapped": hex::encode(elsewhere)}),
            AUTH,
        ),
    ];
    for length in [0, 1, 992, 999, 1001, 1024, 4_194_305, u32::MAX] {
        cases.push(case(
            "open_chunk",
            &format!("as {length} bytes"),
            json!({ "length": length }),
            AUTH,
        ));
    }
    cases.extend(damages("open_chunk", "sealed", &sealed, 0));
    file(
        "Chunks: deterministic seals, ids that commit to the plaintext, padding.",
        base,
        cases,
    )
}

pub(super) fn manifest() -> File {
    let operation = "open_manifest";
    let rng = &mut Seeded::new("vectors/manifest");
    let (key, _) = wrapped("vectors/manifest/key");
    let chunks: Vec<ChunkRef> = [&b"first"[..], b"second", b"first"]
        .iter()
        .map(|plain| ChunkRef {
            id: key.chunk_id(plain),
            len: plain.len() as u32,
        })
        .collect();
    let manifest = Manifest {
        format: Manifest::FORMAT,
        space: SpaceId::from_random_bytes([1; 16]),
        node: node(),
        revision: RevisionId::from_random_bytes([3; 16]),
        base: Some(RevisionId::from_random_bytes([4; 16])),
        number: 2,
        size: chunks.iter().map(|chunk| u64::from(chunk.len)).sum(),
        modified_ms: 1_767_323_045_678,
        executable: true,
        chunks,
        hash: ContentHash([6; 32]),
        author: DeviceId::from_random_bytes([5; 16]),
    };
    let empty = Manifest {
        base: None,
        number: 1,
        size: 0,
        chunks: Vec::new(),
        modified_ms: -1,
        ..manifest.clone()
    };
    let sealed = seal_manifest(&keys(), &manifest, rng).unwrap();
    let sealed_empty = seal_manifest(&keys(), &empty, rng).unwrap();
    let mut cases = vec![
        case(operation, "of a second revision", json!({}), "ok"),
        case(
            operation,
            "of an empty file",
            json!({"sealed": hex::encode(sealed_empty)}),
            "ok",
        ),
        case(
            operation,
            "of another revision",
            json!({"revision": "0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a"}),
            AUTH,
        ),
        case(
            operation,
            "another epoch in front",
            json!({"sealed": flip(&sealed, 0)}),
            "key_missing",
        ),
        case(
            operation,
            "a wrapped content key instead",
            json!({"sealed": hex::encode(wrapped("x").1)}),
            AUTH,
        ),
    ];
    cases.extend(swaps(operation));
    cases.extend(damages(operation, "sealed", &sealed, 4));
    file(
        "Sealed manifests.",
        with_ids(json!({"sealed": hex::encode(sealed)})),
        cases,
    )
}

pub(super) fn node_seal() -> File {
    let operation = "check_node_seal";
    let facts = NodeFacts {
        node: node(),
        parent: Some(NodeId::from_random_bytes([8; 16])),
        name: "caf\u{e9}.txt",
        kind: Kind::File,
        executable: false,
        deleted: false,
    };
    let seal = NodeSeal::make(
        &keys(),
        &facts,
        SealInfo {
            seq: 3,
            manifest_hash: Some([6; 32]),
        },
    );
    let folder = NodeFacts {
        parent: None,
        kind: Kind::Folder,
        ..facts
    };
    let folder_seal = NodeSeal::make(
        &keys(),
        &folder,
        SealInfo {
            seq: 1,
            manifest_hash: None,
        },
    );
    let base = with_ids(json!({
        "parent": facts.parent,
        "name": facts.name,
        "kind": "file",
        "executable": false,
        "deleted": false,
        "seal": hex::encode(&seal),
    }));
    let top = json!({"parent": null, "kind": "folder", "seal": hex::encode(folder_seal)});
    let mut cases = vec![
        case(operation, "of a file", json!({}), "ok"),
        case(operation, "of a folder at the top", top, "ok"),
        case(operation, "renamed", json!({"name": "cafe.txt"}), AUTH),
        case(
            operation,
            "the name spelled otherwise",
            json!({"name": "cafe\u{301}.txt"}),
            AUTH,
        ),
        case(
            operation,
            "moved",
            json!({"parent": "0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a"}),
            AUTH,
        ),
        case(
            operation,
            "moved to the top",
            json!({ "parent": null }),
            AUTH,
        ),
        case(
            operation,
            "turned into a folder",
            json!({"kind": "folder"}),
            AUTH,
        ),
        case(
            operation,
            "made executable",
            json!({"executable": true}),
            AUTH,
        ),
        case(operation, "deleted", json!({"deleted": true}), AUTH),
        case(operation, "another epoch", json!({"epoch": 2}), AUTH),
        case(
            operation,
            "another sequence",
            json!({"seal": flip(&seal, 8)}),
            AUTH,
        ),
        case(
            operation,
            "another manifest",
            json!({"seal": flip(&seal, 9)}),
            AUTH,
        ),
    ];
    cases.extend(swaps(operation));
    cases.extend(damages(operation, "seal", &seal, 0));
    file("Node seals: every fact is held.", base, cases)
}

pub(super) fn chunker() -> File {
    let base = with_ids(json!({"seed": "vectors/chunker", "length": 12 * 1024 * 1024}));
    let cases = vec![
        case("cut", "twelve mebibytes", json!({}), "ok"),
        case(
            "cut",
            "of another space",
            json!({"space": "0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a"}),
            "ok",
        ),
        case("cut", "a small file", json!({"length": 262_144}), "ok"),
        case(
            "cut",
            "a byte more than a small file",
            json!({"length": 262_145}),
            "ok",
        ),
        case("cut", "an empty file", json!({"length": 0}), "ok"),
        case(
            "cut",
            "with a key of zeros",
            json!({"space_key": "00".repeat(32)}),
            AUTH,
        ),
    ];
    file(
        "Where files are cut. Changing it re-sends every big file that changes.",
        base,
        cases,
    )
}
