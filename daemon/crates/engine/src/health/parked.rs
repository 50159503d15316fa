//! Parked steps: after a failure the file or node that a step was for (its key) waits, and each further failure makes
//! the next wait longer.

mod hurry;
#[cfg(test)]
mod tests;

use super::Health;
use crate::error::{Disposition, EngineError, explain, values};
use crate::key::Key;
use cairn_model::{BackOff, FolderId, Problem, ProblemCode, spread};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::Instant;

pub(crate) use hurry::Failure;

/// First pause before a failed step is tried again; it doubles up to [`LONGEST`].
const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(300);
/// The longest pause where the next try may well succeed: a file that is being written, a place that
/// has just changed.
const LONGEST_SOON: Duration = Duration::from_secs(60);
/// Failed tries after which nobody waits any longer: where the next one may well succeed, and else.
const TRIES_SOON: u32 = 6;
const TRIES: u32 = 3;

/// A file that keeps changing waits, after a copy of it was sent, one second for each of these many bytes.
const BYTES_A_SECOND: u64 = 10_000_000;
const LONGEST_COOL_DOWN: Duration = Duration::from_secs(600);

/// The chance that the next try of a parked key succeeds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RetryHint {
    /// One of the next tries may well succeed.
    Soon,
    /// The next tries are likely to end the same.
    Later,
}

impl RetryHint {
    /// Returns the chance of the next try after a failure that is handled in this way.
    pub(crate) fn after(disposition: Disposition) -> Self {
        match disposition {
            Disposition::Park => Self::Later,
            Disposition::Replan | Disposition::Retry | Disposition::Stop => Self::Soon,
        }
    }
}

/// A key that waits after a failure.
pub(super) struct Parked {
    pub(super) problem: Problem,
    pub(super) tries: u32,
    pub(super) until: Instant,
    /// Shown only once it has failed again: most first failures pass by themselves.
    pub(super) is_reported: bool,
    retry: RetryHint,
    /// A copy of it was sent: it waits before the next one.
    is_cooling_down: bool,
    /// Bytes of the file, where they matter.
    pub(super) bytes: u64,
    /// The alias that is in its way.
    alias: Option<Alias>,
    failed_at: Instant,
    /// The next try is made because what it failed for may have gone; and how many such tries have failed.
    is_hurried: bool,
    hurries: u32,
}

/// A path on this disk, and another one beside it that the disk takes for the same.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Alias {
    pub(crate) there: PathBuf,
    pub(crate) wanted: PathBuf,
}

impl Health {
    /// Parks a key after a failure; returns when it may be tried again.
    pub(crate) fn park(
        &mut self,
        folder: FolderId,
        key: Key,
        path: String,
        error: &EngineError,
        retry: RetryHint,
    ) -> Instant {
        let (cause, hint) = explain(error);
        let before = self.parked.get(&(folder, key));
        let tries = before.map_or(0, |p| p.tries) + 1;
        let hurries = before.map_or(0, |p| p.hurries + u32::from(p.is_hurried));
        let longest = match retry {
            RetryHint::Soon => LONGEST_SOON,
            RetryHint::Later => LONGEST,
        };
        let until = Instant::now() + self.pause((folder, key), tries, longest);
        let message = message(cause.code(), error);
        let problem = Problem::new(path, cause, message, hint).with(values(error));
        let is_reported = retry == RetryHint::Later || tries > 3;
        let alias = if let EngineError::NameClash { there, wanted } = error {
            Some(Alias {
                there: there.clone(),
                wanted: wanted.clone(),
            })
        } else {
            None
        };
        self.parked.insert(
            (folder, key),
            Parked {
                problem,
                tries,
                until,
                is_reported,
                retry,
                is_cooling_down: false,
                bytes: 0,
                alias,
                failed_at: Instant::now(),
                is_hurried: false,
                hurries,
            },
        );
        until
    }

    /// Lets a file that changes all the time wait after a copy of it was sent: the longer, the larger it is and the
    /// more often it was.
    pub(crate) fn back_off_after_copy(&mut self, folder: FolderId, key: Key, size: u64) {
        let pause = self.pause((folder, key), self.tries(folder, key) + 1, LONGEST_SOON);
        if let Some(parked) = self.parked.get_mut(&(folder, key)) {
            parked.tries += 1;
            let by_size = Duration::from_secs(size / BYTES_A_SECOND).min(LONGEST_COOL_DOWN);
            parked.until = Instant::now() + pause.max(by_size);
            parked.is_reported = false;
            parked.is_cooling_down = true;
        }
    }

    /// Returns the pause of a key after `tries` failures; it differs between keys, so that they don't retry together.
    fn pause(&self, key: (FolderId, Key), tries: u32, longest: Duration) -> Duration {
        let back_off = BackOff {
            first: FIRST,
            most: longest,
        };
        let mut hasher = DefaultHasher::new();
        (self.seed, key, tries).hash(&mut hasher);
        let random = (hasher.finish() % 1024) as f64 / 1024.0;
        spread(back_off.after(tries), random)
    }

    /// Returns how often a key has failed in a row.
    pub(crate) fn tries(&self, folder: FolderId, key: Key) -> u32 {
        self.parked.get(&(folder, key)).map_or(0, |p| p.tries)
    }

    /// Returns whether a key still waits.
    pub(crate) fn is_parked(&self, folder: FolderId, key: Key) -> bool {
        self.parked
            .get(&(folder, key))
            .is_some_and(|p| p.until > Instant::now())
    }

    /// Returns whether a key waits after a failure that is likely to come again.
    pub(crate) fn is_parked_for_long(&self, folder: FolderId, key: Key) -> bool {
        let parked = self.parked.get(&(folder, key));
        parked.is_some_and(|p| p.retry == RetryHint::Later && p.until > Instant::now())
    }

