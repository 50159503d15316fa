//! Bandwidth limits: a token bucket for each direction, changeable while transfers run.

use parking_lot::Mutex;
use std::time::Duration;
use tokio::sync::{Mutex as FairMutex, Notify};
use tokio::time::Instant;

/// Limits in bytes per second, up and down; shared by all transfers of a daemon.
#[derive(Debug, Default)]
pub struct Limits {
    up: Bucket,
    down: Bucket,
}

impl Limits {
    /// Starts with the given limits; `None` is unlimited.
    #[must_use]
    pub fn new(up: Option<u64>, down: Option<u64>) -> Self {
        let limits = Self::default();
        limits.set_up(up);
        limits.set_down(down);
        limits
    }

    /// Limits what goes to the server; `None` lifts the limit. Waiting transfers notice at once.
    pub fn set_up(&self, bytes_per_second: Option<u64>) {
        self.up.set(bytes_per_second);
    }

    /// Limits what comes from the server; `None` lifts the limit. Waiting transfers notice at once.
    pub fn set_down(&self, bytes_per_second: Option<u64>) {
        self.down.set(bytes_per_second);
    }

    /// Returns the limit of what goes to the server.
    #[must_use]
    pub fn up(&self) -> Option<u64> {
        self.up.state.lock().rate
    }

    /// Returns the limit of what comes from the server.
    #[must_use]
    pub fn down(&self) -> Option<u64> {
        self.down.state.lock().rate
    }

    pub(crate) async fn take_up(&self, bytes: usize) {
        self.up.take(bytes as u64).await;
    }

    pub(crate) async fn take_down(&self, bytes: usize) {
        self.down.take(bytes as u64).await;
    }
}

/// The most bytes of a request that doesn't wait behind larger ones.
const SMALL: u64 = cairn_crypto::MIN_CHUNK as u64;

#[derive(Debug, Default)]
struct Bucket {
    state: Mutex<State>,
    changed: Notify,
    /// Larger requests go in the order in which they come.
    line: FairMutex<()>,
}

#[derive(Debug, Default)]
struct State {
    rate: Option<u64>,
    /// The time at which everything let through so far is paid for.
    paid_at: Option<Instant>,
    /// The time at which all small requests let through so far would be paid for if there were no
    /// others.
    small_paid_at: Option<Instant>,
}

impl Bucket {
    fn set(&self, rate: Option<u64>) {
        let mut state = self.state.lock();
        // A rate of nothing would wait for ever: pausing is another thing than limiting.
        *state = State {
            rate: rate.map(|rate| rate.max(1)),
            ..State::default()
        };
        drop(state);
        self.changed.notify_waiters();
    }

    /// Waits until everything before is paid for, then lets `bytes` through on credit: what is
    /// larger than a second's worth needs no bucket of its size. A small request waits for other small ones
    /// only; larger ones pay for it.
    async fn take(&self, bytes: u64) {
        let _turn = match bytes {
            0..=SMALL => None,
            _ => Some(self.line.lock().await),
        };
        loop {
            let changed = self.changed.notified();
            let Some(wait_until) = self.try_take(bytes, Instant::now()) else {
                return;
            };
            tokio::select! {
                () = tokio::time::sleep_until(wait_until) => {}
                () = changed => {}
            }
        }
    }

    fn try_take(&self, bytes: u64, now: Instant) -> Option<Instant> {
        let mut state = self.state.lock();
        let rate = state.rate?;
        let is_small = bytes <= SMALL;
        let before = if is_small {
            state.small_paid_at
        } else {
            state.paid_at
        };
        if let Some(paid_at) = before.filter(|at| *at > now) {
            return Some(paid_at);
        }
        let cost = Duration::from_secs_f64(bytes as f64 / rate as f64);
        state.paid_at = state.paid_at.unwrap_or(now).max(now).checked_add(cost);
        if is_small {
            state.small_paid_at = now.checked_add(cost);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_limit_spreads_bytes_over_time() {
        let limits = Limits::new(Some(1000), None);
        let begin = Instant::now();
        for _ in 0..4 {
            limits.take_up(500).await;
        }
        let took = begin.elapsed();
        assert!(
            took >= Duration::from_millis(1500) && took < Duration::from_millis(1600),
            "{took:?}"
        );
        limits.take_down(usize::MAX).await;
        assert!(begin.elapsed() < Duration::from_millis(1600));
    }

    #[tokio::test(start_paused = true)]
    async fn lifting_a_limit_frees_who_waits() {
        let limits = std::sync::Arc::new(Limits::new(Some(1), None));
        let begin = Instant::now();
        limits.take_up(1_000_000).await;
        let waiting = tokio::spawn({
            let limits = limits.clone();
            async move { limits.take_up(1).await }
        });
        tokio::task::yield_now().await;
        limits.set_up(None);
        waiting.await.unwrap();
        assert!(begin.elapsed() < Duration::from_secs(1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_small_request_does_not_wait_for_large_ones_but_they_for_it() {
        const LARGE: usize = 4 * SMALL as usize;
        let limits = std::sync::Arc::new(Limits::new(Some(SMALL), None));
        let begin = Instant::now();
        limits.take_up(LARGE).await;
        let waiting = tokio::spawn({
            let limits = limits.clone();
            async move { limits.take_up(LARGE).await }
        });
        tokio::task::yield_now().await;
        limits.take_up(SMALL as usize).await;
        assert_eq!(begin.elapsed(), Duration::ZERO);
        limits.take_up(SMALL as usize).await;
        assert!(begin.elapsed() < Duration::from_secs(2));
        waiting.await.unwrap();
        assert!(begin.elapsed() >= Duration::from_secs(6));
    }
}
