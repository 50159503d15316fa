//! Randomness for waiting times and idempotency keys; not for secrets.

/// Gives random bytes; a simulator gives seeded ones.
pub trait Entropy: Send + Sync {
    /// Fills the buffer.
    fn fill(&self, bytes: &mut [u8]);
}

/// The thread's own generator.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        rand::fill(bytes);
    }
}

/// Returns a number from 0 up to, not including, 1.
pub(crate) fn fraction(entropy: &dyn Entropy) -> f64 {
    let mut bytes = [0; 4];
    entropy.fill(&mut bytes);
    f64::from(u32::from_le_bytes(bytes)) / 4_294_967_296.0
}

/// Returns a new idempotency key.
pub(crate) fn key(entropy: &dyn Entropy) -> String {
    let mut bytes = [0; 16];
    entropy.fill(&mut bytes);
    uuid::Builder::from_random_bytes(bytes)
        .into_uuid()
        .to_string()
}
