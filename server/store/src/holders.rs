//! The holder of a chunk: the file under whose id it is stored. It is the file itself, or for a copy that was made
//! without keys the original.
//!
//! A file and the holders of its chunks share one set of chunk ids: once a revision (a version of a content) of one of
//! them uses certain bytes under an id, no upload to any of them can store other bytes under it.

use super::chunks::{self, ChunkPlace};
use super::rows::{HeldChunk, find_held, id as read_id, unpack_chunks, unpack_held};
use super::{Space, Store, Tx, nodes, scrub};
use crate::db::{self, Connection, Optional as _, ValueRef, params};
use crate::error::{Error, Result};
use cairn_model::{AccountId, ChunkId, NodeId, RevisionId};
use cairn_wire::transfer::{RevisionContent, SealedChunk};
use std::collections::HashSet;

/// The one who needs the bytes of a stored chunk as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NeededBy {
    /// No account but the one that asks.
    Nobody,
    /// An open upload of somebody else.
    Upload,
    Revision,
}

/// A stored chunk, and who needs its bytes.
#[derive(Clone, Debug)]
pub struct StoredChunk {
    pub place: ChunkPlace,
    /// The node that it is stored for.
    pub(super) holder: NodeId,
    id: ChunkId,
    needed_by: NeededBy,
    is_confirmed: bool,
}

impl StoredChunk {
    /// Returns the error for other bytes than those that are there, unless these may be replaced.
    pub fn refusal(&self) -> Option<Error> {
        let who = match self.needed_by {
            NeededBy::Nobody => return None,
            NeededBy::Upload => "another member's upload",
            NeededBy::Revision => "a revision",
        };
        Some(Error::conflict(format!(
            "{who} uses the chunk {}, and has other bytes for it; they can't be replaced",
            self.id
        )))
    }

    /// Returns true if the bytes are a revision's, or those that the account that asks has sent.
    pub fn is_confirmed(&self) -> bool {
        self.is_confirmed
    }
}

/// The part of an announced chunk that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    Absent,
    /// Bytes that only others have sent: nobody has compared them with those that are meant.
    Unconfirmed,
    /// Bytes that are no longer those that were stored.
    Damaged,
    /// A revision's bytes, or those that the account itself has sent.
    Confirmed,
}

/// A chunk of an upload, and what is there of it.
pub(super) struct Announced {
    pub(super) held: HeldChunk,
    pub(super) presence: Presence,
}

/// A chunk that is stored for a node itself.
struct OwnChunk {
    size: u64,
    in_revision: bool,
    is_own: bool,
    /// The account has sent the same bytes after another one had.
    is_compared: bool,
    is_compared_by_others: bool,
}

fn own_chunk(
    conn: &Connection,
    node: NodeId,
    chunk: ChunkId,
    account: AccountId,
) -> Result<Option<OwnChunk>> {
    Ok(conn
        .prepare_cached(
            "SELECT size, refs > 0, account IS NOT DISTINCT FROM ?3, \
             EXISTS (SELECT 1 FROM compared_chunks WHERE node = ?1 AND chunk = ?2 AND account = ?3), \
             EXISTS (SELECT 1 FROM compared_chunks WHERE node = ?1 AND chunk = ?2 AND account <> ?3) \
             FROM chunks WHERE node = ?1 AND id = ?2",
        )?
        .query_row(
            params![node.as_bytes(), chunk.0, account.as_bytes()],
            |row| {
                Ok(OwnChunk {
                    size: row.get(0)?,
                    in_revision: row.get(1)?,
                    is_own: row.get(2)?,
                    is_compared: row.get(3)?,
                    is_compared_by_others: row.get(4)?,
                })
            },
        )
        .optional()?)
}

/// The size of a chunk that a revision has, as it is stored for a node.
fn kept_size(conn: &Connection, node: NodeId, chunk: ChunkId) -> Result<Option<u64>> {
    Ok(conn
        .prepare_cached("SELECT size FROM chunks WHERE node = ?1 AND id = ?2 AND refs > 0")?
        .query_row(params![node.as_bytes(), chunk.0], |row| row.get(0))
        .optional()?)
}

/// Finds the first of several nodes for which a chunk is stored that a revision has, and its size.
fn find_kept_for(
    conn: &Connection,
    nodes: &[NodeId],
    chunk: ChunkId,
) -> Result<Option<(NodeId, u64)>> {
    for node in nodes {
        if let Some(size) = kept_size(conn, *node, chunk)? {
            return Ok(Some((*node, size)));
        }
    }
    Ok(None)
}

/// The other nodes whose chunks a node's revisions have.
fn borrowed_holders(conn: &Connection, node: NodeId) -> Result<Vec<NodeId>> {
    Ok(conn
        .prepare_cached("SELECT holder FROM borrowed WHERE node = ?1")?
        .query_map([node.as_bytes()], |row| read_id(row, 0))?
        .collect::<db::Result<_>>()?)
}

