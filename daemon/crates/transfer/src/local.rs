//! The two local ends of a transfer: what is read, and what is written.
//!
//! A target is a temporary file or memory, never a final path: putting it in place is the caller's.

use parking_lot::{Mutex, MutexGuard};
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// An open source.
pub trait SourceReader: Read + Seek + Send {}

impl<T: Read + Seek + Send> SourceReader for T {}

/// A file to upload. It is opened once to be chunked, and again to be sent.
pub trait Source: Send + Sync {
    /// Opens the file at its beginning.
    ///
    /// # Errors
    /// Returns the error of the disk.
    fn open(&self) -> io::Result<Box<dyn SourceReader>>;

    /// Returns what tells the file as it is now from others, and from what it was or will be; `None` if nothing does.
    fn state(&self) -> Option<[u8; 32]> {
        None
    }
}

/// A file to download into. Bytes that are in it already are kept where they are right.
pub trait Target: Send + Sync {
    /// Returns the length in bytes.
    ///
    /// # Errors
    /// Returns the error of the disk.
    fn size(&self) -> io::Result<u64>;

    /// Fills the buffer with the bytes from `offset` on.
    ///
    /// # Errors
    /// Returns the error of the disk, also if there are fewer.
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()>;

    /// Writes the bytes at `offset`, lengthening the file as needed.
    ///
    /// # Errors
    /// Returns the error of the disk.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Cuts the file to a length.
    ///
    /// # Errors
    /// Returns the error of the disk.
    fn set_size(&self, size: u64) -> io::Result<()>;
}

/// Makes a temporary file in the folder of its final place, so that putting it there is one rename; with
/// the permissions that the user gives to new files.
///
/// # Errors
/// Returns the error of the disk.
pub fn temp_in(dir: &Path) -> io::Result<NamedTempFile> {
    let open = |path: &Path| {
        File::options()
            .create_new(true)
            .read(true)
            .write(true)
            .open(path)
    };
    tempfile::Builder::new()
        .prefix(".cairn-")
        .make_in(dir, open)
}

/// A source on disk.
#[derive(Clone, Debug)]
pub struct FileSource(pub PathBuf);

impl Source for FileSource {
    fn open(&self) -> io::Result<Box<dyn SourceReader>> {
        Ok(Box::new(File::open(&self.0)?))
    }
}

/// A source in memory.
#[derive(Clone, Debug)]
pub struct BytesSource(pub bytes::Bytes);

impl Source for BytesSource {
    fn open(&self) -> io::Result<Box<dyn SourceReader>> {
        Ok(Box::new(Cursor::new(self.0.clone())))
    }
}

/// A target on disk: a file open for reading and writing.
#[derive(Debug)]
pub struct FileTarget(Mutex<File>);

impl FileTarget {
    #[must_use]
    pub fn new(file: File) -> Self {
        Self(Mutex::new(file))
    }

    /// Gives the file back.
    #[must_use]
    pub fn into_file(self) -> File {
        self.0.into_inner()
    }

    fn at(&self, offset: u64) -> io::Result<MutexGuard<'_, File>> {
        let mut file = self.lock();
        file.seek(SeekFrom::Start(offset))?;
        Ok(file)
    }

    fn lock(&self) -> MutexGuard<'_, File> {
        // Every use seeks first, so a panic in another one leaves nothing half done here.
        self.0.lock()
    }
}

impl Target for FileTarget {
    fn size(&self) -> io::Result<u64> {
        Ok(self.lock().metadata()?.len())
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.at(offset)?.read_exact(out)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.at(offset)?.write_all(bytes)
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        self.lock().set_len(size)
    }
}

/// A target in memory.
#[derive(Debug, Default)]
pub struct MemoryTarget(Mutex<Vec<u8>>);

impl MemoryTarget {
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Mutex::new(bytes))
    }

    /// Takes the bytes out, leaving none.
    #[must_use]
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock()
    }
}

impl Target for MemoryTarget {
    fn size(&self) -> io::Result<u64> {
        Ok(self.lock().len() as u64)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let bytes = self.lock();
        let start = index(offset)?;
        let end = start
            .checked_add(out.len())
            .ok_or(io::ErrorKind::InvalidInput)?;
        out.copy_from_slice(bytes.get(start..end).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, offset: u64, new: &[u8]) -> io::Result<()> {
        let mut bytes = self.lock();
        let start = index(offset)?;
        let end = start
            .checked_add(new.len())
            .ok_or(io::ErrorKind::InvalidInput)?;
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        bytes[start..end].copy_from_slice(new);
        Ok(())
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        self.lock().resize(index(size)?, 0);
        Ok(())
    }
}

fn index(offset: u64) -> io::Result<usize> {
    usize::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput.into())
}
