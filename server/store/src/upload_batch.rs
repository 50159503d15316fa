//! Stores a batch of small files, whose chunks came in one request and lie in one object (one stored blob): each file
//! succeeds or fails by itself, all in one transaction.

use super::rows::HeldChunk;
use super::upload_content::{Target, check_commit, commit, record_of};
use super::usage::{self, Growth};
use super::{Actor, Space, Store, StoredChunk, Tx, chunks, holders, revisions};
use crate::db::Connection;
use crate::error::{Error, Result};
use cairn_model::{ChunkId, NodeId};
use cairn_wire::nodes::{ContentSource, Node};
use cairn_wire::transfer::{CompleteUpload, CreateUpload, SealedChunk};
use std::collections::BTreeMap;

/// Maximum number of chunks that the copies in one batch (`copy_of`: new files made of the chunks of an existing
/// revision) may take over. Each chunk costs the server a row, and the sender nothing.
const MAX_RETAINED: usize = 100_000;

/// One file of a batch.
pub struct BatchItem<'a> {
    pub create: &'a CreateUpload,
    pub complete: &'a CompleteUpload,
    /// Distinct, in file order, each with where it begins in the pack.
    pub chunks: Vec<(SealedChunk, u64)>,
    /// The chunks that are there already, compared with those that came.
    pub compared: Vec<Compared>,
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

/// The way in which a chunk of a batch gets its place.
enum Placing {
    /// The same bytes are there for the node itself, or none yet.
    Add,
    /// Other bytes are there for the node that nobody needs, or that nobody has compared.
    Replace,
}

/// Decides how a chunk gets its place. A new revision never relies on stored bytes that nobody has compared with those
/// that were sent.
fn placing(
    tx: &Tx<'_>,
    actor: &Actor,
    item: &BatchItem<'_>,
    chunk: &SealedChunk,
) -> Result<Placing> {
    let node = item.create.node_id;
    let Some(found) = holders::find_stored(tx.conn, node, chunk.id, actor.account, tx.now)? else {
        return Ok(Placing::Add);
    };
    holders::check_size(chunk, found.place.size)?;
    let compared = item
        .compared
        .iter()
        .find(|one| one.chunk == chunk.id && one.object == found.place.object);
    match compared {
        Some(one) if one.same && found.holder == node => Ok(Placing::Add),
        // The bytes of an original: what an upload has sent for the copy may be others.
        Some(one) if one.same => Ok(Placing::Replace),
        Some(_) => match found.refusal() {
            Some(refusal) => Err(refusal),
            None => Ok(Placing::Replace),
        },
        None => Err(Error::conflict(format!(
            "others are sending the chunk {} at the same time; send it again",
            chunk.id
        ))),
    }
}

/// Returns what a file of a batch adds to its space. All of its chunks are stored for the node itself, also
/// those that the original of a copy has.
fn growth_of(conn: &Connection, target: &Target, item: &BatchItem<'_>) -> Result<Growth> {
    let mut bytes = record_of(item.complete);
    for (chunk, _) in &item.chunks {
        if chunks::size(conn, item.create.node_id, chunk.id)?.is_none() {
            bytes = bytes.saturating_add(revisions::to_signed(chunk.size));
        }
    }
    let files = target.files();
    Ok(Growth { bytes, files })
}

/// Stores one file of a batch. Nothing is written before all checks have passed.
fn store_one(
    tx: &Tx<'_>,
    actor: &Actor,
    item: &BatchItem<'_>,
    object: i64,
    (retained, garbage): (&mut usize, &mut Vec<String>),
) -> Result<(Node, i64)> {
    let target = check_commit(tx.conn, actor.space, item.create, item.complete)?;
    if let Target::Done(node) = target {
        return Ok((*node, 0));
    }
    let growth = growth_of(tx.conn, &target, item)?;
    usage::check_quota(tx.conn, actor.space, growth)?;
    if let Some(source) = &item.create.copy_of {
        let held = retain_objects(tx, actor, item.create, (source, retained))?;
        let node = commit(tx, actor, &target, item.create, item.complete, &held)?;
        usage::count_files(tx.conn, actor.space, growth.files)?;
        return Ok((node, 0));
    }
    let placings = item
        .chunks
        .iter()
        .map(|part| Ok((part, placing(tx, actor, item, &part.0)?)))
        .collect::<Result<Vec<_>>>()?;
    // All chunks of a batch were sent with it, so the file holds them itself.
    let holder = item.create.node_id;
    let held = |(chunk, _): &(SealedChunk, u64)| HeldChunk {
        chunk: *chunk,
        holder,
    };
    let held: Vec<HeldChunk> = item.chunks.iter().map(held).collect();
    let mut used = 0;
    for ((chunk, start), placing) in placings {
        let new = chunks::NewChunk {
            node: item.create.node_id,
            chunk: *chunk,
            object,
            start: *start,
            space: actor.space.row,
            account: actor.account,
        };
        if matches!(placing, Placing::Replace) {
            chunks::remove(tx.conn, new.node, chunk.id, garbage)?;
        }
        used += i64::from(chunks::add(tx.conn, &new, 1)?);
    }
    let node = commit(tx, actor, &target, item.create, item.complete, &held)?;
    usage::count_files(tx.conn, actor.space, growth.files)?;
    Ok((node, used))
}

