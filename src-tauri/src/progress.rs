//! How far a burst of work is: `12 of 340`.
//!
//! The daemon tells what is pending and what was done since it started. A burst begins when something
//! becomes pending and ends when nothing is.

use cairn_control::{Counters, Status};
use serde::Serialize;
use ts_rs::TS;

/// Changes carried out, of those that this burst has had so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, TS)]
pub struct Share {
    pub done: u64,
    pub total: u64,
}

impl Share {
    /// In whole percent.
    #[must_use]
    pub fn percent(self) -> u8 {
        let percent = (self.done * 100).checked_div(self.total).unwrap_or(0);
        u8::try_from(percent.min(100)).unwrap_or(100)
    }
}

/// Follows one burst after the other.
#[derive(Debug, Default)]
pub struct Progress {
    /// What had been done when the burst began.
    begun: Option<u64>,
}

impl Progress {
    /// Takes in a status and tells how far its burst is; nothing while nothing is pending.
    pub fn observe(&mut self, status: &Status) -> Option<Share> {
        let done = carried_out(&status.counters);
        if status.pending == 0 {
            self.begun = None;
            return None;
        }
        // A daemon that has started anew counts from nothing.
        let begun = *self.begun.get_or_insert(done);
        if begun > done {
            self.begun = Some(done);
        }
        let done = done.saturating_sub(begun);
        Some(Share {
            done,
            total: done + status.pending,
        })
    }
}

fn carried_out(counters: &Counters) -> u64 {
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
        let mut progress = Progress::default();
        assert_eq!(progress.observe(&status(0, 7)), None);
        let share = |done, total| Some(Share { done, total });
        assert_eq!(progress.observe(&status(10, 7)), share(0, 10));
        assert_eq!(progress.observe(&status(8, 9)), share(2, 10));
        assert_eq!(progress.observe(&status(20, 9)), share(2, 22));
        assert_eq!(progress.observe(&status(0, 29)), None);
        assert_eq!(progress.observe(&status(4, 30)), share(0, 4));
        // The daemon was restarted.
        assert_eq!(progress.observe(&status(3, 0)), share(0, 3));
        assert_eq!(progress.observe(&status(2, 1)), share(1, 3));
    }

    #[test]
    fn a_share_is_never_more_than_all() {
        assert_eq!(Share { done: 1, total: 3 }.percent(), 33);
        assert_eq!(Share::default().percent(), 0);
    }
}
