//! The records of the check of stored chunks (scrub): where it goes on, and what is damaged.
//!
//! The service holds chunks that it reads against their digests, and notes what is missing or has other bytes. Devices ask for
//! what is noted and send it again; it is taken if it has the digest.

use super::rows::id as read_id;
use super::{ChunkDigest, ChunkPlace, ObjectUse, Space, Store, chunks};
use crate::db::{self, Connection, Optional as _, params};
use crate::error::{Error, Result};
use cairn_model::{ChunkId, NodeId};
use cairn_wire::Timestamp;
use cairn_wire::transfer::{DamagedChunk, DamagedChunks};

/// The bytes of a cursor: those of a node and of a chunk.
const CURSOR: usize = 16 + 32;

/// The chunk ?2 of the node ?1, if it still begins at ?4 in the object ?3.
const STILL_THERE: &str = "FROM chunks c JOIN objects o ON o.id = c.object \
     WHERE c.node = ?1 AND c.id = ?2 AND o.name = ?3 AND c.start = ?4";

/// The chunks of the space ?1 behind the chunk ?3 of the node ?2, at most ?4: those of files, and those that copies have
/// of their originals, which may be gone. Few are damaged, so they come first.
const LIST_DAMAGED: &str = "SELECT node, id, found_at FROM (\
     SELECT d.node AS node, d.id AS id, d.found_at AS found_at FROM damaged_chunks d \
     CROSS JOIN nodes n ON n.id = d.node WHERE n.space = ?1 AND n.state < 2 UNION \
     SELECT b.node, d.id, d.found_at FROM damaged_chunks d CROSS JOIN borrowed b ON b.holder = d.node \
     CROSS JOIN nodes n ON n.id = b.node WHERE n.space = ?1 AND n.state < 2) found \
     WHERE (node, id) > (?2, ?3) ORDER BY node, id LIMIT ?4";

/// The place at which the check goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScrubPosition {
    /// The first object that is to be read.
    pub next: i64,
    /// The time at which it went on last, in ms since 1970.
    pub done_at: i64,
}

/// Returns true if any chunk of any space is known to be damaged.
pub(super) fn is_any_damaged(conn: &Connection) -> Result<bool> {
    Ok(conn
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM damaged_chunks)")?
        .query_row([], |row| row.get(0))?)
}

pub(super) fn is_damaged(conn: &Connection, node: NodeId, chunk: ChunkId) -> Result<bool> {
    Ok(conn
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM damaged_chunks WHERE node = ?1 AND id = ?2)")?
        .query_row(params![node.as_bytes(), chunk.0], |row| row.get(0))?)
}

impl Store {
    /// Returns the place at which the check of all that is stored goes on; `None` if it never began.
    pub fn scrub_position(&self) -> Result<Option<ScrubPosition>> {
        self.read_one(|conn| {
            Ok(conn
                .prepare_cached("SELECT next, done_at FROM scrub WHERE row = 1")?
                .query_row([], |row| {
                    Ok(ScrubPosition {
                        next: row.get(0)?,
                        done_at: row.get(1)?,
                    })
                })
                .optional()?)
        })
    }

    /// Notes the place at which the check goes on.
    pub fn set_scrub_position(&self, position: ScrubPosition) -> Result<()> {
        self.write(|tx| {
            tx.conn
                .prepare_cached(
                    "INSERT INTO scrub (row, next, done_at) VALUES (1, ?1, ?2) \
                     ON CONFLICT (row) DO UPDATE SET next = excluded.next, done_at = excluded.done_at",
                )?
                .execute(params![position.next, position.done_at])?;
            Ok(())
        })
    }

    /// Returns the bytes of all that is stored, as quotas count it.
    pub fn stored_bytes(&self) -> Result<u64> {
        self.read_one(|conn| {
            let sql = "SELECT CAST(coalesce(sum(storage_used), 0) AS BIGINT) FROM spaces";
            Ok(conn.query_row(sql, [], |row| row.get(0))?)
        })
    }

    /// Returns the first objects with chunks of files from a position on, in their order.
    pub fn objects_from(&self, first: i64, most: u32) -> Result<Vec<ObjectUse>> {
        self.read(|conn| {
            Ok(conn
                .prepare_cached(
                    "SELECT o.id, o.name, (SELECT coalesce(sum(c.size), 0) FROM chunks c WHERE c.object = o.id) \
                     FROM objects o WHERE o.id >= ?1 \
                     AND EXISTS (SELECT 1 FROM chunks c WHERE c.object = o.id) ORDER BY o.id LIMIT ?2",
                )?
                .query_map(params![first, most], |row| {
                    Ok(ObjectUse {
                        row: row.get(0)?,
                        name: row.get(1)?,
                        needed: row.get(2)?,
                    })
                })?
                .collect::<db::Result<_>>()?)
        })
    }

    /// Lists all chunks of the files of which one was found damaged since a time, in ms since 1970.
    pub fn chunks_beside_damage(&self, since: i64) -> Result<Vec<ChunkPlace>> {
        self.read(|conn| {
            let nodes: Vec<NodeId> = conn
                .prepare_cached("SELECT DISTINCT node FROM damaged_chunks WHERE found_at >= ?1")?
                .query_map([since], |row| read_id(row, 0))?
                .collect::<db::Result<_>>()?;
            let mut places = Vec::new();
            for node in nodes {
                let ids: Vec<ChunkId> = conn
                    .prepare_cached("SELECT id FROM chunks WHERE node = ?1 ORDER BY object, start")?
                    .query_map([node.as_bytes()], |row| row.get(0).map(ChunkId))?
                    .collect::<db::Result<_>>()?;
                for id in ids {
                    places.extend(chunks::place(conn, node, id)?);
                }
            }
            Ok(places)
        })
    }

