//! Files and folders from this disk to the service.

use crate::failure::{Doing as _, Exit, Failure, Outcome};
use crate::output::progress::Bars;
use crate::output::text::count;
use crate::remote::{GROUP_BYTES, GROUP_FILES, Remote, SMALL};
use cairn_model::{Kind, Name, NameKey, NodeId};
use cairn_platform::{Disk as _, FileKind, RealDisk, Stat};
use cairn_space::{LocalFacts, SmallFile};
use cairn_transfer::FileSource;
use cairn_wire::nodes::Node;
use futures_util::StreamExt as _;
use serde::Serialize;
use std::collections::HashMap;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Larger files on their way at once.
const AT_ONCE: usize = 3;

/// The result for a folder.
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
        let present = self.child(parent, name.as_str()).await?;
        let top = self
            .folder_for(local, present.as_ref(), parent, name, &mut done)
            .await?;
        let mut waiting = vec![top];
        let mut small = Group::default();
        let mut large = Vec::new();
        while let Some(folder) = waiting.pop() {
            for file in self.look(folder, &mut waiting, &mut done).await? {
                if file.stat.size > SMALL {
                    large.push(file);
                } else if let Some(full) = small.add(file) {
                    self.send_small(full, bars, &mut done).await?;
                }
            }
        }
        self.send_small(small.files, bars, &mut done).await?;
        let sending = large.into_iter().map(|file| async move {
            let sent = self
                .upload_file(&file.path, &file.stat, Some(file.parent), &file.name, bars)
                .await;
            (file, sent)
        });
        let mut sending = futures_util::stream::iter(sending).buffer_unordered(AT_ONCE);
        while let Some((file, sent)) = sending.next().await {
            done.note(&file.path, sent)?;
        }
        done.failed.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(done)
    }

    /// Takes in what lies in one folder: folders are made, files are told.
    async fn look(
        &self,
        folder: Folder,
        waiting: &mut Vec<Folder>,
        done: &mut UploadedFolder,
    ) -> Outcome<Vec<Found>> {
        let mut present: HashMap<NameKey, Node> = HashMap::new();
        if !folder.is_new {
            for node in self.children(Some(folder.node)).await? {
                if let Ok(name) = Name::new(node.name.clone()) {
                    present.insert(name.key(), node);
                }
            }
        }
        let mut files = Vec::new();
        let entries = match RealDisk::new().list(&folder.local) {
            Ok(entries) => entries,
            Err(error) => {
                done.leave_out(&folder.local, &error.to_string());
                return Ok(files);
            }
        };
        for entry in entries {
            let path = folder.local.join(&entry.name);
            let name = entry.name.to_str().and_then(|text| Name::new(text).ok());
            let (Some(name), Ok(stat)) = (name, entry.stat) else {
                done.leave_out(&path, "its name is no UTF-8, or it can't be read");
                continue;
            };
            let present = present.remove(&name.key());
            match stat.kind {
                FileKind::Dir => {
                    let below = self
                        .folder_for(&path, present.as_ref(), Some(folder.node), &name, done)
                        .await;
                    match below {
                        Ok(below) => waiting.push(below),
                        Err(failure) => done.note(&path, Err(failure))?,
                    }
                }
                FileKind::File => files.push(Found {
                    path,
                    stat,
                    parent: folder.node,
                    name,
                    present,
                }),
                FileKind::Symlink | FileKind::Other => {
                    done.leave_out(&path, "it is no regular file: it was left out");
                }
            }
        }
        Ok(files)
    }

    async fn send_small(
        &self,
        files: Vec<Found>,
        bars: &Bars,
        done: &mut UploadedFolder,
    ) -> Outcome {
        if files.is_empty() {
            return Ok(());
        }
        let read = tokio::task::spawn_blocking(move || {
            let read = files.into_iter().map(|file| {
                let bytes = read_small(&file.path, &file.stat);
                (file, bytes)
            });
            read.collect::<Vec<_>>()
        });
        let read = read.await.map_err(|e| Failure::failed(e.to_string()))?;
        let mut sent = Vec::new();
        let mut files = Vec::new();
        for (file, bytes) in read {
            match bytes {
                Ok(bytes) => {
                    files.push(SmallFile {
                        local: LocalFacts {
                            size: bytes.len() as u64,
                            ..facts(&file.stat)
                        },
                        bytes,
                        parent: Some(file.parent),
                        name: file.name.clone(),
                        present: file.present.clone(),
                    });
                    sent.push(file);
                }
                Err(error) => done.leave_out(&file.path, &error.to_string()),
            }
        }
        let total = files.iter().map(|file| file.local.size).sum();
        let bar = bars.file(&count(files.len() as u64, "small file"), total);
        let answers = self.space.upload_small(files, &bar).await;
        for (file, answer) in sent.iter().zip(answers) {
            done.note(
                &file.path,
                answer.doing(format_args!("upload {}", file.path.display())),
            )?;
        }
        Ok(())
    }

    /// The folder on the service for one on this disk; made if there is none.
    async fn folder_for(
        &self,
        local: &Path,
        present: Option<&Node>,
        parent: Option<NodeId>,
        name: &Name,
        done: &mut UploadedFolder,
    ) -> Outcome<Folder> {
        let node = match present {
            Some(node) if node.kind == Kind::Folder => node.id,
            Some(_) => {
                let message = format!(
                    "there is a file {name} on the service where a folder has to go: rename one of them"
                );
                return Err(Failure::new(Exit::Decision, message));
            }
            None => {
                let made = self.make_folder(parent, name).await?;
                done.folders += 1;
                made.id
            }
        };
        Ok(Folder {
            local: local.to_owned(),
            node,
            is_new: present.is_none(),
        })
    }
}

