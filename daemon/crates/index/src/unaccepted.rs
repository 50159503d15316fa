//! Nodes whose latest change has no valid seal of the account's devices and waits for a person to accept it.

use crate::error::IndexError;
use crate::open::Db;
use crate::sql_types::{collect, node_from, parent_node_from, parent_node_to};
use cairn_model::NodeId;

/// A node that waits, and where the service has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnacceptedRow {
    pub node: NodeId,
    /// `None`: the top of the space.
    pub parent: Option<NodeId>,
    /// The name as it may be shown; it need not be one that a file can have.
    pub name: String,
    /// The change is a deletion; `None` where an older Cairn recorded it.
    pub deleted: Option<bool>,
}

impl Db<'_> {
    /// Records a node that waits.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn put_unaccepted(&self, row: &UnacceptedRow) -> Result<(), IndexError> {
        self.prepare(
            "INSERT OR REPLACE INTO unaccepted (node, parent, name, deleted) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute((
            row.node.as_bytes(),
            parent_node_to(row.parent),
            &row.name,
            row.deleted,
        ))?;
        Ok(())
    }

    /// Removes a node: a verified change has come after it.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn remove_unaccepted(&self, node: NodeId) -> Result<(), IndexError> {
        self.prepare("DELETE FROM unaccepted WHERE node = ?1")?
            .execute([node.as_bytes()])?;
        Ok(())
    }

    /// Returns all nodes that wait.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn unaccepted_nodes(&self) -> Result<Vec<UnacceptedRow>, IndexError> {
        let mut statement =
            self.prepare("SELECT node, parent, name, deleted FROM unaccepted ORDER BY node")?;
        collect(&mut statement.query([])?, |row| {
            let (node, parent): (Vec<u8>, Vec<u8>) = (row.get(0)?, row.get(1)?);
            Ok(UnacceptedRow {
                node: node_from(&node)?,
                parent: parent_node_from(&parent)?,
                name: row.get(2)?,
                deleted: row.get(3)?,
            })
        })
    }

    /// Returns whether anything waits.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn has_unaccepted(&self) -> Result<bool, IndexError> {
        let mut statement = self.prepare("SELECT 1 FROM unaccepted LIMIT 1")?;
        Ok(statement.exists([])?)
    }

    /// Removes all nodes.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn clear_unaccepted(&self) -> Result<(), IndexError> {
        self.0.execute_batch("DELETE FROM unaccepted;")?;
        Ok(())
    }
}
