//! Download of a planned folder. Small files are fetched in batches and get their names once the whole batch is
//! on the disk, and one file that fails doesn't stop the others.

use crate::Space;
use crate::download_plan::{DownloadPlan, PlannedFile};
use crate::folder_progress::{FolderProgress, GROUP_BYTES, GROUP_FILES, Moving, SMALL};
use crate::local_place::{DownloadTarget, DownloadTargetError, SetExecutable, StagedFile};
use crate::replace::Replace;
use cairn_api::ApiError;
use cairn_model::Manifest;
use cairn_transfer::TransferError;
use cairn_wire::nodes::Node;
use futures_util::StreamExt as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Larger files that are downloaded at once.
const AT_ONCE: usize = 5;

/// The operations on the disk that a download is written to.
pub trait LocalFolder: Send + Sync {
    /// Checks a directory right before something is written into it: the path to it may lead elsewhere since it
    /// was planned.
    ///
    /// # Errors
    /// The reason why nothing may be written there.
    fn check(&self, _dir: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Sets or clears the owner's permission to execute a file.
    ///
    /// # Errors
    /// The error of the file system.
    fn set_executable(&self, path: &Path, executable: bool) -> io::Result<()>;

    /// Waits until everything written to the file system of a directory is on the disk.
    ///
    /// # Errors
    /// The error of the file system.
    fn sync_all(&self, dir: &Path) -> io::Result<()>;
}

/// A planned folder to download.
pub struct FolderDownload<'a> {
    /// The directory that everything of the plan lies in.
    pub to: &'a Path,
    pub files: Vec<PlannedFile>,
    pub local: Arc<dyn LocalFolder>,
    /// The files that are replaced if they are there.
    pub replace: Replace,
    pub progress: &'a dyn FolderProgress,
}

impl FolderDownload<'_> {
    fn target_of<'a>(
        &self,
        file: &'a PlannedFile,
        set_executable: &'a SetExecutable<'a>,
    ) -> DownloadTarget<'a> {
        DownloadTarget {
            to: &file.to,
            replace: self.replace.clone(),
            set_executable,
        }
    }
}

/// The result of a folder's download.
#[derive(Debug, Default)]
pub struct DownloadedFolder {
    pub files: u64,
    pub bytes: u64,
    /// The failures, by path.
    pub failed: Vec<FailedDownload>,
}

/// A file that was not downloaded.
#[derive(Debug)]
pub struct FailedDownload {
    pub path: PathBuf,
    pub name: String,
    pub reason: DownloadTargetError,
}

type Fetched = (PlannedFile, Result<(Manifest, Vec<u8>), TransferError>);
type Outcome = Result<u64, DownloadTargetError>;

impl DownloadedFolder {
    /// Counts a file, or records why it is not there.
    ///
    /// # Errors
    /// An error that does not concern this file alone: nobody is logged in, the server can't be reached.
    fn record(&mut self, file: PlannedFile, outcome: Outcome) -> Result<(), TransferError> {
        match outcome {
            Ok(bytes) => {
                self.files += 1;
                self.bytes += bytes;
            }
            Err(DownloadTargetError::Transfer(
                error @ TransferError::Api(ApiError::Unauthorized | ApiError::Offline(_)),
            )) => return Err(error),
            Err(reason) => self.failed.push(FailedDownload {
                path: file.to,
                name: file.node.name,
                reason,
            }),
        }
        Ok(())
    }
}

impl DownloadPlan {
    /// Makes the plan's directories, each checked after it was made.
    ///
    /// # Errors
    /// The directory that can't be made, and the reason.
    pub fn make_folders(&self, local: &dyn LocalFolder) -> Result<(), DownloadTargetError> {
        for dir in &self.folders {
            std::fs::create_dir_all(dir)
                .and_then(|()| local.check(dir))
                .map_err(|source| DownloadTargetError::Folder {
                    dir: dir.clone(),
                    source,
                })?;
        }
        Ok(())
    }
}

