//! Vectors of share links: listings (the chunk keys that a link opens) and their chunks, as a browser opens them,
//! too.

use super::{AUTH, case, damages, keys, node, with_ids};
use crate::File;
use crate::seeded::Seeded;
use cairn_crypto::format2::{Compression, Listing, ListingPlace};
use cairn_crypto::{KdfParams, LinkSecret, MIN_ITERATIONS, Random as _, content_hash};
use cairn_model::SpaceId;
use serde_json::json;

const OPERATION: &str = "open_listing";

fn listing(plain: &[u8]) -> (Listing, Vec<u8>) {
    let key = keys().node_key(node());
    let sealed = key.seal_chunk(plain, Compression::On).unwrap();
    let hash = content_hash(plain).0;
    let listing = Listing {
        space: SpaceId::from_random_bytes([1; 16]),
        path: "caf\u{e9}/notes.txt".to_owned(),
        size: plain.len() as u64,
        hash,
        chunks: vec![key.list_chunk(sealed.id, plain.len() as u64, hash)],
    };
    (listing, sealed.bytes)
}

pub(super) fn listings() -> File {
    let rng = &mut Seeded::new("vectors/listing");
    let place = ListingPlace {
        share: uuid::Uuid::from_bytes([0x0c; 16]),
        node: node(),
        number: 1,
    };
    // Longer than two BLAKE3 chunks, and padded.
    let mut noise = vec![0; 2500];
    rng.fill(&mut noise);
    let words = b"keep both and tell them; ".repeat(200);
    let ((raw, raw_chunk), (text, text_chunk)) = (listing(&noise), listing(&words));
    let (empty, empty_chunk) = listing(b"");
    let secret = LinkSecret::generate(rng);
    let kdf = KdfParams {
        iterations: MIN_ITERATIONS,
        salt: [0x0b; 32],
    };
    let open = raw.seal(&secret.key(), place, rng).unwrap();
    let text = hex::encode(text.seal(&secret.key(), place, rng).unwrap());
    let empty = hex::encode(empty.seal(&secret.key(), place, rng).unwrap());
    let locked = secret.key_with_password("letmein", &kdf).unwrap().0;
    let locked = hex::encode(raw.seal(&locked, place, rng).unwrap());
    let odd_path = Listing {
        path: "one\\file/notes.txt".to_owned(),
        ..raw
    };
    let odd_path = hex::encode(odd_path.seal(&secret.key(), place, rng).unwrap());
    let mut altered = raw_chunk.clone();
    altered[40] ^= 1;
    let base = with_ids(json!({
        "fragment": secret.reveal().as_str(),
        "share": place.share,
        "number": place.number,
        "listing": hex::encode(&open),
        "sealed_chunk": hex::encode(&raw_chunk),
        "kdf_iterations": MIN_ITERATIONS,
        "kdf_salt": "0b".repeat(32),
    }));
    let chunk = |bytes: &[u8]| hex::encode(bytes);
    let elsewhere = "0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a";
    let with_text = json!({"listing": text, "sealed_chunk": chunk(&text_chunk)});
    let with_nothing = json!({"listing": empty, "sealed_chunk": chunk(&empty_chunk)});
    let with_password = json!({"password": "letmein", "listing": locked});
    let wrong_password = json!({"password": "letmeout", "listing": locked});
    let other_chunk = json!({"sealed_chunk": chunk(&text_chunk)});
    let no_chunk = json!({"sealed_chunk": chunk(&empty_chunk)});
    let mut cases = Vec::new();
    for (name, set, expect) in [
        ("with its secret", json!({}), "ok"),
        ("compressed", with_text, "ok"),
        ("an empty file", with_nothing, "ok"),
        ("with its password", with_password, "ok"),
        (
            "with a backslash in a name",
            json!({ "listing": odd_path }),
            "ok",
        ),
        ("with a wrong password", wrong_password, AUTH),
        ("without the password", json!({ "listing": locked }), AUTH),
        (
            "with another secret",
            json!({"fragment": "0b".repeat(32)}),
            AUTH,
        ),
        ("of another link", json!({ "share": elsewhere }), AUTH),
        ("of another node", json!({ "node": elsewhere }), AUTH),
        (
            "with an altered chunk",
            json!({"sealed_chunk": chunk(&altered)}),
            AUTH,
        ),
        ("with another chunk", other_chunk, AUTH),
        ("with the chunk of nothing", no_chunk, AUTH),
    ] {
        cases.push(case(OPERATION, name, set, expect));
    }
    let mut damaged = damages(OPERATION, "listing", &open, 0);
    // What stands in front is no format, but a value that commits to the key.
    for case in &mut damaged {
        AUTH.clone_into(&mut case.expect);
    }
    cases.extend(damaged);
    super::file("Listings behind a share link.", base, cases)
}
