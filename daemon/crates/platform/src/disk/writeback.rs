//! Long files on their way to the medium: it is asked to take the first pieces while the next ones are written, so that
//! the flush at the end waits for the last of them alone.
//!
//! Only an optimisation: nothing is durable before the flush, and an error of the medium is still its to return.

use std::fs::File;

/// Bytes after which the medium is asked to take what was written.
const PIECE: usize = 8 * 1024 * 1024;

/// The bytes of a file for which the medium was not asked yet.
#[derive(Debug, Default)]
pub(super) struct Writeback {
    waiting: usize,
}

impl Writeback {
    /// Counts bytes that were written, and asks the medium to take them where they are many.
    pub(super) fn add(&mut self, file: &File, written: usize) {
        self.waiting += written;
        if self.waiting >= PIECE {
            self.waiting = 0;
            start(file);
        }
    }
}

#[cfg(target_os = "linux")]
use linux::start;

/// Leaves it to the system where it can't be asked.
#[cfg(not(target_os = "linux"))]
fn start(_file: &File) {}

#[cfg(target_os = "linux")]
mod linux {
    #![expect(unsafe_code, reason = "no crate that is used here has the function")]

    use std::ffi::{c_int, c_uint};
    use std::fs::File;
    use std::os::fd::AsRawFd as _;

    /// Begins to write, and waits for nothing: `SYNC_FILE_RANGE_WRITE`.
    const WRITE: c_uint = 2;

    unsafe extern "C" {
        /// `sync_file_range(2)`: a length of 0 reaches to the end of the file.
        fn sync_file_range(fd: c_int, offset: i64, length: i64, flags: c_uint) -> c_int;
    }

    /// Asks for all of a file that has not reached the medium. File systems that can't do it leave it to the flush.
    pub(super) fn start(file: &File) {
        // SAFETY: the C library has the function with these types on all systems with 64-bit offsets, the descriptor is
        // open while `file` is borrowed, and no memory is handed over.
        unsafe { sync_file_range(file.as_raw_fd(), 0, 0, WRITE) };
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use std::io::Write as _;

    /// Returns the bytes that this thread has written and that were cut off again before they reached the medium.
    fn cancelled() -> usize {
        let counts = std::fs::read_to_string("/proc/thread-self/io").unwrap();
        let line = counts
            .lines()
            .find_map(|line| line.strip_prefix("cancelled_write_bytes: "));
        line.unwrap().parse().unwrap()
    }

    #[test]
    fn the_medium_takes_a_long_file_while_it_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let mut file = File::create_new(dir.path().join("f")).unwrap();
        let mut writeback = Writeback::default();
        let block = vec![7; PIECE / 8];
        for _ in 0..4 * 8 {
            file.write_all(&block).unwrap();
            writeback.add(&file, block.len());
        }
        let before = cancelled();
        file.set_len(0).unwrap();
        let left = cancelled() - before;
        assert!(left <= PIECE, "{left} bytes were left for the flush");
    }
}
