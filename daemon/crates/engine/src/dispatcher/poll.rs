//! Polling the service's change feed, in a task beside the dispatcher.
//!
//! While a poll runs, folders are scanned, transfers are begun and commands are carried out, but nothing is planned: a
//! page of the feed may be half of a change. After a poll all folders are planned before the next one begins, however
//! much news there is.

use super::silence::noticing_silence;
use super::waiters::PollWaiters;
use super::{Dispatcher, POLL};
use crate::command::PollFailure;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::feed::{self, PollResult};
use cairn_model::FolderId;
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio::task::JoinError;
use tokio::time::Instant;

/// A poll that has ended.
pub(super) struct Polled {
    began: Instant,
    /// The callers who have asked for it.
    waiters: PollWaiters,
    result: Result<PollResult, EngineError>,
}

impl Dispatcher {
    /// Begins to poll the feed, beside the dispatcher, if that is due.
    ///
    /// Steps and polls exclude one another: a step seals the state that it was planned for, and a deletion must not
    /// seal a newer one that no plan has seen.
    pub(super) fn poll_if_due(&mut self) {
        let now = Instant::now();
        if self.next_poll <= now {
            self.next_poll = now + POLL;
            self.poll_due = true;
        }
        if self.is_polling() || self.news_unplanned {
            return;
        }
        match self.retry {
            Some(pause) if pause.until > now => return,
            Some(_) => self.poll_due = true,
            // The service carries out steps again, or may: only a poll ends the failure in the status.
            None if self.engine.figures.error_state().is_some() => {
                self.poll_due |= self.steps_pause.is_none_or(|pause| pause.until <= now);
            }
            None => {}
        }
        if !self.poll_due || self.folders.is_empty() {
            self.poll_due = false;
            // Without folders there is nothing to ask for.
            self.poll_waiters.reply(&Ok(()));
            return;
        }
        if !self.structure.is_empty() {
            return;
        }
        // What is asked for from here on is about the next poll.
        self.poll_due = false;
        let engine = Arc::clone(&self.engine);
        let mut waiters = std::mem::take(&mut self.poll_waiters);
        self.polls.spawn(async move {
            let polling = poll_with_devices(&engine);
            let result = noticing_silence(&engine, &mut waiters, polling).await;
            Polled {
                began: now,
                waiters,
                result,
            }
        });
    }

    pub(super) fn is_polling(&self) -> bool {
        !self.polls.is_empty()
    }

    /// Records the end of a poll, and attaches folders that are new.
    pub(super) async fn record_poll(&mut self, done: Result<Polled, JoinError>) {
        let Polled {
            began,
            mut waiters,
            mut result,
        } = match done {
            Ok(polled) => polled,
            Err(error) => return self.handle_poll_panic(&error),
        };
        if matches!(
            result,
            Ok(PollResult::Nothing | PollResult::Changes | PollResult::Reset)
        ) {
            let engine = Arc::clone(&self.engine);
            let attaching = self.attach_new_folders();
            if let Err(error) = noticing_silence(&engine, &mut waiters, attaching).await {
                result = Err(error);
            }
        }
        if waiters.any() {
            // Whoever asked may look at the status next.
            self.update_status();
        }
        waiters.reply(&result.as_ref().map(drop).map_err(PollFailure::of));
        match result {
            Ok(PollResult::More) => {
                (self.feed_incomplete, self.poll_due) = (true, true);
                self.record_answer(began);
            }
            Ok(result) => {
                self.feed_incomplete = false;
                (self.has_polled, self.news_unplanned) = (true, true);
                self.record_answer(began);
                self.next_poll = Instant::now() + POLL;
                let ids: Vec<FolderId> = self.folders.keys().copied().collect();
                for id in ids {
                    self.retry_with_room(id);
                }
                if result != PollResult::Nothing {
                    self.compare_soon();
                    self.plan_news();
                }
                self.open_stream();
            }
            Err(error) => {
                // Part of the news may be recorded; the next poll does not report it again.
                self.plan_news();
                self.back_off(&error);
            }
        }
    }

    /// Waits until no poll runs: a command needs the remote tree for itself.
    pub(super) async fn finish_poll(&mut self) {
        while let Some(done) = self.polls.join_next().await {
            self.record_poll(done).await;
        }
    }

    fn handle_poll_panic(&mut self, error: &JoinError) {
        if error.is_panic() {
            tracing::error!("a poll has ended with a panic");
            self.back_off(&EngineError::PollPanicked);
        }
    }

    /// Records that the service has answered a poll: a failure ends with the first page of what is new.
    pub(super) fn record_answer(&mut self, now: Instant) {
        self.retry = None;
        self.refused_logins = 0;
        if self.steps_pause.is_none_or(|pause| pause.until <= now) {
            self.engine.figures.clear_last_error();
        }
    }

