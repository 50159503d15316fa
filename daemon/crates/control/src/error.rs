//! Errors between a client and the daemon.

use crate::envelope::Failure;
use std::io;
use std::path::PathBuf;

/// The reason why a request to the daemon failed.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    #[error("no daemon is running for this home: run `cairn start`")]
    NotRunning,
    #[error("the daemon can't be reached: {source}")]
    Socket { path: PathBuf, source: io::Error },
    #[error(
        "the running daemon is Cairn {version} with another control protocol ({theirs}, here {ours}): run `cairn restart`"
    )]
    Version {
        version: String,
        theirs: u32,
        ours: u32,
    },
    #[error("the daemon ended the connection: see `cairn logs`")]
    Closed,
    /// The process is there and does nothing: it was halted, or waits for a disk. `pid`: where it is known.
    #[error(
        "the daemon{} does not respond: try again later, or end it with `cairn stop`",
        pid.map(|pid| format!(" (process {pid})")).unwrap_or_default()
    )]
    Silent { pid: Option<u32> },
    #[error("the daemon's reply can't be read ({0}): run `cairn restart`")]
    Protocol(String),
    #[error("{0}")]
    Refused(#[from] Failure),
}
