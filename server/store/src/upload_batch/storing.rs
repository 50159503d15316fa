//! Stores the files of a batch in one transaction: checks each of them, and gives its chunks their places.

use super::{BatchItem, SentChunk};
use crate::db::Connection;
use crate::error::{Error, Result};
use crate::revisions::RevisionRow;
use crate::rows::{HELD, HeldChunk};
use crate::upload_content::{CheckedFolder, Target, check_one_of_many, commit, record_of};
use crate::usage::{self, Growth};
use crate::{Actor, Space, Tx, chunks, holders, log_guard, revisions};
use cairn_model::NodeId;
use cairn_wire::nodes::Node;
use cairn_wire::transfer::{CreateUpload, SealedChunk};

/// Maximum number of chunks that the copies in one batch (`copy_of`: new files made of the chunks of an existing
/// revision) may take over. Each chunk costs the server a row, and the sender nothing.
const MAX_RETAINED: usize = 100_000;

/// The way in which a chunk of a batch gets its place.
enum Placing {
    /// The same bytes are there for the node itself, or none yet.
    Add,
    /// Other bytes are there for the node that nobody needs, or that nobody has compared.
    Replace,
    /// There are bytes for the node, and whoever asks has not compared them yet.
    Compare,
    /// The bytes that were stored for this node are damaged, and were sent again.
    Heal(NodeId),
}

/// Decides how a chunk gets its place. A new revision never relies on stored bytes that nobody has compared with those
/// that were sent.
fn placing(
    tx: &Tx<'_>,
    actor: &Actor,
    target: &Target,
    item: &BatchItem<'_>,
    SentChunk { chunk, digest, .. }: &SentChunk,
) -> Result<Placing> {
    if !target.may_have_chunks() {
        return Ok(Placing::Add);
    }
    let node = item.create.node_id;
    let Some(found) = holders::find_stored(tx.conn, node, chunk.id, actor.account, tx.now)? else {
        return Ok(Placing::Add);
    };
    holders::check_size(chunk, found.place.size)?;
    let Some(compared) = &item.compared else {
        return Ok(Placing::Compare);
    };
    let compared = compared
        .iter()
        .find(|one| one.chunk == chunk.id && one.object == found.place.object);
    match compared {
        Some(one) if one.same && found.holder == node => Ok(Placing::Add),
        // The bytes of an original: what an upload has sent for the copy may be others.
        Some(one) if one.same => Ok(Placing::Replace),
        _ if found.place.digest == Some(*digest) => Ok(Placing::Heal(found.holder)),
        Some(_) => match found.refusal() {
            Some(refusal) => Err(refusal),
            None => Ok(Placing::Replace),
        },
        None => Err(unknown_bytes_error(chunk)),
    }
}

/// The error for a chunk that is there and was not compared with the one that was sent.
fn unknown_bytes_error(chunk: &SealedChunk) -> Error {
    Error::conflict(format!(
        "others are sending the chunk {} at the same time; send it again",
        chunk.id
    ))
}

/// Returns what a file of a batch adds to its space. All of its chunks are stored for the node itself, also
/// those that the original of a copy has.
pub(super) fn growth_of(
    conn: &Connection,
    target: &Target,
    item: &BatchItem<'_>,
    source: Option<&RevisionRow>,
) -> Result<Growth> {
    // A copy takes over the list of its source.
    let list = source.map_or_else(
        || usage::announced_list_bytes(item.chunks.len()),
        |source| usage::list_bytes(&source.packed),
    );
    let mut bytes = record_of(item.complete).saturating_add(list);
    for SentChunk { chunk, .. } in &item.chunks {
        if !target.may_have_chunks() || chunks::size(conn, item.create.node_id, chunk.id)?.is_none()
        {
            bytes = bytes.saturating_add(revisions::to_signed(chunk.size));
        }
    }
    let files = target.files();
    Ok(Growth { bytes, files })
}

/// Returns the revision that a file of a batch is a copy of, if it is one.
///
/// # Errors
/// 404 for a revision that is not in the space, 400 for one of another length.
pub(super) fn source_of(
    conn: &Connection,
    space: Space,
    create: &CreateUpload,
) -> Result<Option<RevisionRow>> {
    let Some(source) = &create.copy_of else {
        return Ok(None);
    };
    let (node, revision) = (source.node_id, source.revision_id);
    let found = revisions::of_visible(conn, space, node, revision)?;
    if found.size != create.size {
        return Err(Error::invalid(format!(
            "`size` is {}, and the revision {revision} in `copy_of` has {} bytes",
            create.size, found.size
        )));
    }
    Ok(Some(found))
}

/// The state of a batch that is being stored, in a space without a log.
pub(super) struct Storing {
    /// The row of the object that has its chunks.
    object: i64,
    /// The quota has room for all files, whatever becomes of each.
    is_room_for_all: bool,
    folder: CheckedFolder,
    /// The chunks in it that are used.
    used: i64,
    /// The new files, which are counted together.
    files: i64,
    /// The chunks that its copies have taken over.
    retained: usize,
    /// Objects that nothing refers to any more.
    garbage: Vec<String>,
    /// A file was refused because nobody has compared its chunks yet.
    needs_comparison: bool,
}

