//! Open files of the simulated disk.

use super::faults::Call;
use super::files::Files;
use super::node::Node;
use super::state::SimDisk;
use cairn_platform::{Disk as _, ReadSeek, Stat, TempFile};
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) struct Open {
    pub(super) bytes: Cursor<Vec<u8>>,
    pub(super) identity: (u64, Option<i64>),
    pub(super) path: PathBuf,
    pub(super) disk: SimDisk,
}

impl Read for Open {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = &mut self.bytes;
        self.disk.serve(Call::Read, || bytes.read(out))
    }
}

impl Seek for Open {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

impl ReadSeek for Open {
    fn stat(&self) -> io::Result<Stat> {
        let stat = self.disk.stat(&self.path)?;
        if (stat.file_id.inode, stat.birth_ns) == self.identity {
            Ok(stat)
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }
}

pub(super) struct Temp {
    pub(super) path: PathBuf,
    pub(super) disk: SimDisk,
    pub(super) at: u64,
}

impl Temp {
    fn change(&mut self, f: impl FnOnce(&mut Node, i64)) -> io::Result<()> {
        let change = |files: &mut Files| {
            let now = files.tick();
            f(files.get_mut(&self.path)?, now);
            Ok(())
        };
        self.disk.serve(Call::Write, || self.disk.files(change))
    }
}

impl Read for Temp {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let data = |files: &mut Files| Ok(Arc::clone(&files.get(&self.path)?.data));
        let data = self.disk.serve(Call::Read, || self.disk.files(data))?;
        let from = usize::try_from(self.at)
            .unwrap_or(usize::MAX)
            .min(data.len());
        let n = out.len().min(data.len() - from);
        out[..n].copy_from_slice(&data[from..from + n]);
        self.at += n as u64;
        Ok(n)
    }
}

impl Write for Temp {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let at = usize::try_from(self.at).unwrap_or(usize::MAX);
        self.change(|node, now| {
            let data = Arc::make_mut(&mut node.data);
            data.resize(data.len().max(at + bytes.len()), 0);
            data[at..at + bytes.len()].copy_from_slice(bytes);
            (node.mtime, node.ctime) = (now, now);
        })?;
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Temp {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let size = self.stat()?.size;
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => size.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

impl TempFile for Temp {
    fn path(&self) -> &Path {
        &self.path
    }

    fn stat(&self) -> io::Result<Stat> {
        self.disk.stat(&self.path)
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.change(|node, now| {
            Arc::make_mut(&mut node.data).resize(usize::try_from(len).unwrap_or(0), 0);
            (node.mtime, node.ctime) = (now, now);
        })
    }

    fn set_modified(&mut self, ms: i64) -> io::Result<()> {
        let change = |files: &mut Files| {
            let (now, time) = (files.tick(), files.kept_time(ms * 1_000_000));
            let node = files.get_mut(&self.path)?;
            (node.mtime, node.ctime) = (time, now);
            Ok(())
        };
        self.disk.serve(Call::Write, || self.disk.files(change))
    }

    fn set_executable(&mut self, executable: bool) -> io::Result<()> {
        self.change(|node, now| node.set_executable(executable, now))
    }

    fn sync(&mut self) -> io::Result<()> {
        self.disk.serve(Call::Write, || {
            self.disk.flush();
            Ok(())
        })
    }
}
