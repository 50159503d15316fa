//! The state of the server: SQL, rights, ledger, feed, events, outbox and sealed objects.
//!
//! It knows no HTTP, and no key that could open what clients sealed. One connection writes, in
//! short transactions; others read. In memory there is one connection for both. A transaction that
//! moved the feed wakes the listeners after it is committed.

mod access;
mod accounts;
mod administration;
mod ai;
mod api_keys;
mod audit;
mod backup;
pub mod catalog;
mod chunks;
mod comments;
mod compaction;
mod copy;
mod credentials;
mod deletion;
mod device_codes;
mod devices;
mod diagnostics;
mod erasure;
mod error;
pub mod events;
mod expiry;
mod feed;
mod figures;
mod folders;
mod hub;
mod idempotency;
mod link_keys;
mod listing;
mod logins;
mod mails;
mod needed;
mod nodes;
mod notifications;
mod objects;
mod options;
mod outbox;
mod payments;
pub mod private_files;
pub mod provider;
mod prune;
mod purge;
mod recovery;
mod retention;
mod revisions;
pub mod rights;
mod rows;
mod scope;
mod seal;
mod search;
mod secrets;
mod service_accounts;
mod share_files;
mod share_rows;
mod share_settings;
mod share_visits;
mod shares;
mod social;
mod source;
mod teams;
mod trash;
mod update;
mod upload_batch;
mod upload_chunks;
mod upload_content;
mod uploads;
mod usage;
mod webhook_deliveries;
mod webhook_queue;
mod webhooks;

pub use accounts::{Account, NewAccount};
pub use administration::{AccountCondition, AccountOverview, NewLimits, Session};
pub use ai::{Facts, NamedFile};
pub use backup::{NeededObjects, needed_by};
pub use chunks::{ChunkPlace, StoredChunk};
pub use comments::Threads;
pub use compaction::{ObjectUse, Part};
pub use device_codes::{DEVICE_CODE_S, INTERVAL_S, Polled};
pub use error::{Error, Result};
pub use expiry::CollectedChunks;
pub use figures::Figures;
pub use idempotency::Remembered;
pub use listing::{Listing, Order};
pub use logins::{Hash, Login, NewCode, Presented};
pub use mails::Mail;
pub use nodes::NewFolder;
pub use objects::{Extent, KEEP_OBJECTS, Objects};
pub use options::{Expiry, KeptRevisions, Limits, ObjectLocation};
pub use payments::NewTip;
pub use scope::Scopes;
pub use search::{Mode, Search};
pub use service_accounts::CLIENT_PREFIX;
pub use share_rows::{ShareRow, ShareSettings};
pub use share_visits::{Span, Visitor, may_view};
pub use shares::NewShare;
pub use social::{Handle, Side};
pub use source::{Clock, Source};
pub use update::Edit;
pub use upload_batch::{BatchItem, Compared};
pub use uploads::{ExpiredUploads, OpenUpload};
pub use webhook_queue::{AfterAttempt, AttemptResult, Due, Outgoing};

pub use ai::{AiPlan, MonthOfAi};
pub use api_keys::KeyHolder;
pub use hub::Hub;
pub use prune::PrunedRevisions;
pub use purge::Purged;
pub use teams::{MAX_GRANT, Membership, StoredByMembers};
pub use upload_batch::Stored;

use self::outbox::Raised;
use self::seal::Sealer;
use cairn_model::{AccountId, DeviceId, SpaceId};
pub use device_codes::WaitingDevice;
pub use diagnostics::KeyStatus;
pub use outbox::Outbox;
use parking_lot::{Mutex, MutexGuard, RwLock};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, TransactionBehavior, params};
use std::cell::{Cell, RefCell};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Numbered and never edited once released; `user_version` counts those that ran.
const MIGRATIONS: [&str; 16] = [
    include_str!("sql/0001_core.sql"),
    include_str!("sql/0010_webhooks.sql"),
    include_str!("sql/0011_identity.sql"),
    include_str!("sql/0012_content.sql"),
    include_str!("sql/0020_teams.sql"),
    include_str!("sql/0021_people.sql"),
    include_str!("sql/0022_payments.sql"),
    include_str!("sql/0030_trash_index.sql"),
    include_str!("sql/0031_stored_bytes.sql"),
    include_str!("sql/0032_ai_tokens.sql"),
    include_str!("sql/0033_device_use.sql"),
    include_str!("sql/0034_upload_spaces.sql"),
    include_str!("sql/0035_account_admin.sql"),
    include_str!("sql/0036_link_keys.sql"),
    include_str!("sql/0037_unused_chunks.sql"),
    include_str!("sql/0038_chunk_objects.sql"),
];

