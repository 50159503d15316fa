//! The one source of time and randomness.
//!
//! Everything that the server makes up (ids, keys, nonces, the change feed's history id) and every time that it
//! looks at comes from here, so that a seed and a virtual clock give the same run twice.

use parking_lot::Mutex;
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha12Rng;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The origin of the time; both kinds can be put forward by [`Source::advance`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// The machine's clock.
    #[default]
    System,
    /// Stands still at this many milliseconds since 1970-01-01 UTC.
    Virtual { start_ms: i64 },
}

/// Time and randomness.
pub struct Source {
    clock: Clock,
    offset_ms: AtomicI64,
    rng: Mutex<ChaCha12Rng>,
}

impl Source {
    pub fn new(clock: Clock, seed: Option<u64>) -> Self {
        let rng = seed.map_or_else(
            || ChaCha12Rng::from_rng(&mut rand::rng()),
            ChaCha12Rng::seed_from_u64,
        );
        Self {
            clock,
            offset_ms: AtomicI64::new(0),
            rng: Mutex::new(rng),
        }
    }

    /// Milliseconds since 1970-01-01 UTC.
    #[must_use]
    pub fn now_ms(&self) -> i64 {
        let base = match self.clock {
            Clock::System => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| {
                    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
                }),
            Clock::Virtual { start_ms } => start_ms,
        };
        base.saturating_add(self.offset_ms.load(Ordering::SeqCst))
    }

    /// Puts the time forward.
    pub fn advance(&self, ms: u64) {
        self.offset_ms
            .fetch_add(i64::try_from(ms).unwrap_or(i64::MAX), Ordering::SeqCst);
    }

    /// Takes back everything that [`Source::advance`] added.
    pub fn reset_time(&self) {
        self.offset_ms.store(0, Ordering::SeqCst);
    }

    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut out = [0; N];
        self.rng.lock().fill_bytes(&mut out);
        out
    }

    /// A short random text: 8 hexadecimal digits.
    pub(crate) fn nonce(&self) -> String {
        hex::encode(self.bytes::<4>())
    }

    /// A random id of any of the model's id types.
    pub(crate) fn id<T>(&self, make: fn([u8; 16]) -> T) -> T {
        make(self.bytes())
    }

    /// True with the given probability.
    pub fn chance(&self, probability: f64) -> bool {
        self.rng.lock().random_bool(probability.clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_draws_the_same() {
        let draw = || {
            let source = Source::new(Clock::Virtual { start_ms: 5 }, Some(7));
            source.advance(10);
            (source.bytes::<16>(), source.nonce(), source.now_ms())
        };
        assert_eq!(draw(), draw());
        assert_eq!(draw().2, 15);
        assert_ne!(Source::new(Clock::System, Some(8)).bytes::<16>(), draw().0);
    }
}
