//! The index: the client's SQLite database, with the local, remote and synced trees, what is dirty (may differ
//! between them), and what a person should know. The synced tree is the merge base: what both sides last agreed
//! on.
//!
//! All of the client's SQL is here. The index records; it decides nothing (the crate `plan` does) and reads
//! no disk but its own file. Every change goes through [`Index::write`], one transaction each.

mod below;
mod closed_in_order;
mod counters;
mod differing;
mod error;
mod folder_backup;
mod only_here;
mod open;
#[cfg(test)]
mod plans;
mod sql_types;
#[cfg(test)]
mod testing;

pub mod activity;
pub mod confirmations;
pub mod conflicts;
pub mod deletions;
pub mod dirty;
pub mod earlier_epochs;
pub mod folders;
pub mod journal;
pub mod left_out;
pub mod local;
pub mod mounts;
pub mod overwrites;
pub mod past_seals;
pub mod pending;
pub mod places;
pub mod remote;
pub mod rules;
pub mod sealed;
pub mod selection;
pub mod sent;
mod sent_bits;
pub mod sent_places;
pub mod snapshot;
pub mod synced;
pub mod unaccepted;
mod views;
pub mod worklist;

pub use activity::ActivityRow;
pub use confirmations::ConfirmationRow;
pub use conflicts::ConflictRow;
pub use dirty::Dirty;
pub use earlier_epochs::EarlierSeal;
pub use error::IndexError;
pub use folders::{FolderRow, FolderSettings};
pub use journal::JournalRow;
pub use local::{FileIdentity, LocalRow, LocalStat, Skipped};
pub use open::{Db, Index, Opened};
pub use overwrites::{Head, OverwriteFacts, SHORTEST_HEAD};
pub use remote::{PutResult, RemoteRow};
pub use rules::SharedRules;
pub use selection::Chosen;
pub use sent::SentRow;
pub use sent_bits::SentBit;
pub use sent_places::SentPlace;
pub use snapshot::Snapshot;
pub use synced::{MIN_LOOKUP_SIZE, SyncedRow};
pub use unaccepted::UnacceptedRow;
pub use views::OtherView;
pub use worklist::{PlanSizes, Round, SeenMarks, Worklist};
