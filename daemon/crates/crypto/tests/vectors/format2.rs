//! The operations of format 2's vectors. Bytes are hexadecimal.

mod account;
mod log;
pub(crate) mod make;
pub(crate) mod mutations;

use crate::operation::{bytes, id, number, text};
use aes::cipher::{KeyIvInit as _, StreamCipher as _};
use cairn_crypto::CryptoError;
use cairn_crypto::format2::{
    Attributes, BoxShape, ChunkRow, Chunker, Compression, Manifest, NodeBox, NodeKey, NodeKeyRef,
    ObjectId, PartRow, PrivateFacts, Purpose, SealedObject, SpaceSecret, TopManifest, open_secret,
};
use serde_json::{Value, json};
use uuid::Uuid;

pub(crate) type VectorResult = Result<Value, CryptoError>;

pub(crate) fn run(operation: &str, input: &Value) -> VectorResult {
    match operation {
        "check_value" => Ok(json!({"check": hex::encode(secret(input)?.check_value())})),
        "seal_chunk" => {
            let plain = bytes(input, "plain");
            node_key(input)?
                .seal_chunk(&plain, Compression::Off)
                .map(|object| object_json(&object))
        }
        "sealed_length" => {
            let plain = vec![0; usize::try_from(number(input, "length")).unwrap()];
            let object = node_key(input)?.seal_chunk(&plain, Compression::Off)?;
            Ok(json!({"sealed": object.bytes.len()}))
        }
        "open_chunk" => {
            let (id, sealed) = (ObjectId(array(input, "id")), bytes(input, "sealed"));
            let (length, hash) = (number(input, "length"), array(input, "hash"));
            let plain = node_key(input)?.open_chunk(&id, &sealed, length, &hash)?;
            Ok(json!({"plain": hex::encode(plain)}))
        }
        "cut" => {
            let data = keystream(&array(input, "data_key"), number(input, "length"));
            let chunker = Chunker::new(&node_key(input)?);
            let (mut rest, mut lengths) = (&data[..], Vec::new());
            while let Some(length) = chunker.cut(rest, true) {
                rest = &rest[length..];
                lengths.push(length);
            }
            Ok(json!({"lengths": lengths}))
        }
        "manifest" => {
            let manifest = Manifest::decode(&bytes(input, "record"))?;
            let object = manifest.seal(&node_key(input)?, false)?;
            Ok(json!({"manifest": manifest_json(&manifest), "object": object_json(&object)}))
        }
        "top" => {
            let top = TopManifest::decode(&bytes(input, "record"))?;
            let object = top.seal(&node_key(input)?)?;
            Ok(json!({"manifest": top_json(&top), "object": object_json(&object)}))
        }
        "open_manifest" => {
            let (id, sealed) = (ObjectId(array(input, "id")), bytes(input, "sealed"));
            let manifest = Manifest::open(&node_key(input)?, &id, &sealed, false)?;
            Ok(manifest_json(&manifest))
        }
        "attributes" => {
            let attributes = Attributes::decode(&bytes(input, "record"))?;
            let object = attributes.seal(&node_key(input)?)?;
            let all = attributes
                .0
                .iter()
                .map(|(k, v)| [hex::encode(k), hex::encode(v)]);
            let all: Vec<_> = all.collect();
            Ok(json!({"attributes": all, "object": object_json(&object)}))
        }
        "open_box" => open_box(input),
        "open_secret" => {
            let key = array(input, "key");
            let plain = open_secret(&key, purpose(input), &bytes(input, "sealed"))?;
            Ok(json!({"plain": hex::encode(plain)}))
        }
        other => log::run(other, input)
            .or_else(|| account::run(other, input))
            .unwrap_or_else(|| panic!("there is no operation {other}")),
    }
}

