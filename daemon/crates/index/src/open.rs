//! Opening, migrating and, where the file is garbage, replacing the index.

#[cfg(test)]
mod tests;

use crate::closed_in_order::{self, ClosingNote};
use crate::error::IndexError;
use crate::folder_backup;
use parking_lot::Mutex;
use rusqlite::backup::Backup;
use rusqlite::config::DbConfig;
use rusqlite::{CachedStatement, Connection, TransactionBehavior};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Numbered migrations; the schema version is the count of those applied (`user_version`).
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("sql/0001_trees.sql"),
    include_str!("sql/0002_doubt.sql"),
    include_str!("sql/0003_selection.sql"),
    include_str!("sql/0004_pending.sql"),
    include_str!("sql/0005_mounts.sql"),
    include_str!("sql/0006_sent.sql"),
    include_str!("sql/0007_rules.sql"),
    include_str!("sql/0008_places.sql"),
    include_str!("sql/0009_conflict_origin.sql"),
    include_str!("sql/0010_contents.sql"),
    include_str!("sql/0011_root_birth.sql"),
    include_str!("sql/0012_sent_creates.sql"),
    include_str!("sql/0013_sent_places.sql"),
    include_str!("sql/0014_deletions.sql"),
    include_str!("sql/0015_contents_in_sync.sql"),
    include_str!("sql/0016_sent_bits.sql"),
    include_str!("sql/0017_overwrites.sql"),
    include_str!("sql/0018_rules_files.sql"),
    include_str!("sql/0019_past_seals.sql"),
    include_str!("sql/0020_number_before.sql"),
    include_str!("sql/0021_marks.sql"),
    include_str!("sql/0022_counters.sql"),
    include_str!("sql/0023_left_out.sql"),
    include_str!("sql/0024_impossible.sql"),
    include_str!("sql/0025_views.sql"),
    include_str!("sql/0026_waiting_deletions.sql"),
];

/// The longest wait for another connection that changes the index.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// The first schema whose contents on the service are of the present format.
const CONTENTS: i64 = 10;

/// The index of one installation. Calls are short and synchronous; one thread writes at a time, and another reads
/// beside it.
pub struct Index {
    /// A connection of its own for reads, which see what was written before they began. None in memory, and for
    /// looking something up.
    reader: Option<Mutex<Connection>>,
    connection: Mutex<Connection>,
    /// After the connection, so that it is dropped after it; none in memory, and for looking something up.
    closing: Option<ClosingNote>,
    /// Path of the second copy of the folder pairs; none in memory.
    folder_backup: Option<PathBuf>,
}

/// An opened index, and whether an unreadable one had to be set aside.
pub struct Opened {
    pub index: Index,
    pub set_aside: Option<PathBuf>,
}

/// The open database, inside a transaction when it came from [`Index::write`].
pub struct Db<'a>(
    pub(crate) &'a Connection,
    /// True if the folder pairs were changed.
    pub(crate) Cell<bool>,
);

impl Index {
    /// Opens the index at `path`, makes it where it is missing, and migrates it.
    ///
    /// A file that is no database, or a damaged one, is renamed to `*.unreadable-N` and a new index
    /// is begun: with no synced tree, no deletion can be derived, so nothing is lost by it. The folder
    /// pairs are kept a second time beside the index and come back.
    ///
    /// # Errors
    /// A file that can't be opened or renamed, or an index of a newer Cairn.
    pub fn open(path: &Path) -> Result<Opened, IndexError> {
        match Self::open_checked(path) {
            Ok(index) => Ok(Opened {
                index,
                set_aside: None,
            }),
            Err(IndexError::Open { source, .. } | IndexError::Sql(source))
                if is_garbage(&source) =>
            {
                let aside = set_aside(path)?;
                Ok(Opened {
                    index: Self::open_checked(path)?,
                    set_aside: Some(aside),
                })
            }
            Err(error) => Err(error),
        }
    }

    /// Opens an index to look single rows up, beside whoever works with it. Nothing is checked beforehand: a damaged
    /// page is an error when it is read, and a damaged file stays in place.
    ///
    /// # Errors
    /// A file that can't be opened, or an index of another Cairn.
    pub fn open_for_lookups(path: &Path) -> Result<Self, IndexError> {
        let connection = Connection::open(path).map_err(|source| IndexError::Open {
            path: path.to_owned(),
            source,
        })?;
        let backup = path.with_file_name(folder_backup::FILE);
        Self::prepare(connection, Some(backup), None).map_err(|error| error.at(path))
    }

