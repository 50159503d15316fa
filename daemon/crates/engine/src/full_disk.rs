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

/// The room on a disk: free bytes, and how many more files it takes, if it says so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Room {
    pub(crate) free: u64,
    pub(crate) files: Option<u64>,
}

/// So much more that is free is something new, where the bytes of a file were free when it did not fit.
const MUCH_MORE: u64 = 16 << 20;

/// Returns whether something that did not fit may fit now; `then` is what was free: none if the disk had no room for more
/// files.
pub(crate) fn fits(wanted: u64, then: Option<u64>, now: Room) -> bool {
    let Some(then) = then else {
        return now.files.is_some_and(|files| files >= FEW_FILES);
    };
    wanted <= now.free && (wanted > then || now.free >= then.saturating_add(MUCH_MORE))
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
    fn what_did_not_fit_may_fit_once_there_is_more_room() {
        let room = |free, files| Room { free, files };
        for (wanted, then, now, expected) in [
            (10, Some(5), room(9, None), false),
            (10, Some(5), room(10, Some(0)), true),
            (10, Some(50), room(51, None), false),
            (10, Some(50), room(50 + MUCH_MORE, None), true),
            (10, None, room(1000, Some(3)), false),
            (10, None, room(1000, Some(100_000)), true),
        ] {
            assert_eq!(
                fits(wanted, then, now),
                expected,
                "{wanted} {then:?} {now:?}"
            );
        }
    }

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
