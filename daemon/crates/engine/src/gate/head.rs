//! The kind of a file's first bytes: whether they could be ciphertext.
//!
//! Ciphertext can't be told from random bytes: all byte values are equally frequent, as far as chance allows, and
//! no format begins it. Texts, programs, pictures and archives all fail one of the two.

use crate::observe::hash::local_stat;
use cairn_index::{Head, LocalStat, SHORTEST_HEAD};
use cairn_platform::Disk;
use std::io::{self, Read as _};
use std::path::Path;

/// The number of bytes that are read. Some ransomware encrypts no more than these.
const LENGTH: u64 = 4096;
/// The largest chi-square of random bytes: it is 255 on average with a deviation of 23, at any length. Of
/// compressed bytes without a signature it is mostly more, of everything else by far.
const MOST_OF_NOISE: f64 = 400.0;

/// The signatures of formats whose contents are compressed or encrypted, with their offsets.
const SIGNATURES: &[(usize, &[u8])] = &[
    (0, b"PK"),
    (0, b"\x1f\x8b"),
    (0, b"\x1f\x9d"),
    (0, b"BZh"),
    (0, b"\xfd7zXZ\0"),
    (0, b"\x28\xb5\x2f\xfd"),
    (0, b"\x04\x22\x4d\x18"),
    (0, b"7z\xbc\xaf\x27\x1c"),
    (0, b"Rar!"),
    (0, b"LZIP"),
    // Deflated, as git keeps its objects.
    (0, b"\x78\x01"),
    (0, b"\x78\x5e"),
    (0, b"\x78\x9c"),
    (0, b"\x78\xda"),
    (0, b"PACK"),
    (0, b"\xfftOc"),
    (0, b"\xff\xd8\xff"),
    (0, b"\x89PNG"),
    (0, b"GIF8"),
    (0, b"RIFF"),
    (0, b"II*\0"),
    (0, b"MM\0*"),
    (4, b"ftyp"),
    (0, b"OggS"),
    (0, b"fLaC"),
    (0, b"ID3"),
    (0, b"\x1a\x45\xdf\xa3"),
    (0, b"wOFF"),
    (0, b"wOF2"),
    (0, b"%PDF"),
    // What people encrypt themselves.
    (0, b"age-encryption.org"),
    (0, b"-----BEGIN"),
    (0, b"Salted__"),
    (0, b"\0GITCRYPT\0"),
    (0, b"LUKS"),
];

/// Returns the kind of a file's first bytes; `None` if the file isn't the one of that stat.
///
/// # Errors
/// Returns the error of the disk.
pub(super) fn head_of_file(
    disk: &dyn Disk,
    path: &Path,
    expected: &LocalStat,
) -> io::Result<Option<Head>> {
    if expected.size < SHORTEST_HEAD {
        return Ok(Some(Head::Short));
    }
    let mut file = disk.open(path)?;
    if local_stat(&file.stat()?) != *expected {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    (&mut file).take(LENGTH).read_to_end(&mut bytes)?;
    let unchanged = local_stat(&file.stat()?) == *expected;
    Ok(unchanged.then(|| head_of(&bytes)))
}

/// Returns the kind of the first bytes of a content.
pub(super) fn head_of(bytes: &[u8]) -> Head {
    let length = bytes.len().min(LENGTH as usize);
    let bytes = &bytes[..length];
    if (length as u64) < SHORTEST_HEAD {
        return Head::Short;
    }
    let has_signature = SIGNATURES.iter().any(|(at, signature)| {
        bytes
            .get(*at..)
            .is_some_and(|rest| rest.starts_with(signature))
    });
    if has_signature || chi_square(bytes) > MOST_OF_NOISE {
        Head::Structured
    } else {
        Head::Noise
    }
}

/// Returns how far the frequencies of the byte values are from equal ones, as Pearson's chi-square.
fn chi_square(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    let expected = bytes.len() as f64 / 256.0;
    let distance = |count: &u32| (f64::from(*count) - expected).powi(2) / expected;
    counts.iter().map(distance).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::testing::ciphertext;
    use cairn_platform::RealDisk;

    #[test]
    fn ciphertext_of_any_length_is_noise() {
        for (seed, length) in [256, 300, 1000, 4096, 100_000].into_iter().enumerate() {
            for round in 0..50 {
                let bytes = ciphertext((seed * 50 + round) as u64, length);
                assert_eq!(head_of(&bytes), Head::Noise, "{length} bytes");
            }
        }
        assert_eq!(head_of(&ciphertext(1, 255)), Head::Short);
    }

    #[test]
    fn a_key_before_the_ciphertext_hides_nothing() {
        let mut bytes = b"LOCKED!!".to_vec();
        bytes.extend(ciphertext(2, 4096));
        assert_eq!(head_of(&bytes), Head::Noise);
    }

    #[test]
    fn texts_tables_and_samples_are_structured() {
        let text = "It was a bright cold day in April. ".repeat(20);
        let table: Vec<u8> = (0..500_u16).flat_map(|n| (n * 31).to_le_bytes()).collect();
        // A tone of 16 bits, as sound and raw pictures have it.
        let tone: Vec<u8> = (0..2048)
            .map(|n| ((f64::from(n) * 0.05).sin() * 3000.0) as i16)
            .flat_map(i16::to_le_bytes)
            .collect();
        for bytes in [text.as_bytes(), &text.as_bytes()[..256], &table, &tone] {
            assert_eq!(head_of(bytes), Head::Structured);
        }
        // Letters alone, though they are random.
        let letters: Vec<u8> = ciphertext(3, 4096).iter().map(|b| b'a' + b % 26).collect();
        assert_eq!(head_of(&letters), Head::Structured);
    }

    #[test]
    fn a_known_format_is_structured_though_its_bytes_are_compressed() {
        for signature in [
            &b"PK\x03\x04"[..],
            b"\xff\xd8\xff\xe0",
            b"\0\0\0\x18ftypmp42",
        ] {
            let mut bytes = signature.to_vec();
            bytes.extend(ciphertext(4, 4096));
            assert_eq!(head_of(&bytes), Head::Structured);
        }
    }

    #[test]
    fn a_file_that_was_written_since_says_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, ciphertext(5, 5000)).unwrap();
        let disk = RealDisk::new();
        let stat = local_stat(&disk.stat(&path).unwrap());
        let head = head_of_file(&disk, &path, &stat).unwrap();
        assert_eq!(head, Some(Head::Noise));
        std::fs::write(&path, ciphertext(5, 5001)).unwrap();
        assert_eq!(head_of_file(&disk, &path, &stat).unwrap(), None);
    }
}
