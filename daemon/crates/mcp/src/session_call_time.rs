//! The time of a call, by which its changes are told from those that came later, such as the user's own: the sync
//! daemon of this machine names the same device as the tools, and a link names none.

use cairn_wire::Timestamp;
use std::time::Duration;
use tokio::time::Instant;

/// The milliseconds before and after a call in which its changes may lie: the clock of the service is another one, and
/// a request may be on the way for a while.
const TOLERANCE_MS: i64 = 2 * 60 * 1000;
/// The time after its end for which a call's change may still come.
const ARRIVES_WITHIN: Duration = Duration::from_secs(5 * 60);

/// The time of a call that changes something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallTime {
    begun: Timestamp,
    /// The time of its end, on both clocks of this machine.
    ended: Option<(Timestamp, Instant)>,
}

impl CallTime {
    /// Returns the time of a call that begins now.
    pub(crate) fn begin() -> Self {
        Self {
            begun: Timestamp::now(),
            ended: None,
        }
    }

    /// Notes that the call has ended, unless it has before.
    pub(crate) fn end(&mut self) {
        self.ended
            .get_or_insert_with(|| (Timestamp::now(), Instant::now()));
    }

    /// Returns true for a time of the service at which the call can have changed something.
    pub(crate) fn may_include(self, at: Timestamp) -> bool {
        let ended = self.ended.map_or_else(Timestamp::now, |(ended, _)| ended);
        let first = self.begun.0.saturating_sub(TOLERANCE_MS);
        let last = ended.0.saturating_add(TOLERANCE_MS);
        (first..=last).contains(&at.0)
    }

    /// Returns true if the call ended so long ago that nothing of it is on the way any more.
    pub(crate) fn is_over(self) -> bool {
        self.ended
            .is_some_and(|(_, ended)| ended.elapsed() > ARRIVES_WITHIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_long_before_or_after_a_call_is_not_its_own() {
        let minutes = |at: Timestamp, minutes: i64| Timestamp(at.0 + minutes * 60_000);
        let mut time = CallTime::begin();
        time.end();
        let now = Timestamp::now();
        for (offset, is_own) in [(-10, false), (-1, true), (0, true), (1, true), (10, false)] {
            assert_eq!(time.may_include(minutes(now, offset)), is_own, "{offset}");
        }
        // A call that takes long may change something at any time of it.
        let long = CallTime {
            begun: minutes(now, -30),
            ended: time.ended,
        };
        assert!(long.may_include(minutes(now, -15)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_is_over_some_minutes_after_its_end() {
        let mut time = CallTime::begin();
        tokio::time::advance(Duration::from_secs(3600)).await;
        assert!(!time.is_over(), "it runs");
        time.end();
        tokio::time::advance(Duration::from_secs(240)).await;
        assert!(!time.is_over());
        time.end();
        tokio::time::advance(Duration::from_secs(61)).await;
        assert!(time.is_over(), "its end is the first one");
    }
}
