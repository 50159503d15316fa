//! Counting the files that a list of steps has deleted, for the deletion gate: what is deleted later is counted
//! together with them.

use super::Dispatcher;
use crate::gate::BeforeDeletions;
use crate::key::Key;
use crate::work::TransferResult;
use cairn_index::LocalRow;
use cairn_model::FolderId;
use cairn_plan::Plan;
use std::time::Duration;
use tokio::time::Instant;

/// A content that was written longer ago than this is not a new one, though its file may be.
const NEW: Duration = Duration::from_secs(60);

impl Dispatcher {
    /// Returns the counts that a plan is to be compared with when it is carried out, if it deletes anything.
    pub(super) fn before_deletions(&self, id: FolderId, plan: &Plan) -> Option<BeforeDeletions> {
        let deletions = || plan.local_deletions.iter().chain(&plan.remote_deletions);
        deletions().next()?;
        let nodes = deletions().map(|deletion| deletion.node);
        let folder = self.folders.get(&id)?;
        let mut new_files = folder.deletions.new_among(nodes, Instant::now());
        if !new_files.is_empty() {
            // They are not among those that are counted: taken off again, they would hide others. So would any of
            // them where nobody knows which were agreed to.
            match self.engine.index.read(|db| db.confirmed_deletions(id)) {
                Ok(confirmed) => new_files.retain(|node| !confirmed.contains(node)),
                Err(_) => new_files.clear(),
            }
        }
        Some(BeforeDeletions {
            synced: self.unconfirmed_files(id),
            new_files,
        })
    }

    /// Returns the number of files that are gone since. Those that were made a moment ago don't count: a program that
    /// makes and removes one file after the other removes nothing that anybody had.
    pub(super) fn count_gone(&self, id: FolderId, before: &BeforeDeletions) -> u64 {
        let gone = before.synced.saturating_sub(self.unconfirmed_files(id));
        let new_files = self.engine.index.read(|db| {
            let mut new_files = 0;
            for node in &before.new_files {
                new_files += u64::from(db.synced_row(id, *node)?.is_none());
            }
            Ok(new_files)
        });
        gone.saturating_sub(new_files.unwrap_or_default())
    }

    /// Returns the number of synced files whose deletion nobody has confirmed.
    fn unconfirmed_files(&self, id: FolderId) -> u64 {
        // Only the gate needs it: without it the gate counts this plan alone.
        let files = self.engine.index.read(|db| db.unconfirmed_files(id));
        files.unwrap_or_default()
    }

    /// Remembers which files were made by transfers that have ended, and have a new content: to have them deleted
    /// again is no loss.
    pub(super) fn remember_new_files(&mut self, id: FolderId, made: &[Key]) {
        let folder = self.folders.get(&id);
        // Only the gate asks for them, and this would look up every transfer.
        if made.is_empty() || folder.is_none_or(|folder| folder.row.settings.gate.is_none()) {
            return;
        }
        let now_ms = self.engine.ports.clock.now_ms();
        let new_files = self.engine.index.read(|db| {
            let mut new_files = Vec::new();
            for key in made {
                let synced = match key {
                    Key::Local(local) => db.synced_by_local(*local)?,
                    Key::Node(node) => db.synced_row(id, *node)?,
                };
                let Some(synced) = synced else { continue };
                let row = db.local_row(synced.local)?;
                if row.is_some_and(|row| is_new(&row, now_ms)) {
                    new_files.push(synced.node);
                }
            }
            Ok(new_files)
        });
        let Some(folder) = self.folders.get_mut(&id) else {
            return;
        };
        match new_files {
            Ok(new_files) => folder.deletions.remember_new(new_files, Instant::now()),
            // They count like others when they are deleted.
            Err(error) => tracing::debug!(%error, "the index does not say which files are new"),
        }
    }
}

/// Returns the keys of what was not on the other side before, of transfers that went through.
pub(super) fn new_file_keys(results: &[TransferResult]) -> Vec<Key> {
    let done = results.iter().filter(|transfer| transfer.result.is_ok());
    done.filter_map(|transfer| match transfer.keys[..] {
        [key] => Some(key),
        _ => None,
    })
    .collect()
}

/// Returns whether a file's content was written a moment ago.
fn is_new(row: &LocalRow, now_ms: i64) -> bool {
    let written_ms = row.stat.mtime / 1_000_000;
    u128::from(now_ms.abs_diff(written_ms)) < NEW.as_millis()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestEngine, synced_file};
    use cairn_index::{Db, Skipped};
    use cairn_model::{DeletionGate, Kind, LocalId, NodeId};
    use cairn_plan::Deletion;

    const WRITTEN_MS: i64 = 1_700_000_000_000;

    fn node(number: u8) -> NodeId {
        NodeId::from_random_bytes([number; 16])
    }

    /// Records that a file, written at a time, is in sync.
    fn put_synced(test: &TestEngine, number: u8, written_ms: i64) -> LocalId {
        let name = format!("f{number}");
        let local = test.local_file(&name, Skipped::No);
        let put = |db: &Db<'_>| {
            let mut row = db.local_row(local)?.expect("it was put there");
            row.stat.mtime = written_ms * 1_000_000;
            db.update_local(&row)?;
            db.put_synced(&synced_file(test.folder.id, node(number), local, &name))
        };
        test.options.index.write(put).unwrap();
        local
    }

    /// Returns the deletion of each of the first files on the service.
    fn deletions(count: u8) -> Plan {
        let deletion = |number| Deletion {
            node: node(number),
            kind: Kind::File,
        };
        Plan {
            remote_deletions: (1..=count).map(deletion).collect(),
            ..Plan::default()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn files_are_remembered_for_a_gate_alone() {
        let test = TestEngine::new();
        let made = put_synced(&test, 1, WRITTEN_MS);
        let (mut dispatcher, id, _dir) = test.into_dispatcher();
        dispatcher.remember_new_files(id, &[Key::Local(made)]);
        let before = dispatcher.before_deletions(id, &deletions(1)).unwrap();
        assert_eq!(before.new_files, []);
    }

    #[tokio::test(start_paused = true)]
    async fn files_that_lived_only_for_a_moment_are_not_counted_with_later_deletions() {
        let test = TestEngine::with_gate(DeletionGate::default());
        let uploaded = put_synced(&test, 1, WRITTEN_MS - 1000);
        let old = put_synced(&test, 2, WRITTEN_MS - 3_600_000);
        put_synced(&test, 3, WRITTEN_MS);
        put_synced(&test, 4, WRITTEN_MS);
        let confirmed = put_synced(&test, 5, WRITTEN_MS);
        let confirm = |db: &Db<'_>| db.confirm_deletion(node(5));
        test.options.index.write(confirm).unwrap();
        let (mut dispatcher, id, _dir) = test.into_dispatcher();
        let made = [uploaded, old, confirmed].map(Key::Local);
        dispatcher.remember_new_files(id, &[Key::Node(node(3))]);
        dispatcher.remember_new_files(id, &made);
        let before = dispatcher.before_deletions(id, &deletions(5)).unwrap();
        let remove = |db: &Db<'_>| (1..=5).try_for_each(|n| db.remove_synced(id, node(n)));
        dispatcher.engine.index.write(remove).unwrap();
        // One has an old content, and of one nobody knows when it came.
        assert_eq!(dispatcher.count_gone(id, &before), 2);
        assert!(dispatcher.before_deletions(id, &Plan::default()).is_none());
    }
}
