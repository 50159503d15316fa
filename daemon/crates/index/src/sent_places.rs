//! Places (parent folder and name) that this device has sent, of new folders and of nodes that were moved,
//! until it is known whether the service has them: a response may be lost.

use crate::error::IndexError;
use crate::open::Db;
use crate::sql_types::{
    collect, first_row, name_from, node_at, parent_node_from, parent_node_to, to_signed,
    to_unsigned,
};
use cairn_model::{FolderId, LocalId, Name, NodeId};

/// A place that was sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SentPlace {
    pub node: NodeId,
    pub folder: FolderId,
    /// The file or directory that has this place on the disk; it may have left it, or gone, since.
    pub local: LocalId,
    /// The node was sent as a new folder.
    pub creates: bool,
    pub parent: Option<NodeId>,
    pub name: Name,
    /// The version of the node once it has the place.
    pub version: u64,
}

impl Db<'_> {
    /// Records a place before it is sent. The same place again becomes the one that was sent last.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn put_sent_place(&self, place: &SentPlace) -> Result<(), IndexError> {
        self.prepare(
            "INSERT OR REPLACE INTO sent_places (node, folder, local, creates, parent, name, version) \
             VALUES (?1,?2,?3,?4,?5,?6,?7)",
        )?
        .execute(rusqlite::params![
            place.node.as_bytes(),
            place.folder.0,
            place.local.0,
            place.creates,
            parent_node_to(place.parent),
            place.name.as_str(),
            to_signed(place.version),
        ])?;
        Ok(())
    }

    /// Returns the places that were sent of a node, in the order in which they were.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn sent_places(&self, node: NodeId) -> Result<Vec<SentPlace>, IndexError> {
        let mut statement = self.prepare(
            "SELECT folder, local, creates, parent, name, version FROM sent_places \
             WHERE node = ?1 ORDER BY id",
        )?;
        collect(&mut statement.query([node.as_bytes()])?, |row| {
            let parent: Vec<u8> = row.get(3)?;
            Ok(SentPlace {
                node,
                folder: FolderId(row.get(0)?),
                local: LocalId(row.get(1)?),
                creates: row.get(2)?,
                parent: parent_node_from(&parent)?,
                name: name_from(row.get(4)?)?,
                version: to_unsigned(row.get(5)?)?,
            })
        })
    }

    /// Returns the node as which a directory was sent, if it is not known whether the service has it.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn sent_folder(&self, local: LocalId) -> Result<Option<NodeId>, IndexError> {
        let mut statement = self.prepare(
            "SELECT node FROM sent_places WHERE local = ?1 AND creates ORDER BY id DESC LIMIT 1",
        )?;
        first_row(&mut statement.query([local.0])?, |row| node_at(row, 0))
    }

    /// Returns the nodes of a folder pair of which a place or an executable bit was sent, and which the service has
    /// shown since, as they are with that or later.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn nodes_with_known_places(&self, folder: FolderId) -> Result<Vec<NodeId>, IndexError> {
        let mut statement = self.prepare(
            "SELECT p.node FROM sent_places p CROSS JOIN remote r ON r.node = p.node \
             WHERE p.folder = ?1 AND p.version <= r.version \
             UNION SELECT b.node FROM sent_bits b CROSS JOIN remote r ON r.node = b.node \
             WHERE b.folder = ?1 AND b.version <= r.version",
        )?;
        collect(&mut statement.query([folder.0])?, |row| node_at(row, 0))
    }

    /// Forgets a place that the service has refused.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn end_sent_place(&self, place: &SentPlace) -> Result<(), IndexError> {
        self.prepare(
            "DELETE FROM sent_places WHERE node = ?1 AND folder = ?2 AND version = ?3 \
             AND parent = ?4 AND name = ?5",
        )?
        .execute((
            place.node.as_bytes(),
            place.folder.0,
            to_signed(place.version),
            parent_node_to(place.parent),
            place.name.as_str(),
        ))?;
        Ok(())
    }

    /// Forgets the places that were sent of a node up to a version that the service has reached.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn end_sent_places(&self, node: NodeId, version: u64) -> Result<(), IndexError> {
        self.prepare("DELETE FROM sent_places WHERE node = ?1 AND version <= ?2")?
            .execute((node.as_bytes(), to_signed(version)))?;
        Ok(())
    }

    /// Forgets that a directory was sent as a new folder: a node has been found for it.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn end_sent_folder(&self, local: LocalId) -> Result<(), IndexError> {
        self.prepare("DELETE FROM sent_places WHERE local = ?1 AND creates")?
            .execute([local.0])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
