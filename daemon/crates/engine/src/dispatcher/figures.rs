//! The figures of all folders (counts, bytes, states) that the status shows.

use super::Dispatcher;
use super::folder::Folder;
use crate::engine::Engine;
use crate::overall_progress::{Amount, TransferCounts};
use crate::status::FolderStatus;
use cairn_index::{IndexError, Round};
use cairn_model::{FolderId, Side, SyncState};
use tokio::time::Instant;

/// After a count of a folder's files the next one waits for this many times as long as it took; only the status
/// needs it.
const TOTALS_REST: u32 = 30;

impl Dispatcher {
    /// Updates the figures of all folders in the status, and announces a difference.
    pub(super) fn update_status(&mut self) {
        let error_state = self.engine.figures.error_state();
        let now_ms = self.engine.ports.clock.now_ms();
        self.update_pause(now_ms);
        let mut statuses = Vec::new();
        for (id, folder) in &mut self.folders {
            let mut figures = self.engine.figures.folder(*id);
            let began = Instant::now();
            if folder.totals_due && (folder.in_flight == 0 || folder.next_totals <= began) {
                folder.totals_due = false;
                if let Err(error) = count_totals(&self.engine, *id, &mut figures) {
                    tracing::warn!(%error, "the status keeps older figures of a folder");
                }
                if folder.is_more {
                    folder.left = count_left(&self.engine, *id, folder.round);
                }
                folder.next_totals = Instant::now() + began.elapsed() * TOTALS_REST;
            }
            statuses.push(FolderStatus {
                id: id.0,
                local: folder.row.root.clone(),
                remote: folder.row.remote_path.clone(),
                mode: folder.row.settings.mode,
                state: folder_state(folder, error_state, now_ms),
                pending: count_pending(&self.engine, *id, folder, error_state.is_some(), now_ms),
                steps: folder.steps,
                ..figures
            });
        }
        let mut left = Amount::default();
        for folder in self.folders.values() {
            left.add(folder.transfers_left());
        }
        let transfers = TransferCounts {
            finished: self.transferred,
            left,
            active: self.folders.values().any(Folder::is_busy),
        };
        let moving = self.engine.running.bytes();
        self.engine.figures.set_transfers(transfers, moving);
        // A regular poll that finds nothing is no work.
        let is_catching_up = self.is_polling() && (!self.has_polled || self.feed_incomplete);
        let busy = !self.transfers.is_empty()
            || !self.structure.is_empty()
            || self.poll_due
            || is_catching_up;
        if self.engine.figures.set_folders(statuses, busy) {
            self.engine.announce_status();
        }
    }

    /// Updates whether all folders are paused: a pause may end by itself. One that was set and is not read yet
    /// is in the figures already.
    fn update_pause(&self, now_ms: i64) {
        if self.engine.is_interrupted() {
            return;
        }
        let mut folders = self.folders.values();
        let paused = !self.folders.is_empty() && folders.all(|f| f.is_paused(now_ms));
        let folders = self.folders.values();
        let until = folders.filter_map(|f| f.row.settings.paused_until).min();
        self.engine
            .figures
            .set_paused(paused, until.filter(|_| paused));
    }
}

/// Returns the number of changes of a folder that are to be done: the steps of its plan, or where none is made
/// just now, at least the known differences.
fn count_pending(
    engine: &Engine,
    id: FolderId,
    folder: &Folder,
    is_stopped: bool,
    now_ms: i64,
) -> u64 {
    let planned = folder.pending_steps();
    if !is_stopped && !folder.is_paused(now_ms) {
        return planned;
    }
    match engine.index.read(|db| db.dirty_count(id)) {
        Ok(differences) => planned.max(differences),
        Err(error) => {
            tracing::warn!(%error, "the status counts only what was planned");
            planned
        }
    }
}

/// Counts the files and bytes that are left for further plans of a round.
fn count_left(engine: &Engine, id: FolderId, round: Round) -> Amount {
    match engine.index.read(|db| db.files_left(id, round)) {
        Ok((files, bytes)) => Amount { files, bytes },
        Err(error) => {
            tracing::warn!(%error, "the status counts only what was planned");
            Amount::default()
        }
    }
}

/// Counts files, bytes, conflicts and waiting deletions of a folder.
fn count_totals(
    engine: &Engine,
    id: FolderId,
    figures: &mut FolderStatus,
) -> Result<(), IndexError> {
    let ((files, bytes), waiting, conflicts) = engine.index.read(|db| {
        let conflicts = db.conflict_count(id)?;
        figures.waiting_overwrites = db.waiting_overwrite_count(id)?;
        Ok((db.local_totals(id)?, db.confirmations(id)?, conflicts))
    })?;
    let waiting_on = |side| {
        waiting
            .iter()
            .find(|c| c.side == side)
            .map_or(0, |c| c.files)
    };
    (figures.files, figures.bytes) = (files, bytes);
    figures.conflicts = conflicts;
    figures.waiting_local_deletions = waiting_on(Side::Local);
    figures.waiting_remote_deletions = waiting_on(Side::Remote);
    Ok(())
}

fn folder_state(folder: &Folder, error_state: Option<SyncState>, now_ms: i64) -> SyncState {
    if folder.is_paused(now_ms) {
        SyncState::Paused
    } else if folder.schedule.is_root_missing() || folder.unattachable {
        SyncState::Error
    } else if let Some(state) = error_state {
        state
    } else if folder.is_busy() {
        SyncState::Syncing
    } else {
        SyncState::Idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::EngineError;
    use crate::testing::TestEngine;
    use cairn_api::ApiError;
    use cairn_index::Skipped;
    use std::sync::Arc;

    #[tokio::test(start_paused = true)]
    async fn a_pause_that_has_ended_by_itself_is_over() {
        let (mut dispatcher, id, _dir) = TestEngine::new().into_dispatcher();
        let now_ms = dispatcher.engine.ports.clock.now_ms();
        for (until, expected) in [(now_ms + 1, true), (now_ms, false)] {
            let folder = dispatcher.folders.get_mut(&id).unwrap();
            let mut row = (*folder.row).clone();
            (row.settings.paused, row.settings.paused_until) = (true, Some(until));
            folder.row = Arc::new(row);
            dispatcher.engine.figures.set_paused(true, Some(until));
            dispatcher.update_status();
            let status = dispatcher.engine.status();
            assert_eq!(status.state == SyncState::Paused, expected);
            assert_eq!(status.paused_until.is_some(), expected);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_waits_is_counted_also_while_nothing_is_planned() {
        let test = TestEngine::new();
        for name in ["a", "b"] {
            let local = test.local_file(name, Skipped::No);
            let (index, folder) = (&test.options.index, test.folder.id);
            index.write(|db| db.mark_local(folder, local)).unwrap();
        }
        let (mut dispatcher, id, _dir) = test.into_dispatcher();
        let pending = |dispatcher: &mut Dispatcher| {
            dispatcher.update_status();
            dispatcher.engine.status().pending
        };
        dispatcher.back_off(&EngineError::Api(ApiError::Offline("no".into())));
        assert_eq!(pending(&mut dispatcher), 2, "offline");
        dispatcher.engine.figures.clear_last_error();
        let folder = dispatcher.folders.get_mut(&id).unwrap();
        let mut row = (*folder.row).clone();
        row.settings.paused = true;
        folder.row = Arc::new(row);
        assert_eq!(pending(&mut dispatcher), 2, "paused");
    }
}
