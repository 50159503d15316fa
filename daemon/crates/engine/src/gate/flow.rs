//! Deletions over time: as long as more keep coming, many of them wait, so that they are counted together.

use super::Deletions;
use cairn_model::NodeId;
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;
use tokio::time::Instant;

/// The number of files from which deletions wait while more of them keep coming.
const SEVERAL: u64 = 10;
/// The time without a further deletion after which they count as complete.
const QUIET: Duration = Duration::from_millis(1500);
/// Deletions wait no longer than this for those that come after them: a program that removes files all the time
/// must not hold them for ever.
const LONGEST: Duration = Duration::from_secs(30);
/// Deletions longer ago than this don't count.
const MEMORY: Duration = Duration::from_secs(60);
/// The most files that are remembered as new. Others count when they are deleted.
const MOST_NEW: usize = 10_000;

/// The files that were in sync before a list of steps with deletions.
pub(crate) struct BeforeDeletions {
    /// The number of files whose deletion nobody has confirmed.
    pub(crate) synced: u64,
    /// The files among them that are to be deleted, and were made a moment ago.
    pub(crate) new_files: Vec<NodeId>,
}

/// The deletions of a folder as they come and go.
#[derive(Debug, Default)]
pub(crate) struct DeletionFlow {
    planned: Deletions,
    /// The time at which the first of those that wait began to.
    waits_since: Option<Instant>,
    /// Until when those wait for more.
    quiet_at: Option<Instant>,
    recent: Deletions,
    last: Option<Instant>,
    /// Files that were made a moment ago, oldest first.
    new_files: VecDeque<(Instant, NodeId)>,
}

impl DeletionFlow {
    /// Records what a plan would delete; returns the deletions that should wait because more are coming.
    pub(crate) fn wait(&mut self, planned: Deletions, now: Instant) -> Deletions {
        if planned == Deletions::default() {
            self.planned = planned;
            self.end_wait();
            return planned;
        }
        let recent = self.recent_deletions(now);
        if planned != self.planned {
            self.planned = planned;
            let since = *self.waits_since.get_or_insert(now);
            self.quiet_at = Some((now + QUIET).min(since + LONGEST));
        }
        let waits = self.quiet_at.is_some_and(|at| at > now);
        let side = |planned: u64, recent: u64| {
            if waits && planned > 0 && planned + recent >= SEVERAL {
                planned
            } else {
                0
            }
        };
        let out = Deletions {
            local: side(planned.local, recent.local),
            remote: side(planned.remote, recent.remote),
        };
        if out == Deletions::default() {
            self.end_wait();
        }
        out
    }

    fn end_wait(&mut self) {
        (self.waits_since, self.quiet_at) = (None, None);
    }

    /// Returns the time at which waiting deletions are to be planned again.
    pub(crate) fn quiet_at(&self) -> Option<Instant> {
        self.quiet_at
    }

    /// Counts the files of deletions that were executed.
    pub(crate) fn count_executed(&mut self, files: u64, now: Instant) {
        if files == 0 {
            return;
        }
        self.recent = self.recent_deletions(now);
        self.last = Some(now);
        if self.planned.local > 0 {
            self.recent.local += files;
        }
        if self.planned.remote > 0 {
            self.recent.remote += files;
        }
    }

    /// Returns what was deleted a moment ago.
    pub(crate) fn recent_deletions(&self, now: Instant) -> Deletions {
        match self.last {
            Some(last) if last + MEMORY > now => self.recent,
            Some(_) | None => Deletions::default(),
        }
    }

    /// Remembers files that were made just now, on this side or on the other one.
    pub(crate) fn remember_new(&mut self, nodes: Vec<NodeId>, now: Instant) {
        self.new_files
            .extend(nodes.into_iter().map(|node| (now, node)));
        let surplus = self.new_files.len().saturating_sub(MOST_NEW);
        self.new_files.drain(..surplus);
        let is_old = |(at, _): &(Instant, NodeId)| *at + MEMORY <= now;
        while self.new_files.front().is_some_and(is_old) {
            self.new_files.pop_front();
        }
    }

