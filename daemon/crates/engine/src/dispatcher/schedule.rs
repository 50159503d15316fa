//! Times at which scans of one folder are due: after hints (the watcher's "something may have changed here"), at
//! intervals, to find a root that was missing, and to look again at what the disk refused.
//!
//! Pure: decides from the time and the events that it is given. The dispatcher does the work.

mod own_moves;
mod refused;
#[cfg(test)]
mod tests;
mod unsettled;

use crate::observe::rules::{IGNORE_FILE, TEMP_DIR, TRASH_DIR};
use crate::observe::scan::Hinted;
use crate::observe::unsettled::{SettledFile, UnsettledFile};
use cairn_model::{LocalId, RelPath};
use own_moves::OwnMoves;
use refused::Refused;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::time::Instant;
use unsettled::Unsettled;

/// A missing file is looked for once more after this long, before it counts as deleted: it may be
/// on its way to a place that the scan had already passed.
pub(super) const GRACE: Duration = Duration::from_millis(250);
/// Changes that don't end are looked at after this long all the same.
const LONGEST_DEBOUNCE: Duration = Duration::from_secs(1);
/// A folder whose root is missing is looked at again this often.
const ROOT_RETRY: Duration = Duration::from_secs(5);
/// The most new directories of earlier scans that one scan has a look at. Each costs it something even if it leaves
/// them again.
const MOST_UNSCANNED: usize = 256;
/// A folder whose watcher doesn't work is scanned this often.
pub(super) const UNWATCHED_RESCAN: Duration = Duration::from_secs(30);

/// The times that a person can set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    pub(super) rescan_every: Duration,
    pub(super) debounce: Duration,
}

/// A scan that is to be made now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct DueScan {
    pub(super) whole: bool,
    /// Directories to list, with the names in them that were hinted at; of no interest to a whole scan.
    pub(super) dirs: Hinted,
    /// There was a hint about the root itself.
    pub(super) is_root_hinted: bool,
    /// Rows that an earlier scan missed long enough ago: missing again means gone.
    pub(super) confirmed_missing: BTreeSet<LocalId>,
    /// Files that may be recorded as they were found.
    pub(super) settled: BTreeMap<RelPath, SettledFile>,
    /// The scan looks for what an earlier one missed.
    repeated: bool,
    began: Instant,
}

/// The scans that are due in one folder.
#[derive(Debug)]
pub(super) struct Schedule {
    whole: bool,
    /// The rules file at the root has changed: everything is scanned when the burst is over.
    rules_changed: bool,
    /// One in a directory has changed: that is scanned when the burst is over.
    nested_rules_changed: bool,
    dirs: Hinted,
    is_root_hinted: bool,
    own_moves: OwnMoves,
    /// Times of the first and the last hint of the present burst.
    burst: Option<(Instant, Instant)>,
    /// Rows that a scan missed, since when; and where and when to look again.
    missing: BTreeMap<LocalId, Instant>,
    again: Option<(Instant, BTreeSet<RelPath>)>,
    /// New directories that scans have left to the next ones.
    unscanned: BTreeSet<RelPath>,
    /// The last whole scan has left some of them; until they are scanned it has not ended.
    is_whole_open: bool,
    /// No other scan is due.
    only_unscanned: bool,
    next_rescan: Instant,
    /// The root is missing, and when to look for it again.
    root_retry: Option<Instant>,
    refused: Refused,
    unsettled: Unsettled,
}

impl Schedule {
    /// Returns the schedule of a folder that was never scanned.
    pub(super) fn new(now: Instant, timing: Timing) -> Self {
        Self {
            whole: true,
            rules_changed: false,
            nested_rules_changed: false,
            dirs: Hinted::new(),
            is_root_hinted: false,
            own_moves: OwnMoves::default(),
            burst: None,
            missing: BTreeMap::new(),
            again: None,
            unscanned: BTreeSet::new(),
            is_whole_open: false,
            only_unscanned: false,
            next_rescan: now + timing.rescan_every,
            root_retry: None,
            refused: Refused::default(),
            unsettled: Unsettled::default(),
        }
    }

    /// Makes a whole scan due.
    pub(super) fn rescan(&mut self) {
        self.whole = true;
    }

    /// Makes the next regular scan due at `at` at the latest.
    pub(super) fn rescan_before(&mut self, at: Instant) {
        self.next_rescan = self.next_rescan.min(at);
    }

