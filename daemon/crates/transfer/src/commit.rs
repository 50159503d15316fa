//! Turns uploaded chunks into a revision: content key, manifest and node seal, for single uploads and
//! batches alike.

use crate::context::TransferContext;
use crate::error::TransferError;
use crate::progress::Started;
use crate::scan::Scanned;
use crate::upload::{UploadTarget, Uploaded};
use cairn_api::{ApiError, ErrorClass};
use cairn_crypto::{
    ContentKey, NodeFacts, NodeSeal, SealInfo, manifest_hash, seal_manifest, sealed_len,
};
use cairn_model::{Kind, Manifest, NodeId, RevisionId};
use cairn_wire::nodes::Node;
use cairn_wire::transfer::{CompleteUpload, CreateUpload, SealedChunk};
use cairn_wire::{Sealed, Timestamp};
use std::ops::RangeInclusive;

/// Years 0 to 9999, in milliseconds since 1970: what RFC 3339 can write.
const WRITABLE: RangeInclusive<i64> = -62_167_219_200_000..=253_402_300_799_999;

/// A node's content key, opened and wrapped.
pub(crate) struct NodeKey {
    pub(crate) key: ContentKey,
    pub(crate) wrapped: Vec<u8>,
}

/// The place, id and metadata of a revision that is being made.
pub(crate) struct NewRevision {
    pub(crate) target: UploadTarget,
    pub(crate) revision: RevisionId,
    pub(crate) modified_ms: i64,
    pub(crate) executable: bool,
}

impl TransferContext {
    /// Returns the content key to upload with: the node's own, that of the upload to resume, or a new
    /// one. A key of another node is never taken over.
    ///
    /// # Errors
    /// [`TransferError::Refused`] if the node's key was not wrapped for it.
    pub(crate) fn key_for(
        &self,
        target: &UploadTarget,
        resume: Option<&Started>,
    ) -> Result<NodeKey, TransferError> {
        match target {
            UploadTarget::New { node, .. } => Ok(self.own_key(*node, resume)),
            UploadTarget::Revision {
                node,
                content_key,
                content_source,
                ..
            } => {
                // The key of the base was refused when the upload to resume began.
                if resume.is_some_and(|started| started.content_key != *content_key) {
                    return Ok(self.own_key(*node, resume));
                }
                // Nothing that is sealed says whose copy a node is: the key of another node may be known
                // to readers that this one never had. And who has left may hold a key of an old epoch.
                if content_source.is_some() || !self.keys.is_current(content_key) {
                    return Ok(self.own_key(*node, resume));
                }
                let key = self.open_key(*node, content_key)?;
                Ok(NodeKey {
                    key,
                    wrapped: content_key.clone(),
                })
            }
        }
    }

    /// Returns the key that the upload to resume began with, or a new one.
    fn own_key(&self, node: NodeId, resume: Option<&Started>) -> NodeKey {
        let begun = resume
            .filter(|started| self.keys.is_current(&started.content_key))
            .and_then(|started| {
                let key = ContentKey::unwrap(&self.keys, node, &started.content_key).ok()?;
                Some(NodeKey {
                    key,
                    wrapped: started.content_key.clone(),
                })
            });
        begun.unwrap_or_else(|| {
            self.with_random(|random| {
                let key = ContentKey::generate(random);
                NodeKey {
                    wrapped: key.wrap(&self.keys, node, random),
                    key,
                }
            })
        })
    }

    /// Makes the manifest and the request that commits the upload with it.
    pub(crate) fn complete(
        &self,
        head: &NewRevision,
        scanned: Scanned,
        wrapped_key: Vec<u8>,
    ) -> Result<(Manifest, CompleteUpload), TransferError> {
        let target = &head.target;
        let manifest = Manifest {
            format: Manifest::FORMAT,
            space: self.keys.space(),
            node: target.node(),
            revision: head.revision,
            base: target.base(),
            number: target.number(),
            size: scanned.size,
            modified_ms: head.modified_ms,
            executable: head.executable,
            chunks: scanned.chunks,
            hash: scanned.hash,
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
            manifest: Sealed(sealed),
            content_key: Sealed(wrapped_key),
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
    /// Those after which nobody knows: the same call may tell later.
    pub(crate) async fn already_committed(
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
pub(crate) fn create(head: &NewRevision, scanned: &Scanned) -> CreateUpload {
    let new = head.target.base().is_none();
    CreateUpload {
        node_id: head.target.node(),
        revision_id: head.revision,
        base_revision_id: head.target.base(),
        parent_id: head.target.parent().filter(|_| new),
        name: new.then(|| head.target.name().to_owned()),
        size: scanned.size,
        chunks: scanned
            .chunks
            .iter()
            .map(|chunk| SealedChunk {
                id: chunk.id,
                size: sealed_len(u64::from(chunk.len)),
            })
            .collect(),
        base_key: None,
    }
}

/// Checks that the server's response to a commit is about what was committed.
///
/// # Errors
/// [`ApiError::Protocol`](cairn_api::ApiError::Protocol) for another node or revision.
pub(crate) fn committed(
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
