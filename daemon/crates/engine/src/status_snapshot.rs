//! The figures from which the status is made.

use crate::status::{FolderStatus, Problem, Status, TransferStatus};
use cairn_model::{Counters, FolderId, ProblemCode, SyncState};
use parking_lot::Mutex;

#[derive(Default)]
struct Figures {
    folders: Vec<FolderStatus>,
    counters: Counters,
    paused: bool,
    paused_until: Option<i64>,
    /// The failure that keeps the whole home from working: its state and message.
    last_error: Option<(SyncState, String)>,
    /// Something is being scanned, polled or planned.
    busy: bool,
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

    /// Records a failure of the whole home. Returns whether it is another one than before.
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

    /// Returns the state that a failure of the whole home gives to every folder.
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

    /// Makes the status of these figures, the running transfers and the problems of each folder.
    pub(crate) fn status(
        &self,
        transfers: Vec<TransferStatus>,
        remote_calls: u64,
        problems: impl Fn(FolderId) -> Vec<Problem>,
    ) -> Status {
        let figures = self.0.lock();
        let mut folders = figures.folders.clone();
        for folder in &mut folders {
            folder.errors = problems(FolderId(folder.id));
            folder.state = folder_state(folder);
        }
        let state = overall_state(&figures, &folders, !transfers.is_empty());
        Status {
            state,
            pending: folders.iter().map(|f| f.pending).sum(),
            folders,
            transfers,
            counters: Counters {
                remote_calls,
                ..figures.counters
            },
            message: figures.last_error.as_ref().map(|(_, text)| text.clone()),
            paused_until: figures.paused_until,
        }
    }
}

fn folder_state(folder: &FolderStatus) -> SyncState {
    if folder.state != SyncState::Idle {
        return folder.state;
    }
    let waiting = folder.waiting_local_deletions + folder.waiting_remote_deletions > 0;
    if waiting || folder.errors.iter().any(|p| needs_person(p.code)) {
        SyncState::Attention
    } else if folder.pending > 0 {
        SyncState::Syncing
    } else {
        SyncState::Idle
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
