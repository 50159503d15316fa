//! The entry point: uploads and downloads of one file or of many small ones, and their options.

use crate::blocking::Blocking;
use crate::chunk_list;
use crate::context::TransferContext;
use crate::download::Download;
use crate::error::TransferError;
use crate::limits::Limits;
use crate::local::{Source, Target};
use crate::nearby::Nearby;
use crate::progress::Progress;
use crate::recent_contents::RecentContents;
use crate::restore::{self, Restore};
use crate::server_copy::{self, ServerCopy};
use crate::upload::{SmallUpload, Upload, Uploaded};
use crate::{batch, cut_ahead, fetch, heal, send, small};
use cairn_api::Api;
use cairn_crypto::format2::ListedChunk;
use cairn_crypto::{Random, SpaceKeys, SystemRandom};
use cairn_model::{ChunkId, ContentHash, DeviceId, Manifest, NodeId};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Moves files between this machine and one space on the service.
#[derive(Clone)]
pub struct Transfer {
    context: Arc<TransferContext>,
}

/// A revision, with what opens its chunks and nothing else.
#[derive(Clone, Debug)]
pub struct SharedRevision {
    pub manifest: Manifest,
    pub chunks: Vec<ListedChunk>,
}

/// The choices of a program that makes transfers; the default is that of a real one.
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
        let Options {
            limits,
            blocking,
            random,
        } = options;
        let random = Mutex::new(random);
        Self {
            context: Arc::new(TransferContext {
                api,
                keys,
                device,
                limits,
                blocking,
                random,
                recent: RecentContents::default(),
            }),
        }
    }

    /// Uploads one file of any size: chunks it, sends what the server lacks, commits. Dropping the
    /// future stops it; the same upload can be resumed later.
    ///
    /// # Errors
    /// [`TransferError::SourceChanged`] if the file is written meanwhile,
    /// [`ApiError::Conflict`](cairn_api::ApiError::Conflict) if the head or the name is not free; nothing is committed then.
    pub async fn upload(
        &self,
        upload: Upload,
        progress: &dyn Progress,
    ) -> Result<Uploaded, TransferError> {
        send::upload(&self.context, upload, progress).await
    }

    /// Cuts a file as its upload over a content would, and remembers where, so that the upload reads only what is new.
    /// Returns the hash of the whole; `None` without reading anything if the chunks of that content are not known.
    ///
    /// # Errors
    /// Fails like [`Transfer::upload`] where that reads the file.
    pub async fn cut_ahead(
        &self,
        replaced: &Download,
        source: Arc<dyn Source>,
        size: u64,
    ) -> Result<Option<ContentHash>, TransferError> {
        cut_ahead::cut(&self.context, replaced, source, size).await
    }

    /// Uploads many small files in few requests; each succeeds or fails alone, and comes back with the
    /// caller's key, in any order. `progress` gets whole files' bytes.
    pub async fn upload_batch<K>(
        &self,
        files: Vec<(K, SmallUpload)>,
        progress: &dyn Progress,
    ) -> Vec<(K, Result<Uploaded, TransferError>)> {
        small::upload_batch(&self.context, files, progress).await
    }

    /// Makes a new file with the content of a revision that the server has, without sending it. `None` if it has to
    /// be sent: nothing was committed then.
    ///
    /// # Errors
    /// Fails like [`Transfer::upload`].
    pub async fn copy_on_server(
        &self,
        copy: ServerCopy,
    ) -> Result<Option<Uploaded>, TransferError> {
        server_copy::make(&self.context, copy).await
    }

    /// Makes an older content of a file its newest revision, of chunks that the server has. `None` if it was
    /// sealed for another file, or if they are not all there.
    ///
    /// # Errors
    /// [`ApiError::Conflict`](cairn_api::ApiError::Conflict) if the head is another one; nothing is committed then.
    pub async fn restore(&self, restore: Restore) -> Result<Option<Uploaded>, TransferError> {
        restore::restore(&self.context, restore).await
    }

    /// Restores older contents of many files in few requests, each with its manifest of [`Transfer::manifests`].
    /// Each comes back with the caller's key, in any order: with `None` where nothing is known to be committed, and
    /// [`Transfer::restore`] does it or tells why it can't be done.
    pub async fn restore_batch<K>(
        &self,
        restores: Vec<(K, Restore, Manifest)>,
    ) -> Vec<(K, Option<Uploaded>)> {
        restore::restore_batch(&self.context, restores).await
    }

    /// Returns the files of which the service has lost chunks, or has other bytes than were sent, as far as it says so,
    /// with these chunks.
    ///
    /// # Errors
    /// The error of the service.
    pub async fn damaged_files(
        &self,
    ) -> Result<BTreeMap<NodeId, BTreeSet<ChunkId>>, TransferError> {
        heal::damaged_files(&self.context).await
    }

    /// Sends again what the service lacks of the content that an upload would replace, as far as the upload's source
    /// has the same bytes. Nothing is committed. Returns the number of chunks that were sent.
    ///
    /// # Errors
    /// [`ApiError::Conflict`](cairn_api::ApiError::Conflict) if the file has another head by now.
    pub async fn heal(&self, upload: Upload) -> Result<usize, TransferError> {
        heal::heal(&self.context, upload).await
    }

    /// Downloads one revision into a target, keeping what is right in it already. Only verified bytes
    /// are written; on an error the target holds those that were.
    ///
    /// # Errors
    /// [`TransferError::Refused`] if anything is not authentic, [`ApiError::Gone`](cairn_api::ApiError::Gone).
    pub async fn download(
        &self,
        download: Download,
        target: Arc<dyn Target>,
        progress: &dyn Progress,
    ) -> Result<Manifest, TransferError> {
        fetch::download(&self.context, download, target, None, progress).await
    }

    /// Downloads like [`Transfer::download`], but takes the chunks that another file on this disk has from there.
    ///
    /// # Errors
    /// Fails like [`Transfer::download`].
    pub async fn download_over(
        &self,
        download: Download,
        target: Arc<dyn Target>,
        nearby: Nearby,
        progress: &dyn Progress,
    ) -> Result<Manifest, TransferError> {
        fetch::download(&self.context, download, target, Some(nearby), progress).await
    }

    /// Downloads many small revisions in few requests; each succeeds or fails alone, and comes back with
    /// the caller's key, in any order.
    ///
    /// `expected` is the sum of their sizes in bytes, as the service gives them. Files that take clearly more
    /// memory fail.
    pub async fn download_batch<K>(
        &self,
        files: Vec<(K, Download)>,
        expected: u64,
        progress: &dyn Progress,
    ) -> Vec<(K, Result<(Manifest, Vec<u8>), TransferError>)> {
        batch::download_batch(&self.context, files, expected, progress).await
    }

    /// Fetches and opens the manifest of one revision.
    ///
    /// # Errors
    /// [`TransferError::Refused`] if it is not authentic, [`ApiError::Gone`](cairn_api::ApiError::Gone).
    pub async fn manifest(&self, download: Download) -> Result<Manifest, TransferError> {
        Ok(fetch::open(&self.context, download).await?.0)
    }

    /// Fetches and opens the manifests of many revisions, each with the caller's key, in any order.
    pub async fn manifests<K>(
        &self,
        files: Vec<(K, Download)>,
    ) -> Vec<(K, Result<Manifest, TransferError>)> {
        batch::open_revisions(&self.context, files).await
    }

    /// Returns what a share link gives of a revision: the keys of its chunks, and of no others.
    ///
    /// # Errors
    /// Fails like [`Transfer::manifest`].
    pub async fn shared_revision(
        &self,
        download: Download,
        manifest: Manifest,
    ) -> Result<SharedRevision, TransferError> {
        let list = chunk_list::of_revision(&self.context, download.node, &manifest).await?;
        let chunks = list.chunks();
        Ok(SharedRevision { manifest, chunks })
    }

    /// Returns the place where this transfer does its blocking work.
    #[must_use]
    pub fn blocking(&self) -> Blocking {
        self.context.blocking
    }

    /// Returns the limits that all transfers of this daemon share.
    #[must_use]
    pub fn limits(&self) -> &Arc<Limits> {
        &self.context.limits
    }
}
