//! The root of a folder pair: is the directory at its path the one that was attached?

use super::Dispatcher;
use super::folder::Folder;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::health::FolderPart;
use crate::observe::hash::local_stat;
use crate::observe::mounts::FileSystem;
use crate::observe::same_disk::SameDisk;
use cairn_index::{FileIdentity, FolderRow, IndexError};
use cairn_model::FolderId;
use cairn_platform::{FileKind, Stat};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::time::Instant;

impl Dispatcher {
    /// Checks the roots of one folder or of all, without those that are paused: whoever asks for a look at them may look
    /// at the status next.
    pub(super) fn check_roots(&mut self, only: Option<FolderId>) {
        let now_ms = self.engine.ports.clock.now_ms();
        let folders = self.folders.iter();
        let meant = folders.filter(|(id, folder)| {
            only.is_none_or(|only| only == **id) && !folder.is_paused(now_ms)
        });
        let meant: Vec<FolderId> = meant.map(|(id, _)| *id).collect();
        for id in meant {
            self.check_root(id);
        }
        self.update_status();
    }

    /// Checks that the root is the directory that was attached; anything else halts the folder.
    pub(super) fn check_root(&mut self, id: FolderId) -> bool {
        let Some(folder) = self.folders.get_mut(&id) else {
            return false;
        };
        let root = PathBuf::from(&folder.row.root);
        let found = match self.engine.ports.disk.stat(&root) {
            Ok(stat) if stat.kind == FileKind::Dir => is_attached_root(&self.engine, folder, &stat),
            Ok(_) | Err(_) => false,
        };
        if found {
            folder.schedule.record_root_found();
        } else {
            folder.root_checked = None;
            folder.schedule.root_missing(Instant::now());
        }
        let problem = (!found).then(|| EngineError::RootGone(root).problem(String::new()));
        self.engine
            .health()
            .set_folder_problem(id, FolderPart::Root, problem);
        found
    }
}

/// Returns whether a directory is the root that was attached. Numbers of devices change when disks are
/// plugged in, or at a start; those of files change on FAT and some network file systems; and another
/// disk may have the same ones. Then it is the root if at least half of what is known in it is there, and
/// its new numbers are recorded.
fn is_attached_root(engine: &Engine, folder: &mut Folder, stat: &Stat) -> bool {
    let found = local_stat(stat).identity();
    let Some(known) = folder.row.root_file else {
        return true;
    };
    let checked = Some((found, stat.mount));
    let is_equal = known == found;
    if is_equal && (found.is_proof() || folder.root_checked == checked) {
        return true;
    }
    // A directory that was made anew, perhaps without what was in it.
    if known.inode != found.inode && (known.is_proof() || found.is_proof()) {
        return false;
    }
    let root = Path::new(&folder.row.root);
    if is_equal && !is_top_of_mount(engine, root, stat) {
        return true;
    }
    match compare_root(engine, folder, known, found) {
        Ok(Some(row)) => {
            if !is_equal {
                tracing::info!(root = %row.root, "the root has other numbers now");
            }
            folder.row = Arc::new(row);
            folder.root_checked = checked;
            true
        }
        Ok(None) => false,
        Err(error) => {
            tracing::warn!(%error, "a folder's root can't be compared with what is known of it");
            false
        }
    }
}

/// Returns whether another file system begins at the root: its inode is then that of every such one.
fn is_top_of_mount(engine: &Engine, root: &Path, stat: &Stat) -> bool {
    let above = root.parent().map(|above| engine.ports.disk.stat(above));
    match above {
        Some(Ok(above)) => FileSystem::of(Some(&above)).is_left_by(stat),
        Some(Err(_)) | None => true,
    }
}

/// Records the numbers of the root and returns the folder, if the root holds what is known in it.
fn compare_root(
    engine: &Engine,
    folder: &Folder,
    known: FileIdentity,
    found: FileIdentity,
) -> Result<Option<FolderRow>, IndexError> {
    let id = folder.row.id;
    engine.index.write(|db| {
        let same = SameDisk {
            db,
            disk: &*engine.ports.disk,
            folder: id,
        };
        let root = Path::new(&folder.row.root);
        let holds = if known.inode == found.inode {
            same.holds(None, root)?
        } else {
            same.holds_something(None, root)?
        };
        if !holds {
            return Ok(None);
        }
        if known.device != found.device {
            db.change_device(id, known.device, found.device)?;
        }
        if let (true, Some(remote)) = (known != found, folder.row.remote_node) {
            db.attach_folder(id, remote, found)?;
        }
        db.folder(id)
    })
}

#[cfg(test)]
mod tests {
    use crate::command::Command;
    use crate::testing::TestEngine;
    use cairn_model::SyncState;

    #[tokio::test(start_paused = true)]
    async fn whoever_asks_for_a_look_finds_a_missing_root_in_the_status() {
        let (mut dispatcher, id, dir) = TestEngine::new().into_dispatcher();
        dispatcher.update_status();
        let aside = dir.path().with_extension("aside");
        std::fs::rename(dir.path(), &aside).unwrap();
        dispatcher.command(Command::Rescan(Some(id))).await;
        let folder = dispatcher.engine.status().folders.remove(0);
        assert_eq!(folder.state, SyncState::Error);
        assert!(folder.errors[0].message.contains("missing"), "{folder:?}");
        std::fs::rename(&aside, dir.path()).unwrap();
        dispatcher.command(Command::Rescan(None)).await;
        let folder = dispatcher.engine.status().folders.remove(0);
        assert_eq!((folder.state, folder.errors), (SyncState::Syncing, vec![]));
    }
}
