//! A new file with the content of a revision that the service has: only its manifest is uploaded, and no content.
//!
//! Only an optimisation: where it can't be done, the file is to be sent as any other.

use crate::commit::{NewContent, NewRevision, create};
use crate::context::TransferContext;
use crate::download::Download;
use crate::error::TransferError;
use crate::fetch;
use crate::small::{self, Sent};
use crate::upload::{UploadTarget, Uploaded};
use cairn_api::{ApiError, ErrorClass};
use cairn_model::{ContentHash, Manifest, RevisionId};
use cairn_wire::nodes::ContentSource;
use cairn_wire::transfer::BatchFile;
use std::sync::Arc;

/// One new file with the content of a revision.
#[derive(Clone, Debug)]
pub struct ServerCopy {
    /// An [`UploadTarget::New`].
    pub target: UploadTarget,
    /// The new file's revision.
    pub revision: RevisionId,
    pub hash: ContentHash,
    /// Length in bytes.
    pub size: u64,
    /// Milliseconds since 1970-01-01 UTC.
    pub modified_ms: i64,
    pub executable: bool,
    /// The revision that has the content, with the hash of its record from a checked seal.
    pub source: Download,
}

/// Makes the file. `None` if it has to be sent: nothing was committed then.
///
/// # Errors
/// Errors after which sending it would fail too, or after which nobody knows what was committed.
pub(crate) async fn make(
    context: &Arc<TransferContext>,
    copy: ServerCopy,
) -> Result<Option<Uploaded>, TransferError> {
    let source = match fetch::open(context, copy.source).await {
        Ok((manifest, _)) if is_usable(context, &copy, &manifest) => manifest,
        Ok(_) => return Ok(None),
        Err(TransferError::Api(error)) if is_failure(&error) => return Ok(None),
        Err(error) => return unless_refused(error),
    };
    let content = NewContent {
        object: source.content,
        hash: source.hash,
        size: source.size,
    };
    let head = NewRevision {
        target: copy.target,
        revision: copy.revision,
        modified_ms: copy.modified_ms,
        executable: copy.executable,
    };
    let mut create = create(&head, content.size, Vec::new());
    // As the service knows it; content that was copied without keys was sealed for another revision.
    create.copy_of = Some(ContentSource {
        node_id: copy.source.node,
        revision_id: copy.source.revision,
    });
    let (node, revision) = (head.target.node(), head.revision);
    let (manifest, complete) = context.complete(&head, content)?;
    let file = BatchFile { create, complete };
    let result = small::request(context, vec![(file, Vec::new())]).await;
    let committed = match result.into_iter().next() {
        Some(Ok(result)) => small::finish(context, Sent { head, manifest }, result).await,
        Some(Err(error)) => Err(error),
        None => Err(TransferError::protocol("a batch of one without a result")),
    };
    match committed {
        Ok(uploaded) => Ok(Some(uploaded)),
        // It may fail with this request every time. Made all the same, the next try finds it.
        Err(TransferError::Api(error)) if is_failure(&error) => {
            match context.find_committed(node, revision).await? {
                Some(_) => Err(error.into()),
                None => Ok(None),
            }
        }
        Err(error) => unless_refused(error),
    }
}

fn is_usable(context: &TransferContext, copy: &ServerCopy, source: &Manifest) -> bool {
    let is_new = matches!(copy.target, UploadTarget::New { .. });
    is_new
        && copy.source.manifest_hash.is_some()
        && (source.hash, source.size) == (copy.hash, copy.size)
        // Whoever was removed from the space still has the keys of earlier epochs.
        && source.content.epoch == u64::from(context.keys.epoch())
}

/// Returns whether the service failed with this request, and not with all.
fn is_failure(error: &ApiError) -> bool {
    error.class() == ErrorClass::Transient && !error.is_overload()
}

/// Returns `None` for an error that is about the copy, and not about the file.
fn unless_refused(error: TransferError) -> Result<Option<Uploaded>, TransferError> {
    let sendable = match &error {
        TransferError::Api(error) => {
            matches!(error.class(), ErrorClass::Missing | ErrorClass::Refused)
        }
        TransferError::Refused { .. } | TransferError::Sealing(_) => true,
        TransferError::SourceChanged
        | TransferError::UploadLost
        | TransferError::Source(_)
        | TransferError::Target(_) => false,
    };
    if !sendable {
        return Err(error);
    }
    tracing::debug!(%error, "a file can't be copied on the service; it is sent");
    Ok(None)
}
