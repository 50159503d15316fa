//! What reaches the dispatcher: commands, hints, the feed, finished work, the clock.

use super::{Dispatcher, Done, GRACE, LONGEST_DEBOUNCE};
use crate::error::EngineError;
use crate::executor::{Carried, fail};
use crate::feed;
use crate::handle::{Command, Verdict};
use crate::observe::rules::{IGNORE_FILE, Rules, TEMP_DIR, TRASH_DIR};
use crate::ports::Hint;
use crate::resolve;
use crate::status::Problem;
use cairn_index::{Answer, QuestionRow, Side};
use cairn_model::{FolderId, RelPath};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

impl Dispatcher {
    /// Waits for the next thing that could mean work, and takes everything that is there.
    pub(super) async fn wait(&mut self) {
        let wake = self.next_wake();
        let shared = Arc::clone(&self.shared);
        tokio::select! {
            biased;
            () = shared.stop.notified() => return,
            Some(command) = self.commands.recv() => self.command(command).await,
            Some((folder, hint)) = self.hints.recv() => self.hint(folder, hint),
            Some(()) = self.feed.recv() => self.remote_due = true,
            Some(done) = self.jobs.join_next() => self.finished(done),
            () = tokio::time::sleep_until(wake) => {}
        }
        self.drain().await;
    }

    /// Takes everything that waits already.
    pub(super) async fn drain(&mut self) {
        while let Ok((folder, hint)) = self.hints.try_recv() {
            self.hint(folder, hint);
        }
        while let Ok(()) = self.feed.try_recv() {
            self.remote_due = true;
        }
        while let Some(done) = self.jobs.try_join_next() {
            self.finished(done);
        }
        while let Ok(command) = self.commands.try_recv() {
            self.command(command).await;
        }
    }

    fn next_wake(&self) -> Instant {
        let mut wake = self.next_poll;
        let mut sooner = |at: Instant| wake = wake.min(at);
        if let Some((at, _)) = self.remote_retry {
            sooner(at);
        }
        let health_next = self.shared.health().next_try();
        for folder in self.folders.values() {
            sooner(folder.next_rescan);
            if let Some((first, last)) = folder.burst {
                sooner((last + self.tuning.debounce).min(first + LONGEST_DEBOUNCE));
            }
            if let Some((at, _)) = &folder.again {
                sooner(*at);
            }
            if let Some(at) = folder.root_retry {
                sooner(at);
            }
            if let Some(at) = folder.deletions.quiet_at() {
                sooner(at);
            }
            if folder.plan_due && folder.in_flight > 0 {
                sooner(folder.next_plan);
            }
            if folder.waiting > 0
                && let Some(at) = health_next
            {
                sooner(at);
            }
            if let Some(until) = folder.row.settings.paused_until
                && folder.row.settings.paused
            {
                let left = until - self.shared.ports.clock.now_ms();
                sooner(Instant::now() + Duration::from_millis(u64::try_from(left).unwrap_or(0)));
            }
        }
        // Something in the past that nobody acts on must not make a busy loop.
        wake.max(Instant::now() + Duration::from_millis(5))
    }

    async fn command(&mut self, command: Command) {
        match command {
            Command::Rescan(only) => self.look_everywhere(only),
            Command::Reload => self.reload = true,
            Command::Settle(reply) => self.settle.ask(reply),
            Command::Tune {
                rescan_every,
                parallel,
            } => {
                self.tuning.rescan_every = rescan_every;
                self.tuning.parallel = parallel.max(1);
                let latest = Instant::now() + rescan_every;
                for folder in self.folders.values_mut() {
                    folder.next_rescan = folder.next_rescan.min(latest);
                }
                // What was held may be welcome now.
                self.remote_due = true;
            }
            Command::Accept(reply) => {
                let outcome = feed::accept(&self.shared).await;
                self.look_everywhere(None);
                drop(reply.send(outcome));
            }
            Command::Confirm(folder, verdict, reply) => {
                // Whoever asked may be gone; the answer holds all the same.
                drop(reply.send(self.confirm(folder, verdict)));
            }
            Command::Resolve(path, folder, keep, reply) => {
                let outcome = resolve::resolve(&self.shared, folder, &path, keep).await;
                self.look_everywhere(folder);
                drop(reply.send(outcome));
            }
            Command::Stop => {}
        }
    }

    /// Looks at the whole disk and at the service, and tries again what waits.
    pub(super) fn look_everywhere(&mut self, only: Option<FolderId>) {
        for (id, folder) in &mut self.folders {
            if only.is_none_or(|o| o == *id) {
                folder.whole = true;
            }
        }
        self.remote_due = true;
        self.remote_retry = None;
        self.shared.health().try_again();
    }

