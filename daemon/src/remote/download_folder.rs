//! A folder from the service to this disk, with everything below it.

use crate::failure::{CommandResult, Failure};
use crate::output::progress::Bars;
use crate::remote::Remote;
use crate::remote::download::{not_placed_error, set_executable};
use crate::remote::upload::FailedFile;
use crate::remote::verification;
use cairn_model::{Name, NodeId, Verification};
use cairn_platform::{Disk as _, RealDisk, names};
use cairn_space::{DownloadPlan, FolderDownload, LocalFolder, PlanError};
use serde::Serialize;
use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

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

impl Remote {
    /// Downloads a folder with everything below it into a directory, which is made if need be.
    /// One file that fails doesn't stop the others.
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
        plan.make_folders(&WholeDisk)
            .map_err(|error| not_placed_error(error, &to.display().to_string()))?;
        let rejected = plan.rejected.into_iter().map(|name| FailedFile {
            path: name.path.display().to_string(),
            message: name.reason,
        });
        let mut failed: Vec<FailedFile> = rejected.collect();
        let download = FolderDownload {
            to,
            files: plan.files,
            local: Arc::new(WholeDisk),
            may_replace: true,
            progress: bars,
        };
        let done = self.space.download_folder(download).await?;
        for file in done.failed {
            let failure = not_placed_error(file.reason, &file.name);
            failed.push(FailedFile {
                path: file.path.display().to_string(),
                message: failure.message,
            });
        }
        failed.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(DownloadedFolder {
            downloaded: done.files,
            skipped: plan.skipped,
            bytes: done.bytes,
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
