//! Loading folder pairs from the index, with their rules and watchers.

use super::Dispatcher;
use super::folder::{Folder, Watching};
use super::schedule::Schedule;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::folder_rules::FolderRules;
use crate::gate::DeletionFlow;
use crate::health::FolderPart;
use crate::observe::same_disk::SameDisk;
use crate::ports::Hint;
use crate::work::Queue;
use cairn_index::FolderRow;
use cairn_model::FolderId;
use cairn_platform::FileKind;
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
            Ok(stat) if stat.kind == FileKind::Dir => {
                let file = (stat.file_id.device, stat.file_id.inode);
                match folder.row.root_file {
                    Some(known) if known != file => {
                        follow_device(&self.engine, folder, known, file)
                    }
                    Some(_) | None => true,
                }
            }
            Ok(_) | Err(_) => false,
        };
        if found {
            folder.schedule.root_found();
        } else {
            folder.schedule.root_missing(Instant::now());
        }
        let problem = (!found).then(|| EngineError::RootGone(root).problem(String::new()));
        self.engine
            .health()
            .set_folder_problem(id, FolderPart::Root, problem);
        found
    }
}

/// Takes over the new device number of a file system that is otherwise the same: numbers change when
/// disks are plugged in, or at a start. It is the same if the root has the same file id, and at least
/// half of what is known in it is there. Returns whether it is.
fn follow_device(
    engine: &Engine,
    folder: &mut Folder,
    known: (u64, u64),
    found: (u64, u64),
) -> bool {
    if known.1 != found.1 || known.0 == found.0 {
        return false;
    }
    let id = folder.row.id;
    let changed = engine.index.write(|db| {
        let disk = &*engine.ports.disk;
        let same = SameDisk {
            db,
            disk,
            folder: id,
        };
        if !same.holds(None, Path::new(&folder.row.root))? {
            return Ok(None);
        }
        db.change_device(id, known.0, found.0)?;
        db.folder(id)
    });
    match changed {
        Ok(Some(row)) => {
            tracing::info!(root = %row.root, "the file system has another device number now");
            folder.row = Arc::new(row);
            true
        }
        Ok(None) => false,
        Err(error) => {
            tracing::warn!(%error, "a folder's new device number can't be recorded");
            false
        }
    }
}
