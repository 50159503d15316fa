//! The parts of SQLite that PostgreSQL has no counterpart of: files, and settings of a connection.

use super::connection::{Backend, Connection};
use super::error::{Error, Result};
use rusqlite::OpenFlags;
use rusqlite::backup::Backup;
use rusqlite::config::DbConfig;
use std::path::Path;
use std::time::Duration;

/// Pages that are copied in one step.
const ALL_PAGES: i32 = i32::MAX;

impl From<rusqlite::Connection> for Connection {
    fn from(conn: rusqlite::Connection) -> Self {
        Self {
            backend: Backend::Sqlite(conn),
        }
    }
}

impl Connection {
    /// Opens a database file, or makes it.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Ok(rusqlite::Connection::open(path)?.into())
    }

    /// Opens a database file that is there, to read it.
    pub(crate) fn open_read_only(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Ok(rusqlite::Connection::open_with_flags(path, flags)?.into())
    }

    /// Makes a database in memory.
    pub(crate) fn open_in_memory() -> Result<Self> {
        Ok(rusqlite::Connection::open_in_memory()?.into())
    }

    /// Makes a copy of a database in memory.
    pub(crate) fn copy_into_memory(&self) -> Result<Self> {
        let mut copy = rusqlite::Connection::open_in_memory()?;
        Backup::new(self.sqlite()?, &mut copy)?.run_to_completion(
            ALL_PAGES,
            Duration::ZERO,
            None,
        )?;
        Ok(copy.into())
    }

    fn sqlite(&self) -> Result<&rusqlite::Connection> {
        match &self.backend {
            Backend::Sqlite(conn) => Ok(conn),
            Backend::Postgres(_) => Err(Error::NoFile),
        }
    }

    /// Sets the connection up for a server.
    pub(crate) fn configure(&self) -> Result<()> {
        let conn = self.sqlite()?;
        conn.busy_timeout(Duration::from_secs(10))?;
        conn.set_prepared_statement_cache_capacity(256);
        // Otherwise SQLite plans a statement anew whenever values are bound to it.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        conn.pragma_update(None, "synchronous", "NORMAL")?;
        conn.pragma_update(None, "foreign_keys", true)?;
        conn.pragma_update(None, "temp_store", "MEMORY")?;
        // What is replaced or deleted is overwritten, instead of staying in unused parts of the file.
        conn.pragma_update(None, "secure_delete", true)?;
        // KiB: 100,000 nodes with their indexes stay in memory.
        conn.pragma_update(None, "cache_size", -65_536)?;
        // Pages: 64 MiB. The same pages are written again and again while many files come in, and a checkpoint writes
        // each of them once.
        conn.pragma_update(None, "wal_autocheckpoint", 16_384)?;
        Ok(())
    }

    /// Lets others read while somebody writes.
    pub(crate) fn use_write_ahead_log(&self) -> Result<()> {
        Ok(self.sqlite()?.pragma_update(None, "journal_mode", "WAL")?)
    }

    /// Chooses whether a commit is on the disk when it returns, or with the next checkpoint. In PostgreSQL it always
    /// is, unless its administrator wants it otherwise.
    pub(crate) fn flush_commits(&self, each: bool) -> Result<()> {
        let synchronous = if each { "FULL" } else { "NORMAL" };
        match &self.backend {
            Backend::Sqlite(conn) => Ok(conn.pragma_update(None, "synchronous", synchronous)?),
            Backend::Postgres(_) => Ok(()),
        }
    }

    /// Writes the log of changes into the database file. Returns false if somebody else has it open.
    pub(crate) fn checkpoint(&self) -> Result<bool> {
        self.sqlite()?;
        let busy: bool = self.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        Ok(!busy)
    }

    /// Writes a consistent copy into a new file.
    pub(crate) fn copy_to(&self, path: &str) -> Result<()> {
        self.sqlite()?;
        self.execute("VACUUM INTO ?1", [path])?;
        Ok(())
    }

    /// Returns the path of the file, empty where there is none.
    pub(crate) fn path(&self) -> &Path {
        let path = self.sqlite().ok().and_then(rusqlite::Connection::path);
        Path::new(path.unwrap_or_default())
    }
}

#[cfg(test)]
impl Connection {
    /// Refuses all writes, or takes them again.
    pub(crate) fn refuse_writes(&self, refused: bool) {
        let conn = self.sqlite().unwrap();
        conn.pragma_update(None, "query_only", refused).unwrap();
    }

    /// Calls a function at each step of the virtual machine, or stops that.
    pub(crate) fn on_each_step(&mut self, note: Option<impl FnMut() -> bool + Send + 'static>) {
        let every = i32::from(note.is_some());
        let Backend::Sqlite(conn) = &mut self.backend else {
            panic!("PostgreSQL has no such steps");
        };
        conn.progress_handler(every, note).unwrap();
    }
}