/// As many as reads that can run at once on a small machine.
const READERS: usize = 2;

/// The database and what goes with its changes.
pub struct Store {
    source: Arc<Source>,
    hub: Hub,
    outbox: Outbox,
    /// Empty in memory. Before the writer, so that it is the last to close: only then does SQLite
    /// fold the log into the database file.
    readers: Vec<Mutex<Connection>>,
    writer: Mutex<Connection>,
    turn: AtomicUsize,
    history_id: RwLock<String>,
}

/// A space, by its row and by its id on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    pub row: i64,
    pub id: SpaceId,
}

/// The author of a change.
#[derive(Clone, Copy, Debug)]
pub struct Actor {
    pub account: AccountId,
    pub device: Option<DeviceId>,
    pub space: Space,
}

/// A write transaction: the connection, its time, and the feed positions that it gives out.
pub struct Tx<'a> {
    pub(crate) conn: &'a Connection,
    pub now: i64,
    pub(crate) source: &'a Source,
    outbox: &'a Outbox,
    raised: Raised,
    last_seq: Cell<Option<i64>>,
    moved: RefCell<Vec<i64>>,
}

impl Store {
    /// Opens the database under `data`, or a new one in memory.
    pub fn open(data: Option<&Path>, source: Arc<Source>) -> Result<Self> {
        let mut writer = match data {
            Some(data) => Connection::open(data.join("cairn.db"))?,
            None => Connection::open_in_memory()?,
        };
        if let Some(data) = data {
            restrict(&data.join("cairn.db"))?;
        }
        configure(&writer)?;
        if data.is_some() {
            writer.pragma_update(None, "journal_mode", "WAL")?;
        }
        migrate(&mut writer)?;
        let sealer = Sealer::open(data, &source, holds_sealed(&writer)?)?;
        let history_id = history_id(&writer, &source)?;
        let mut readers = Vec::new();
        if let Some(data) = data {
            for _ in 0..READERS {
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                let reader = Connection::open_with_flags(data.join("cairn.db"), flags)?;
                configure(&reader)?;
                readers.push(Mutex::new(reader));
            }
        }
        let outbox = Outbox::new(sealer);
        Ok(Self {
            outbox,
            source,
            hub: Hub::default(),
            writer: Mutex::new(writer),
            readers,
            turn: AtomicUsize::new(0),
            history_id: RwLock::new(history_id),
        })
    }

    pub fn hub(&self) -> &Hub {
        &self.hub
    }

    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Names the history that feed positions belong to.
    pub fn history_id(&self) -> String {
        self.history_id.read().clone()
    }

    /// Reads one consistent state. `f` must not call the store again.
    pub(crate) fn read<T>(&self, f: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let mut conn = self.reader();
        let tx = conn.transaction_with_behavior(TransactionBehavior::Deferred)?;
        f(&tx)
    }

    /// Runs `f` in one transaction: all of it happens, or nothing. `f` must not call the store again.
    pub fn write<T>(&self, f: impl FnOnce(&Tx<'_>) -> Result<T>) -> Result<T> {
        let (value, seq, moved, raised) = {
            let mut conn = self.writer.lock();
            let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let tx = Tx {
                conn: &transaction,
                now: self.source.now_ms(),
                source: &self.source,
                outbox: &self.outbox,
                raised: Raised::default(),
                last_seq: Cell::new(None),
                moved: RefCell::default(),
            };
            let value = f(&tx)?;
            let (seq, moved) = (tx.last_seq.get(), tx.moved.take());
            let raised = tx.raised.any();
            if let Some(seq) = seq {
                transaction
                    .prepare_cached("INSERT INTO commits (seq, nonce) VALUES (?1, ?2)")?
                    .execute(params![seq, self.source.nonce()])?;
            }
            transaction.commit()?;
            (value, seq, moved, raised)
        };
        if raised {
            self.outbox.wake();
        }
        for space in moved {
            self.hub.moved(space, seq.unwrap_or_default());
        }
        Ok(value)
    }

    /// Returns true if the database answers.
    pub fn check(&self) -> Result<()> {
        self.read(|conn| Ok(conn.query_row("SELECT 1", [], |_| Ok(()))?))
    }

    /// Empties the database and begins a new history.
    pub fn reset(&self) -> Result<()> {
        let mut conn = self.writer.lock();
        let tables: Vec<String> = conn
            .prepare(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' \
                 AND name <> 'settings' AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')",
            )?
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let tx = conn.transaction()?;
        // The order of deletion is not the order of the references.
        tx.pragma_update(None, "defer_foreign_keys", true)?;
        for table in tables {
            tx.execute(&format!("DELETE FROM \"{table}\""), [])?;
        }
        tx.execute("DELETE FROM settings WHERE key = 'epoch'", [])?;
        let history_id = history_id(&tx, &self.source)?;
        tx.commit()?;
        *self.history_id.write() = history_id;
        self.hub.close_all();
        Ok(())
    }

