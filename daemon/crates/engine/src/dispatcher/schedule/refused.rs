//! Paths that the disk refused to scans, with the time of the next look at each: a disk that works again gives no hint.
//! The pauses grow, since what stays refused (a directory of another user) is looked at as long as the engine runs.

use crate::observe::scan::Hinted;
use cairn_model::{BackOff, RelPath};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::time::Instant;

const PAUSES: BackOff = BackOff {
    first: Duration::from_secs(5),
    most: Duration::from_secs(300),
};

/// The refused paths of one folder.
#[derive(Debug, Default)]
pub(super) struct Refused(BTreeMap<RelPath, Retry>);

#[derive(Debug)]
struct Retry {
    looks: u32,
    at: Instant,
}

impl Refused {
    /// Replaces the refused paths after a scan. Those that were refused before keep their pauses.
    pub(super) fn record(&mut self, paths: BTreeSet<RelPath>, now: Instant) {
        self.0.retain(|path, _| paths.contains(path));
        for path in paths {
            self.0.entry(path).or_insert_with(|| Retry {
                looks: 1,
                at: now + PAUSES.after(1),
            });
        }
    }

    /// Forgets all of them: everything is scanned next.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds to the hinted directories those of the paths that are due, and makes each wait longer for the look after
    /// this one. Returns whether the root is among them.
    pub(super) fn take_due(&mut self, hinted: &mut Hinted, now: Instant) -> bool {
        let mut is_root_due = false;
        for (path, retry) in self.0.iter_mut().filter(|(_, retry)| retry.at <= now) {
            retry.looks = retry.looks.saturating_add(1);
            retry.at = now + PAUSES.after(retry.looks);
            match path.parent().zip(path.name()) {
                Some((dir, name)) => drop(hinted.entry(dir).or_default().insert(name.clone())),
                None => is_root_due = true,
            }
        }
        is_root_due
    }

    /// Returns the time of the next look.
    pub(super) fn next_look(&self) -> Option<Instant> {
        self.0.values().map(|retry| retry.at).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RelPath {
        RelPath::parse(text).unwrap()
    }

    fn paths(all: &[&str]) -> BTreeSet<RelPath> {
        all.iter().map(|one| path(one)).collect()
    }

    fn secs(secs: u64) -> Duration {
        Duration::from_secs(secs)
    }

    #[test]
    fn each_refused_path_is_looked_at_alone_after_pauses_of_its_own_that_grow() {
        let now = Instant::now();
        let mut refused = Refused::default();
        refused.record(paths(&["d/f"]), now);
        let looks = [5, 15, 35, 75, 155, 315, 615, 915];
        for at in looks.map(|at| now + secs(at)) {
            assert_eq!(refused.next_look(), Some(at));
            let mut hinted = Hinted::new();
            assert!(!refused.take_due(&mut hinted, at));
            let only = Hinted::from([(path("d"), path("f").names().iter().cloned().collect())]);
            assert_eq!(hinted, only);
            refused.record(paths(&["d/f", "g"]), at);
            refused.record(paths(&["d/f"]), at);
        }
        let later = now + secs(1000);
        refused.record(paths(&["d/f", "g"]), later);
        assert_eq!(refused.next_look(), Some(later + secs(5)), "g is new");
        refused.record(BTreeSet::new(), later);
        assert_eq!(refused.next_look(), None);
    }

    #[test]
    fn a_refused_root_is_due_as_a_whole() {
        let now = Instant::now();
        let mut refused = Refused::default();
        refused.record(paths(&[""]), now);
        let mut hinted = Hinted::new();
        assert!(!refused.take_due(&mut hinted, now + secs(4)));
        assert!(refused.take_due(&mut hinted, now + secs(5)));
        assert_eq!(hinted, Hinted::new());
    }
}
