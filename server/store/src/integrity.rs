//! The integrity check of the database: SQLite's own, and whether stored counts (references to chunks, usage) are those
//! of what is there.

use super::Store;
use super::rows::{HeldChunk, id as read_id, unpack_held};
use super::usage;
use crate::db::{Connection, Optional as _, params};
use crate::error::Result;
use cairn_model::{ChunkId, NodeId, RevisionId};
use std::collections::{HashMap, HashSet};

impl Store {
    /// Checks the database by itself, and returns what is wrong with it.
    pub fn check_integrity(&self) -> Result<Vec<String>> {
        self.read(|conn| {
            let mut problems = conn.problems()?;
            let miscounted: u64 = conn.query_row(
                "SELECT count(*) FROM objects o WHERE o.refs <> \
                 (SELECT count(*) FROM chunks c WHERE c.object = o.id) \
                 + (SELECT count(*) FROM log_objects l WHERE l.object = o.id)",
                [],
                |row| row.get(0),
            )?;
            if miscounted > 0 {
                problems.push(format!("{miscounted} objects count their chunks wrongly"));
            }
            problems.extend(miscounted_uses(conn)?);
            let miscounted = usage::miscounted_spaces(conn)?;
            if miscounted > 0 {
                problems.push(format!(
                    "{miscounted} accounts or teams count what is stored for them wrongly"
                ));
            }
            let holders = Holders::read(conn)?;
            problems.extend(incomplete_revisions(conn, &holders)?);
            problems.extend(miscounted_chunks(conn, &holders)?);
            Ok(problems)
        })
    }
}

/// The files whose versions use chunks that are stored for other files (copies that were made without keys).
#[derive(Default)]
struct Holders {
    /// The nodes that borrow contents, by the node that they are stored for.
    borrowers: HashMap<NodeId, HashSet<NodeId>>,
}

impl Holders {
    fn read(conn: &Connection) -> Result<Self> {
        let mut all = Self::default();
        let mut noted = conn.prepare("SELECT node, holder FROM borrowed")?;
        let mut rows = noted.query([])?;
        while let Some(row) = rows.next()? {
            let (node, holder): (NodeId, NodeId) = (read_id(&row, 0)?, read_id(&row, 1)?);
            all.borrowers.entry(holder).or_default().insert(node);
        }
        Ok(all)
    }

    fn has(&self, node: NodeId, holder: NodeId) -> bool {
        node == holder
            || self
                .borrowers
                .get(&holder)
                .is_some_and(|nodes| nodes.contains(&node))
    }
}

/// Checks what names objects beside commits: one that is counted too low would go while it is needed.
fn miscounted_uses(conn: &Connection) -> Result<Option<String>> {
    let miscounted: u64 = conn.query_row(
        "WITH held AS MATERIALIZED (SELECT space, id, count(*) AS uses FROM log_uses GROUP BY space, id) \
         SELECT (SELECT count(*) FROM log_objects l LEFT JOIN held h ON h.space = l.space AND h.id = l.id \
         WHERE l.uses <> CASE WHEN l.named_at IS NULL THEN 0 ELSE coalesce(h.uses, 0) END) \
         + (SELECT count(*) FROM held h LEFT JOIN log_objects l \
         ON l.space = h.space AND l.id = h.id AND l.named_at IS NOT NULL WHERE l.id IS NULL)",
        [],
        |row| row.get(0),
    )?;
    Ok((miscounted > 0).then(|| {
        format!("{miscounted} objects beside commits are missing or count what names them wrongly")
    }))
}

/// Finds revisions of which chunks are not stored, or stored where nobody looks for them.
fn incomplete_revisions(conn: &Connection, holders: &Holders) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let mut revisions = conn.prepare("SELECT id, node, chunks FROM revisions")?;
    let mut stored = conn.prepare("SELECT size FROM chunks WHERE node = ?1 AND id = ?2")?;
    let mut rows = revisions.query([])?;
    while let Some(row) = rows.next()? {
        let (id, node): (RevisionId, NodeId) = (read_id(&row, 0)?, read_id(&row, 1)?);
        let mut unnoted = HashSet::new();
        for HeldChunk { chunk, holder } in unpack_held(&row.get::<Vec<u8>>(2)?)? {
            let ChunkId(name) = chunk.id;
            let size: Option<u64> = stored
                .query_row(params![holder.as_bytes(), name], |row| row.get(0))
                .optional()?;
            if size != Some(chunk.size) {
                problems.push(format!("the revision {id} lacks the chunk {}", chunk.id));
            }
            if !holders.has(node, holder) {
                unnoted.insert(holder);
            }
        }
        for holder in unnoted {
            problems.push(format!(
                "the revision {id} has chunks of the node {holder}, which is not noted for its node {node}"
            ));
        }
    }
    Ok(problems)
}

