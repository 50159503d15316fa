//! Turns uploaded objects into a revision: its manifest (the encrypted record of the revision) and the node
//! seal (which authenticates name, parent and manifest), for single uploads and batches alike.

use crate::context::TransferContext;
use crate::error::TransferError;
use crate::naming::Planned;
use crate::upload::{UploadTarget, Uploaded};
use cairn_api::{ApiError, ErrorClass};
use cairn_crypto::{NodeFacts, NodeSeal, SealInfo, manifest_hash, seal_manifest};
use cairn_model::{ContentHash, ContentObject, Kind, Manifest, NodeId, RevisionId};
use cairn_wire::nodes::Node;
use cairn_wire::transfer::{CompleteUpload, CreateUpload, SealedChunk};
use cairn_wire::{Sealed, Timestamp};
use std::ops::RangeInclusive;

/// Years 0 to 9999, in milliseconds since 1970: what RFC 3339 can write.
const WRITABLE: RangeInclusive<i64> = -62_167_219_200_000..=253_402_300_799_999;

/// The place, id and metadata of a revision that is being made.
pub(crate) struct NewRevision {
    pub(crate) target: UploadTarget,
    pub(crate) revision: RevisionId,
    pub(crate) modified_ms: i64,
    pub(crate) executable: bool,
}

/// The content of a revision that is being made, as its manifest describes it.
#[derive(Clone, Copy)]
pub(crate) struct NewContent {
    pub(crate) object: ContentObject,
    pub(crate) hash: ContentHash,
    pub(crate) size: u64,
}

impl NewContent {
    pub(crate) fn of(planned: &Planned, hash: ContentHash, size: u64) -> Self {
        Self {
            object: planned.content,
            hash,
            size,
        }
    }
}

impl TransferContext {
    /// Makes the record and the request that commits the upload with it.
    pub(crate) fn complete(
        &self,
        head: &NewRevision,
        content: NewContent,
    ) -> Result<(Manifest, CompleteUpload), TransferError> {
        let target = &head.target;
        let manifest = Manifest {
            format: Manifest::FORMAT,
            space: self.keys.space(),
            node: target.node(),
            revision: head.revision,
            base: target.base(),
            number: target.number(),
            size: content.size,
            modified_ms: head.modified_ms,
            executable: head.executable,
            content: content.object,
            hash: content.hash,
            author: self.device,
        };
        let sealed = self
            .with_random(|random| seal_manifest(&self.keys, &manifest, random))
            .map_err(TransferError::Sealing)?;
        let facts = NodeFacts {
            node: target.node(),
            parent: target.parent(),
            name: target.name(),
            kind: Kind::File,
            executable: head.executable,
            deleted: false,
        };
        let info = SealInfo {
            seq: target.seal_seq(),
            manifest_hash: Some(manifest_hash(&sealed)),
        };
        let complete = CompleteUpload {
            base_version: target.version(),
            manifest: Sealed(sealed),
            modified_at: WRITABLE
                .contains(&head.modified_ms)
                .then_some(Timestamp(head.modified_ms)),
            executable: head.executable,
            seal: Some(Sealed(NodeSeal::make(&self.keys, &facts, info))),
        };
        Ok((manifest, complete))
    }

    /// Returns the node if a conflict is one with ourselves: the response to the first commit was lost,
    /// and this is the repeat.
    ///
    /// # Errors
    /// Errors after which nobody knows: the same call may tell later.
    pub(crate) async fn find_committed(
        &self,
        node: NodeId,
        revision: RevisionId,
    ) -> Result<Option<Node>, ApiError> {
        match self.api.node(node).await {
            Ok(found) => {
                let ours = found.id == node && found.revision_id == Some(revision);
                Ok(ours.then_some(found))
            }
            Err(error) => match error.class() {
                ErrorClass::Transient | ErrorClass::Offline | ErrorClass::Auth => Err(error),
                ErrorClass::Stale
                | ErrorClass::Missing
                | ErrorClass::Limit
                | ErrorClass::Refused
                | ErrorClass::Protocol => Ok(None),
            },
        }
    }
}

/// Makes the request that begins an upload.
pub(crate) fn create(head: &NewRevision, size: u64, chunks: Vec<SealedChunk>) -> CreateUpload {
    let new = head.target.base().is_none();
    CreateUpload {
        node_id: head.target.node(),
        revision_id: head.revision,
        base_revision_id: head.target.base(),
        parent_id: head.target.parent().filter(|_| new),
        name: new.then(|| head.target.name().to_owned()),
        size,
        chunks,
        copy_of: None,
    }
}

/// Checks that the server's response to a commit is about what was committed.
///
/// # Errors
/// [`ApiError::Protocol`](cairn_api::ApiError::Protocol) for another node or revision.
pub(crate) fn check_committed(
    head: &NewRevision,
    node: Node,
    manifest: Manifest,
) -> Result<Uploaded, TransferError> {
    if node.id != head.target.node() || node.revision_id != Some(head.revision) {
        return Err(TransferError::protocol("the committed node is another one"));
    }
    Ok(Uploaded::Committed {
        node: Box::new(node),
        manifest: Box::new(manifest),
    })
}
