//! Overwriting about which a person decides, as marks in the synced tree (the merge bases); and the heads of
//! contents in sync (the kinds of their first bytes), by which overwriting is judged. Both are removed when both
//! sides agree on another content.

#[cfg(test)]
mod tests;

use crate::error::IndexError;
use crate::open::Db;
use crate::sql_types::{collect, first_row, node_from, to_unsigned};
use crate::synced::{COLUMNS, SyncedRow, read};
use cairn_model::{ContentHash, FolderId, NodeId};
use rusqlite::Row;
use std::collections::BTreeSet;

/// The fewest bytes of a content whose head is judged; that of a shorter one is [`Head::Short`].
pub const SHORTEST_HEAD: u64 = 256;

/// The kind of the first bytes of a content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Head {
    /// Too few bytes to tell.
    Short,
    /// The bytes of a program, a text or a known format.
    Structured,
    /// Bytes that can't be told from random ones, as ciphertext has them.
    Noise,
}

impl Head {
    fn to_column(self) -> i64 {
        match self {
            Self::Short => 0,
            Self::Structured => 1,
            Self::Noise => 2,
        }
    }

    fn from_column(value: i64) -> Result<Self, IndexError> {
        [Self::Short, Self::Structured, Self::Noise]
            .into_iter()
            .find(|head| head.to_column() == value)
            .ok_or(IndexError::Corrupt("head"))
    }
}

/// The facts of a merge base by which overwriting it is judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OverwriteFacts {
    /// `None`: not looked at yet.
    pub head: Option<Head>,
    /// A person has agreed to it.
    pub confirmed: bool,
}

fn read_node(row: &Row<'_>) -> Result<NodeId, IndexError> {
    let node: Vec<u8> = row.get(0)?;
    node_from(&node)
}

impl Db<'_> {
    /// Returns merge bases of files whose head nobody has looked at, from the node after `after` on.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn synced_without_head(
        &self,
        folder: FolderId,
        after: Option<NodeId>,
        count: u32,
    ) -> Result<Vec<SyncedRow>, IndexError> {
        // The limit as a number, because SQLite takes the partial index for no parameter.
        let mut statement = self.prepare(&format!(
            "SELECT {COLUMNS} FROM synced INDEXED BY synced_head_unknown WHERE folder = ?1 AND node > ?2 \
             AND head IS NULL AND kind = 0 AND size >= 256 ORDER BY node LIMIT ?3"
        ))?;
        let after = after.map_or_else(Vec::new, |node| node.as_bytes().to_vec());
        collect(&mut statement.query((folder.0, after, count))?, read)
    }

    /// Records the head of a content, if it is still the one in sync.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn set_head(
        &self,
        folder: FolderId,
        node: NodeId,
        hash: ContentHash,
        head: Head,
    ) -> Result<(), IndexError> {
        self.prepare("UPDATE synced SET head = ?4 WHERE folder = ?1 AND node = ?2 AND hash = ?3")?
            .execute((folder.0, node.as_bytes(), hash.0, head.to_column()))?;
        Ok(())
    }

    /// Returns the facts by which overwriting a node is judged; `None` if it is not in sync.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn overwrite_facts(
        &self,
        folder: FolderId,
        node: NodeId,
    ) -> Result<Option<OverwriteFacts>, IndexError> {
        let mut statement = self
            .prepare("SELECT head, overwrite, size FROM synced WHERE folder = ?1 AND node = ?2")?;
        first_row(&mut statement.query((folder.0, node.as_bytes()))?, |row| {
            let (head, overwrite): (Option<i64>, Option<i64>) = (row.get(0)?, row.get(1)?);
            let head = head.map(Head::from_column).transpose()?;
            let is_short = to_unsigned(row.get(2)?)? < SHORTEST_HEAD;
            Ok(OverwriteFacts {
                head: head.or(is_short.then_some(Head::Short)),
                confirmed: overwrite == Some(2),
            })
        })
    }

    /// Returns the nodes of a folder whose overwriting waits for a person.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn waiting_overwrites(&self, folder: FolderId) -> Result<BTreeSet<NodeId>, IndexError> {
        let mut statement =
            self.prepare("SELECT node FROM synced WHERE folder = ?1 AND overwrite = 1")?;
        let nodes = collect(&mut statement.query([folder.0])?, read_node)?;
        Ok(nodes.into_iter().collect())
    }

    /// Returns the number of these nodes.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn waiting_overwrite_count(&self, folder: FolderId) -> Result<u64, IndexError> {
        let mut statement =
            self.prepare("SELECT count(*) FROM synced WHERE folder = ?1 AND overwrite = 1")?;
        to_unsigned(statement.query_row([folder.0], |row| row.get(0))?)
    }

    /// Records the nodes whose overwriting waits for a person: these, and no others.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn put_waiting_overwrites(
        &self,
        folder: FolderId,
        nodes: &BTreeSet<NodeId>,
    ) -> Result<(), IndexError> {
        let known = self.waiting_overwrites(folder)?;
        let mut statement =
            self.prepare("UPDATE synced SET overwrite = ?3 WHERE folder = ?1 AND node = ?2")?;
        for node in known.difference(nodes) {
            statement.execute((folder.0, node.as_bytes(), None::<i64>))?;
        }
        for node in nodes.difference(&known) {
            statement.execute((folder.0, node.as_bytes(), Some(1)))?;
        }
        Ok(())
    }

    /// Records that a person has agreed to the overwriting that waits.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn confirm_waiting_overwrites(&self, folder: FolderId) -> Result<(), IndexError> {
        // By node: no row may change its place in the index that is gone through.
        let mut statement =
            self.prepare("UPDATE synced SET overwrite = 2 WHERE folder = ?1 AND node = ?2")?;
        for node in self.waiting_overwrites(folder)? {
            statement.execute((folder.0, node.as_bytes()))?;
        }
        Ok(())
    }

    /// Returns the nodes whose overwriting a person has agreed to, and whose file here has the content in sync
    /// again: it was restored before it was sent.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn restored_overwrites(&self, folder: FolderId) -> Result<Vec<NodeId>, IndexError> {
        let mut statement = self.prepare(
            "SELECT s.node FROM synced s CROSS JOIN local l ON l.id = s.local \
             WHERE s.folder = ?1 AND s.overwrite = 2 AND l.hash = s.hash",
        )?;
        collect(&mut statement.query([folder.0])?, read_node)
    }

    /// Ends the agreement to overwrite a node: it was about another content than what may come.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn withdraw_overwrite(&self, folder: FolderId, node: NodeId) -> Result<(), IndexError> {
        self.prepare("UPDATE synced SET overwrite = NULL WHERE folder = ?1 AND node = ?2")?
            .execute((folder.0, node.as_bytes()))?;
        Ok(())
    }
}
