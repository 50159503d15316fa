//! A local file that is read only while it is what the scan saw.

use crate::error::Changing;
use crate::observe::hash::local_stat;
use cairn_index::LocalStat;
use cairn_platform::{Disk, ReadSeek};
use cairn_transfer::{Source, SourceReader};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;

/// A file that refuses to be read as anything but what the scan saw.
pub(crate) struct StableFile {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    stat: LocalStat,
}

struct StableReader {
    file: Box<dyn ReadSeek>,
    stat: LocalStat,
    at: u64,
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
        }))
    }
}

impl Read for StableReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(out)?;
        self.at += read as u64;
        // It grows, perhaps without end.
        if self.at > self.stat.size {
            return Err(io::Error::other(Changing));
        }
        // At the end: whatever was written meanwhile shows in the stat.
        if read == 0 && !out.is_empty() && local_stat(&self.file.stat()?) != self.stat {
            return Err(io::Error::other(Changing));
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
