//! Naming the chunks of a new revision: which of them the service has already, and the ids of the others.
//!
//! A chunk's id follows from its encrypted payload, so naming it means compressing it. Chunks whose plaintext
//! the revision before has keep their objects, and cost neither.

use crate::chunk_list::{self, ChunkList, SealedList, chunk_id};
use crate::compression;
use crate::cuts::{Cuts, Plain};
use crate::error::TransferError;
use crate::scan::Chunks;
use bytes::Bytes;
use cairn_crypto::NodeKey;
use cairn_crypto::format2::{ChunkRow, Compression, Manifest as List, NodeKeyRef, ObjectId};
use cairn_model::{ChunkId, ContentObject};
use cairn_wire::transfer::SealedChunk;
use std::collections::{HashMap, HashSet};

/// Encrypted bytes of one file, at most, that are kept from the first pass to the second.
pub(crate) const KEPT: usize = 8 * 1024 * 1024;
/// The most keys that a list of chunks has.
const MAX_KEYS: usize = 255;

/// A chunk that the service has.
#[derive(Clone, Copy, Debug)]
struct StoredChunk {
    at: NodeKeyRef,
    id: ObjectId,
    /// Length of the sealed bytes.
    size: u64,
}

/// The chunks of the revision that is replaced, by length and hash of their plaintext.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownChunks {
    chunks: HashMap<Plain, StoredChunk>,
    /// The key with which the revision before was cut, and its chunks in order.
    cut: Option<(NodeKey, Vec<ChunkRow>)>,
}

impl KnownChunks {
    /// Takes over the chunks of a list whose encrypted sizes the service has given. Those of the oldest keys are
    /// left out, and so sealed again, if the list has no room for one more key.
    pub(crate) fn of(before: &ChunkList, stored: &[SealedChunk], own: NodeKeyRef) -> Self {
        let sizes: HashMap<ChunkId, u64> = stored.iter().map(|one| (one.id, one.size)).collect();
        let list = &before.list;
        let mut keys = list.keys.clone();
        keys.retain(|key| *key != own);
        keys.sort_by_key(|key| key.epoch);
        let excess = keys.len().saturating_sub(MAX_KEYS - 1);
        let left_out: HashSet<NodeKeyRef> = keys.into_iter().take(excess).collect();
        let mut chunks = HashMap::with_capacity(list.rows.len());
        for row in &list.rows {
            let at = list.keys[usize::from(row.key)];
            let Some(&size) = sizes.get(&chunk_id(&row.id)) else {
                continue;
            };
            if !left_out.contains(&at) {
                let known = StoredChunk {
                    at,
                    id: row.id,
                    size,
                };
                chunks.insert((row.length, row.hash), known);
            }
        }
        let cut = before.key(list.cut).clone();
        let is_listed = list.rows.len() > 1 && !left_out.contains(&cut.at());
        let cut = is_listed.then(|| (cut, list.rows.clone()));
        Self { chunks, cut }
    }

    /// Returns the cuts of the next revision: those of the revision before, so that its chunks stay.
    pub(crate) fn cuts(&self, own: &NodeKey) -> Cuts {
        match &self.cut {
            Some((key, rows)) => Cuts::like(key, rows),
            None => Cuts::new(own),
        }
    }
}

/// Names the chunks of one file as they come.
pub(crate) struct Naming {
    key: NodeKey,
    known: KnownChunks,
    named: Named,
    /// Bytes that may still be kept.
    room: usize,
}

/// The chunks of a file, named.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) list: List,
    /// Turned off at the first chunk of a mailbox or a database.
    pub(crate) compression: Compression,
    sizes: HashMap<ObjectId, u64>,
    /// Chunks that were named in this pass: sealing them gives these objects.
    reproducible: HashSet<ObjectId>,
    /// Sealed bytes of chunks and lists, as far as there was room.
    pub(crate) kept: HashMap<ChunkId, Bytes>,
}

/// Everything that a revision is made of.
pub(crate) struct Planned {
    pub(crate) content: ContentObject,
    /// All objects, each once: chunks in file order, then their lists.
    pub(crate) announced: Vec<SealedChunk>,
}

