//! The bandwidth limits in force: those of the settings, by the time of the day.

use crate::config::{Config, minute_of_day};
use cairn_engine::ports::Clock;
use cairn_transfer::Limits;
use std::time::Duration;

/// The length of a minute in milliseconds: schedules know nothing shorter.
const MINUTE_MS: u64 = 60_000;

/// Keeps the limits as the settings have them at each time, for as long as the daemon runs.
pub(super) async fn follow_schedules(
    config: impl Fn() -> Config,
    limits: &Limits,
    clock: &dyn Clock,
) {
    loop {
        apply(&config(), limits, clock);
        // The clock may be put, and its machine may sleep: it is looked at again each minute.
        let passed = u64::try_from(clock.now_ms().rem_euclid(60_000)).unwrap_or(0);
        tokio::time::sleep(Duration::from_millis(MINUTE_MS - passed)).await;
    }
}

/// Puts the limits of this moment in force. Transfers that wait notice at once.
pub(super) fn apply(config: &Config, limits: &Limits, clock: &dyn Clock) {
    let wanted = config.limits_at(minute_of_day(clock.now_ms(), clock.offset_s()));
    // Setting one lets what waits begin anew.
    if limits.up() != wanted.up {
        limits.set_up(wanted.up);
    }
    if limits.down() != wanted.down {
        limits.set_down(wanted.down);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering};
    use tokio::time::{Instant, advance};

    /// A clock that goes with the time of the test, an hour ahead of UTC, and can be put.
    struct TestClock {
        begin: Instant,
        begin_ms: AtomicI64,
    }

    impl Clock for TestClock {
        fn now_ms(&self) -> i64 {
            let passed = i64::try_from(self.begin.elapsed().as_millis()).unwrap();
            self.begin_ms.load(Ordering::Relaxed) + passed
        }

        fn offset_s(&self) -> i32 {
            3600
        }
    }

    /// Lets time pass, and the task that follows it run.
    async fn pass(seconds: u64) {
        tokio::task::yield_now().await;
        advance(Duration::from_secs(seconds)).await;
        tokio::task::yield_now().await;
    }

    #[tokio::test(start_paused = true)]
    async fn limits_change_with_the_clock_and_with_the_settings() {
        let config = Config::parse(
            "[limits]\nup = 100\nup_schedule = \"08:00-18:00 1MB/s\"\ndown_schedule = \"17:59-08:01 off, 08:01-09:00 7\"\n",
        );
        let config = Arc::new(Mutex::new(config.unwrap()));
        let limits = Arc::new(Limits::default());
        // 07:59:30 on the local clock.
        let clock = Arc::new(TestClock {
            begin: Instant::now(),
            begin_ms: AtomicI64::new((6 * 3600 + 59 * 60 + 30) * 1000),
        });
        let following = tokio::spawn({
            let (config, limits, clock) = (config.clone(), limits.clone(), clock.clone());
            async move { follow_schedules(|| config.lock().clone(), &limits, &*clock).await }
        });
        pass(29).await;
        assert_eq!((limits.up(), limits.down()), (Some(100), None));
        pass(2).await;
        assert_eq!((limits.up(), limits.down()), (Some(1_000_000), None));
        pass(60).await;
        assert_eq!((limits.up(), limits.down()), (Some(1_000_000), Some(7)));
        // The clock is put to the evening.
        clock.begin_ms.fetch_add(11 * 3_600_000, Ordering::Relaxed);
        pass(60).await;
        assert_eq!((limits.up(), limits.down()), (Some(100), None));
        config.lock().limits.up = None;
        apply(&config.lock(), &limits, &*clock);
        assert_eq!(limits.up(), None);
        following.abort();
    }
}
