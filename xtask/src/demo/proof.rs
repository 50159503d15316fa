//! Proof of two claims: both sides hold the same, and the server can't read it.

use super::files::walk;
use aho_corasick::AhoCorasick;
use anyhow::{Context as _, Result, bail, ensure};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Number of places in the files that are searched for on the server.
const SAMPLES: usize = 64;
/// The bytes of a sample: enough that none turns up in other data by chance.
const SAMPLE_BYTES: usize = 24;
/// Samples with fewer distinct bytes occur everywhere.
const MIN_DISTINCT: usize = 8;

/// The digest of a folder, with its number of files and bytes.
pub(super) struct FolderDigest {
    pub(super) files: u64,
    pub(super) bytes: u64,
    /// BLAKE3 over names and contents, in hexadecimal.
    pub(super) hash: String,
}

/// Checks that two folders hold the same names and contents.
pub(super) fn equal(one: &Path, other: &Path) -> Result<FolderDigest> {
    let (left, right) = (digest(one)?, digest(other)?);
    if left.hash == right.hash {
        return Ok(left);
    }
    let (ours, theirs) = (walk(one)?, walk(other)?);
    let different = ours
        .iter()
        .find(|path| fs::read(one.join(path)).ok() != fs::read(other.join(path)).ok())
        .or_else(|| theirs.iter().find(|path| !ours.contains(path)));
    match different {
        Some(path) => bail!("the two sides differ, first at {}", path.display()),
        None => bail!("the two sides differed a moment ago"),
    }
}

fn digest(root: &Path) -> Result<FolderDigest> {
    let mut hasher = blake3::Hasher::new();
    let (mut files, mut bytes) = (0, 0);
    for path in walk(root)? {
        let content = fs::read(root.join(&path)).with_context(|| path.display().to_string())?;
        let name = path.to_string_lossy();
        // Lengths first, so that no name can pass for content.
        hasher.update(&(name.len() as u64).to_le_bytes());
        hasher.update(name.as_bytes());
        hasher.update(&(content.len() as u64).to_le_bytes());
        hasher.update(&content);
        files += 1;
        bytes += content.len() as u64;
    }
    Ok(FolderDigest {
        files,
        bytes,
        hash: hasher.finalize().to_hex().to_string(),
    })
}

/// The result of a search for plaintext.
pub(super) struct Search {
    pub(super) samples: usize,
    /// Bytes looked through.
    pub(super) searched: u64,
    /// Samples that turned up on the server.
    pub(super) found: usize,
    /// Samples that turned up in the folder they were taken from: all, or the search is worth nothing.
    pub(super) control: usize,
}

/// Searches for pieces of the files of `folder` in all files below `data`.
pub(super) fn search(folder: &Path, data: &Path) -> Result<Search> {
    let samples = samples(folder)?;
    let searcher = AhoCorasick::new(&samples)?;
    let (found, searched) = find(&searcher, data)?;
    let (control, _) = find(&searcher, folder)?;
    Ok(Search {
        samples: samples.len(),
        searched,
        found: found.len(),
        control: control.len(),
    })
}

fn samples(folder: &Path) -> Result<Vec<Vec<u8>>> {
    let files = walk(folder)?;
    let step = (files.len() / SAMPLES).max(1);
    let mut samples = BTreeSet::new();
    for path in files.iter().step_by(step).take(SAMPLES) {
        let content = fs::read(folder.join(path))?;
        let middle = content.len() / 2;
        if let Some(piece) = content.get(middle..middle + SAMPLE_BYTES) {
            let distinct: BTreeSet<u8> = piece.iter().copied().collect();
            if distinct.len() >= MIN_DISTINCT {
                samples.insert(piece.to_vec());
            }
        }
    }
    ensure!(
        !samples.is_empty(),
        "the files are too small to take samples of"
    );
    Ok(samples.into_iter().collect())
}

/// Returns the samples that occur below `dir`, and the number of bytes searched.
fn find(searcher: &AhoCorasick, dir: &Path) -> Result<(BTreeSet<usize>, u64)> {
    let mut found = BTreeSet::new();
    let mut searched = 0;
    for path in walk(dir)? {
        let content = fs::read(dir.join(&path))?;
        searched += content.len() as u64;
        found.extend(
            searcher
                .find_overlapping_iter(&content)
                .map(|place| place.pattern().as_usize()),
        );
    }
    Ok((found, searched))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "the quick brown fox jumps over the lazy dog, and then some more of it";

    #[test]
    fn plaintext_on_the_server_is_found() {
        let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(folder.path().join("a"), TEXT).unwrap();
        fs::write(data.path().join("sealed"), [7; 1000]).unwrap();
        let clean = search(folder.path(), data.path()).unwrap();
        assert_eq!((clean.found, clean.control, clean.samples), (0, 1, 1));
        fs::write(data.path().join("leak"), format!("--{TEXT}--")).unwrap();
        assert_eq!(search(folder.path(), data.path()).unwrap().found, 1);
    }

    #[test]
    fn different_sides_are_reported_with_a_path() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for dir in [&one, &other] {
            fs::write(dir.path().join("a"), TEXT).unwrap();
        }
        assert_eq!(equal(one.path(), other.path()).unwrap().files, 1);
        fs::write(other.path().join("b"), "more").unwrap();
        let error = equal(one.path(), other.path()).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("first at b"), "{error}");
        fs::write(other.path().join("a"), "less").unwrap();
        let error = equal(one.path(), other.path()).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("first at a"), "{error}");
    }
}