    fn reader(&self) -> MutexGuard<'_, Connection> {
        for reader in &self.readers {
            if let Some(free) = reader.try_lock() {
                return free;
            }
        }
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let busy = if self.readers.is_empty() {
            &self.writer
        } else {
            &self.readers[turn % self.readers.len()]
        };
        busy.lock()
    }
}

impl Tx<'_> {
    /// Gives out the next position of the feed to a change in `space`.
    pub(crate) fn next_seq(&self, space: Space) -> Result<i64> {
        let last = match self.last_seq.get() {
            Some(seq) => seq,
            None => feed::last_commit(self.conn)?,
        };
        self.last_seq.set(Some(last + 1));
        let mut moved = self.moved.borrow_mut();
        if !moved.contains(&space.row) {
            moved.push(space.row);
        }
        Ok(last + 1)
    }
}

/// Keeps a file from other users of the machine. SQLite makes its log and index with the same mode.
fn restrict(path: &Path) -> Result<()> {
    private_files::restrict(path).map_err(|source| Error::Io {
        what: format!("can't restrict the access to {}", path.display()),
        source,
    })
}

fn configure(conn: &Connection) -> Result<()> {
    conn.busy_timeout(std::time::Duration::from_secs(10))?;
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

fn migrate(conn: &mut Connection) -> Result<()> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done: usize = tx.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if done > MIGRATIONS.len() {
        return Err(Error::Config(format!(
            "the database is of a newer cairn-server (schema {done}, this one knows {}); use that one",
            MIGRATIONS.len()
        )));
    }
    for sql in &MIGRATIONS[done..] {
        tx.execute_batch(sql)?;
    }
    tx.pragma_update(None, "user_version", MIGRATIONS.len())?;
    tx.commit()?;
    Ok(())
}

/// Returns true if the database has records that only its `records.key` opens.
fn holds_sealed(conn: &Connection) -> Result<bool> {
    Ok(conn.query_row(
        "SELECT EXISTS (SELECT 1 FROM settings WHERE key <> 'epoch') \
         OR EXISTS (SELECT 1 FROM webhooks)",
        [],
        |row| row.get(0),
    )?)
}

fn history_id(conn: &Connection, source: &Source) -> Result<String> {
    let known: Option<Vec<u8>> = conn
        .query_row(
            "SELECT value FROM settings WHERE key = 'epoch'",
            [],
            |row| row.get(0),
        )
        .optional()?;
    if let Some(known) = known {
        return String::from_utf8(known)
            .map_err(|_| Error::Config("the epoch in the database is not text".into()));
    }
    let fresh = source.nonce();
    conn.execute(
        "INSERT INTO settings (key, value) VALUES ('epoch', ?1)",
        [fresh.as_bytes()],
    )?;
    Ok(fresh)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_failed_transaction_leaves_nothing() {
        let store = store(None);
        let failed: Result<()> = store.write(|tx| {
            tx.conn
                .execute("INSERT INTO settings (key, value) VALUES ('x', x'00')", [])?;
            Err(Error::invalid("no"))
        });
        assert!(failed.is_err());
        let left: i64 = store
            .read(|c| {
                Ok(
                    c.query_row("SELECT count(*) FROM settings WHERE key = 'x'", [], |r| {
                        r.get(0)
                    })?,
                )
            })
            .unwrap();
        assert_eq!(left, 0);
    }

    #[test]
    fn the_epoch_and_secrets_survive_a_restart_and_a_newer_schema_is_refused() {
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
        let conn = Connection::open(dir.path().join("cairn.db")).unwrap();
        let stored: Vec<u8> = conn
            .query_row("SELECT value FROM settings WHERE key = 'k'", [], |row| {
                row.get(0)
            })
            .unwrap();
        assert!(!stored.windows(32).any(|part| part == secret));
        conn.pragma_update(None, "user_version", 99).unwrap();
        drop(second);
        let refused = Store::open(Some(dir.path()), source());
        assert!(matches!(refused, Err(Error::Config(_))));
    }
}