/// Finds chunks whose count is not the number of the revisions that have them. One that is too low lets a
/// chunk go that is needed.
///
/// Goes by the node that chunks are stored for, so that the memory it takes is bounded by the history of
/// one file and its copies.
fn miscounted_chunks(conn: &Connection, holders: &Holders) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let mut nodes = conn.prepare("SELECT DISTINCT node FROM chunks")?;
    let mut counted = conn.prepare("SELECT id, refs FROM chunks WHERE node = ?1")?;
    let mut rows = nodes.query([])?;
    while let Some(row) = rows.next()? {
        let node: NodeId = read_id(&row, 0)?;
        let uses = uses_of(conn, holders, node)?;
        let mut wrong = 0_u64;
        let mut chunks = counted.query([node.as_bytes()])?;
        while let Some(chunk) = chunks.next()? {
            let (id, refs): ([u8; 32], i64) = (chunk.get(0)?, chunk.get(1)?);
            wrong += u64::from(uses.get(&id).copied().unwrap_or_default() != refs);
        }
        if wrong > 0 {
            problems.push(format!(
                "the node {node}: {wrong} chunks count the revisions that have them wrongly"
            ));
        }
    }
    Ok(problems)
}

/// Counts for each chunk that is stored for a node the revisions that have it.
fn uses_of(conn: &Connection, holders: &Holders, holder: NodeId) -> Result<HashMap<[u8; 32], i64>> {
    let mut uses = HashMap::new();
    let mut revisions = conn.prepare_cached("SELECT chunks FROM revisions WHERE node = ?1")?;
    let borrowers = holders.borrowers.get(&holder).into_iter().flatten();
    for node in std::iter::once(&holder).chain(borrowers) {
        let mut rows = revisions.query([node.as_bytes()])?;
        while let Some(row) = rows.next()? {
            for one in unpack_held(&row.get::<Vec<u8>>(0)?)? {
                if one.holder == holder {
                    *uses.entry(one.chunk.id.0).or_default() += 1;
                }
            }
        }
    }
    Ok(uses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::pack_held;
    use crate::{Clock, Source};
    use cairn_wire::transfer::SealedChunk;
    use std::sync::Arc;

    fn node(n: u8) -> NodeId {
        NodeId::from_random_bytes([n; 16])
    }

    /// An original with two revisions, and a copy with one, that have the same chunk.
    fn store() -> Store {
        let store = crate::testing::open(Arc::new(Source::new(Clock::System, None)));
        let held = HeldChunk {
            chunk: SealedChunk {
                id: ChunkId([7; 32]),
                size: 5,
            },
            holder: node(1),
        };
        let insert = "INSERT INTO revisions (id, node, number, size, created_at, executable, account, chunks, \
             manifest) VALUES (?1, ?2, 1, 5, 0, 0, x'09', ?3, x'03')";
        let write = |conn: &Connection| -> crate::db::Result<()> {
            for (id, its) in [(1_u8, node(1)), (2, node(1)), (3, node(2))] {
                let id = [id; 16];
                conn.execute(
                    insert,
                    params![id.as_slice(), its.as_bytes(), pack_held(&[held])],
                )?;
            }
            conn.execute(
                "INSERT INTO objects (id, name, refs) VALUES (1, 'o', 1)",
                [],
            )?;
            let chunk = "INSERT INTO chunks (node, id, object, start, size, refs) VALUES (?1, ?2, 1, 0, 5, 3)";
            conn.execute(chunk, params![node(1).as_bytes(), [7_u8; 32]])?;
            let borrowed = "INSERT INTO borrowed (node, holder) VALUES (?1, ?2)";
            conn.execute(borrowed, params![node(2).as_bytes(), node(1).as_bytes()])?;
            Ok(())
        };
        store.write(|tx| Ok(write(tx.conn)?)).unwrap();
        assert_eq!(store.check_integrity().unwrap(), Vec::<String>::new());
        store
    }

    fn problems_after(statement: &str) -> Vec<String> {
        let store = store();
        store
            .write(|tx| Ok(tx.conn.execute_batch(statement)?))
            .unwrap();
        store.check_integrity().unwrap()
    }

    #[test]
    fn a_wrong_count_of_revisions_is_found() {
        for wrong in ["refs = 2", "refs = 4", "refs = 0"] {
            let found = problems_after(&format!("UPDATE chunks SET {wrong}"));
            let expected = format!(
                "the node {}: 1 chunks count the revisions that have them wrongly",
                node(1)
            );
            assert_eq!(found, [expected], "{wrong}");
        }
    }

    #[test]
    fn a_revision_whose_original_is_not_noted_is_found() {
        let found = problems_after("DELETE FROM borrowed");
        assert!(
            found.iter().any(|problem| problem.contains("not noted")),
            "{found:?}"
        );
    }

    #[test]
    fn a_revision_that_lacks_a_chunk_is_found() {
        let found = problems_after("UPDATE chunks SET size = 4");
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(
            found
                .iter()
                .all(|problem| problem.contains("lacks the chunk")),
            "{found:?}"
        );
    }
}
