//! The index: local, remote and synced trees, what is dirty, and what a person should know, in SQLite.
//!
//! All of the client's SQL is here. The index records; it decides nothing (`plan` does) and reads
//! no disk but its own file. Every change goes through [`Index::write`], one transaction each.

mod columns;
mod error;
mod open;
mod roster;

pub mod activity;
pub mod conflicts;
pub mod dirty;
pub mod folders;
pub mod journal;
pub mod local;
pub mod questions;
pub mod remote;
pub mod selection;
pub mod surroundings;
pub mod synced;
pub mod unaccepted;

pub use activity::ActivityRow;
pub use conflicts::ConflictRow;
pub use error::IndexError;
pub use folders::{FolderMode, FolderRow, FolderSettings, Gate};
pub use journal::JournalRow;
pub use local::{Held, LocalRow, LocalStat};
pub use open::{Db, Index, Opened};
pub use questions::{Answer, QuestionRow, Side};
pub use remote::{Put, RemoteRow};
pub use selection::Chosen;
pub use surroundings::Surroundings;
pub use synced::SyncedRow;
pub use unaccepted::UnacceptedRow;
