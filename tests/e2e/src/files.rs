//! Actions on the files of one folder, and the short scripts that describe them.
//!
//! A script is a list of operations separated by `;`:
//! `path=text` writes a file in place, `append path=text`, `path/` or `mkdir path` makes a folder with
//! its parents, `rm path`, `rm -r path`, `mv from to` (as rename(2): replaces a file), `touch path`.

use anyhow::{Context, Result, bail};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The files below one folder.
#[derive(Clone, Debug)]
pub struct Files {
    root: PathBuf,
}

impl Files {
    #[must_use]
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    #[must_use]
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.join(path)
    }

    /// Does what a script says.
    ///
    /// # Errors
    /// An operation that fails, or is not in the language.
    pub fn run(&self, script: &str) -> Result<()> {
        for line in script
            .split(';')
            .map(str::trim)
            .filter(|line| !line.is_empty())
        {
            self.one(line)
                .with_context(|| format!("`{line}` in {}", self.root.display()))?;
        }
        Ok(())
    }

    fn one(&self, line: &str) -> Result<()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["rm", "-r", path] => self.remove_dir(path),
            ["rm", path] => self.remove(path),
            ["mv", from, to] => self.rename(from, to),
            ["mkdir", path] => self.mkdir(path),
            ["touch", path] => self.touch(path, SystemTime::now()),
            [path] if path.ends_with('/') && !path.contains('=') => self.mkdir(path),
            ["append", ..] => {
                let (path, text) = assignment(line.trim_start_matches("append").trim_start())?;
                self.append(path, text)
            }
            _ => {
                let (path, text) = assignment(line)?;
                self.write(path, text)
            }
        }
    }

    /// Writes a file in place, as an editor without temporary files does; makes missing parents.
    ///
    /// # Errors
    /// Returns the error of the file system.
    pub fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Result<()> {
        let path = self.path(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, content).with_context(|| format!("{} can't be written", path.display()))
    }

    /// Writes a file of random bytes, the same for the same seed. Holds one piece in memory.
    ///
    /// # Errors
    /// Returns the error of the file system.
    pub fn write_random(&self, path: impl AsRef<Path>, size: u64, seed: u64) -> Result<()> {
        let path = self.path(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut file = File::create(&path)?;
        let mut piece = vec![0; 1 << 20];
        let mut left = size;
        while left > 0 {
            let now = usize::try_from(left.min(1 << 20))?;
            random.fill(&mut piece[..now]);
            file.write_all(&piece[..now])?;
            left -= now as u64;
        }
        Ok(())
    }

    /// # Errors
    /// Returns the error of the file system.
    pub fn append(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) -> Result<()> {
        let mut file = File::options()
            .append(true)
            .create(true)
            .open(self.path(path))?;
        Ok(file.write_all(text.as_ref())?)
    }

    /// # Errors
    /// Returns the error of the file system.
    pub fn read(&self, path: impl AsRef<Path>) -> Result<Vec<u8>> {
        let path = self.path(path);
        fs::read(&path).with_context(|| format!("{} can't be read", path.display()))
    }

    /// Returns `true` if the path exists, as a dangling link too.
    #[must_use]
    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        fs::symlink_metadata(self.path(path)).is_ok()
    }

    /// # Errors
    /// Returns the error of the file system.
    pub fn remove(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(fs::remove_file(self.path(path))?)
    }

    /// # Errors
    /// Returns the error of the file system.
    pub fn remove_dir(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(fs::remove_dir_all(self.path(path))?)
    }

    /// Removes everything in the folder that a person sees, as `rm -rf *` does.
    ///
    /// # Errors
    /// Returns the error of the file system.
    pub fn remove_everything(&self) -> Result<()> {
        for entry in fs::read_dir(&self.root)? {
            let entry = entry?;
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            if entry.file_type()?.is_dir() {
                fs::remove_dir_all(entry.path())?;
            } else {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    /// # Errors
    /// Returns the error of the file system.
    pub fn rename(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<()> {
        Ok(fs::rename(self.path(from), self.path(to))?)
    }

    /// # Errors
    /// Returns the error of the file system.
    pub fn mkdir(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(fs::create_dir_all(self.path(path))?)
    }

    /// # Errors
    /// Returns the error of the file system.
    pub fn symlink(&self, target: impl AsRef<Path>, link: impl AsRef<Path>) -> Result<()> {
        Ok(symlink(target, self.path(link))?)
    }

    /// # Errors
    /// Returns the error of the file system.
    pub fn hard_link(&self, original: impl AsRef<Path>, link: impl AsRef<Path>) -> Result<()> {
        Ok(fs::hard_link(self.path(original), self.path(link))?)
    }

    /// Sets the modification time.
    ///
    /// # Errors
    /// Returns the error of the file system.
    pub fn touch(&self, path: impl AsRef<Path>, modified: SystemTime) -> Result<()> {
        let file = File::options().append(true).open(self.path(path))?;
        Ok(file.set_modified(modified)?)
    }

    /// # Errors
    /// Returns the error of the file system.
    pub fn modified_time(&self, path: impl AsRef<Path>) -> Result<SystemTime> {
        Ok(fs::metadata(self.path(path))?.modified()?)
    }

    /// Moves the modification time by whole seconds, into the past if negative.
    ///
    /// # Errors
    /// Returns the error of the file system.
    pub fn shift_modified(&self, path: impl AsRef<Path>, seconds: i64) -> Result<()> {
        let now = self.modified_time(&path)?;
        let by = Duration::from_secs(seconds.unsigned_abs());
        self.touch(path, if seconds < 0 { now - by } else { now + by })
    }

    /// # Errors
    /// Returns the error of the file system.
    pub fn chmod(&self, path: impl AsRef<Path>, mode: u32) -> Result<()> {
        Ok(fs::set_permissions(
            self.path(path),
            fs::Permissions::from_mode(mode),
        )?)
    }

    /// The permission bits.
    ///
    /// # Errors
    /// Returns the error of the file system.
    pub fn mode(&self, path: impl AsRef<Path>) -> Result<u32> {
        Ok(fs::metadata(self.path(path))?.mode() & 0o777)
    }
}

fn assignment(line: &str) -> Result<(&str, &str)> {
    match line.split_once('=') {
        Some((path, text)) => Ok((path.trim(), text)),
        None => bail!("expected `path=text`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn a_script_does_what_it_says() {
        let dir = tempfile::tempdir().unwrap();
        let files = Files::new(dir.path().to_owned());
        files
            .run("a=1; d/b=22; e/f/; append a=2; mv d/b e/f/c; rm -r d; x=x; rm x; touch a")
            .unwrap();
        let tree = Tree::of(dir.path()).unwrap();
        assert_eq!(Tree::literal("a=12; e/f/c=22").difference(&tree), None);
        assert!(files.run("rm nothing").is_err());
        assert!(files.run("dance").is_err());
    }
}
