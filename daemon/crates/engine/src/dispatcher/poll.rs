//! Polling the service: its feed, the feed's stream, and what happens while it can't be reached.

use super::{Dispatcher, POLL};
use crate::error::EngineError;
use crate::feed::{self, PollResult};
use cairn_model::SyncState;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Pauses between tries to reach the service.
const FIRST_RETRY: Duration = Duration::from_millis(500);
const LONGEST_RETRY: Duration = Duration::from_secs(30);

impl Dispatcher {
    /// Polls the feed if that is due, and attaches folders that are new.
    pub(super) async fn poll_feed(&mut self) {
        let now = Instant::now();
        if self.next_poll <= now {
            self.next_poll = now + POLL;
            self.poll_due = true;
        }
        match self.retry {
            Some((at, _)) if at > now => return,
            Some(_) => self.poll_due = true,
            None => {}
        }
        if !self.poll_due || self.folders.is_empty() {
            self.poll_due = false;
            return;
        }
        match self.try_poll_feed().await {
            Ok(PollResult::More) => {
                self.feed_incomplete = true;
                self.retry = None;
            }
            Ok(result) => {
                self.feed_incomplete = false;
                self.poll_due = false;
                self.retry = None;
                self.engine.figures.clear_last_error();
                self.next_poll = Instant::now() + POLL;
                if result != PollResult::Nothing {
                    self.plan_everything();
                }
                self.open_stream();
            }
            Err(error) => {
                // Part of the news may be recorded; the next poll does not report it again.
                self.plan_everything();
                self.back_off(&error);
            }
        }
    }

    fn plan_everything(&mut self) {
        self.waiters.reset();
        for folder in self.folders.values_mut() {
            folder.plan_due = true;
        }
    }

    async fn try_poll_feed(&mut self) -> Result<PollResult, EngineError> {
        let result = feed::poll(&self.engine).await?;
        if result == PollResult::More {
            return Ok(result);
        }
        if self.engine.devices.is_empty()
            && let Ok(devices) = self.engine.api.devices().await
        {
            let names = devices.into_iter().map(|d| (d.id, d.name));
            self.engine.devices.extend(names);
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
                    tokio::time::sleep(FIRST_RETRY).await;
                }
            }
            // Whatever came in between is polled; that opens the stream again.
            if news.send(()).is_err() {
                tracing::debug!("the dispatcher has stopped");
            }
        }));
    }

    /// Records a failure of the whole home in the status, and pauses before the next try.
    pub(super) fn back_off(&mut self, error: &EngineError) {
        let pause = self
            .retry
            .map_or(FIRST_RETRY, |(_, pause)| (pause * 2).min(LONGEST_RETRY));
        self.retry = Some((Instant::now() + pause, pause));
        let state = if error.is_offline() {
            SyncState::Offline
        } else {
            SyncState::Error
        };
        let problem = error.problem(String::new());
        let message = format!("{}; {}", problem.message, problem.hint);
        if self.engine.figures.set_last_error(state, message) {
            tracing::warn!(%error, "syncing stops for now");
        }
    }
}
