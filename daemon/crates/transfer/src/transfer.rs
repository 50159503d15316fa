//! The way in: everything a transfer needs, and its five operations.

use crate::blocking::Blocking;
use crate::download::Download;
use crate::error::{Check, TransferError};
use crate::limits::Limits;
use crate::local::{Source, Target};
use crate::progress::Progress;
use crate::upload::{SmallUpload, Upload, Uploaded};
use crate::{batch, fetch, send, small};
use cairn_api::Api;
use cairn_crypto::{Chunker, ContentKey, CryptoError, Random, SpaceKeys, SystemRandom};
use cairn_model::{DeviceId, Manifest, NodeId};
use std::sync::{Arc, Mutex, PoisonError};

/// Moves files between this machine and one space on the server.
#[derive(Clone)]
pub struct Transfer {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) api: Arc<Api>,
    pub(crate) keys: Arc<SpaceKeys>,
    pub(crate) chunker: Chunker,
    pub(crate) device: DeviceId,
    pub(crate) limits: Arc<Limits>,
    pub(crate) blocking: Blocking,
    random: Mutex<Box<dyn Random + Send>>,
}

/// What differs between a daemon and a simulation.
pub struct Options {
    pub limits: Arc<Limits>,
    pub blocking: Blocking,
    pub random: Box<dyn Random + Send>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limits: Arc::default(),
            blocking: Blocking::Threads,
            random: Box::new(SystemRandom),
        }
    }
}

impl Transfer {
    /// Makes transfers of one space; `device` becomes the author of what is uploaded.
    #[must_use]
    pub fn new(api: Arc<Api>, keys: Arc<SpaceKeys>, device: DeviceId, options: Options) -> Self {
        let chunker = Chunker::new(&keys);
        let Options {
            limits,
            blocking,
            random,
        } = options;
        let random = Mutex::new(random);
        Self {
            shared: Arc::new(Shared {
                api,
                keys,
                chunker,
                device,
                limits,
                blocking,
                random,
            }),
        }
    }

    /// Uploads one file of any size: chunks it, sends what the server lacks, commits. Dropping the
    /// future stops it; the same upload can be resumed later.
    ///
    /// # Errors
    /// [`TransferError::SourceChanged`] if the file is written meanwhile,
    /// [`TransferError::Conflict`] if the head or the name is not free; nothing is committed then.
    pub async fn upload(
        &self,
        upload: Upload,
        progress: &dyn Progress,
    ) -> Result<Uploaded, TransferError> {
        send::upload(&self.shared, upload, progress).await
    }

    /// Uploads many small files in few requests; each succeeds or fails alone, in the given order.
    /// `progress` hears of whole files' bytes.
    pub async fn upload_batch(
        &self,
        files: Vec<SmallUpload>,
        progress: &dyn Progress,
    ) -> Vec<Result<Uploaded, TransferError>> {
        small::upload_batch(&self.shared, files, progress).await
    }

    /// Downloads one revision into a target, keeping what is right in it already. Only verified bytes
    /// are written; on an error the target holds those that were.
    ///
    /// # Errors
    /// [`TransferError::Refused`] if anything is not authentic, [`TransferError::Gone`].
    pub async fn download(
        &self,
        download: Download,
        target: Arc<dyn Target>,
        progress: &dyn Progress,
    ) -> Result<Manifest, TransferError> {
        fetch::download(&self.shared, download, target, None, progress).await
    }

    /// As [`Transfer::download`]; chunks that are in `similar`, an earlier version of the file, come
    /// from there.
    ///
    /// # Errors
    /// As for [`Transfer::download`].
    pub async fn download_over(
        &self,
        download: Download,
        target: Arc<dyn Target>,
        similar: Arc<dyn Source>,
        progress: &dyn Progress,
    ) -> Result<Manifest, TransferError> {
        fetch::download(&self.shared, download, target, Some(similar), progress).await
    }

    /// Downloads many small revisions in few requests; each succeeds or fails alone, in the given order.
    pub async fn download_batch(
        &self,
        downloads: &[Download],
        progress: &dyn Progress,
    ) -> Vec<Result<(Manifest, Vec<u8>), TransferError>> {
        batch::download_batch(&self.shared, downloads, progress).await
    }

    /// Fetches and opens the manifests of many revisions, in the given order.
    pub async fn manifests(&self, downloads: &[Download]) -> Vec<Result<Manifest, TransferError>> {
        batch::manifests(&self.shared, downloads).await
    }

    /// The limits that all transfers of this daemon share.
    #[must_use]
    pub fn limits(&self) -> &Arc<Limits> {
        &self.shared.limits
    }
}

impl Shared {
    /// Lends the randomness; never across an await.
    pub(crate) fn with_random<T>(&self, work: impl FnOnce(&mut dyn Random) -> T) -> T {
        let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut **random)
    }

    /// Opens what belongs to a revision: content key first, then manifest.
    pub(crate) fn open_revision(
        &self,
        download: &Download,
        content: &cairn_wire::transfer::RevisionContent,
    ) -> Result<(ContentKey, Manifest), TransferError> {
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
        Ok((key, manifest))
    }

    pub(crate) fn open_key(
        &self,
        node: NodeId,
        wrapped: &[u8],
    ) -> Result<ContentKey, TransferError> {
        ContentKey::unwrap(&self.keys, node, wrapped).map_err(refused(Check::ContentKey))
    }
}

pub(crate) fn refused(check: Check) -> impl Fn(CryptoError) -> TransferError {
    move |source| TransferError::Refused { check, source }
}
