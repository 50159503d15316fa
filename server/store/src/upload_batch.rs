//! Stores a batch of small files, whose chunks came in one request and lie in one object (one stored blob): each file
//! succeeds or fails by itself, all in one transaction.

mod storing;

use self::storing::{Storing, growth_of, source_of};
use super::upload_content::{Target, check_commit};
use super::{Actor, ChunkDigest, Space, Store, StoredChunk, holders, usage};
use crate::db::Connection;
use crate::error::{Error, Result};
use cairn_model::{ChunkId, NodeId};
use cairn_wire::nodes::Node;
use cairn_wire::transfer::{CompleteUpload, CreateUpload, SealedChunk};
use std::collections::BTreeMap;

/// One file of a batch.
pub struct BatchItem<'a> {
    pub create: &'a CreateUpload,
    pub complete: &'a CompleteUpload,
    /// Distinct, in file order.
    pub chunks: Vec<SentChunk>,
    /// The chunks that are there already, compared with those that came; `None` if nobody has looked for any.
    pub compared: Option<Vec<Compared>>,
}

/// A chunk of a batch.
#[derive(Clone, Copy, Debug)]
pub struct SentChunk {
    pub chunk: SealedChunk,
    /// The position of its first byte in the batch's object.
    pub start: u64,
    pub digest: ChunkDigest,
}

/// A comparison of a chunk that came with the one that lies in an object.
#[derive(Clone, Debug)]
pub struct Compared {
    pub chunk: ChunkId,
    pub object: String,
    pub same: bool,
}

/// The results of a batch, in order, and objects that nothing refers to.
pub struct Stored {
    pub results: Vec<Result<Node>>,
    pub garbage: Vec<String>,
}

/// Refuses a file that does not fit into the space, or a copy of what is not there.
fn check_room(
    conn: &Connection,
    space: Space,
    target: &Target,
    item: &BatchItem<'_>,
) -> Result<()> {
    let source = source_of(conn, space, item.create)?;
    let growth = growth_of(conn, target, item, source.as_ref())?;
    usage::check_quota(conn, space, growth)
}

impl Store {
    /// Returns the results of a batch that would change nothing now, for which no object has to be written: each file
    /// is there already, or is refused. Returns `None` as soon as one would change something.
    pub fn results_without_change(
        &self,
        space: Space,
        items: &[BatchItem<'_>],
    ) -> Result<Option<Vec<Result<Node>>>> {
        self.read(|conn| {
            let mut out = Vec::new();
            for item in items {
                let checked = check_commit(conn, space, item.create, item.complete);
                let result = match checked {
                    Ok(Target::Done(node)) => Ok(*node),
                    Ok(target) => match check_room(conn, space, &target, item) {
                        Ok(()) => return Ok(None),
                        Err(error) => Err(error),
                    },
                    Err(error) => Err(error),
                };
                match result {
                    Err(error @ (Error::Sql(_) | Error::Internal(_))) => return Err(error),
                    result => out.push(result),
                }
            }
            Ok(Some(out))
        })
    }

    /// Finds the chunks of each file that are there already, to be compared with those that came.
    pub fn present_chunks(
        &self,
        actor: &Actor,
        items: &[BatchItem<'_>],
    ) -> Result<BTreeMap<(NodeId, ChunkId), StoredChunk>> {
        let now = self.source().now_ms();
        self.read(|conn| {
            let mut found = BTreeMap::new();
            for item in items {
                let node = item.create.node_id;
                if !holders::may_find_stored(conn, node)? {
                    continue;
                }
                for SentChunk { chunk, .. } in &item.chunks {
                    if let Some(stored) =
                        holders::find_stored(conn, node, chunk.id, actor.account, now)?
                    {
                        found.insert((node, chunk.id), stored);
                    }
                }
            }
            Ok(found)
        })
    }

    /// Stores the files of a batch whose chunks lie in `object`, each for itself, in one
    /// transaction. Returns `None`, and stores nothing, if chunks of one are there and were not compared: few files
    /// have any, and looking for those of all costs more than storing such a batch twice.
    pub fn store_batch(
        &self,
        actor: &Actor,
        items: &[BatchItem<'_>],
        object: &str,
    ) -> Result<Option<Stored>> {
        let mut needs_comparison = false;
        let stored = self.write(|tx| {
            let mut storing = Storing::begin(tx, actor.space, items, object)?;
            let mut results = Vec::with_capacity(items.len());
            for item in items {
                match storing.store(tx, actor, item) {
                    Err(error @ (Error::Sql(_) | Error::Internal(_))) => return Err(error),
                    Err(error) if storing.needs_comparison() => {
                        needs_comparison = true;
                        return Err(error);
                    }
                    result => results.push(result),
                }
            }
            let garbage = storing.end(tx, actor.space)?;
            Ok(Stored { results, garbage })
        });
        if needs_comparison {
            return Ok(None);
        }
        stored.map(Some)
    }
}
