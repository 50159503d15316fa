//! Manifests (the list of a file's chunks, each with the key it is sealed under): round trips, limits, and
//! hostile bytes.

use super::*;
use crate::format2::SpaceSecret;
use cairn_model::SpaceId;
use proptest::prelude::*;

fn at(node: u8, epoch: u64) -> NodeKeyRef {
    let node = NodeId::from_random_bytes([node; 16]);
    NodeKeyRef { node, epoch }
}

fn row(key: u8, length: u64) -> ChunkRow {
    let (id, hash) = (ObjectId([length as u8; 32]), [3; 32]);
    ChunkRow {
        key,
        id,
        length,
        hash,
    }
}

fn manifest() -> Manifest {
    Manifest {
        keys: vec![at(1, 1), at(1, 2)],
        cut: 1,
        rows: vec![row(0, 300_000), row(1, 4 << 20)],
    }
}

fn top() -> TopManifest {
    let part = |key, length| PartRow {
        key,
        id: ObjectId([key; 32]),
        length,
    };
    TopManifest {
        keys: vec![at(1, 1), at(1, 2)],
        parts: vec![part(0, 1_100_000), part(1, 80)],
    }
}

fn node_key() -> NodeKey {
    let space = SpaceId::from_random_bytes([1; 16]);
    let secret = SpaceSecret::from_bytes(space, 2, &[7; 32]).unwrap();
    secret.keys().node(at(1, 2).node)
}

#[test]
fn sealed_manifests_come_back_as_what_they_are() {
    let key = node_key();
    let short = manifest().seal(&key, false).unwrap();
    assert_eq!(
        Manifest::open(&key, &short.id, &short.bytes, false).unwrap(),
        manifest()
    );
    let part = manifest().seal(&key, true).unwrap();
    assert_eq!(
        Manifest::open(&key, &part.id, &part.bytes, true).unwrap(),
        manifest()
    );
    let long = top().seal(&key).unwrap();
    assert_eq!(
        TopManifest::open(&key, &long.id, &long.bytes).unwrap(),
        top()
    );
    assert!(Manifest::open(&key, &part.id, &part.bytes, false).is_err());
    assert!(Manifest::open(&key, &long.id, &long.bytes, false).is_err());
    assert!(TopManifest::open(&key, &short.id, &short.bytes).is_err());
}

#[test]
fn bytes_behind_a_record_are_refused() {
    let key = node_key();
    let mut record = manifest().encode().unwrap();
    record.push(1);
    assert!(Manifest::decode(&record).is_err());
    let sealed = key.seal_record(ObjectKind::Manifest, &record);
    assert!(Manifest::open(&key, &sealed.id, &sealed.bytes, false).is_err());
    // More zeros than the padding needs.
    let mut record = manifest().encode().unwrap();
    record.resize(record.len() * 2, 0);
    let sealed = key.seal_record(ObjectKind::Manifest, &record);
    assert!(Manifest::open(&key, &sealed.id, &sealed.bytes, false).is_err());
}

type Change = fn(&mut Manifest);

#[test]
fn contradictions_are_neither_written_nor_read() {
    let changes: [(&str, Change); 8] = [
        ("no keys", |m| m.keys.clear()),
        ("a key twice", |m| m.keys[1] = m.keys[0]),
        ("a row's key that isn't there", |m| m.rows[0].key = 2),
        ("a cut key that isn't there", |m| m.cut = 2),
        ("no rows", |m| m.rows.clear()),
        ("an empty chunk", |m| m.rows[0].length = 0),
        ("a chunk that is too long", |m| {
            m.rows[0].length = (4 << 20) + 1
        }),
        ("too many rows", |m| {
            m.rows = vec![row(0, 1); ROWS_PER_PART + 1]
        }),
    ];
    for (name, change) in changes {
        let mut bad = manifest();
        change(&mut bad);
        assert!(bad.encode().is_err(), "{name}");
        let mut out = Writer::new();
        out.u8(SHORT);
        write_keys(&mut out, &bad.keys);
        out.u8(bad.cut).v(bad.rows.len() as u64);
        for row in &bad.rows {
            out.u8(row.key).raw(&row.id.0).v(row.length).raw(&row.hash);
        }
        assert_eq!(
            Manifest::decode(&out.finish()),
            Err(CryptoError::NotAuthentic),
            "{name}"
        );
    }
}

#[test]
fn a_newer_format_is_an_error_of_its_own() {
    let mut bytes = manifest().encode().unwrap();
    bytes[0] = 4;
    assert_eq!(
        Manifest::decode(&bytes),
        Err(CryptoError::UnsupportedFormat(4))
    );
    bytes[0] = LONG;
    assert_eq!(Manifest::decode(&bytes), Err(CryptoError::NotAuthentic));
}

#[test]
fn a_count_alone_allocates_nothing() {
    let mut out = Writer::new();
    out.u8(SHORT);
    write_keys(&mut out, &[at(1, 1)]);
    out.u8(0).v(1 << 40);
    assert!(Manifest::decode(&out.finish()).is_err());
}

/// Every cut and every change of one byte, since a random one may meet the rare case that is right: a count
/// that is lower by one, and nothing behind the rows that are left.
#[test]
fn what_is_read_is_written_the_same() {
    fn check<T>(
        record: &[u8],
        decode: impl Fn(&[u8]) -> Result<T>,
        encode: impl Fn(&T) -> Result<Vec<u8>>,
    ) {
        for cut in 0..record.len() {
            assert!(decode(&record[..cut]).is_err(), "cut at {cut}");
        }
        for at in 0..record.len() {
            for value in 0..=u8::MAX {
                let mut changed = record.to_vec();
                changed[at] = value;
                if let Ok(read) = decode(&changed) {
                    assert_eq!(encode(&read).unwrap(), changed, "{value} at {at}");
                }
            }
        }
    }
    check(
        &manifest().encode().unwrap(),
        Manifest::decode,
        Manifest::encode,
    );
    check(
        &top().encode().unwrap(),
        TopManifest::decode,
        TopManifest::encode,
    );
}

proptest! {
    #[test]
    fn no_bytes_do_harm(bytes in prop::collection::vec(any::<u8>(), 0..300), format in 2..4_u8) {
        let mut bytes = bytes;
        if let Some(first) = bytes.first_mut() {
            *first = format;
        }
        let _ = Manifest::decode(&bytes);
        let _ = TopManifest::decode(&bytes);
    }
}
