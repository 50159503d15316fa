//! The activity log, for people. The newest 100,000 rows are kept.

use crate::error::IndexError;
use crate::open::Db;
use crate::sql_types::{collect, to_signed, to_unsigned};
use cairn_model::{ActivityKind, FolderId};

/// The number of rows that are kept.
const KEEP: i64 = 100_000;

/// One thing that happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ActivityRow {
    /// Milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    pub folder: Option<FolderId>,
    pub kind: ActivityKind,
    pub path: String,
    /// The name of the device that made the change, where it is known.
    pub device: Option<String>,
    pub bytes: u64,
}

impl Db<'_> {
    /// Adds a row.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn add_activity(&self, row: &ActivityRow) -> Result<(), IndexError> {
        self.prepare("INSERT INTO activity (at, folder, kind, path, device, bytes) VALUES (?1,?2,?3,?4,?5,?6)")?
            .execute((row.at_ms, row.folder.map(|f| f.0), row.kind.as_str(), &row.path, &row.device, to_signed(row.bytes)))?;
        let id = self.0.last_insert_rowid();
        if id % 1_000 == 0 {
            self.prepare("DELETE FROM activity WHERE id <= ?1")?
                .execute([id - KEEP])?;
        }
        Ok(())
    }

    /// Returns the time of the latest transfer of a path, in milliseconds since 1970-01-01 UTC, as far as the log
    /// goes back.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn last_transferred(
        &self,
        folder: FolderId,
        path: &str,
    ) -> Result<Option<i64>, IndexError> {
        let mut statement = self.prepare_whole(
            "SELECT max(at) FROM activity WHERE folder = ?1 AND path = ?2 AND kind IN (?3, ?4)",
        )?;
        let kinds = (ActivityKind::Uploaded, ActivityKind::Downloaded);
        let values = (folder.0, path, kinds.0.as_str(), kinds.1.as_str());
        Ok(statement.query_row(values, |row| row.get(0))?)
    }

    /// Returns the newest `limit` rows, newest first.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn activity(&self, limit: u32) -> Result<Vec<ActivityRow>, IndexError> {
        let mut statement = self.prepare(
            "SELECT at, folder, kind, path, device, bytes FROM activity ORDER BY id DESC LIMIT ?1",
        )?;
        collect(&mut statement.query([limit])?, |row| {
            let kind: String = row.get(2)?;
            Ok(ActivityRow {
                at_ms: row.get(0)?,
                folder: row.get::<_, Option<i64>>(1)?.map(FolderId),
                kind: kind.parse().unwrap_or(ActivityKind::Other),
                path: row.get(3)?,
                device: row.get(4)?,
                bytes: to_unsigned(row.get(5)?)?,
            })
        })
    }
}
