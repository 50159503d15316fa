//! The new look at both sides that those need who wait until all is in sync.
//!
//! A folder is scanned as a whole. A large one's watcher is asked instead: once it has handed over all hints that it
//! owes, every change from before the question is known, and is scanned by itself.

use super::Dispatcher;
use super::folder::{Folder, Watching};
use cairn_model::FolderId;
use std::time::Duration;
use tokio::time::Instant;

/// The time after which a folder is scanned whose watcher has not answered.
const LONGEST_FLUSH: Duration = Duration::from_secs(5);

impl Dispatcher {
    /// Looks at both sides again. If something is found, that resets the waiters.
    pub(super) fn look_again(&mut self) {
        let ids: Vec<FolderId> = self.folders.keys().copied().collect();
        for id in ids {
            let is_asked = self.ask_watcher(id);
            if let Some(folder) = self.folders.get_mut(&id).filter(|_| !is_asked) {
                folder.schedule.rescan();
            }
        }
        self.try_everything();
        if self.feed_sender.send(()).is_err() {
            tracing::debug!("the dispatcher is stopping");
        }
    }

    /// Asks the watcher of a large folder for all hints that it owes. Returns false if the folder is to be scanned.
    fn ask_watcher(&mut self, id: FolderId) -> bool {
        let (now, now_ms) = (Instant::now(), self.engine.ports.clock.now_ms());
        let is_large = self.folders.get(&id).is_some_and(|folder| {
            folder.scan_took >= self.tuning.long_scan && !folder.is_paused(now_ms)
        });
        // Another directory in its place, or a disk over it, gives no hint, and neither does a disk that works again.
        if !is_large || self.engine.health().is_disk_refusing(id) || !self.check_root(id) {
            return false;
        }
        self.flushes += 1;
        let number = self.flushes;
        let folder = self.folders.get_mut(&id);
        folder.is_some_and(|folder| folder.ask_watcher(number, now))
    }

    /// Scans a folder whose watcher has not answered in time.
    pub(super) fn stop_waiting_for_watcher(&mut self, id: FolderId) {
        let Some(folder) = self.folders.get_mut(&id) else {
            return;
        };
        if folder
            .flush
            .is_some_and(|(_, until)| until <= Instant::now())
        {
            tracing::warn!(root = %folder.row.root, "the watcher does not answer; the folder is scanned");
            folder.flush = None;
            folder.schedule.rescan();
        }
    }
}

impl Folder {
    /// Asks the watcher for all hints that it owes. Returns false if it can't tell.
    fn ask_watcher(&mut self, number: u64, now: Instant) -> bool {
        let is_trusted = self.watching == Watching::Works && !self.schedule.is_whole_next();
        if !is_trusted || !self.watch.flush(number) {
            return false;
        }
        self.flush = Some((number, now + LONGEST_FLUSH));
        true
    }