/// Finds a chunk of any of a node's revisions, and the node that it is stored for.
fn in_revision(conn: &Connection, node: NodeId, chunk: ChunkId) -> Result<Option<NodeId>> {
    if kept_size(conn, node, chunk)?.is_some() {
        return Ok(Some(node));
    }
    let kept = find_kept_for(conn, &borrowed_holders(conn, node)?, chunk)?;
    Ok(kept.map(|(holder, _)| holder))
}

/// Returns true if an open upload of another account needs a chunk of a node.
fn is_announced_by_others(
    conn: &Connection,
    node: NodeId,
    chunk: ChunkId,
    account: AccountId,
    now: i64,
) -> Result<bool> {
    let lists: Vec<Vec<u8>> = conn
        .prepare_cached(
            "SELECT chunks FROM uploads WHERE node = ?1 AND done = 0 AND account <> ?2 AND expires_at > ?3",
        )?
        .query_map(
            params![node.as_bytes(), account.as_bytes(), now],
            |row| row.get(0),
        )?
        .collect::<db::Result<_>>()?;
    for packed in lists {
        if unpack_chunks(&packed)?.iter().any(|one| one.id == chunk) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns false if no chunk can be found for a node: none is stored for it, and it has none of another one.
pub(super) fn may_find_stored(conn: &Connection, node: NodeId) -> Result<bool> {
    Ok(conn
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM chunks WHERE node = ?1) \
             OR EXISTS (SELECT 1 FROM borrowed WHERE node = ?1)",
        )?
        .query_row([node.as_bytes()], |row| row.get(0))?)
}

/// Finds a stored chunk of a node, for an account that sends it.
pub(super) fn find_stored(
    conn: &Connection,
    node: NodeId,
    chunk: ChunkId,
    sender: AccountId,
    now: i64,
) -> Result<Option<StoredChunk>> {
    let (holder, needed_by, is_confirmed) = if let Some(holder) = in_revision(conn, node, chunk)? {
        (holder, NeededBy::Revision, true)
    } else if let Some(own) = own_chunk(conn, node, chunk, sender)? {
        let others_may_need = !own.is_own || own.is_compared_by_others;
        let is_needed = others_may_need && is_announced_by_others(conn, node, chunk, sender, now)?;
        let needed_by = if is_needed {
            NeededBy::Upload
        } else {
            NeededBy::Nobody
        };
        (node, needed_by, own.is_own || own.is_compared)
    } else {
        return Ok(None);
    };
    Ok(
        chunks::place(conn, holder, chunk)?.map(|place| StoredChunk {
            place,
            holder,
            id: chunk,
            needed_by,
            is_confirmed,
        }),
    )
}

/// Finds out for each distinct chunk that an account announces for a node where it is stored, if it is.
///
/// A revision's bytes come first, whichever node they are stored for; only then those that an upload has
/// brought for the node itself.
///
/// # Errors
/// 400 if one has another size than the announced one.
pub(super) fn look_up(
    conn: &Connection,
    node: NodeId,
    announced: &[SealedChunk],
    account: AccountId,
) -> Result<Vec<Announced>> {
    let others = borrowed_holders(conn, node)?;
    let any_damaged = scrub::is_any_damaged(conn)?;
    let mut seen = HashSet::with_capacity(announced.len());
    let mut out = Vec::with_capacity(announced.len());
    for chunk in announced {
        if !seen.insert(chunk.id) {
            continue;
        }
        let own = own_chunk(conn, node, chunk.id, account)?;
        let kept = match &own {
            Some(own) if own.in_revision => Some((node, own.size)),
            Some(_) | None => find_kept_for(conn, &others, chunk.id)?,
        };
        let (holder, size, presence) = match (kept, own) {
            (Some((holder, size)), _) => (holder, size, Presence::Confirmed),
            (None, Some(own)) if own.is_own || own.is_compared => {
                (node, own.size, Presence::Confirmed)
            }
            (None, Some(own)) => (node, own.size, Presence::Unconfirmed),
            (None, None) => (node, chunk.size, Presence::Absent),
        };
        check_size(chunk, size)?;
        let is_damaged = any_damaged
            && presence != Presence::Absent
            && scrub::is_damaged(conn, holder, chunk.id)?;
        let presence = if is_damaged {
            Presence::Damaged
        } else {
            presence
        };
        let held = HeldChunk {
            chunk: *chunk,
            holder,
        };
        out.push(Announced { held, presence });
    }
    Ok(out)
}

/// Refuses a chunk that is stored with another size than the announced one.
pub(super) fn check_size(chunk: &SealedChunk, stored: u64) -> Result<()> {
    if stored == chunk.size {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "`chunks`: the chunk {} has {stored} bytes here, and {} are announced",
        chunk.id, chunk.size
    )))
}

