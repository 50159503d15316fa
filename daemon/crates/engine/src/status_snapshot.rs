//! The figures from which the status is made.

use crate::overall_progress::{ProgressMeter, TransferCounts};
use crate::status::{FolderStatus, Status, TransferStatus};
use cairn_model::{Counters, FolderId, ProblemCode, SyncState};
use parking_lot::Mutex;
use tokio::time::Instant;

#[derive(Default)]
struct Figures {
    folders: Vec<FolderStatus>,
    counters: Counters,
    paused: bool,
    paused_until: Option<i64>,
    /// The failure that keeps all folders from syncing: its state and message.
    last_error: Option<(SyncState, String)>,
    /// Something is being scanned, polled or planned.
    busy: bool,
    transfers: TransferCounts,
    meter: ProgressMeter,
}

/// The latest figures of all folders, of the account's connection and of the engine.
#[derive(Default)]
pub(crate) struct StatusSnapshot(Mutex<Figures>);

impl StatusSnapshot {
    pub(crate) fn count(&self, change: impl FnOnce(&mut Counters)) {
        change(&mut self.0.lock().counters);
    }

    pub(crate) fn set_paused(&self, paused: bool, until: Option<i64>) {
        let mut figures = self.0.lock();
        figures.paused = paused;
        figures.paused_until = until;
    }

    /// Records a failure that concerns all folders. Returns whether it is another one than before.
    pub(crate) fn set_last_error(&self, state: SyncState, message: String) -> bool {
        let mut figures = self.0.lock();
        let new = Some((state, message));
        let differs = figures.last_error != new;
        figures.last_error = new;
        differs
    }

    pub(crate) fn clear_last_error(&self) {
        self.0.lock().last_error = None;
    }

    /// Returns the state that a failure that concerns all folders gives to each of them.
    pub(crate) fn error_state(&self) -> Option<SyncState> {
        self.0.lock().last_error.as_ref().map(|(state, _)| *state)
    }

    /// Returns the latest figures of a folder, or empty ones.
    pub(crate) fn folder(&self, id: FolderId) -> FolderStatus {
        let figures = self.0.lock();
        let known = figures.folders.iter().find(|f| f.id == id.0);
        known.cloned().unwrap_or_default()
    }

    /// Replaces the figures of all folders. Returns whether anything is different.
    pub(crate) fn set_folders(&self, folders: Vec<FolderStatus>, busy: bool) -> bool {
        let mut figures = self.0.lock();
        let changed = figures.folders != folders || figures.busy != busy;
        figures.folders = folders;
        figures.busy = busy;
        changed
    }

    /// Takes the figures of the transfers; `moving` are the bytes that running ones have done.
    pub(crate) fn set_transfers(&self, transfers: TransferCounts, moving: u64) {
        let mut figures = self.0.lock();
        figures.transfers = transfers;
        figures.meter.observe(Instant::now(), &transfers, moving);
    }

    /// Makes the status of these figures and the running transfers; `complete` adds the problems and
    /// conflicts of a folder.
    pub(crate) fn status(
        &self,
        transfers: Vec<TransferStatus>,
        remote_calls: u64,
        complete: impl Fn(FolderId, &mut FolderStatus),
    ) -> Status {
        let mut figures = self.0.lock();
        let figures = &mut *figures;
        let mut folders = figures.folders.clone();
        for folder in &mut folders {
            complete(FolderId(folder.id), folder);
            // The service was reached again since the folder's figures were made.
            if folder.state == SyncState::Offline && figures.last_error.is_none() {
                folder.state = SyncState::Syncing;
            }
            folder.state = folder_state(folder);
        }
        let state = overall_state(figures, &folders, !transfers.is_empty());
        let moving = transfers.iter().map(|transfer| transfer.bytes).sum();
        let progress = figures
            .meter
            .observe(Instant::now(), &figures.transfers, moving);
        Status {
            state,
            pending: folders.iter().map(|f| f.pending).sum(),
            folders,
            transfers,
            progress,
            counters: Counters {
                remote_calls,
                ..figures.counters
            },
            message: figures.last_error.as_ref().map(|(_, text)| text.clone()),
            paused_until: figures.paused_until,
        }
    }
}