    pub(super) fn hint(&mut self, id: FolderId, hint: Hint) {
        let Some(folder) = self.folders.get_mut(&id) else {
            return;
        };
        let now = Instant::now();
        match hint {
            Hint::Everywhere => folder.whole = true,
            Hint::Lost { message } => {
                folder.whole = true;
                // Without a watcher, a look every now and then has to do.
                folder.next_rescan = now + Duration::from_secs(30);
                let problem = Problem {
                    path: String::new(),
                    code: "watch".into(),
                    message: message.clone(),
                    hint: "until then the folder is looked at every 30 seconds".into(),
                };
                self.shared.health().set_whole(id, Some(problem));
                folder.blind = Some(message);
            }
            Hint::Path(path) => {
                let Some(rel) = relative(Path::new(&folder.row.root), &path) else {
                    folder.whole = true;
                    return;
                };
                let first = rel.names().first().map(|n| n.as_str());
                if first == Some(TRASH_DIR) || first == Some(TEMP_DIR) {
                    return;
                }
                // Only when it is quiet: half a rules file would let through what the rest forbids.
                folder.rules_hint |= rel.to_string() == IGNORE_FILE;
                folder.dirs.insert(rel.parent().unwrap_or_default());
                folder.burst = Some((folder.burst.map_or(now, |(first, _)| first), now));
            }
        }
    }

    pub(super) fn finished(&mut self, done: Result<Done, tokio::task::JoinError>) {
        let done = match done {
            Ok(done) => done,
            Err(error) => {
                if error.is_panic() {
                    tracing::error!("a transfer broke off; everything is compared again");
                    self.locks.clear();
                    for folder in self.folders.values_mut() {
                        folder.in_flight = 0;
                    }
                    self.look_everywhere(None);
                }
                return;
            }
        };
        for key in &done.keys {
            self.locks.remove(key);
        }
        let Some(ctx) = self.ctx(done.folder) else {
            return;
        };
        let mut carried = Carried::default();
        for outcome in done.outcomes {
            let Some(key) = outcome.keys.first().copied() else {
                continue;
            };
            match outcome.result {
                Ok(()) => ctx.shared.health().heal(done.folder, key),
                Err(error) => {
                    tracing::debug!(path = %outcome.path, %error, "a transfer did not go through");
                    fail(&ctx, key, outcome.path, error, &mut carried);
                }
            }
        }
        if let Some(folder) = self.folders.get_mut(&done.folder) {
            folder.in_flight = folder.in_flight.saturating_sub(done.count);
            folder.totals_due = true;
            if folder.queue.is_empty() && folder.in_flight == 0 {
                folder.plan_due = true;
            }
        }
        self.settle.something_happened();
        self.after(done.folder, carried);
    }

    /// What follows from steps that did not go through.
    pub(super) fn after(&mut self, id: FolderId, carried: Carried) {
        let now = Instant::now();
        if let Some(folder) = self.folders.get_mut(&id)
            && !carried.look.is_empty()
        {
            let (at, dirs) = folder
                .again
                .get_or_insert_with(|| (now + GRACE, Default::default()));
            *at = (*at).min(now + GRACE);
            dirs.extend(carried.look);
        }
        if carried.replan {
            self.remote_due = true;
            if let Some(folder) = self.folders.get_mut(&id) {
                folder.plan_due = true;
            }
        }
        if let Some(error) = carried.trouble {
            self.in_trouble(&error);
            if let Some(folder) = self.folders.get_mut(&id) {
                folder.queue.clear();
                folder.plan_due = true;
            }
        }
    }

    fn confirm(&mut self, id: FolderId, verdict: Verdict) -> Result<(), EngineError> {
        let asked = self.shared.index.read(|db| db.questions(id))?;
        let asked: Vec<QuestionRow> = asked
            .into_iter()
            .filter(|q| q.answer == Answer::Asked)
            .collect();
        if asked.is_empty() {
            return Err(EngineError::NoQuestion);
        }
        self.shared.index.write(|db| {
            for question in &asked {
                match verdict {
                    Verdict::Delete => {
                        db.put_question(&QuestionRow {
                            answer: Answer::Agreed,
                            ..question.clone()
                        })?;
                    }
                    Verdict::Keep => {
                        // Without a merge base an absence is no deletion: what is left on the other
                        // side comes back.
                        for synced in db.all_synced(id)? {
                            let kept = match question.side {
                                Side::Remote => db.local(synced.local)?.is_none(),
                                Side::Local => db.remote(synced.node)?.is_none(),
                            };
                            if kept {
                                db.remove_synced(id, synced.node)?;
                                db.mark_node(id, synced.node)?;
                                db.mark_local(id, synced.local)?;
                            }
                        }
                        db.end_question(id, question.side)?;
                    }
                }
            }
            if let Some(row) = db.folder(id)? {
                db.mark_differing(&row)?;
            }
            Ok(())
        })?;
        if let Some(folder) = self.folders.get_mut(&id) {
            folder.deletions.forget();
            folder.plan_due = true;
            folder.totals_due = true;
        }
        Ok(())
    }

    /// Loads the rules again if the rules file has changed; everything is compared afresh then.
    pub(super) fn refresh_rules(&mut self, id: FolderId) {
        let Some(folder) = self.folders.get_mut(&id) else {
            return;
        };
        let rules = Rules::load(
            &*self.shared.ports.disk,
            Path::new(&folder.row.root),
            &folder.row.settings,
        );
        if !rules.same_file(&folder.rules) {
            folder.rules = Arc::new(rules);
        }
    }
}

fn relative(root: &Path, path: &Path) -> Option<RelPath> {
    let rel = path.strip_prefix(root).ok()?.to_str()?;
    RelPath::parse(rel).ok()
}
