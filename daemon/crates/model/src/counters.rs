//! Counters of what syncing has done, and of what it does just now.

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

/// The steps other than transfers that are being carried out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RunningSteps {
    /// Files and folders that are being deleted, on either side.
    pub deletions: u64,
    /// Moves and renames, on either side.
    pub moves: u64,
    /// Folders that are being made, on either side.
    pub new_folders: u64,
}

impl RunningSteps {
    /// Adds those of another folder.
    pub fn add(&mut self, other: Self) {
        self.deletions += other.deletions;
        self.moves += other.moves;
        self.new_folders += other.new_folders;
    }
}
