//! Files whose times can't tell yet whether they change.
//!
//! Some disks keep times in steps of ten milliseconds to two seconds (exFAT, FAT, HFS+, ext3, some network disks). A
//! file that is written twice within one step, with the same size, has one stat with two contents. So what was changed
//! there is recorded when the same stat was found twice, with more than a step between: what is read from then on is
//! the last content of that stat, and any later write gives another one. The time between the two looks is measured
//! here, since the clocks of disks may be wrong.

use crate::error::{Changing, EngineError};
use crate::observe::hash::local_stat;
use cairn_index::LocalStat;
use cairn_model::{LocalId, RelPath};
use cairn_platform::{FileKind, Stat};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// A change that is older than this by the clock of this device is over, however wrong that or the disk's is.
const RECENT_MS: i64 = 48 * 60 * 60 * 1000;
/// Nanoseconds in a millisecond.
const NS: i64 = 1_000_000;

/// The knowledge of earlier scans.
#[derive(Clone, Default, Debug)]
pub(crate) struct Earlier {
    /// Milliseconds since 1970-01-01 UTC.
    pub(crate) now_ms: i64,
    /// Rows that a scan missed long enough ago to believe it now.
    pub(crate) confirmed_missing: BTreeSet<LocalId>,
    /// Files that are not left to a later scan any more.
    pub(crate) settled: BTreeMap<RelPath, SettledFile>,
}

/// A file that a scan leaves to a later one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct UnsettledFile {
    pub(crate) stat: LocalStat,
    /// True if the scan has recorded this stat all the same, because the file is never quiet.
    pub(crate) is_recorded: bool,
}

/// A file that may be recorded, with its stat when it was last left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SettledFile {
    pub(crate) stat: LocalStat,
    pub(crate) state: SettledState,
}

/// The reason why a file may be recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SettledState {
    /// The file had this stat for longer than a step of time.
    Quiet,
    /// The file was recorded before that, and is quiet now: what was read then need not be its content.
    ReadTooEarly,
    /// The file changes all the time and is recorded whatever its stat is.
    NeverQuiet,
}

impl Earlier {
    /// Returns the file to look at again later if its stat can belong to more than one content, as far as is known.
    pub(crate) fn unsettled(&self, path: &RelPath, stat: &Stat) -> Option<UnsettledFile> {
        let found = local_stat(stat);
        if stat.kind != FileKind::File
            || !found.has_coarse_time()
            || !is_recent(stat.ctime_ns, self.now_ms)
        {
            return None;
        }
        let settled = self.settled.get(path);
        let is_recorded = settled.is_some_and(|file| file.state == SettledState::NeverQuiet);
        if settled.is_some_and(|file| !is_recorded && file.stat == found) {
            return None;
        }
        Some(UnsettledFile {
            stat: found,
            is_recorded,
        })
    }

    /// Returns whether a file has to be read again, although its stat is the recorded one.
    pub(crate) fn was_read_too_early(&self, path: &RelPath, stat: &LocalStat) -> bool {
        self.settled.get(path).is_some_and(|settled| {
            settled.state == SettledState::ReadTooEarly && settled.stat == *stat
        })
    }
}

/// Returns whether a change at one time of the disk may be one of now.
fn is_recent(time_ns: i64, now_ms: i64) -> bool {
    (now_ms - time_ns / NS).abs() < RECENT_MS
}

/// Returns a stat that no file of a disk with coarse times has: what is recorded with it is read by the next scans.
fn unproven(stat: LocalStat) -> LocalStat {
    LocalStat {
        ctime: stat.ctime - 1,
        ..stat
    }
}

/// Returns the stat to record of a file that was put in place just now; an unproven one if an edit could give the file
/// the same.
pub(crate) fn placed_stat(stat: &Stat, now_ms: i64) -> LocalStat {
    let placed = local_stat(stat);
    match placed.has_coarse_time() && is_recent(stat.mtime_ns, now_ms) {
        true => unproven(placed),
        false => placed,
    }
}

/// Returns the stat to record of a file that was moved just now: what was unproven stays so.
pub(crate) fn moved_stat(before: &LocalStat, now: &Stat) -> LocalStat {
    let now = local_stat(now);
    let proven = LocalStat {
        ctime: before.ctime + 1,
        ..*before
    };
    match now.has_coarse_time() && proven.has_coarse_time() {
        true => unproven(now),
        false => now,
    }
}

/// Checks that a file is as it was recorded.
///
/// # Errors
/// [`Changing`] if it was recorded as unproven, and nothing else is known to have happened: a later scan looks at it.
/// Otherwise [`EngineError::Stale`].
pub(crate) fn check_unchanged(recorded: &LocalStat, found: &LocalStat) -> Result<(), EngineError> {
    if recorded == found {
        Ok(())
    } else if found.has_coarse_time() && *recorded == unproven(*found) {
        Err(io::Error::other(Changing).into())
    } else {
        Err(EngineError::Stale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::is_changing;

    #[test]
    fn what_was_put_in_place_waits_for_a_look_and_an_edit_is_one() {
        let stat = |ctime| LocalStat {
            size: 1,
            ctime,
            ..LocalStat::default()
        };
        let found = stat(2_000_000_000);
        check_unchanged(&found, &found).unwrap();
        let waits = check_unchanged(&unproven(found), &found).unwrap_err();
        assert!(matches!(&waits, EngineError::Disk(error) if is_changing(error)));
        for (recorded, found) in [
            (stat(2_000_000_000), stat(4_000_000_000)),
            // A disk with fine times.
            (stat(2_000_000_000), stat(2_000_000_001)),
        ] {
            let edited = check_unchanged(&recorded, &found).unwrap_err();
            assert!(matches!(edited, EngineError::Stale));
        }
    }
}
