//! Files and folders from this disk to the service.

use crate::failure::{CommandResult, Context as _, Exit, Failure};
use crate::output::Out;
use crate::output::progress::Bars;
use crate::output::text::{clean, count};
use crate::remote::Remote;
use crate::remote::own_files::OwnFiles;
use cairn_api::ApiError;
use cairn_model::{Name, NodeId};
use cairn_platform::{Disk as _, Entry, FileKind, RealDisk, Stat};
use cairn_space::{
    EntryKind, FolderProgress, FolderUpload, LocalEntry, LocalMetadata, LocalTree, Moving,
};
use cairn_transfer::{FileSource, Progress, Source, SourceReader, TransferError};
use cairn_wire::nodes::Node;
use parking_lot::Mutex;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The result for a folder.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub(crate) struct UploadedFolder {
    pub(crate) files: u64,
    pub(crate) folders: u64,
    pub(crate) bytes: u64,
    /// Files whose content was there already.
    pub(crate) unchanged: u64,
    pub(crate) failed: Vec<FailedFile>,
    /// Cairn's own files, which are never uploaded.
    pub(crate) left_out: Vec<LeftOut>,
}

/// An entry that was not transferred on purpose.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct LeftOut {
    pub(crate) path: String,
    pub(crate) message: String,
}

/// A file that could not be transferred.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct FailedFile {
    pub(crate) path: String,
    pub(crate) message: String,
}

impl FailedFile {
    /// Names the files of a list that were not transferred.
    ///
    /// # Errors
    /// The number of them, if there is any; the document for programs has them already.
    pub(crate) fn report(failed: &[Self], out: &Out, done: &str) -> CommandResult {
        if failed.is_empty() {
            return Ok(());
        }
        for file in failed {
            let (path, message) = (clean(&file.path), clean(&file.message));
            out.note(format_args!("{path}: {message}"));
        }
        let number = count(failed.len() as u64, "file");
        let message = format!("{number} could not be {done}: see above");
        Err(Failure::failed(message).mark_reported())
    }
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
    ) -> CommandResult<Node> {
        let bar = bars.file(name.as_str(), stat.size);
        self.space
            .upload(
                Arc::new(FileSource(local.to_owned())),
                facts(stat),
                parent,
                name,
                &bar,
            )
            .await
            .map_err(|error| match error {
                // Not by a change of somebody else: the message says which name is in use.
                TransferError::Api(ApiError::Conflict { message, .. }) => {
                    Failure::new(Exit::Decision, message)
                }
                TransferError::Api(_)
                | TransferError::SourceChanged
                | TransferError::UploadLost
                | TransferError::Refused { .. }
                | TransferError::Sealing(_)
                | TransferError::Source(_)
                | TransferError::Target(_) => error.into(),
            })
            .context(format_args!("upload {}", local.display()))
    }

    /// Uploads a folder with everything below it but Cairn's own files. One file that fails doesn't hold up the others.
    pub(crate) async fn upload_folder(
        &self,
        local: &Path,
        own: OwnFiles,
        (parent, name): (Option<NodeId>, &Name),
        bars: &Bars,
    ) -> CommandResult<UploadedFolder> {
        let tree = Arc::new(WholeDisk {
            own,
            left_out: Mutex::default(),
        });
        let upload = FolderUpload {
            local,
            tree: tree.clone(),
            recursive: true,
            progress: bars,
        };
        let done = self
            .space
            .upload_folder(upload, parent, name)
            .await
            .context(format_args!("upload {}", local.display()))?;
        let failed = done.failed.into_iter().map(|failed| FailedFile {
            message: failed.reason.to_string(),
            path: failed.path.display().to_string(),
        });
        Ok(UploadedFolder {
            files: done.files,
            folders: done.folders,
            bytes: done.bytes,
            unchanged: done.unchanged,
            failed: failed.collect(),
            left_out: tree.left_out(),
        })
    }
}

/// Every regular file that this user can read, but Cairn's own.
struct WholeDisk {
    own: OwnFiles,
    /// The entries that were left out, with the reason.
    left_out: Mutex<BTreeMap<PathBuf, &'static str>>,
}

impl WholeDisk {
    fn left_out(&self) -> Vec<LeftOut> {
        let left_out = self.left_out.lock();
        let left_out = left_out.iter().map(|(path, reason)| LeftOut {
            path: path.display().to_string(),
            message: (*reason).to_owned(),
        });
        left_out.collect()
    }

    fn is_sent(&self, entry: &LocalEntry) -> bool {
        let is_dir = matches!(entry.kind, EntryKind::Folder(_));
        let reason = self.own.reason(&entry.path, is_dir);
        if let Some(reason) = reason {
            self.left_out.lock().insert(entry.path.clone(), reason);
        }
        reason.is_none()
    }
}

impl LocalTree for WholeDisk {
    fn list(&self, dir: &Path) -> io::Result<Vec<LocalEntry>> {
        let entries = RealDisk::new().list(dir)?.into_iter();
        let entries = entries.map(|entry| LocalEntry {
            path: dir.join(&entry.name),
            kind: kind(entry),
        });
        Ok(entries.filter(|entry| self.is_sent(entry)).collect())
    }

    fn source(&self, path: &Path) -> Arc<dyn Source> {
        Arc::new(RegularFile(path.to_owned()))
    }
}

fn kind(entry: Entry) -> EntryKind {
    let name = entry.name.to_str().and_then(|text| Name::new(text).ok());
    match (name, entry.stat) {
        (Some(name), Ok(stat)) => match stat.kind {
            FileKind::Dir => EntryKind::Folder(name),
            FileKind::File => EntryKind::File(name, facts(&stat)),
            FileKind::Symlink | FileKind::Other => {
                EntryKind::Rejected("it is not a regular file and was left out".to_owned())
            }
        },
        (None, _) => EntryKind::Rejected("its name is not UTF-8 or not allowed".to_owned()),
        (_, Err(error)) => EntryKind::Rejected(format!("it can't be read: {error}")),
    }
}

/// A file that is opened without following a symbolic link that took its place.
struct RegularFile(PathBuf);

impl Source for RegularFile {
    fn open(&self) -> io::Result<Box<dyn SourceReader>> {
        Ok(Box::new(RealDisk::new().open(&self.0)?))
    }
}

impl FolderProgress for Bars {
    fn begin(&self, what: Moving<'_>, bytes: u64) -> Box<dyn Progress> {
        Box::new(match what {
            Moving::File(name) => self.file(name, bytes),
            Moving::SmallFiles(files) => self.file(&count(files as u64, "small file"), bytes),
        })
    }
}

fn facts(stat: &Stat) -> LocalMetadata {
    LocalMetadata {
        size: stat.size,
        modified_ms: stat.modified_ms,
        executable: stat.executable,
    }
}
