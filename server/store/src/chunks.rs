//! The objects that sealed chunks lie in, and when one is no longer needed.

use super::rows::{HeldChunk, id as read_id, unpack_chunks};
use super::{Space, Store, nodes};
use crate::error::{Error, Result};
use crate::objects::Extent;
use cairn_model::{AccountId, ChunkId, NodeId, RevisionId};
use cairn_wire::transfer::{RevisionContent, SealedChunk};
use rusqlite::{Connection, OptionalExtension as _, params};
use std::collections::HashSet;

/// A chunk's place, and how long it is.
#[derive(Clone, Debug)]
pub struct ChunkPlace {
    pub object: String,
    pub start: u64,
    pub size: u64,
}

impl ChunkPlace {
    pub fn extent(&self) -> Extent {
        Extent {
            object: self.object.clone(),
            range: self.start..self.start + self.size,
        }
    }
}

/// The holders of a stored chunk, who need its bytes as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    /// Nobody but the account that asks.
    Nobody,
    /// An open upload of somebody else.
    Upload,
    Revision,
}

/// A stored chunk, and who needs its bytes.
#[derive(Clone, Debug)]
pub struct StoredChunk {
    pub place: ChunkPlace,
    id: ChunkId,
    holder: Holder,
}

impl StoredChunk {
    /// Returns the error for other bytes than those that are there, unless these may be replaced.
    pub fn refusal(&self) -> Option<Error> {
        let who = match self.holder {
            Holder::Nobody => return None,
            Holder::Upload => "another member's upload",
            Holder::Revision => "a revision",
        };
        Some(Error::conflict(format!(
            "{who} uses the chunk {}, and has other bytes for it; they can't be replaced",
            self.id
        )))
    }
}

