//! The sealed keys of shared files, made and handed to the server in groups.

use super::ShareError;
use super::walk::{FileToShare, UnverifiedNodes};
use crate::Space;
use cairn_crypto::{LinkFile, LinkKey, SystemRandom};
use cairn_model::NodeId;
use cairn_transfer::{OpenedRevision, TransferError};
use cairn_wire::Sealed;
use cairn_wire::nodes::Node;
use cairn_wire::shares::{PutSharedFiles, Share, SharedFile};
use uuid::Uuid;

/// Files whose keys are opened in one request.
const FILES_PER_REQUEST: usize = 64;
/// Sealed bytes in one request to the server.
const PUT_BYTES: usize = 4 * 1024 * 1024;
/// Files in one request to the server, which takes 500.
const PUT_FILES: usize = 200;

impl Space {
    /// Replaces the files of a link on the service.
    pub(super) async fn put_files(
        &self,
        mut share: Share,
        files: Vec<SharedFile>,
    ) -> Result<Share, TransferError> {
        let id = share.id.to_string();
        let mut group = Vec::new();
        let (mut bytes, mut replace) = (0, true);
        let mut rest = files.into_iter().peekable();
        loop {
            let next = rest.next();
            let full = group.len() >= PUT_FILES || bytes >= PUT_BYTES;
            if next.is_none() || full {
                let files = std::mem::take(&mut group);
                let put = PutSharedFiles { files, replace };
                share = self.api.put_shared_files(&id, &put).await?;
                (bytes, replace) = (0, false);
            }
            let Some(file) = next else { return Ok(share) };
            bytes += file.sealed.0.len();
            group.push(file);
        }
    }

    /// Returns everything that a link to a node carries, sealed under its key.
    ///
    /// # Errors
    /// [`ShareError::Unverified`], or that a file can't be opened.
    pub(super) async fn sealed_files(
        &self,
        node: &Node,
        unverified: UnverifiedNodes,
        share: Uuid,
        key: &LinkKey,
    ) -> Result<Vec<SharedFile>, ShareError> {
        let below = self.files_to_share(node, unverified).await?;
        let mut sealed = Vec::with_capacity(below.len());
        for group in below.chunks(FILES_PER_REQUEST) {
            for (node, file) in self.link_files(group).await? {
                let seal = key.seal_file(share, node, &file, &mut SystemRandom);
                sealed.push(SharedFile {
                    node_id: node,
                    revision_id: file.revision,
                    sealed: Sealed(seal.map_err(TransferError::Sealing)?),
                });
            }
        }
        Ok(sealed)
    }

    /// Opens the keys and manifests of a group of files.
    async fn link_files(
        &self,
        group: &[FileToShare],
    ) -> Result<Vec<(NodeId, LinkFile)>, TransferError> {
        let mut files = Vec::with_capacity(group.len());
        for file in group {
            let download = self.head(&file.node)?;
            files.push(((file, download), download));
        }
        let mut out = Vec::with_capacity(group.len());
        for ((file, download), opened) in self.transfer.open_revisions(files).await {
            let OpenedRevision { key, manifest } = opened?;
            let opened = LinkFile {
                revision: download.revision,
                path: file.path.clone(),
                size: manifest.size,
                modified_ms: manifest.modified_ms,
                hash: manifest.hash,
                key,
                chunks: manifest.chunks,
            };
            out.push((file.node.id, opened));
        }
        Ok(out)
    }
}
