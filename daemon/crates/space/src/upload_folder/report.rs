//! The result of a folder's upload: sums, and the reason for each file that was not uploaded.

use cairn_api::ApiError;
use cairn_model::NodeId;
use cairn_transfer::TransferError;
use cairn_wire::nodes::Node;
use std::io;
use std::path::{Path, PathBuf};

/// The result for a folder.
#[derive(Debug)]
pub struct UploadedFolder {
    /// The folder on the service.
    pub folder: NodeId,
    pub files: u64,
    /// Folders that were made.
    pub folders: u64,
    pub bytes: u64,
    /// Files whose content was there already.
    pub unchanged: u64,
    /// The failures, by path.
    pub failed: Vec<FailedUpload>,
}

/// A file or folder that was not uploaded.
#[derive(Debug)]
pub struct FailedUpload {
    pub path: PathBuf,
    pub reason: NotUploaded,
}

/// The reason why something was not uploaded.
#[derive(Debug, thiserror::Error)]
pub enum NotUploaded {
    /// The caller left it out.
    #[error("{0}")]
    Rejected(String),
    #[error("it can't be read: {0}")]
    Unreadable(io::Error),
    #[error("it is being written: upload it again")]
    Changing,
    #[error(transparent)]
    Transfer(#[from] TransferError),
}

impl UploadedFolder {
    pub(super) fn new(folder: NodeId) -> Self {
        Self {
            folder,
            files: 0,
            folders: 0,
            bytes: 0,
            unchanged: 0,
            failed: Vec::new(),
        }
    }

    pub(super) fn fail(&mut self, path: &Path, reason: NotUploaded) {
        self.failed.push(FailedUpload {
            path: path.to_owned(),
            reason,
        });
    }

    /// Counts a file that was sent or was there `before` with this content, or records why it, or a
    /// folder, was not.
    ///
    /// # Errors
    /// An error that does not concern this one alone: nobody is logged in, the server can't be reached.
    pub(super) fn record(
        &mut self,
        path: &Path,
        before: Option<&Node>,
        sent: Result<Node, TransferError>,
    ) -> Result<(), TransferError> {
        let before = before.and_then(|node| node.revision_id);
        match sent {
            Ok(node) if before.is_some() && node.revision_id == before => self.unchanged += 1,
            Ok(node) => {
                self.files += 1;
                self.bytes += node.size;
            }
            Err(error @ TransferError::Api(ApiError::Unauthorized | ApiError::Offline(_))) => {
                return Err(error);
            }
            Err(error) => self.fail(path, error.into()),
        }
        Ok(())
    }
}
