//! Reading a file for its hash.

use cairn_index::LocalStat;
use cairn_model::ContentHash;
use cairn_platform::{Disk, Stat};
use std::io::{self, Read as _};
use std::path::Path;

/// A read is this long; the hash runs at several gigabytes a second.
const PIECE: usize = 256 * 1024;

/// Returns the part of a stat that the index keeps. Times and sizes of directories say nothing.
pub(crate) fn local_stat(stat: &Stat) -> LocalStat {
    let is_file = stat.kind == cairn_platform::FileKind::File;
    LocalStat {
        size: if is_file { stat.size } else { 0 },
        mtime: if is_file { stat.mtime_ns } else { 0 },
        ctime: if is_file { stat.ctime_ns } else { 0 },
        device: stat.file_id.device,
        inode: stat.file_id.inode,
        birth: stat.birth_ns,
    }
}

/// Returns the hash of a file whose stat is `expected` before and after; `None` if it is being changed.
///
/// # Errors
/// Returns the error of the disk.
pub(crate) fn hash_file(
    disk: &dyn Disk,
    path: &Path,
    expected: &LocalStat,
) -> io::Result<Option<ContentHash>> {
    let mut file = disk.open(path)?;
    if local_stat(&file.stat()?) != *expected {
        return Ok(None);
    }
    let mut hasher = blake3::Hasher::new();
    let mut size = 0;
    let mut piece = vec![0; PIECE];
    loop {
        match file.read(&mut piece)? {
            0 => break,
            n => {
                size += n as u64;
                // It grows, perhaps without end.
                if size > expected.size {
                    return Ok(None);
                }
                hasher.update(&piece[..n]);
            }
        }
    }
    let unchanged =
        local_stat(&file.stat()?) == *expected && local_stat(&disk.stat(path)?) == *expected;
    Ok(unchanged.then(|| ContentHash(*hasher.finalize().as_bytes())))
}
