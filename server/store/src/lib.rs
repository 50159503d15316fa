//! The state of the server: SQL, rights, ledger, change feed, events, outbox (deliveries of webhooks) and objects (the
//! stored blobs of encrypted chunks).
//!
//! It knows no HTTP, and no key that could decrypt what clients encrypted. One connection writes, in
//! short transactions; others read. In memory there is one connection for both. A transaction that
//! moved the feed wakes the listeners after it is committed.

mod access;
mod accounts;
mod actor;
mod admin_events;
mod administration;
mod ai;
mod api_keys;
mod audit;
mod backup;
#[cfg(test)]
mod caps;
pub mod catalog;
mod chunks;
mod cluster;
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
mod digest;
mod erasure;
mod error;
pub mod events;
mod expiry;
mod feed;
mod feed_notifier;
mod folder_sizes;
mod folders;
mod history_id;
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
mod scrub;
mod seal;
mod search;
mod second_factors;
mod secrets;
mod server_lock;
mod server_stats;
mod service_accounts;
mod sessions;
mod share_audit;
mod share_files;
mod share_rows;
mod share_settings;
mod share_visits;
mod shares;
mod social;
mod source;
mod space_log;
mod state;
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
pub use actor::{Actor, Space};
pub use admin_events::Administrator;
pub use ai::{Facts, MonthOfAi, NamedFile};
pub use backup::{NeededObjects, objects_needed_by};
pub use cairn_wire::admin::{
    AccountCondition, AccountOverview, AnswerReport, ReportDecision, ReportOverview, Session,
};
pub use chunks::ChunkPlace;
pub use cluster::Taken;
pub use comments::Threads;
pub use compaction::{ObjectUse, Part};
pub use device_codes::{DEVICE_CODE_S, INTERVAL_S, Polled};
pub use digest::ChunkDigest;
pub use error::{Error, Result};
pub use expiry::CollectedChunks;
pub use holders::StoredChunk;
pub use idempotency::Remembered;
pub use listing::{Listing, Order};
pub use logins::{Hash, Login, NewCode, Presented};
pub use mail_codes::{CodePurpose, UsedCode};
pub use mails::{DueMail, Mail, MailQueue, MailState, one_line};
pub use nodes::NewFolder;
pub use objects::{Damage, Extent, KEEP_OBJECTS, Objects};
pub use options::{Expiry, KeptRevisions, Limits, NewLimits, ObjectLocation, PostgresUrl};
pub use payments::NewTip;
pub use rotation::{Rotated, rotate_records_key};
pub use scope::Scopes;
pub use scrub::ScrubPosition;
pub use search::{Mode, Search};
pub use second_factors::SecondFactor;
pub use server_lock::lock_server;
pub use server_stats::ServerStats;
pub use service_accounts::CLIENT_PREFIX;
pub use share_audit::{Span, VisitSums};
pub use share_rows::{ShareRow, ShareSettings};
pub use share_visits::{Visitor, may_view};
pub use shares::NewShare;
pub use social::{Handle, Side};
pub use source::{Clock, Source};
pub use space_log::{
    CollectedSpaceObjects, MAX_LOG_PAGE, NewSpaceObject, SpaceObject, begin_restored_histories,
};
pub use state::Store;
pub use transaction::Tx;
pub use update::Edit;
pub use upload_batch::{BatchItem, Compared, SentChunk};
pub use uploads::{ExpiredUploads, OpenUpload};
pub use webhook_queue::{AfterAttempt, AttemptResult, Due, Outgoing};

pub use api_keys::KeyHolder;
pub use feed_notifier::FeedNotifier;
pub use prune::PrunedRevisions;
pub use purge::Purged;
pub use teams::{MAX_GRANT, Membership, StoredByMembers, TeamOverview};
pub use upload_batch::Stored;

pub use device_codes::WaitingDevice;
pub use diagnostics::KeyStatus;
pub use outbox::Outbox;
