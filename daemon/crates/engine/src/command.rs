//! Requests to the dispatcher, and the results that they have.

use crate::error::EngineError;
use cairn_model::{FolderId, Keep, RelPath};
use std::time::Duration;
use tokio::sync::oneshot;

/// The end of waiting until the engine is idle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitResult {
    /// Everything is in sync, and a look at both sides found nothing new.
    InSync,
    /// The rest needs a person.
    NeedsPerson,
    /// The engine is paused; nothing will happen.
    Paused,
    /// The service no longer accepts this device's login; nothing will happen before a new login.
    LoginEnded,
}

/// A request to the dispatcher.
pub(crate) enum Command {
    Rescan(Option<FolderId>),
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
