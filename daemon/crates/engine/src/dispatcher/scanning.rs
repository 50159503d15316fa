//! Runs the scans that are due.

use super::Dispatcher;
use super::folder::Watching;
use super::schedule::DueScan;
use crate::error::EngineError;
use crate::health::FolderPart;
use crate::observe::scan::{ScanResult, Scope, scan};
use crate::resolve::name;
use cairn_model::{FolderId, RelPath};
use std::collections::BTreeSet;
use std::path::Path;
use tokio::time::Instant;

impl Dispatcher {
    /// Scans a folder if that is due. Returns whether further new directories are to be scanned at once.
    pub(super) async fn scan_due(&mut self, id: FolderId) -> bool {
        let now = Instant::now();
        let timing = self.tuning.timing();
        let due = self.folders.get_mut(&id).is_some_and(|folder| {
            folder.executing.is_none()
                && folder
                    .schedule
                    .is_due(now, timing, folder.watching == Watching::Works)
        });
        if !due || !self.check_root(id) || !self.refresh_rules(id) {
            return false;
        }
        let Some(folder) = self.folders.get_mut(&id) else {
            return false;
        };
        let due = folder.schedule.begin(now);
        if due.whole {
            self.watch_again(id);
        }
        let result = self.scan(id, &due).await;
        let took = now.elapsed();
        tracing::debug!(whole = due.whole, ms = took.as_millis(), "scanned");
        if due.whole
            && let Some(folder) = self.folders.get_mut(&id)
        {
            folder.scan_took = took;
        }
        match result {
            Ok(result) => {
                self.record_scan(id, &due, result);
                let folder = self.folders.get(&id);
                return folder.is_some_and(|folder| folder.schedule.has_unscanned());
            }
            Err(error) if !error.concerns_all() => {
                // As where the root is missing: everything is scanned when its disk works again.
                if let Some(folder) = self.folders.get_mut(&id) {
                    folder.schedule.root_missing(Instant::now());
                }
                let problem = error.problem(String::new());
                self.engine
                    .health()
                    .set_folder_problem(id, FolderPart::Root, Some(problem));
            }
            Err(error) => {
                // What was to be looked at is still to be looked at.
                if let Some(folder) = self.folders.get_mut(&id) {
                    folder.schedule.rescan();
                }
                self.back_off(&error);
            }
        }
        false
    }

    /// Begins watching again where that had failed, so that nothing is missed between this scan and the
    /// next.
    fn watch_again(&mut self, id: FolderId) {
        let Some(folder) = self.folders.get_mut(&id) else {
            return;
        };
        match folder.watching {
            Watching::Works => {}
            Watching::Retried => {
                folder.watching = Watching::Works;
                self.engine
                    .health()
                    .set_folder_problem(id, FolderPart::Watcher, None);
            }
            Watching::Broken => {
                folder.watching = Watching::Retried;
                let (hints, guard) = self.engine.ports.watch.watch(Path::new(&folder.row.root));
                folder.watch = guard;
                self.forward_hints(id, hints);
            }
        }
    }

    fn record_scan(&mut self, id: FolderId, due: &DueScan, mut result: ScanResult) {
        let names: BTreeSet<String> = due.dirs.keys().map(RelPath::to_string).collect();
        let Some(folder) = self.folders.get_mut(&id) else {
            return;
        };
        result.problems.extend(folder.rules.problems());
        let outliving = std::mem::take(&mut result.outliving_rules);
        if folder.rules.record_scan(result.rules.take(), outliving) {
            // Planned under other rules.
            folder.forget_queue();
            folder.plan_due = true;
        }
        self.engine
            .health()
            .record_scan(id, due.whole, &names, result.problems);
        folder.schedule.finish(due, result.missing, result.again);
        folder.schedule.record_unscanned(due, result.unscanned);
        self.has_scanned |= due.whole;
        folder.totals_due |= result.changed;
        folder.plan_due |= due.whole;
        folder.news_due |= result.changed;
        if result.changed {
            self.waiters.reset();
        }
    }

    async fn scan(&self, id: FolderId, due: &DueScan) -> Result<ScanResult, EngineError> {
        let Some(ctx) = self.ctx(id) else {
            return Ok(ScanResult::default());
        };
        let scope = if due.whole {
            Scope::Whole
        } else {
            Scope::Dirs(due.dirs.clone())
        };
        let most_new = self.tuning.plan_sizes.whole;
        let confirmed_missing = due.confirmed_missing.clone();
        let _disk_lock = self.engine.disk_lock.lock().await;
        let ports = self.engine.ports.clone();
        ports
            .run_blocking(move || {
                name::finish(&ctx.engine, &ctx.folder)?;
                Ok(ctx.engine.index.write(|db| {
                    let disk = &*ctx.engine.ports.disk;
                    let missing = &confirmed_missing;
                    let rules = &ctx.rules;
                    let result = scan(db, disk, &ctx.folder, rules, &scope, missing, most_new)?;
                    if scope == Scope::Whole || result.rules.is_some() {
                        db.mark_differing(&ctx.folder)?;
                    }
                    Ok(result)
                })?)
            })
            .await
    }
}

#[cfg(test)]
mod tests {
    use crate::resolve::name::tests::crash_halfway;
    use crate::testing::TestEngine;
    use cairn_index::Skipped;
    use std::sync::Arc;

    #[tokio::test(start_paused = true)]
    async fn a_name_that_a_crash_left_free_is_given_before_a_scan_misses_it() {
        let copy = "f (conflicted copy here 2026-01-02 030405)";
        let test = TestEngine::new();
        test.local_file("f", Skipped::No);
        test.local_file(copy, Skipped::No);
        let (mut dispatcher, id, dir) = test.into_dispatcher();
        let engine = Arc::clone(&dispatcher.engine);
        let path = |name: &str| dir.path().join(name);
        std::fs::create_dir(path("f")).unwrap();
        std::fs::write(path(copy), "kept").unwrap();
        let trashed = crash_halfway(&engine);
        assert!(!path("f").exists() && trashed.is_dir());

        dispatcher.scan_due(id).await;
        assert_eq!(std::fs::read(path("f")).unwrap(), b"kept");
        assert!(!path(copy).exists());
        // The person may do what they like from here on.
        std::fs::rename(path("f"), path(copy)).unwrap();
        dispatcher.folders.get_mut(&id).unwrap().schedule.rescan();
        dispatcher.scan_due(id).await;
        assert!(!path("f").exists());
    }
}
