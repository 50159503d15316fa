//! The parts of SQLite alone: files, settings of a connection, checks of its own.

use super::connection::Connection;
use super::error::Result;
use super::params::params;
use rusqlite::OpenFlags;
use rusqlite::config::DbConfig;
use std::path::Path;
use std::time::Duration;

impl Connection {
    /// Opens a database file, or makes it.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let sqlite = rusqlite::Connection::open(path)?;
        Ok(Self { sqlite })
    }

    /// Opens a database file that is there, to read it.
    pub(crate) fn open_read_only(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let sqlite = rusqlite::Connection::open_with_flags(path, flags)?;
        Ok(Self { sqlite })
    }

    /// Makes a database in memory.
    pub(crate) fn open_in_memory() -> Result<Self> {
        let sqlite = rusqlite::Connection::open_in_memory()?;
        Ok(Self { sqlite })
    }

    /// Sets the connection up for a server.
    pub(crate) fn configure(&self) -> Result<()> {
        let conn = &self.sqlite;
        conn.busy_timeout(Duration::from_secs(10))?;
        conn.set_prepared_statement_cache_capacity(256);
        // Otherwise SQLite plans a statement anew whenever values are bound to it.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        conn.pragma_update(None, "synchronous", "NORMAL")?;
        conn.pragma_update(None, "foreign_keys", true)?;
        conn.pragma_update(None, "temp_store", "MEMORY")?;
        // KiB: 100,000 nodes with their indexes stay in memory.
        conn.pragma_update(None, "cache_size", -65_536)?;
        // Pages: 16 MiB. The same pages are written again and again while many files come in.
        conn.pragma_update(None, "wal_autocheckpoint", 4_096)?;
        Ok(())
    }

    /// Lets others read while somebody writes.
    pub(crate) fn use_write_ahead_log(&self) -> Result<()> {
        Ok(self.sqlite.pragma_update(None, "journal_mode", "WAL")?)
    }

    /// Chooses whether a commit is on the disk when it returns, or with the next checkpoint.
    pub(crate) fn flush_commits(&self, each: bool) -> Result<()> {
        let synchronous = if each { "FULL" } else { "NORMAL" };
        Ok(self
            .sqlite
            .pragma_update(None, "synchronous", synchronous)?)
    }

    /// Overwrites what is replaced or deleted from now on, instead of leaving it in unused parts of the file.
    pub(crate) fn overwrite_deleted(&self) -> Result<()> {
        Ok(self.sqlite.pragma_update(None, "secure_delete", true)?)
    }

    /// Writes the log of changes into the database file. Returns false if somebody else has it open.
    pub(crate) fn checkpoint(&self) -> Result<bool> {
        let busy: bool = self.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        Ok(!busy)
    }

    /// Writes a consistent copy into a new file.
    pub(crate) fn copy_to(&self, path: &str) -> Result<()> {
        self.execute("VACUUM INTO ?1", [path])?;
        Ok(())
    }

    /// Returns the path of the file, empty in memory.
    pub(crate) fn path(&self) -> &Path {
        Path::new(self.sqlite.path().unwrap_or_default())
    }

    /// Returns the number of migrations that ran.
    pub(crate) fn schema_version(&self) -> Result<usize> {
        self.query_row("PRAGMA user_version", [], |row| row.get(0))
    }

    pub(crate) fn set_schema_version(&self, version: usize) -> Result<()> {
        // A pragma takes no parameters.
        self.execute_batch(&format!("PRAGMA user_version = {version}"))
    }

    /// Returns the bytes that the database takes.
    pub(crate) fn size(&self) -> Result<i64> {
        self.prepare_cached(
            "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
        )?
        .query_row([], |row| row.get(0))
    }

    /// Returns what the database itself finds wrong.
    pub(crate) fn problems(&self) -> Result<Vec<String>> {
        let mut problems: Vec<String> = self
            .prepare("PRAGMA integrity_check")?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_>>()?;
        problems.retain(|line| line != "ok");
        let broken = "SELECT count(*) FROM pragma_foreign_key_check()";
        let broken: u64 = self.query_row(broken, [], |row| row.get(0))?;
        if broken > 0 {
            problems.push(format!("{broken} rows refer to rows that are not there"));
        }
        Ok(problems)
    }

    pub(crate) fn has_table(&self, name: &str) -> Result<bool> {
        Ok(self.sqlite.table_exists(None, name)?)
    }

    /// Returns the names of all tables of the store.
    pub(crate) fn tables(&self) -> Result<Vec<String>> {
        self.prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' \
             AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow') ORDER BY name",
        )?
        .query_map([], |row| row.get(0))?
        .collect()
    }

    /// Returns the names of the tables that have a column, in their order.
    pub(crate) fn tables_with(&self, column: &str) -> Result<Vec<String>> {
        self.prepare(
            "SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c \
             WHERE m.type = 'table' AND c.name = ?1 ORDER BY m.name",
        )?
        .query_map(params![column], |row| row.get(0))?
        .collect()
    }

    /// Checks references at the end of the transaction only.
    pub(crate) fn defer_references(&self) -> Result<()> {
        Ok(self
            .sqlite
            .pragma_update(None, "defer_foreign_keys", true)?)
    }
}

#[cfg(test)]
impl Connection {
    /// Refuses all writes, or takes them again.
    pub(crate) fn refuse_writes(&self, refused: bool) {
        self.sqlite
            .pragma_update(None, "query_only", refused)
            .unwrap();
    }

    /// Calls a function at each step of the virtual machine, or stops that.
    pub(crate) fn on_each_step(&mut self, note: Option<impl FnMut() -> bool + Send + 'static>) {
        let every = i32::from(note.is_some());
        self.sqlite.progress_handler(every, note).unwrap();
    }
}
