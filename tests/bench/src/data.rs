//! The data that is measured: seeded, so that every run and every peer has the same bytes.

use anyhow::{Context, Result};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

/// Files in one directory of a generated tree.
const PER_DIRECTORY: usize = 100;
/// Spread of the log-normal sizes: most files are a few KB, some a hundred times that.
const SIGMA: f64 = 1.5;

/// Files and bytes of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Amount {
    pub(crate) files: usize,
    pub(crate) bytes: u64,
}

/// Makes `files` files of together about `bytes` bytes, their sizes log-normal.
pub(crate) fn small_files(root: &Path, files: usize, bytes: u64, seed: u64) -> Result<Amount> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let weights: Vec<f64> = (0..files)
        .map(|_| (SIGMA * normal(&mut random)).exp())
        .collect();
    let unit = bytes as f64 / weights.iter().sum::<f64>();
    let mut made = Amount::default();
    let mut content = Vec::new();
    for (n, weight) in weights.iter().enumerate() {
        let size = (weight * unit).clamp(1.0, 4_000_000.0) as usize;
        content.resize(size, 0);
        random.fill(&mut content[..]);
        let dir = root.join(format!("{:03}", n / PER_DIRECTORY));
        if n % PER_DIRECTORY == 0 {
            fs::create_dir_all(&dir)?;
        }
        fs::write(dir.join(format!("{n:06}.dat")), &content)?;
        made.files += 1;
        made.bytes += size as u64;
    }
    Ok(made)
}

/// Makes one file of random bytes.
pub(crate) fn big_file(path: &Path, bytes: u64, seed: u64) -> Result<()> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut file =
        File::create(path).with_context(|| format!("{} can't be made", path.display()))?;
    let mut piece = vec![0; 1 << 20];
    let mut left = bytes;
    while left > 0 {
        let now = left.min(1 << 20) as usize;
        random.fill(&mut piece[..now]);
        file.write_all(&piece[..now])?;
        left -= now as u64;
    }
    Ok(())
}

/// Overwrites 16 bytes in the middle of a file.
pub(crate) fn edit_middle(path: &Path, seed: u64) -> Result<()> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut file = File::options().write(true).open(path)?;
    let middle = file.metadata()?.len() / 2;
    file.seek(SeekFrom::Start(middle))?;
    let mut bytes = [0; 16];
    random.fill(&mut bytes[..]);
    Ok(file.write_all(&bytes)?)
}

/// Counts what a person sees below a folder: nothing whose name begins with a dot.
pub(crate) fn amount(root: &Path) -> Result<Amount> {
    let mut found = Amount::default();
    let Ok(entries) = fs::read_dir(root) else {
        return Ok(found);
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let Ok(meta) = entry.metadata() else {
            continue;
        };
        if meta.is_dir() {
            let below = amount(&entry.path())?;
            found.files += below.files;
            found.bytes += below.bytes;
        } else {
            found.files += 1;
            found.bytes += meta.len();
        }
    }
    Ok(found)
}

/// Removes the files below a folder and leaves the folders.
pub(crate) fn remove_files(root: &Path) -> Result<()> {
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_files(&entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// A standard normal number (Box and Muller, 1958).
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let first: f64 = random.random_range(f64::EPSILON..1.0);
    let second: f64 = random.random_range(0.0..1.0);
    (-2.0 * first.ln()).sqrt() * (std::f64::consts::TAU * second).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_files_leave_their_folders() {
        let root = tempfile::tempdir().unwrap();
        small_files(root.path(), 150, 15_000, 1).unwrap();
        remove_files(root.path()).unwrap();
        assert_eq!(amount(root.path()).unwrap(), Amount::default());
        assert!(root.path().join("000").is_dir() && root.path().join("001").is_dir());
    }

    #[test]
    fn a_tree_has_the_amount_that_was_asked_for_and_is_the_same_each_time() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let made = small_files(one.path(), 300, 600_000, 1).unwrap();
        assert_eq!(made, small_files(two.path(), 300, 600_000, 1).unwrap());
        assert_eq!(made, amount(one.path()).unwrap());
        assert_eq!(made.files, 300);
        assert!((550_000..=600_300).contains(&made.bytes), "{made:?}");
    }

    #[test]
    fn an_edit_changes_sixteen_bytes_in_the_middle() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("big");
        big_file(&path, 3_000_000, 1).unwrap();
        let before = fs::read(&path).unwrap();
        edit_middle(&path, 2).unwrap();
        let after = fs::read(&path).unwrap();
        let changed: Vec<usize> = (0..before.len())
            .filter(|&n| before[n] != after[n])
            .collect();
        assert!(changed.iter().all(|n| (1_500_000..1_500_016).contains(n)) && !changed.is_empty());
    }
}
