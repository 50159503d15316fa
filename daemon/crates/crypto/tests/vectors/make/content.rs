//! Vectors of content: manifests (records of revisions), node seals.

use super::{AUTH, case, damages, file, flip, keys, node, swaps, with_ids};
use crate::File;
use crate::seeded::Seeded;
use cairn_crypto::{NodeFacts, NodeSeal, SealInfo, seal_manifest};
use cairn_model::{
    ChunkId, ContentHash, ContentObject, DeviceId, Kind, Manifest, NodeId, RevisionId, SpaceId,
};
use serde_json::json;

pub(super) fn manifest() -> File {
    let operation = "open_manifest";
    let rng = &mut Seeded::new("vectors/manifest");
    let manifest = Manifest {
        format: Manifest::FORMAT,
        space: SpaceId::from_random_bytes([1; 16]),
        node: node(),
        revision: RevisionId::from_random_bytes([3; 16]),
        base: Some(RevisionId::from_random_bytes([4; 16])),
        number: 2,
        size: 5_000_000,
        modified_ms: 1_767_323_045_678,
        executable: true,
        content: ContentObject {
            id: ChunkId([9; 32]),
            node: NodeId::from_random_bytes([7; 16]),
            epoch: 1,
            is_list: true,
        },
        hash: ContentHash([6; 32]),
        author: DeviceId::from_random_bytes([5; 16]),
    };
    let empty = Manifest {
        base: None,
        number: 1,
        size: 0,
        content: ContentObject {
            is_list: false,
            ..manifest.content
        },
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
    ];
    cases.extend(swaps(operation));
    cases.extend(damages(operation, "sealed", &sealed, 4));
    file(
        "Sealed records of revisions.",
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