fn open_box(input: &Value) -> VectorResult {
    let shape = BoxShape {
        is_folder: input["folder"].as_bool().unwrap(),
        is_private: input["private"].as_bool().unwrap(),
    };
    let (node, seq) = (id(input, "node"), number(input, "seq"));
    let keys = secret(input)?.keys();
    let opened = NodeBox::open(&keys, node, seq, shape, &bytes(input, "box"))?;
    assert_eq!(
        opened.seal(&keys, node, seq).unwrap(),
        bytes(input, "box"),
        "a box has one form"
    );
    Ok(match opened {
        NodeBox::OpenFolder => json!({}),
        NodeBox::OpenFile { hash } => json!({"hash": hex::encode(hash)}),
        NodeBox::PrivateFolder { name } => json!({"name": name}),
        NodeBox::PrivateFile(PrivateFacts {
            name,
            size,
            mtime_ms,
            mime,
            hash,
        }) => json!({
            "name": name, "size": size, "mtime_ms": mtime_ms, "mime": mime,
            "hash": hex::encode(hash),
        }),
    })
}

fn purpose(input: &Value) -> Purpose {
    let account = || id(input, "account");
    let (space, epoch) = (id(input, "space"), number(input, "epoch"));
    match text(input, "purpose") {
        "account" => Purpose::Account(account()),
        "recovery" => Purpose::Recovery(account()),
        "identity" => Purpose::Identity(account()),
        "sharing" => Purpose::Sharing(account()),
        "personal-ring" => Purpose::PersonalRing(account()),
        "ring" => Purpose::Ring { space, epoch },
        "device-box" => Purpose::DeviceBox {
            space,
            epoch,
            number: u32::try_from(number(input, "number")).unwrap(),
        },
        "grant" => Purpose::Grant {
            space,
            epoch,
            account: account(),
        },
        "listing" => Purpose::Listing {
            share: Uuid::parse_str(text(input, "share")).unwrap(),
            node: id(input, "node"),
            number: number(input, "number"),
        },
        other => panic!("there is no purpose {other}"),
    }
}

pub(crate) fn secret(input: &Value) -> Result<SpaceSecret, CryptoError> {
    let (space, epoch) = (id(input, "space"), number(input, "epoch"));
    SpaceSecret::from_bytes(space, epoch, &bytes(input, "secret"))
}

pub(crate) fn node_key(input: &Value) -> Result<NodeKey, CryptoError> {
    Ok(secret(input)?.keys().node(id(input, "node")))
}

pub(crate) fn array<const N: usize>(input: &Value, field: &str) -> [u8; N] {
    let bytes = bytes(input, field).try_into();
    bytes.unwrap_or_else(|_| panic!("{field} doesn't have {N} bytes"))
}

/// The keystream of AES-256-CTR from its start: data that both languages can make.
pub(crate) fn keystream(key: &[u8; 32], length: u64) -> Vec<u8> {
    let mut out = vec![0; usize::try_from(length).unwrap()];
    ctr::Ctr128BE::<aes::Aes256>::new(key.into(), &[0; 16].into()).apply_keystream(&mut out);
    out
}

pub(crate) fn object_json(object: &SealedObject) -> Value {
    json!({"id": object.id.to_string(), "sealed": hex::encode(&object.bytes)})
}

fn keys_json(keys: &[NodeKeyRef]) -> Vec<Value> {
    let row =
        |key: &NodeKeyRef| json!({"node": hex::encode(key.node.as_bytes()), "epoch": key.epoch});
    keys.iter().map(row).collect()
}

fn manifest_json(manifest: &Manifest) -> Value {
    let row = |row: &ChunkRow| {
        json!({
            "key": row.key, "id": row.id.to_string(), "length": row.length,
            "hash": hex::encode(row.hash),
        })
    };
    let rows: Vec<Value> = manifest.rows.iter().map(row).collect();
    json!({"keys": keys_json(&manifest.keys), "cut": manifest.cut, "rows": rows})
}

fn top_json(top: &TopManifest) -> Value {
    let part =
        |part: &PartRow| json!({"key": part.key, "id": part.id.to_string(), "length": part.length});
    let parts: Vec<Value> = top.parts.iter().map(part).collect();
    json!({"keys": keys_json(&top.keys), "parts": parts})
}
