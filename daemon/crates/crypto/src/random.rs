//! The source of randomness: a trait so narrow that tests and simulations can replay it.

use rand::TryRng as _;
use rand::rngs::SysRng;

/// A source of random bytes that nobody else can predict.
pub trait Random {
    /// Fills the whole slice with random bytes.
    fn fill(&mut self, out: &mut [u8]);
}

/// The operating system's generator.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    /// # Panics
    /// If the operating system's generator fails: there is no safe way to go on.
    fn fill(&mut self, out: &mut [u8]) {
        SysRng
            .try_fill_bytes(out)
            .expect("the operating system's random generator works");
    }
}

pub(crate) fn array<const N: usize>(rng: &mut dyn Random) -> [u8; N] {
    let mut out = [0; N];
    rng.fill(&mut out);
    out
}
