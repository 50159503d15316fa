//! Content of one file: the data needed to fetch it, and a new revision of it.

use super::{Space, new_node, new_revision};
use cairn_api::ApiError;
use cairn_model::{ContentHash, Kind, Manifest, Name, NodeId, RevisionId};
use cairn_transfer::TransferError;
use cairn_transfer::{
    Download, KnownNumbers, Progress, SmallUpload, Source, Upload, UploadTarget, Uploaded,
};
use cairn_wire::nodes::{Node, Revision};
use std::sync::Arc;

/// The metadata of a local file that is uploaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocalMetadata {
    /// Length in bytes.
    pub size: u64,
    /// Milliseconds since 1970-01-01 UTC.
    pub modified_ms: i64,
    /// `None` where the disk keeps no such bit: a file that is on the service keeps its own.
    pub executable: Option<bool>,
}

/// Attempts to upload a file that others change at the same time.
const MAX_TRIES: u32 = 5;

/// One small file to upload with others. [`cairn_crypto::MIN_CHUNK`] bytes or less is what batches are made
/// for.
pub(crate) struct SmallFile {
    pub(crate) bytes: Vec<u8>,
    pub(crate) local: LocalMetadata,
    pub(crate) parent: NodeId,
    pub(crate) name: Name,
    /// The node that has the name already, from [`Space::children`]: it gets a new revision.
    pub(crate) present: Option<Node>,
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
                let found = all.iter().find(|r| r.id == revision);
                Ok(found.map(|found| past_content(node.id, found)))
            }
            Some(_) | None => Ok(Some(self.current_revision(node, current))),
        }
    }

    /// Uploads one file into a folder under a name; a file that has the name gets a new revision, also one
    /// that somebody else is changing, unless its content is the same already.
    ///
    /// # Errors
    /// [`ApiError::Conflict`] if a folder has the name, or others go on changing the file.
    pub async fn upload(
        &self,
        source: Arc<dyn Source>,
        local: LocalMetadata,
        parent: Option<NodeId>,
        name: &Name,
        progress: &dyn Progress,
    ) -> Result<Node, TransferError> {
        let mut tries = 1;
        loop {
            let uploaded = self
                .upload_once(source.clone(), local, parent, name, progress)
                .await;
            match uploaded {
                Err(error) if error.is_stale() && tries < MAX_TRIES => tries += 1,
                uploaded => return uploaded,
            }
        }
    }

    async fn upload_once(
        &self,
        source: Arc<dyn Source>,
        local: LocalMetadata,
        parent: Option<NodeId>,
        name: &Name,
        progress: &dyn Progress,
    ) -> Result<Node, TransferError> {
        let present = self.child(parent, name).await?;
        let (target, skip_if, executable) = match present.clone() {
            None => (
                new_file(parent, name),
                None,
                local.executable.unwrap_or(false),
            ),
            Some(node) => {
                let next = self.revisions_of(vec![(node, ())]).await.remove(0).1?;
                let (skip_if, executable) = (next.skip_if(local), next.executable(local));
                (next.target, skip_if, executable)
            }
        };
        let upload = Upload {
            target,
            revision: new_revision(),
            source,
            size: local.size,
            modified_ms: local.modified_ms,
            executable,
            skip_if,
            resume: None,
        };
        match self.transfer.upload(upload, progress).await? {
            Uploaded::Committed { node, .. } => Ok(*node),
            Uploaded::Unchanged => present.ok_or_else(nothing_uploaded_error),
        }
    }

    /// Uploads many small files in few requests, and returns each item with its own outcome. A file that
    /// has the same content already comes back as it is.
    pub(crate) async fn upload_small<K>(
        &self,
        files: Vec<(K, SmallFile)>,
        progress: &dyn Progress,
    ) -> Vec<(K, Result<Node, TransferError>)> {
        let (mut uploads, mut existing) = (Vec::new(), Vec::new());
        for (item, file) in files {
            match file.present.clone() {
                None => {
                    let target = new_file(Some(file.parent), &file.name);
                    let executable = file.local.executable.unwrap_or(false);
                    let upload = small_upload(file, target, None, executable);
                    uploads.push(((item, None), upload));
                }
                Some(node) => existing.push((node, (item, file))),
            }
        }
        let mut outcomes = Vec::new();
        for ((item, file), next) in self.revisions_of(existing).await {
            match next {
                Ok(next) => {
                    let (skip_if, executable) =
                        (next.skip_if(file.local), next.executable(file.local));
                    let present = file.present.clone();
                    let upload = small_upload(file, next.target, skip_if, executable);
                    uploads.push(((item, present), upload));
                }
                Err(error) => outcomes.push((item, Err(error))),
            }
        }
        let sent = self.transfer.upload_batch(uploads, progress).await;
        outcomes.extend(sent.into_iter().map(|((item, present), uploaded)| {
            let node = match uploaded {
                Ok(Uploaded::Committed { node, .. }) => Ok(*node),
                Ok(Uploaded::Unchanged) => present.ok_or_else(nothing_uploaded_error),
                Err(error) => Err(error),
            };
            (item, node)
        }));
        outcomes
    }

    /// Returns for each item the next revision of a node that is there.
    async fn revisions_of<K>(
        &self,
        nodes: Vec<(Node, K)>,
    ) -> Vec<(K, Result<NextRevision, TransferError>)> {
        let mut outcomes = Vec::new();
        let mut with_content = Vec::new();
        for (node, item) in nodes {
            match self.head(&node) {
                Ok(download) => with_content.push(((item, node, download), download)),
                Err(error) => outcomes.push((item, Err(error))),
            }
        }
        let manifests = self.transfer.manifests(with_content).await;
        outcomes.extend(manifests.into_iter().map(|(item, manifest)| {
            let (item, node, download) = item;
            let is_verified = self.seal(&node).is_some();
            let next = |manifest: Manifest| {
                Ok(NextRevision {
                    target: self.next_revision(&node, download.revision, &manifest)?,
                    is_verified,
                    is_executable: if is_verified {
                        node.executable
                    } else {
                        manifest.executable
                    },
                    present: manifest,
                })
            };
            (item, manifest.and_then(next))
        }));
        outcomes
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

    pub(super) fn next_revision(
        &self,
        node: &Node,
        base: RevisionId,
        manifest: &Manifest,
    ) -> Result<UploadTarget, TransferError> {
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
            replaced: Some(self.current_revision(node, base)),
            seal_seq: known.next_seal()?,
            version: Some(node.version),
        })
    }
}

