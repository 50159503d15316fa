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
        // What has no zeros to leave out is one write.
        let (mut written, mut at) = (0, 0);
        for block in bytes.chunks(BLOCK) {
            let end = at + block.len();
            if is_zero(block) && leave_hole(&mut **file, offset + at as u64, block.len())? {
                write_at(&mut **file, offset + written as u64, &bytes[written..at])?;
                written = end;
            }
            at = end;
        }
        write_at(&mut **file, offset + written as u64, &bytes[written..])
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        self.file().set_len(size)
    }
}

fn write_at(file: &mut dyn TempFile, at: u64, bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    file.seek(SeekFrom::Start(at))?;
    io::Write::write_all(file, bytes)
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
    use cairn_platform::{Disk as _, RealDisk, Stat};
    use std::io::{Read, Seek, Write};
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::Relaxed;

    /// A temporary file that counts the writes.
    struct Counted(Box<dyn TempFile>, Arc<AtomicUsize>);

    impl Counted {
        fn new(dir: &Path) -> (Self, Arc<AtomicUsize>) {
            let writes = Arc::new(AtomicUsize::new(0));
            let file = RealDisk::new().create_temp(dir, "t").unwrap();
            (Self(file, writes.clone()), writes)
        }
    }

    impl Read for Counted {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.0.read(out)
        }
    }

    impl Write for Counted {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1.fetch_add(1, Relaxed);
            self.0.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            self.0.flush()
        }
    }

    impl Seek for Counted {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    impl TempFile for Counted {
        fn path(&self) -> &Path {
            self.0.path()
        }

        fn stat(&self) -> io::Result<Stat> {
            self.0.stat()
        }

        fn set_len(&mut self, len: u64) -> io::Result<()> {
            self.0.set_len(len)
        }

        fn set_modified(&mut self, ms: i64) -> io::Result<()> {
            self.0.set_modified(ms)
        }

        fn set_executable(&mut self, executable: bool) -> io::Result<()> {
            self.0.set_executable(executable)
        }

        fn sync(&mut self) -> io::Result<()> {
            self.0.sync()
        }
    }

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

    #[test]
    fn bytes_without_zeros_are_one_write_and_zeros_end_it() {
        let dir = tempfile::tempdir().unwrap();
        let (counted, writes) = Counted::new(dir.path());
        let target = TempTarget::new(Box::new(counted));
        let mut bytes = vec![7; 8 * BLOCK + 5];
        target.write_at(3, &bytes).unwrap();
        assert_eq!(writes.swap(0, Relaxed), 1);
        bytes[2 * BLOCK..4 * BLOCK].fill(0);
        let end = target.size().unwrap();
        target.write_at(end, &bytes).unwrap();
        assert_eq!(writes.swap(0, Relaxed), 2);
        let mut expected = vec![0; 3];
        expected.extend(vec![7; 8 * BLOCK + 5]);
        expected.extend(bytes);
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
