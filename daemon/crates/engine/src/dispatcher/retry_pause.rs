//! The pause after failures of the service in a row.

use crate::error::EngineError;
use cairn_api::ApiError;
use cairn_model::BackOff;
use std::time::Duration;
use tokio::time::Instant;

/// Pauses between tries to reach the service.
pub(super) const RETRIES: BackOff = BackOff {
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

impl Pause {
    /// Returns the pause before the next try: longer than the last one, or as long as the service asks for. `spread`
    /// varies a pause, so that not all devices come back at once.
    pub(super) fn after(
        last: Option<Self>,
        error: &EngineError,
        spread: impl Fn(Duration) -> Duration,
    ) -> Self {
        let failures = last.map_or(0, |pause| pause.failures).saturating_add(1);
        let asked = error.overload().and_then(ApiError::retry_after);
        let asked = asked.unwrap_or_default().min(LONGEST_ASKED);
        let own = spread(RETRIES.after(failures));
        Self {
            until: Instant::now() + own.max(asked),
            failures,
        }
    }
}
