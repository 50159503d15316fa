//! Waiting until the engine is idle: everything is equal, and a new scan and poll find nothing new.

use super::Dispatcher;
use super::folder::Folder;
use crate::command::WaitResult;
use cairn_model::{FolderId, SyncState};

/// Tries in a row that the service has to refuse before the login counts as ended.
const REFUSED_LOGINS: u32 = 3;

impl Dispatcher {
    /// Replies to the waiters, or begins the new scan and poll that a reply needs. Called when there is nothing to
    /// do at once.
    pub(super) fn notify_idle(&mut self) {
        if !self.waiters.any() {
            return;
        }
        let now_ms = self.engine.ports.clock.now_ms();
        let is_paused = |folder: &Folder| folder.is_paused(now_ms);
        let all_paused = !self.folders.is_empty() && self.folders.values().all(is_paused);
        if all_paused && self.structure.is_empty() {
            return self.waiters.reply(WaitResult::Paused);
        }
        if self.refused_logins >= REFUSED_LOGINS {
            return self.waiters.reply(WaitResult::LoginEnded);
        }
        if !self.is_calm() {
            return;
        }
        if self.waiters.begin_check() {
            return self.look_again();
        }
        let needs_person = self.is_anything_left(now_ms)
            || self
                .engine
                .status()
                .folders
                .iter()
                .any(|f| f.waiting_files() > 0 || f.state == SyncState::Error);
        self.waiters.reply(if needs_person {
            WaitResult::NeedsPerson
        } else if self.folders.values().any(is_paused) {
            // Nobody looks at it, so nobody knows whether it is in sync.
            WaitResult::Paused
        } else {
            WaitResult::InSync
        });
    }

    /// Returns whether something that was tried is still not done in a folder that syncs. A file that never
    /// stops changing, and of which a copy was sent, does not count as left.
    fn is_anything_left(&self, now_ms: i64) -> bool {
        let health = self.engine.health();
        self.folders.iter().any(|(id, folder)| {
            !folder.is_paused(now_ms)
                && (health.waits_for_person(*id)
                    || folder.waiting.len() as u64 > health.count_changing_files(*id))
        })
    }