    /// Records that the watcher has handed over what it owed.
    pub(super) fn end_flush(&mut self, number: u64) {
        if self.flush.is_some_and(|(asked, _)| asked == number) {
            self.flush = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::{Hint, Watched};
    use crate::start::LONG_SCAN;
    use crate::testing::TestEngine;
    use cairn_model::{Problem, ProblemCode};
    use std::sync::Arc;
    use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

    /// A watcher that tells the test what it is asked, and can answer or not.
    struct Asked {
        numbers: UnboundedSender<u64>,
        can_tell: bool,
    }

    impl Watched for Asked {
        fn flush(&self, number: u64) -> bool {
            self.numbers.send(number).unwrap();
            self.can_tell
        }
    }

    /// A dispatcher whose folder was scanned before, with the questions to its watcher.
    struct Scanned {
        dispatcher: Dispatcher,
        id: FolderId,
        _dir: tempfile::TempDir,
        asked: UnboundedReceiver<u64>,
    }

    impl Scanned {
        fn new(long_scan: Duration, can_tell: bool) -> Self {
            let (mut dispatcher, id, _dir) = TestEngine::new().into_dispatcher();
            dispatcher.tuning.long_scan = long_scan;
            let (numbers, asked) = unbounded_channel();
            let folder = dispatcher.folders.get_mut(&id).unwrap();
            folder.watch = Box::new(Asked { numbers, can_tell });
            let due = folder.schedule.begin(Instant::now());
            assert!(due.whole);
            Self {
                dispatcher,
                id,
                _dir,
                asked,
            }
        }

        fn folder(&mut self) -> &mut Folder {
            self.dispatcher.folders.get_mut(&self.id).unwrap()
        }

        fn is_scanned(&mut self) -> bool {
            self.folder().schedule.is_whole_due()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_small_folder_is_scanned_and_its_watcher_not_asked() {
        let mut it = Scanned::new(LONG_SCAN, true);
        it.dispatcher.look_again();
        assert!(it.is_scanned());
        assert!(it.asked.try_recv().is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_large_folder_is_calm_only_when_its_watcher_has_answered() {
        let mut it = Scanned::new(Duration::ZERO, true);
        it.folder().plan_due = false;
        it.dispatcher.look_again();
        let number = it.asked.try_recv().unwrap();
        assert!(!it.is_scanned());
        assert!(!it.folder().is_calm());
        let (hints, id) = (it.dispatcher.hint_sender.clone(), it.id);
        hints.send((id, Hint::Flushed(number - 1))).unwrap();
        it.dispatcher.drain().await;
        assert!(!it.folder().is_calm(), "that was an earlier question");
        hints.send((id, Hint::Flushed(number))).unwrap();
        it.dispatcher.drain().await;
        assert!(it.folder().is_calm());
        assert!(!it.is_scanned());
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_that_the_watcher_owed_is_scanned_first() {
        let mut it = Scanned::new(Duration::ZERO, true);
        it.folder().plan_due = false;
        it.dispatcher.look_again();
        let number = it.asked.try_recv().unwrap();
        let changed = std::path::Path::new(&it.folder().row.root).join("f");
        let (hints, id) = (it.dispatcher.hint_sender.clone(), it.id);
        hints.send((id, Hint::Path(changed))).unwrap();
        hints.send((id, Hint::Flushed(number))).unwrap();
        it.dispatcher.drain().await;
        assert!(it.folder().flush.is_none());
        assert!(!it.folder().is_calm(), "a scan is due");
    }

    #[tokio::test(start_paused = true)]
    async fn a_large_folder_is_scanned_if_its_watcher_can_not_tell_or_does_not_answer() {
        let mut it = Scanned::new(Duration::ZERO, false);
        it.dispatcher.look_again();
        assert!(it.is_scanned());

        let mut it = Scanned::new(Duration::ZERO, true);
        std::fs::remove_dir(&it.folder().row.root).unwrap();
        it.dispatcher.look_again();
        assert!(it.folder().schedule.is_root_missing(), "it is looked at");
        assert!(it.asked.try_recv().is_err());

        let mut it = Scanned::new(Duration::ZERO, true);
        let refused = Problem {
            path: "f".into(),
            code: ProblemCode::Disk,
            ..Problem::default()
        };
        let (engine, id) = (Arc::clone(&it.dispatcher.engine), it.id);
        engine.health().record_whole_scan(id, vec![refused]);
        it.dispatcher.look_again();
        assert!(it.is_scanned(), "it may work again");
        assert!(it.asked.try_recv().is_err());

        let mut it = Scanned::new(Duration::ZERO, true);
        it.folder().watching = Watching::Broken;
        it.dispatcher.look_again();
        assert!(it.is_scanned());
        assert!(it.asked.try_recv().is_err());

        let mut it = Scanned::new(Duration::ZERO, true);
        it.dispatcher.look_again();
        tokio::time::advance(LONGEST_FLUSH).await;
        it.dispatcher.stop_waiting_for_watcher(it.id);
        assert!(it.is_scanned());
    }

    #[tokio::test(start_paused = true)]
    async fn a_large_folder_is_scanned_if_watching_it_ends_meanwhile() {
        let mut it = Scanned::new(Duration::ZERO, true);
        it.dispatcher.look_again();
        let (hints, id) = (it.dispatcher.hint_sender.clone(), it.id);
        let message = "gone".to_owned();
        hints.send((id, Hint::Lost { message })).unwrap();
        it.dispatcher.drain().await;
        assert!(it.is_scanned());
        assert!(it.folder().flush.is_none());
    }
}
