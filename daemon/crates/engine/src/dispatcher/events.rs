//! Events for the dispatcher: hints (the watcher's "something may have changed here"), the feed, finished
//! transfers, the clock.

use super::folder::{Folder, Watching};
use super::schedule::{Schedule, UNWATCHED_RESCAN};
use super::{Dispatcher, Done, gone_files};
use crate::executor::{ExecutionResult, overload, record_failure};
use crate::health::FolderPart;
use crate::key::Key;
use crate::observe::rules::IGNORE_FILE;
use crate::overall_progress::Amount;
use crate::ports::Hint;
use cairn_model::{FolderId, Problem, ProblemCause, ProblemValues, RelPath};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

impl Dispatcher {
    /// Waits for the next event, and handles everything that has arrived.
    pub(super) async fn wait(&mut self) {
        let wake = self.next_wake();
        let engine = Arc::clone(&self.engine);
        tokio::select! {
            biased;
            () = engine.stop.wait() => return,
            Some(command) = self.commands.recv() => self.command(command).await,
            Some((folder, hint)) = self.hints.recv() => self.hint(folder, hint),
            Some(()) = self.feed.recv() => self.poll_due = true,
            Some(done) = self.polls.join_next() => self.record_poll(done).await,
            Some(done) = self.transfers.join_next() => self.finish_transfer(done),
            Some(done) = self.structure.join_next() => self.record_structure(done),
            Some(done) = self.comparing.join_next() => self.end_comparison(done.ok().flatten()),
            () = tokio::time::sleep_until(wake) => {}
        }
        self.drain().await;
    }

    /// Handles everything that has arrived already.
    pub(super) async fn drain(&mut self) {
        while let Ok((folder, hint)) = self.hints.try_recv() {
            self.hint(folder, hint);
        }
        while let Ok(()) = self.feed.try_recv() {
            self.poll_due = true;
        }
        while let Some(done) = self.polls.try_join_next() {
            self.record_poll(done).await;
        }
        while let Some(done) = self.transfers.try_join_next() {
            self.finish_transfer(done);
        }
        while let Some(done) = self.structure.try_join_next() {
            self.record_structure(done);
        }
        while let Ok(command) = self.commands.try_recv() {
            self.command(command).await;
        }
    }

    fn next_wake(&self) -> Instant {
        let timing = self.tuning.timing();
        let mut wake = self.next_poll.min(self.next_emptying).min(self.next_heads);
        let mut sooner = |at: Instant| wake = wake.min(at);
        sooner(self.next_healing);
        // The end of a comparison is an event.
        if self.tuning.checkpoints && self.comparing.is_empty() {
            sooner(self.next_comparison);
        }
        // The end of a poll is an event.
        if let Some(pause) = self.retry.filter(|_| !self.is_polling()) {
            sooner(pause.until);
        }
        // Kept for the length of the next one when it is over.
        let pause = self.steps_pause;
        if let Some(pause) = pause.filter(|pause| pause.until > Instant::now()) {
            sooner(pause.until);
        }
        let now_ms = self.engine.ports.clock.now_ms();
        for (id, folder) in &self.folders {
            if folder.is_paused(now_ms) {
                // Nothing else is done here before the pause is over.
                if let Some(until) = folder.row.settings.paused_until {
                    let left = u64::try_from(until - now_ms).unwrap_or(0);
                    sooner(Instant::now() + Duration::from_millis(left));
                }
                continue;
            }
            if folder.executing.is_some() {
                // Its end is an event.
                continue;
            }
            sooner(folder.schedule.next_wake(timing));
            if let Some((_, until)) = folder.flush {
                sooner(until);
            }
            if let Some(at) = self.next_plan_wake(*id, folder) {
                sooner(at);
            }
        }
        // Something in the past that nobody acts on must not make a busy loop.
        wake.max(Instant::now() + Duration::from_millis(5))
    }

    /// Returns the next time at which a folder may be planned, if it can be: of one that can't be, such times
    /// pass, and nobody acts on them.
    fn next_plan_wake(&self, id: FolderId, folder: &Folder) -> Option<Instant> {
        // That a poll ends, or the steps that it waits for, is an event.
        if !self.can_plan() || !folder.can_be_planned() {
            return None;
        }
        let rests = folder.in_flight > 0 || folder.failed_plans > 0;
        let next_try = match folder.waiting.is_empty() {
            true => None,
            false => self.engine.health().next_try(id, folder.planned_at),
        };
        [
            folder.deletions.quiet_at(),
            next_try,
            ((folder.plan_due || folder.news_due) && rests).then_some(folder.next_plan),
        ]
        .into_iter()
        .flatten()
        .min()
        .map(|at| if rests { at.max(folder.next_plan) } else { at })
    }