/// Returns true if an open upload of another account needs a chunk of a node.
fn announced_by_others(
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
        .collect::<rusqlite::Result<_>>()?;
    for packed in lists {
        if unpack_chunks(&packed)?.iter().any(|one| one.id == chunk) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Finds a stored chunk of a node, for an account that sends it.
pub(super) fn stored(
    conn: &Connection,
    node: NodeId,
    chunk: ChunkId,
    sender: AccountId,
    now: i64,
) -> Result<Option<StoredChunk>> {
    let Some(place) = place(conn, node, chunk)? else {
        return Ok(None);
    };
    let (in_revision, own): (bool, bool) = conn
        .prepare_cached("SELECT refs > 0, account IS ?3 FROM chunks WHERE node = ?1 AND id = ?2")?
        .query_row(
            params![node.as_bytes(), chunk.0, sender.as_bytes()],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
    let holder = if in_revision {
        Holder::Revision
    } else if !own && announced_by_others(conn, node, chunk, sender, now)? {
        Holder::Upload
    } else {
        Holder::Nobody
    };
    Ok(Some(StoredChunk {
        place,
        id: chunk,
        holder,
    }))
}

/// Returns true if the bytes of a stored chunk are what an account may build on unseen: a revision's, or
/// its own. Of bytes that somebody else has just sent, nobody knows what they are.
pub(super) fn is_known_to(
    conn: &Connection,
    node: NodeId,
    chunk: ChunkId,
    account: AccountId,
) -> Result<bool> {
    Ok(conn
        .prepare_cached(
            "SELECT refs > 0 OR account IS NULL OR account = ?3 FROM chunks WHERE node = ?1 AND id = ?2",
        )?
        .query_row(
            params![node.as_bytes(), chunk.0, account.as_bytes()],
            |row| row.get(0),
        )
        .optional()?
        .unwrap_or(false))
}

/// The size of a stored chunk.
pub(super) fn size(conn: &Connection, node: NodeId, chunk: ChunkId) -> Result<Option<u64>> {
    Ok(conn
        .prepare_cached("SELECT size FROM chunks WHERE node = ?1 AND id = ?2")?
        .query_row(params![node.as_bytes(), chunk.0], |row| row.get(0))
        .optional()?)
}

fn place(conn: &Connection, node: NodeId, chunk: ChunkId) -> Result<Option<ChunkPlace>> {
    Ok(conn
        .prepare_cached(
            "SELECT o.name, c.start, c.size FROM chunks c JOIN objects o ON o.id = c.object \
             WHERE c.node = ?1 AND c.id = ?2",
        )?
        .query_row(params![node.as_bytes(), chunk.0], |row| {
            Ok(ChunkPlace {
                object: row.get(0)?,
                start: row.get(1)?,
                size: row.get(2)?,
            })
        })
        .optional()?)
}

/// Returns the place of a chunk of one revision, wherever that was sealed.
pub(super) fn of_revision(
    conn: &Connection,
    revision: RevisionId,
    chunk: ChunkId,
) -> Result<Option<ChunkPlace>> {
    let Some(found) = super::revisions::find(conn, revision)? else {
        return Ok(None);
    };
    match found.chunks()?.iter().find(|one| one.chunk.id == chunk) {
        Some(one) => place(conn, one.holder, chunk),
        None => Ok(None),
    }
}

/// Makes an object known; its chunks are added one by one.
pub(super) fn add_object(conn: &Connection, name: &str) -> Result<i64> {
    conn.prepare_cached("INSERT INTO objects (name, refs) VALUES (?1, 0)")?
        .execute([name])?;
    Ok(conn.last_insert_rowid())
}

/// A chunk's place in an object, and who pays for it.
pub(super) struct NewChunk {
    pub(super) node: NodeId,
    pub(super) chunk: SealedChunk,
    pub(super) object: i64,
    pub(super) start: u64,
    pub(super) space: i64,
    pub(super) account: AccountId,
}

/// Adds a chunk with `refs` references, or that many references to the one that is there already.
/// Returns true if the new place is used.
pub(super) fn add(conn: &Connection, new: &NewChunk, refs: i64) -> Result<bool> {
    let used: i64 = conn
        .prepare_cached(
            "INSERT INTO chunks (node, id, object, start, size, refs, space, account) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
             ON CONFLICT (node, id) DO UPDATE SET refs = refs + excluded.refs RETURNING object",
        )?
        .query_row(
            params![
                new.node.as_bytes(),
                new.chunk.id.0,
                new.object,
                new.start,
                new.chunk.size,
                refs,
                new.space,
                new.account.as_bytes()
            ],
            |row| row.get(0),
        )?;
    Ok(used == new.object)
}

/// Sets how many chunks lie in an object; without any it is forgotten, and its name comes back.
pub(super) fn set_object_refs(conn: &Connection, object: i64, refs: i64) -> Result<Option<String>> {
    if refs > 0 {
        conn.prepare_cached("UPDATE objects SET refs = ?2 WHERE id = ?1")?
            .execute(params![object, refs])?;
        return Ok(None);
    }
    Ok(Some(
        conn.prepare_cached("DELETE FROM objects WHERE id = ?1 RETURNING name")?
            .query_row([object], |row| row.get(0))?,
    ))
}

/// One more revision uses a chunk.
pub(super) fn retain(conn: &Connection, node: NodeId, chunk: ChunkId) -> Result<()> {
    let changed = conn
        .prepare_cached("UPDATE chunks SET refs = refs + 1 WHERE node = ?1 AND id = ?2")?
        .execute(params![node.as_bytes(), chunk.0])?;
    if changed == 0 {
        return Err(Error::Internal(format!(
            "the chunk {chunk} of the node {node} is missing"
        )));
    }
    Ok(())
}

/// One revision less uses a chunk; objects without chunks are added to `garbage`.
pub(super) fn release(
    conn: &Connection,
    node: NodeId,
    chunk: ChunkId,
    garbage: &mut Vec<String>,
) -> Result<()> {
    let left: Option<i64> = conn
        .prepare_cached(
            "UPDATE chunks SET refs = refs - 1 WHERE node = ?1 AND id = ?2 RETURNING refs",
        )?
        .query_row(params![node.as_bytes(), chunk.0], |row| row.get(0))
        .optional()?;
    if left.is_some_and(|refs| refs <= 0) {
        remove(conn, node, chunk, garbage)?;
    }
    Ok(())
}

/// Deletes a chunk that no revision uses.
pub(super) fn remove(
    conn: &Connection,
    node: NodeId,
    chunk: ChunkId,
    garbage: &mut Vec<String>,
) -> Result<()> {
    let object: Option<i64> = conn
        .prepare_cached(
            "DELETE FROM chunks WHERE node = ?1 AND id = ?2 AND refs <= 0 RETURNING object",
        )?
        .query_row(params![node.as_bytes(), chunk.0], |row| row.get(0))
        .optional()?;
    if let Some(object) = object {
        let refs: i64 = conn
            .prepare_cached("UPDATE objects SET refs = refs - 1 WHERE id = ?1 RETURNING refs")?
            .query_row([object], |row| row.get(0))?;
        if refs <= 0 {
            garbage.extend(set_object_refs(conn, object, 0)?);
        }
    }
    Ok(())
}

/// Deletes what uploads left behind for a node.
pub(super) fn drop_unused(
    conn: &Connection,
    node: NodeId,
    garbage: &mut Vec<String>,
) -> Result<()> {
    let unused: Vec<ChunkId> = conn
        .prepare_cached("SELECT id FROM chunks WHERE node = ?1 AND refs <= 0")?
        .query_map([node.as_bytes()], |row| row.get(0).map(ChunkId))?
        .collect::<rusqlite::Result<_>>()?;
    unused
        .into_iter()
        .try_for_each(|chunk| remove(conn, node, chunk, garbage))
}

/// Notes the other nodes whose chunks a node's revision uses.
pub(super) fn borrow_from(
    conn: &Connection,
    node: NodeId,
    holders: impl Iterator<Item = NodeId>,
) -> Result<()> {
    let others: HashSet<NodeId> = holders.filter(|holder| *holder != node).collect();
    for holder in others {
        conn.prepare_cached("INSERT OR IGNORE INTO borrowed (node, holder) VALUES (?1, ?2)")?
            .execute(params![node.as_bytes(), holder.as_bytes()])?;
    }
    Ok(())
}

/// Forgets whose chunks a node used that is erased.
pub(super) fn forget_borrowed(conn: &Connection, node: NodeId) -> Result<()> {
    conn.prepare_cached("DELETE FROM borrowed WHERE node = ?1")?
        .execute([node.as_bytes()])?;
    Ok(())
}

/// The other nodes whose chunks a node's revisions have used.
pub(super) fn borrowed(conn: &Connection, node: NodeId) -> Result<Vec<NodeId>> {
    Ok(conn
        .prepare_cached("SELECT holder FROM borrowed WHERE node = ?1")?
        .query_map([node.as_bytes()], |row| read_id(row, 0))?
        .collect::<rusqlite::Result<_>>()?)
}

/// Finds the node for which a chunk of another is stored: itself, or one whose chunks it has used, as long
/// as a revision keeps the chunk. For a chunk that isn't there it is the node itself.
pub(super) fn holder(
    conn: &Connection,
    node: NodeId,
    others: &[NodeId],
    chunk: ChunkId,
) -> Result<NodeId> {
    if others.is_empty() || size(conn, node, chunk)?.is_some() {
        return Ok(node);
    }
    for other in others {
        let is_kept: bool = conn
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM chunks WHERE node = ?1 AND id = ?2 AND refs > 0)",
            )?
            .query_row(params![other.as_bytes(), chunk.0], |row| row.get(0))?;
        if is_kept {
            return Ok(*other);
        }
    }
    Ok(node)
}

/// Finds out for each distinct chunk of an upload which node it is stored for.
pub(super) fn held(
    conn: &Connection,
    node: NodeId,
    announced: &[SealedChunk],
) -> Result<Vec<HeldChunk>> {
    let others = borrowed(conn, node)?;
    let mut seen = HashSet::with_capacity(announced.len());
    let mut out = Vec::with_capacity(announced.len());
    for chunk in announced {
        if seen.insert(chunk.id) {
            let holder = holder(conn, node, &others, chunk.id)?;
            out.push(HeldChunk {
                chunk: *chunk,
                holder,
            });
        }
    }
    Ok(out)
}

impl Store {
    /// Returns the place of a chunk of any of a node's revisions.
    ///
    /// # Errors
    /// 404 for a node or a chunk that isn't there.
    pub fn chunk_place(&self, space: Space, node: NodeId, chunk: ChunkId) -> Result<ChunkPlace> {
        self.read(|conn| {
            nodes::visible(conn, space, node)?;
            let holder = holder(conn, node, &borrowed(conn, node)?, chunk)?;
            place(conn, holder, chunk)?
                .ok_or_else(|| Error::not_found(format!("the node {node} has no chunk {chunk}")))
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
                place(conn, one.holder, one.chunk.id)?
                    .ok_or_else(|| lacks(format!("the chunk {}", one.chunk.id)))
            };
            revision.chunks()?.iter().map(place_of).collect()
        })
    }

    /// The names of all objects.
    pub fn object_names(&self) -> Result<HashSet<String>> {
        self.read(|conn| {
            Ok(conn
                .prepare("SELECT name FROM objects")?
                .query_map([], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Clock, Source, Store};
    use std::sync::Arc;

    #[test]
    fn the_chunks_of_an_object_are_found_by_an_index() {
        let store = Store::open(None, Arc::new(Source::new(Clock::System, None))).unwrap();
        let plan: String = store
            .read(|conn| {
                let sql = "EXPLAIN QUERY PLAN SELECT count(*) FROM chunks WHERE object = 1";
                Ok(conn.query_row(sql, [], |row| row.get(3))?)
            })
            .unwrap();
        assert!(plan.contains("chunks_object"), "{plan}");
    }
}
