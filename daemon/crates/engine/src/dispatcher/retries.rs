//! Pauses between tries to reach a service that fails, and what the status says meanwhile.

use super::Dispatcher;
use super::retry_pause::Pause;
use crate::command::PollFailure;
use crate::engine::Engine;
use crate::error::EngineError;

impl Dispatcher {
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

    fn next_pause(&self, last: Option<Pause>, error: &EngineError) -> Pause {
        Pause::after(last, error, |pause| self.engine.ports.spread(pause))
    }
}

impl Engine {
    /// Records a failure that concerns all folders in the status.
    pub(super) fn report(&self, error: &EngineError) {
        let PollFailure { state, message, .. } = PollFailure::of(error);
        if self.figures.set_last_error(state, message) {
            tracing::warn!(%error, "syncing stops for now");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatcher::retry_pause::RETRIES;
    use crate::testing::TestEngine;
    use cairn_api::ApiError;
    use std::time::Duration;
    use tokio::time::Instant;

    #[tokio::test(start_paused = true)]
    async fn the_service_is_left_alone_for_as_long_as_it_asks() {
        let (mut dispatcher, _, _dir) = TestEngine::new().into_dispatcher();
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
        let (mut dispatcher, _, _dir) = TestEngine::new().into_dispatcher();
        let error = EngineError::Api(ApiError::Offline("no".into()));
        let mut whole = RETRIES.first;
        for _ in 0..10 {
            dispatcher.back_off(&error);
            let wait = dispatcher.retry.unwrap().until - Instant::now();
            assert!((whole / 2..=whole).contains(&wait), "{wait:?} of {whole:?}");
            whole = (whole * 2).min(RETRIES.most);
        }
    }
}
