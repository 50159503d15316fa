//! Changes of the feed that can't be recorded yet, because a later page has the folder that they are in.

use crate::error::IndexError;
use crate::open::Db;
use crate::sql_types::{collect, node_at};
use cairn_model::NodeId;

impl Db<'_> {
    /// Keeps a change for later; `change` is opaque here. It takes the place of an older one.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn put_pending(&self, node: NodeId, change: &[u8]) -> Result<(), IndexError> {
        self.prepare("INSERT OR REPLACE INTO pending (node, change) VALUES (?1, ?2)")?
            .execute((node.as_bytes(), change))?;
        Ok(())
    }

    /// Drops the change of a node that was kept for later.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn remove_pending(&self, node: NodeId) -> Result<(), IndexError> {
        self.prepare("DELETE FROM pending WHERE node = ?1")?
            .execute([node.as_bytes()])?;
        Ok(())
    }

    /// Returns up to `limit` changes that were kept for later, of nodes above `after`, in the order of
    /// ids.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn pending_changes(
        &self,
        after: Option<NodeId>,
        limit: u32,
    ) -> Result<Vec<(NodeId, Vec<u8>)>, IndexError> {
        let mut statement = self
            .prepare("SELECT node, change FROM pending WHERE node > ?1 ORDER BY node LIMIT ?2")?;
        let after = after.map_or_else(Vec::new, |id| id.as_bytes().to_vec());
        collect(&mut statement.query((after, limit))?, |row| {
            Ok((node_at(row, 0)?, row.get(1)?))
        })
    }

    /// Drops all changes that were kept for later.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn clear_pending(&self) -> Result<(), IndexError> {
        self.0.execute_batch("DELETE FROM pending;")?;
        Ok(())
    }
}
