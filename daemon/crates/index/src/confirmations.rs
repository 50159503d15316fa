//! Mass deletions that wait for a person's decision: how many files, on which side. They are kept over any restart.

use crate::error::IndexError;
use crate::open::Db;
use crate::sql_types::{collect, to_signed, to_unsigned};
use cairn_model::{FolderId, Side};

/// A mass deletion that waits for a person.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfirmationRow {
    pub folder: FolderId,
    /// The side on which the files would be deleted.
    pub side: Side,
    pub files: u64,
    /// Milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
}

impl Db<'_> {
    /// Asks for a confirmation.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn put_confirmation(&self, row: &ConfirmationRow) -> Result<(), IndexError> {
        self.prepare("INSERT OR REPLACE INTO questions (folder, side, files, at, answer) VALUES (?1,?2,?3,?4,'asked')")?
            .execute((row.folder.0, row.side.as_str(), to_signed(row.files), row.at_ms))?;
        Ok(())
    }

    /// Ends a confirmation: nothing waits on that side any more.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn end_confirmation(&self, folder: FolderId, side: Side) -> Result<(), IndexError> {
        self.prepare("DELETE FROM questions WHERE folder = ?1 AND side = ?2")?
            .execute((folder.0, side.as_str()))?;
        self.prepare(
            "UPDATE synced SET deletion_waits = NULL WHERE folder = ?1 AND deletion_waits = ?2",
        )?
        .execute((folder.0, side.as_str()))?;
        Ok(())
    }

    /// Returns the confirmations of a folder.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn confirmations(&self, folder: FolderId) -> Result<Vec<ConfirmationRow>, IndexError> {
        let mut statement =
            self.prepare("SELECT side, files, at FROM questions WHERE folder = ?1 ORDER BY side")?;
        collect(&mut statement.query([folder.0])?, |row| {
            let side: String = row.get(0)?;
            Ok(ConfirmationRow {
                folder,
                side: side
                    .parse()
                    .map_err(|_| IndexError::Corrupt("side of a confirmation"))?,
                files: to_unsigned(row.get(1)?)?,
                at_ms: row.get(2)?,
            })
        })
    }
}
