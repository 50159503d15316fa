//! Problems by path, and the time of the next try of each.

mod groups;
mod path;

use crate::error::{Disposition, EngineError, explain};
use crate::key::Key;
use cairn_model::{BackOff, FolderId, NodeId, Problem, ProblemCode, spread};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;
use tokio::time::Instant;

pub(crate) use path::PathProblem;

/// First pause before a failed step is tried again; it doubles up to [`LONGEST`].
const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(300);
/// The longest pause where the next try may well succeed: a file that is being written, a place that
/// has just changed.
const LONGEST_SOON: Duration = Duration::from_secs(60);
/// Failed tries after which nobody waits any longer: where the next one may well succeed, and else.
const TRIES_SOON: u32 = 6;
const TRIES: u32 = 3;

/// After a file that never rests was sent, it waits for a second for each so many bytes.
const BYTES_A_SECOND: u64 = 10_000_000;
const LONGEST_REST: Duration = Duration::from_secs(600);

/// The prospects of the next try of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RetryHint {
    /// One of the next tries may well succeed.
    Soon,
    /// Nothing says that the next try will end otherwise.
    Later,
}

impl RetryHint {
    /// Returns the prospects after a failure that is handled so.
    pub(crate) fn after(disposition: Disposition) -> Self {
        match disposition {
            Disposition::Park => Self::Later,
            Disposition::Replan | Disposition::Retry | Disposition::Stop => Self::Soon,
        }
    }
}

/// A key that waits after a failure.
struct Parked {
    problem: Problem,
    tries: u32,
    until: Instant,
    /// Shown only once it has failed again: most first failures pass by themselves.
    shown: bool,
    retry: RetryHint,
    /// A copy of it was sent: it waits before the next one.
    rests: bool,
    /// Bytes of the file, where they matter.
    bytes: u64,
}

/// All problems of all folders.
#[derive(Default)]
pub(crate) struct Health {
    /// A number of this device's own: pauses differ from those of others.
    seed: u64,
    parked: BTreeMap<(FolderId, Key), Parked>,
    /// Of the last scan of each folder, by the directory that was listed.
    scanned: BTreeMap<FolderId, BTreeMap<String, Problem>>,
    /// States that the service sent and that were refused.
    refused: BTreeMap<(NodeId, FolderId), Problem>,
    /// Of the folder as a whole: its root, and its link with the remote folder.
    whole: BTreeMap<FolderId, Problem>,
    /// Bytes that a folder's disk had free when something didn't fit last.
    free: BTreeMap<FolderId, u64>,
    /// Of its watcher.
    watch: BTreeMap<FolderId, Problem>,
    link: BTreeMap<FolderId, Problem>,
}

