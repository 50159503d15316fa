//! The state of the server: SQL, rights, ledger, change feed, events, outbox (deliveries of webhooks) and objects (the
//! stored blobs of encrypted chunks).
//!
//! It knows no HTTP, and no key that could decrypt what clients encrypted. One connection writes, in
//! short transactions; others read. In memory there is one connection for both. A transaction that
//! moved the feed wakes the listeners after it is committed.

mod access;
mod accounts;
mod admin_events;
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
mod database;
mod db;
mod deletion;
mod device_codes;
mod devices;
mod diagnostics;
mod erasure;
mod error;
pub mod events;
mod expiry;
mod feed;
mod feed_notifier;
mod folders;
mod holders;
mod idempotency;
mod integrity;
mod key_file;
mod listing;
mod log_guard;
mod logins;
mod mail_codes;
mod mails;
mod needed;
mod nodes;
mod notifications;
mod objects;
mod options;
mod outbox;
mod page;
mod past;
mod payments;
pub mod private_files;
pub mod provider;
mod prune;
mod purge;
mod recovery;
mod retention;
mod revisions;
pub mod rights;
mod rotation;
mod rows;
mod scope;
mod seal;
mod search;
mod second_factors;
mod secrets;
mod server_lock;
mod server_stats;
mod service_accounts;
mod sessions;
mod share_files;
mod share_rows;
mod share_settings;
mod share_visits;
mod shares;
mod social;
mod source;
mod space_log;
mod teams;
#[cfg(test)]
mod testing;
mod transaction;
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
pub use admin_events::Administrator;
pub use administration::NewLimits;
pub use ai::{Facts, MonthOfAi, NamedFile};
pub use backup::{NeededObjects, objects_needed_by};
pub use cairn_wire::admin::{AccountCondition, AccountOverview, Session};
pub use chunks::ChunkPlace;
pub use comments::Threads;
pub use compaction::{ObjectUse, Part};
pub use device_codes::{DEVICE_CODE_S, INTERVAL_S, Polled};
pub use error::{Error, Result};
pub use expiry::CollectedChunks;
pub use holders::StoredChunk;
pub use idempotency::Remembered;
pub use listing::{Listing, Order};
pub use logins::{Hash, Login, NewCode, Presented};
pub use mail_codes::{CodePurpose, UsedCode};
pub use mails::{DueMail, Mail, MailQueue, MailState, one_line};
pub use nodes::NewFolder;
pub use objects::{Extent, KEEP_OBJECTS, Objects};
pub use options::{Expiry, KeptRevisions, Limits, ObjectLocation, PostgresUrl};
pub use payments::NewTip;
pub use rotation::{Rotated, rotate_records_key};
pub use scope::Scopes;
pub use search::{Mode, Search};
pub use second_factors::SecondFactor;
pub use server_lock::lock_server;
pub use server_stats::ServerStats;
pub use service_accounts::CLIENT_PREFIX;
pub use share_rows::{ShareRow, ShareSettings};
pub use share_visits::{Span, Visitor, may_view};
pub use shares::NewShare;
pub use social::{Handle, Side};
pub use source::{Clock, Source};
pub use space_log::{
    CollectedSpaceObjects, MAX_LOG_PAGE, NewSpaceObject, SpaceObject, begin_restored_histories,
};
pub use transaction::Tx;
pub use update::Edit;
pub use upload_batch::{BatchItem, Compared};
pub use uploads::{ExpiredUploads, OpenUpload};
pub use webhook_queue::{AfterAttempt, AttemptResult, Due, Outgoing};

pub use api_keys::KeyHolder;
pub use feed_notifier::FeedNotifier;
pub use prune::PrunedRevisions;
pub use purge::Purged;
pub use teams::{MAX_GRANT, Membership, StoredByMembers};
pub use upload_batch::Stored;

pub use device_codes::WaitingDevice;
pub use diagnostics::KeyStatus;
pub use outbox::Outbox;

use crate::db::{Connection, Dialect};
use cairn_model::{AccountId, DeviceId, SpaceId};
use parking_lot::{Mutex, RwLock};
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// The database and what goes with its changes.
pub struct Store {
    source: Arc<Source>,
    dialect: Dialect,
    feed_notifier: FeedNotifier,
    outbox: Outbox,
    mail_queue: MailQueue,
    /// Empty in memory. Before the writer, so that it is the last to close: only then does SQLite
    /// fold the log into the database file.
    readers: Vec<Mutex<Connection>>,
    writer: Mutex<Connection>,
    turn: AtomicUsize,
    history_id: RwLock<String>,
    /// Keeps the keys of records from being replaced. The last to go.
    _keys: Option<File>,
}

/// A space (the file tree of one account or one team, with keys and quotas of its own), by its row and by its id on
/// the wire.
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

impl Store {
    pub fn feed_notifier(&self) -> &FeedNotifier {
        &self.feed_notifier
    }

    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Names the history that feed positions belong to.
    pub fn history_id(&self) -> String {
        self.history_id.read().clone()
    }

    /// Returns true if the database answers.
    pub fn check(&self) -> Result<()> {
        self.read(|conn| Ok(conn.query_row("SELECT 1", [], |_| Ok(()))?))
    }
}
