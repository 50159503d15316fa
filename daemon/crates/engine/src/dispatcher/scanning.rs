//! Runs the scans that are due.

use super::Dispatcher;
use super::folder::Watching;
use super::new_chances::{Marked, marked_since};
use super::schedule::DueScan;
use crate::error::EngineError;
use crate::health::FolderPart;
use crate::observe::scan::{ScanResult, Scope, scan};
use crate::observe::unsettled::Earlier;
use crate::resolve::name;
use cairn_model::{FolderId, Kind, Problem};
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
        let mut due = folder.schedule.begin(now);
        self.retry_hinted(id, &due);
        self.look_at_refused(id, &mut due);
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
            Ok((result, marked)) => {
                self.retry_marked(id, &marked);
                self.record_scan(id, &due, result);
                self.retry_with_room(id);
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
            Watching::Retried { .. } => self.record_watching(id),
            Watching::Broken => {
                self.flushes += 1;
                let question = self.flushes;
                folder.watching = Watching::Retried { question };
                let (hints, guard) = self.engine.ports.watch.watch(Path::new(&folder.row.root));
                // One that can't tell counts as working with the next scan.
                guard.flush(question);
                folder.watch = guard;
                self.forward_hints(id, hints);
            }
        }
    }

    /// Records that the watcher of a folder works again.
    pub(super) fn record_watching(&mut self, id: FolderId) {
        if let Some(folder) = self.folders.get_mut(&id) {
            folder.watching = Watching::Works;
        }
        self.engine
            .health()
            .set_folder_problem(id, FolderPart::Watcher, None);
        self.engine.announce_status();
    }

    /// Has a scan list again what the disk refused in a directory that it lists anyway, and look at all that is below a
    /// refused directory that it lists for a few names: else a problem would be gone that nobody has looked at.
    fn look_at_refused(&self, id: FolderId, due: &mut DueScan) {
        for path in self.engine.health().refused_by_disk(id) {
            let Some((parent, name)) = path.parent().zip(path.name()) else {
                due.whole |= due.dirs.contains_key(&path);
                continue;
            };
            let is_listed = due.dirs.contains_key(&parent);
            if is_listed || due.dirs.remove(&path).is_some() {
                due.dirs.entry(parent).or_default().insert(name.clone());
            }
        }
    }

    fn record_problems(&self, id: FolderId, due: &DueScan, problems: Vec<Problem>) {
        if due.whole {
            return self.engine.health().record_whole_scan(id, problems);
        }
        let special = self.engine.health().special_below(id, &due.dirs);
        let unlisted = self.engine.index.read(|db| {
            let mut dirs = BTreeSet::new();
            for path in &special {
                let row = db.local_at(id, path)?;
                dirs.extend(
                    row.filter(|row| row.kind == Kind::Folder)
                        .map(|_| path.clone()),
                );
            }
            Ok(dirs)
        });
        let unlisted = unlisted.unwrap_or_else(|error| {
            tracing::warn!(%error, "problems stay until the next whole scan");
            special.into_iter().collect()
        });
        self.engine
            .health()
            .record_scan(id, &due.dirs, &unlisted, problems);
    }

    fn record_scan(&mut self, id: FolderId, due: &DueScan, mut result: ScanResult) {
        let Some(folder) = self.folders.get_mut(&id) else {
            return;
        };
        result.problems.extend(folder.rules.problems());
        let outliving = std::mem::take(&mut result.outliving_rules);
        let has_other_rules = folder.rules.record_scan(result.rules.take(), outliving);
        if has_other_rules {
            // Planned under other rules.
            folder.forget_queue();
            folder.plan_due = true;
        }
        folder.schedule.finish(due, result.missing, result.again);
        folder.schedule.record_unscanned(due, result.unscanned);
        folder
            .schedule
            .record_unsettled(result.unsettled, Instant::now());
        self.has_scanned |= due.whole;
        folder.totals_due |= result.changed;
        folder.plan_due |= due.whole;
        folder.news_due |= result.changed;
        if result.changed {
            self.waiters.reset();
        }
        if has_other_rules {
            self.retry_by_rules(id);
        }
        self.hint_names(result.elsewhere);
        self.record_problems(id, due, result.problems);
        let refused = self.engine.health().refused_by_disk(id);
        if let Some(folder) = self.folders.get_mut(&id) {
            let refused = refused.into_iter().collect();
            folder.schedule.record_refused(refused, Instant::now());
        }
    }

    async fn scan(&self, id: FolderId, due: &DueScan) -> Result<(ScanResult, Marked), EngineError> {
        let (Some(ctx), Some(folder)) = (self.ctx(id), self.folders.get(&id)) else {
            return Ok(Default::default());
        };
        let (seen, has_failures) = (folder.seen_marks, self.engine.health().has_failures(id));
        let scope = if due.whole {
            Scope::Whole
        } else {
            Scope::Dirs(due.dirs.clone())
        };
        let most_new = self.tuning.plan_sizes.whole;
        let earlier = Earlier {
            now_ms: self.engine.ports.clock.now_ms(),
            confirmed_missing: due.confirmed_missing.clone(),
            settled: due.settled.clone(),
        };
        let _disk_lock = self.engine.disk_lock.lock().await;
        let ports = self.engine.ports.clone();
        ports
            .run_blocking(move || {
                name::finish(&ctx.engine, &ctx.folder)?;
                Ok(ctx.engine.index.write(|db| {
                    let disk = &*ctx.engine.ports.disk;
                    let rules = &ctx.rules;
                    let result = scan(db, disk, &ctx.folder, rules, &scope, &earlier, most_new)?;
                    let mut marked = marked_since(db, id, seen, has_failures)?;
                    if scope == Scope::Whole || result.rules.is_some() {
                        db.mark_differing(&ctx.folder)?;
                        // What has not changed is nothing new.
                        marked.seen = marked_since(db, id, marked.seen, false)?.seen;
                    }
                    Ok((result, marked))
                })?)
            })
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::name::tests::crash_halfway;
    use crate::testing::TestEngine;
    use cairn_index::Skipped;
    use cairn_model::{Name, ProblemCode, RelPath};
    use std::sync::Arc;
    use std::time::Duration;

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

    #[tokio::test(start_paused = true)]
    async fn what_the_disk_refused_is_looked_at_again_when_something_beside_it_has_changed() {
        let (mut dispatcher, id, dir) = TestEngine::new().into_dispatcher();
        std::fs::create_dir_all(dir.path().join("refused")).unwrap();
        dispatcher.scan_due(id).await;
        let refused = Problem {
            path: "refused".into(),
            code: ProblemCode::Unreadable,
            ..Problem::default()
        };
        let engine = Arc::clone(&dispatcher.engine);
        engine.health().record_whole_scan(id, vec![refused]);
        std::fs::write(dir.path().join("refused/new"), "").unwrap();
        std::fs::write(dir.path().join("beside"), "").unwrap();
        let folder = dispatcher.folders.get_mut(&id).unwrap();
        let beside = RelPath::parse("beside").unwrap();
        folder.schedule.hint(&beside, Instant::now());
        tokio::time::advance(Duration::from_secs(1)).await;
        dispatcher.scan_due(id).await;
        let new = RelPath::parse("refused/new").unwrap();
        let row = engine.index.read(|db| db.local_at(id, &new)).unwrap();
        assert!(row.is_some(), "it can be listed again");
        assert!(!engine.health().is_disk_refusing(id));
    }

    #[tokio::test(start_paused = true)]
    async fn all_that_is_below_a_refused_directory_is_looked_at_when_something_in_it_has_changed() {
        for refused in ["", "d"] {
            let (mut dispatcher, id, dir) = TestEngine::new().into_dispatcher();
            std::fs::create_dir_all(dir.path().join("d/e")).unwrap();
            dispatcher.scan_due(id).await;
            let problem = Problem {
                path: refused.into(),
                code: ProblemCode::Unreadable,
                ..Problem::default()
            };
            let engine = Arc::clone(&dispatcher.engine);
            engine.health().record_whole_scan(id, vec![problem]);
            std::fs::write(dir.path().join("d/e/new"), "").unwrap();
            let changed = RelPath::parse(refused).unwrap();
            let changed = changed.join(Name::new("changed").unwrap());
            std::fs::write(dir.path().join(changed.to_string()), "").unwrap();
            let folder = dispatcher.folders.get_mut(&id).unwrap();
            folder.schedule.hint(&changed, Instant::now());
            tokio::time::advance(Duration::from_secs(1)).await;
            dispatcher.scan_due(id).await;
            let new = RelPath::parse("d/e/new").unwrap();
            let row = engine.index.read(|db| db.local_at(id, &new)).unwrap();
            assert!(row.is_some(), "below {refused:?}");
            assert!(!engine.health().is_disk_refusing(id));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_the_disk_refused_is_looked_at_again_without_any_hint() {
        for refused in ["", "d"] {
            let (mut dispatcher, id, dir) = TestEngine::new().into_dispatcher();
            std::fs::create_dir_all(dir.path().join("d")).unwrap();
            let problem = Problem {
                path: refused.into(),
                code: ProblemCode::Unreadable,
                ..Problem::default()
            };
            let engine = Arc::clone(&dispatcher.engine);
            let folder = dispatcher.folders.get_mut(&id).unwrap();
            let first = folder.schedule.begin(Instant::now());
            let result = ScanResult {
                problems: vec![problem],
                ..ScanResult::default()
            };
            dispatcher.record_scan(id, &first, result);
            std::fs::write(dir.path().join("d/new"), "").unwrap();
            dispatcher.scan_due(id).await;
            assert!(
                engine.health().is_disk_refusing(id),
                "it is not asked at once"
            );
            tokio::time::advance(Duration::from_secs(5)).await;
            dispatcher.scan_due(id).await;
            let new = RelPath::parse("d/new").unwrap();
            let row = engine.index.read(|db| db.local_at(id, &new)).unwrap();
            assert!(row.is_some(), "below {refused:?}");
            assert!(!engine.health().is_disk_refusing(id));
        }
    }

    #[cfg(unix)]
    #[tokio::test(start_paused = true)]
    async fn many_links_in_a_directory_stay_reported_when_something_beside_it_changes() {
        let (mut dispatcher, id, dir) = TestEngine::new().into_dispatcher();
        let links = dir.path().join("links");
        std::fs::create_dir(&links).unwrap();
        for n in 0..9 {
            std::os::unix::fs::symlink("nowhere", links.join(n.to_string())).unwrap();
        }
        dispatcher.scan_due(id).await;
        let engine = Arc::clone(&dispatcher.engine);
        assert_eq!(engine.health().problems(id).len(), 1);
        for (changed, reported) in [("beside", 1), ("links", 0)] {
            match changed {
                "links" => std::fs::remove_dir_all(&links).unwrap(),
                name => std::fs::write(dir.path().join(name), "").unwrap(),
            }
            let folder = dispatcher.folders.get_mut(&id).unwrap();
            let changed = RelPath::parse(changed).unwrap();
            folder.schedule.hint(&changed, Instant::now());
            tokio::time::advance(Duration::from_secs(1)).await;
            dispatcher.scan_due(id).await;
            assert_eq!(engine.health().problems(id).len(), reported, "{changed}");
        }
    }
}