    fn hint(&mut self, id: FolderId, hint: Hint) {
        let Some(folder) = self.folders.get_mut(&id) else {
            return;
        };
        let now = Instant::now();
        match hint {
            Hint::Everywhere => folder.schedule.rescan(),
            Hint::Lost { message } => {
                // Watching again did not help: what was missed is found by the next regular scan.
                if folder.watching == Watching::Works {
                    folder.schedule.rescan();
                }
                folder.schedule.rescan_before(now + UNWATCHED_RESCAN);
                folder.watching = Watching::Broken;
                folder.flush = None;
                let values = ProblemValues::of_detail(&message);
                let problem = Problem::new(
                    "",
                    ProblemCause::Watch,
                    message,
                    "until then the folder is looked at every 30 seconds",
                )
                .with(values);
                self.engine
                    .health()
                    .set_folder_problem(id, FolderPart::Watcher, Some(problem));
            }
            Hint::Flushed(number)
                if folder.watching == (Watching::Retried { question: number }) =>
            {
                self.record_watching(id);
            }
            Hint::Flushed(number) => folder.end_flush(number),
            // They change with each look at the folder, which would lead to the next one.
            Hint::Path(path) if self.engine.is_own_place(&folder.row, &path) => {}
            Hint::Path(path) => match path.strip_prefix(&folder.row.root) {
                Ok(path) => hint_path(&mut folder.schedule, path, now),
                Err(_) => folder.schedule.rescan(),
            },
        }
    }

    pub(super) fn finish_transfer(&mut self, done: Result<Done, tokio::task::JoinError>) {
        let done = match done {
            Ok(done) => done,
            Err(error) if error.is_panic() => return self.handle_transfer_panic(),
            Err(_) => return,
        };
        self.compare_soon();
        for key in done.results.iter().flat_map(|transfer| &transfer.keys) {
            self.locked.remove(key);
        }
        let Some(ctx) = self.ctx(done.folder) else {
            return;
        };
        let mut executed = ExecutionResult {
            overload: overload(done.results.iter().map(|transfer| &transfer.result)),
            ..ExecutionResult::default()
        };
        let mut amount = Amount::default();
        let made = gone_files::new_file_keys(&done.results);
        for transfer in done.results {
            let (files, bytes) = (1, transfer.size);
            let file = Amount { files, bytes };
            amount.add(file);
            let Some(key) = transfer.keys.first().copied() else {
                continue;
            };
            match transfer.result {
                Ok(()) => {
                    executed.progress = true;
                    executed.has_moved_rules |= is_nested_rules_file(&transfer.path);
                    ctx.engine.health().clear(done.folder, key);
                    // An upload. What comes from the service says nothing of the room there.
                    if matches!(key, Key::Local(_)) {
                        ctx.engine.health().record_room();
                    }
                    self.transferred.add(file);
                }
                Err(error) => {
                    tracing::debug!(path = %transfer.path, %error, "a transfer failed");
                    record_failure(&ctx, key, transfer.path, error, &mut executed);
                }
            }
        }
        if let Some(folder) = self.folders.get_mut(&done.folder) {
            folder.in_flight = folder.in_flight.saturating_sub(amount.files);
            folder.in_flight_bytes = folder.in_flight_bytes.saturating_sub(amount.bytes);
            folder.totals_due = true;
            folder.news_due |= folder.is_more && folder.is_queue_low(self.tuning.plan_sizes);
            if folder.queue.is_empty() && folder.in_flight == 0 {
                folder.plan_due = true;
                self.plan_overlapping(done.folder);
            }
        }
        self.remember_new_files(done.folder, &made);
        // What fails is tried again with each fresh look: a look for each failure would never end.
        if executed.progress {
            self.waiters.reset();
        }
        self.apply(done.folder, executed);
    }

    /// Plans the pairs that have something of the same remote folder as this one: the feed doesn't report this
    /// device's own changes.
    pub(super) fn plan_overlapping(&mut self, id: FolderId) {
        let Some(done) = self.folders.get(&id).map(|folder| folder.row.clone()) else {
            return;
        };
        let others = self.folders.iter_mut().filter(|(other, _)| **other != id);
        for (_, other) in others {
            let overlaps = self.engine.index.read(|db| db.overlap(&done, &other.row));
            // Planned once too often is harmless; an index that fails says so with the plan.
            other.plan_due |= overlaps.unwrap_or(true);
        }
    }

