//! An older content of a file as its newest revision: sealed like any other, with chunks that the server
//! has already.

use crate::commit::{NewRevision, create};
use crate::context::{OpenedRevision, TransferContext};
use crate::download::Download;
use crate::error::TransferError;
use crate::scan::Scanned;
use crate::send::{finish, give_up};
use crate::upload::{UploadTarget, Uploaded};
use cairn_api::ApiError;
use cairn_model::RevisionId;

/// One older content to make the newest.
#[derive(Clone, Debug)]
pub struct Restore {
    /// A [`UploadTarget::Revision`] of the file as it is now.
    pub target: UploadTarget,
    /// The new revision's id.
    pub revision: RevisionId,
    /// The older revision.
    pub content: Download,
}

/// Commits the older content. `None` if its chunks were sealed for another file, are not all there, or if a link
/// has handed their key out.
///
/// # Errors
/// [`ApiError::Conflict`](cairn_api::ApiError::Conflict) if the head is another one; nothing is committed then.
pub(crate) async fn restore(
    context: &TransferContext,
    restore: Restore,
) -> Result<Option<Uploaded>, TransferError> {
    let Restore {
        target,
        revision,
        content,
    } = restore;
    let sealed = context.api.manifest(content.node, content.revision).await?;
    let OpenedRevision { key: _, manifest } = context.open_revision(&content, &sealed)?;
    let wrapped = sealed.content_key.0;
    if manifest.node != target.node() || !context.keys.is_current(&wrapped) {
        return Ok(None);
    }
    let head = NewRevision {
        target,
        revision,
        modified_ms: manifest.modified_ms,
        executable: manifest.executable,
    };
    let scanned = Scanned {
        chunks: manifest.chunks,
        hash: manifest.hash,
        size: manifest.size,
    };
    let begun = context.api.create_upload(&create(&head, &scanned)).await?;
    if !begun.missing.is_empty() {
        give_up(context, begun.upload_id).await;
        return Ok(None);
    }
    match finish(context, &head, scanned, wrapped, begun.upload_id).await {
        Err(TransferError::Api(ApiError::KeyExposed { .. })) => Ok(None),
        outcome => outcome.map(Some),
    }
}
