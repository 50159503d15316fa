//! The context of all transfers of one space (the files of an account or team): client, keys, limits, randomness.

use crate::blocking::Blocking;
use crate::download::Download;
use crate::error::{Check, TransferError, refused_error};
use crate::limits::Limits;
use crate::recent_contents::RecentContents;
use cairn_api::Api;
use cairn_crypto::{CryptoError, Random, SpaceKeys};
use cairn_model::{DeviceId, Manifest};
use cairn_wire::transfer::RevisionContent;
use parking_lot::Mutex;
use std::sync::Arc;

/// Client, keys and limits that all transfers of one space share.
pub(crate) struct TransferContext {
    pub(crate) api: Arc<Api>,
    pub(crate) keys: Arc<SpaceKeys>,
    /// The author of what is uploaded.
    pub(crate) device: DeviceId,
    pub(crate) limits: Arc<Limits>,
    pub(crate) blocking: Blocking,
    pub(crate) random: Mutex<Box<dyn Random + Send>>,
    pub(crate) recent: RecentContents,
}

impl TransferContext {
    /// Runs `work` with the random source locked; never across an await.
    pub(crate) fn with_random<T>(&self, work: impl FnOnce(&mut dyn Random) -> T) -> T {
        work(&mut **self.random.lock())
    }

    /// Decrypts the manifest, the record of a revision.
    ///
    /// # Errors
    /// [`TransferError::Refused`] if it is not authentic, or has another hash than the node seal (the MAC over the
    /// node's name, parent and manifest hash).
    pub(crate) fn open_revision(
        &self,
        download: &Download,
        content: &RevisionContent,
    ) -> Result<Manifest, TransferError> {
        let sealed = &content.manifest.0;
        if download
            .manifest_hash
            .is_some_and(|hash| hash != cairn_crypto::manifest_hash(sealed))
        {
            return Err(refused_error(Check::Manifest)(CryptoError::NotAuthentic));
        }
        let ids = download.content_source();
        cairn_crypto::open_manifest(&self.keys, ids.node_id, ids.revision_id, sealed)
            .map_err(refused_error(Check::Manifest))
    }
}