    /// Forgets which transfers are running: nobody knows which of them has ended with the panic.
    fn handle_transfer_panic(&mut self) {
        tracing::error!("a transfer has ended with a panic; everything is compared again");
        self.locked.clear();
        for folder in self.folders.values_mut() {
            (folder.in_flight, folder.in_flight_bytes) = (0, 0);
        }
        self.rescan_everything(None);
    }

    /// Has these paths of pairs looked at, as after hints of their watchers.
    pub(super) fn hint_names(&mut self, names: impl IntoIterator<Item = (FolderId, RelPath)>) {
        let now = Instant::now();
        for (id, path) in names {
            if let Some(folder) = self.folders.get_mut(&id) {
                folder.schedule.hint(&path, now);
            }
        }
    }

    /// Schedules what follows from steps that failed.
    pub(super) fn apply(&mut self, id: FolderId, executed: ExecutionResult) {
        if executed.replan {
            self.poll_due = true;
        }
        if let Some(folder) = self.folders.get_mut(&id) {
            let now = Instant::now();
            folder.schedule.rescan_dirs(executed.rescan, now);
            for (from, to) in executed.moved_dirs {
                folder.schedule.record_own_move(from, to, now);
            }
            if executed.has_moved_rules {
                folder.schedule.record_rules_changed(now);
            }
            folder.plan_due |= executed.replan;
            let is_stopped = executed.last_error.is_some() || executed.overload.is_some();
            if is_stopped || executed.is_service_full {
                folder.forget_queue();
                folder.plan_due = true;
            }
        }
        self.hint_names(executed.other_names);
        if executed.progress {
            self.steps_pause = None;
        }
        if let Some(error) = executed.overload {
            self.pause_steps(&error.into());
        }
        if let Some(error) = executed.last_error {
            self.back_off(&error);
        }
    }
}

/// Returns whether a path in a folder is that of a rules file below its root. For the file at the root, each plan looks
/// whether it is as it was.
fn is_nested_rules_file(path: &str) -> bool {
    path.strip_suffix(IGNORE_FILE)
        .is_some_and(|dir| dir.ends_with('/'))
}

