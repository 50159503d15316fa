//! A temporary file as the target of a transfer.

use cairn_platform::TempFile;
use cairn_transfer::Target;
use parking_lot::{Mutex, MutexGuard};
use std::io::{self, SeekFrom};
use std::path::PathBuf;

/// A temporary file as a transfer wants it.
pub(super) struct TempTarget(Mutex<Box<dyn TempFile>>);

impl TempTarget {
    pub(super) fn new(file: Box<dyn TempFile>) -> Self {
        Self(Mutex::new(file))
    }

    fn file(&self) -> MutexGuard<'_, Box<dyn TempFile>> {
        self.0.lock()
    }

    pub(super) fn path(&self) -> PathBuf {
        self.file().path().to_owned()
    }

    /// Sets the attributes and waits until all of it is on the medium. Returns the path.
    ///
    /// # Errors
    /// Returns the error of the disk.
    pub(super) fn finish(&self, executable: bool, modified_ms: i64) -> io::Result<PathBuf> {
        let mut file = self.file();
        file.set_executable(executable)?;
        file.set_modified(modified_ms)?;
        file.sync()?;
        Ok(file.path().to_owned())
    }
}

impl Target for TempTarget {
    fn size(&self) -> io::Result<u64> {
        Ok(self.file().stat()?.size)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut file = self.file();
        file.seek(SeekFrom::Start(offset))?;
        io::Read::read_exact(&mut **file, out)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.file();
        file.seek(SeekFrom::Start(offset))?;
        io::Write::write_all(&mut **file, bytes)
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        self.file().set_len(size)
    }
}
