//! Randomness that can be replayed, for the tests of this crate.

use cairn_crypto::Random;

/// The output of BLAKE3 for a seed: the same in every run.
pub(crate) struct Seeded(blake3::OutputReader);

impl Seeded {
    pub(crate) fn new(seed: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(seed.as_bytes());
        Self(hasher.finalize_xof())
    }
}

impl Random for Seeded {
    fn fill(&mut self, out: &mut [u8]) {
        self.0.fill(out);
    }
}
