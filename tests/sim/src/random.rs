//! One seed, many independent streams of randomness.

use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use std::sync::{Arc, Mutex, PoisonError};

/// A seeded stream; clones share it.
#[derive(Clone)]
pub struct Seeded(Arc<Mutex<ChaCha8Rng>>);

impl Seeded {
    /// The stream number `stream` of a seed.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream);
        Self(Arc::new(Mutex::new(rng)))
    }

    fn with<T>(&self, f: impl FnOnce(&mut ChaCha8Rng) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A number from 0 to `below` - 1.
    #[must_use]
    pub fn below(&self, below: usize) -> usize {
        self.with(|rng| rng.random_range(0..below.max(1)))
    }

    /// True once in `n` times.
    #[must_use]
    pub fn one_in(&self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of the given.
    #[must_use]
    pub fn pick<'a, T>(&self, from: &'a [T]) -> Option<&'a T> {
        if from.is_empty() {
            None
        } else {
            from.get(self.below(from.len()))
        }
    }
}

impl cairn_crypto::Random for Seeded {
    fn fill(&mut self, out: &mut [u8]) {
        self.with(|rng| rng.fill_bytes(out));
    }
}

impl cairn_api::Entropy for Seeded {
    fn fill(&self, out: &mut [u8]) {
        self.with(|rng| rng.fill_bytes(out));
    }
}

/// Returns bytes that don't compress, and that no two numbers share.
#[must_use]
pub fn noise(number: u32, length: usize) -> Vec<u8> {
    let mut state = number.wrapping_mul(2_654_435_761).max(1);
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state as u8
        })
        .collect()
}
