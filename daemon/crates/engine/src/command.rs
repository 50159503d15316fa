//! Requests to the dispatcher, and the results that they have.

use crate::error::EngineError;
use cairn_model::{FolderId, Keep, RelPath, SyncState};
use std::time::Duration;
use tokio::sync::oneshot;

/// The end of waiting until the engine is idle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitResult {
    /// Everything is in sync, and a look at both sides found nothing new.
    InSync,
    /// The rest needs a person.
    NeedsPerson,
    /// Everything is paused, or a folder is and all others are in sync; nothing will happen.
    Paused,
    /// The service no longer accepts this device's login; nothing will happen before a new login.
    LoginEnded,
}

/// The reason why the service could not be asked for changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PollFailure {
    /// `offline` if it can't be reached or can't serve requests now; otherwise `error`.
    pub state: SyncState,
    pub is_login_ended: bool,
    pub message: String,
}

impl PollFailure {
    /// Returns a failure that concerns all folders as the status shows it.
    pub(crate) fn of(error: &EngineError) -> Self {
        let problem = error.problem(String::new());
        Self {
            state: match error.is_offline() {
                true => SyncState::Offline,
                false => SyncState::Error,
            },
            is_login_ended: error.is_login_ended(),
            message: format!("{}; {}", problem.message, problem.hint),
        }
    }
}

/// A request to the dispatcher.
pub(crate) enum Command {
    Rescan(Option<FolderId>),
    /// Replies after the next poll of the feed, or after the first page of a long one.
    Poll(oneshot::Sender<Result<(), PollFailure>>),
    /// Folders, settings or the pause changed in the index: read them again.
    Reload,
    WaitUntilIdle(oneshot::Sender<WaitResult>),
    Tune {
        rescan_every: Duration,
        parallel: usize,
    },
    Accept(oneshot::Sender<Result<u64, EngineError>>),
    /// A person has decided about the deletions that wait in a folder.
    Confirmed(FolderId),
    Resolve(
        RelPath,
        Option<FolderId>,
        Keep,
        oneshot::Sender<Result<Option<RelPath>, EngineError>>,
    ),
    AcceptDisk(FolderId, RelPath, oneshot::Sender<Result<(), EngineError>>),
    Stop,
}
