//! Counters of what syncing has done.

use serde::{Deserialize, Serialize};

/// Counters of the work since the daemon started.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Files whose content went up.
    pub uploads: u64,
    /// Files whose content came down.
    pub downloads: u64,
    pub uploaded_bytes: u64,
    pub downloaded_bytes: u64,
    pub remote_calls: u64,
    /// Moves and renames, on either side.
    pub renames: u64,
    /// Deletions, on either side; a folder with everything in it is one.
    pub deletes: u64,
    pub conflicts: u64,
}
