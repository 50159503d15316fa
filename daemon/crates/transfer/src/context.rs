//! Everything that a transfer works with: client, keys, chunker, limits, randomness.

use crate::blocking::Blocking;
use crate::download::Download;
use crate::error::{Check, TransferError, refused};
use crate::limits::Limits;
use cairn_api::Api;
use cairn_crypto::{Chunker, ContentKey, CryptoError, Random, SpaceKeys};
use cairn_model::{DeviceId, Manifest, NodeId};
use parking_lot::Mutex;
use std::sync::Arc;

/// Client, keys and limits that all transfers of one space share.
pub(crate) struct TransferContext {
    pub(crate) api: Arc<Api>,
    pub(crate) keys: Arc<SpaceKeys>,
    pub(crate) chunker: Chunker,
    /// The author of what is uploaded.
    pub(crate) device: DeviceId,
    pub(crate) limits: Arc<Limits>,
    pub(crate) blocking: Blocking,
    pub(crate) random: Mutex<Box<dyn Random + Send>>,
}

/// A revision's content key and manifest, both checked.
#[derive(Clone, Debug)]
pub struct OpenedRevision {
    pub key: ContentKey,
    pub manifest: Manifest,
}

impl TransferContext {
    /// Lends the randomness; never across an await.
    pub(crate) fn with_random<T>(&self, work: impl FnOnce(&mut dyn Random) -> T) -> T {
        work(&mut **self.random.lock())
    }

    /// Opens the manifest of a revision and its content key.
    ///
    /// # Errors
    /// [`TransferError::Refused`] if either is not authentic, or the manifest is another one than
    /// the node seal names.
    pub(crate) fn open_revision(
        &self,
        download: &Download,
        content: &cairn_wire::transfer::RevisionContent,
    ) -> Result<OpenedRevision, TransferError> {
        let sealed = &content.manifest.0;
        if download
            .manifest_hash
            .is_some_and(|hash| hash != cairn_crypto::manifest_hash(sealed))
        {
            return Err(refused(Check::Manifest)(CryptoError::Opaque));
        }
        let ids = download.sealed_as();
        let manifest =
            cairn_crypto::open_manifest(&self.keys, ids.node_id, ids.revision_id, sealed)
                .map_err(refused(Check::Manifest))?;
        let key = self.open_key(ids.node_id, &content.content_key.0)?;
        Ok(OpenedRevision { key, manifest })
    }

    /// Opens the content key that was wrapped for a node.
    ///
    /// # Errors
    /// [`TransferError::Refused`] if it was wrapped for another node or under other keys.
    pub(crate) fn open_key(
        &self,
        node: NodeId,
        wrapped: &[u8],
    ) -> Result<ContentKey, TransferError> {
        ContentKey::unwrap(&self.keys, node, wrapped).map_err(refused(Check::ContentKey))
    }
}