    /// Polls now, whatever pause there is, and tells the result to a caller.
    pub(super) fn poll_for(&mut self, reply: oneshot::Sender<Result<(), PollFailure>>) {
        self.poll_waiters.add(reply);
        self.poll_due = true;
        self.retry = None;
    }

    fn plan_news(&mut self) {
        self.waiters.reset();
        for folder in self.folders.values_mut() {
            folder.news_due = true;
        }
    }
}

/// Polls the feed, and asks for the names of the devices whose changes it has shown, where they are not known.
async fn poll_with_devices(engine: &Engine) -> Result<PollResult, EngineError> {
    let result = feed::poll(engine).await?;
    if result != PollResult::More
        && engine.devices.is_due()
        && let Ok(devices) = engine.api.devices().await
    {
        // Those of the other members of a team are known from their checkpoints alone.
        let views = engine.index.read(|db| db.other_views())?;
        let names = views.into_iter().map(|view| (view.device, view.name));
        let listed = devices.into_iter().map(|d| (d.id, d.name));
        engine.devices.load(names.chain(listed));
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestEngine;
    use cairn_api::ApiError;
    use cairn_model::SyncState;
    use std::time::Duration;
    use tokio::sync::mpsc;

    fn dispatcher() -> (Dispatcher, tempfile::TempDir) {
        let test = TestEngine::new();
        let tuning = test.options.tuning();
        let (engine, dir) = test.into_engine();
        let (_, inbox) = mpsc::unbounded_channel();
        (Dispatcher::new(engine, inbox, tuning).unwrap(), dir)
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_an_overload_is_seen_at_once() {
        let (mut dispatcher, _dir) = dispatcher();
        dispatcher.poll_due = false;
        dispatcher.pause_steps(&EngineError::Api(ApiError::RateLimited {
            retry_after: Duration::from_secs(2),
        }));
        dispatcher.poll_if_due();
        dispatcher.finish_poll().await;
        assert!(dispatcher.retry.is_none(), "the service is left alone");
        tokio::time::advance(Duration::from_secs(2)).await;
        dispatcher.poll_if_due();
        dispatcher.finish_poll().await;
        assert!(dispatcher.retry.is_some(), "it was asked, and is offline");
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_asks_for_a_poll_hears_how_it_ended() {
        let (mut dispatcher, _, _dir) = TestEngine::new().into_dispatcher();
        dispatcher.back_off(&EngineError::Api(ApiError::Offline("no".into())));
        let (reply, mut result) = oneshot::channel();
        dispatcher.poll_for(reply);
        dispatcher.poll_if_due();
        dispatcher.finish_poll().await;
        let failure = result.try_recv().unwrap().unwrap_err();
        assert_eq!(failure.state, SyncState::Offline);
        assert!(failure.message.contains("reached"), "{failure:?}");
        dispatcher.folders.clear();
        let (reply, mut result) = oneshot::channel();
        dispatcher.poll_for(reply);
        dispatcher.poll_if_due();
        dispatcher.finish_poll().await;
        assert_eq!(result.try_recv(), Ok(Ok(())), "there is nothing to sync");
    }

    #[tokio::test(start_paused = true)]
    async fn a_service_that_does_not_answer_keeps_nothing_but_plans_waiting() {
        let (mut dispatcher, id, dir) = TestEngine::with_silent_service().into_dispatcher();
        std::fs::write(dir.path().join("f"), "new").unwrap();
        dispatcher.tick().await;
        assert!(dispatcher.is_polling() && dispatcher.is_reachable());
        assert!(!dispatcher.can_plan(), "what is new there is not known");
        assert!(!dispatcher.folders[&id].schedule.is_whole_due());
        let files = dispatcher.engine.index.read(|db| db.local_totals(id));
        assert_eq!(files.unwrap().0, 1, "the folder was scanned");
        let (reply, mut result) = oneshot::channel();
        dispatcher.poll_for(reply);
        dispatcher.tick().await;
        assert_eq!(dispatcher.polls.len(), 1, "one after the other");
        assert!(dispatcher.poll_due && result.try_recv().is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn however_much_news_there_is_folders_are_planned_between_two_polls() {
        let (mut dispatcher, id, _dir) = TestEngine::new().into_dispatcher();
        let result = Ok(PollResult::Changes);
        let polled = Polled {
            began: Instant::now(),
            waiters: PollWaiters::default(),
            result,
        };
        dispatcher.record_poll(Ok(polled)).await;
        dispatcher.poll_due = true;
        dispatcher.poll_if_due();
        assert!(!dispatcher.is_polling() && dispatcher.can_plan());
        assert!(dispatcher.folders[&id].news_due);
        assert!(dispatcher.tick().await, "the next poll follows at once");
        assert!(!dispatcher.is_polling());
        dispatcher.tick().await;
        assert!(dispatcher.is_polling() && !dispatcher.can_plan());
    }
}
