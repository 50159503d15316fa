//! Files and folders from this disk to the service.

use crate::failure::{Doing as _, Exit, Failure, Outcome};
use crate::output::progress::Bars;
use crate::remote::Remote;
use cairn_model::{Kind, Name, NodeId};
use cairn_platform::{Disk as _, FileKind, RealDisk, Stat};
use cairn_transfer::{FileSource, LocalFacts};
use cairn_wire::nodes::Node;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// What became of a folder.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub(crate) struct UploadedFolder {
    pub(crate) files: u64,
    pub(crate) folders: u64,
    pub(crate) bytes: u64,
    pub(crate) failed: Vec<FailedFile>,
}

/// A file that could not be transferred.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct FailedFile {
    pub(crate) path: String,
    pub(crate) message: String,
}

impl Remote {
    /// Uploads one file into a folder under a name; a file that has the name gets a new revision.
    pub(crate) async fn upload_file(
        &self,
        local: &Path,
        stat: &Stat,
        parent: Option<NodeId>,
        name: &Name,
        bars: &Bars,
    ) -> Outcome<Node> {
        let facts = LocalFacts {
            size: stat.size,
            modified_ms: stat.modified_ms(),
            executable: stat.executable,
        };
        let bar = bars.file(name.as_str(), stat.size);
        self.space
            .upload(
                Arc::new(FileSource(local.to_owned())),
                facts,
                parent,
                name,
                &bar,
            )
            .await
            .doing(format_args!("upload {}", local.display()))
    }

    /// Uploads a folder with everything below it. One file that fails doesn't hold up the others.
    pub(crate) async fn upload_folder(
        &self,
        local: &Path,
        parent: Option<NodeId>,
        name: &Name,
        bars: &Bars,
    ) -> Outcome<UploadedFolder> {
        let mut done = UploadedFolder::default();
        let top = self.folder_for(parent, name, &mut done).await?;
        let mut waiting = vec![(local.to_owned(), top)];
        while let Some((dir, node)) = waiting.pop() {
            for entry in RealDisk::new()
                .list(&dir)
                .doing(format_args!("read {}", dir.display()))?
            {
                let path = dir.join(&entry.name);
                let failed = |message: String| FailedFile {
                    path: path.display().to_string(),
                    message,
                };
                let name = entry.name.to_str().and_then(|text| Name::new(text).ok());
                let (Some(name), Ok(stat)) = (name, &entry.stat) else {
                    done.failed.push(failed(
                        "its name is no UTF-8, or it can't be read".to_owned(),
                    ));
                    continue;
                };
                match stat.kind {
                    FileKind::Dir => {
                        let below = self.folder_for(Some(node), &name, &mut done).await?;
                        waiting.push((path, below));
                    }
                    FileKind::File => {
                        match self.upload_file(&path, stat, Some(node), &name, bars).await {
                            Ok(_) => {
                                done.files += 1;
                                done.bytes += stat.size;
                            }
                            Err(failure) if failure.exit == Exit::Failed => {
                                done.failed.push(failed(failure.message))
                            }
                            Err(failure) => return Err(failure),
                        }
                    }
                    FileKind::Symlink | FileKind::Other => {
                        done.failed
                            .push(failed("it is no regular file: it was left out".to_owned()));
                    }
                }
            }
        }
        Ok(done)
    }

    async fn folder_for(
        &self,
        parent: Option<NodeId>,
        name: &Name,
        done: &mut UploadedFolder,
    ) -> Outcome<NodeId> {
        if let Some(node) = self.child(parent, name.as_str()).await? {
            if node.kind == Kind::Folder {
                return Ok(node.id);
            }
            let message = format!(
                "there is a file {name} on the service where a folder has to go: rename one of them"
            );
            return Err(Failure::new(Exit::Decision, message));
        }
        let node = self.make_folder(parent, name).await?;
        done.folders += 1;
        Ok(node.id)
    }
}
