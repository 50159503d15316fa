//! Counts of a folder pair's files. Triggers keep them (`sql/0022_counters.sql`), so that reading one costs the same
//! however many files there are.

use crate::error::IndexError;
use crate::open::Db;
use crate::sql_types::{first_row, to_unsigned};
use cairn_model::FolderId;

impl Db<'_> {
    /// Returns the files and bytes of a folder, without rows that are not synced.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn local_totals(&self, folder: FolderId) -> Result<(u64, u64), IndexError> {
        let mut statement = self.prepare("SELECT files, bytes FROM counters WHERE folder = ?1")?;
        let counted = first_row(&mut statement.query([folder.0])?, |row| {
            Ok((to_unsigned(row.get(0)?)?, to_unsigned(row.get(1)?)?))
        })?;
        Ok(counted.unwrap_or_default())
    }

    /// Returns the number of synced files of a folder whose deletion nobody has confirmed.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn unconfirmed_files(&self, folder: FolderId) -> Result<u64, IndexError> {
        let mut statement = self.prepare("SELECT unconfirmed FROM counters WHERE folder = ?1")?;
        let counted = first_row(&mut statement.query([folder.0])?, |row| {
            to_unsigned(row.get(0)?)
        })?;
        Ok(counted.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
