//! Contents for the tests of the gates.

/// Returns bytes as ciphertext has them; others for each seed.
pub(super) fn ciphertext(seed: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes());
    hasher.finalize_xof().fill(&mut bytes);
    // Not by chance the signature of a format.
    if let Some(first) = bytes.first_mut() {
        *first = 0xa7;
    }
    bytes
}
