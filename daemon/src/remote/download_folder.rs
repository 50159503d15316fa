//! A folder from the service to this disk, with everything below it.

use crate::failure::{CommandResult, Context as _, Exit, Failure};
use crate::output::progress::Bars;
use crate::output::text::count;
use crate::remote::download::{not_placed, place};
use crate::remote::upload::FailedFile;
use crate::remote::verification;
use crate::remote::{GROUP_BYTES, GROUP_FILES, Remote};
use cairn_model::{Manifest, Name, NodeId, Verification};
use cairn_platform::{Disk as _, RealDisk, names};
use cairn_space::{DownloadPlan, PlaceError, PlanError, PlannedFile, SMALL, StagedFile};
use cairn_transfer::TransferError;
use futures_util::StreamExt as _;
use serde::Serialize;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

/// The number of concurrent downloads of larger files.
const AT_ONCE: usize = 5;

/// The result for a folder.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub(crate) struct DownloadedFolder {
    pub(crate) downloaded: u64,
    /// There already, with the same content.
    pub(crate) skipped: u64,
    pub(crate) bytes: u64,
    /// Paths on the service that no device with the keys has put there.
    pub(crate) unverified: Vec<String>,
    pub(crate) failed: Vec<FailedFile>,
}

impl DownloadedFolder {
    /// Notes what became of a file: its bytes, or why it is not there.
    ///
    /// # Errors
    /// A failure that does not concern this file alone: nobody is logged in, the server is away.
    fn note(&mut self, path: &Path, outcome: CommandResult<u64>) -> CommandResult {
        match outcome {
            Ok(bytes) => {
                self.downloaded += 1;
                self.bytes += bytes;
            }
            Err(failure) if failure.exit == Exit::Failed => self.failed.push(FailedFile {
                path: path.display().to_string(),
                message: failure.message,
            }),
            Err(failure) => return Err(failure),
        }
        Ok(())
    }
}

type Fetched = (PlannedFile, Result<(Manifest, Vec<u8>), TransferError>);

/// Writes all files beside their places, waits once until they lie on the disk, and renames them.
fn put_all(fetched: Vec<Fetched>, top: &Path) -> Vec<(PathBuf, CommandResult<u64>)> {
    let mut written: Vec<(PathBuf, u64, CommandResult<StagedFile>)> = Vec::new();
    for (wanted, content) in fetched {
        let (name, to) = (wanted.node.name, wanted.to);
        let staged = content
            .map_err(PlaceError::from)
            .and_then(|(manifest, bytes)| place(&to, true).stage(&bytes, &manifest))
            .map_err(|error| not_placed(error, &name));
        written.push((to, wanted.node.size, staged));
    }
    let synced = RealDisk::new().sync_all(top);
    let put = written.into_iter().map(|(to, size, staged)| {
        let put = || -> CommandResult<u64> {
            let staged = staged?;
            if let Err(error) = &synced {
                let error = io::Error::new(error.kind(), error.to_string());
                return Err(error).context(format_args!("write {}", to.display()));
            }
            let put = staged.put();
            put.map_err(|error| not_placed(error, &to.display().to_string()))?;
            Ok(size)
        };
        let outcome = put();
        (to, outcome)
    });
    put.collect()
}

impl Remote {
    /// Downloads a folder with everything below it into a directory, which is made if need be.
    /// One file that fails doesn't hold up the others.
    pub(crate) async fn download_folder(
        &self,
        folder: Option<NodeId>,
        to: &Path,
        limit: u64,
        mode: Verification,
        bars: &Bars,
    ) -> CommandResult<DownloadedFolder> {
        let plan = self.plan_folder(folder, to, limit).await?;
        verification::check_in(mode, &plan.unverified)?;
        for dir in &plan.folders {
            std::fs::create_dir_all(dir).context(format_args!("make {}", dir.display()))?;
        }
        let failed = plan.rejected.into_iter().map(|name| FailedFile {
            path: name.path.display().to_string(),
            message: name.reason,
        });
        let mut done = DownloadedFolder {
            skipped: plan.skipped,
            unverified: plan.unverified,
            failed: failed.collect(),
            ..DownloadedFolder::default()
        };
        let (small, large): (Vec<PlannedFile>, Vec<PlannedFile>) = plan
            .files
            .into_iter()
            .partition(|wanted| wanted.node.size <= SMALL);
        let mut small = small.into_iter().peekable();
        while small.peek().is_some() {
            let mut room = GROUP_BYTES;
            let group = std::iter::from_fn(|| {
                let next = small.next_if(|next| next.node.size <= room)?;
                room -= next.node.size;
                Some(next)
            });
            let group: Vec<PlannedFile> = group.take(GROUP_FILES).collect();
            self.fetch_small(group, to, bars, &mut done).await?;
        }
        let transfers = large.into_iter().map(|wanted| async move {
            let node = &wanted.node;
            let fetch = async {
                let content = self.content(node, None).await?;
                self.download_file(&node.name, node.size, content, &wanted.to, true, bars)
                    .await
            };
            (fetch.await, wanted.to)
        });
        let mut transfers = futures_util::stream::iter(transfers).buffer_unordered(AT_ONCE);
        while let Some((result, path)) = transfers.next().await {
            done.note(&path, result.map(|manifest| manifest.size))?;
        }
        done.failed.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(done)
    }

    /// Fetches small files in few requests, and puts them in place once all of them lie on the disk.
    async fn fetch_small(
        &self,
        group: Vec<PlannedFile>,
        top: &Path,
        bars: &Bars,
        done: &mut DownloadedFolder,
    ) -> CommandResult {
        let mut files = Vec::new();
        for wanted in group {
            match self.content(&wanted.node, None).await {
                Ok(content) => files.push((wanted, content)),
                Err(failure) => done.note(&wanted.to, Err(failure))?,
            }
        }
        let total = files.iter().map(|(wanted, _)| wanted.node.size).sum();
        let bar = bars.file(&count(files.len() as u64, "small file"), total);
        let fetched = self.transfer.download_batch(files, total, &bar).await;
        let top = top.to_owned();
        let put = tokio::task::spawn_blocking(move || put_all(fetched, &top)).await;
        for (path, outcome) in put.map_err(|e| Failure::failed(e.to_string()))? {
            done.note(&path, outcome)?;
        }
        Ok(())
    }

    /// Plans the download, with names that this system can have.
    async fn plan_folder(
        &self,
        folder: Option<NodeId>,
        to: &Path,
        limit: u64,
    ) -> CommandResult<DownloadPlan> {
        let local_path = |dir: &Path, name: &str, _: &mut HashSet<String>| {
            let name = Name::new(name).map_err(|e| e.to_string())?;
            names::acceptable(&name).map_err(|e| e.to_string())?;
            Ok(dir.join(name.as_str()))
        };
        let plan = self
            .space
            .plan_download(folder, to, limit, &local_path)
            .await;
        plan.map_err(|error| match error {
            PlanError::Transfer(error) => error.into(),
            PlanError::TooLarge { limit } => Failure::failed(format!(
                "the folder has more than {}: raise --limit, or use `cairn add` to keep it in sync",
                crate::output::text::size(limit)
            )),
        })
    }
}