/// Notes the other nodes whose chunks a node's revision has.
pub(super) fn borrow_from(
    conn: &Connection,
    node: NodeId,
    holders: impl Iterator<Item = NodeId>,
) -> Result<()> {
    let others: HashSet<NodeId> = holders.filter(|holder| *holder != node).collect();
    for holder in others {
        conn.prepare_cached(
            "INSERT INTO borrowed (node, holder) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        )?
        .execute(params![node.as_bytes(), holder.as_bytes()])?;
    }
    Ok(())
}

/// Forgets whose chunks a node had that is erased.
pub(super) fn forget_borrowed(conn: &Connection, node: NodeId) -> Result<()> {
    conn.prepare_cached("DELETE FROM borrowed WHERE node = ?1")?
        .execute([node.as_bytes()])?;
    Ok(())
}

/// Forgets the nodes of whose chunks none of a node's revisions has any more, so that its readers reach
/// nothing of what those have since.
pub(super) fn forget_unused(conn: &Connection, node: NodeId) -> Result<()> {
    let mut unused: HashSet<NodeId> = borrowed_holders(conn, node)?.into_iter().collect();
    if unused.is_empty() {
        return Ok(());
    }
    let mut revisions = conn.prepare_cached("SELECT chunks FROM revisions WHERE node = ?1")?;
    let mut rows = revisions.query([node.as_bytes()])?;
    while let Some(row) = rows.next()? {
        for one in unpack_held(&row.get::<Vec<u8>>(0)?)? {
            unused.remove(&one.holder);
        }
    }
    for holder in unused {
        conn.prepare_cached("DELETE FROM borrowed WHERE node = ?1 AND holder = ?2")?
            .execute(params![node.as_bytes(), holder.as_bytes()])?;
    }
    Ok(())
}

/// Returns the place of a chunk of one revision, wherever that was sealed.
pub(super) fn of_revision(
    conn: &Connection,
    revision: RevisionId,
    chunk: ChunkId,
) -> Result<Option<ChunkPlace>> {
    let found = conn
        .prepare_cached("SELECT chunks FROM revisions WHERE id = ?1")?
        .query_row([revision.as_bytes()], |row| {
            // In place: the list of a large file is megabytes, and each of its chunks is asked for.
            Ok(find_held(row.get_with(0, ValueRef::as_blob)?, chunk))
        })
        .optional()?;
    match found.transpose()?.flatten() {
        Some(one) => chunks::place(conn, one.holder, chunk),
        None => Ok(None),
    }
}

impl Tx<'_> {
    /// Notes that an account has sent the very bytes that are stored for a chunk of an upload, so that the
    /// upload can be completed on them. Returns false if others are stored by now.
    pub fn confirm_chunk(
        &self,
        node: NodeId,
        account: AccountId,
        compared: &StoredChunk,
    ) -> Result<bool> {
        let present = find_stored(self.conn, node, compared.id, account, self.now)?;
        if present.is_none_or(|present| present.place != compared.place) {
            return Ok(false);
        }
        self.conn
            .prepare_cached(
                "INSERT INTO compared_chunks (node, chunk, account) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            )?
            .execute(params![
                compared.holder.as_bytes(),
                compared.id.0,
                account.as_bytes()
            ])?;
        Ok(true)
    }
}

impl Store {
    /// Finds a stored chunk of a node, for an account that sends it.
    pub fn stored_chunk(
        &self,
        node: NodeId,
        chunk: ChunkId,
        sender: AccountId,
    ) -> Result<Option<StoredChunk>> {
        let now = self.source().now_ms();
        self.read(|conn| find_stored(conn, node, chunk, sender, now))
    }

    /// Returns the place of a chunk of any of a node's revisions.
    ///
    /// # Errors
    /// 404 for a node or a chunk that isn't there.
    pub fn chunk_place(&self, space: Space, node: NodeId, chunk: ChunkId) -> Result<ChunkPlace> {
        self.read(|conn| {
            nodes::visible_node(conn, space, node)?;
            let missing = || Error::not_found(format!("the node {node} has no chunk {chunk}"));
            let holder = in_revision(conn, node, chunk)?.ok_or_else(missing)?;
            chunks::place(conn, holder, chunk)?.ok_or_else(missing)
        })
    }

    /// Lists the places of a revision's chunks, in file order.
    pub fn content_places(&self, content: &RevisionContent) -> Result<Vec<ChunkPlace>> {
        let id: RevisionId = content.revision_id;
        self.read(|conn| {
            let lacks = |what: String| Error::Internal(format!("the revision {id} lacks {what}"));
            let revision =
                super::revisions::find(conn, id)?.ok_or_else(|| lacks("its row".to_owned()))?;
            let place_of = |one: &HeldChunk| {
                chunks::place(conn, one.holder, one.chunk.id)?
                    .ok_or_else(|| lacks(format!("the chunk {}", one.chunk.id)))
            };
            revision.chunks()?.iter().map(place_of).collect()
        })
    }
}