/// Returns the state of a folder. Something that needs a person is never hidden by what still goes on,
/// or by the next of many tries.
fn folder_state(folder: &FolderStatus) -> SyncState {
    if !matches!(folder.state, SyncState::Idle | SyncState::Syncing) {
        return folder.state;
    }
    let waiting = folder.waiting_files() > 0;
    let problem = folder.problems.iter().any(|group| needs_person(group.code));
    if waiting || problem || folder.conflicts > 0 {
        SyncState::Attention
    } else if folder.pending > 0 {
        SyncState::Syncing
    } else {
        folder.state
    }
}

fn overall_state(figures: &Figures, folders: &[FolderStatus], transferring: bool) -> SyncState {
    if figures.paused {
        return SyncState::Paused;
    }
    if let Some((state, _)) = &figures.last_error {
        return *state;
    }
    let state = folders.iter().map(|f| f.state).max().unwrap_or_default();
    if state == SyncState::Idle && (figures.busy || transferring) {
        SyncState::Syncing
    } else {
        state
    }
}

/// Lines that only inform (a skipped symbolic link) don't need a person.
fn needs_person(code: ProblemCode) -> bool {
    !matches!(
        code,
        ProblemCode::Symlink | ProblemCode::Special | ProblemCode::Changing
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::ProblemGroup;
    use cairn_model::ProblemCause;

    fn folder(state: SyncState, codes: &[ProblemCode]) -> FolderStatus {
        let problems = codes.iter().map(|code| ProblemGroup {
            code: *code,
            cause: ProblemCause::Other,
            hint: String::new(),
            count: 1,
            bytes: 0,
            examples: Vec::new(),
        });
        FolderStatus {
            state,
            problems: problems.collect(),
            ..FolderStatus::default()
        }
    }

    #[test]
    fn a_folder_is_not_offline_longer_than_the_service() {
        let snapshot = StatusSnapshot::default();
        let status = || snapshot.status(Vec::new(), 0, |_, _| {});
        snapshot.set_last_error(SyncState::Offline, "no answer".into());
        snapshot.set_folders(vec![folder(SyncState::Offline, &[])], false);
        assert_eq!(status().state, SyncState::Offline);
        // Before the folder's figures are made anew.
        snapshot.clear_last_error();
        assert_eq!(status().state, SyncState::Syncing);
        assert_eq!(status().folders[0].state, SyncState::Syncing);
    }

    #[test]
    fn what_needs_a_person_is_never_syncing_or_up_to_date() {
        use SyncState::{Attention, Error, Idle, Offline, Paused, Syncing};
        let unreadable = [ProblemCode::Unreadable];
        let link = [ProblemCode::Symlink];
        for (state, codes, pending, conflicts, expected) in [
            (Idle, &[][..], 0, 0, Idle),
            (Syncing, &[], 0, 0, Syncing),
            (Idle, &[], 1, 0, Syncing),
            (Syncing, &unreadable, 1, 0, Attention),
            (Idle, &unreadable, 1, 0, Attention),
            (Syncing, &[ProblemCode::DiskFull], 9, 0, Attention),
            (Syncing, &link, 0, 0, Syncing),
            (Idle, &link, 0, 0, Idle),
            (Idle, &[], 0, 1, Attention),
            (Syncing, &[], 5, 1, Attention),
            (Paused, &unreadable, 1, 1, Paused),
            (Offline, &unreadable, 1, 1, Offline),
            (Error, &unreadable, 1, 1, Error),
        ] {
            let mut folder = folder(state, codes);
            (folder.pending, folder.conflicts) = (pending, conflicts);
            assert_eq!(folder_state(&folder), expected, "{folder:?}");
        }
    }
}