impl Space {
    /// Downloads the files of a plan, whose directories were made.
    ///
    /// # Errors
    /// [`TransferError`] if nobody is logged in or the server can't be reached; what concerns single files is in
    /// the report. Files that arrived before stay.
    pub async fn download_folder(
        &self,
        mut download: FolderDownload<'_>,
    ) -> Result<DownloadedFolder, TransferError> {
        let mut done = DownloadedFolder::default();
        let files = std::mem::take(&mut download.files);
        let (small, large): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|file| file.node.size <= SMALL);
        for group in groups(small) {
            self.fetch_small(&download, group, &mut done).await?;
        }
        let transfers = large.into_iter().map(|file| async {
            let outcome = self.fetch_large(&download, &file).await;
            (file, outcome)
        });
        let mut transfers = futures_util::stream::iter(transfers).buffer_unordered(AT_ONCE);
        while let Some((file, outcome)) = transfers.next().await {
            done.record(file, outcome)?;
        }
        drop(transfers);
        done.failed.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(done)
    }

    async fn fetch_large(&self, download: &FolderDownload<'_>, file: &PlannedFile) -> Outcome {
        let content = self.content(&file.node, None).await?;
        let content = content.ok_or_else(|| no_content(&file.node))?;
        let local = &download.local;
        check_above(local.as_ref(), &file.to)?;
        let what = Moving::File(&file.node.name);
        let progress = download.progress.begin(what, file.node.size);
        let set_executable = |path: &Path, executable| local.set_executable(path, executable);
        let place = download.target_of(file, &set_executable);
        let manifest = self.download_to(content, place, progress.as_ref()).await?;
        Ok(manifest.size)
    }

    /// Fetches small files in few requests, and puts them in place once all of them lie on the disk.
    async fn fetch_small(
        &self,
        download: &FolderDownload<'_>,
        group: Vec<PlannedFile>,
        done: &mut DownloadedFolder,
    ) -> Result<(), TransferError> {
        let mut files = Vec::new();
        for file in group {
            let target = download.target_of(&file, &|_, _| Ok(()));
            if let Err(reason) = target.check() {
                done.record(file, Err(reason))?;
                continue;
            }
            match self.content(&file.node, None).await {
                Ok(Some(content)) => files.push((file, content)),
                Ok(None) => {
                    let outcome = Err(no_content(&file.node));
                    done.record(file, outcome)?;
                }
                Err(error) => done.record(file, Err(error.into()))?,
            }
        }
        let bytes = files.iter().map(|(file, _)| file.node.size).sum();
        let what = Moving::SmallFiles(files.len());
        let progress = download.progress.begin(what, bytes);
        let fetched = self
            .transfer
            .download_batch(files, bytes, progress.as_ref())
            .await;
        let (to, local) = (download.to.to_owned(), download.local.clone());
        let replace = download.replace.clone();
        let put = move || put_all(fetched, &to, local.as_ref(), &replace);
        for (file, outcome) in self.transfer.blocking().run(put).await {
            done.record(file, outcome)?;
        }
        Ok(())
    }
}

/// Splits small files into groups that fit into memory.
fn groups(files: Vec<PlannedFile>) -> Vec<Vec<PlannedFile>> {
    let mut groups: Vec<Vec<PlannedFile>> = Vec::new();
    let mut room = 0;
    for file in files {
        match groups.last_mut() {
            Some(group) if group.len() < GROUP_FILES && file.node.size <= room => {
                room -= file.node.size;
                group.push(file);
            }
            _ => {
                room = GROUP_BYTES - file.node.size;
                groups.push(vec![file]);
            }
        }
    }
    groups
}

/// Writes all files beside their places, waits once until they lie on the disk, and renames them.
fn put_all(
    fetched: Vec<Fetched>,
    top: &Path,
    local: &dyn LocalFolder,
    replace: &Replace,
) -> Vec<(PlannedFile, Outcome)> {
    let set_executable = |path: &Path, executable| local.set_executable(path, executable);
    let stage = |(file, content): Fetched| {
        let staged = content
            .map_err(DownloadTargetError::from)
            .and_then(|content| {
                let (manifest, bytes) = content;
                check_above(local, &file.to)?;
                let place = DownloadTarget {
                    to: &file.to,
                    replace: replace.clone(),
                    set_executable: &set_executable,
                };
                Ok((place.stage(&bytes, &manifest)?, manifest.size))
            });
        (file, staged)
    };
    let staged: Vec<_> = fetched.into_iter().map(stage).collect();
    let synced = local.sync_all(top);
    let put = |staged: Result<(StagedFile, u64), DownloadTargetError>, to: &Path| {
        let (staged, bytes) = staged?;
        if let Err(error) = &synced {
            let source = io::Error::new(error.kind(), error.to_string());
            let to = to.to_owned();
            return Err(DownloadTargetError::File { to, source });
        }
        check_above(local, to)?;
        staged.put()?;
        Ok(bytes)
    };
    let put = staged.into_iter().map(|(file, staged)| {
        let outcome = put(staged, &file.to);
        (file, outcome)
    });
    put.collect()
}

fn check_above(local: &dyn LocalFolder, to: &Path) -> Result<(), DownloadTargetError> {
    let dir = to.parent().unwrap_or(Path::new("/"));
    local
        .check(dir)
        .map_err(|source| DownloadTargetError::Folder {
            dir: dir.to_owned(),
            source,
        })
}

fn no_content(node: &Node) -> DownloadTargetError {
    DownloadTargetError::NoContent(node.name.clone())
}