impl Naming {
    pub(crate) fn new(
        key: NodeKey,
        known: KnownChunks,
        compression: Compression,
        room: usize,
    ) -> Self {
        let mut keys = vec![key.at()];
        let cut = known.cut.as_ref().map_or(key.at(), |(cut, _)| cut.at());
        let cut = place(&mut keys, cut);
        let list = List {
            keys,
            cut,
            rows: Vec::new(),
        };
        let named = Named {
            list,
            compression,
            sizes: HashMap::new(),
            reproducible: HashSet::new(),
            kept: HashMap::new(),
        };
        Self {
            key,
            known,
            named,
            room,
        }
    }

    /// Returns the cuts of the file.
    pub(crate) fn cuts(&self) -> Cuts {
        self.known.cuts(&self.key)
    }

    /// Takes a chunk over if the service has it. Returns false if it has to be named.
    pub(crate) fn take_known(&mut self, plain: Plain) -> bool {
        let known = self.known.chunks.get(&plain).copied();
        if let Some(known) = known {
            self.add(known, plain);
        }
        known.is_some()
    }

    fn add(&mut self, known: StoredChunk, (length, hash): Plain) {
        let list = &mut self.named.list;
        let key = place(&mut list.keys, known.at);
        list.rows.push(ChunkRow {
            key,
            id: known.id,
            length,
            hash,
        });
        self.named.sizes.insert(known.id, known.size);
    }

    pub(crate) fn finish(self) -> Named {
        self.named
    }

    /// Names a chunk that the service may lack; what there is room for is sealed at once.
    fn name(&mut self, plain: &[u8]) -> Result<StoredChunk, TransferError> {
        let (id, size) = if plain.len() <= self.room {
            let sealed = self.key.seal_chunk(plain, self.named.compression);
            let sealed = sealed.map_err(TransferError::Sealing)?;
            let size = sealed.bytes.len();
            self.room = self.room.saturating_sub(size);
            let kept = &mut self.named.kept;
            kept.insert(chunk_id(&sealed.id), sealed.bytes.into());
            (sealed.id, size as u64)
        } else {
            let named = self.key.name_chunk(plain, self.named.compression);
            named.map_err(TransferError::Sealing)?
        };
        self.named.reproducible.insert(id);
        Ok(StoredChunk {
            at: self.key.at(),
            id,
            size,
        })
    }
}

impl Chunks for Naming {
    fn chunk(&mut self, plain: &[u8], hash: [u8; 32]) -> Result<(), TransferError> {
        let is_first = self.named.list.rows.is_empty();
        if is_first && compression::is_mail_or_database(plain) {
            self.named.compression = Compression::Off;
        }
        let row = (plain.len() as u64, hash);
        if !self.take_known(row) {
            let named = self.name(plain)?;
            self.known.chunks.insert(row, named);
            self.add(named, row);
        }
        Ok(())
    }
}

impl Named {
    /// Returns whether sealing a chunk again gives the object that the list names. One that was taken over
    /// may be the work of another codec, or of another version of this one.
    pub(crate) fn is_reproducible(&self, id: &ObjectId) -> bool {
        self.reproducible.contains(id)
    }

    /// Seals the list of the chunks, and plans what is announced to the service.
    pub(crate) fn plan(&mut self, key: &NodeKey) -> Result<Planned, TransferError> {
        let SealedList { content, objects } = chunk_list::seal(key, &self.list)?;
        let mut announced = Vec::with_capacity(self.list.rows.len() + objects.len());
        let mut seen = HashSet::with_capacity(announced.capacity());
        for row in &self.list.rows {
            if seen.insert(row.id) {
                let (id, size) = (chunk_id(&row.id), self.sizes[&row.id]);
                announced.push(SealedChunk { id, size });
            }
        }
        for object in objects {
            let (id, size) = (chunk_id(&object.id), object.bytes.len() as u64);
            if seen.insert(object.id) {
                announced.push(SealedChunk { id, size });
            }
            self.kept.insert(id, object.bytes.into());
        }
        Ok(Planned { content, announced })
    }
}

/// Returns the index of a key in a table, and adds the key if it is not there.
fn place(keys: &mut Vec<NodeKeyRef>, key: NodeKeyRef) -> u8 {
    let found = keys.iter().position(|known| *known == key);
    let place = found.unwrap_or_else(|| {
        keys.push(key);
        keys.len() - 1
    });
    u8::try_from(place).expect("known chunks leave room for one more key")
}

#[cfg(test)]
mod tests;
