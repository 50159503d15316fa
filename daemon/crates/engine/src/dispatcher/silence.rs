//! A service that takes requests and does not answer: the status must not say meanwhile that something goes on.

use super::Dispatcher;
use super::poll::poll_failure;
use crate::error::EngineError;
use crate::feed::PollResult;
use cairn_api::ApiError;
use std::sync::Arc;
use std::time::Duration;

/// A service of which nothing has arrived for this long counts as away; the request goes on.
const SILENCE: Duration = Duration::from_secs(10);

impl Dispatcher {
    /// Polls the feed. While the service is silent, the status says so, and those who wait for the poll are told.
    pub(super) async fn poll_noticing_silence(&mut self) -> Result<PollResult, EngineError> {
        let engine = Arc::clone(&self.engine);
        // Nobody can be added meanwhile: the dispatcher takes no command while it polls.
        let mut waiters = std::mem::take(&mut self.poll_waiters);
        let received = || engine.api.counters().snapshot().received;
        let result = {
            let polling = self.try_poll_feed();
            tokio::pin!(polling);
            loop {
                let before = received();
                if let Ok(result) = tokio::time::timeout(SILENCE, &mut polling).await {
                    break result;
                }
                if received() == before {
                    let silent = silent();
                    waiters.reply(&Err(poll_failure(&silent)));
                    engine.report(&silent);
                    engine.announce_status();
                }
            }
        };
        self.poll_waiters = waiters;
        result
    }
}

fn silent() -> EngineError {
    let seconds = SILENCE.as_secs();
    EngineError::Api(ApiError::Offline(format!(
        "it has not answered for {seconds} s"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestEngine;
    use cairn_model::SyncState;
    use tokio::sync::oneshot;
    use tokio::time::Instant;

    #[tokio::test(start_paused = true)]
    async fn a_service_that_never_answers_is_away() {
        let (mut dispatcher, _, _dir) = TestEngine::with_silent_service().into_dispatcher();
        let engine = Arc::clone(&dispatcher.engine);
        let mut events = engine.events.subscribe();
        let (reply, result) = oneshot::channel();
        dispatcher.poll_for(reply);
        let polling = tokio::spawn(async move { dispatcher.poll_feed().await });
        let failure = result.await.unwrap().unwrap_err();
        assert_eq!(failure.state, SyncState::Offline);
        assert!(failure.message.contains("10 s"), "{failure:?}");
        events.recv().await.unwrap();
        let status = engine.status();
        assert_eq!(
            (status.state, status.message),
            (SyncState::Offline, Some(failure.message))
        );
        assert!(!polling.is_finished(), "it goes on waiting");
        polling.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_ends_that_unless_the_service_carries_out_no_steps() {
        let (mut dispatcher, _, _dir) = TestEngine::new().into_dispatcher();
        let engine = Arc::clone(&dispatcher.engine);
        engine.report(&silent());
        dispatcher.record_answer(Instant::now());
        assert_eq!(engine.figures.error_state(), None);
        dispatcher.pause_steps(&silent());
        dispatcher.record_answer(Instant::now());
        assert_eq!(engine.figures.error_state(), Some(SyncState::Offline));
    }
}