/// A new revision of a file, and the content that it replaces.
struct NextRevision {
    target: UploadTarget,
    present: Manifest,
    /// A valid seal covers the present state.
    is_verified: bool,
    /// The bit of the present state, which may be newer than the content; that of the content where no seal covers it.
    is_executable: bool,
}

impl NextRevision {
    /// Returns the hash of the content that needs no upload, because the file has it already.
    fn skip_if(&self, local: LocalMetadata) -> Option<ContentHash> {
        let is_same = self.is_verified && self.is_executable == self.executable(local);
        is_same.then_some(self.present.hash)
    }

    fn executable(&self, local: LocalMetadata) -> bool {
        local.executable.unwrap_or(self.is_executable)
    }
}

/// Returns the facts needed to fetch a content out of a file's history, which the present seal does not cover.
pub(super) fn past_content(node: NodeId, revision: &Revision) -> Download {
    Download {
        source: revision.content_source,
        ..Download::new(node, revision.id)
    }
}

fn new_file(parent: Option<NodeId>, name: &Name) -> UploadTarget {
    UploadTarget::New {
        node: new_node(),
        parent,
        name: name.as_str().to_owned(),
    }
}

fn small_upload(
    file: SmallFile,
    target: UploadTarget,
    skip_if: Option<ContentHash>,
    executable: bool,
) -> SmallUpload {
    SmallUpload {
        target,
        revision: new_revision(),
        bytes: file.bytes,
        modified_ms: file.local.modified_ms,
        executable,
        skip_if,
    }
}

fn without_content(node: &Node) -> TransferError {
    TransferError::protocol(format!("file {} is without content", node.id))
}

fn nothing_uploaded_error() -> TransferError {
    TransferError::protocol("nothing was uploaded")
}
