//! Files and folders from the service to this disk: verified first, then put in place in one step.

use crate::failure::{Doing as _, Exit, Failure, Outcome};
use crate::output::progress::Bars;
use crate::remote::Remote;
use crate::remote::upload::FailedFile;
use cairn_model::{Kind, Manifest, Name, NodeId, RevisionId};
use cairn_platform::{Disk as _, RealDisk};
use cairn_transfer::{Download, FileTarget};
use cairn_wire::nodes::Node;
use futures_util::StreamExt as _;
use serde::Serialize;
use std::collections::HashSet;
use std::fs::{File, FileTimes};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

/// Files on their way at once.
const AT_ONCE: usize = 5;

/// What became of a folder.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub(crate) struct DownloadedFolder {
    pub(crate) downloaded: u64,
    /// There already, with the same size.
    pub(crate) skipped: u64,
    pub(crate) bytes: u64,
    pub(crate) failed: Vec<FailedFile>,
}

/// A file to download, and where it goes.
struct Wanted {
    node: Node,
    to: PathBuf,
}

impl Remote {
    /// What is needed to fetch a file's content, now or as it was in a revision.
    pub(crate) async fn content(
        &self,
        node: &Node,
        revision: Option<RevisionId>,
    ) -> Outcome<Download> {
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

    /// Downloads one revision to a path, which it replaces only if it may.
    pub(crate) async fn download_file(
        &self,
        name: &str,
        size: u64,
        content: Download,
        to: &Path,
        replace: bool,
        bars: &Bars,
    ) -> Outcome<Manifest> {
        let what = to.display();
        if !replace && to.symlink_metadata().is_ok() {
            let message = format!(
                "{what} exists already: choose another place with --out, or replace it with --force"
            );
            return Err(Failure::new(Exit::Decision, message));
        }
        let dir = to
            .parent()
            .filter(|dir| !dir.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        // Beside its final place, so that putting it there is one rename; with the permissions that the
        // user gives to new files.
        let open = |path: &Path| {
            File::options()
                .create_new(true)
                .read(true)
                .write(true)
                .open(path)
        };
        let temp = tempfile::Builder::new()
            .prefix(".cairn-")
            .make_in(dir, open)
            .doing(format_args!("write to {}", dir.display()))?;
        let file = temp
            .as_file()
            .try_clone()
            .doing(format_args!("write {what}"))?;
        let target = Arc::new(FileTarget::new(file));
        let bar = bars.file(name, size);
        let manifest = self
            .transfer
            .download(content, target, &bar)
            .await
            .doing(format_args!("download {name}"))?;
        let put = || -> std::io::Result<()> {
            let modified = UNIX_EPOCH
                + Duration::from_millis(u64::try_from(manifest.modified_ms).unwrap_or(0));
            temp.as_file()
                .set_times(FileTimes::new().set_modified(modified))?;
            RealDisk::new().set_executable(temp.path(), manifest.executable)?;
            temp.as_file().sync_all()?;
            if replace {
                temp.persist(to)?;
            } else {
                temp.persist_noclobber(to)?;
            }
            Ok(())
        };
        put().doing(format_args!("put {what} in place"))?;
        Ok(manifest)
    }

    /// Downloads a folder with everything below it into a directory, which is made if need be.
    /// One file that fails doesn't hold up the others.
    pub(crate) async fn download_folder(
        &self,
        folder: Option<NodeId>,
        to: &Path,
        limit: u64,
        bars: &Bars,
    ) -> Outcome<DownloadedFolder> {
        let mut done = DownloadedFolder::default();
        let wanted = self.plan_folder(folder, to, limit, &mut done).await?;
        let transfers = wanted.into_iter().map(|wanted| async move {
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
            match result {
                Ok(manifest) => {
                    done.downloaded += 1;
                    done.bytes += manifest.size;
                }
                Err(failure) if failure.exit == Exit::Failed => {
                    done.failed.push(FailedFile {
                        path: path.display().to_string(),
                        message: failure.message,
                    });
                }
                Err(failure) => return Err(failure),
            }
        }
        done.failed.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(done)
    }

    /// Makes the directories, and tells which files have to come.
    async fn plan_folder(
        &self,
        folder: Option<NodeId>,
        to: &Path,
        limit: u64,
        done: &mut DownloadedFolder,
    ) -> Outcome<Vec<Wanted>> {
        let mut wanted = Vec::new();
        let mut total = 0_u64;
        let mut seen = HashSet::new();
        let mut waiting = vec![(folder, to.to_owned())];
        while let Some((id, dir)) = waiting.pop() {
            if !seen.insert(id) {
                return Err(Failure::failed(
                    "the server's folders contain each other: nothing was downloaded",
                ));
            }
            std::fs::create_dir_all(&dir).doing(format_args!("make {}", dir.display()))?;
            for node in self.children(id).await? {
                let Ok(name) = Name::new(node.name.clone()) else {
                    continue;
                };
                let path = dir.join(name.as_str());
                if let Err(problem) = cairn_platform::names::acceptable(&name) {
                    done.failed.push(FailedFile {
                        path: path.display().to_string(),
                        message: problem.to_string(),
                    });
                    continue;
                }
                match node.kind {
                    Kind::Folder => waiting.push((Some(node.id), path)),
                    Kind::File
                        if path
                            .metadata()
                            .is_ok_and(|meta| meta.is_file() && meta.len() == node.size) =>
                    {
                        done.skipped += 1;
                    }
                    Kind::File => {
                        total = total.saturating_add(node.size);
                        if total > limit {
                            return Err(Failure::failed(format!(
                                "the folder has more than {}: raise --limit, or use `cairn add` to keep it in sync",
                                crate::output::text::size(limit)
                            )));
                        }
                        wanted.push(Wanted { node, to: path });
                    }
                }
            }
        }
        Ok(wanted)
    }
}
