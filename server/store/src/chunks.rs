//! Stored chunks (encrypted pieces of files): the object, a blob in the file system or bucket, in which each lies,
//! alone or with those of a batch; and the count of references after which an object is no longer needed.

use super::{ChunkDigest, Store};
use crate::db::{self, Connection, Optional as _, params};
use crate::error::{Error, Result};
use crate::objects::Extent;
use cairn_model::{AccountId, ChunkId, NodeId};
use cairn_wire::transfer::SealedChunk;
use std::collections::HashSet;

/// A chunk's place, and how long it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkPlace {
    /// The node that it is stored for.
    pub(crate) node: NodeId,
    pub(crate) id: ChunkId,
    pub object: String,
    pub start: u64,
    pub size: u64,
    /// The digest of the bytes that were stored; `None` for a chunk from before digests that nobody has read since.
    pub digest: Option<ChunkDigest>,
}

impl ChunkPlace {
    pub fn extent(&self) -> Extent {
        Extent {
            object: self.object.clone(),
            range: self.start..self.start + self.size,
        }
    }
}

/// The size of a stored chunk.
pub(super) fn size(conn: &Connection, node: NodeId, chunk: ChunkId) -> Result<Option<u64>> {
    Ok(conn
        .prepare_cached("SELECT size FROM chunks WHERE node = ?1 AND id = ?2")?
        .query_row(params![node.as_bytes(), chunk.0], |row| row.get(0))
        .optional()?)
}

/// The place of a chunk that is stored for a node.
pub(super) fn place(conn: &Connection, node: NodeId, chunk: ChunkId) -> Result<Option<ChunkPlace>> {
    Ok(conn
        .prepare_cached(
            "SELECT o.name, c.start, c.size, c.digest FROM chunks c JOIN objects o ON o.id = c.object \
             WHERE c.node = ?1 AND c.id = ?2",
        )?
        .query_row(params![node.as_bytes(), chunk.0], |row| {
            Ok(ChunkPlace {
                node,
                id: chunk,
                object: row.get(0)?,
                start: row.get(1)?,
                size: row.get(2)?,
                digest: row.get::<Option<[u8; 16]>>(3)?.map(ChunkDigest),
            })
        })
        .optional()?)
}

/// Makes an object known; its chunks are added one by one.
pub(super) fn add_object(conn: &Connection, name: &str) -> Result<i64> {
    Ok(conn
        .prepare_cached("INSERT INTO objects (name, refs) VALUES (?1, 0) RETURNING id")?
        .query_row([name], |row| row.get(0))?)
}

/// A chunk's place in an object, and who pays for it.
pub(super) struct NewChunk {
    pub(super) node: NodeId,
    pub(super) chunk: SealedChunk,
    pub(super) object: i64,
    pub(super) start: u64,
    pub(super) digest: ChunkDigest,
    pub(super) space: i64,
    pub(super) account: AccountId,
}

/// Adds a chunk with `refs` references, or that many references to the one that is there already.
/// Returns true if the new place is used.
pub(super) fn add(conn: &Connection, new: &NewChunk, refs: i64) -> Result<bool> {
    let used: i64 = conn
        .prepare_cached(
            "INSERT INTO chunks (node, id, object, start, size, refs, space, account, digest) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) \
             ON CONFLICT (node, id) DO UPDATE SET refs = chunks.refs + excluded.refs RETURNING object",
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
                new.account.as_bytes(),
                new.digest.0
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
    match object {
        Some(object) => leave_object(conn, object, garbage),
        None => Ok(()),
    }
}

/// One chunk less lies in an object.
fn leave_object(conn: &Connection, object: i64, garbage: &mut Vec<String>) -> Result<()> {
    let refs: i64 = conn
        .prepare_cached("UPDATE objects SET refs = refs - 1 WHERE id = ?1 RETURNING refs")?
        .query_row([object], |row| row.get(0))?;
    if refs <= 0 {
        garbage.extend(set_object_refs(conn, object, 0)?);
    }
    Ok(())
}

/// Gives a chunk a place where its bytes lie again. The caller has compared them with its digest, and counts the chunk
/// in its new object.
pub(super) fn heal(
    conn: &Connection,
    (node, chunk): (NodeId, ChunkId),
    (object, start): (i64, u64),
    garbage: &mut Vec<String>,
) -> Result<()> {
    let former: i64 = conn
        .prepare_cached("SELECT object FROM chunks WHERE node = ?1 AND id = ?2")?
        .query_row(params![node.as_bytes(), chunk.0], |row| row.get(0))?;
    conn.prepare_cached("UPDATE chunks SET object = ?3, start = ?4 WHERE node = ?1 AND id = ?2")?
        .execute(params![node.as_bytes(), chunk.0, object, start])?;
    conn.prepare_cached("DELETE FROM damaged_chunks WHERE node = ?1 AND id = ?2")?
        .execute(params![node.as_bytes(), chunk.0])?;
    leave_object(conn, former, garbage)
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
        .collect::<db::Result<_>>()?;
    unused
        .into_iter()
        .try_for_each(|chunk| remove(conn, node, chunk, garbage))
}

impl Store {
    /// The names of all objects.
    pub fn object_names(&self) -> Result<HashSet<String>> {
        self.read(|conn| {
            Ok(conn
                .prepare("SELECT name FROM objects")?
                .query_map([], |row| row.get(0))?
                .collect::<db::Result<_>>()?)
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
