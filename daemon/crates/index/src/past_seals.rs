//! The highest seal that was seen of each node that has left the remote tree. Such a node may come back (somebody
//! restores it from the trash), but no state of it that is older than what was seen.

use crate::error::IndexError;
use crate::open::Db;
use crate::remote::RemoteRow;
use crate::sql_types::{first_row, to_signed, to_unsigned};
use cairn_model::NodeId;

/// The end of a statement that replaces a lower number, and nothing else.
const RAISE: &str = "ON CONFLICT (node) DO UPDATE SET seen = excluded.seen, seal = excluded.seal \
     WHERE excluded.seen > past_seals.seen";

/// The highest number of a seal of a node that is gone, and the seal of that number.
pub(crate) struct PastSeal {
    pub(crate) seen: u64,
    /// `None` where it is not known; empty for the seal of a deletion, which no state has.
    seal: Option<Vec<u8>>,
}

impl PastSeal {
    /// Returns whether a state is older than what was seen, or another one of the same number.
    pub(crate) fn is_after(&self, row: &RemoteRow) -> bool {
        let is_other = self.seal.is_some() && self.seal != row.seal;
        row.seen > 0 && (row.seen < self.seen || (row.seen == self.seen && is_other))
    }

    /// Returns whether this is the seal of a state that is gone.
    pub(crate) fn is_of_state(&self, seal: &[u8]) -> bool {
        self.seal.as_deref() == Some(seal)
    }

    /// Returns whether this is the seal of a deletion, with this number.
    pub(crate) fn is_of_deletion(&self, number: u64) -> bool {
        self.seen == number && self.seal.as_ref().is_some_and(Vec::is_empty)
    }
}

impl Db<'_> {
    /// Records the number of the seal of a node's deletion.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn put_deletion_seal(&self, node: NodeId, number: u64) -> Result<(), IndexError> {
        self.prepare(&format!(
            "INSERT INTO past_seals (node, seen, seal) VALUES (?1, ?2, x'') {RAISE}"
        ))?
        .execute((node.as_bytes(), to_signed(number)))?;
        Ok(())
    }

    /// Returns the number of the seal with which a device has deleted a node for itself, and not with its folder.
    /// `None` if that is not known, or the node has come back since.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn deletion_seal(&self, node: NodeId) -> Result<Option<u64>, IndexError> {
        let past = self.past_seal(node)?;
        Ok(past
            .filter(|past| past.is_of_deletion(past.seen))
            .map(|past| past.seen))
    }

    /// Records the seal of a state in which a node went to the trash with its folder.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn put_past_state(&self, row: &RemoteRow) -> Result<(), IndexError> {
        if row.seen > 0 {
            self.prepare(&format!(
                "INSERT INTO past_seals (node, seen, seal) VALUES (?1, ?2, ?3) {RAISE}"
            ))?
            .execute((row.node.as_bytes(), to_signed(row.seen), &row.seal))?;
        }
        Ok(())
    }

    /// Returns the highest number of a seal that was ever seen of a node, also of one that is gone; 0 if none was.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn newest_seal(&self, node: NodeId) -> Result<u64, IndexError> {
        let present = self.remote_row(node)?.map_or(0, |row| row.seen);
        let past = self.past_seal(node)?.map_or(0, |past| past.seen);
        Ok(present.max(past))
    }

    /// Returns whether a state of a node is older than what was seen of it, or another one of the same number.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn is_past(&self, row: &RemoteRow) -> Result<bool, IndexError> {
        let past = self.past_seal(row.node)?;
        let present = self.remote_row(row.node)?.map(|known| PastSeal {
            seen: known.seen,
            seal: known.seal,
        });
        let mut seen = past.into_iter().chain(present);
        Ok(seen.any(|seen| seen.is_after(row)))
    }

    /// Forgets what was seen of a node that is gone.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn remove_past_seal(&self, node: NodeId) -> Result<(), IndexError> {
        self.prepare("DELETE FROM past_seals WHERE node = ?1")?
            .execute([node.as_bytes()])?;
        Ok(())
    }

    pub(crate) fn past_seal(&self, node: NodeId) -> Result<Option<PastSeal>, IndexError> {
        let mut statement = self.prepare("SELECT seen, seal FROM past_seals WHERE node = ?1")?;
        first_row(&mut statement.query([node.as_bytes()])?, |row| {
            Ok(PastSeal {
                seen: to_unsigned(row.get(0)?)?,
                seal: row.get(1)?,
            })
        })
    }

    /// Keeps what was seen of a node and of everything below it, before that is removed.
    pub(crate) fn keep_past_seals(&self, node: NodeId) -> Result<(), IndexError> {
        let below = self.below_remote(node)?;
        let (with, rows) = (below.with, below.rows_of("remote", "node"));
        self.prepare(&format!(
            "{with}INSERT INTO past_seals (node, seen, seal) \
             SELECT s.node, s.seen, s.seal FROM {rows} AND s.seen > 0 {RAISE}"
        ))?
        .execute([node.as_bytes()])?;
        Ok(())
    }

    /// Keeps what was seen of all nodes, before they are removed.
    pub(crate) fn keep_all_past_seals(&self) -> Result<(), IndexError> {
        self.prepare_whole(&format!(
            "INSERT INTO past_seals (node, seen, seal) SELECT node, seen, seal FROM remote WHERE seen > 0 {RAISE}"
        ))?
        .execute([])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
