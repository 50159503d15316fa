//! Deletions about which a person decides, as marks in the synced tree (the merge bases): those that wait, and those
//! that were confirmed. A mark is removed with its merge base, or when both sides agree on the node anew.

#[cfg(test)]
mod tests;

use crate::below::BELOW_REMOTE;
use crate::error::IndexError;
use crate::open::Db;
use crate::sql_types::{collect, node_at, to_unsigned};
use crate::synced::{COLUMNS, SyncedRow, read};
use cairn_model::{FolderId, NodeId, Side};
use std::collections::BTreeSet;

/// A node and everything below it that has a seal.
const SEALED_BELOW: &str = "WITH RECURSIVE below(node) AS (SELECT ?1 UNION ALL \
     SELECT r.node FROM below b CROSS JOIN remote r ON r.parent = b.node WHERE r.seal IS NOT NULL) ";

impl Db<'_> {
    /// Records that a person has confirmed, on the device where it was done, the deletion of a node with everything
    /// below it, as far as devices have put it there: not what has no seal. Call it while the remote tree still has
    /// them.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn confirm_deletion(&self, node: NodeId) -> Result<(), IndexError> {
        self.prepare(&format!(
            "{SEALED_BELOW} UPDATE synced SET deletion_agreed = 1 WHERE node IN (SELECT node FROM below)"
        ))?
        .execute([node.as_bytes()])?;
        Ok(())
    }

    /// Returns a node and what the remote tree has below it, as far as devices have put it there.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn sealed_below(&self, node: NodeId) -> Result<BTreeSet<NodeId>, IndexError> {
        let mut statement = self.prepare(&format!("{SEALED_BELOW} SELECT node FROM below"))?;
        let nodes = collect(&mut statement.query([node.as_bytes()])?, |row| {
            node_at(row, 0)
        })?;
        Ok(nodes.into_iter().collect())
    }

    /// Returns the nodes of a folder whose deletion a person has confirmed, here or on another device.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn confirmed_deletions(&self, folder: FolderId) -> Result<BTreeSet<NodeId>, IndexError> {
        // Its index has nothing but these.
        let mut statement = self
            .prepare_whole("SELECT node FROM synced WHERE folder = ?1 AND deletion_agreed = 1")?;
        let nodes = collect(&mut statement.query([folder.0])?, |row| node_at(row, 0))?;
        Ok(nodes.into_iter().collect())
    }

    /// Drops the confirmation of a node's deletion if both sides have the node: it came back, and what a
    /// person agreed to is no consent to another deletion.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn withdraw_confirmation(&self, folder: FolderId, node: NodeId) -> Result<(), IndexError> {
        self.prepare(
            "UPDATE synced SET deletion_agreed = 0 WHERE folder = ?1 AND node = ?2 \
                 AND EXISTS (SELECT 1 FROM local l WHERE l.id = synced.local) \
                 AND EXISTS (SELECT 1 FROM remote r WHERE r.node = synced.node)",
        )?
        .execute((folder.0, node.as_bytes()))?;
        Ok(())
    }

    /// Returns whether a person has confirmed the deletion of all files that the remote tree has at a node and
    /// below it; false if there is none.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn is_deletion_confirmed(
        &self,
        folder: FolderId,
        node: NodeId,
    ) -> Result<bool, IndexError> {
        let mut statement = self.prepare(&format!(
            "{BELOW_REMOTE} SELECT min(coalesce(s.deletion_agreed, 0)) FROM below b \
                 CROSS JOIN remote f ON f.node = b.node \
                 LEFT JOIN synced s ON s.node = b.node AND s.folder = ?2 WHERE f.kind = 0"
        ))?;
        let least: Option<bool> =
            statement.query_row((node.as_bytes(), folder.0), |row| row.get(0))?;
        Ok(least == Some(true))
    }

    /// Records the nodes whose deletion on a side waits for a person: these, and no others.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn put_waiting_deletions(
        &self,
        folder: FolderId,
        side: Side,
        nodes: &BTreeSet<NodeId>,
    ) -> Result<(), IndexError> {
        let known = self.waiting_deletions(folder, side)?;
        let mut statement =
            self.prepare("UPDATE synced SET deletion_waits = ?3 WHERE folder = ?1 AND node = ?2")?;
        for node in known.difference(nodes) {
            statement.execute((folder.0, node.as_bytes(), None::<&str>))?;
        }
        for node in nodes.difference(&known) {
            statement.execute((folder.0, node.as_bytes(), side.as_str()))?;
        }
        Ok(())
    }

    fn waiting_deletions(
        &self,
        folder: FolderId,
        side: Side,
    ) -> Result<BTreeSet<NodeId>, IndexError> {
        let mut statement =
            self.prepare("SELECT node FROM synced WHERE folder = ?1 AND deletion_waits = ?2")?;
        let nodes = collect(&mut statement.query((folder.0, side.as_str()))?, |row| {
            node_at(row, 0)
        })?;
        Ok(nodes.into_iter().collect())
    }

    /// Records that a person has confirmed the deletions that wait on a side.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn confirm_waiting_deletions(
        &self,
        folder: FolderId,
        side: Side,
    ) -> Result<(), IndexError> {
        self.prepare(
            "UPDATE synced SET deletion_agreed = 1 WHERE folder = ?1 AND deletion_waits = ?2",
        )?
        .execute((folder.0, side.as_str()))?;
        Ok(())
    }

    /// Returns the merge bases of all that a person wants to keep on a side: what waits, and what is gone from
    /// the other side since the last plan.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn deletions_to_keep(
        &self,
        folder: FolderId,
        side: Side,
    ) -> Result<Vec<SyncedRow>, IndexError> {
        let gone = match side {
            Side::Local => "NOT EXISTS (SELECT 1 FROM remote r WHERE r.node = synced.node)",
            Side::Remote => "NOT EXISTS (SELECT 1 FROM local l WHERE l.id = synced.local)",
        };
        let mut statement = self.prepare_whole(&format!(
            "SELECT {COLUMNS} FROM synced WHERE folder = ?1 \
                 AND (deletion_waits = ?2 OR (deletion_agreed = 0 AND {gone}))"
        ))?;
        collect(&mut statement.query((folder.0, side.as_str()))?, read)
    }

    /// Returns the number of synced files of a folder that devices have vouched for, or that the service no longer
    /// has, and whose deletion nobody has confirmed.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn unconfirmed_sealed_files(&self, folder: FolderId) -> Result<u64, IndexError> {
        let mut statement = self.prepare_whole(
            "SELECT count(*) FROM synced s WHERE s.folder = ?1 AND s.kind = 0 AND s.deletion_agreed = 0 \
                 AND NOT EXISTS (SELECT 1 FROM remote r WHERE r.node = s.node AND r.seal IS NULL)",
        )?;
        to_unsigned(statement.query_row([folder.0], |row| row.get(0))?)
    }
}
