//! The progress of a burst of work: `12 of 340`.
//!
//! The daemon reports what is pending and what was done since it started. A burst begins when something
//! becomes pending and ends when nothing is.

use cairn_control::Status;
use cairn_model::Counters;
use serde::Serialize;
use ts_rs::TS;

/// Changes done, of all changes that the burst has had so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, TS)]
pub struct SyncProgress {
    pub done: u64,
    pub total: u64,
}

impl SyncProgress {
    /// Returns whole percent, at most 100.
    #[must_use]
    pub fn percent(self) -> u8 {
        let percent = (self.done * 100).checked_div(self.total).unwrap_or(0);
        u8::try_from(percent.min(100)).unwrap_or(100)
    }
}

/// Measures one burst after the other.
#[derive(Debug, Default)]
pub struct ProgressTracker {
    /// The number of changes done when the burst began.
    start: Option<u64>,
}

impl ProgressTracker {
    /// Processes a status and returns the progress of its burst, or none if nothing is pending.
    pub fn observe(&mut self, status: &Status) -> Option<SyncProgress> {
        let done = operation_count(&status.counters);
        if status.pending == 0 {
            self.start = None;
            return None;
        }
        // A daemon that was restarted counts from zero.
        let start = *self.start.get_or_insert(done);
        if start > done {
            self.start = Some(done);
        }
        let done = done.saturating_sub(start);
        Some(SyncProgress {
            done,
            total: done + status.pending,
        })
    }
}

fn operation_count(counters: &Counters) -> u64 {
    counters.uploads + counters.downloads + counters.renames + counters.deletes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(pending: u64, uploads: u64) -> Status {
        Status {
            pending,
            counters: Counters {
                uploads,
                ..Default::default()
            },
            ..Default::default()
        }
    }

    #[test]
    fn a_burst_counts_from_its_own_beginning() {
        let mut tracker = ProgressTracker::default();
        assert_eq!(tracker.observe(&status(0, 7)), None);
        let progress = |done, total| Some(SyncProgress { done, total });
        assert_eq!(tracker.observe(&status(10, 7)), progress(0, 10));
        assert_eq!(tracker.observe(&status(8, 9)), progress(2, 10));
        assert_eq!(tracker.observe(&status(20, 9)), progress(2, 22));
        assert_eq!(tracker.observe(&status(0, 29)), None);
        assert_eq!(tracker.observe(&status(4, 30)), progress(0, 4));
        // The daemon was restarted.
        assert_eq!(tracker.observe(&status(3, 0)), progress(0, 3));
        assert_eq!(tracker.observe(&status(2, 1)), progress(1, 3));
    }

    #[test]
    fn progress_is_never_more_than_the_total() {
        assert_eq!(SyncProgress { done: 1, total: 3 }.percent(), 33);
        assert_eq!(SyncProgress::default().percent(), 0);
    }
}
