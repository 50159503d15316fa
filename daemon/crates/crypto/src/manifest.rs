//! Manifests, the encrypted records of revisions: the facts that a file's bytes are checked against, and the object
//! that they begin with (its only chunk, or the list of its chunks).
//!
//! In clear: epoch (the generation of the key), format, nonce. Inside, all numbers big-endian, ids 16 bytes:
//! format u32 · space · node · revision · base flag u8 · base · number u64 · size u64 · modified i64 ·
//! executable u8 · hash 32 · author · is a list u8 · object 32 · node of its key 16 · epoch of its key u64.

use crate::aead;
use crate::error::{CryptoError, Result};
use crate::format2::MAX_CHUNK;
use crate::random::Random;
use crate::space::SpaceKeys;
use cairn_log::AssociatedData;
use cairn_model::{
    ChunkId, ContentHash, ContentObject, DeviceId, Manifest, NodeId, RevisionId, SpaceId,
};
use uuid::Uuid;

const ID: usize = 16;
const LENGTH: usize = 4 + 3 * ID + 1 + ID + 3 * 8 + 1 + 32 + ID + 1 + 32 + ID + 8;

/// Seals a manifest under the space's meta key.
///
/// # Errors
/// [`CryptoError::InvalidInput`] if it belongs to another space, or contradicts itself.
pub fn seal_manifest(
    keys: &SpaceKeys,
    manifest: &Manifest,
    rng: &mut dyn Random,
) -> std::result::Result<Vec<u8>, CryptoError> {
    check(keys, manifest)
        .map_err(|_| CryptoError::InvalidInput("the manifest contradicts itself or its space"))?;
    let plain = encode(manifest);
    let associated = associated_data(keys, manifest.node, manifest.revision);
    Ok(keys.with_epoch(&aead::seal(&keys.meta, &associated, &plain, rng)))
}

/// Opens the manifest of the requested revision.
///
/// # Errors
/// [`CryptoError::NotAuthentic`] if it was altered, contradicts itself, or belongs to another revision,
/// node or space.
pub fn open_manifest(
    keys: &SpaceKeys,
    node: NodeId,
    revision: RevisionId,
    sealed: &[u8],
) -> std::result::Result<Manifest, CryptoError> {
    let (keys, sealed) = keys.split_epoch(sealed)?;
    let plain = aead::open(&keys.meta, &associated_data(keys, node, revision), sealed)?;
    let manifest = decode(&plain)?;
    if manifest.node != node || manifest.revision != revision {
        return Err(CryptoError::NotAuthentic);
    }
    check(keys, &manifest)?;
    Ok(manifest)
}

/// The hash that a node seal carries: BLAKE3 of the sealed manifest, as the server stores it.
#[must_use]
pub fn manifest_hash(sealed: &[u8]) -> [u8; 32] {
    blake3::derive_key("cairn/manifest-hash/1", sealed)
}

fn associated_data(keys: &SpaceKeys, node: NodeId, revision: RevisionId) -> AssociatedData {
    AssociatedData::new("cairn/manifest/1")
        .id(&keys.space())
        .number(u64::from(keys.epoch()))
        .id(&node)
        .id(&revision)
}

fn check(keys: &SpaceKeys, manifest: &Manifest) -> Result<()> {
    if manifest.format != Manifest::FORMAT {
        return Err(CryptoError::UnsupportedFormat(manifest.format));
    }
    // The chunks of a list are counted when it is opened.
    let is_possible = if manifest.content.is_list {
        manifest.size > 1
    } else {
        manifest.size <= MAX_CHUNK as u64
    };
    let first = manifest.base.is_none();
    let numbered = if first {
        manifest.number == 1
    } else {
        manifest.number > 1
    };
    if manifest.space != keys.space() || !is_possible || !numbered {
        return Err(CryptoError::NotAuthentic);
    }
    Ok(())
}

fn encode(manifest: &Manifest) -> Vec<u8> {
    let mut out = Vec::with_capacity(LENGTH);
    out.extend_from_slice(&manifest.format.to_be_bytes());
    out.extend_from_slice(manifest.space.as_bytes());
    out.extend_from_slice(manifest.node.as_bytes());
    out.extend_from_slice(manifest.revision.as_bytes());
    out.push(u8::from(manifest.base.is_some()));
    out.extend_from_slice(manifest.base.as_ref().map_or(&[0; ID], |id| id.as_bytes()));
    out.extend_from_slice(&manifest.number.to_be_bytes());
    out.extend_from_slice(&manifest.size.to_be_bytes());
    out.extend_from_slice(&manifest.modified_ms.to_be_bytes());
    out.push(u8::from(manifest.executable));
    out.extend_from_slice(&manifest.hash.0);
    out.extend_from_slice(manifest.author.as_bytes());
    let content = &manifest.content;
    out.push(u8::from(content.is_list));
    out.extend_from_slice(&content.id.0);
    out.extend_from_slice(content.node.as_bytes());
    out.extend_from_slice(&content.epoch.to_be_bytes());
    out
}

fn decode(plain: &[u8]) -> Result<Manifest> {
    let mut reader = Reader(plain);
    let format = u32::from_be_bytes(reader.array()?);
    if format != Manifest::FORMAT {
        return Err(CryptoError::UnsupportedFormat(format));
    }
    let space = SpaceId(Uuid::from_bytes(reader.array()?));
    let node = NodeId(Uuid::from_bytes(reader.array()?));
    let revision = RevisionId(Uuid::from_bytes(reader.array()?));
    let has_base = reader.flag()?;
    let base = reader.array()?;
    if !has_base && base != [0; ID] {
        return Err(CryptoError::NotAuthentic);
    }
    let number = u64::from_be_bytes(reader.array()?);
    let size = u64::from_be_bytes(reader.array()?);
    let modified_ms = i64::from_be_bytes(reader.array()?);
    let executable = reader.flag()?;
    let hash = ContentHash(reader.array()?);
    let author = DeviceId(Uuid::from_bytes(reader.array()?));
    let content = ContentObject {
        is_list: reader.flag()?,
        id: ChunkId(reader.array()?),
        node: NodeId(Uuid::from_bytes(reader.array()?)),
        epoch: u64::from_be_bytes(reader.array()?),
    };
    if !reader.0.is_empty() {
        return Err(CryptoError::NotAuthentic);
    }
    let base = has_base.then(|| RevisionId(Uuid::from_bytes(base)));
    Ok(Manifest {
        format,
        space,
        node,
        revision,
        base,
        number,
        size,
        modified_ms,
        executable,
        content,
        hash,
        author,
    })
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (head, rest) = self
            .0
            .split_first_chunk::<N>()
            .ok_or(CryptoError::NotAuthentic)?;
        self.0 = rest;
        Ok(*head)
    }

    fn flag(&mut self) -> Result<bool> {
        match self.array::<1>()? {
            [0] => Ok(false),
            [1] => Ok(true),
            [_] => Err(CryptoError::NotAuthentic),
        }
    }
}
