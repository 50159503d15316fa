//! Progress of a transfer, and the state that it needs to go on after a crash.

use cairn_model::{ChunkId, ContentHash, NodeId, RevisionId, UploadId};
use serde::{Deserialize, Serialize};

/// The state that has to be remembered to resume an upload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResumableUpload {
    pub upload: UploadId,
    pub revision: RevisionId,
    /// The object that the content begins with: in another epoch (generation of the key) the same bytes make
    /// another one.
    pub object: ChunkId,
    /// The content that is being uploaded; for other content the upload is given up.
    pub hash: ContentHash,
    /// The place in which the service will make a new file; none for a new revision, and where an older Cairn began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<NewPlace>,
}

/// The place of a file that is yet to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewPlace {
    /// `None` is the top of the space.
    pub parent: Option<NodeId>,
    pub name: String,
}

/// Receives a transfer's progress. Calls come from any thread and must return quickly.
pub trait Progress: Send + Sync {
    /// The server knows the upload; from now on it can be resumed.
    fn on_start(&self, _started: &ResumableUpload) {}

    /// `done` of `total` plaintext bytes are transferred.
    fn on_progress(&self, _done: u64, _total: u64) {}
}

/// Ignores all progress.
impl Progress for () {}
