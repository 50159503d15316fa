//! A folder from the service to this disk, with everything below it.

use crate::failure::{CommandResult, Failure};
use crate::output::progress::Bars;
use crate::remote::Remote;
use crate::remote::download::{not_placed_error, set_executable};
use crate::remote::upload::FailedFile;
use crate::remote::verification;
use cairn_model::{Name, NodeId, Verification};
use cairn_platform::{Disk as _, RealDisk, names};
use cairn_space::{
    DownloadPlan, DownloadTargetError, FolderDownload, LocalFolder, PlanError, RejectedName,
    Replace,
};
use serde::Serialize;
use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The way in which a folder is downloaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FolderOptions {
    /// Bytes at most.
    pub(crate) limit: u64,
    pub(crate) verify: Verification,
    /// True if files that differ are replaced; else they stay.
    pub(crate) force: bool,
    /// True if nothing is written.
    pub(crate) dry_run: bool,
}

/// The result for a folder. Of a dry run: what would be done.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub(crate) struct DownloadedFolder {
    pub(crate) downloaded: u64,
    /// There already, with the same content.
    pub(crate) skipped: u64,
    pub(crate) bytes: u64,
    /// Files of this machine that have other content than those of the service, and were not replaced.
    pub(crate) differing: Vec<String>,
    /// Such files that were replaced.
    pub(crate) replaced: u64,
    pub(crate) dry_run: bool,
    /// Paths on the service that no device with the keys has put there.
    pub(crate) unverified: Vec<String>,
    pub(crate) failed: Vec<FailedFile>,
}

impl Remote {
    /// Downloads a folder with everything below it into a directory, which is made if need be.
    /// One file that fails doesn't stop the others. A file that is there with other content may be the only copy
    /// of somebody's work: without `force` it stays.
    pub(crate) async fn download_folder(
        &self,
        folder: Option<NodeId>,
        to: &Path,
        options: FolderOptions,
        bars: &Bars,
    ) -> CommandResult<DownloadedFolder> {
        let mut plan = self.plan_folder(folder, to, options.limit).await?;
        verification::check_in(options.verify, &plan.unverified)?;
        let taken = plan.files.iter().filter(|file| is_taken(&file.to));
        let taken: Vec<_> = taken.map(|file| file.to.clone()).collect();
        let (mut differing, mut replaced) = (Vec::new(), 0);
        if options.force {
            replaced = taken.len() as u64;
        } else {
            plan.files.retain(|file| !is_taken(&file.to));
            differing.extend(taken.iter().map(|path| path.display().to_string()));
        }
        if options.dry_run {
            differing.sort();
            return Ok(result_of_plan(plan, differing, replaced));
        }
        plan.make_folders(&WholeDisk)
            .map_err(|error| not_placed_error(error, &to.display().to_string()))?;
        let mut failed = failures_of(plan.rejected);
        let download = FolderDownload {
            to,
            files: plan.files,
            local: Arc::new(WholeDisk),
            replace: Replace::all(options.force),
            progress: bars,
        };
        let done = self.space.download_folder(download).await?;
        for file in done.failed {
            // It came there meanwhile.
            if let DownloadTargetError::Exists(to) = &file.reason {
                differing.push(to.display().to_string());
                continue;
            }
            let failure = not_placed_error(file.reason, &file.name);
            failed.push(FailedFile {
                path: file.path.display().to_string(),
                message: failure.message,
            });
        }
        failed.sort_by(|a, b| a.path.cmp(&b.path));
        differing.sort();
        Ok(DownloadedFolder {
            downloaded: done.files,
            skipped: plan.skipped,
            bytes: done.bytes,
            differing,
            replaced,
            dry_run: false,
            unverified: plan.unverified,
            failed,
        })
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
            names::check_name(&name).map_err(|e| e.to_string())?;
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

/// Returns what a download would do.
fn result_of_plan(plan: DownloadPlan, differing: Vec<String>, replaced: u64) -> DownloadedFolder {
    DownloadedFolder {
        downloaded: plan.files.len() as u64,
        skipped: plan.skipped,
        bytes: plan.files.iter().map(|file| file.node.size).sum(),
        differing,
        replaced,
        dry_run: true,
        unverified: plan.unverified,
        failed: failures_of(plan.rejected),
    }
}

fn failures_of(rejected: Vec<RejectedName>) -> Vec<FailedFile> {
    let failures = rejected.into_iter().map(|name| FailedFile {
        path: name.path.display().to_string(),
        message: name.reason,
    });
    failures.collect()
}

fn is_taken(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Every directory that this user can write to.
struct WholeDisk;

impl LocalFolder for WholeDisk {
    fn set_executable(&self, path: &Path, executable: bool) -> io::Result<()> {
        set_executable(path, executable)
    }

    fn sync_all(&self, dir: &Path) -> io::Result<()> {
        RealDisk::new().sync_all(dir)
    }
}
