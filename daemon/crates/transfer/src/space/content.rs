//! Content of one file: what is needed to fetch it, and a new revision of it.

use super::{Space, random_id};
use crate::download::Download;
use crate::error::TransferError;
use crate::local::Source;
use crate::progress::Progress;
use crate::upload::{Upload, UploadTarget, Uploaded};
use cairn_model::{Kind, Name, NodeId, RevisionId};
use cairn_wire::nodes::Node;
use std::sync::Arc;

/// What the local file system says about a file that is uploaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocalFacts {
    /// Length in bytes.
    pub size: u64,
    /// Milliseconds since 1970-01-01 UTC.
    pub modified_ms: i64,
    pub executable: bool,
}

impl Space {
    /// What is needed to fetch a file's content, now or as it was in a revision. `None` for a folder,
    /// and for a revision that the file does not have.
    ///
    /// # Errors
    /// As the server gives them.
    pub async fn content(
        &self,
        node: &Node,
        revision: Option<RevisionId>,
    ) -> Result<Option<Download>, TransferError> {
        let Some(current) = node.revision_id else {
            return Ok(None);
        };
        match revision {
            Some(revision) if revision != current => {
                let all = self.api.revisions(node.id).await?;
                Ok(all.iter().find(|r| r.id == revision).map(|found| Download {
                    node: node.id,
                    revision,
                    source: found.content_source,
                    manifest_hash: None,
                }))
            }
            Some(_) | None => Ok(Some(Download {
                node: node.id,
                revision: current,
                source: node.content_source,
                manifest_hash: self.seal(node).and_then(|info| info.manifest_hash),
            })),
        }
    }

    /// Uploads one file into a folder under a name; a file that has the name gets a new revision.
    ///
    /// # Errors
    /// [`TransferError::Conflict`] if a folder has the name, or somebody changed the file meanwhile.
    pub async fn upload(
        &self,
        source: Arc<dyn Source>,
        local: LocalFacts,
        parent: Option<NodeId>,
        name: &Name,
        progress: &dyn Progress,
    ) -> Result<Node, TransferError> {
        let present = self.child(parent, name).await?;
        let target = match &present {
            None => UploadTarget::New {
                node: NodeId::from_random_bytes(random_id()),
                parent,
                name: name.as_str().to_owned(),
            },
            Some(node) if node.kind == Kind::Folder => {
                return Err(TransferError::Conflict {
                    head: None,
                    message: format!("a folder is called `{name}`, choose another name"),
                });
            }
            Some(node) => self.next_revision(node).await?,
        };
        let upload = Upload {
            target,
            revision: RevisionId::from_random_bytes(random_id()),
            source,
            size: local.size,
            modified_ms: local.modified_ms,
            executable: local.executable,
            unless: None,
            resume: None,
        };
        match self.transfer.upload(upload, progress).await? {
            Uploaded::Committed { node, .. } => Ok(*node),
            Uploaded::Unchanged => {
                present.ok_or_else(|| TransferError::Protocol("nothing was uploaded".to_owned()))
            }
        }
    }

    async fn next_revision(&self, node: &Node) -> Result<UploadTarget, TransferError> {
        let (Some(base), Some(content_key)) = (node.revision_id, &node.content_key) else {
            let text = format!("file {} is without content", node.id);
            return Err(TransferError::Protocol(text));
        };
        let seal = self.seal(node);
        let download = Download {
            node: node.id,
            revision: base,
            source: node.content_source,
            manifest_hash: seal.and_then(|info| info.manifest_hash),
        };
        let mut manifests = self.transfer.manifests(&[download]).await;
        let manifest = manifests
            .pop()
            .ok_or_else(|| TransferError::Protocol("it is empty".to_owned()))??;
        Ok(UploadTarget::Revision {
            node: node.id,
            parent: node.parent_id,
            name: node.name.clone(),
            base,
            // Above every number that the node had before, also where a state without a seal lost count.
            number: manifest.number.max(node.version).saturating_add(1),
            content_key: content_key.0.clone(),
            content_source: node.content_source,
            seal_seq: seal
                .map_or(0, |info| info.seq)
                .max(node.version)
                .saturating_add(1),
        })
    }
}