impl Storing {
    pub(super) fn begin(
        tx: &Tx<'_>,
        space: Space,
        items: &[BatchItem<'_>],
        object: &str,
    ) -> Result<Self> {
        log_guard::check_no_log(tx.conn, space)?;
        let is_room_for_all = match largest_growth(items) {
            Some(growth) => match usage::check_quota(tx.conn, space, growth) {
                Ok(()) => true,
                Err(Error::QuotaFull(_)) => false,
                Err(error) => return Err(error),
            },
            None => false,
        };
        Ok(Self {
            object: chunks::add_object(tx.conn, object)?,
            is_room_for_all,
            folder: CheckedFolder::default(),
            used: 0,
            files: 0,
            retained: 0,
            garbage: Vec::new(),
            needs_comparison: false,
        })
    }

    /// Returns true if a file was refused because chunks of it are there that nobody has compared yet.
    pub(super) fn needs_comparison(&self) -> bool {
        self.needs_comparison
    }

    /// Refuses what does not fit into the space beside the files before it.
    fn check_quota(&self, tx: &Tx<'_>, space: Space, growth: Growth) -> Result<()> {
        if self.is_room_for_all {
            return Ok(());
        }
        let uncounted = if growth.files > 0 { self.files } else { 0 };
        let files = growth.files + uncounted;
        usage::check_quota(tx.conn, space, Growth { files, ..growth })
    }

    /// Stores one file. Nothing is written before all checks have passed.
    pub(super) fn store(
        &mut self,
        tx: &Tx<'_>,
        actor: &Actor,
        item: &BatchItem<'_>,
    ) -> Result<Node> {
        let (create, complete) = (item.create, item.complete);
        let target = check_one_of_many(tx.conn, actor.space, (create, complete), &self.folder)?;
        if let Target::Done(node) = target {
            return Ok(*node);
        }
        let source = source_of(tx.conn, actor.space, create)?;
        let growth = growth_of(tx.conn, &target, item, source.as_ref())?;
        self.check_quota(tx, actor.space, growth)?;
        let held = match &source {
            Some(source) => retain_objects(tx, source, &mut self.retained)?,
            None => self.store_chunks(tx, actor, &target, item)?,
        };
        let node = commit(tx, actor, &target, create, complete, &held)?;
        self.files += growth.files;
        Ok(node)
    }

    /// Stores the chunks of a file, all of which were sent with the batch: the file holds them itself.
    fn store_chunks(
        &mut self,
        tx: &Tx<'_>,
        actor: &Actor,
        target: &Target,
        item: &BatchItem<'_>,
    ) -> Result<Vec<HeldChunk>> {
        let placings = item
            .chunks
            .iter()
            .map(|part| Ok((part, placing(tx, actor, target, item, part)?)))
            .collect::<Result<Vec<_>>>()?;
        let holder = item.create.node_id;
        let mut held = Vec::with_capacity(placings.len());
        for (
            SentChunk {
                chunk,
                start,
                digest,
            },
            placing,
        ) in placings
        {
            let new = chunks::NewChunk {
                node: holder,
                chunk: *chunk,
                object: self.object,
                start: *start,
                digest: *digest,
                space: actor.space.row,
                account: actor.account,
            };
            match placing {
                Placing::Add => {}
                Placing::Replace => {
                    chunks::remove(tx.conn, new.node, chunk.id, &mut self.garbage)?;
                }
                Placing::Compare => {
                    self.needs_comparison = true;
                    return Err(unknown_bytes_error(chunk));
                }
                Placing::Heal(healed) => {
                    let place = (self.object, *start);
                    chunks::heal(tx.conn, (healed, chunk.id), place, &mut self.garbage)?;
                    // That of a copy's original lies there beside the copy's own; the latter counts below.
                    self.used += i64::from(healed != holder);
                }
            }
            self.used += i64::from(chunks::add(tx.conn, &new, 1)?);
            let chunk = *chunk;
            held.push(HeldChunk { chunk, holder });
        }
        Ok(held)
    }

    /// Counts what was stored; returns the objects that nothing refers to.
    pub(super) fn end(mut self, tx: &Tx<'_>, space: Space) -> Result<Vec<String>> {
        usage::count_files(tx.conn, space, self.files)?;
        let unused = chunks::set_object_refs(tx.conn, self.object, self.used)?;
        self.garbage.extend(unused);
        Ok(self.garbage)
    }
}

/// Returns what a batch adds to its space at most; nothing if it has copies, whose lists of chunks are not known yet.
fn largest_growth(items: &[BatchItem<'_>]) -> Option<Growth> {
    let mut most = Growth::default();
    for item in items {
        if item.create.copy_of.is_some() {
            return None;
        }
        let seal = item.complete.seal.as_ref().map_or(0, |seal| seal.0.len());
        let list = item.chunks.len() * HELD;
        let mut bytes = record_of(item.complete);
        for part in [seal as u64, list as u64] {
            bytes = bytes.saturating_add(revisions::to_signed(part));
        }
        for SentChunk { chunk, .. } in &item.chunks {
            bytes = bytes.saturating_add(revisions::to_signed(chunk.size));
        }
        most += Growth { bytes, files: 1 };
    }
    Some(most)
}

/// Adds a reference to each chunk of a revision for another one that is made of them (`copy_of`), and returns them.
/// Nothing is written if it fails. `retained` counts them in this batch.
///
/// # Errors
/// 404 for a chunk that is missing, 400 for a revision that is one too many for a batch.
fn retain_objects(
    tx: &Tx<'_>,
    found: &RevisionRow,
    retained: &mut usize,
) -> Result<Vec<HeldChunk>> {
    let held = found.chunks()?;
    let total = add_retained(*retained, held.len())?;
    for one in &held {
        if chunks::size(tx.conn, one.holder, one.chunk.id)?.is_none() {
            return Err(Error::not_found(format!(
                "the chunk {} of the revision {} is missing; send the file",
                one.chunk.id, found.id
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
