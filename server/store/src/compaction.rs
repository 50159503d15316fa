//! Compaction of objects (stored blobs) of which most parts are unreferenced: the chunks that are still needed move to
//! new objects.
//!
//! A batch of small files lies in one object, which stays until the last of them goes. Nothing is
//! deleted here: the old object is known to nobody once its chunks have moved, and goes with the next
//! sweep, long after the last download that began with it.

use super::rows::id as read_id;
use super::{ChunkDigest, ChunkPlace, Store, chunks};
use crate::db::{self, Connection, Optional as _, params};
use crate::error::{Error, Result};
use cairn_model::ChunkId;

/// An object, and how much of it is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectUse {
    pub(crate) row: i64,
    pub name: String,
    /// Bytes.
    pub needed: u64,
}

impl ObjectUse {
    /// Returns the position of whatever follows it (see [`Store::objects_from`]).
    #[must_use]
    pub fn after(&self) -> i64 {
        self.row + 1
    }
}

/// A chunk that is to move.
#[derive(Clone, Debug)]
pub struct Part {
    pub place: ChunkPlace,
}

/// Returns false if an object is gone: its row may belong to another one by now.
fn is_there(conn: &Connection, object: &ObjectUse) -> Result<bool> {
    Ok(conn
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM objects WHERE id = ?1 AND name = ?2)")?
        .query_row(params![object.row, object.name], |row| row.get(0))?)
}

impl Store {
    /// Returns what is needed of each object.
    pub fn object_uses(&self) -> Result<Vec<ObjectUse>> {
        self.read(|conn| {
            Ok(conn
                .prepare(
                    "SELECT o.id, o.name, sum(c.size) FROM objects o JOIN chunks c ON c.object = o.id \
                     GROUP BY o.id ORDER BY o.id",
                )?
                .query_map([], |row| {
                    Ok(ObjectUse {
                        row: row.get(0)?,
                        name: row.get(1)?,
                        needed: row.get(2)?,
                    })
                })?
                .collect::<db::Result<_>>()?)
        })
    }

    /// Lists the chunks in an object, in the order in which they lie there.
    pub fn parts_of(&self, object: &ObjectUse) -> Result<Vec<Part>> {
        self.read(|conn| {
            if !is_there(conn, object)? {
                return Ok(Vec::new());
            }
            Ok(conn
                .prepare_cached(
                    "SELECT node, id, start, size, digest FROM chunks WHERE object = ?1 ORDER BY start",
                )?
                .query_map([object.row], |row| {
                    Ok(Part {
                        place: ChunkPlace {
                            node: read_id(row, 0)?,
                            id: ChunkId(row.get(1)?),
                            object: object.name.clone(),
                            start: row.get(2)?,
                            size: row.get(3)?,
                            digest: row.get::<Option<[u8; 16]>>(4)?.map(ChunkDigest),
                        },
                    })
                })?
                .collect::<db::Result<_>>()?)
        })
    }

    /// Moves chunks into `name`, where they lie one after the other. Chunks that have gone or moved
    /// meanwhile stay as they are. Returns the name of the new object if no chunk is left to lie in it.
    ///
    /// # Errors
    /// A database that fails; nothing has moved then.
    pub fn move_parts(
        &self,
        object: &ObjectUse,
        parts: &[Part],
        name: &str,
    ) -> Result<Option<String>> {
        self.write(|tx| {
            if !is_there(tx.conn, object)? {
                return Ok(Some(name.to_owned()));
            }
            let row = chunks::add_object(tx.conn, name)?;
            let (mut start, mut moved) = (0_u64, 0_i64);
            for part in parts {
                let changed = tx
                    .conn
                    .prepare_cached(
                        "UPDATE chunks SET object = ?5, start = ?6 WHERE node = ?1 AND id = ?2 \
                         AND object = ?3 AND start = ?4 AND size = ?7",
                    )?
                    .execute(params![
                        part.place.node.as_bytes(),
                        part.place.id.0,
                        object.row,
                        part.place.start,
                        row,
                        start,
                        part.place.size
                    ])?;
                moved += i64::try_from(changed).unwrap_or(i64::MAX);
                start += part.place.size;
            }
            let unmoved: i64 = tx
                .conn
                .prepare_cached("SELECT count(*) FROM chunks WHERE object = ?1")?
                .query_row([object.row], |row| row.get(0))?;
            let left: Option<i64> = tx
                .conn
                .prepare_cached("UPDATE objects SET refs = refs - ?2 WHERE id = ?1 RETURNING refs")?
                .query_row(params![object.row, moved], |row| row.get(0))
                .optional()?;
            if left.is_some_and(|left| left != unmoved) {
                return Err(Error::Internal(format!(
                    "the object {} counts {left:?} chunks and has {unmoved}; it is left as it is",
                    object.name
                )));
            }
            if unmoved == 0 {
                tx.conn
                    .prepare_cached("DELETE FROM objects WHERE id = ?1")?
                    .execute([object.row])?;
            }
            chunks::set_object_refs(tx.conn, row, moved)
        })
    }
}
