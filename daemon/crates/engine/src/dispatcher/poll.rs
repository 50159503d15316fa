//! Polling the service: its change feed, the stream of events that tells when to poll, and retries while it can't be
//! reached.

use super::{Dispatcher, POLL};
use crate::command::PollFailure;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::feed::{self, PollResult};
use cairn_api::ApiError;
use cairn_model::{BackOff, SyncState};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// Pauses between tries to reach the service.
const RETRIES: BackOff = BackOff {
    first: Duration::from_millis(500),
    most: Duration::from_secs(30),
};
/// A service that asks for a longer pause is tried again after this all the same.
const LONGEST_ASKED: Duration = Duration::from_secs(900);

/// A pause after failures in a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pause {
    pub(super) until: Instant,
    failures: u32,
}

impl Dispatcher {
    /// Polls the feed if that is due, and attaches folders that are new.
    pub(super) async fn poll_feed(&mut self) {
        let now = Instant::now();
        if self.next_poll <= now {
            self.next_poll = now + POLL;
            self.poll_due = true;
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
        // A step seals the state that it was planned for: a deletion must not seal a newer one that no plan has
        // seen.
        if !self.structure.is_empty() {
            return;
        }
        let polled = self.poll_noticing_silence().await;
        let outcome = polled.as_ref().map(drop).map_err(poll_failure);
        match polled {
            Ok(PollResult::More) => {
                self.feed_incomplete = true;
                self.record_answer(now);
            }
            Ok(result) => {
                self.feed_incomplete = false;
                self.poll_due = false;
                self.record_answer(now);
                self.next_poll = Instant::now() + POLL;
                if result != PollResult::Nothing {
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
        self.poll_waiters.reply(&outcome);
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

    pub(super) async fn try_poll_feed(&mut self) -> Result<PollResult, EngineError> {
        let result = feed::poll(&self.engine).await?;
        if result == PollResult::More {
            return Ok(result);
        }
        if self.engine.devices.is_due()
            && let Ok(devices) = self.engine.api.devices().await
        {
            let names = devices.into_iter().map(|d| (d.id, d.name));
            self.engine.devices.load(names);
        }
        self.attach_new_folders().await?;
        Ok(result)
    }

    /// Keeps the feed's stream open.
    fn open_stream(&mut self) {
        let open = self.stream.as_ref().is_some_and(|s| !s.is_finished());
        if !self.tuning.stream || open {
            return;
        }
        let engine = Arc::clone(&self.engine);
        let news = self.feed_sender.clone();
        self.stream = Some(tokio::spawn(async move {
            use futures_util::StreamExt as _;
            let Ok(from) = feed::cursor(&engine) else {
                return;
            };
            match engine.api.stream(from.as_ref()).await {
                Ok(mut stream) => {
                    while let Some(Ok(_)) = stream.next().await {
                        if news.send(()).is_err() {
                            return;
                        }
                    }
                    tracing::debug!("the feed's stream has ended; it is opened again");
                }
                Err(error) => {
                    tracing::debug!(%error, "the feed's stream can't be opened");
                    tokio::time::sleep(RETRIES.first).await;
                }
            }
            // Whatever came in between is polled; that opens the stream again.
            if news.send(()).is_err() {
                tracing::debug!("the dispatcher has stopped");
            }
        }));
    }

    /// Records a failure that concerns all folders in the status, and pauses before the next try.
    pub(super) fn back_off(&mut self, error: &EngineError) {
        self.retry = Some(self.next_pause(self.retry, error));
        self.refused_logins = match error.is_login_ended() {
            true => self.refused_logins.saturating_add(1),
            false => 0,
        };
        self.engine.report(error);
    }

    /// Records that the service carries out no steps now. Nothing is planned or sent until the next try, even
    /// if the feed can be polled.
    pub(super) fn pause_steps(&mut self, error: &EngineError) {
        self.steps_pause = Some(self.next_pause(self.steps_pause, error));
        self.engine.report(error);
    }

    /// Returns the pause before the next try: longer than the last one, or as long as the service asks for.
    fn next_pause(&self, last: Option<Pause>, error: &EngineError) -> Pause {
        let failures = last.map_or(0, |pause| pause.failures).saturating_add(1);
        let asked = error.overload().and_then(ApiError::retry_after);
        let asked = asked.unwrap_or_default().min(LONGEST_ASKED);
        let own = self.engine.ports.spread(RETRIES.after(failures));
        Pause {
            until: Instant::now() + own.max(asked),
            failures,
        }
    }
}

impl Engine {
    /// Records a failure that concerns all folders in the status.
    pub(super) fn report(&self, error: &EngineError) {
        let PollFailure { state, message, .. } = poll_failure(error);
        if self.figures.set_last_error(state, message) {
            tracing::warn!(%error, "syncing stops for now");
        }
    }
}

/// Returns a failure that concerns all folders as the status shows it.
pub(super) fn poll_failure(error: &EngineError) -> PollFailure {
    let problem = error.problem(String::new());
    PollFailure {
        state: match error.is_offline() {
            true => SyncState::Offline,
            false => SyncState::Error,
        },
        is_login_ended: error.is_login_ended(),
        message: format!("{}; {}", problem.message, problem.hint),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestEngine;
    use tokio::sync::mpsc;

    fn dispatcher() -> (Dispatcher, tempfile::TempDir) {
        let test = TestEngine::new();
        let tuning = test.options.tuning();
        let (engine, dir) = test.into_engine();
        let (_, inbox) = mpsc::unbounded_channel();
        (Dispatcher::new(engine, inbox, tuning).unwrap(), dir)
    }

    #[tokio::test(start_paused = true)]
    async fn the_service_is_left_alone_for_as_long_as_it_asks() {
        let (mut dispatcher, _dir) = dispatcher();
        let asked = Duration::from_secs(40);
        dispatcher.pause_steps(&EngineError::Api(ApiError::RateLimited {
            retry_after: asked,
        }));
        assert!(!dispatcher.is_reachable());
        tokio::time::advance(asked - Duration::from_millis(1)).await;
        assert!(!dispatcher.is_reachable());
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(dispatcher.is_reachable());
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_double_and_vary() {
        let (mut dispatcher, _dir) = dispatcher();
        let error = EngineError::Api(ApiError::Offline("no".into()));
        let mut whole = RETRIES.first;
        for _ in 0..10 {
            dispatcher.back_off(&error);
            let wait = dispatcher.retry.unwrap().until - Instant::now();
            assert!((whole / 2..=whole).contains(&wait), "{wait:?} of {whole:?}");
            whole = (whole * 2).min(RETRIES.most);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_an_overload_is_seen_at_once() {
        let (mut dispatcher, _dir) = dispatcher();
        dispatcher.poll_due = false;
        dispatcher.pause_steps(&EngineError::Api(ApiError::RateLimited {
            retry_after: Duration::from_secs(2),
        }));
        dispatcher.poll_feed().await;
        assert!(dispatcher.retry.is_none(), "the service is left alone");
        tokio::time::advance(Duration::from_secs(2)).await;
        dispatcher.poll_feed().await;
        assert!(dispatcher.retry.is_some(), "it was asked, and is offline");
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_asks_for_a_poll_hears_how_it_ended() {
        let (mut dispatcher, _, _dir) = TestEngine::new().into_dispatcher();
        dispatcher.back_off(&EngineError::Api(ApiError::Offline("no".into())));
        let (reply, mut result) = oneshot::channel();
        dispatcher.poll_for(reply);
        dispatcher.poll_feed().await;
        let failure = result.try_recv().unwrap().unwrap_err();
        assert_eq!(failure.state, SyncState::Offline);
        assert!(failure.message.contains("reached"), "{failure:?}");
        dispatcher.folders.clear();
        let (reply, mut result) = oneshot::channel();
        dispatcher.poll_for(reply);
        dispatcher.poll_feed().await;
        assert_eq!(result.try_recv(), Ok(Ok(())), "there is nothing to sync");
    }

    #[tokio::test]
    async fn a_dispatcher_that_goes_takes_its_stream_with_it() {
        let (mut dispatcher, _dir) = dispatcher();
        let (kept, dropped) = tokio::sync::oneshot::channel::<()>();
        dispatcher.stream = Some(tokio::spawn(async move {
            std::future::pending::<()>().await;
            drop(kept);
        }));
        drop(dispatcher);
        assert!(dropped.await.is_err(), "its task is gone");
    }
}
