//! The database file: opening it, bringing its schema up to date, its history, emptying it.

use super::Store;
use super::cluster::{Cluster, Message};
use super::error::{Error, Result};
use super::history_id::find_or_make;
use super::key_file;
use super::options::PostgresUrl;
use super::outbox::Outbox;
use super::private_files;
use super::seal::Sealer;
use super::server_lock;
use super::source::Source;
use crate::db::{Begin, Connection, Dialect};
use parking_lot::{Mutex, RwLock};
use std::fs::File;
use std::path::Path;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock};

/// The first schema whose contents are of the present format.
const CONTENTS: usize = 20;

/// The number of reads that can run at once on a small machine.
const READERS: usize = 2;

/// The number of reads that can wait for the network at once.
const POSTGRES_READERS: usize = 6;

/// The opener of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opener {
    /// The server that holds the lock of the data directory.
    Server,
    /// Anything else: a server may have the database open, too.
    Other,
}

impl Store {
    /// Opens the database under `data`, or a new one in memory.
    ///
    /// # Errors
    /// A database or a `records.key` that can't be used, or is being replaced; a database of an older version
    /// that a server uses.
    pub fn open(data: Option<&Path>, source: Arc<Source>) -> Result<Self> {
        Self::open_locked(data, source, Opener::Other)
    }

    /// Opens the database for the server that holds the lock of its data directory
    /// ([`lock_server`](crate::lock_server)).
    ///
    /// # Errors
    /// A database or a `records.key` that can't be used, or is being replaced.
    pub fn open_for_server(data: Option<&Path>, source: Arc<Source>) -> Result<Self> {
        Self::open_locked(data, source, Opener::Server)
    }

    fn open_locked(data: Option<&Path>, source: Arc<Source>, opener: Opener) -> Result<Self> {
        let keys = data.map(key_file::lock_shared).transpose()?;
        Ok(Self {
            _keys: keys,
            ..Self::open_with(data, source, opener)?
        })
    }

    /// Opens the database for whoever has locked its keys.
    pub(crate) fn open_unlocked(data: &Path, source: Arc<Source>) -> Result<Self> {
        Self::open_with(Some(data), source, Opener::Other)
    }

    fn open_with(data: Option<&Path>, source: Arc<Source>, opener: Opener) -> Result<Self> {
        let mut writer = match data {
            Some(data) => Connection::open(&data.join("cairn.db"))?,
            None => make_in_memory()?,
        };
        if let Some(data) = data {
            private_files::keep_private(&data.join("cairn.db"))?;
        }
        writer.configure()?;
        if data.is_some() {
            writer.use_write_ahead_log()?;
        }
        let unlocked = data.filter(|_| opener == Opener::Other);
        migrate(&mut writer, unlocked)?;
        let mut readers = Vec::new();
        if let Some(data) = data {
            for _ in 0..READERS {
                let reader = Connection::open_read_only(&data.join("cairn.db"))?;
                reader.configure()?;
                readers.push(Mutex::new(reader));
            }
        }
        Self::with_connections(data, source, writer, readers)
    }

    /// Opens a database of PostgreSQL and brings its schema up to date. `data` has the `records.key`; without it records
    /// are sealed with a key that nobody keeps.
    ///
    /// # Errors
    /// A database or a `records.key` that can't be used, or is being replaced.
    pub fn open_postgres(
        url: &PostgresUrl,
        data: Option<&Path>,
        source: Arc<Source>,
    ) -> Result<Self> {
        let keys = data.map(key_file::lock_shared).transpose()?;
        let mut writer = Connection::postgres(&url.0)?;
        writer.make_schema()?;
        migrate(&mut writer, None)?;
        let readers = (0..POSTGRES_READERS)
            .map(|_| Ok(Mutex::new(Connection::postgres(&url.0)?)))
            .collect::<Result<_>>()?;
        let mut store = Self::with_connections(data, source, writer, readers)?;
        let wake = store.waker();
        let cluster = Cluster::join(&url.0, &store.writer.lock(), &store.source, wake)?;
        store.cluster = Some(cluster);
        store._keys = keys;
        Ok(store)
    }

    fn with_connections(
        data: Option<&Path>,
        source: Arc<Source>,
        mut writer: Connection,
        readers: Vec<Mutex<Connection>>,
    ) -> Result<Self> {
        let sealer = Sealer::open(data, &source, holds_sealed(&writer)?)?;
        let history_id = begin_history(&mut writer, &source)?;
        Ok(Self {
            dialect: writer.dialect(),
            outbox: Arc::new(Outbox::new(sealer)),
            mail_queue: Arc::default(),
            source,
            feed_notifier: Arc::default(),
            cluster: None,
            writer: Mutex::new(writer),
            readers,
            turn: AtomicUsize::new(0),
            history_id: RwLock::new(history_id),
            _keys: None,
        })
    }

