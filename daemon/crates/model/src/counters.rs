//! Counters of what syncing has done.

use serde::{Deserialize, Serialize};

/// Counters of the work since the daemon started.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Files whose content was uploaded.
    pub uploads: u64,
    /// Files whose content was downloaded.
    pub downloads: u64,
    /// Sizes of the uploaded files in plaintext bytes, also of those of which only a part was sent.
    pub uploaded_bytes: u64,
    /// Sizes of the downloaded files in plaintext bytes.
    pub downloaded_bytes: u64,
    /// Requests to the server, repeated ones included.
    pub remote_calls: u64,
    /// Moves and renames, on either side.
    pub renames: u64,
    /// Deletions, on either side; a folder with everything in it is one.
    pub deletes: u64,
    /// Conflict copies that were made on this disk.
    pub conflicts: u64,
}
