//! The gate before mass deletions: a person is asked, and until the decision nothing is deleted.
//!
//! Removing a big tree takes its time, and a plan sees only what is gone so far. So deletions that keep
//! coming wait until they are all there, and those that were executed a moment ago are counted, too.

use crate::engine::Engine;
use crate::error::EngineError;
use cairn_index::{ConfirmationRow, ConfirmationState, Db, FolderRow, IndexError};
use cairn_model::{DeletionGate, Side};
use cairn_plan::Plan;
use std::time::Duration;
use tokio::time::Instant;

/// From so many files on, deletions wait while more of them keep coming.
const SEVERAL: u64 = 10;
/// No more have come for so long: they are all there.
const QUIET: Duration = Duration::from_millis(1500);
/// Deletions longer ago than this don't count.
const MEMORY: Duration = Duration::from_secs(60);

/// Files to be deleted here, and on the service.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Deletions {
    pub(crate) local: u64,
    pub(crate) remote: u64,
}

/// The deletions of a folder as they come and go.
#[derive(Debug, Default)]
pub(crate) struct DeletionFlow {
    planned: Deletions,
    /// Until when those wait for more.
    quiet_at: Option<Instant>,
    recent: Deletions,
    last: Option<Instant>,
}

impl DeletionFlow {
    /// Records what a plan would delete; returns the deletions that should wait because more are coming.
    pub(crate) fn wait(&mut self, planned: Deletions, now: Instant) -> Deletions {
        if planned == Deletions::default() {
            self.planned = planned;
            self.quiet_at = None;
            return planned;
        }
        let recent = self.recent_deletions(now);
        if planned != self.planned {
            self.planned = planned;
            self.quiet_at = Some(now + QUIET);
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
            self.quiet_at = None;
        }
        out
    }

    /// Returns the time at which waiting deletions are to be planned again.
    pub(crate) fn quiet_at(&self) -> Option<Instant> {
        self.quiet_at
    }

    /// Counts deletions that were executed: so many files fewer are synced.
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

    /// Forgets what was deleted: a person has decided.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }
}

/// Returns the deletions of a plan about which no person was asked on another device.
pub(crate) fn deletions(
    engine: &Engine,
    folder: &FolderRow,
    plan: &Plan,
) -> Result<Deletions, EngineError> {
    let confirmed = match plan.local_deletions {
        0 => 0,
        _ => engine.index.read(|db| db.confirmed_deletions(folder.id))?,
    };
    Ok(Deletions {
        local: plan.local_deletions.saturating_sub(confirmed),
        remote: plan.remote_deletions,
    })
}

/// Checks the deletions of a plan. Returns the number of files that wait for a person on each side; a plan
/// with any has to be made again with those deletions held.
///
/// # Errors
/// The index's.
pub(crate) fn check(
    engine: &Engine,
    folder: &FolderRow,
    deletions: Deletions,
    recent: Deletions,
) -> Result<Deletions, EngineError> {
    let at_ms = engine.ports.clock.now_ms();
    Ok(engine.index.write(|db| {
        let open = db.confirmations(folder.id)?;
        if deletions == Deletions::default() && open.is_empty() {
            return Ok(Deletions::default());
        }
        let total = db.synced_files(folder.id)?;
        let side = |side: Side, files: u64, recent: u64| DeletionCheck {
            side,
            files,
            recent,
            total,
            at_ms,
        };
        Ok(Deletions {
            local: side(Side::Local, deletions.local, recent.local).record(db, folder, &open)?,
            remote: side(Side::Remote, deletions.remote, recent.remote)
                .record(db, folder, &open)?,
        })
    })?)
}

/// The deletions of one side.
struct DeletionCheck {
    side: Side,
    files: u64,
    /// Those that were executed a moment ago.
    recent: u64,
    /// All synced files.
    total: u64,
    at_ms: i64,
}

impl DeletionCheck {
    fn is_many(&self, gate: DeletionGate) -> bool {
        let (files, total) = (self.files + self.recent, self.total + self.recent);
        files >= gate.files.max(1)
            && files.saturating_mul(100) > total.saturating_mul(u64::from(gate.percent))
    }

    /// Returns the number of files that wait for a person, and records the confirmation that is needed.
    fn record(
        &self,
        db: &Db<'_>,
        folder: &FolderRow,
        open: &[ConfirmationRow],
    ) -> Result<u64, IndexError> {
        let files = self.files;
        let Some(known) = open.iter().find(|q| q.side == self.side) else {
            if files == 0 || !folder.settings.gate.is_some_and(|gate| self.is_many(gate)) {
                return Ok(0);
            }
            db.put_confirmation(&ConfirmationRow {
                folder: folder.id,
                side: self.side,
                files,
                at_ms: self.at_ms,
                state: ConfirmationState::Pending,
            })?;
            return Ok(files);
        };
        if files == 0 {
            db.end_confirmation(folder.id, self.side)?;
            return Ok(0);
        }
        // The decision holds until these deletions are done.
        if known.state == ConfirmationState::Confirmed {
            return Ok(0);
        }
        // Once asked, it stays asked as long as anything would be deleted: deleting a few
        // back and forth must not slip the rest through.
        if known.files != files {
            let row = known.clone();
            db.put_confirmation(&ConfirmationRow { files, ..row })?;
        }
        Ok(files)
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
}