/// Records a hint. Of a path that can't be synced (it is not UTF-8), the nearest directory that can be
/// is looked at: a log of such a name must not have the whole folder scanned at each line.
fn hint_path(schedule: &mut Schedule, path: &Path, now: Instant) {
    let parsed = |path: &Path| RelPath::parse(path.to_str()?).ok();
    match parsed(path) {
        Some(path) => schedule.hint(&path, now),
        None => {
            let dir = path.ancestors().skip(1).find_map(parsed);
            schedule.hint_in(dir.unwrap_or_default(), now);
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::super::schedule::Timing;
    use super::*;
    use crate::error::EngineError;
    use crate::gate::Deletions;
    use crate::health::RetryHint;
    use crate::observe::scan::Hinted;
    use crate::ports::{Watch, Watched};
    use crate::testing::TestEngine;
    use crate::work::TransferResult;
    use cairn_api::ApiError;
    use cairn_model::{LocalId, Name, NodeId};
    use cairn_plan::{Parent, ParentAndName, Step};
    use cairn_wire::ErrorBody;
    use std::collections::BTreeSet;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

    /// A watcher that answers at once that it owes no hints.
    struct Answering;

    struct AnsweringGuard(UnboundedSender<Hint>);

    impl Watched for AnsweringGuard {
        fn flush(&self, number: u64) -> bool {
            self.0.send(Hint::Flushed(number)).is_ok()
        }
    }

    impl Watch for Answering {
        fn watch(&self, _: &Path) -> (UnboundedReceiver<Hint>, Box<dyn Watched>) {
            let (sender, hints) = unbounded_channel();
            (hints, Box::new(AnsweringGuard(sender)))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_watcher_that_was_begun_again_works_as_soon_as_it_answers() {
        let mut test = TestEngine::new();
        test.options.ports.watch = Arc::new(Answering);
        let (mut dispatcher, id, _dir) = test.into_dispatcher();
        let engine = Arc::clone(&dispatcher.engine);
        let message = "it was moved".to_owned();
        dispatcher.hint(id, Hint::Lost { message });
        assert_eq!(engine.health().problems(id).len(), 1);
        let mut events = engine.events.subscribe();
        dispatcher.scan_due(id).await;
        let (_, answer) = dispatcher.hints.recv().await.unwrap();
        assert_eq!(engine.health().problems(id).len(), 1, "not answered yet");
        dispatcher.hint(id, answer);
        assert_eq!(engine.health().problems(id), []);
        assert!(dispatcher.folders[&id].watching == Watching::Works);
        assert_eq!(events.try_recv().ok(), Some(crate::status::Event::Status));
    }

    #[test]
    fn a_name_that_is_not_utf8_has_its_directory_looked_at_and_nothing_more() {
        let timing = Timing {
            rescan_every: Duration::from_secs(3600),
            debounce: Duration::from_millis(80),
        };
        let now = Instant::now();
        let mut schedule = Schedule::new(now, timing);
        let first = schedule.begin(now);
        schedule.finish(&first, BTreeSet::new(), BTreeSet::new());
        hint_path(
            &mut schedule,
            Path::new(OsStr::from_bytes(b"t/bad\xff.log")),
            now,
        );
        let quiet = now + timing.debounce;
        assert!(schedule.is_due(quiet, timing, true));
        let scan = schedule.begin(quiet);
        let dir = RelPath::parse("t").unwrap();
        assert!(!scan.whole);
        assert_eq!(scan.dirs, Hinted::from([(dir, BTreeSet::new())]));
    }

    /// Returns the rounds that a dispatcher makes in ten minutes.
    async fn rounds(dispatcher: &mut Dispatcher) -> u32 {
        let end = Instant::now() + Duration::from_secs(600);
        let mut rounds = 0;
        while Instant::now() < end && rounds < 10_000 {
            rounds += 1;
            if !dispatcher.tick().await {
                let wake = dispatcher.next_wake();
                tokio::time::advance(wake.saturating_duration_since(Instant::now())).await;
            }
        }
        rounds
    }

    #[tokio::test(start_paused = true)]
    async fn a_service_without_room_holds_uploads_and_nothing_else() {
        let (mut dispatcher, id, _dir) = TestEngine::new().into_dispatcher();
        let full = ApiError::from_status(503, ErrorBody::DISK_FULL.to_owned());
        let failed = Done {
            folder: id,
            results: vec![TransferResult {
                keys: vec![Key::Local(LocalId(1))],
                size: 1,
                path: "f".into(),
                result: Err(EngineError::Transfer(full.into())),
            }],
        };
        dispatcher.finish_transfer(Ok(failed));
        assert!(dispatcher.is_reachable(), "all else goes on");
        assert_eq!(dispatcher.engine.figures.error_state(), None);
        let problems = dispatcher.engine.health().problems(id);
        assert!(problems[0].message.contains("full"), "{problems:?}");
        let ctx = dispatcher.ctx(id).unwrap();
        let to = ParentAndName {
            parent: Parent::Root,
            name: Name::new("g".to_owned()).unwrap(),
        };
        let (node, over) = (NodeId::from_random_bytes([1; 16]), None);
        let download = Step::Download {
            node,
            over,
            to: to.clone(),
        };
        let local = LocalId(2);
        let over = None;
        let upload = Step::Upload { local, over, to };
        let waits = |step| crate::executor::waits(&ctx, step, &BTreeSet::new());
        assert!(!waits(&download) && waits(&upload));
        tokio::time::advance(Duration::from_secs(10)).await;
        assert!(!waits(&upload), "it is tried again");
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_that_can_not_be_done_now_keeps_the_dispatcher_busy() {
        let offline = EngineError::Api(ApiError::Offline("no".into()));
        let (mut dispatcher, id, _dir) = TestEngine::new().into_dispatcher();
        dispatcher.feed_incomplete = true;
        dispatcher.back_off(&offline);
        let file = Key::Local(LocalId(1));
        let engine = Arc::clone(&dispatcher.engine);
        engine
            .health()
            .park(id, file, "f".into(), &offline, RetryHint::Soon);
        let folder = dispatcher.folders.get_mut(&id).unwrap();
        folder.waiting.insert(file);
        folder.deletions.wait(
            Deletions {
                local: 1,
                remote: 0,
            },
            Instant::now(),
        );
        // The service is tried every half a minute at the most.
        assert!(rounds(&mut dispatcher).await < 100, "an outage");

        let (mut dispatcher, id, _dir) = TestEngine::new().into_dispatcher();
        let folder = dispatcher.folders.get_mut(&id).unwrap();
        let mut row = (*folder.row).clone();
        row.settings.paused = true;
        folder.row = Arc::new(row.clone());
        let path = RelPath::parse("f").unwrap();
        folder.schedule.hint(&path, Instant::now());
        assert!(rounds(&mut dispatcher).await < 100, "a paused folder");

        let folder = dispatcher.folders.get_mut(&id).unwrap();
        row.settings.paused_until = Some(0);
        folder.row = Arc::new(row);
        assert!(rounds(&mut dispatcher).await < 100, "a pause that is over");
        assert_ne!(engine.status().state, cairn_model::SyncState::Paused);
    }
}
