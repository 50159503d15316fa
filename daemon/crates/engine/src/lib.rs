//! The sync engine: observe → reconcile → execute, until the three trees (local, remote, synced) are equal. The
//! synced tree is the merge base: what both sides last agreed on.
//!
//! One dispatcher takes events in one order, scans, polls and plans, and hands lists of steps and
//! transfers to tasks of their own. They share the parts of `engine::Engine`: the index (the client's database),
//! the disk lock (one change of the disk at a time), problems by path, and figures for the status.
//! Disk, network, clock and randomness come in through [`ports`], so that the whole engine runs in the
//! simulator as it runs here. The decisions themselves are those of the crate `plan`.

mod accept_disk;
mod arriving;
mod checkpoints;
mod command;
mod confirm;
mod device_names;
mod dispatcher;
mod engine;
mod error;
mod executor;
mod feed;
mod folder_rules;
mod full_disk;
mod gate;
mod handle;
mod healing;
mod health;
mod key;
mod node_rows;
mod observe;
mod overall_progress;
mod pauses;
mod placing;
mod planning;
mod record;
mod release;
mod resolve;
mod restored;
mod rules_rows;
mod running;
mod selection;
mod unverified;
mod verification;
mod why;

mod start;
mod status;
mod status_snapshot;
mod step;
mod stop_signal;
#[cfg(test)]
mod testing;
pub mod trash;
mod tried_restores;
mod work;

pub mod ports;

pub use command::{PollFailure, WaitResult};
pub use error::EngineError;
pub use feed::view::{View, view};
pub use handle::EngineHandle;
pub use observe::mounts::is_mount_point;
pub use observe::rules::{OWN_FILES, RuleMatch, RuleOrigin, Rules, check_pattern};
pub use pauses::{PauseOfAll, record_pause};
pub use resolve::ResolvePreview;
pub use start::{EngineOptions, LONG_SCAN, Settings, start};
pub use status::{Event, FolderStatus, OverallProgress, ProblemGroup, Status, TransferStatus};
pub use why::PathReport;
