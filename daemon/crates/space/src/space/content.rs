//! Content of one file: what is needed to fetch it, and a new revision of it.

use super::{Space, random_id};
use cairn_api::ApiError;
use cairn_model::{Kind, Manifest, Name, NodeId, RevisionId};
use cairn_transfer::TransferError;
use cairn_transfer::{
    Download, KnownNumbers, Progress, SmallUpload, Source, Upload, UploadTarget, Uploaded,
};
use cairn_wire::nodes::Node;
use std::sync::Arc;

/// The local file system's facts about a file that is uploaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocalFacts {
    /// Length in bytes.
    pub size: u64,
    /// Milliseconds since 1970-01-01 UTC.
    pub modified_ms: i64,
    pub executable: bool,
}

/// One small file to upload with others, for [`Space::upload_small`].
#[derive(Clone, Debug)]
pub struct SmallFile {
    /// The whole file; [`cairn_crypto::MIN_CHUNK`] bytes or less is what batches are made for.
    pub bytes: Vec<u8>,
    pub local: LocalFacts,
    pub parent: Option<NodeId>,
    pub name: Name,
    /// The node that has the name already, from [`Space::children`]: it gets a new revision.
    pub present: Option<Node>,
}

impl Space {
    /// Returns the facts needed to fetch a file's content, now or as it was in a revision. `None`
    /// for a folder, and for a revision that the file does not have.
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
            Some(_) | None => Ok(Some(self.current_revision(node, current))),
        }
    }

    /// Uploads one file into a folder under a name; a file that has the name gets a new revision.
    ///
    /// # Errors
    /// [`ApiError::Conflict`](cairn_api::ApiError::Conflict) if a folder has the name, or somebody changed the file meanwhile.
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
            None => new_file(parent, name),
            Some(node) => self.over(std::slice::from_ref(&node)).await.remove(0)?,
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
            Uploaded::Unchanged => present.ok_or_else(nothing_uploaded),
        }
    }

    /// Uploads many small files in few requests; each succeeds or fails alone, in the given order.
    pub async fn upload_small(
        &self,
        files: Vec<SmallFile>,
        progress: &dyn Progress,
    ) -> Vec<Result<Node, TransferError>> {
        let present: Vec<&Node> = files.iter().filter_map(|f| f.present.as_ref()).collect();
        let mut over = self.over(&present).await.into_iter();
        let mut outcomes: Vec<Option<Result<Node, TransferError>>> = Vec::new();
        let mut uploads = Vec::new();
        for file in files {
            let target = match &file.present {
                None => Ok(new_file(file.parent, &file.name)),
                Some(_) => over.next().unwrap_or_else(|| Err(nothing_uploaded())),
            };
            outcomes.push(match target {
                Ok(target) => {
                    uploads.push(SmallUpload {
                        target,
                        revision: RevisionId::from_random_bytes(random_id()),
                        bytes: file.bytes,
                        modified_ms: file.local.modified_ms,
                        executable: file.local.executable,
                        unless: None,
                    });
                    None
                }
                Err(error) => Some(Err(error)),
            });
        }
        let mut answers = self
            .transfer
            .upload_batch(uploads, progress)
            .await
            .into_iter();
        let outcomes = outcomes.into_iter().map(|settled| {
            settled.unwrap_or_else(|| match answers.next() {
                Some(Ok(Uploaded::Committed { node, .. })) => Ok(*node),
                Some(Ok(Uploaded::Unchanged)) | None => Err(nothing_uploaded()),
                Some(Err(error)) => Err(error),
            })
        });
        outcomes.collect()
    }

    /// New revisions of what has the names already, in the given order.
    async fn over(&self, present: &[&Node]) -> Vec<Result<UploadTarget, TransferError>> {
        let downloads: Vec<Result<Download, TransferError>> =
            present.iter().map(|node| self.head(node)).collect();
        let wanted: Vec<Download> = downloads.iter().flatten().copied().collect();
        let mut manifests = self.transfer.manifests(&wanted).await.into_iter();
        let targets = present.iter().zip(downloads).map(|(node, download)| {
            let download = download?;
            let manifest = manifests
                .next()
                .unwrap_or_else(|| Err(nothing_uploaded()))?;
            self.next_revision(node, download.revision, &manifest)
        });
        targets.collect()
    }

    /// Returns the content that a file has now.
    pub(crate) fn head(&self, node: &Node) -> Result<Download, TransferError> {
        if node.kind == Kind::Folder {
            let message = format!("a folder is called `{}`, choose another name", node.name);
            return Err(ApiError::Conflict {
                head: None,
                message,
            }
            .into());
        }
        let revision = node.revision_id.ok_or_else(|| without_content(node))?;
        Ok(self.current_revision(node, revision))
    }

    fn current_revision(&self, node: &Node, revision: RevisionId) -> Download {
        Download {
            node: node.id,
            revision,
            source: node.content_source,
            manifest_hash: self.seal(node).and_then(|info| info.manifest_hash),
        }
    }

    fn next_revision(
        &self,
        node: &Node,
        base: RevisionId,
        manifest: &Manifest,
    ) -> Result<UploadTarget, TransferError> {
        let content_key = node.content_key.as_ref();
        let seal = self.seal(node);
        let known = KnownNumbers {
            seal_seq: seal.map_or(0, |info| info.seq),
            sealed: seal.is_some(),
            revision: Some(manifest.number),
            version: node.version,
        };
        Ok(UploadTarget::Revision {
            node: node.id,
            parent: node.parent_id,
            name: node.name.clone(),
            base,
            number: known.next_revision()?,
            content_key: content_key.ok_or_else(|| without_content(node))?.0.clone(),
            content_source: node.content_source,
            seal_seq: known.next_seal()?,
        })
    }
}

fn new_file(parent: Option<NodeId>, name: &Name) -> UploadTarget {
    UploadTarget::New {
        node: NodeId::from_random_bytes(random_id()),
        parent,
        name: name.as_str().to_owned(),
    }
}

fn without_content(node: &Node) -> TransferError {
    TransferError::protocol(format!("file {} is without content", node.id))
}

fn nothing_uploaded() -> TransferError {
    TransferError::protocol("nothing was uploaded")
}
