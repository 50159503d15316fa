//! Vectors of what a link carries: files and their chunks, as a browser opens them, too.

use super::{AUTH, case, damages, node, with_ids, wrapped};
use crate::File;
use crate::seeded::Seeded;
use cairn_crypto::{
    KDF_ALGORITHM, KdfParams, LinkFile, LinkSecret, MIN_ITERATIONS, Random as _, content_hash,
};
use cairn_model::{ChunkRef, RevisionId};
use serde_json::json;

pub(super) fn file() -> File {
    let operation = "open_link_file";
    let rng = &mut Seeded::new("vectors/link_file");
    let (key, _) = wrapped("vectors/link_file/key");
    let share = uuid::Uuid::from_bytes([0x0c; 16]);
    // Longer than two BLAKE3 chunks, and padded.
    let mut plain = vec![0; 2500];
    rng.fill(&mut plain);
    let id = key.chunk_id(&plain);
    let sealed_chunk = key.seal_chunk(&id, &plain);
    let len = plain.len() as u32;
    let file = LinkFile {
        revision: RevisionId::from_random_bytes([3; 16]),
        path: "caf\u{e9}/notes.txt".to_owned(),
        size: u64::from(len),
        modified_ms: 1_767_323_045_678,
        hash: content_hash(&plain),
        key: key.clone(),
        chunks: vec![ChunkRef { id, len }],
    };
    let secret = LinkSecret::generate(rng);
    let kdf = KdfParams {
        iterations: MIN_ITERATIONS,
        salt: [0x0b; 32],
    };
    let open = secret.key().seal_file(share, node(), &file, rng).unwrap();
    let locked = secret
        .key_with_password("letmein", &kdf)
        .unwrap()
        .0
        .seal_file(share, node(), &file, rng)
        .unwrap();
    let locked = hex::encode(locked);
    let mut other_chunk = sealed_chunk.clone();
    other_chunk[40] ^= 1;
    let base = with_ids(json!({
        "fragment": secret.reveal().as_str(),
        "share": share,
        "link_file": hex::encode(&open),
        "sealed_chunk": hex::encode(&sealed_chunk),
        "kdf_algorithm": KDF_ALGORITHM,
        "kdf_iterations": MIN_ITERATIONS,
        "kdf_salt": "0b".repeat(32),
    }));
    let mut cases = vec![
        case(operation, "with its secret", json!({}), "ok"),
        case(
            operation,
            "with its password",
            json!({"password": "letmein", "link_file": locked}),
            "ok",
        ),
        case(
            operation,
            "with a wrong password",
            json!({"password": "letmeout", "link_file": locked}),
            AUTH,
        ),
        case(
            operation,
            "without the password",
            json!({ "link_file": locked }),
            AUTH,
        ),
        case(
            operation,
            "with another secret",
            json!({"fragment": "0b".repeat(32)}),
            AUTH,
        ),
        case(
            operation,
            "of another link",
            json!({"share": "0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a"}),
            AUTH,
        ),
        case(
            operation,
            "of another node",
            json!({"node": "0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a"}),
            AUTH,
        ),
        case(
            operation,
            "with an altered chunk",
            json!({"sealed_chunk": hex::encode(other_chunk)}),
            AUTH,
        ),
    ];
    cases.extend(damages(operation, "link_file", &open, 0));
    super::file("Files behind a share link.", base, cases)
}
