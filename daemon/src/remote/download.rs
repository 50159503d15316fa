//! One file from the service to this disk: verified first, then put in place in one step.

use crate::failure::{CommandResult, Context as _, Exit, Failure};
use crate::output::progress::Bars;
use crate::remote::Remote;
use cairn_model::{Kind, Manifest, RevisionId};
use cairn_platform::{Disk as _, RealDisk};
use cairn_transfer::{Download, FileTarget, MemoryTarget, temp_in};
use cairn_wire::nodes::Node;
use std::fs::FileTimes;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};
use tempfile::NamedTempFile;

impl Remote {
    /// Returns the facts needed to fetch a file's content, now or as it was in a revision.
    pub(crate) async fn content(
        &self,
        node: &Node,
        revision: Option<RevisionId>,
    ) -> CommandResult<Download> {
        if node.kind == Kind::Folder {
            return Err(Failure::usage(format!(
                "{} is a folder: use `cairn download-folder`",
                node.name
            )));
        }
        self.space
            .content(node, revision)
            .await?
            .ok_or_else(|| match revision {
                Some(revision) => Failure::usage(format!(
                    "{} has no revision {revision}: see `cairn versions`",
                    node.name
                )),
                None => Failure::failed("the server has a file without content there"),
            })
    }

    /// Reads one revision of a file into memory: for files whose size was looked at.
    pub(crate) async fn read(
        &self,
        node: &Node,
        revision: Option<RevisionId>,
    ) -> CommandResult<Vec<u8>> {
        let content = self.content(node, revision).await?;
        let target = Arc::new(MemoryTarget::default());
        self.transfer
            .download(content, target.clone(), &())
            .await
            .context(format_args!("download {}", node.name))?;
        Ok(target.take())
    }

    /// Downloads one revision to a path, which it replaces only if it may.
    pub(crate) async fn download_file(
        &self,
        name: &str,
        size: u64,
        content: Download,
        to: &Path,
        replace: bool,
        bars: &Bars,
    ) -> CommandResult<Manifest> {
        let what = to.display();
        if !replace && to.symlink_metadata().is_ok() {
            let message = format!(
                "{what} exists already: choose another place with --out, or replace it with --force"
            );
            return Err(Failure::new(Exit::Decision, message));
        }
        let temp = beside(to)?;
        let file = temp
            .as_file()
            .try_clone()
            .context(format_args!("write {what}"))?;
        let target = Arc::new(FileTarget::new(file));
        let bar = bars.file(name, size);
        let manifest = self
            .transfer
            .download(content, target, &bar)
            .await
            .context(format_args!("download {name}"))?;
        let put = || -> std::io::Result<()> {
            set_metadata(&temp, &manifest)?;
            temp.as_file().sync_all()?;
            if replace {
                temp.persist(to)?;
            } else {
                temp.persist_noclobber(to)?;
            }
            Ok(())
        };
        put().context(format_args!("put {what} in place"))?;
        Ok(manifest)
    }
}

/// A new file beside a final place, so that putting it there is one rename; with the permissions that
/// the user gives to new files.
pub(super) fn beside(to: &Path) -> CommandResult<NamedTempFile> {
    let dir = to
        .parent()
        .filter(|dir| !dir.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    temp_in(dir).context(format_args!("write to {}", dir.display()))
}

/// Gives a file the time and the permission that its manifest tells.
pub(super) fn set_metadata(temp: &NamedTempFile, manifest: &Manifest) -> io::Result<()> {
    let modified =
        UNIX_EPOCH + Duration::from_millis(u64::try_from(manifest.modified_ms).unwrap_or(0));
    temp.as_file()
        .set_times(FileTimes::new().set_modified(modified))?;
    RealDisk::new().set_executable(temp.path(), manifest.executable)?;
    Ok(())
}
