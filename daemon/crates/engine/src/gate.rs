//! The deletion gate: before a mass deletion a person is asked, and until the decision nothing is deleted.
//!
//! Removing a big tree takes its time, and a plan sees only what is gone so far. So deletions that keep
//! coming wait until they are all there, and those that were executed a moment ago are counted, too.
//!
//! A decision is about the nodes that waited for it, and ends with them: each is marked in its merge base (the
//! record of what both sides last agreed on).

mod flow;
mod head;
mod overwrites;
mod sampling;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub(crate) use flow::{BeforeDeletions, DeletionFlow};
pub(crate) use overwrites::{OverwriteFlow, check as check_overwrites};
pub(crate) use sampling::sample_heads;

use crate::engine::Engine;
use crate::error::EngineError;
use cairn_index::{ConfirmationRow, Db, FolderRow, IndexError};
use cairn_model::{Kind, NodeId, Side};
use cairn_plan::{Deletion, Plan};
use std::collections::BTreeSet;

/// Files to be deleted here, and on the service.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Deletions {
    pub(crate) local: u64,
    pub(crate) remote: u64,
}

/// The deletions of a plan that no person has confirmed.
#[derive(Debug, Default)]
pub(crate) struct Unconfirmed {
    local: Vec<Deletion>,
    remote: Vec<Deletion>,
}

impl Unconfirmed {
    /// Returns the number of files on each side.
    pub(crate) fn files(&self) -> Deletions {
        Deletions {
            local: count_files(&self.local),
            remote: count_files(&self.remote),
        }
    }
}

fn count_files(deletions: &[Deletion]) -> u64 {
    let is_file = |deletion: &&Deletion| deletion.kind == Kind::File;
    deletions.iter().filter(is_file).map(|_| 1).sum()
}

/// Returns the deletions of a plan that no person has confirmed, here or on another device. Confirmations of
/// what came back instead of being deleted end here.
///
/// # Errors
/// Returns the error of the index.
pub(crate) fn unconfirmed_deletions(
    engine: &Engine,
    folder: &FolderRow,
    plan: &Plan,
) -> Result<Unconfirmed, EngineError> {
    let confirmed = engine.index.read(|db| db.confirmed_deletions(folder.id))?;
    let of = |side| -> Vec<Deletion> {
        let all = plan.deletions(side).iter();
        all.filter(|deletion| !confirmed.contains(&deletion.node))
            .copied()
            .collect()
    };
    let unconfirmed = Unconfirmed {
        local: of(Side::Local),
        remote: of(Side::Remote),
    };
    if confirmed.is_empty() {
        return Ok(unconfirmed);
    }
    let planned: BTreeSet<NodeId> = Side::ALL
        .iter()
        .flat_map(|side| plan.deletions(*side))
        .map(|deletion| deletion.node)
        .collect();
    engine.index.write(|db| {
        for node in confirmed.difference(&planned) {
            db.withdraw_confirmation(folder.id, *node)?;
        }
        Ok(())
    })?;
    Ok(unconfirmed)
}

/// Checks the deletions of a plan; `new_files` were made a moment ago. Returns the number of files that wait for a person
/// on each side; a plan with any has to be made again with those deletions held.
///
/// # Errors
/// Returns the error of the index.
pub(crate) fn check(
    engine: &Engine,
    folder: &FolderRow,
    deletions: &Unconfirmed,
    recent: Deletions,
    new_files: &BTreeSet<NodeId>,
) -> Result<Deletions, EngineError> {
    let at_ms = engine.ports.clock.now_ms();
    Ok(engine.index.write(|db| {
        let open = db.confirmations(folder.id)?;
        if deletions.files() == Deletions::default() && open.is_empty() {
            return Ok(Deletions::default());
        }
        let local = DeletionCheck {
            side: Side::Local,
            deletions: &deletions.local,
            recent: recent.local,
            new_files,
            at_ms,
        };
        let remote = DeletionCheck {
            side: Side::Remote,
            deletions: &deletions.remote,
            recent: recent.remote,
            new_files,
            at_ms,
        };
        Ok(Deletions {
            local: local.record(db, folder, &open)?,
            remote: remote.record(db, folder, &open)?,
        })
    })?)
}

/// The deletions of one side that no person has confirmed.
struct DeletionCheck<'a> {
    side: Side,
    deletions: &'a [Deletion],
    /// Files whose deletion was executed a moment ago.
    recent: u64,
    /// Files that were made a moment ago.
    new_files: &'a BTreeSet<NodeId>,
    at_ms: i64,
}

impl DeletionCheck<'_> {
    fn is_many(&self, db: &Db<'_>, folder: &FolderRow, files: u64) -> Result<bool, IndexError> {
        let Some(gate) = folder.settings.gate else {
            return Ok(false);
        };
        let are_many = gate.stops(files + self.recent, || {
            Ok::<_, IndexError>(self.total(db, folder)? + self.recent)
        })?;
        if are_many || self.new_files.is_empty() {
            return Ok(are_many);
        }
        // What replaces every file by a new one would make half of what there is by itself: so the older ones are looked
        // at alone, too.
        let is_new = |deletion: &&Deletion| self.new_files.contains(&deletion.node);
        let old = files - self.deletions.iter().filter(is_new).count() as u64;
        gate.stops(old + self.recent, || {
            let mut new = 0;
            for node in self.new_files {
                new += u64::from(db.synced_row(folder.id, *node)?.is_some());
            }
            Ok(self.total(db, folder)?.saturating_sub(new) + self.recent)
        })
    }

    /// Returns the number of synced files of which these are a part, but those whose deletion is confirmed.
    fn total(&self, db: &Db<'_>, folder: &FolderRow) -> Result<u64, IndexError> {
        match self.side {
            // Files that nobody vouches for don't count: a server could add as many as it wants.
            Side::Local => db.unconfirmed_sealed_files(folder.id),
            Side::Remote => db.unconfirmed_files(folder.id),
        }
    }

    /// Returns the number of files that wait for a person, and records the confirmation that is needed.
    fn record(
        &self,
        db: &Db<'_>,
        folder: &FolderRow,
        open: &[ConfirmationRow],
    ) -> Result<u64, IndexError> {
        let files = count_files(self.deletions);
        let known = open.iter().find(|row| row.side == self.side);
        if files == 0 {
            if known.is_some() {
                db.end_confirmation(folder.id, self.side)?;
            }
            return Ok(0);
        }
        // Once asked, it stays asked as long as anything would be deleted: deleting a few
        // back and forth must not slip the rest through.
        if known.is_none() && !self.is_many(db, folder, files)? {
            return Ok(0);
        }
        if known.is_none_or(|row| row.files != files) {
            db.put_confirmation(&ConfirmationRow {
                folder: folder.id,
                side: self.side,
                files,
                at_ms: known.map_or(self.at_ms, |row| row.at_ms),
            })?;
        }
        let nodes = self.deletions.iter().map(|deletion| deletion.node);
        db.put_waiting_deletions(folder.id, self.side, &nodes.collect())?;
        Ok(files)
    }
}
