//! Upload of a local folder with everything below it. Folders are made where they are missing, small files
//! are sent in batches, and one file that fails doesn't hold up the others.

mod report;
mod tree;

pub use report::{FailedUpload, NotUploaded, UploadedFolder};
pub use tree::{EntryKind, LocalEntry, LocalTree};

use crate::folder_progress::{FolderProgress, GROUP_BYTES, GROUP_FILES, Moving, SMALL};
use crate::space::SmallFile;
use crate::{LocalMetadata, Space};
use cairn_model::{Name, NameKey, NodeId};
use cairn_transfer::TransferError;
use cairn_wire::nodes::Node;
use futures_util::StreamExt as _;
use std::collections::{HashMap, HashSet};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Larger files that are uploaded at once.
const AT_ONCE: usize = 3;

/// A local folder to upload.
pub struct FolderUpload<'a> {
    pub local: &'a Path,
    pub tree: Arc<dyn LocalTree>,
    /// False to leave out the folders below it.
    pub recursive: bool,
    pub progress: &'a dyn FolderProgress,
}

/// A folder on both sides.
struct Folder {
    local: PathBuf,
    node: NodeId,
    /// Made just now: nothing is in it.
    is_new: bool,
}

/// The folders below a local one, before anything is made on the service.
#[derive(Default)]
struct LocalFolders {
    found: HashSet<PathBuf>,
    /// Errors of the folders that could not be listed.
    unlisted: HashMap<PathBuf, io::Error>,
}

/// A file that is to be uploaded.
struct Found {
    path: PathBuf,
    facts: LocalMetadata,
    parent: NodeId,
    name: Name,
    present: Option<Node>,
}

/// Small files, collected until they fill a few requests.
#[derive(Default)]
struct Group {
    files: Vec<Found>,
    bytes: u64,
}

impl Space {
    /// Uploads a folder with everything below it into a folder (`None`: the top) under a name.
    ///
    /// # Errors
    /// [`TransferError`] if the folder itself can't be made, if nobody is logged in, or the server can't be
    /// reached; what concerns single files is in the report.
    pub async fn upload_folder(
        &self,
        upload: FolderUpload<'_>,
        parent: Option<NodeId>,
        name: &Name,
    ) -> Result<UploadedFolder, TransferError> {
        let mut known = self.folders_to_upload(&upload).await;
        let top = self.ensure_folder(parent, name).await?;
        let mut report = UploadedFolder::new(top.node.id);
        report.folders += u64::from(top.is_new);
        let mut waiting = vec![Folder {
            local: upload.local.to_owned(),
            node: top.node.id,
            is_new: top.is_new,
        }];
        let mut small = Group::default();
        let mut large = Vec::new();
        while let Some(folder) = waiting.pop() {
            let found = self
                .look_into(&upload, &mut known, folder, &mut waiting, &mut report)
                .await?;
            for file in found {
                upload.progress.expect_bytes(file.facts.size);
                if file.facts.size > SMALL {
                    large.push(file);
                } else if let Some(full) = small.add(file) {
                    self.send_small(&upload, full, &mut report).await?;
                }
            }
        }
        self.send_small(&upload, small.files, &mut report).await?;
        self.send_large(&upload, large, &mut report).await?;
        report.failed.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(report)
    }

    /// Returns the local folders as they are before anything is made on the service: where the local folder is synced
    /// and uploaded into itself, sync brings its copies, which would be copied again.
    async fn folders_to_upload(&self, upload: &FolderUpload<'_>) -> LocalFolders {
        if !upload.recursive {
            return LocalFolders::default();
        }
        let (tree, top) = (upload.tree.clone(), upload.local.to_owned());
        let list = move || folders_below(tree.as_ref(), top);
        self.transfer.blocking().run(list).await
    }

    /// Makes the folders in one folder that are `known`, and returns the files in it.
    async fn look_into(
        &self,
        upload: &FolderUpload<'_>,
        known: &mut LocalFolders,
        folder: Folder,
        waiting: &mut Vec<Folder>,
        report: &mut UploadedFolder,
    ) -> Result<Vec<Found>, TransferError> {
        let mut files = Vec::new();
        // Which folders are in it is not known, also if it can be listed by now.
        if let Some(error) = known.unlisted.remove(&folder.local) {
            report.fail(&folder.local, NotUploaded::Unreadable(error));
            return Ok(files);
        }
        let mut present = self.names_in(&folder).await?;
        let (tree, dir) = (upload.tree.clone(), folder.local.clone());
        let listed = self.transfer.blocking().run(move || tree.list(&dir)).await;
        let entries = match listed {
            Ok(entries) => entries,
            Err(error) => {
                report.fail(&folder.local, NotUploaded::Unreadable(error));
                return Ok(files);
            }
        };
        for LocalEntry { path, kind } in entries {
            match kind {
                EntryKind::Rejected(reason) => {
                    report.fail(&path, NotUploaded::Rejected(reason));
                }
                EntryKind::Folder(_) if !known.found.contains(&path) => {}
                EntryKind::Folder(name) => {
                    let node = present.remove(&name.key());
                    let below = self.ensure_absent(node, Some(folder.node), &name).await;
                    match below {
                        Ok(below) => {
                            report.folders += u64::from(below.is_new);
                            waiting.push(Folder {
                                local: path,
                                node: below.node.id,
                                is_new: below.is_new,
                            });
                        }
                        Err(error) => report.record(&path, None, Err(error))?,
                    }
                }
                EntryKind::File(name, facts) => files.push(Found {
                    path,
                    facts,
                    parent: folder.node,
                    present: present.remove(&name.key()),
                    name,
                }),
            }
        }
        Ok(files)
    }

