//! The synced tree: the merge base, what both sides last agreed on. Only a row here proves that an absence is a
//! deletion.

use crate::below::Below;
use crate::error::IndexError;
use crate::open::Db;
use crate::sql_types::{
    collect, first_row, hash_from, id_from, kind_from, kind_to, name_from, node_from,
    parent_node_from, parent_node_to, to_signed, to_unsigned,
};
use cairn_model::{ContentHash, FolderId, Kind, LocalId, Name, NodeId, RevisionId};
use rusqlite::Row;
use uuid::Uuid;

/// The merge base of one node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyncedRow {
    pub folder: FolderId,
    pub node: NodeId,
    pub local: LocalId,
    /// The parent's node as in the remote tree; `None`: the top of the space.
    pub parent: Option<NodeId>,
    pub name: Name,
    pub kind: Kind,
    pub revision: Option<RevisionId>,
    pub hash: Option<ContentHash>,
    pub size: u64,
    pub executable: bool,
}

pub(crate) const COLUMNS: &str =
    "folder, node, local, parent, name, kind, revision, hash, size, executable";

pub(crate) fn read(row: &Row<'_>) -> Result<SyncedRow, IndexError> {
    let node: Vec<u8> = row.get(1)?;
    let parent: Vec<u8> = row.get(3)?;
    let revision: Option<Vec<u8>> = row.get(6)?;
    Ok(SyncedRow {
        folder: FolderId(row.get(0)?),
        node: node_from(&node)?,
        local: LocalId(row.get(2)?),
        parent: parent_node_from(&parent)?,
        name: name_from(row.get(4)?)?,
        kind: kind_from(row.get(5)?)?,
        revision: revision
            .map(|b| id_from(&b).map(|id| RevisionId(Uuid::from_bytes(id))))
            .transpose()?,
        hash: hash_from(row.get(7)?)?,
        size: to_unsigned(row.get(8)?)?,
        executable: row.get(9)?,
    })
}

/// Contents of more bytes can be looked up, as the index `synced_content` says.
pub const MIN_LOOKUP_SIZE: u64 = 262_144;

