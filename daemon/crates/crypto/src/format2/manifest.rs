//! Manifests: which chunks, in which order, make a file of two chunks or more.
//!
//! Short: 02 · keys · cut u8 · count v · rows (key u8, id 32, length v, BLAKE3 of the plaintext 32).
//! Long: 03 · keys · count v · parts (key u8, id 32, length v of the part's plaintext); each part is a
//! short manifest. keys: count u8 · node 16, epoch v each. Rows name keys by their index, so that chunks
//! of earlier epochs, and a copy's original ones, stay as they are.
//!
//! In layouts a number is a length in bytes, v a LEB128 number, and v+x bytes after their length, a v.

use crate::error::{CryptoError, Result, require};
use crate::format2::chunker::MAX_CHUNK;
use crate::format2::keys::NodeKey;
use crate::format2::object::{ObjectKind, SealedObject};
use cairn_log::bytes::{Reader, Writer};
use cairn_log::{NodeKeyRef, ObjectId};
use cairn_model::NodeId;
use uuid::Uuid;

/// The most rows of a manifest without parts, and the rows of each part but the last.
pub const ROWS_PER_PART: usize = 16_384;
/// The most parts: a file of about 70 TB.
const MAX_PARTS: usize = 4_096;
const SHORT: u8 = 2;
const LONG: u8 = 3;
const ROW: usize = 1 + 32 + 1 + 32;
const PART_ROW: usize = 1 + 32 + 1;

/// One chunk of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkRow {
    /// The place of the chunk's key among the manifest's keys.
    pub key: u8,
    pub id: ObjectId,
    /// The length of the plaintext, in bytes.
    pub length: u64,
    /// BLAKE3 of the plaintext.
    pub hash: [u8; 32],
}

/// The chunks of a file, or of a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    pub keys: Vec<NodeKeyRef>,
    /// The place of the key that the file was cut with.
    pub cut: u8,
    pub rows: Vec<ChunkRow>,
}

/// One part of a long manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartRow {
    /// The place of the part's key among the manifest's keys.
    pub key: u8,
    pub id: ObjectId,
    /// The length of the part's encoding, in bytes.
    pub length: u64,
}

/// The parts of a manifest of more than 16,384 chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopManifest {
    pub keys: Vec<NodeKeyRef>,
    pub parts: Vec<PartRow>,
}

impl Manifest {
    /// Returns the bytes of the manifest.
    ///
    /// # Errors
    /// [`CryptoError::InvalidInput`] if no reader would take them.
    pub fn encode(&self) -> std::result::Result<Vec<u8>, CryptoError> {
        self.check()
            .map_err(|_| CryptoError::InvalidInput("the manifest contradicts itself"))?;
        let mut out = Writer::new();
        out.u8(SHORT);
        write_keys(&mut out, &self.keys);
        out.u8(self.cut).v(self.rows.len() as u64);
        for row in &self.rows {
            out.u8(row.key).raw(&row.id.0).v(row.length).raw(&row.hash);
        }
        Ok(out.finish())
    }

    /// Reads a manifest at the start of `bytes` and returns its length, too.
    pub(crate) fn decode_prefix(bytes: &[u8]) -> Result<(Self, usize)> {
        let mut reader = Reader::new(bytes);
        format(&mut reader, SHORT)?;
        let keys = read_keys(&mut reader)?;
        let cut = reader.u8()?;
        let count = reader.count(ROW)?;
        let mut rows = Vec::with_capacity(count);
        for _ in 0..count {
            rows.push(ChunkRow {
                key: reader.u8()?,
                id: ObjectId(reader.array()?),
                length: reader.v()?,
                hash: reader.array()?,
            });
        }
        let manifest = Self { keys, cut, rows };
        manifest.check()?;
        Ok((manifest, bytes.len() - reader.rest().len()))
    }

    /// Reads a manifest.
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] for anything that no writer makes; [`CryptoError::UnsupportedFormat`].
    pub fn decode(bytes: &[u8]) -> std::result::Result<Self, CryptoError> {
        decode_all(bytes, Self::decode_prefix)
    }

    /// Returns the length of the file (or the part), in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.rows.iter().map(|row| row.length).sum()
    }

    /// Seals the manifest as a file's (`Manifest`) or as a part of one (`Part`).
    ///
    /// # Errors
    /// Fails like [`Manifest::encode`].
    pub fn seal(
        &self,
        key: &NodeKey,
        is_part: bool,
    ) -> std::result::Result<SealedObject, CryptoError> {
        Ok(key.seal_record(kind(is_part), &self.encode()?))
    }

    /// Opens the requested manifest or part.
    ///
    /// # Errors
    /// Fails like [`NodeKey::open_chunk`].
    pub fn open(
        key: &NodeKey,
        id: &ObjectId,
        sealed: &[u8],
        is_part: bool,
    ) -> std::result::Result<Self, CryptoError> {
        key.open_record(kind(is_part), id, sealed, Self::decode_prefix)
    }

    fn check(&self) -> Result<()> {
        check_keys(&self.keys)?;
        let in_table = |key: u8| usize::from(key) < self.keys.len();
        let rows_hold = self
            .rows
            .iter()
            .all(|row| in_table(row.key) && row.length > 0 && row.length <= MAX_CHUNK as u64);
        let count_holds = (1..=ROWS_PER_PART).contains(&self.rows.len());
        require(in_table(self.cut) && rows_hold && count_holds)
    }
}