    /// Writes the whole log of changes into the database file, and makes that outlast a power failure. Nothing
    /// else may have the database open.
    pub(crate) fn write_through(&self) -> Result<()> {
        if !self.writer.lock().checkpoint()? {
            return Err(Error::Config(
                "another program has the database open; end it and try again".into(),
            ));
        }
        Ok(())
    }

    /// Empties the database and begins a new history.
    pub fn reset(&self) -> Result<()> {
        let mut conn = self.writer.lock();
        let tx = conn.transaction(Begin::Write)?;
        tx.empty_all_but(&["settings", "schema_version"])?;
        tx.execute("DELETE FROM settings WHERE key = 'epoch'", [])?;
        let history_id = find_or_make(&tx, &self.source)?;
        let notification = self
            .cluster
            .as_ref()
            .map(|cluster| cluster.notification(Message::of_everything()));
        tx.commit_and_notify(notification.as_ref())?;
        *self.history_id.write() = history_id;
        self.feed_notifier.close_all();
        Ok(())
    }
}

/// Makes an empty database in memory. Tests make thousands: copying the schema is much quicker than each of its steps.
fn make_in_memory() -> Result<Connection> {
    static TEMPLATE: OnceLock<Mutex<Connection>> = OnceLock::new();
    if TEMPLATE.get().is_none() {
        let mut made = Connection::open_in_memory()?;
        migrate(&mut made, None)?;
        TEMPLATE.get_or_init(|| Mutex::new(made));
    }
    match TEMPLATE.get() {
        Some(template) => Ok(template.lock().copy_into_memory()?),
        None => Ok(Connection::open_in_memory()?),
    }
}

/// Brings the schema up to date. `unlocked` is a directory whose lock is not held yet: the schema must not change
/// under a running server, which knows the older one.
fn migrate(conn: &mut Connection, unlocked: Option<&Path>) -> Result<()> {
    let tx = conn.transaction(Begin::Write)?;
    let done = tx.schema_version()?;
    let migrations = tx.dialect().migrations();
    if done > migrations.len() {
        return Err(Error::Config(format!(
            "the database is of a newer cairn-server (schema {done}, this one knows {}); use that one",
            migrations.len()
        )));
    }
    check_format(&tx, done)?;
    let is_older = (1..migrations.len()).contains(&done);
    let _held = unlocked
        .filter(|_| is_older)
        .map(lock_for_migration)
        .transpose()?;
    for sql in &migrations[done..] {
        tx.execute_batch(sql)?;
    }
    tx.set_schema_version(migrations.len())?;
    tx.commit()?;
    Ok(())
}

/// Keeps servers from starting while the schema changes.
///
/// # Errors
/// [`Error::Config`] if one runs.
fn lock_for_migration(data: &Path) -> Result<File> {
    server_lock::lock_server(data)?.ok_or_else(|| {
        Error::Config(format!(
            "the database in {} is of an older version of cairn-server, and a server of that version runs on it. \
             Start the server with this version first, which brings the database up to date; or use the older \
             version for this command. Nothing was changed",
            data.display()
        ))
    })
}

/// Refuses a database with contents of the format before the present one. It may have the only copy of
/// what no device has, so that the message says what still reads it.
pub(crate) fn check_format(conn: &Connection, version: usize) -> Result<()> {
    if conn.dialect() != Dialect::Sqlite || !(1..CONTENTS).contains(&version) {
        return Ok(());
    }
    let has_contents: bool = conn.query_row(
        "SELECT EXISTS (SELECT 1 FROM revisions) OR EXISTS (SELECT 1 FROM uploads)",
        [],
        |row| row.get(0),
    )?;
    if !has_contents {
        return Ok(());
    }
    let database = conn.path();
    Err(Error::Config(format!(
        "{} has files of an older format, which this cairn-server can't read. Nothing was changed: keep \
         the directory. The version of cairn-server that wrote it still opens it, and is the way to \
         fetch what no device has: files that are not synced, old versions, the trash. Use this version \
         with another, empty data directory, and sync the folders into that",
        database.parent().unwrap_or(database).display()
    )))
}

/// Returns true if the database has records that only its `records.key` opens.
fn holds_sealed(conn: &Connection) -> Result<bool> {
    Ok(conn.query_row(
        "SELECT EXISTS (SELECT 1 FROM settings WHERE key NOT IN ('epoch', 'log_history')) \
         OR EXISTS (SELECT 1 FROM webhooks) OR EXISTS (SELECT 1 FROM second_factors)",
        [],
        |row| row.get(0),
    )?)
}

