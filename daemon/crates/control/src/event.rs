//! Events that the daemon sends without another request.

use crate::history::Activity;
use crate::status::Status;
use serde::{Deserialize, Serialize};

/// Something a subscriber should know.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The status has changed. Close ones are merged: the last one is always sent.
    Status { status: Status },
    /// Something happened to a file or folder.
    Activity { activity: Activity },
}
