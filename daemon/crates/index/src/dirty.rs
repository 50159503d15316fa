//! The planner's worklist: dirty nodes, whose local, remote and synced state may differ.

use crate::error::IndexError;
use crate::open::Db;
use crate::sql_types::{collect, kind_from, node_at};
use cairn_model::{FolderId, Kind, LocalId, NodeId};
use rusqlite::Params;

/// The ids of the dirty local rows and service nodes of one folder.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Dirty {
    pub local: Vec<LocalId>,
    pub node: Vec<NodeId>,
}

/// The mark of a local row, behind `INSERT OR REPLACE` or `INSERT OR IGNORE`.
const INSERT_LOCAL: &str = "INTO dirty_local (folder, local, changed) \
     VALUES (?1, ?2, EXISTS (SELECT 1 FROM synced WHERE local = ?2))";
/// The mark of a node, in the same way.
const INSERT_NODE: &str = "INTO dirty_node (folder, node, changed) \
     VALUES (?1, ?2, EXISTS (SELECT 1 FROM synced WHERE node = ?2 AND folder = ?1))";

impl Db<'_> {
    /// Marks a local row. One that is marked already counts as marked now.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn mark_local(&self, folder: FolderId, local: LocalId) -> Result<(), IndexError> {
        self.mark(INSERT_LOCAL, "REPLACE", (folder.0, local.0))
    }

    /// Marks a node. One that is marked already counts as marked now.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn mark_node(&self, folder: FolderId, node: NodeId) -> Result<(), IndexError> {
        self.mark(INSERT_NODE, "REPLACE", (folder.0, node.as_bytes()))
    }

    /// Marks a local row, if it is not marked: one that is keeps its place in the round.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn keep_local_marked(&self, folder: FolderId, local: LocalId) -> Result<(), IndexError> {
        self.mark(INSERT_LOCAL, "IGNORE", (folder.0, local.0))
    }

    /// Marks a node, if it is not marked: one that is keeps its place in the round.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn keep_node_marked(&self, folder: FolderId, node: NodeId) -> Result<(), IndexError> {
        self.mark(INSERT_NODE, "IGNORE", (folder.0, node.as_bytes()))
    }

    fn mark(&self, insert: &str, or: &str, key: impl Params) -> Result<(), IndexError> {
        self.prepare(&format!("INSERT OR {or} {insert}"))?
            .execute(key)?;
        Ok(())
    }

    /// Marks the nodes that the name of a local row keeps from this disk, with all below them, because the row loses
    /// it: they can be here from now on. So are the folders above it that wait for it to go.
    pub(crate) fn mark_blocked_by(&self, local: LocalId) -> Result<(), IndexError> {
        self.mark_gone_above_local(local)?;
        let mut statement = self.prepare(
            "SELECT f.id, r.node, r.kind FROM local l CROSS JOIN folders f ON f.id = l.folder \
             LEFT JOIN synced p ON p.local = l.parent \
             CROSS JOIN remote r ON r.key = l.key \
             AND r.parent = CASE l.parent WHEN 0 THEN f.remote_node ELSE p.node END \
             WHERE l.id = ?1",
        )?;
        let blocked = collect(&mut statement.query([local.0])?, |row| {
            let kind = kind_from(row.get(2)?)?;
            Ok((FolderId(row.get(0)?), node_at(row, 1)?, kind))
        })?;
        for (folder, node, kind) in blocked {
            self.mark_node(folder, node)?;
            // What is in a folder that is synced has had its place.
            if kind == Kind::Folder && self.synced_row(folder, node)?.is_none() {
                self.mark_remote_below(&[folder], node)?;
            }
        }
        Ok(())
    }

    /// Marks the folders above a local row that the service has no more where they were: they may go here, too, once
    /// what takes no part has left them.
    fn mark_gone_above_local(&self, local: LocalId) -> Result<(), IndexError> {
        self.prepare(
            "WITH RECURSIVE above(id) AS (SELECT parent FROM local WHERE id = ?1 UNION \
             SELECT l.parent FROM above a CROSS JOIN local l ON l.id = a.id) \
             INSERT OR REPLACE INTO dirty_local (folder, local, changed) \
             SELECT s.folder, s.local, 1 FROM above a CROSS JOIN synced s ON s.local = a.id \
             WHERE NOT EXISTS (SELECT 1 FROM remote r \
             WHERE r.node = s.node AND r.parent = s.parent AND r.name = s.name)",
        )?
        .execute([local.0])?;
        Ok(())
    }

    /// Marks the folders above a node that are gone on this disk, or take no part there: they may go on the service,
    /// too, once what is not synced here has left them.
    pub(crate) fn mark_gone_above_node(&self, node: NodeId) -> Result<(), IndexError> {
        self.prepare(
            "WITH RECURSIVE above(node) AS (SELECT parent FROM remote WHERE node = ?1 UNION \
             SELECT r.parent FROM above a CROSS JOIN remote r ON r.node = a.node) \
             INSERT OR REPLACE INTO dirty_node (folder, node, changed) \
             SELECT s.folder, s.node, 1 FROM above a CROSS JOIN synced s ON s.node = a.node \
             WHERE NOT EXISTS (SELECT 1 FROM local l WHERE l.id = s.local AND l.held = 0)",
        )?
        .execute([node.as_bytes()])?;
        Ok(())
    }

    /// Marks a node in every folder where it is synced.
    pub(crate) fn mark_synced_node(&self, node: NodeId) -> Result<(), IndexError> {
        self.prepare(
            "INSERT OR REPLACE INTO dirty_node (folder, node, changed) \
                 SELECT f.id, ?1, 1 FROM folders f JOIN synced s ON s.folder = f.id AND s.node = ?1",
        )?
        .execute([node.as_bytes()])?;
        Ok(())
    }

    /// Returns the dirty keys of a folder, in a fixed order.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn dirty_keys(&self, folder: FolderId) -> Result<Dirty, IndexError> {
        // SQLite's way of naming no limit.
        self.first_dirty(folder, -1)
    }

    /// Some dirty keys of a folder, at most `limit` of either kind.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn some_dirty(&self, folder: FolderId, limit: u32) -> Result<Dirty, IndexError> {
        self.first_dirty(folder, i64::from(limit))
    }

    fn first_dirty(&self, folder: FolderId, limit: i64) -> Result<Dirty, IndexError> {
        let mut statement = self
            .prepare("SELECT local FROM dirty_local WHERE folder = ?1 ORDER BY local LIMIT ?2")?;
        let local = collect(&mut statement.query((folder.0, limit))?, |row| {
            Ok(LocalId(row.get(0)?))
        })?;
        let mut statement =
            self.prepare("SELECT node FROM dirty_node WHERE folder = ?1 ORDER BY node LIMIT ?2")?;
        let node = collect(&mut statement.query((folder.0, limit))?, |row| {
            node_at(row, 0)
        })?;
        Ok(Dirty { local, node })
    }

    /// Returns the number of dirty keys of a folder.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn dirty_count(&self, folder: FolderId) -> Result<u64, IndexError> {
        let mut statement = self.prepare(
            "SELECT (SELECT COUNT(*) FROM dirty_local WHERE folder = ?1) \
             + (SELECT COUNT(*) FROM dirty_node WHERE folder = ?1)",
        )?;
        let count: i64 = statement.query_row([folder.0], |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }

    /// Returns whether anything of a folder is dirty.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn is_dirty(&self, folder: FolderId) -> Result<bool, IndexError> {
        Ok(self
            .prepare("SELECT 1 FROM dirty_local WHERE folder = ?1 LIMIT 1")?
            .exists([folder.0])?
            || self
                .prepare("SELECT 1 FROM dirty_node WHERE folder = ?1 LIMIT 1")?
                .exists([folder.0])?)
    }

    /// Clears the mark of a local row.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn clean_local(&self, folder: FolderId, local: LocalId) -> Result<(), IndexError> {
        self.prepare("DELETE FROM dirty_local WHERE folder = ?1 AND local = ?2")?
            .execute((folder.0, local.0))?;
        Ok(())
    }

    /// Clears the mark of a node.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn clean_node(&self, folder: FolderId, node: NodeId) -> Result<(), IndexError> {
        self.prepare("DELETE FROM dirty_node WHERE folder = ?1 AND node = ?2")?
            .execute((folder.0, node.as_bytes()))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{local, name, node};
    use crate::{FolderSettings, Index, LocalRow, LocalStat, RemoteRow, Skipped, SyncedRow};

    /// A link: it takes no part in sync.
    fn link(folder: FolderId, parent: Option<LocalId>, text: &str) -> LocalRow {
        LocalRow {
            skipped: Skipped::Ignored,
            ..local(folder, parent, text)
        }
    }

    /// The node `x` of the top, or of the synced folder `d`, which a link of that name keeps away.
    fn blocked(in_folder: bool) -> (Index, FolderId, LocalId) {
        let index = Index::memory().unwrap();
        let link = index.write(|db| {
            let id = db.add_folder("/home/x", "/", &FolderSettings::default())?;
            db.attach_folder(id, None, LocalStat::default().identity())?;
            let dir = db.insert_local(&LocalRow {
                kind: Kind::Folder,
                skipped: Skipped::No,
                ..local(id, None, "d")
            })?;
            db.put_remote(&[], &RemoteRow::folder(node(1), None, name("d")))?;
            db.put_synced(&SyncedRow {
                folder: id,
                node: node(1),
                local: dir,
                name: name("d"),
                parent: None,
                kind: Kind::Folder,
                hash: None,
                revision: None,
                size: 0,
                executable: false,
            })?;
            let (parent, above) = match in_folder {
                true => (Some(dir), Some(node(1))),
                false => (None, None),
            };
            db.put_remote(&[], &RemoteRow::folder(node(2), above, name("x")))?;
            db.put_remote(&[], &RemoteRow::folder(node(3), Some(node(2)), name("in")))?;
            let link = db.insert_local(&link(id, parent, "x"))?;
            db.clean_local(id, dir)?;
            db.clean_local(id, link)?;
            Ok((id, link))
        });
        let (id, link) = link.unwrap();
        (index, id, link)
    }

    fn dirty_nodes(index: &Index, id: FolderId) -> Vec<NodeId> {
        index.read(|db| db.dirty_keys(id)).unwrap().node
    }

    #[test]
    fn a_name_that_becomes_free_marks_the_node_that_has_it_on_the_service() {
        for in_folder in [false, true] {
            type Change = fn(&Db<'_>, FolderId, LocalId) -> Result<(), IndexError>;
            let changes: [Change; 3] = [
                |db, id, link| db.remove_local(id, link),
                |db, _, link| db.move_local_aside(link),
                |db, _, link| {
                    let row = db.local_row(link)?.unwrap();
                    db.update_local(&LocalRow {
                        name: name("y"),
                        ..row
                    })
                },
            ];
            for change in changes {
                let (index, id, link) = blocked(in_folder);
                assert_eq!(dirty_nodes(&index, id), []);
                index.write(|db| change(db, id, link)).unwrap();
                assert_eq!(dirty_nodes(&index, id), [node(2), node(3)]);
            }
        }
    }

    #[test]
    fn a_directory_that_was_looked_into_marks_what_the_service_has_in_one_of_its_name() {
        for in_folder in [false, true] {
            let (index, id, row) = blocked(in_folder);
            index
                .write(|db| {
                    let unscanned = LocalRow {
                        kind: Kind::Folder,
                        skipped: Skipped::Unscanned,
                        ..db.local_row(row)?.unwrap()
                    };
                    db.update_local(&unscanned)?;
                    assert_eq!(db.dirty_keys(id)?.node, []);
                    db.update_local(&LocalRow {
                        skipped: Skipped::No,
                        ..unscanned
                    })
                })
                .unwrap();
            assert_eq!(dirty_nodes(&index, id), [node(2), node(3)]);
        }
    }

    /// Clears all marks.
    fn clean(db: &Db<'_>, id: FolderId) -> Result<(), IndexError> {
        let dirty = db.dirty_keys(id)?;
        for local in dirty.local {
            db.clean_local(id, local)?;
        }
        for node in dirty.node {
            db.clean_node(id, node)?;
        }
        Ok(())
    }

    #[test]
    fn a_folder_that_waits_to_be_deleted_here_is_marked_when_what_was_ignored_leaves_it() {
        type Change = fn(&Db<'_>, FolderId, LocalId) -> Result<(), IndexError>;
        let changes: [Change; 2] = [
            |db, id, link| db.remove_local(id, link),
            |db, _, link| {
                let row = db.local_row(link)?.unwrap();
                db.update_local(&LocalRow {
                    parent: None,
                    ..row
                })
            },
        ];
        for change in changes {
            let (index, id, link) = blocked(true);
            let dirty = index.write(|db| {
                let dir = db.local_row(link)?.unwrap().parent.unwrap();
                db.remove_remote(node(1))?;
                clean(db, id)?;
                change(db, id, link)?;
                Ok((dir, db.dirty_keys(id)?.local))
            });
            let (dir, dirty) = dirty.unwrap();
            assert!(dirty.contains(&dir), "{dirty:?}");
        }
    }

    #[test]
    fn a_folder_that_waits_to_be_deleted_there_is_marked_when_what_is_not_synced_leaves_it() {
        type Change = fn(&Db<'_>) -> Result<(), IndexError>;
        let changes: [Change; 2] = [
            |db| db.remove_remote(node(2)).map(drop),
            |db| {
                let moved = RemoteRow {
                    version: 2,
                    ..RemoteRow::folder(node(2), None, name("x"))
                };
                db.put_remote(&[], &moved).map(drop)
            },
        ];
        for change in changes {
            let (index, id, link) = blocked(true);
            let marked = index.write(|db| {
                let dir = db.local_row(link)?.unwrap().parent.unwrap();
                db.remove_local(id, dir)?;
                clean(db, id)?;
                change(db)?;
                Ok(db.dirty_keys(id)?.node)
            });
            assert_eq!(marked.unwrap(), [node(1)]);
        }
    }

    #[test]
    fn a_name_that_stays_marks_nothing_on_the_service() {
        let (index, id, link) = blocked(false);
        index
            .write(|db| {
                let row = db.local_row(link)?.unwrap();
                db.update_local(&LocalRow {
                    executable: true,
                    ..row
                })
            })
            .unwrap();
        assert_eq!(dirty_nodes(&index, id), []);
    }
}
