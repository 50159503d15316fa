//! The database, and the parts that go with its changes.

use crate::cluster::Cluster;
use crate::db::{Connection, Dialect};
use crate::error::Result;
use crate::feed_notifier::FeedNotifier;
use crate::history_id;
use crate::mails::MailQueue;
use crate::outbox::Outbox;
use crate::source::Source;
use parking_lot::{Mutex, RwLock};
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// The database and what goes with its changes.
pub struct Store {
    pub(crate) source: Arc<Source>,
    pub(crate) dialect: Dialect,
    pub(crate) feed_notifier: Arc<FeedNotifier>,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) mail_queue: Arc<MailQueue>,
    /// Absent in a file or in memory, which one server uses.
    pub(crate) cluster: Option<Cluster>,
    /// Empty in memory. Before the writer, so that it is the last to close: only then does SQLite
    /// fold the log into the database file.
    pub(crate) readers: Vec<Mutex<Connection>>,
    pub(crate) writer: Mutex<Connection>,
    pub(crate) turn: AtomicUsize,
    pub(crate) history_id: RwLock<String>,
    /// Keeps the keys of records from being replaced. The last to go.
    pub(crate) _keys: Option<File>,
}

impl Store {
    pub fn feed_notifier(&self) -> &FeedNotifier {
        &self.feed_notifier
    }

    /// Returns true if other servers may use the database at the same time.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.cluster.is_some()
    }

    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Names the history that feed positions belong to.
    pub fn history_id(&self) -> String {
        if let Some(cluster) = &self.cluster
            && cluster.take_stale_mark()
        {
            match self.read(history_id::find) {
                Ok(id) => *self.history_id.write() = id,
                Err(error) => {
                    tracing::warn!(%error, "can't read which history has begun");
                    cluster.mark_history_stale();
                }
            }
        }
        self.history_id.read().clone()
    }

    /// Returns the id of the feed's history as clients are shown it: another one after a restore, too.
    pub fn shown_history_id(&self) -> Result<String> {
        let begun = self.history_id();
        self.read(|conn| history_id::shown_id(conn, &begun))
    }

    /// Returns true if the database answers.
    pub fn check(&self) -> Result<()> {
        self.read(|conn| Ok(conn.query_row("SELECT 1", [], |_| Ok(()))?))
    }
}
