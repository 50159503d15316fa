//! A temporary file as the target of a transfer.

use cairn_platform::TempFile;
use cairn_transfer::Target;
use parking_lot::{Mutex, MutexGuard};
use std::io::{self, SeekFrom};
use std::path::PathBuf;

/// The bytes that are left out of the disk if all of them are zero: those of a sparse file, such as the disk of a virtual
/// machine, would fill this one.
const BLOCK: usize = 64 * 1024;

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
        let mut at = offset;
        for block in bytes.chunks(BLOCK) {
            if !is_zero(block) || !leave_hole(&mut **file, at, block.len())? {
                file.seek(SeekFrom::Start(at))?;
                io::Write::write_all(&mut **file, block)?;
            }
            at += block.len() as u64;
        }
        Ok(())
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        self.file().set_len(size)
    }
}

/// Returns whether all bytes are zero, of at most [`BLOCK`].
fn is_zero(bytes: &[u8]) -> bool {
    static ZEROS: [u8; BLOCK] = [0; BLOCK];
    ZEROS.get(..bytes.len()) == Some(bytes)
}

/// Makes the file long enough for zeros at a place, and returns whether they are there by that: what it had there before
/// may be something else.
fn leave_hole(file: &mut dyn TempFile, at: u64, length: usize) -> io::Result<bool> {
    let size = file.stat()?.size;
    let end = at + length as u64;
    let kept = end.min(size).saturating_sub(at);
    if kept > 0 {
        let mut present = vec![1; usize::try_from(kept).unwrap_or(length)];
        file.seek(SeekFrom::Start(at))?;
        io::Read::read_exact(file, &mut present)?;
        if !is_zero(&present) {
            return Ok(false);
        }
    }
    if size < end {
        file.set_len(end)?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_platform::{Disk as _, RealDisk};

    fn target(dir: &tempfile::TempDir) -> TempTarget {
        TempTarget::new(RealDisk::new().create_temp(dir.path(), "t").unwrap())
    }

    fn content(target: &TempTarget) -> Vec<u8> {
        let mut bytes = vec![1; usize::try_from(target.size().unwrap()).unwrap()];
        target.read_at(0, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn zeros_are_there_whatever_was_there_before() {
        let dir = tempfile::tempdir().unwrap();
        let target = target(&dir);
        let mut expected = vec![7; 3 * BLOCK];
        target.write_at(0, &expected).unwrap();
        let zeros = vec![0; 4 * BLOCK + 5];
        target.write_at(BLOCK as u64 + 3, &zeros).unwrap();
        expected.truncate(BLOCK + 3);
        expected.extend(&zeros);
        assert!(content(&target) == expected);
        target.write_at(0, &zeros[..3]).unwrap();
        expected[..3].fill(0);
        assert!(content(&target) == expected);
    }

    #[cfg(unix)]
    #[test]
    fn the_zeros_of_a_sparse_file_take_no_room() {
        use std::os::unix::fs::MetadataExt as _;
        let dir = tempfile::tempdir().unwrap();
        let target = target(&dir);
        let mut bytes = vec![0; 256 * BLOCK];
        bytes[0] = 1;
        target.write_at(0, &bytes).unwrap();
        assert_eq!(target.size().unwrap(), bytes.len() as u64);
        let taken = std::fs::metadata(target.path()).unwrap().blocks() * 512;
        assert!(taken < bytes.len() as u64 / 8, "{taken} bytes");
        assert!(content(&target) == bytes);
    }
}