    /// Forgets the failures of a key: a step of it has succeeded, or it needs none any more.
    pub(crate) fn clear(&mut self, folder: FolderId, key: Key) {
        let key = (folder, key);
        if self
            .parked
            .get(&key)
            .is_some_and(|parked| !parked.is_cooling_down)
        {
            self.parked.remove(&key);
        }
    }

    /// Forgets parked keys that no plan mentions any more.
    pub(crate) fn keep_only(&mut self, folder: FolderId, mentioned: impl Fn(&Key) -> bool) {
        self.parked
            .retain(|(f, key), _| *f != folder || mentioned(key));
    }

    /// Returns what of a folder may be tried again by now.
    pub(crate) fn keys_to_retry(&self, folder: FolderId) -> Vec<Key> {
        let now = Instant::now();
        let parked = self.parked.iter();
        parked
            .filter(|((of, _), parked)| *of == folder && parked.until <= now)
            .map(|((_, key), _)| *key)
            .collect()
    }

    /// Returns the aliases that are in the way of something in a folder.
    pub(crate) fn aliases(&self, folder: FolderId) -> BTreeSet<Alias> {
        let parked = self.parked_of(folder);
        parked.filter_map(|parked| parked.alias.clone()).collect()
    }

    /// Lets what waits for a name be tried again at once: nothing is in its way any more.
    pub(crate) fn retry_free_name(&mut self, folder: FolderId, was_there: &Path) {
        for ((of, _), parked) in &mut self.parked {
            let in_the_way = parked.alias.as_ref().map(|alias| &*alias.there);
            if *of == folder && in_the_way == Some(was_there) {
                parked.until = Instant::now();
            }
        }
    }

    /// Lets keys of a folder be tried again at once that have not failed often: a plan has found another way.
    pub(crate) fn try_other_way(&mut self, folder: FolderId, keys: &[Key]) {
        for key in keys {
            let parked = self.parked.get_mut(&(folder, *key));
            if let Some(parked) = parked.filter(|parked| parked.tries <= TRIES) {
                parked.until = Instant::now();
            }
        }
    }

    /// Returns everything of a folder that is parked.
    pub(crate) fn parked_keys(&self, folder: FolderId) -> Vec<Key> {
        let parked = self.parked.keys();
        parked
            .filter(|(of, _)| *of == folder)
            .map(|(_, key)| *key)
            .collect()
    }

    /// Lets everything be tried again at once.
    pub(crate) fn try_again(&mut self) {
        let now = Instant::now();
        for parked in self.parked.values_mut() {
            parked.until = now;
        }
        if let Some(no_room) = &mut self.no_room {
            no_room.until = now;
        }
    }

    /// Returns the earliest moment after `planned_at` at which something of a folder may be tried again. Things
    /// that could be tried by then were tried by the plan made at that moment, or no step needs them.
    pub(crate) fn next_try(&self, folder: FolderId, planned_at: Instant) -> Option<Instant> {
        self.parked_of(folder)
            .map(|parked| parked.until)
            .chain(self.no_room.map(|no_room| no_room.until))
            .filter(|until| *until > planned_at)
            .min()
    }

    /// Returns whether something of a folder waits that will be tried again soon without a person.
    /// `planned_at` is the time of its last plan: what could be tried by then is not waited for.
    pub(crate) fn waits_briefly(&self, folder: FolderId, planned_at: Instant) -> bool {
        let soon = Instant::now() + Duration::from_secs(20);
        self.parked_of(folder).any(|parked| {
            let tries = match parked.retry {
                RetryHint::Soon => TRIES_SOON,
                RetryHint::Later => TRIES,
            };
            parked.until > planned_at && parked.until < soon && parked.tries < tries
        })
    }

    /// Returns the number of files of a folder that keep changing and of which a copy was sent.
    pub(crate) fn count_changing_files(&self, folder: FolderId) -> u64 {
        self.parked_of(folder)
            .filter(|parked| parked.is_cooling_down)
            .count() as u64
    }

    fn parked_of(&self, folder: FolderId) -> impl Iterator<Item = &Parked> {
        self.parked
            .iter()
            .filter(move |((of, _), _)| *of == folder)
            .map(|(_, parked)| parked)
    }

    /// Returns whether something of a folder waits for a person: it was tried and reported, the last scan could not
    /// record it, or it is blocked until somebody accepts or renames it.
    pub(crate) fn waits_for_person(&self, folder: FolderId) -> bool {
        let is_left_by_scan = |code: ProblemCode| {
            matches!(
                code,
                ProblemCode::Name
                    | ProblemCode::NameClash
                    | ProblemCode::Unreadable
                    | ProblemCode::Disk
                    | ProblemCode::FolderGone
            )
        };
        let is_left_by_feed =
            |code: ProblemCode| matches!(code, ProblemCode::Unverified | ProblemCode::OneWay);
        let mut scanned = self.scanned.get(&folder).into_iter().flatten();
        let mut refused = self.refused.iter();
        self.parked_of(folder)
            .any(|parked| parked.retry == RetryHint::Later && !parked.is_cooling_down)
            || scanned.any(|(_, problem)| is_left_by_scan(problem.code))
            || self.has_blocked_places(folder)
            || refused.any(|((_, of), problem)| *of == folder && is_left_by_feed(problem.code))
    }
}

/// Returns the failure as a sentence; for a full disk, here or of the service, without details of no use.
fn message(code: ProblemCode, error: &EngineError) -> String {
    if code == ProblemCode::DiskFull {
        return "there is no room for it on this disk".to_owned();
    }
    if error.is_service_full() {
        return "the service is full: it has no room for what is new".to_owned();
    }
    error.to_string()
}
