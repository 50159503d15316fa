//! A copy of the database beside a running server, and the objects (stored blobs of encrypted chunks) that one needs.

use super::Store;
use super::database::check_format;
use crate::db::{self, Connection, SQLITE_MIGRATIONS};
use crate::error::{Error, Result};
use std::collections::HashMap;
use std::path::Path;

/// The objects that a database refers to, each with the bytes that it has to have at least.
pub type NeededObjects = HashMap<String, u64>;

fn read_needed(conn: &Connection) -> Result<NeededObjects> {
    let mut all: NeededObjects = conn
        .prepare(
            "SELECT o.name, coalesce(max(c.start + c.size), 0) FROM objects o \
             LEFT JOIN chunks c ON c.object = o.id GROUP BY o.id",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<db::Result<_>>()?;
    // A database of an older server has no such table.
    if conn.has_table("log_objects")? {
        let mut beside_commits = conn.prepare(
            "SELECT o.name, l.size FROM log_objects l JOIN objects o ON o.id = l.object",
        )?;
        let mut rows = beside_commits.query([])?;
        while let Some(row) = rows.next()? {
            all.insert(row.get(0)?, row.get(1)?);
        }
    }
    Ok(all)
}

/// Returns the objects that the copy of a database refers to; the copy is not changed.
///
/// # Errors
/// A file that is no database of this or an older server, or one with contents of an older format.
pub fn objects_needed_by(database: &Path) -> Result<NeededObjects> {
    let conn = Connection::open_read_only(database)?;
    let version = conn.schema_version()?;
    if version == 0 || version > SQLITE_MIGRATIONS.len() {
        return Err(Error::Config(format!(
            "{} is not a database of this cairn-server (schema {version}, this one knows 1 to {})",
            database.display(),
            SQLITE_MIGRATIONS.len()
        )));
    }
    check_format(&conn, version)?;
    read_needed(&conn)
}

impl Store {
    /// Writes a consistent copy of the database into a new file, while others read and write.
    ///
    /// # Errors
    /// A file that is there already, or can't be written.
    pub fn copy_database(&self, to: &Path) -> Result<()> {
        let path = to.to_str().ok_or_else(|| {
            Error::Config(format!("the path {} is not valid UTF-8", to.display()))
        })?;
        self.writer.lock().copy_to(path)?;
        super::private_files::keep_private(to)
    }

    /// Returns the objects that the database refers to.
    pub fn needed_objects(&self) -> Result<NeededObjects> {
        self.read(read_needed)
    }
}
