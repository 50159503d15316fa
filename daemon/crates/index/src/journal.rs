//! The journal of uploads in progress, so that one goes on after a crash instead of beginning again.

use crate::error::IndexError;
use crate::local::LocalStat;
use crate::open::Db;
use crate::sql_types::{first_row, node_from, to_signed};
use cairn_model::{LocalId, NodeId};

/// An upload that was begun. It is valid for exactly these bytes only: a file with another stat begins a new
/// upload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JournalRow {
    pub local: LocalId,
    pub node: NodeId,
    /// The transfer's state, needed to go on; opaque here.
    pub state: Vec<u8>,
}

impl Db<'_> {
    /// Returns the upload in progress of a local file, if it was begun for bytes of this stat.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn journal(
        &self,
        local: LocalId,
        stat: &LocalStat,
    ) -> Result<Option<JournalRow>, IndexError> {
        let mut statement = self.prepare(
            "SELECT node, state FROM journal WHERE local = ?1 AND size = ?2 AND mtime = ?3 AND ctime = ?4",
        )?;
        let values = (local.0, to_signed(stat.size), stat.mtime, stat.ctime);
        first_row(&mut statement.query(values)?, |row| {
            let node: Vec<u8> = row.get(0)?;
            Ok(JournalRow {
                local,
                node: node_from(&node)?,
                state: row.get(1)?,
            })
        })
    }

    /// Begins, or replaces, the journal of a file's upload.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn put_journal(&self, row: &JournalRow, stat: &LocalStat) -> Result<(), IndexError> {
        self.prepare(
                "INSERT OR REPLACE INTO journal (local, node, state, size, mtime, ctime) VALUES (?1,?2,?3,?4,?5,?6)",
            )?
            .execute(rusqlite::params![
                row.local.0,
                row.node.as_bytes(),
                row.state,
                to_signed(stat.size),
                stat.mtime,
                stat.ctime,
            ])?;
        Ok(())
    }

    /// Ends the journal of a file's upload.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn end_journal(&self, local: LocalId) -> Result<(), IndexError> {
        self.prepare("DELETE FROM journal WHERE local = ?1")?
            .execute([local.0])?;
        Ok(())
    }
}
