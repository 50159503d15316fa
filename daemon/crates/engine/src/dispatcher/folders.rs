//! Loading folder pairs from the index, with their rules and watchers.

use super::Dispatcher;
use super::folder::{Folder, Watching};
use super::schedule::Schedule;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::folder_rules::FolderRules;
use crate::gate::DeletionFlow;
use crate::health::FolderPart;
use crate::observe::hash::local_stat;
use crate::observe::mounts::FileSystem;
use crate::observe::same_disk::SameDisk;
use crate::ports::Hint;
use crate::work::Queue;
use cairn_index::{FileIdentity, FolderRow, IndexError};
use cairn_model::FolderId;
use cairn_platform::{FileKind, Stat};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;

impl Dispatcher {
    /// Reads the folder pairs again: new ones are added, removed ones dropped, changed ones scanned
    /// as a whole.
    ///
    /// # Errors
    /// The index's; what was not read yet is then as it was.
    pub(super) fn load_folders(&mut self) -> Result<(), EngineError> {
        let rows = self.engine.index.read(|db| db.folders())?;
        let ids: BTreeSet<FolderId> = rows.iter().map(|r| r.id).collect();
        for (id, _) in self.folders.extract_if(.., |id, _| !ids.contains(id)) {
            self.engine.health().forget(id);
        }
        self.engine.pauses.keep_only(&ids);
        for row in rows {
            match self.folders.get_mut(&row.id) {
                Some(folder) if *folder.row == row => {}
                Some(folder) => {
                    let same_rules = folder.row.settings.exclude == row.settings.exclude
                        && folder.row.settings.only == row.settings.only;
                    if !same_rules {
                        folder.rules = FolderRules::load(&self.engine, &row)?;
                    }
                    folder.row = Arc::new(row);
                    // Planned with other settings.
                    folder.end_steps();
                    folder.schedule.rescan();
                    folder.plan_due = true;
                }
                None => {
                    let folder = self.open_folder(row)?;
                    self.folders.insert(folder.row.id, folder);
                    // It is attached to the service's folder when the feed is polled: now, not when
                    // the stream has been silent for long.
                    self.poll_due = true;
                }
            }
        }
        Ok(())
    }

    fn open_folder(&self, row: FolderRow) -> Result<Folder, EngineError> {
        let rules = FolderRules::load(&self.engine, &row)?;
        let root = Path::new(&row.root);
        let (hints, guard) = self.engine.ports.watch.watch(root);
        self.forward_hints(row.id, hints);
        let now = Instant::now();
        Ok(Folder {
            pause: self.engine.pauses.add(row.id),
            rules,
            row: Arc::new(row),
            watch: guard,
            watching: Watching::Works,
            schedule: Schedule::new(now, self.tuning.timing()),
            unattachable: false,
            root_checked: None,
            plan_due: true,
            planned_at: now,
            next_plan: now,
            failed_plans: 0,
            queue: Queue::default(),
            in_flight: 0,
            executing: None,
            in_flight_bytes: 0,
            waiting: 0,
            deletions: DeletionFlow::default(),
            totals_due: true,
            next_totals: now,
        })
    }

    /// Passes the hints of one folder's watcher on.
    pub(super) fn forward_hints(&self, id: FolderId, mut hints: UnboundedReceiver<Hint>) {
        let sender = self.hint_sender.clone();
        tokio::spawn(async move {
            while let Some(hint) = hints.recv().await {
                if sender.send((id, hint)).is_err() {
                    break;
                }
            }
        });
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