/// Returns the id of the database's history. The first one to open the database makes it.
fn begin_history(conn: &mut Connection, source: &Source) -> Result<String> {
    let tx = conn.transaction(Begin::Write)?;
    let id = find_or_make(&tx, source)?;
    tx.commit()?;
    Ok(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Clock;
    use crate::db::SQLITE_MIGRATIONS;

    fn source() -> Arc<Source> {
        Arc::new(Source::new(Clock::System, None))
    }

    fn store(data: Option<&Path>) -> Store {
        Store::open(data, source()).unwrap()
    }

    #[cfg(unix)]
    #[test]
    fn the_database_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let _store = store(Some(dir.path()));
        for name in ["cairn.db", "cairn.db-wal", "cairn.db-shm", "records.key"] {
            let mode = std::fs::metadata(dir.path().join(name))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
    }

    /// Makes a database of the schema before the present format of contents.
    fn older_database(dir: &Path, with_a_file: bool) -> std::path::PathBuf {
        let path = dir.join("cairn.db");
        let conn = Connection::open(&path).unwrap();
        for sql in &SQLITE_MIGRATIONS[..CONTENTS - 1] {
            conn.execute_batch(sql).unwrap();
        }
        if with_a_file {
            let revision = "INSERT INTO revisions (id, node, number, size, content_key, created_at, \
                 executable, account, chunks, manifest) VALUES (x'11', x'01', 1, 1, x'02', 0, 0, x'09', x'', x'03')";
            conn.execute(revision, []).unwrap();
        }
        conn.set_schema_version(CONTENTS - 1).unwrap();
        path
    }

    #[test]
    fn a_database_is_not_changed_under_a_running_server_of_an_older_version() {
        let dir = tempfile::tempdir().unwrap();
        let path = older_database(dir.path(), false);
        let version = || Connection::open(&path).unwrap().schema_version().unwrap();
        let older = version();
        let running = crate::lock_server(dir.path()).unwrap().unwrap();
        let refused = Store::open(Some(dir.path()), source()).err().unwrap();
        assert!(
            refused.to_string().contains("an older version"),
            "{refused}"
        );
        assert_eq!(version(), older);
        // Whoever has the lock changes it, and the others go on from there.
        drop(Store::open_for_server(Some(dir.path()), source()).unwrap());
        assert!(version() > older);
        drop(store(Some(dir.path())));
        drop(running);
        // Without a server, a command changes it, too.
        let other = tempfile::tempdir().unwrap();
        older_database(other.path(), false);
        drop(store(Some(other.path())));
        assert!(crate::lock_server(other.path()).unwrap().is_some());
    }

    #[test]
    fn files_of_the_old_format_are_refused_and_nothing_else() {
        let older = |with_a_file: bool| {
            let dir = tempfile::tempdir().unwrap();
            older_database(dir.path(), with_a_file);
            let opened = Store::open(Some(dir.path()), source());
            opened.map(|_| ()).map_err(|error| error.to_string())
        };
        assert_eq!(older(false), Ok(()));
        let refusal = older(true).unwrap_err();
        assert!(refusal.contains("empty data directory"), "{refusal}");
        assert!(refusal.contains("keep the directory"), "{refusal}");
    }

    #[test]
    fn a_backup_of_the_old_format_is_refused_and_one_without_files_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let database = older_database(dir.path(), true);
        let refusal = crate::objects_needed_by(&database).unwrap_err().to_string();
        let named = dir.path().display().to_string();
        assert!(refusal.contains(&named), "{refusal}");
        assert!(refusal.contains("still opens it"), "{refusal}");
        let empty = tempfile::tempdir().unwrap();
        let database = older_database(empty.path(), false);
        assert!(crate::objects_needed_by(&database).unwrap().is_empty());
    }

    #[test]
    fn the_history_id_and_secrets_survive_a_restart_and_a_newer_schema_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (history_id, secret) = {
            let first = store(Some(dir.path()));
            (first.history_id(), first.secret("k").unwrap())
        };
        let second = store(Some(dir.path()));
        assert_eq!(
            (second.history_id(), second.secret("k").unwrap()),
            (history_id.clone(), secret)
        );
        second.reset().unwrap();
        assert_ne!(second.history_id(), history_id);
        let conn = Connection::open(&dir.path().join("cairn.db")).unwrap();
        let stored: Vec<u8> = conn
            .query_row("SELECT value FROM settings WHERE key = 'k'", [], |row| {
                row.get(0)
            })
            .unwrap();
        assert!(!stored.windows(32).any(|part| part == secret));
        conn.set_schema_version(99).unwrap();
        drop(second);
        let refused = Store::open(Some(dir.path()), source());
        assert!(matches!(refused, Err(Error::Config(_))));
    }
}
