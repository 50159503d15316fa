//! Loading folder pairs from the index, with their rules and watchers.

use super::Dispatcher;
use super::folder::{Folder, Watching};
use super::schedule::Schedule;
use crate::error::EngineError;
use crate::folder_rules::FolderRules;
use crate::gate::{DeletionFlow, OverwriteFlow};
use crate::overall_progress::Amount;
use crate::ports::Hint;
use crate::work::Queue;
use cairn_index::{FolderRow, Round, SeenMarks};
use cairn_model::{FolderId, RunningSteps};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;

impl Dispatcher {
    /// Reads the folder pairs again: new ones are added, removed ones dropped, changed ones scanned
    /// as a whole.
    ///
    /// # Errors
    /// Returns the error of the index; what was not read yet is then as it was.
    pub(super) fn load_folders(&mut self) -> Result<(), EngineError> {
        let rows = self.engine.index.read(|db| db.folders())?;
        let ids: BTreeSet<FolderId> = rows.iter().map(|r| r.id).collect();
        for (id, _) in self.folders.extract_if(.., |id, _| !ids.contains(id)) {
            self.engine.health().forget(id);
        }
        self.engine.pauses.keep_only(&ids);
        for row in rows {
            let id = row.id;
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
                    self.retry_by_rules(id);
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
            flush: None,
            scan_took: Duration::ZERO,
            schedule: Schedule::new(now, self.tuning.timing()),
            unattachable: false,
            root_checked: None,
            plan_due: true,
            news_due: false,
            seen_marks: SeenMarks::default(),
            round: Round::default(),
            is_more: false,
            left: Amount::default(),
            again: false,
            planned_at: now,
            next_plan: now,
            failed_plans: 0,
            queue: Queue::default(),
            in_flight: 0,
            executing: None,
            steps: RunningSteps::default(),
            in_flight_bytes: 0,
            waiting: BTreeSet::new(),
            deletions: DeletionFlow::default(),
            overwrites: OverwriteFlow::default(),
            heads_after: None,
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
}