    /// Returns what the folder on the service has, by name.
    async fn names_in(&self, folder: &Folder) -> Result<HashMap<NameKey, Node>, TransferError> {
        let mut present = HashMap::new();
        if folder.is_new {
            return Ok(present);
        }
        for node in self.children(Some(folder.node)).await? {
            if let Ok(name) = Name::new(node.name.clone()) {
                present.insert(name.key(), node);
            }
        }
        Ok(present)
    }

    async fn send_small(
        &self,
        upload: &FolderUpload<'_>,
        files: Vec<Found>,
        report: &mut UploadedFolder,
    ) -> Result<(), TransferError> {
        if files.is_empty() {
            return Ok(());
        }
        let tree = upload.tree.clone();
        let read = self.transfer.blocking();
        let read = read.run(move || {
            let read = files.into_iter().map(|file| {
                let bytes = read_whole(tree.as_ref(), &file);
                (file, bytes)
            });
            read.collect::<Vec<_>>()
        });
        let mut sending = Vec::new();
        for (file, bytes) in read.await {
            match bytes {
                Ok(bytes) => {
                    let small = SmallFile {
                        bytes,
                        local: file.facts,
                        parent: file.parent,
                        name: file.name.clone(),
                        present: file.present.clone(),
                    };
                    sending.push((file, small));
                }
                Err(reason) => report.fail(&file.path, reason),
            }
        }
        let total = sending.iter().map(|(file, _)| file.facts.size).sum();
        let what = Moving::SmallFiles(sending.len());
        let progress = upload.progress.begin(what, total);
        let sent = self.upload_small(sending, progress.as_ref()).await;
        for (file, sent) in sent {
            match sent {
                // Somebody else changed it meanwhile: what is there now gets the next revision.
                Err(error) if error.is_stale() => {
                    let sent = self.send_one(upload, &file).await;
                    report.record(&file.path, file.present.as_ref(), sent)?;
                }
                sent => report.record(&file.path, file.present.as_ref(), sent)?,
            }
        }
        Ok(())
    }

    async fn send_large(
        &self,
        upload: &FolderUpload<'_>,
        files: Vec<Found>,
        report: &mut UploadedFolder,
    ) -> Result<(), TransferError> {
        let sending = files.into_iter().map(|file| async move {
            let sent = self.send_one(upload, &file).await;
            (file, sent)
        });
        let mut sending = futures_util::stream::iter(sending).buffer_unordered(AT_ONCE);
        while let Some((file, sent)) = sending.next().await {
            report.record(&file.path, file.present.as_ref(), sent)?;
        }
        Ok(())
    }

    async fn send_one(
        &self,
        upload: &FolderUpload<'_>,
        file: &Found,
    ) -> Result<Node, TransferError> {
        let source = upload.tree.source(&file.path);
        let what = Moving::File(file.name.as_str());
        let progress = upload.progress.begin(what, file.facts.size);
        self.upload(
            source,
            file.facts,
            Some(file.parent),
            &file.name,
            progress.as_ref(),
        )
        .await
    }
}

impl Group {
    /// Adds a file, and returns all once they are enough.
    fn add(&mut self, file: Found) -> Option<Vec<Found>> {
        self.bytes += file.facts.size;
        self.files.push(file);
        if self.bytes < GROUP_BYTES && self.files.len() < GROUP_FILES {
            return None;
        }
        self.bytes = 0;
        Some(std::mem::take(&mut self.files))
    }
}

/// Lists the folders below a local one.
fn folders_below(tree: &dyn LocalTree, top: PathBuf) -> LocalFolders {
    let (mut folders, mut waiting) = (LocalFolders::default(), vec![top]);
    while let Some(dir) = waiting.pop() {
        let entries = match tree.list(&dir) {
            Ok(entries) => entries,
            Err(error) => {
                folders.unlisted.insert(dir, error);
                continue;
            }
        };
        for LocalEntry { path, kind } in entries {
            if let EntryKind::Folder(_) = kind {
                folders.found.insert(path.clone());
                waiting.push(path);
            }
        }
    }
    folders
}

/// Reads a file that was small when it was listed; one that has changed since is left to another time.
fn read_whole(tree: &dyn LocalTree, file: &Found) -> Result<Vec<u8>, NotUploaded> {
    let mut bytes = Vec::new();
    let reader = tree.source(&file.path).open();
    reader
        .and_then(|reader| reader.take(file.facts.size + 1).read_to_end(&mut bytes))
        .map_err(NotUploaded::Unreadable)?;
    if bytes.len() as u64 == file.facts.size {
        Ok(bytes)
    } else {
        Err(NotUploaded::Changing)
    }
}

#[cfg(test)]
mod tests;
