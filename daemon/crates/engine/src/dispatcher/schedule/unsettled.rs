//! Files whose stat may have more than one content yet, with the time of the next look at each.

use crate::observe::scan::Hinted;
use crate::observe::unsettled::{SettledFile, SettledState, UnsettledFile};
use cairn_index::LocalStat;
use cairn_model::RelPath;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// A stat that was found twice with this long between belongs to one content: the coarsest disks keep times in steps
/// of two seconds.
pub(super) const STEP: Duration = Duration::from_millis(2100);
/// A file that is never quiet is recorded after this long all the same.
pub(super) const LONGEST: Duration = Duration::from_secs(60);

/// The files of one folder.
#[derive(Debug, Default)]
pub(super) struct Unsettled(BTreeMap<RelPath, Observation>);

#[derive(Clone, Copy, Debug)]
struct Observation {
    stat: LocalStat,
    /// Times since which it has this stat, and since which it is not quiet.
    since: Instant,
    first: Instant,
    /// True if a scan has recorded this stat, because the file is never quiet.
    is_recorded: bool,
}

impl Observation {
    fn state(&self, now: Instant) -> Option<SettledState> {
        if self.since + STEP <= now {
            return Some(match self.is_recorded {
                true => SettledState::ReadTooEarly,
                false => SettledState::Quiet,
            });
        }
        (self.first + LONGEST <= now).then_some(SettledState::NeverQuiet)
    }

    fn next_look(&self) -> Instant {
        (self.since + STEP).min(self.first + LONGEST)
    }
}

impl Unsettled {
    /// Adds the files that are due to the hinted directories, and returns all that may be recorded now.
    pub(super) fn take_due(
        &mut self,
        hinted: &mut Hinted,
        now: Instant,
    ) -> BTreeMap<RelPath, SettledFile> {
        let mut settled = BTreeMap::new();
        for (path, observation) in &mut self.0 {
            let Some(state) = observation.state(now) else {
                continue;
            };
            let stat = observation.stat;
            settled.insert(path.clone(), SettledFile { stat, state });
            if let Some((dir, name)) = path.parent().zip(path.name()) {
                hinted.entry(dir).or_default().insert(name.clone());
            }
            if state == SettledState::NeverQuiet {
                // What is read of it now is not the last that it will be.
                (observation.since, observation.first) = (now, now);
            }
        }
        self.0.retain(|path, _| {
            let state = settled.get(path).map(|file| file.state);
            matches!(state, None | Some(SettledState::NeverQuiet))
        });
        settled
    }

    /// Records what a scan has found not to be settled.
    pub(super) fn record(&mut self, found: BTreeMap<RelPath, UnsettledFile>, now: Instant) {
        for (path, file) in found {
            let UnsettledFile { stat, is_recorded } = file;
            let observation = self.0.entry(path).or_insert(Observation {
                stat,
                since: now,
                first: now,
                is_recorded,
            });
            if observation.stat != stat || is_recorded {
                (observation.stat, observation.since, observation.is_recorded) =
                    (stat, now, is_recorded);
            }
        }
    }

    /// Forgets all of them: everything is scanned next.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the time of the next look.
    pub(super) fn next_look(&self) -> Option<Instant> {
        self.0.values().map(Observation::next_look).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RelPath {
        RelPath::parse(text).unwrap()
    }

    fn found(text: &str, size: u64, is_recorded: bool) -> BTreeMap<RelPath, UnsettledFile> {
        let stat = LocalStat {
            size,
            ..LocalStat::default()
        };
        BTreeMap::from([(path(text), UnsettledFile { stat, is_recorded })])
    }

    #[test]
    fn a_file_may_be_recorded_when_it_was_quiet_for_a_step() {
        let begin = Instant::now();
        let mut files = Unsettled::default();
        files.record(found("d/f", 1, false), begin);
        // The same again, as a hint has it looked at.
        files.record(found("d/f", 1, false), begin + STEP / 2);
        assert_eq!(files.next_look(), Some(begin + STEP));
        let mut hinted = Hinted::new();
        assert!(files.take_due(&mut hinted, begin + STEP / 2).is_empty());
        assert!(hinted.is_empty());
        // Another one: the step begins anew.
        files.record(found("d/f", 2, false), begin + STEP / 2);
        assert!(files.take_due(&mut hinted, begin + STEP).is_empty());
        let settled = files.take_due(&mut hinted, begin + STEP + STEP / 2);
        let file = settled[&path("d/f")];
        assert_eq!((file.stat.size, file.state), (2, SettledState::Quiet));
        assert_eq!(hinted.keys().collect::<Vec<_>>(), [&path("d")]);
        assert!(files.is_empty() && files.next_look().is_none());
    }

    #[test]
    fn a_file_that_is_never_quiet_is_recorded_and_read_again_when_it_is() {
        let begin = Instant::now();
        let mut files = Unsettled::default();
        let mut at = begin;
        let mut size = 0;
        while at < begin + LONGEST {
            size += 1;
            files.record(found("f", size, false), at);
            assert!(files.take_due(&mut Hinted::new(), at).is_empty());
            at += STEP / 2;
        }
        let settled = files.take_due(&mut Hinted::new(), at);
        assert_eq!(settled[&path("f")].state, SettledState::NeverQuiet);
        size += 1;
        files.record(found("f", size, true), at);
        let settled = files.take_due(&mut Hinted::new(), at + STEP);
        let file = settled[&path("f")];
        assert_eq!(
            (file.stat.size, file.state),
            (size, SettledState::ReadTooEarly)
        );
        assert!(files.is_empty());
    }
}
