//! Downloads one file from the service to this disk: verified first, then put in place in one step.

use crate::failure::{CommandResult, Context as _, Exit, Failure};
use crate::output::progress::Bars;
use crate::remote::Remote;
use cairn_model::{Kind, Manifest, RevisionId};
use cairn_platform::{Disk as _, RealDisk};
use cairn_space::{DownloadTarget, DownloadTargetError, Replace};
use cairn_transfer::{Download, MemoryTarget};
use cairn_wire::nodes::Node;
use std::io;
use std::path::Path;
use std::sync::Arc;

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
                None => {
                    Failure::failed(DownloadTargetError::NoContent(node.name.clone()).to_string())
                }
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
        let bar = bars.file(name, size);
        self.space
            .download_to(content, place(to, replace), &bar)
            .await
            .map_err(|error| not_placed_error(error, name))
    }
}

/// The place of a download.
fn place(to: &Path, may_replace: bool) -> DownloadTarget<'_> {
    DownloadTarget {
        to,
        replace: Replace::all(may_replace),
        set_executable: &set_executable,
    }
}

pub(super) fn set_executable(path: &Path, executable: bool) -> io::Result<()> {
    RealDisk::new().set_executable(path, executable).map(drop)
}

/// Reports why a file of the service is not in its place.
pub(super) fn not_placed_error(error: DownloadTargetError, name: &str) -> Failure {
    match error {
        DownloadTargetError::Exists(to) => Failure::new(
            Exit::Decision,
            format!(
                "{} exists already: choose another place with --out, or replace it with --force",
                to.display()
            ),
        ),
        DownloadTargetError::NoFile(_) | DownloadTargetError::Changed(_) => {
            Failure::usage(error.to_string())
        }
        DownloadTargetError::NoContent(_) => Failure::failed(error.to_string()),
        DownloadTargetError::Folder { dir, source } => {
            Failure::from(source).during(format_args!("write to {}", dir.display()))
        }
        DownloadTargetError::File { to, source } => {
            Failure::from(source).during(format_args!("write {}", to.display()))
        }
        DownloadTargetError::Transfer(error) => {
            Failure::from(error).during(format_args!("download {name}"))
        }
    }
}
