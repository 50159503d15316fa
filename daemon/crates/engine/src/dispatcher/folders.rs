//! Loading folder pairs from the index, with their rules and watchers.

use super::Dispatcher;
use super::folder::Folder;
use super::schedule::Schedule;
use crate::error::EngineError;
use crate::gate::DeletionFlow;
use crate::observe::hash::local_stat;
use crate::observe::rules::Rules;
use crate::ports::Hint;
use crate::trash;
use cairn_index::FolderRow;
use cairn_model::FolderId;
use cairn_platform::FileKind;
use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::watch;
use tokio::time::Instant;

impl Dispatcher {
    /// Reads the folder pairs again: new ones are added, removed ones dropped, changed ones scanned
    /// as a whole.
    pub(super) fn load_folders(&mut self) -> Result<(), EngineError> {
        let rows = self.engine.index.read(|db| db.folders())?;
        let ids: BTreeSet<FolderId> = rows.iter().map(|r| r.id).collect();
        self.folders.retain(|id, _| ids.contains(id));
        let all_paused = !rows.is_empty() && rows.iter().all(|r| r.settings.paused);
        let until = rows.iter().filter_map(|r| r.settings.paused_until).min();
        self.engine
            .figures
            .set_paused(all_paused, until.filter(|_| all_paused));
        for row in rows {
            match self.folders.get_mut(&row.id) {
                Some(folder) if *folder.row == row => {}
                Some(folder) => {
                    let same_rules = folder.row.settings.exclude == row.settings.exclude
                        && folder.row.settings.only == row.settings.only;
                    if !same_rules {
                        let disk = &*self.engine.ports.disk;
                        let rules = Rules::load(disk, Path::new(&row.root), &row.settings);
                        folder.rules = Arc::new(rules);
                    }
                    folder.row = Arc::new(row);
                    folder.schedule.rescan();
                    folder.plan_due = true;
                }
                None => {
                    let folder = self.open_folder(row);
                    self.folders.insert(folder.row.id, folder);
                    // It is attached to the service's folder when the feed is polled: now, not when
                    // the stream has been silent for long.
                    self.poll_due = true;
                }
            }
        }
        Ok(())
    }

    fn open_folder(&self, row: FolderRow) -> Folder {
        let root = Path::new(&row.root);
        let (hints, guard) = self.engine.ports.watch.watch(root);
        self.forward_hints(row.id, hints);
        let disk = &*self.engine.ports.disk;
        if let Err(error) = trash::expire(disk, root, self.engine.ports.clock.now_ms()) {
            tracing::warn!(%error, "old things stay in the local trash for now");
        }
        let now = Instant::now();
        Folder {
            rules: Arc::new(Rules::load(disk, root, &row.settings)),
            row: Arc::new(row),
            _watch: guard,
            watched: true,
            schedule: Schedule::new(now, self.tuning.timing()),
            unattachable: false,
            plan_due: true,
            next_plan: now,
            queue: VecDeque::new(),
            in_flight: 0,
            waiting: 0,
            deletions: DeletionFlow::default(),
            pause: watch::Sender::new(false),
            totals_due: true,
            next_totals: now,
        }
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
        let root = Path::new(&folder.row.root);
        let found = match self.engine.ports.disk.stat(root) {
            Ok(stat) if stat.kind == FileKind::Dir => {
                let file = local_stat(&stat);
                let file = (file.device, file.inode);
                folder.row.root_file.is_none_or(|known| known == file)
            }
            Ok(_) | Err(_) => false,
        };
        if found {
            folder.schedule.root_found();
        } else {
            folder.schedule.root_missing(Instant::now());
        }
        let problem =
            (!found).then(|| EngineError::RootGone(root.to_owned()).problem(String::new()));
        self.engine.health().set_folder_problem(id, problem);
        found
    }
}