    /// Notes chunks that are damaged where they lie; returns how many still lie there. One that has moved or gone
    /// meanwhile is not damaged.
    pub fn note_damaged(&self, places: &[&ChunkPlace]) -> Result<u64> {
        let sql = format!(
            "INSERT INTO damaged_chunks (node, id, found_at) SELECT c.node, c.id, ?5 {STILL_THERE} \
             ON CONFLICT (node, id) DO UPDATE SET found_at = damaged_chunks.found_at"
        );
        self.write(|tx| {
            let mut noted = 0;
            for place in places {
                let (node, id) = (place.node.as_bytes(), place.id.0);
                let changed = tx.conn.prepare_cached(&sql)?.execute(params![
                    node,
                    id,
                    place.object,
                    place.start,
                    tx.now
                ])?;
                noted += changed as u64;
            }
            Ok(noted)
        })
    }

    /// Notes chunks that are as they were stored, with the digests of those from before digests.
    pub fn note_sound(&self, places: &[(&ChunkPlace, ChunkDigest)]) -> Result<()> {
        let forget = format!(
            "DELETE FROM damaged_chunks WHERE node = ?1 AND id = ?2 AND EXISTS (SELECT 1 {STILL_THERE})"
        );
        let digest_of_older = format!(
            "UPDATE chunks SET digest = ?5 WHERE node = ?1 AND id = ?2 AND digest IS NULL \
             AND EXISTS (SELECT 1 {STILL_THERE})"
        );
        self.write(|tx| {
            for (place, digest) in places {
                let (node, id) = (place.node.as_bytes(), place.id.0);
                tx.conn.prepare_cached(&forget)?.execute(params![
                    node,
                    id,
                    place.object,
                    place.start
                ])?;
                if place.digest.is_none() {
                    tx.conn.prepare_cached(&digest_of_older)?.execute(params![
                        node,
                        id,
                        place.object,
                        place.start,
                        digest.0
                    ])?;
                }
            }
            Ok(())
        })
    }

    /// Returns true if one of some chunks is noted as damaged.
    pub fn is_noted_damaged(&self, places: &[ChunkPlace]) -> Result<bool> {
        self.read(|conn| {
            if !is_any_damaged(conn)? {
                return Ok(false);
            }
            for place in places {
                if is_damaged(conn, place.node, place.id)? {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }

    /// Lists damaged chunks of a space's files, those in the trash among them.
    ///
    /// # Errors
    /// 400 for a cursor that is none.
    pub fn damaged_chunks(
        &self,
        space: Space,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<DamagedChunks> {
        let after = cursor.map_or(Ok(Vec::new()), |text| {
            let bytes = hex::decode(text).ok().filter(|bytes| bytes.len() == CURSOR);
            bytes.ok_or_else(|| Error::invalid("`cursor` is none of a page of damaged chunks"))
        })?;
        let (node, chunk) = after.split_at(after.len().min(16));
        let most = limit.saturating_add(1);
        let mut found: Vec<DamagedChunk> = self.read(|conn| {
            Ok(conn
                .prepare_cached(LIST_DAMAGED)?
                .query_map(params![space.row, node, chunk, most as u64], |row| {
                    Ok(DamagedChunk {
                        node_id: read_id(row, 0)?,
                        chunk_id: ChunkId(row.get(1)?),
                        found_at: Timestamp(row.get(2)?),
                    })
                })?
                .collect::<db::Result<_>>()?)
        })?;
        let is_more = found.len() > limit;
        found.truncate(limit);
        let next = found
            .last()
            .filter(|_| is_more)
            .map(|last| hex::encode([&last.node_id.as_bytes()[..], &last.chunk_id.0].concat()));
        Ok(DamagedChunks {
            chunks: found,
            next,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use crate::{Clock, Source};
    use std::sync::Arc;

    #[test]
    fn the_position_of_the_check_is_kept() {
        let store = testing::open(Arc::new(Source::new(Clock::System, None)));
        assert_eq!(store.scrub_position().unwrap(), None);
        for next in [7, 0] {
            let position = ScrubPosition { next, done_at: 5 };
            store.set_scrub_position(position).unwrap();
            assert_eq!(store.scrub_position().unwrap(), Some(position));
        }
    }

    #[test]
    fn a_list_of_what_is_damaged_reads_no_other_nodes() {
        let store = Store::open(None, Arc::new(Source::new(Clock::System, None))).unwrap();
        let plan: Vec<String> = store
            .read(|conn| {
                let sql = format!("EXPLAIN QUERY PLAN {LIST_DAMAGED}");
                let nothing: &[u8] = &[];
                let rows = conn
                    .prepare(&sql)?
                    .query_map(params![1, nothing, nothing, 1], |row| row.get(3))?
                    .collect::<db::Result<_>>()?;
                Ok(rows)
            })
            .unwrap();
        let reads = |table: &str| {
            let scan = format!("SCAN {table}");
            plan.iter().any(|line| line.starts_with(&scan))
        };
        assert!(reads("d") && !reads("n") && !reads("b"), "{plan:?}");
    }
}