impl Health {
    /// Returns the health of an engine without problems; `seed` is random.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            ..Self::default()
        }
    }

    /// Parks a key after a failure; returns when it may be tried again.
    pub(crate) fn park(
        &mut self,
        folder: FolderId,
        key: Key,
        path: String,
        error: &EngineError,
        retry: RetryHint,
    ) -> Instant {
        let (code, hint) = explain(error);
        let tries = self.parked.get(&(folder, key)).map_or(0, |p| p.tries) + 1;
        let longest = match retry {
            RetryHint::Soon => LONGEST_SOON,
            RetryHint::Later => LONGEST,
        };
        let until = Instant::now() + self.pause((folder, key), tries, longest);
        let problem = Problem {
            path,
            code,
            message: message(code, error),
            hint: hint.into(),
        };
        let shown = retry == RetryHint::Later || tries > 3;
        self.parked.insert(
            (folder, key),
            Parked {
                problem,
                tries,
                until,
                shown,
                retry,
                rests: false,
                bytes: 0,
            },
        );
        until
    }

    /// Lets a file that never rests wait after a copy of it was sent: the longer, the larger it is and the
    /// more often it was.
    pub(crate) fn rest(&mut self, folder: FolderId, key: Key, size: u64) {
        let pause = self.pause((folder, key), self.tries(folder, key) + 1, LONGEST);
        if let Some(parked) = self.parked.get_mut(&(folder, key)) {
            parked.tries += 1;
            let by_size = Duration::from_secs(size / BYTES_A_SECOND).min(LONGEST_REST);
            parked.until = Instant::now() + pause.max(by_size);
            parked.shown = false;
            parked.rests = true;
        }
    }

    /// Returns the pause of a key after so many tries, other than that of other keys.
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

    /// Forgets the failures of a key: a step of it has succeeded, or it needs none any more.
    pub(crate) fn clear(&mut self, folder: FolderId, key: Key) {
        let key = (folder, key);
        if self.parked.get(&key).is_some_and(|parked| !parked.rests) {
            self.parked.remove(&key);
        }
    }

    /// Forgets parked keys that no plan mentions any more.
    pub(crate) fn keep_only(&mut self, folder: FolderId, mentioned: impl Fn(&Key) -> bool) {
        self.parked
            .retain(|(f, key), _| *f != folder || mentioned(key));
    }

    /// Lets everything be tried again at once.
    pub(crate) fn try_again(&mut self) {
        let now = Instant::now();
        for parked in self.parked.values_mut() {
            parked.until = now;
        }
    }

    /// Returns the earliest moment after `planned_at` at which something of a folder may be tried again. Things
    /// that could be tried by then were tried by the plan made at that moment, or no step needs them.
    pub(crate) fn next_try(&self, folder: FolderId, planned_at: Instant) -> Option<Instant> {
        self.parked_of(folder)
            .map(|parked| parked.until)
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

    /// Returns the number of files of a folder that never rest and of which a copy was sent.
    pub(crate) fn resting(&self, folder: FolderId) -> u64 {
        self.parked_of(folder).filter(|parked| parked.rests).count() as u64
    }

    fn parked_of(&self, folder: FolderId) -> impl Iterator<Item = &Parked> {
        self.parked
            .iter()
            .filter(move |((of, _), _)| *of == folder)
            .map(|(_, parked)| parked)
    }

    /// Forgets all problems of a folder that was removed.
    pub(crate) fn forget(&mut self, folder: FolderId) {
        self.parked.retain(|(of, _), _| *of != folder);
        self.refused.retain(|(_, of), _| *of != folder);
        self.scanned.remove(&folder);
        self.whole.remove(&folder);
        self.free.remove(&folder);
        self.watch.remove(&folder);
        self.link.remove(&folder);
    }

    /// Returns whether something of a folder waits for a person: it was tried, and reported.
    pub(crate) fn waits_for_person(&self, folder: FolderId) -> bool {
        self.parked_of(folder)
            .any(|parked| parked.retry == RetryHint::Later && !parked.rests)
    }

    /// Replaces what the last scan of a folder (`dir` none) or of one directory complained about.
    pub(crate) fn scanned(
        &mut self,
        folder: FolderId,
        whole: bool,
        dirs: &BTreeSet<String>,
        problems: Vec<Problem>,
    ) {
        let known = self.scanned.entry(folder).or_default();
        if whole {
            known.clear();
        } else {
            known.retain(|path, _| !dirs.contains(path) && !dirs.contains(parent(path)));
        }
        known.extend(problems.into_iter().map(|p| (p.path.clone(), p)));
    }

    /// Records that the service's state of a node was refused.
    pub(crate) fn refuse(&mut self, folder: FolderId, node: NodeId, problem: Problem) {
        self.refused.insert((node, folder), problem);
    }

    /// Forgets the refusal of a node: the service has sent another state of it.
    pub(crate) fn accept(&mut self, node: NodeId) {
        self.refused.retain(|(refused, _), _| *refused != node);
    }

    /// Sets or clears the problem of a folder as a whole.
    pub(crate) fn set_folder_problem(&mut self, folder: FolderId, problem: Option<Problem>) {
        match problem {
            Some(problem) => {
                self.whole.insert(folder, problem);
            }
            None => {
                self.whole.remove(&folder);
            }
        }
    }

    /// Sets or clears the reason why a folder can't be attached to its remote folder.
    pub(crate) fn set_attach_problem(&mut self, folder: FolderId, problem: Option<Problem>) {
        match problem {
            Some(problem) => {
                self.link.insert(folder, problem);
            }
            None => {
                self.link.remove(&folder);
            }
        }
    }

    /// Sets or clears the problem of a folder's watcher.
    pub(crate) fn set_watch_problem(&mut self, folder: FolderId, problem: Option<Problem>) {
        match problem {
            Some(problem) => {
                self.watch.insert(folder, problem);
            }
            None => {
                self.watch.remove(&folder);
            }
        }
    }
}

