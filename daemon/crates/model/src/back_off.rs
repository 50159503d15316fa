//! Waiting longer after each failure in a row.

use std::time::Duration;

/// A wait that doubles with each failure in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackOff {
    /// The wait after the first failure.
    pub first: Duration,
    /// No wait is longer.
    pub most: Duration,
}

impl BackOff {
    /// Returns the wait after this number of failures in a row; none without a failure.
    #[must_use]
    pub fn after(self, failures: u32) -> Duration {
        let Some(doublings) = failures.checked_sub(1) else {
            return Duration::ZERO;
        };
        let factor = 1_u32.checked_shl(doublings).unwrap_or(u32::MAX);
        self.first.saturating_mul(factor).min(self.most)
    }
}

/// Returns between half and the whole of a wait (jitter), so that clients that failed together don't all retry at
/// the same time. `random` is from 0 to 1, from the caller: this crate draws no randomness.
#[must_use]
pub fn spread(wait: Duration, random: f64) -> Duration {
    wait.mul_f64(0.5 + random.clamp(0.0, 1.0) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_from_the_first_to_the_longest_and_stay_there() {
        let back_off = BackOff {
            first: Duration::from_millis(500),
            most: Duration::from_secs(30),
        };
        let seconds = |failures| back_off.after(failures).as_secs_f64();
        assert_eq!(
            [0, 1, 2, 3, 6, 7, 8].map(seconds),
            [0.0, 0.5, 1.0, 2.0, 16.0, 30.0, 30.0]
        );
        for many in [31, 32, 33, 34, 1000, u32::MAX] {
            assert_eq!(back_off.after(many), back_off.most, "{many}");
        }
    }

    #[test]
    fn a_first_wait_above_the_longest_is_cut() {
        let back_off = BackOff {
            first: Duration::from_secs(3),
            most: Duration::from_secs(2),
        };
        assert_eq!(back_off.after(1), back_off.most);
    }

    #[test]
    fn a_spread_wait_is_between_half_and_the_whole() {
        let wait = Duration::from_secs(2);
        let spread = |random| spread(wait, random).as_secs_f64();
        assert_eq!([0.0, 0.5, 1.0].map(spread), [1.0, 1.5, 2.0]);
        assert_eq!([-1.0, 7.0].map(spread), [1.0, 2.0]);
    }
}
