//! An older content of a file as its newest revision: sealed like any other, with objects that the server
//! has already.

use crate::commit::{NewContent, NewRevision, create};
use crate::context::TransferContext;
use crate::download::Download;
use crate::error::TransferError;
use crate::send::{finish, give_up};
use crate::upload::{UploadTarget, Uploaded};
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

/// Commits the older content. `None` if it was sealed for another file, or if its objects are not all
/// there.
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
    let manifest = context.open_revision(&content, &sealed)?;
    if manifest.node != target.node() {
        return Ok(None);
    }
    let head = NewRevision {
        target,
        revision,
        modified_ms: manifest.modified_ms,
        executable: manifest.executable,
    };
    let content = NewContent {
        object: manifest.content,
        hash: manifest.hash,
        size: manifest.size,
    };
    let request = create(&head, manifest.size, sealed.chunks);
    let begun = context.api.create_upload(&request).await?;
    if !begun.missing.is_empty() {
        give_up(context, begun.upload_id).await;
        return Ok(None);
    }
    finish(context, &head, content, begun.upload_id)
        .await
        .map(Some)
}