    /// Returns the files that were made a moment ago, for a plan that deletes files; most delete none.
    pub(crate) fn new_beside(&self, planned: Deletions, now: Instant) -> BTreeSet<NodeId> {
        match planned == Deletions::default() {
            true => BTreeSet::new(),
            false => self.new_files(now),
        }
    }

    /// Returns the files that were made a moment ago.
    fn new_files(&self, now: Instant) -> BTreeSet<NodeId> {
        let new_files = self.new_files.iter();
        new_files
            .filter(|(at, _)| *at + MEMORY > now)
            .map(|(_, node)| *node)
            .collect()
    }

    /// Returns those of some nodes that are files that were made a moment ago.
    pub(crate) fn new_among(
        &self,
        nodes: impl Iterator<Item = NodeId>,
        now: Instant,
    ) -> Vec<NodeId> {
        let new_files = self.new_files(now);
        nodes.filter(|node| new_files.contains(node)).collect()
    }

    /// Forgets what was deleted: a person has decided.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remote_deletions(remote: u64) -> Deletions {
        Deletions { local: 0, remote }
    }

    #[test]
    fn a_few_deletions_go_at_once() {
        let mut flow = DeletionFlow::default();
        assert_eq!(
            flow.wait(remote_deletions(SEVERAL - 1), Instant::now()),
            remote_deletions(0)
        );
        assert_eq!(flow.quiet_at(), None);
    }

    #[test]
    fn many_wait_until_no_more_come() {
        let mut flow = DeletionFlow::default();
        let mut now = Instant::now();
        for files in [10, 40, 90] {
            assert_eq!(
                flow.wait(remote_deletions(files), now),
                remote_deletions(files)
            );
            assert_eq!(flow.quiet_at(), Some(now + QUIET));
            now += QUIET / 2;
        }
        assert_eq!(
            flow.wait(remote_deletions(90), now + QUIET),
            remote_deletions(0)
        );
        assert_eq!(flow.quiet_at(), None);
    }

    #[test]
    fn recent_deletions_are_counted_too() {
        let mut flow = DeletionFlow::default();
        let now = Instant::now();
        assert_eq!(flow.wait(remote_deletions(9), now), remote_deletions(0));
        flow.count_executed(9, now);
        assert_eq!(flow.recent_deletions(now), remote_deletions(9));
        assert_eq!(flow.wait(remote_deletions(1), now), remote_deletions(1));
        let later = now + MEMORY;
        assert_eq!(flow.recent_deletions(later), remote_deletions(0));
        assert_eq!(flow.wait(remote_deletions(2), later), remote_deletions(0));
    }

    #[test]
    fn a_file_is_new_for_a_moment_only() {
        let node = |number| NodeId::from_random_bytes([number; 16]);
        let mut flow = DeletionFlow::default();
        let begin = Instant::now();
        let new_at = |flow: &DeletionFlow, now| flow.new_among([1, 2].map(node).into_iter(), now);
        flow.remember_new(vec![node(1)], begin);
        assert_eq!(new_at(&flow, begin), [node(1)]);
        let later = begin + MEMORY;
        assert_eq!(new_at(&flow, later), []);
        flow.remember_new(vec![node(2)], later);
        assert_eq!(
            (new_at(&flow, later), flow.new_files.len()),
            (vec![node(2)], 1)
        );
        flow.remember_new(vec![node(3); MOST_NEW], later);
        assert_eq!(new_at(&flow, later), [], "the oldest are forgotten first");
    }

    #[test]
    fn deletions_that_never_stop_coming_wait_for_a_while_only() {
        let mut flow = DeletionFlow::default();
        let begin = Instant::now();
        let mut waits = (0..120).map(|second| {
            let planned = remote_deletions(SEVERAL + second);
            flow.wait(planned, begin + Duration::from_secs(second)) == planned
        });
        assert!(waits.by_ref().take(30).all(|waits| waits));
        assert_eq!(waits.next(), Some(false), "the gate counts them now");
        assert_eq!(waits.next(), Some(true), "the next ones wait anew");
    }
}
