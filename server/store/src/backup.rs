//! A copy of the database beside a running server, and the check of what it says about objects.

use super::rows::{HeldChunk, unpack_held};
use super::Store;
use super::database::{MIGRATIONS, check_format};
use crate::error::{Error, Result};
use cairn_model::{ChunkId, RevisionId};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};
use std::collections::HashMap;
use std::path::Path;

/// The objects that a database refers to, each with the bytes that it has to have at least.
pub type NeededObjects = HashMap<String, u64>;

fn needed(conn: &Connection) -> Result<NeededObjects> {
    let mut all: NeededObjects = conn
        .prepare(
            "SELECT o.name, coalesce(max(c.start + c.size), 0) FROM objects o \
             LEFT JOIN chunks c ON c.object = o.id GROUP BY o.id",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    // A database of an older server has no such table.
    if conn.table_exists(None, "log_objects")? {
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
pub fn needed_by(database: &Path) -> Result<NeededObjects> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(database, flags)?;
    let version: usize = conn.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version == 0 || version > MIGRATIONS.len() {
        return Err(Error::Config(format!(
            "{} is not a database of this cairn-server (schema {version}, this one knows 1 to {})",
            database.display(),
            MIGRATIONS.len()
        )));
    }
    check_format(&conn, version)?;
    needed(&conn)
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
        self.writer.lock().execute("VACUUM INTO ?1", [path])?;
        super::private_files::keep_private(to)
    }

    /// Returns the objects that the database refers to.
    pub fn needed_objects(&self) -> Result<NeededObjects> {
        self.read(needed)
    }

    /// Checks the database by itself, and returns what is wrong with it.
    pub fn check_integrity(&self) -> Result<Vec<String>> {
        self.read(|conn| {
            let mut problems: Vec<String> = conn
                .prepare("PRAGMA integrity_check")?
                .query_map([], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            problems.retain(|line| line != "ok");
            let broken: u64 = conn.query_row(
                "SELECT count(*) FROM pragma_foreign_key_check()",
                [],
                |row| row.get(0),
            )?;
            if broken > 0 {
                problems.push(format!("{broken} rows refer to rows that are not there"));
            }
            let miscounted: u64 = conn.query_row(
                "SELECT count(*) FROM objects o WHERE o.refs <> \
                 (SELECT count(*) FROM chunks c WHERE c.object = o.id) \
                 + (SELECT count(*) FROM log_objects l WHERE l.object = o.id)",
                [],
                |row| row.get(0),
            )?;
            if miscounted > 0 {
                problems.push(format!("{miscounted} objects count their chunks wrongly"));
            }
            problems.extend(incomplete_revisions(conn)?);
            Ok(problems)
        })
    }
}

/// Finds revisions of which chunks are not stored.
fn incomplete_revisions(conn: &Connection) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let mut revisions = conn.prepare("SELECT id, chunks FROM revisions")?;
    let mut stored = conn.prepare("SELECT size FROM chunks WHERE node = ?1 AND id = ?2")?;
    let mut rows = revisions.query([])?;
    while let Some(row) = rows.next()? {
        let id: RevisionId = super::rows::id(row, 0)?;
        for HeldChunk { chunk, holder } in unpack_held(&row.get::<_, Vec<u8>>(1)?)? {
            let ChunkId(name) = chunk.id;
            let size: Option<u64> = stored
                .query_row(params![holder.as_bytes(), name], |row| row.get(0))
                .optional()?;
            if size != Some(chunk.size) {
                problems.push(format!("the revision {id} lacks the chunk {}", chunk.id));
            }
        }
    }
    Ok(problems)
}
