//! A service that takes requests and does not answer: the status must not say meanwhile that something goes on.

use super::waiters::PollWaiters;
use crate::command::PollFailure;
use crate::engine::Engine;
use crate::error::EngineError;
use cairn_api::ApiError;
use std::time::Duration;

/// A service of which nothing has arrived for this long counts as away; the request goes on.
const SILENCE: Duration = Duration::from_secs(10);

/// Waits for something that the service is asked for. While it is silent, the status says so, and those who wait are
/// told.
pub(super) async fn noticing_silence<T>(
    engine: &Engine,
    waiters: &mut PollWaiters,
    asking: impl Future<Output = T>,
) -> T {
    tokio::pin!(asking);
    let received = || engine.api.counters().snapshot().received;
    loop {
        let before = received();
        if let Ok(result) = tokio::time::timeout(SILENCE, &mut asking).await {
            return result;
        }
        if received() == before {
            let silent = silent();
            waiters.reply(&Err(PollFailure::of(&silent)));
            engine.report(&silent);
            engine.announce_status();
        }
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
    use std::sync::Arc;
    use tokio::sync::oneshot;
    use tokio::time::Instant;

    #[tokio::test(start_paused = true)]
    async fn a_service_that_never_answers_is_away() {
        let (mut dispatcher, _, _dir) = TestEngine::with_silent_service().into_dispatcher();
        let engine = Arc::clone(&dispatcher.engine);
        let mut events = engine.events.subscribe();
        let (reply, result) = oneshot::channel();
        dispatcher.poll_for(reply);
        dispatcher.poll_if_due();
        let failure = result.await.unwrap().unwrap_err();
        assert_eq!(failure.state, SyncState::Offline);
        assert!(failure.message.contains("10 s"), "{failure:?}");
        events.recv().await.unwrap();
        let status = engine.status();
        assert_eq!(
            (status.state, status.message),
            (SyncState::Offline, Some(failure.message))
        );
        assert!(dispatcher.is_polling(), "it goes on waiting");
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