/// A folder on both sides.
struct Folder {
    local: PathBuf,
    node: NodeId,
    /// Made just now: nothing is in it.
    is_new: bool,
}

/// A file that is to be uploaded.
struct Found {
    path: PathBuf,
    stat: Stat,
    parent: NodeId,
    name: Name,
    present: Option<Node>,
}

/// Small files until they are worth a few requests.
#[derive(Default)]
struct Group {
    files: Vec<Found>,
    bytes: u64,
}

impl Group {
    /// Adds a file, and hands all out once they are enough.
    fn add(&mut self, file: Found) -> Option<Vec<Found>> {
        self.bytes += file.stat.size;
        self.files.push(file);
        if self.bytes < GROUP_BYTES && self.files.len() < GROUP_FILES {
            return None;
        }
        self.bytes = 0;
        Some(std::mem::take(&mut self.files))
    }
}

impl UploadedFolder {
    fn leave_out(&mut self, path: &Path, why: &str) {
        self.failed.push(FailedFile {
            path: path.display().to_string(),
            message: why.to_owned(),
        });
    }

    /// Notes what became of a file, or of a folder that can't be made.
    ///
    /// # Errors
    /// A failure that does not concern this one alone: nobody is logged in, the server is away.
    fn note(&mut self, path: &Path, sent: Outcome<Node>) -> Outcome {
        match sent {
            Ok(node) => {
                self.files += 1;
                self.bytes += node.size;
            }
            Err(failure) if matches!(failure.exit, Exit::Failed | Exit::Decision) => {
                self.leave_out(path, &failure.message);
            }
            Err(failure) => return Err(failure),
        }
        Ok(())
    }
}

/// Reads a file that was small when it was found; one that has changed since is left to another time.
fn read_small(path: &Path, stat: &Stat) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    RealDisk::new()
        .open(path)?
        .take(stat.size + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 != stat.size {
        return Err(io::Error::other("it is being written: upload it again"));
    }
    Ok(bytes)
}

fn facts(stat: &Stat) -> LocalFacts {
    LocalFacts {
        size: stat.size,
        modified_ms: stat.modified_ms(),
        executable: stat.executable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_grew_since_it_was_found_is_left_to_another_time() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        std::fs::write(&path, "one line").unwrap();
        let stat = RealDisk::new().stat(&path).unwrap();
        assert_eq!(read_small(&path, &stat).unwrap(), b"one line");
        for content in ["one line and another", "one"] {
            std::fs::write(&path, content).unwrap();
            assert!(read_small(&path, &stat).is_err(), "{content}");
        }
    }
}