    fn open_checked(path: &Path) -> Result<Self, IndexError> {
        let wrap = |source| IndexError::Open {
            path: path.to_owned(),
            source,
        };
        let is_checked = closed_in_order::is_as_it_was_closed(path);
        let connection = Connection::open(path).map_err(wrap)?;
        if !is_checked {
            check(&connection).map_err(wrap)?;
        }
        let backup = path.with_file_name(folder_backup::FILE);
        let prepared = Self::prepare(connection, Some(backup), Some(ClosingNote::new(path)));
        let mut index = prepared.map_err(|error| error.at(path))?;
        let restored = index.write(|db| match &index.folder_backup {
            Some(path) if db.folders()?.is_empty() => folder_backup::restore(db, path),
            Some(_) | None => Ok(()),
        });
        restored.map_err(|error| error.at(path))?;
        let reader = Connection::open(path).map_err(wrap)?;
        configure(&reader).map_err(wrap)?;
        reader.pragma_update(None, "query_only", true)?;
        index.reader = Some(Mutex::new(reader));
        Ok(index)
    }

    /// Makes an index in memory, for tests and the simulator.
    ///
    /// # Errors
    /// Returns the error of SQLite, which never happens in practice.
    pub fn memory() -> Result<Self, IndexError> {
        // The simulator makes thousands: copying the schema is much quicker than each of its steps.
        static TEMPLATE: OnceLock<Index> = OnceLock::new();
        if TEMPLATE.get().is_none() {
            let made = Self::prepare(Connection::open_in_memory()?, None, None)?;
            TEMPLATE.get_or_init(|| made);
        }
        let mut connection = Connection::open_in_memory()?;
        if let Some(template) = TEMPLATE.get() {
            let template = template.connection.lock();
            let copy = Backup::new(&template, &mut connection)?;
            copy.run_to_completion(i32::MAX, Duration::ZERO, None)?;
        }
        Self::prepare(connection, None, None)
    }

    /// Writes the log into the file and cuts it back to nothing, and frees cached pages.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn shrink(&self) -> Result<(), IndexError> {
        let connection = self.connection.lock();
        let reader = self.reader.as_ref().map(Mutex::lock);
        let free = |connection: &Connection| connection.execute_batch("PRAGMA shrink_memory");
        let shrunk = connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .and_then(|()| free(&connection))
            .and_then(|()| reader.as_deref().map_or(Ok(()), free));
        self.distrust_after(shrunk.map_err(IndexError::from))
    }

    fn prepare(
        mut connection: Connection,
        folder_backup: Option<PathBuf>,
        closing: Option<ClosingNote>,
    ) -> Result<Self, IndexError> {
        configure(&connection)?;
        let home = folder_backup.as_deref().and_then(Path::parent);
        migrate(&mut connection, home.unwrap_or(Path::new("")))?;
        Ok(Self {
            reader: None,
            connection: Mutex::new(connection),
            closing,
            folder_backup,
        })
    }

    /// Reads one state. It is a transaction because SQLite locks the file anew for each statement
    /// outside of one, which costs more than most of our statements.
    ///
    /// # Errors
    /// The error of `f`.
    pub fn read<T>(
        &self,
        f: impl FnOnce(&Db<'_>) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        self.distrust_after(self.try_read(f))
    }

    fn try_read<T>(
        &self,
        f: impl FnOnce(&Db<'_>) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        let mut connection = match &self.reader {
            // Whichever is free; a read that others hold up waits for a read and not for a write.
            Some(reader) => reader
                .try_lock()
                .or_else(|| self.connection.try_lock())
                .unwrap_or_else(|| reader.lock()),
            None => self.connection.lock(),
        };
        let tx = connection.transaction_with_behavior(TransactionBehavior::Deferred)?;
        f(&Db(&tx, Cell::new(false)))
    }

    /// Runs `f` in one transaction: all of its changes, or none when it fails.
    ///
    /// # Errors
    /// The error of `f`, or a failed commit.
    pub fn write<T>(
        &self,
        f: impl FnOnce(&Db<'_>) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        self.distrust_after(self.try_write(f))
    }

    /// Passes a result on. After a refusal of SQLite, or a value that can't be, the next start checks every page.
    fn distrust_after<T>(&self, result: Result<T, IndexError>) -> Result<T, IndexError> {
        if let (Err(IndexError::Sql(_) | IndexError::Corrupt(_)), Some(closing)) =
            (&result, &self.closing)
        {
            closing.distrust();
        }
        result
    }

    fn try_write<T>(
        &self,
        f: impl FnOnce(&Db<'_>) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        // A panic inside rolled its transaction back, so the connection is sound.
        let mut connection = self.connection.lock();
        let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let db = Db(&tx, Cell::new(false));
        let out = f(&db)?;
        let changed = self.folder_backup.as_ref().filter(|_| db.1.get());
        if let Some(path) = changed {
            // While nobody else can change the pairs: the list of whoever is later is the later one.
            folder_backup::save(path, &db.folders()?)?;
        }
        let committed = tx.commit();
        if let (Err(_), Some(path)) = (&committed, changed) {
            let kept = Db(&connection, Cell::new(false)).folders();
            // The caller gets the error of the commit. A list that stays counts only once the index is lost, and the
            // next change of a pair writes it again.
            drop(kept.and_then(|folders| folder_backup::save(path, &folders)));
        }
        committed?;
        Ok(out)
    }
}

impl Db<'_> {
    /// Prepares a statement that touches few rows: it finds them by an index.
    pub(crate) fn prepare(&self, sql: &str) -> Result<CachedStatement<'_>, rusqlite::Error> {
        #[cfg(test)]
        crate::plans::check(self.0, sql);
        self.0.prepare_cached(sql)
    }

    /// Prepares a statement that reads a whole tree: never for a single step or hint.
    pub(crate) fn prepare_whole(&self, sql: &str) -> Result<CachedStatement<'_>, rusqlite::Error> {
        self.0.prepare_cached(sql)
    }
}