/// Returns the failure in words. That there is no room is said without the temporary file that met it.
fn message(code: ProblemCode, error: &EngineError) -> String {
    if code == ProblemCode::DiskFull {
        return "there is no room for it on this disk".to_owned();
    }
    error.to_string()
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(dir, _)| dir)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::LocalId;

    const FOLDER: FolderId = FolderId(1);
    const FILE: Key = Key::Local(LocalId(1));

    fn seconds_until(health: &Health) -> f64 {
        let at = health.next_try(FOLDER, Instant::now()).unwrap();
        at.duration_since(Instant::now()).as_secs_f64()
    }

    #[tokio::test(start_paused = true)]
    async fn a_try_that_a_plan_has_made_and_those_of_other_folders_wake_no_folder() {
        let mut health = Health::default();
        let (other, begin) = (FolderId(2), Instant::now());
        let due = health.park(
            FOLDER,
            FILE,
            "f".into(),
            &EngineError::Stale,
            RetryHint::Soon,
        );
        tokio::time::advance(FIRST).await;
        health.park(
            other,
            FILE,
            "g".into(),
            &EngineError::Stale,
            RetryHint::Later,
        );
        assert_eq!(health.next_try(FOLDER, begin), Some(due));
        assert_eq!(health.next_try(FOLDER, due), None, "the plan has made it");
        assert!(health.next_try(other, due).is_some_and(|at| at > due));
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_that_never_rests_is_tried_less_and_less_often() {
        let mut health = Health::default();
        for whole in [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0] {
            health.park(
                FOLDER,
                FILE,
                "f".into(),
                &EngineError::Stale,
                RetryHint::Soon,
            );
            let pause = seconds_until(&health);
            assert!((whole / 2.0..=whole).contains(&pause), "{pause} of {whole}");
        }
        assert_eq!(health.problems(FOLDER).len(), 1, "it is told");
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_copy_was_sent_the_next_one_waits_by_size_and_number() {
        let mut health = Health::default();
        for _ in 0..3 {
            health.park(
                FOLDER,
                FILE,
                "f".into(),
                &EngineError::Stale,
                RetryHint::Soon,
            );
        }
        health.rest(FOLDER, FILE, 1_000);
        health.clear(FOLDER, FILE);
        assert!(health.is_parked(FOLDER, FILE));
        assert!((2.0..=4.0).contains(&seconds_until(&health)));
        health.rest(FOLDER, FILE, 1_000_000_000);
        assert!((seconds_until(&health) - 100.0).abs() < 0.1);
        assert_eq!(health.problems(FOLDER), []);
        health.keep_only(FOLDER, |_| false);
        assert_eq!(health.tries(FOLDER, FILE), 0, "it rests now");
    }

    #[test]
    fn a_success_ends_what_was_a_failure_only() {
        let mut health = Health::default();
        health.park(
            FOLDER,
            FILE,
            "f".into(),
            &EngineError::Stale,
            RetryHint::Soon,
        );
        health.clear(FOLDER, FILE);
        assert_eq!(health.tries(FOLDER, FILE), 0);
    }

    #[test]
    fn what_failed_together_is_not_tried_again_at_one_moment() {
        let health = Health::new(7);
        let pauses: BTreeSet<Duration> = (0..20)
            .map(|id| health.pause((FOLDER, Key::Local(LocalId(id))), 1, LONGEST))
            .collect();
        assert!(pauses.len() > 15, "{pauses:?}");
        let elsewhere = Health::new(8).pause((FOLDER, FILE), 1, LONGEST);
        assert_ne!(health.pause((FOLDER, FILE), 1, LONGEST), elsewhere);
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_what_is_not_tried_again() {
        let mut health = Health::default();
        let begin = Instant::now();
        let due = health.park(
            FOLDER,
            FILE,
            "f".into(),
            &EngineError::Stale,
            RetryHint::Soon,
        );
        assert!(health.waits_briefly(FOLDER, begin));
        assert!(!health.waits_briefly(FolderId(2), begin), "another folder");
        assert!(!health.waits_briefly(FOLDER, due), "the plan has tried it");
        health.forget(FOLDER);
        assert!(!health.waits_briefly(FOLDER, begin), "it was removed");
    }
}