impl Db<'_> {
    /// Returns merge bases of files with a content of more than [`MIN_LOOKUP_SIZE`] bytes; a few of them are enough.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn synced_with_content(
        &self,
        size: u64,
        hash: ContentHash,
    ) -> Result<Vec<SyncedRow>, IndexError> {
        // The limit as a number, because SQLite takes the partial index for no parameter.
        let mut statement = self.prepare(&format!(
            "SELECT {COLUMNS} FROM synced INDEXED BY synced_content \
             WHERE size = ?1 AND size > 262144 AND hash = ?2 ORDER BY node, folder LIMIT 8"
        ))?;
        collect(&mut statement.query((to_signed(size), hash.0))?, read)
    }

    /// Returns whether a file of this size, more than [`MIN_LOOKUP_SIZE`] bytes, is in sync.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn is_size_synced(&self, size: u64) -> Result<bool, IndexError> {
        let mut statement = self.prepare(
            "SELECT 1 FROM synced INDEXED BY synced_content \
             WHERE size = ?1 AND size > 262144 AND hash IS NOT NULL LIMIT 1",
        )?;
        Ok(statement.exists([to_signed(size)])?)
    }

    /// Returns the merge base of a node in a folder pair.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn synced_row(
        &self,
        folder: FolderId,
        node: NodeId,
    ) -> Result<Option<SyncedRow>, IndexError> {
        let mut statement = self.prepare(&format!(
            "SELECT {COLUMNS} FROM synced WHERE folder = ?1 AND node = ?2"
        ))?;
        first_row(&mut statement.query((folder.0, node.as_bytes()))?, read)
    }

    /// Returns the merge base of a local file or directory.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn synced_by_local(&self, local: LocalId) -> Result<Option<SyncedRow>, IndexError> {
        let mut statement =
            self.prepare(&format!("SELECT {COLUMNS} FROM synced WHERE local = ?1"))?;
        first_row(&mut statement.query([local.0])?, read)
    }

    /// Records what both sides agree on. This is the commit point of a step.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn put_synced(&self, row: &SyncedRow) -> Result<(), IndexError> {
        self.prepare(
                // No REPLACE: that would silently drop another node's merge base where two claim one file.
                "INSERT INTO synced (folder, node, local, parent, name, kind, revision, hash, size, executable) \
                 VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10) \
                 ON CONFLICT (node, folder) DO UPDATE SET local = excluded.local, parent = excluded.parent, \
                 name = excluded.name, kind = excluded.kind, revision = excluded.revision, hash = excluded.hash, \
                 size = excluded.size, executable = excluded.executable, \
                 deletion_agreed = 0, deletion_waits = NULL, \
                 head = CASE WHEN synced.hash IS excluded.hash AND synced.revision IS excluded.revision \
                 THEN synced.head END, \
                 overwrite = CASE WHEN synced.hash IS excluded.hash AND synced.revision IS excluded.revision \
                 THEN synced.overwrite END",
            )?
            .execute(rusqlite::params![
                row.folder.0,
                row.node.as_bytes(),
                row.local.0,
                parent_node_to(row.parent),
                row.name.as_str(),
                kind_to(row.kind),
                row.revision.as_ref().map(RevisionId::as_bytes),
                row.hash.map(|h| h.0),
                to_signed(row.size),
                row.executable,
            ])?;
        // A mark from before the first sync would pass for that of something new.
        self.prepare("UPDATE dirty_local SET changed = 1 WHERE folder = ?1 AND local = ?2")?
            .execute((row.folder.0, row.local.0))?;
        self.prepare("UPDATE dirty_node SET changed = 1 WHERE folder = ?1 AND node = ?2")?
            .execute((row.folder.0, row.node.as_bytes()))?;
        Ok(())
    }

    /// Drops a merge base: from now on both sides are unlinked, and no deletion follows from either.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn remove_synced(&self, folder: FolderId, node: NodeId) -> Result<(), IndexError> {
        self.prepare("DELETE FROM synced WHERE folder = ?1 AND node = ?2")?
            .execute((folder.0, node.as_bytes()))?;
        Ok(())
    }

    /// Drops the merge bases of a node and of everything below it in the remote tree, before that is
    /// removed. A node that has left the folder keeps its merge base.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn forget_remote_below(&self, folder: FolderId, node: NodeId) -> Result<(), IndexError> {
        let Below { with, ids, .. } = self.below_remote(node)?;
        for table in ["dirty_node", "synced"] {
            self.prepare(&format!(
                "{with}DELETE FROM {table} WHERE folder = ?2 AND node IN {ids}"
            ))?
            .execute((node.as_bytes(), folder.0))?;
        }
        Ok(())
    }

    /// Drops the merge bases of a local row and of everything below it in the local tree, before that is
    /// removed. A row that has left the folder keeps its merge base.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn forget_local_below(&self, folder: FolderId, local: LocalId) -> Result<(), IndexError> {
        let Below { with, ids, .. } = self.below_local(folder, local)?;
        self.prepare(&format!(
            "{with}DELETE FROM synced WHERE folder = ?1 AND local IN {ids}"
        ))?
        .execute((folder.0, local.0))?;
        Ok(())
    }

    /// Drops all merge bases of all folders: the history they belong to is gone.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn clear_synced(&self) -> Result<(), IndexError> {
        self.0.execute_batch("DELETE FROM synced;")?;
        Ok(())
    }

    /// Returns all merge bases of a folder.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn all_synced(&self, folder: FolderId) -> Result<Vec<SyncedRow>, IndexError> {
        let mut statement =
            self.prepare_whole(&format!("SELECT {COLUMNS} FROM synced WHERE folder = ?1"))?;
        collect(&mut statement.query([folder.0])?, read)
    }
}