    /// Records a hint about one path of the folder.
    pub(super) fn hint(&mut self, path: &RelPath, now: Instant) {
        let first = path.names().first().map(|name| name.as_str());
        if first == Some(TRASH_DIR) || first == Some(TEMP_DIR) {
            return;
        }
        // Only when it is quiet: half a rules file would let through what the rest forbids.
        if path.name().is_some_and(|name| name.as_str() == IGNORE_FILE) {
            let is_nested = path.names().len() > 1;
            self.rules_changed |= !is_nested;
            self.nested_rules_changed |= is_nested;
        }
        let names = self
            .dirs
            .entry(path.parent().unwrap_or_default())
            .or_default();
        names.extend(path.name().cloned());
        self.is_root_hinted |= path.is_root();
        self.burst = Some((self.burst.map_or(now, |(first, _)| first), now));
    }

    /// Records that the rules file was found changed: everything is scanned when it is quiet.
    pub(super) fn record_rules_changed(&mut self, now: Instant) {
        self.rules_changed = true;
        self.burst = Some((self.burst.map_or(now, |(first, _)| first), now));
    }

    /// Records that the engine has moved a directory on this disk.
    pub(super) fn record_own_move(&mut self, from: RelPath, to: RelPath, now: Instant) {
        self.whole |= self.own_moves.record(from, to, now);
    }

    /// Records a hint about something in a directory whose own name can't be told.
    pub(super) fn hint_in(&mut self, dir: RelPath, now: Instant) {
        self.dirs.entry(dir).or_default();
        self.burst = Some((self.burst.map_or(now, |(first, _)| first), now));
    }

    /// Makes a scan of these directories due soon: something in them is not as the index says.
    pub(super) fn rescan_dirs(&mut self, dirs: BTreeSet<RelPath>, now: Instant) {
        if dirs.is_empty() {
            return;
        }
        let at = now + GRACE;
        let (known, all) = self.again.get_or_insert_with(|| (at, BTreeSet::new()));
        *known = (*known).min(at);
        all.extend(dirs);
    }

    /// Returns whether the next scan is of everything.
    pub(super) fn is_whole_next(&self) -> bool {
        self.whole
    }

    /// Returns whether a whole scan is due, will be as soon as the rules file is written, or is not at its end.
    pub(super) fn is_whole_due(&self) -> bool {
        self.whole || self.is_whole_open
    }

    /// Returns whether a scan is due. None is while the rules file is being written.
    pub(super) fn is_due(&mut self, now: Instant, timing: Timing, watched: bool) -> bool {
        if self.rules_changed || self.nested_rules_changed {
            if !self.burst_is_over(now, timing) {
                return false;
            }
            self.nested_rules_changed = false;
            self.whole |= std::mem::take(&mut self.rules_changed);
        }
        if self.next_rescan <= now {
            self.whole = true;
            self.next_rescan = now
                + if watched {
                    timing.rescan_every
                } else {
                    timing.rescan_every.min(UNWATCHED_RESCAN)
                };
        }
        let is_other_due = self.whole
            || self.burst_is_over(now, timing)
            || self.again_is_due(now)
            || self.root_retry.is_some_and(|at| at <= now)
            || self.refused.next_look().is_some_and(|at| at <= now)
            || self.unsettled.next_look().is_some_and(|at| at <= now);
        self.only_unscanned = self.has_unscanned() && !is_other_due;
        is_other_due || self.has_unscanned()
    }

    /// Takes the scan that is due; from now on hints count for the next one.
    pub(super) fn begin(&mut self, now: Instant) -> DueScan {
        let repeated = self.again_is_due(now);
        self.whole |= self.refused.take_due(&mut self.dirs, now);
        let settled = self.unsettled.take_due(&mut self.dirs, now);
        let whole = std::mem::take(&mut self.whole);
        let unscanned = self.take_unscanned(whole);
        let mut dirs = Hinted::new();
        let mut is_root_hinted = false;
        if !std::mem::take(&mut self.only_unscanned) {
            dirs = std::mem::take(&mut self.dirs);
            is_root_hinted = std::mem::take(&mut self.is_root_hinted);
            self.burst = None;
        }
        for dir in unscanned {
            dirs.entry(dir).or_default();
        }
        if repeated || whole {
            for dir in self.again.take().into_iter().flat_map(|(_, dirs)| dirs) {
                dirs.entry(dir).or_default();
            }
        }
        self.own_moves.follow(&mut dirs, now);
        // What is missing may be in a directory that this scan leaves, too.
        let can_confirm = self.unscanned.is_empty();
        let confirmed_missing = self
            .missing
            .iter()
            .filter(|(_, since)| can_confirm && **since + GRACE <= now)
            .map(|(id, _)| *id)
            .collect();
        DueScan {
            whole,
            dirs,
            is_root_hinted,
            confirmed_missing,
            settled,
            repeated,
            began: now,
        }
    }