    pub(super) fn is_calm(&self) -> bool {
        let now_ms = self.engine.ports.clock.now_ms();
        let health = self.engine.health();
        let waits_briefly = |id: FolderId, folder: &Folder| {
            // Nobody tries anything again in a folder that can't be planned, or where no step waits.
            folder.can_be_planned()
                && !folder.waiting.is_empty()
                && health.waits_briefly(id, folder.planned_at)
        };
        self.folders.iter().all(|(id, folder)| {
            folder.is_paused(now_ms) || (folder.is_calm() && !waits_briefly(*id, folder))
        }) && self.transfers.is_empty()
            && !self.poll_due
            && !self.is_polling()
            && self.is_reachable()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::EngineError;
    use crate::health::RetryHint;
    use crate::key::Key;
    use crate::pauses::record_pause;
    use crate::testing::TestEngine;
    use cairn_api::ApiError;
    use cairn_index::{ConflictRow, FolderSettings, Skipped};
    use cairn_model::{ConflictKind, LocalId, RelPath};
    use std::time::Duration;
    use tokio::sync::oneshot;
    use tokio::time::Instant;

    #[tokio::test(start_paused = true)]
    async fn what_has_just_been_planned_is_tried_again_before_a_person_is_asked() {
        let (mut dispatcher, id, _dir) = TestEngine::new().into_dispatcher();
        let key = Key::Local(LocalId(1));
        let refused = EngineError::Stale;
        for _ in 0..3 {
            let (path, hint) = ("f".to_owned(), RetryHint::Later);
            dispatcher
                .engine
                .health()
                .park(id, key, path, &refused, hint);
        }
        let folder = dispatcher.folders.get_mut(&id).unwrap();
        folder.schedule.begin(Instant::now());
        folder.waiting.insert(key);
        folder.plan_due = false;
        folder.planned_at = Instant::now();
        assert!(folder.is_calm());
        dispatcher.try_everything();
        assert!(!dispatcher.folders[&id].is_calm());
    }

    /// Does what the scans, the plans and the poll of all folders would do if nothing is new.
    fn find_nothing(dispatcher: &mut Dispatcher) {
        dispatcher.poll_due = false;
        for folder in dispatcher.folders.values_mut() {
            folder.schedule.begin(Instant::now());
            (folder.plan_due, folder.news_due) = (false, false);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_of_two_folders_that_is_paused_is_not_in_sync() {
        let (test, other) = (TestEngine::new(), tempfile::tempdir().unwrap());
        let root = other.path().to_str().unwrap();
        let index = &test.options.index;
        let added = index.write(|db| db.add_folder(root, "/other", &FolderSettings::default()));
        let id = added.unwrap();
        let (mut dispatcher, _, _dir) = test.into_dispatcher();
        for (paused, expected) in [(true, WaitResult::Paused), (false, WaitResult::InSync)] {
            let index = &dispatcher.engine.index;
            let recorded = index.write(|db| record_pause(db, Some(id), paused, None));
            recorded.unwrap();
            dispatcher.load_folders().unwrap();
            let (reply, mut result) = oneshot::channel();
            dispatcher.waiters.add(reply);
            find_nothing(&mut dispatcher);
            dispatcher.notify_idle();
            // Both sides are looked at once more, for the other folder.
            assert!(result.try_recv().is_err(), "{expected:?}");
            find_nothing(&mut dispatcher);
            dispatcher.notify_idle();
            assert_eq!(result.try_recv().ok(), Some(expected));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_open_conflict_needs_attention_while_its_versions_are_in_sync() {
        let test = TestEngine::new();
        let conflict = ConflictRow {
            folder: test.folder.id,
            copy: test.local_file("f (conflicted copy here 2026-01-02 030405)", Skipped::No),
            node: None,
            kind: ConflictKind::Edit,
            device: String::new(),
            at_ms: 1,
            made_here: true,
            base: None,
        };
        let index = &test.options.index;
        index.write(|db| db.open_conflict(&conflict)).unwrap();
        let (mut dispatcher, _, _dir) = test.into_dispatcher();
        let (reply, mut result) = oneshot::channel();
        dispatcher.waiters.add(reply);
        for _ in 0..2 {
            find_nothing(&mut dispatcher);
            dispatcher.update_status();
            dispatcher.notify_idle();
        }
        assert_eq!(result.try_recv().ok(), Some(WaitResult::InSync));
        assert_eq!(dispatcher.engine.status().state, SyncState::Attention);
    }

    #[tokio::test(start_paused = true)]
    async fn a_root_that_may_be_back_is_looked_at_before_a_reply_while_rules_are_written() {
        let (mut dispatcher, id, dir) = TestEngine::new().into_dispatcher();
        let aside = dir.path().with_extension("aside");
        std::fs::rename(dir.path(), &aside).unwrap();
        dispatcher.scan_due(id).await;
        assert!(dispatcher.folders[&id].schedule.is_root_missing());
        std::fs::rename(&aside, dir.path()).unwrap();
        let rules = RelPath::parse(".cairnignore").unwrap();
        let folder = dispatcher.folders.get_mut(&id).unwrap();
        folder.schedule.hint(&rules, Instant::now());
        let (reply, mut result) = oneshot::channel();
        dispatcher.waiters.add(reply);
        for _ in 0..2 {
            dispatcher.poll_due = false;
            dispatcher.notify_idle();
            dispatcher.scan_due(id).await;
            assert_eq!(result.try_recv().ok(), None, "nobody has looked at it");
        }
        tokio::time::advance(Duration::from_secs(1)).await;
        dispatcher.scan_due(id).await;
        assert!(!dispatcher.folders[&id].schedule.is_root_missing());
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_a_login_that_has_ended() {
        let (mut dispatcher, _, _dir) = TestEngine::new().into_dispatcher();
        for (status, expected) in [
            (503, None),
            (401, None),
            (401, None),
            (401, Some(WaitResult::LoginEnded)),
        ] {
            let (reply, mut result) = oneshot::channel();
            let error = ApiError::from_status(status, String::new());
            dispatcher.back_off(&EngineError::Api(error));
            dispatcher.waiters.add(reply);
            dispatcher.notify_idle();
            assert_eq!(result.try_recv().ok(), expected, "{status}");
        }
    }
}
