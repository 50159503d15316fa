//! The planner's worklist: nodes whose three trees may differ.

use crate::error::IndexError;
use crate::folders::FolderRow;
use crate::open::Db;
use crate::sql_types::{TOP, collect, node_from, parent_node_from, parent_node_to};
use cairn_model::{FolderId, LocalId, NodeId};

/// Keys of dirty nodes of one folder.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Dirty {
    pub local: Vec<LocalId>,
    pub node: Vec<NodeId>,
}

impl Db<'_> {
    /// Marks a local row.
    ///
    /// # Errors
    /// SQLite's.
    pub fn mark_local(&self, folder: FolderId, local: LocalId) -> Result<(), IndexError> {
        self.prepare("INSERT OR IGNORE INTO dirty_local (folder, local) VALUES (?1, ?2)")?
            .execute((folder.0, local.0))?;
        Ok(())
    }

    /// Marks a node.
    ///
    /// # Errors
    /// SQLite's.
    pub fn mark_node(&self, folder: FolderId, node: NodeId) -> Result<(), IndexError> {
        self.prepare("INSERT OR IGNORE INTO dirty_node (folder, node) VALUES (?1, ?2)")?
            .execute((folder.0, node.as_bytes()))?;
        Ok(())
    }

    /// Marks a node in every folder where it is synced.
    pub(crate) fn mark_synced_node(&self, node: NodeId) -> Result<(), IndexError> {
        self.prepare(
            "INSERT OR IGNORE INTO dirty_node (folder, node) \
                 SELECT f.id, ?1 FROM folders f JOIN synced s ON s.folder = f.id AND s.node = ?1",
        )?
        .execute([node.as_bytes()])?;
        Ok(())
    }

    /// Returns the dirty keys of a folder, in a fixed order.
    ///
    /// # Errors
    /// SQLite's.
    pub fn dirty_keys(&self, folder: FolderId) -> Result<Dirty, IndexError> {
        let mut out = Dirty::default();
        let mut statement =
            self.prepare("SELECT local FROM dirty_local WHERE folder = ?1 ORDER BY local")?;
        let mut rows = statement.query([folder.0])?;
        while let Some(row) = rows.next()? {
            out.local.push(LocalId(row.get(0)?));
        }
        drop(rows);
        let mut statement =
            self.prepare("SELECT node FROM dirty_node WHERE folder = ?1 ORDER BY node")?;
        let mut rows = statement.query([folder.0])?;
        while let Some(row) = rows.next()? {
            let bytes: Vec<u8> = row.get(0)?;
            out.node.push(node_from(&bytes)?);
        }
        Ok(out)
    }

    /// Some dirty keys of a folder, at most `limit` of either kind.
    ///
    /// # Errors
    /// SQLite's.
    pub fn some_dirty(&self, folder: FolderId, limit: u32) -> Result<Dirty, IndexError> {
        let mut statement = self
            .prepare("SELECT local FROM dirty_local WHERE folder = ?1 ORDER BY local LIMIT ?2")?;
        let local = collect(&mut statement.query((folder.0, limit))?, |row| {
            Ok(LocalId(row.get(0)?))
        })?;
        let mut statement =
            self.prepare("SELECT node FROM dirty_node WHERE folder = ?1 ORDER BY node LIMIT ?2")?;
        let node = collect(&mut statement.query((folder.0, limit))?, |row| {
            let bytes: Vec<u8> = row.get(0)?;
            node_from(&bytes)
        })?;
        Ok(Dirty { local, node })
    }

    /// Returns whether anything of a folder is dirty.
    ///
    /// # Errors
    /// SQLite's.
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
    /// SQLite's.
    pub fn clean_local(&self, folder: FolderId, local: LocalId) -> Result<(), IndexError> {
        self.prepare("DELETE FROM dirty_local WHERE folder = ?1 AND local = ?2")?
            .execute((folder.0, local.0))?;
        Ok(())
    }

    /// Clears the mark of a node.
    ///
    /// # Errors
    /// SQLite's.
    pub fn clean_node(&self, folder: FolderId, node: NodeId) -> Result<(), IndexError> {
        self.prepare("DELETE FROM dirty_node WHERE folder = ?1 AND node = ?2")?
            .execute((folder.0, node.as_bytes()))?;
        Ok(())
    }

    /// Marks everything in a folder whose three trees are not equal: after a start, after a change of
    /// rules, and now and then, so that nothing that once waited is forgotten.
    ///
    /// # Errors
    /// SQLite's.
    pub fn mark_differing(&self, folder: &FolderRow) -> Result<(), IndexError> {
        let Some(base) = folder.remote_node else {
            return Ok(());
        };
        let base = parent_node_to(base);
        self.prepare_whole(
                "INSERT OR IGNORE INTO dirty_local (folder, local) \
                 SELECT l.folder, l.id FROM local l \
                 LEFT JOIN synced s ON s.local = l.id LEFT JOIN synced p ON p.local = l.parent \
                 WHERE l.folder = ?1 AND NOT (s.node IS NULL AND l.held = 2) AND (s.node IS NULL OR l.hash IS NOT s.hash OR l.name <> s.name \
                 OR l.executable <> s.executable OR coalesce(p.node, ?2) <> s.parent)",
            )?
            .execute((folder.id.0, base))?;
        self.prepare_whole(
                "INSERT OR IGNORE INTO dirty_node (folder, node) \
                 SELECT s.folder, s.node FROM synced s \
                 LEFT JOIN local l ON l.id = s.local LEFT JOIN remote r ON r.node = s.node \
                 WHERE s.folder = ?1 AND (l.id IS NULL OR r.node IS NULL OR r.revision IS NOT s.revision \
                 OR r.name <> s.name OR r.parent <> s.parent OR r.executable <> s.executable)",
            )?
            .execute([folder.id.0])?;
        let mut statement = self.prepare_whole(
            "SELECT r.node, r.parent FROM remote r \
             WHERE NOT EXISTS (SELECT 1 FROM synced s WHERE s.folder = ?1 AND s.node = r.node)",
        )?;
        let mut rows = statement.query([folder.id.0])?;
        let folders = std::slice::from_ref(folder);
        while let Some(row) = rows.next()? {
            let node: Vec<u8> = row.get(0)?;
            let parent: Vec<u8> = row.get(1)?;
            let inside = base == TOP
                || !self
                    .pairs_containing(folders, parent_node_from(&parent)?)?
                    .is_empty();
            if inside {
                self.mark_node(folder.id, node_from(&node)?)?;
            }
        }
        Ok(())
    }
}