/// Adds a reference to each chunk of a revision for another one that is made of them (`copy_of`), and returns them.
/// Nothing is written if it fails. `retained` counts them in this batch.
///
/// # Errors
/// 404 for a revision that is not in the space, 400 for one of another length, or if it is one too many for a batch.
fn retain_objects(
    tx: &Tx<'_>,
    actor: &Actor,
    create: &CreateUpload,
    (source, retained): (&ContentSource, &mut usize),
) -> Result<Vec<HeldChunk>> {
    let (node, revision) = (source.node_id, source.revision_id);
    let found = revisions::of_visible(tx.conn, actor.space, node, revision)?;
    if found.size != create.size {
        return Err(Error::invalid(format!(
            "`size` is {}, and the revision {revision} in `copy_of` has {} bytes",
            create.size, found.size
        )));
    }
    let held = found.chunks()?;
    let total = add_retained(*retained, held.len())?;
    for one in &held {
        if chunks::size(tx.conn, one.holder, one.chunk.id)?.is_none() {
            return Err(Error::not_found(format!(
                "the chunk {} of the revision {revision} is missing; send the file",
                one.chunk.id
            )));
        }
    }
    for one in &held {
        chunks::retain(tx.conn, one.holder, one.chunk.id)?;
    }
    *retained = total;
    Ok(held)
}

/// Returns how many chunks the copies of a batch have taken over together with those of one more copy. The first is
/// always taken, however many it has.
fn add_retained(before: usize, chunks: usize) -> Result<usize> {
    let total = before.saturating_add(chunks);
    if before > 0 && total > MAX_RETAINED {
        return Err(Error::invalid(format!(
            "the copies of this batch have more than {MAX_RETAINED} chunks; send them in several requests"
        )));
    }
    Ok(total)
}

impl Store {
    /// Returns the files of a batch that would change something now, without changing it: for the
    /// others no object has to be written.
    pub fn check_batch(
        &self,
        space: Space,
        items: &[BatchItem<'_>],
    ) -> Result<Vec<Result<Option<Node>>>> {
        self.read(|conn| {
            let mut growth = Growth::default();
            let mut out = Vec::with_capacity(items.len());
            for item in items {
                out.push(
                    match check_commit(conn, space, item.create, item.complete) {
                        Ok(Target::Done(node)) => Ok(Some(*node)),
                        Ok(target) => {
                            let mut total = growth;
                            total += growth_of(conn, &target, item)?;
                            let room = usage::check_quota(conn, space, total);
                            if room.is_ok() {
                                growth = total;
                            }
                            room.map(|()| None)
                        }
                        Err(error @ (Error::Sql(_) | Error::Internal(_))) => return Err(error),
                        Err(error) => Err(error),
                    },
                );
            }
            Ok(out)
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
                for (chunk, _) in &item.chunks {
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
    /// transaction.
    pub fn store_batch(
        &self,
        actor: &Actor,
        items: &[BatchItem<'_>],
        object: &str,
    ) -> Result<Stored> {
        self.write(|tx| {
            let row = chunks::add_object(tx.conn, object)?;
            let (mut used, mut retained, mut garbage) = (0, 0, Vec::new());
            let mut results = Vec::with_capacity(items.len());
            for item in items {
                match store_one(tx, actor, item, row, (&mut retained, &mut garbage)) {
                    Ok((node, its_chunks)) => {
                        used += its_chunks;
                        results.push(Ok(node));
                    }
                    Err(error @ (Error::Sql(_) | Error::Internal(_))) => return Err(error),
                    Err(error) => results.push(Err(error)),
                }
            }
            garbage.extend(chunks::set_object_refs(tx.conn, row, used)?);
            Ok(Stored { results, garbage })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_one_batch_share_a_limit_that_one_copy_alone_does_not_have() {
        assert_eq!(add_retained(0, MAX_RETAINED + 1).unwrap(), MAX_RETAINED + 1);
        assert_eq!(add_retained(1, MAX_RETAINED - 1).unwrap(), MAX_RETAINED);
        for (before, chunks) in [(1, MAX_RETAINED), (MAX_RETAINED, 1), (1, usize::MAX)] {
            assert!(matches!(
                add_retained(before, chunks),
                Err(Error::Invalid(_))
            ));
        }
    }
}
