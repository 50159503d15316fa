//! What makes a revision of chunks that are across: content key, manifest, node seal. Shared by
//! single uploads and batches.

use crate::error::TransferError;
use crate::progress::Started;
use crate::scan::Scanned;
use crate::transfer::Shared;
use crate::upload::{UploadTarget, Uploaded};
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

/// A node's content key, open and as the server keeps it.
pub(crate) struct Keyed {
    pub(crate) key: ContentKey,
    pub(crate) wrapped: Vec<u8>,
}

/// What is known of a revision besides its content.
pub(crate) struct Head {
    pub(crate) target: UploadTarget,
    pub(crate) revision: RevisionId,
    pub(crate) modified_ms: i64,
    pub(crate) executable: bool,
}

impl Shared {
    /// The content key to upload with: the node's own, that of the upload to resume, or a new one.
    pub(crate) fn key_for(
        &self,
        target: &UploadTarget,
        resume: Option<&Started>,
    ) -> Result<Keyed, TransferError> {
        match target {
            UploadTarget::New { node, .. } => Ok(self.own_key(*node, resume)),
            UploadTarget::Revision {
                node,
                content_key,
                content_source,
                ..
            } => {
                let sealed_for = content_source.map_or(*node, |source| source.node_id);
                let key = self.open_key(sealed_for, content_key)?;
                if !self.keys.is_current(content_key) {
                    // Somebody who has left may hold it: what is written from now on gets another.
                    return Ok(self.own_key(*node, resume));
                }
                let wrapped = if sealed_for == *node {
                    content_key.clone()
                } else {
                    self.with_random(|random| key.wrap(&self.keys, *node, random))
                };
                Ok(Keyed { key, wrapped })
            }
        }
    }

    /// The key that the upload to resume began with, or a new one.
    fn own_key(&self, node: NodeId, resume: Option<&Started>) -> Keyed {
        let begun = resume
            .filter(|started| self.keys.is_current(&started.content_key))
            .and_then(|started| {
                let key = ContentKey::unwrap(&self.keys, node, &started.content_key).ok()?;
                Some(Keyed {
                    key,
                    wrapped: started.content_key.clone(),
                })
            });
        begun.unwrap_or_else(|| {
            self.with_random(|random| {
                let key = ContentKey::generate(random);
                Keyed {
                    wrapped: key.wrap(&self.keys, node, random),
                    key,
                }
            })
        })
    }

    /// What completes an upload: the manifest, open and sealed, with everything that goes with it.
    pub(crate) fn complete(
        &self,
        head: &Head,
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

    /// Asks whether a conflict is one with ourselves: an answer that was lost, and this the repeat.
    pub(crate) async fn already_committed(
        &self,
        node: NodeId,
        revision: RevisionId,
    ) -> Option<Node> {
        self.api
            .node(node)
            .await
            .ok()
            .filter(|found| found.id == node && found.revision_id == Some(revision))
    }
}

/// What begins an upload.
pub(crate) fn create(head: &Head, scanned: &Scanned) -> CreateUpload {
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
    }
}

/// Takes the server's answer to a commit, if it is about what was committed.
pub(crate) fn committed(
    head: &Head,
    node: Node,
    manifest: Manifest,
) -> Result<Uploaded, TransferError> {
    if node.id != head.target.node() || node.revision_id != Some(head.revision) {
        return Err(TransferError::Protocol(
            "the committed node is another one".to_owned(),
        ));
    }
    Ok(Uploaded::Committed {
        node: Box::new(node),
        manifest: Box::new(manifest),
    })
}
