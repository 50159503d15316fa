//! A full disk: the space that a failed step needed, and the space that is free; or that it can't hold more files.

use crate::error::{EngineError, explain};
use crate::key::Key;
use crate::step::Ctx;
use cairn_model::ProblemCode;

/// The number of files that a disk may say it has room for, though it has none: those of steps that run beside the one
/// that failed may have gone since.
const FEW_FILES: u64 = 64;

/// The reason why something didn't fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FullDisk {
    /// Figures for people, in bytes: the size of the file, and what is free.
    Bytes { wanted: u64, free: u64 },
    /// The file system has no room for another file, whatever its size.
    Files,
}

impl FullDisk {
    fn of(wanted: u64, free: u64, files: Option<u64>) -> Self {
        match files {
            Some(files) if files < FEW_FILES && wanted < free => Self::Files,
            Some(_) | None => Self::Bytes { wanted, free },
        }
    }
}

/// Measures what a person wants to know after a failure, if it is one of a full disk.
pub(crate) fn measure(ctx: &Ctx, key: Key, error: &EngineError) -> Option<FullDisk> {
    if explain(error).0.code() != ProblemCode::DiskFull {
        return None;
    }
    let size = ctx.engine.index.read(|db| {
        Ok(match key {
            Key::Node(node) => db.remote_row(node)?.map(|row| row.size),
            Key::Local(local) => db.local_row(local)?.map(|row| row.stat.size),
        })
    });
    // Without the figures the problem is reported all the same.
    let wanted = size.ok().flatten().unwrap_or_default();
    let disk = &ctx.engine.ports.disk;
    let free = disk.free_space(ctx.root()).ok()?;
    // A figure that can't be had is none.
    let files = disk.free_files(ctx.root()).ok().flatten();
    Some(FullDisk::of(wanted, free, files))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_has_bytes_but_no_room_for_files_is_full_of_files() {
        let bytes = |wanted, free| FullDisk::Bytes { wanted, free };
        for (wanted, free, files, full) in [
            (10, 1000, Some(0), FullDisk::Files),
            (10, 1000, Some(3), FullDisk::Files),
            (10, 1000, Some(100_000), bytes(10, 1000)),
            (10, 1000, None, bytes(10, 1000)),
            (10, 0, Some(0), bytes(10, 0)),
        ] {
            assert_eq!(FullDisk::of(wanted, free, files), full);
        }
    }
}
