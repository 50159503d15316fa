//! A local file that is read only while it is what the scan saw.

use crate::error::Changing;
use crate::observe::hash::local_stat;
use cairn_index::LocalStat;
use cairn_platform::{Disk, ReadSeek};
use cairn_transfer::{Source, SourceReader};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;

/// The number of bytes after which the stat is checked again.
const CHECKED_EVERY: u64 = 64 * 1024 * 1024;

/// A file whose reads fail once it is no longer the one that the scan saw.
pub(crate) struct StableFile {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    stat: LocalStat,
}

struct StableReader {
    file: Box<dyn ReadSeek>,
    stat: LocalStat,
    at: u64,
    /// Bytes since the stat was looked at.
    unchecked: u64,
}

impl StableFile {
    pub(crate) fn new(disk: Arc<dyn Disk>, path: PathBuf, stat: LocalStat) -> Self {
        Self { disk, path, stat }
    }
}

impl Source for StableFile {
    fn open(&self) -> io::Result<Box<dyn SourceReader>> {
        let file = self.disk.open(&self.path)?;
        if local_stat(&file.stat()?) != self.stat {
            return Err(io::Error::other(Changing));
        }
        Ok(Box::new(StableReader {
            file,
            stat: self.stat,
            at: 0,
            unchecked: 0,
        }))
    }

    fn state(&self) -> Option<[u8; 32]> {
        let LocalStat {
            size,
            mtime,
            ctime,
            device,
            inode,
            birth,
        } = self.stat;
        let mut hasher = blake3::Hasher::new();
        for number in [size, device, inode] {
            hasher.update(&number.to_be_bytes());
        }
        for time in [Some(mtime), Some(ctime), birth] {
            hasher.update(&[u8::from(time.is_some())]);
            hasher.update(&time.unwrap_or_default().to_be_bytes());
        }
        hasher.update(self.path.as_os_str().as_encoded_bytes());
        Some(*hasher.finalize().as_bytes())
    }
}

impl Read for StableReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(out)?;
        self.at += read as u64;
        self.unchecked += read as u64;
        // It grows, perhaps without end.
        if self.at > self.stat.size {
            return Err(io::Error::other(Changing));
        }
        // Whatever was written meanwhile shows in the stat: at the end, and on the way to it, so that a
        // large file that is being written is not read for nothing.
        let at_end = read == 0 && !out.is_empty();
        if at_end || self.unchecked >= CHECKED_EVERY {
            self.unchecked = 0;
            if local_stat(&self.file.stat()?) != self.stat {
                return Err(io::Error::other(Changing));
            }
        }
        Ok(read)
    }
}

impl Seek for StableReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = self.file.seek(to)?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_platform::RealDisk;
    use std::fs;

    fn stable_file(path: &std::path::Path) -> StableFile {
        let disk = Arc::new(RealDisk::new());
        let stat = local_stat(&disk.stat(path).unwrap());
        StableFile::new(disk, path.to_owned(), stat)
    }

    #[test]
    fn a_file_that_is_larger_than_its_stat_is_read_no_further() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "1234").unwrap();
        let mut reader = stable_file(&path).open().unwrap();
        fs::write(&path, vec![0; 1024 * 1024]).unwrap();
        let mut bytes = Vec::new();
        let error = reader.read_to_end(&mut bytes).unwrap_err();
        assert!(crate::error::is_changing(&error), "{error}");
        assert!(bytes.len() < 1024 * 1024, "{} bytes were read", bytes.len());
    }

    #[test]
    fn a_file_that_was_written_since_is_not_opened() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "1234").unwrap();
        let file = stable_file(&path);
        fs::write(&path, "12345").unwrap();
        let error = file.open().err().unwrap();
        assert!(crate::error::is_changing(&error), "{error}");
    }
}