impl TopManifest {
    /// Returns the bytes of the manifest.
    ///
    /// # Errors
    /// [`CryptoError::InvalidInput`] if no reader would take them.
    pub fn encode(&self) -> std::result::Result<Vec<u8>, CryptoError> {
        self.check()
            .map_err(|_| CryptoError::InvalidInput("the manifest contradicts itself"))?;
        let mut out = Writer::new();
        out.u8(LONG);
        write_keys(&mut out, &self.keys);
        out.v(self.parts.len() as u64);
        for part in &self.parts {
            out.u8(part.key).raw(&part.id.0).v(part.length);
        }
        Ok(out.finish())
    }

    pub(crate) fn decode_prefix(bytes: &[u8]) -> Result<(Self, usize)> {
        let mut reader = Reader::new(bytes);
        format(&mut reader, LONG)?;
        let keys = read_keys(&mut reader)?;
        let count = reader.count(PART_ROW)?;
        let mut parts = Vec::with_capacity(count);
        for _ in 0..count {
            parts.push(PartRow {
                key: reader.u8()?,
                id: ObjectId(reader.array()?),
                length: reader.v()?,
            });
        }
        let manifest = Self { keys, parts };
        manifest.check()?;
        Ok((manifest, bytes.len() - reader.rest().len()))
    }

    /// Reads a manifest of parts.
    ///
    /// # Errors
    /// Fails like [`Manifest::decode`].
    pub fn decode(bytes: &[u8]) -> std::result::Result<Self, CryptoError> {
        decode_all(bytes, Self::decode_prefix)
    }

    /// Seals the manifest.
    ///
    /// # Errors
    /// Fails like [`TopManifest::encode`].
    pub fn seal(&self, key: &NodeKey) -> std::result::Result<SealedObject, CryptoError> {
        Ok(key.seal_record(ObjectKind::Manifest, &self.encode()?))
    }

    /// Opens the requested manifest of parts.
    ///
    /// # Errors
    /// Fails like [`NodeKey::open_chunk`].
    pub fn open(
        key: &NodeKey,
        id: &ObjectId,
        sealed: &[u8],
    ) -> std::result::Result<Self, CryptoError> {
        key.open_record(ObjectKind::Manifest, id, sealed, Self::decode_prefix)
    }

    fn check(&self) -> Result<()> {
        check_keys(&self.keys)?;
        let in_table = |part: &PartRow| usize::from(part.key) < self.keys.len();
        let count_holds = (2..=MAX_PARTS).contains(&self.parts.len());
        require(
            count_holds
                && self
                    .parts
                    .iter()
                    .all(|part| in_table(part) && part.length > 0),
        )
    }
}

fn kind(is_part: bool) -> ObjectKind {
    if is_part {
        ObjectKind::Part
    } else {
        ObjectKind::Manifest
    }
}

/// Reads a record of which nothing may be left.
pub(super) fn decode_all<T>(
    bytes: &[u8],
    decode: impl FnOnce(&[u8]) -> Result<(T, usize)>,
) -> Result<T> {
    let (value, length) = decode(bytes)?;
    require(length == bytes.len())?;
    Ok(value)
}

fn format(reader: &mut Reader<'_>, expected: u8) -> Result<()> {
    match reader.u8()? {
        format if format == expected => Ok(()),
        SHORT | LONG => Err(CryptoError::NotAuthentic),
        other => Err(CryptoError::UnsupportedFormat(u32::from(other))),
    }
}

fn check_keys(keys: &[NodeKeyRef]) -> Result<()> {
    let mut sorted = keys.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    require(!keys.is_empty() && keys.len() <= 255 && sorted.len() == keys.len())
}

fn write_keys(out: &mut Writer, keys: &[NodeKeyRef]) {
    out.u8(keys.len() as u8);
    for key in keys {
        out.raw(key.node.as_bytes()).v(key.epoch);
    }
}

fn read_keys(reader: &mut Reader<'_>) -> Result<Vec<NodeKeyRef>> {
    let count = reader.u8()?;
    let mut keys = Vec::with_capacity(usize::from(count));
    for _ in 0..count {
        let node = NodeId(Uuid::from_bytes(reader.array()?));
        let epoch = reader.v()?;
        keys.push(NodeKeyRef { node, epoch });
    }
    Ok(keys)
}

#[cfg(test)]
mod tests;
