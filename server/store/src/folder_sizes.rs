//! The sizes of the folders in one folder, each with everything below it.

use super::rows::{id, parent_blob};
use super::{Space, Store, nodes};
use crate::db::{self, Connection, params};
use crate::error::{Error, Result};
use cairn_model::{Kind, NodeId};
use cairn_wire::nodes::{FolderSize, FolderSizes};

/// Files and folders that one request adds up at most: their rows are read one by one.
const MOST_NODES: u64 = 300_000;

/// Reads everything below the folders of one folder, by the index of names, and adds it up. Stops at a number of rows.
/// The two halves of sizes are added up each: clients declare sizes, and a sum of them can be more than a database has
/// numbers for.
const SQL: &str = "WITH RECURSIVE sub (top, id, kind, size) AS (\
     SELECT n.id, n.id, n.kind, n.size FROM nodes n INDEXED BY nodes_name \
     WHERE n.space = ?1 AND n.parent = ?2 AND n.state = 0 AND n.kind = 1 \
     UNION ALL SELECT sub.top, n.id, n.kind, n.size FROM sub \
     CROSS JOIN nodes n INDEXED BY nodes_name ON n.parent = sub.id AND n.space = ?1 AND n.state = 0 \
     WHERE sub.kind = 1) \
     SELECT top, CAST(count(*) AS BIGINT), CAST(sum(1 - kind) AS BIGINT), CAST(sum(size / 4294967296) AS BIGINT), \
     CAST(sum(size % 4294967296) AS BIGINT) \
     FROM (SELECT top, kind, size FROM sub LIMIT ?3) AS counted GROUP BY top";

/// Returns the sum of sizes from those of their halves; the largest number of the API if it is beyond that.
fn join_halves(upper: u64, lower: u64) -> u64 {
    let sum = upper.saturating_mul(1 << 32).saturating_add(lower);
    sum.min(i64::MAX.unsigned_abs())
}

/// Returns the sizes, and the number of rows that they are from.
fn read(
    conn: &Connection,
    space: Space,
    parent: Option<NodeId>,
    most: u64,
) -> Result<(Vec<FolderSize>, u64)> {
    let mut rows = 0;
    let parent = parent_blob(parent.as_ref()).to_vec();
    let sizes = conn
        .prepare_cached(SQL)?
        .query_map(params![space.row, parent, most], |row| {
            let size = FolderSize {
                node_id: id(row, 0)?,
                files: row.get(2)?,
                bytes: join_halves(row.get(3)?, row.get(4)?),
            };
            Ok((size, row.get::<u64>(1)?))
        })?
        .map(|found| {
            found.map(|(size, counted)| {
                rows += counted;
                size
            })
        })
        .collect::<db::Result<_>>()?;
    Ok((sizes, rows))
}

impl Store {
    /// Adds up what is below each folder of a folder; `None` is the top of the space.
    ///
    /// # Errors
    /// 404 for a folder that isn't there, 400 for a file.
    pub fn folder_sizes(&self, space: Space, parent: Option<NodeId>) -> Result<FolderSizes> {
        self.folder_sizes_of(space, parent, MOST_NODES)
    }

    fn folder_sizes_of(
        &self,
        space: Space,
        parent: Option<NodeId>,
        most: u64,
    ) -> Result<FolderSizes> {
        self.read(|conn| {
            if let Some(parent) = parent {
                let found = nodes::visible_node(conn, space, parent)?;
                if found.node.kind == Kind::File {
                    return Err(Error::invalid(format!(
                        "`parent_id` {parent} is a file; it has to be a folder"
                    )));
                }
            }
            let (folders, rows) = read(conn, space, parent, most + 1)?;
            let complete = rows <= most;
            Ok(FolderSizes {
                folders: if complete { folders } else { Vec::new() },
                complete,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clock, Source};
    use cairn_model::SpaceId;
    use std::sync::Arc;

    fn space() -> Space {
        Space {
            row: 1,
            id: SpaceId::from_random_bytes([1; 16]),
        }
    }

    /// A store with folders of a number of files each, written into the table as they are.
    fn store(folders: u8, files: u64) -> Store {
        let store = Store::open(None, Arc::new(Source::new(Clock::System, None))).unwrap();
        let insert = "INSERT INTO nodes (id, space, parent, kind, name, name_key, size, state, version, seq, \
             created_seq, created_at, updated_at, executable) VALUES (?1, 1, ?2, ?3, ?4, ?4, ?5, 0, 1, 1, 1, 0, 0, 0)";
        store
            .write(|tx| {
                let mut row = tx.conn.prepare(insert)?;
                for folder in 0..folders {
                    let name = format!("d{folder}");
                    row.execute(params![vec![folder; 16], Vec::<u8>::new(), 1, name, 0])?;
                    for file in 0..files {
                        let mut id = vec![folder; 8];
                        id.extend(file.to_be_bytes());
                        id[7] = 255;
                        row.execute(params![id, vec![folder; 16], 0, format!("f{file}"), 3])?;
                    }
                }
                Ok(())
            })
            .unwrap();
        store
    }

    #[test]
    fn each_folder_is_added_up_with_the_index_of_names() {
        let store = store(3, 7);
        let found = store.folder_sizes_of(space(), None, 24).unwrap();
        let mut sums: Vec<_> = found
            .folders
            .iter()
            .map(|one| (one.files, one.bytes))
            .collect();
        sums.sort_unstable();
        assert!(found.complete);
        assert_eq!(sums, [(7, 21); 3]);
        let plan = store.read(|conn| {
            let mut plan = conn.prepare(&format!("EXPLAIN QUERY PLAN {SQL}"))?;
            let steps = plan.query_map(params![1, Vec::<u8>::new(), 9], |row| row.get(3))?;
            Ok(steps.collect::<db::Result<Vec<String>>>()?.join("\n"))
        });
        let plan = plan.unwrap();
        assert!(plan.contains("nodes_name"), "{plan}");
        assert!(!plan.contains("SCAN n"), "{plan}");
    }

    #[test]
    fn a_sum_beyond_all_numbers_is_the_largest_one() {
        let source = Arc::new(Source::new(Clock::System, None));
        let store = crate::testing::open(source);
        let insert = "INSERT INTO nodes (id, space, parent, kind, name, name_key, size, state, version, seq, \
             created_seq, created_at, updated_at, executable) VALUES (?1, 1, ?2, ?3, ?4, ?4, ?5, 0, 1, 1, 1, 0, 0, 0)";
        store
            .write(|tx| {
                let mut row = tx.conn.prepare(insert)?;
                let (top, one) = (Vec::<u8>::new(), vec![1_u8; 16]);
                row.execute(params![one, top, 1, "d", 0])?;
                row.execute(params![vec![2_u8; 16], one, 0, "a", i64::MAX])?;
                row.execute(params![vec![3_u8; 16], one, 0, "b", i64::MAX])?;
                Ok(())
            })
            .unwrap();
        let found = store.folder_sizes(space(), None).unwrap();
        assert_eq!(found.folders[0].bytes, i64::MAX.unsigned_abs());
        assert_eq!((join_halves(0, 7), join_halves(2, 5)), (7, (2 << 32) + 5));
    }

    #[test]
    fn more_than_can_be_added_up_has_no_sizes() {
        let store = store(3, 7);
        let found = store.folder_sizes_of(space(), None, 23).unwrap();
        assert_eq!(found, FolderSizes::default());
    }
}