    /// Records what a scan missed, and where to look again for it.
    pub(super) fn finish(
        &mut self,
        scan: &DueScan,
        missing: BTreeSet<LocalId>,
        again: BTreeSet<RelPath>,
    ) {
        if scan.whole || scan.repeated {
            self.missing.retain(|id, _| missing.contains(id));
        }
        for id in missing {
            self.missing.entry(id).or_insert(scan.began);
        }
        if !again.is_empty() {
            let at = scan.began + GRACE;
            let (_, dirs) = self.again.get_or_insert_with(|| (at, BTreeSet::new()));
            dirs.extend(again);
        }
    }

    /// Records what the disk has refused to the scans that have looked at it last.
    pub(super) fn record_refused(&mut self, paths: BTreeSet<RelPath>, now: Instant) {
        self.refused.record(paths, now);
    }

    /// Records the files that are left until they are settled.
    pub(super) fn record_unsettled(
        &mut self,
        files: BTreeMap<RelPath, UnsettledFile>,
        now: Instant,
    ) {
        self.unsettled.record(files, now);
    }

    /// Takes the new directories for the next scan: a whole one finds all of them by itself.
    fn take_unscanned(&mut self, whole: bool) -> BTreeSet<RelPath> {
        let mut dirs = std::mem::take(&mut self.unscanned);
        let next = dirs.iter().nth(MOST_UNSCANNED).cloned();
        if !whole && let Some(next) = next {
            self.unscanned = dirs.split_off(&next);
        }
        dirs
    }

    /// Records the new directories that a scan has left to the next one.
    pub(super) fn record_unscanned(&mut self, scan: &DueScan, dirs: BTreeSet<RelPath>) {
        self.unscanned.extend(dirs);
        self.is_whole_open = self.has_unscanned() && (scan.whole || self.is_whole_open);
    }

    /// Returns whether new directories are left to the next scan, which is due at once.
    pub(super) fn has_unscanned(&self) -> bool {
        !self.unscanned.is_empty()
    }

    /// Records that the root is missing: nothing is scanned but the root itself, again and again.
    pub(super) fn root_missing(&mut self, now: Instant) {
        self.root_retry = Some(now + ROOT_RETRY);
        self.burst = None;
        self.rules_changed = false;
        self.nested_rules_changed = false;
        self.dirs.clear();
        self.again = None;
        self.unscanned.clear();
        self.is_whole_open = false;
        self.whole = false;
        self.refused.clear();
        self.unsettled.clear();
    }

    /// Records that the root is there: if it was missing, everything is scanned.
    pub(super) fn record_root_found(&mut self) {
        self.whole |= self.root_retry.take().is_some();
    }

    pub(super) fn is_root_missing(&self) -> bool {
        self.root_retry.is_some()
    }

    /// Returns whether a scan is due now or will be because of something that happened.
    pub(super) fn is_pending(&self) -> bool {
        self.whole
            || self.burst.is_some()
            || self.again.is_some()
            || self.has_unscanned()
            || !self.unsettled.is_empty()
            || !self.dirs.is_empty()
    }

    /// Returns the next time at which a scan may be due.
    pub(super) fn next_wake(&self, timing: Timing) -> Instant {
        let burst = self
            .burst
            .map(|(first, last)| (last + timing.debounce).min(first + LONGEST_DEBOUNCE));
        let again = self.again.as_ref().map(|(at, _)| *at);
        [
            burst,
            again,
            self.root_retry,
            self.refused.next_look(),
            self.unsettled.next_look(),
        ]
        .into_iter()
        .flatten()
        .fold(self.next_rescan, Instant::min)
    }

    fn burst_is_over(&self, now: Instant, timing: Timing) -> bool {
        self.burst.is_some_and(|(first, last)| {
            last + timing.debounce <= now || first + LONGEST_DEBOUNCE <= now
        })
    }

    fn again_is_due(&self, now: Instant) -> bool {
        self.again.as_ref().is_some_and(|(at, _)| *at <= now)
    }
}