impl Db<'_> {
    /// Returns a value of the installation as a whole, such as the feed's cursor.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn meta(&self, key: &str) -> Result<Option<Vec<u8>>, IndexError> {
        let mut statement = self.prepare("SELECT value FROM meta WHERE key = ?1")?;
        let mut rows = statement.query([key])?;
        Ok(rows.next()?.map(|row| row.get(0)).transpose()?)
    }

    /// Drops a value of the installation as a whole.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn remove_meta(&self, key: &str) -> Result<(), IndexError> {
        self.prepare("DELETE FROM meta WHERE key = ?1")?
            .execute([key])?;
        Ok(())
    }

    /// Sets a value of the installation as a whole.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn set_meta(&self, key: &str, value: &[u8]) -> Result<(), IndexError> {
        self.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)")?
            .execute((key, value))?;
        Ok(())
    }
}

/// Brings the schema up to date, in one transaction: whoever opens the index at the same time waits, and finds it done.
fn migrate(connection: &mut Connection, home: &Path) -> Result<(), IndexError> {
    // Without a lock: a look-up does not wait for whoever writes.
    if readable_version(connection, home)? == MIGRATIONS.len() {
        return Ok(());
    }
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Somebody else may have done it meanwhile.
    for sql in &MIGRATIONS[readable_version(&tx, home)?..] {
        tx.execute_batch(sql)?;
    }
    tx.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
    Ok(tx.commit()?)
}

/// Returns the count of migrations that were applied; refuses an index of a Cairn that this one does not know.
fn readable_version(connection: &Connection, home: &Path) -> Result<usize, IndexError> {
    let known = MIGRATIONS.len() as i64;
    let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found > known {
        return Err(IndexError::TooNew { found, known });
    }
    if (1..CONTENTS).contains(&found) {
        let path = home.to_owned();
        return Err(IndexError::TooOld { path });
    }
    Ok(usize::try_from(found).unwrap_or(0))
}

/// Has changes go to a log beside the file. That needs the file alone for a moment, and SQLite does not wait for it.
fn switch_to_log(connection: &Connection) -> Result<(), rusqlite::Error> {
    let begun = Instant::now();
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error) if is_busy(&error) && begun.elapsed() < BUSY_TIMEOUT => {
                // Waits until the others are done, as every other statement does.
                connection.execute_batch("BEGIN EXCLUSIVE; ROLLBACK")?;
            }
            switched => return switched,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
}

/// Sets what holds for a connection as long as it is open.
fn configure(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    switch_to_log(connection)?;
    // A lost last transaction is found again by the next scan and the feed; a torn one can't be.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // Without it SQLite plans a cached statement anew at each new value of its parameters.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "cache_size", -8_000)?;
    // Pages: 64 MiB. Ids of other devices touch the same pages again and again while many files are
    // recorded; folding the log into the file at each 4 MiB wrote them all over and over.
    connection.pragma_update(None, "wal_autocheckpoint", 16_384)?;
    // The log of one large transaction, such as the first scan, doesn't keep its size for ever.
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    connection.set_prepared_statement_cache_capacity(128);
    Ok(())
}

/// Checks every page.
fn check(connection: &Connection) -> Result<(), rusqlite::Error> {
    let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if found == "ok" {
        return Ok(());
    }
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    Err(rusqlite::Error::SqliteFailure(code, Some(found)))
}

fn is_garbage(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(rusqlite::ErrorCode::NotADatabase | rusqlite::ErrorCode::DatabaseCorrupt)
    )
}

fn set_aside(path: &Path) -> Result<PathBuf, IndexError> {
    let wrap = |source| IndexError::SetAside {
        path: path.to_owned(),
        source,
    };
    let aside = (1..)
        .map(|n| with_suffix(path, &format!(".unreadable-{n}")))
        .find(|candidate| !candidate.exists())
        .ok_or_else(|| wrap(std::io::ErrorKind::AlreadyExists.into()))?;
    std::fs::rename(path, &aside).map_err(wrap)?;
    for suffix in ["-wal", "-shm"] {
        match std::fs::remove_file(with_suffix(path, suffix)) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(wrap(e)),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(aside)
}

pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
