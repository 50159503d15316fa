//! The engine from outside: what the daemon calls.

use crate::command::{Command, PollFailure, WaitResult};
use crate::confirm;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::pauses::record_pause;
use crate::resolve::{self, ResolvePreview};
use crate::start::Settings;
use crate::status::{Event, Status};
use crate::trash;
use crate::why::{self, PathReport};
use cairn_index::{FolderRow, IndexError};
use cairn_model::{DeletionDecision, FolderId, Keep, Problem, RelPath};
use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::task::JoinHandle;

/// The time between two looks whether an engine that was shut down is still at work.
const RELEASE_CHECK: Duration = Duration::from_millis(5);

/// A running engine. Dropping it does not stop it; [`EngineHandle::shutdown`] does.
pub struct EngineHandle {
    pub(crate) engine: Arc<Engine>,
    pub(crate) commands: mpsc::UnboundedSender<Command>,
    pub(crate) task: tokio::sync::Mutex<Option<JoinHandle<()>>>,
}

impl EngineHandle {
    /// Returns the present state.
    #[must_use]
    pub fn status(&self) -> Status {
        self.engine.status()
    }

    /// Returns all problems of a folder; the status has examples only.
    #[must_use]
    pub fn problems(&self, folder: FolderId) -> Vec<Problem> {
        self.engine.health().problems(folder)
    }

    /// Subscribes to events from now on.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.engine.events.subscribe()
    }

    /// Scans the disk and polls the service now.
    pub fn rescan(&self, folder: Option<FolderId>) {
        self.send(Command::Rescan(folder));
    }

    /// Polls the service now, and waits until that is done.
    ///
    /// # Errors
    /// [`EngineError::Stopped`] if the engine stops meanwhile.
    pub async fn poll(&self) -> Result<Result<(), PollFailure>, EngineError> {
        self.request(Command::Poll).await
    }

    /// Waits until both sides are equal and a new scan and poll find nothing new.
    ///
    /// # Errors
    /// [`EngineError::Stopped`] if the engine stops meanwhile.
    pub async fn wait_until_idle(&self) -> Result<WaitResult, EngineError> {
        self.request(Command::WaitUntilIdle).await
    }

    /// Stops all syncing, until `until_ms` (UTC) or until resumed; of one folder or of all.
    ///
    /// # Errors
    /// Returns the error of the index.
    pub fn pause(
        &self,
        folder: Option<FolderId>,
        until_ms: Option<i64>,
    ) -> Result<(), EngineError> {
        self.set_paused(folder, true, until_ms)
    }

    /// Ends a pause.
    ///
    /// # Errors
    /// Returns the error of the index.
    pub fn resume(&self, folder: Option<FolderId>) -> Result<(), EngineError> {
        self.set_paused(folder, false, None)
    }

    fn set_paused(
        &self,
        folder: Option<FolderId>,
        paused: bool,
        until: Option<i64>,
    ) -> Result<(), EngineError> {
        let index = &self.engine.index;
        index.write(|db| record_pause(db, folder, paused, until))?;
        if paused {
            self.engine.pauses.set(folder);
        }
        // Before the figures: until the folders are read again, the dispatcher leaves those alone.
        self.engine.reload.store(true, Ordering::Release);
        if folder.is_none() {
            self.engine.figures.set_paused(paused, until);
        }
        self.reload();
        Ok(())
    }

    /// Makes the engine read the folders and their settings from the index again.
    pub fn reload(&self) {
        self.engine.reload.store(true, Ordering::Release);
        self.send(Command::Reload);
    }

    /// Returns the folder pairs.
    ///
    /// # Errors
    /// Returns the error of the index.
    pub fn folders(&self) -> Result<Vec<FolderRow>, IndexError> {
        self.engine.index.read(|db| db.folders())
    }

    /// Returns the name of a device that is noted by its id because its name was not known then; any other text
    /// as it is.
    #[must_use]
    pub fn device_name(&self, noted: &str) -> String {
        let name = noted.parse().ok();
        let name = name.and_then(|id| self.engine.devices.name(Some(id)));
        name.unwrap_or_else(|| noted.to_owned())
    }

    /// Returns the open conflicts, oldest first.
    ///
    /// # Errors
    /// Returns the error of the index.
    pub fn conflicts(&self) -> Result<Vec<resolve::OpenConflict>, EngineError> {
        resolve::open_conflicts(&self.engine)
    }

    /// Returns the sync state of a path of a pair, and the reason for it.
    ///
    /// # Errors
    /// Returns the error of the index.
    pub fn why(&self, folder: &FolderRow, path: &RelPath) -> Result<PathReport, EngineError> {
        why::report(&self.engine, folder, path)
    }

    /// Paths of a pair with a change that is to be done, at most about `limit`.
    ///
    /// # Errors
    /// Returns the error of the index.
    pub fn waiting_paths(
        &self,
        folder: &FolderRow,
        limit: u32,
    ) -> Result<Vec<RelPath>, EngineError> {
        let paths = self.engine.index.read(|db| {
            let dirty = db.some_dirty(folder.id, limit)?;
            let mut paths = BTreeSet::new();
            for local in dirty.local {
                paths.extend(db.local_path(local)?);
            }
            for node in dirty.node {
                paths.extend(db.remote_path_in(folder, node)?);
            }
            Ok(paths)
        })?;
        Ok(paths.into_iter().take(limit as usize).collect())
    }

    /// Deletes things in the trash of a folder for good, like [`trash::delete`].
    ///
    /// # Errors
    /// Returns the error of the disk.
    pub async fn delete_trashed(&self, root: PathBuf, ids: BTreeSet<String>) -> io::Result<()> {
        let ports = &self.engine.ports;
        let disk = Arc::clone(&ports.disk);
        let _disk_lock = self.engine.disk_lock.lock().await;
        let delete = move || trash::delete(&*disk, &root, &ids);
        ports.run_blocking(delete).await
    }

    /// Resolves a conflict; `path` is the file's, or the copy's, relative to its folder. Returns the new path
    /// of the copy if it got a plain name.
    ///
    /// # Errors
    /// No such conflict, a merge that can't be made, or the disk's.
    pub async fn resolve(
        &self,
        folder: Option<FolderId>,
        path: RelPath,
        keep: Keep,
    ) -> Result<Option<RelPath>, EngineError> {
        self.request(|reply| Command::Resolve(path, folder, keep, reply))
            .await?
    }

    /// Returns what [`Self::resolve`] would do, and changes nothing.
    ///
    /// # Errors
    /// Those of [`Self::resolve`].
    pub async fn preview_resolve(
        &self,
        folder: Option<FolderId>,
        path: &RelPath,
        keep: Keep,
    ) -> Result<ResolvePreview, EngineError> {
        resolve::preview(&self.engine, folder, path, keep).await
    }

    /// Confirms or refuses the mass deletion that waits in a folder.
    ///
    /// # Errors
    /// [`EngineError::NothingToConfirm`] if there is none.
    pub fn confirm(&self, folder: FolderId, decision: DeletionDecision) -> Result<(), EngineError> {
        confirm::confirm(&self.engine, folder, decision)?;
        self.send(Command::Confirmed(folder));
        Ok(())
    }

    /// Changes the settings.
    pub fn tune(&self, settings: Settings) {
        self.engine.verification.set(settings.verify);
        let copies = &self.engine.server_copies;
        copies.store(settings.server_copies, Ordering::Relaxed);
        self.send(Command::Tune {
            rescan_every: settings.rescan_every,
            parallel: settings.parallel,
        });
    }

    /// Accepts every change that was blocked because it has no valid seal. Returns how many there were.
    ///
    /// # Errors
    /// Returns the error of the network.
    pub async fn accept(&self) -> Result<u64, EngineError> {
        self.request(Command::Accept).await?
    }

    /// Continues with the disk that is at the path of an unmounted directory, or of a folder whose root is another
    /// one (the empty path), in place of the disk before. Nothing is deleted on either side: both are compared
    /// afresh.
    ///
    /// # Errors
    /// [`EngineError::NoHeldDisk`] if nothing is held there, or the index's.
    pub async fn accept_disk(&self, folder: FolderId, path: RelPath) -> Result<(), EngineError> {
        self.request(|reply| Command::AcceptDisk(folder, path, reply))
            .await?
    }

    /// Returns the index, for what is only read (activity, paths).
    #[must_use]
    pub fn index(&self) -> &Arc<cairn_index::Index> {
        &self.engine.index
    }

    /// Returns the transfers, for bandwidth limits.
    #[must_use]
    pub fn transfer(&self) -> &Arc<cairn_transfer::Transfer> {
        &self.engine.transfer
    }

    /// Ends the current steps, or records them for the next start, and stops within a few seconds.
    pub async fn shutdown(&self) {
        self.engine.stop.set();
        self.send(Command::Stop);
        if let Some(task) = self.task.lock().await.take() {
            let abort = task.abort_handle();
            if tokio::time::timeout(Duration::from_secs(4), task)
                .await
                .is_err()
            {
                // Safe at any point: everything that counts is in a transaction or can be done again.
                abort.abort();
            }
        }
    }

    /// Waits, after [`EngineHandle::shutdown`], until no task of this engine runs any more: a scan that was begun
    /// goes on to its end on a thread of its own. Another engine of the same index may start then. Returns `false`
    /// if one still runs after `limit`.
    pub async fn wait_until_released(&self, limit: Duration) -> bool {
        let released = async {
            while Arc::strong_count(&self.engine) > 1 {
                tokio::time::sleep(RELEASE_CHECK).await;
            }
        };
        tokio::time::timeout(limit, released).await.is_ok()
    }

    /// Returns `true` if the engine doesn't work any more, because it was shut down or has failed.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.commands.is_closed()
    }

    /// Stops at once and anywhere, as a crash would: for the simulator.
    pub async fn abort(self) {
        if let Some(task) = self.task.lock().await.take() {
            task.abort();
            // The only error is that it was aborted, which was wanted.
            drop(task.await);
        }
    }

    fn send(&self, command: Command) {
        if self.commands.send(command).is_err() {
            tracing::debug!("the engine has stopped");
        }
    }

    async fn request<T>(
        &self,
        make: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, EngineError> {
        let (reply, result) = oneshot::channel();
        self.send(make(reply));
        result.await.map_err(|_| EngineError::Stopped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestEngine;

    #[tokio::test]
    async fn an_engine_that_failed_has_ended_and_is_released() {
        let test = TestEngine::new();
        let handle = crate::start::start(test.options).unwrap();
        assert!(!handle.has_ended());
        let task = handle.task.lock().await.take().unwrap();
        task.abort();
        assert!(task.await.is_err());
        assert!(handle.has_ended());
        let at_work = Arc::clone(&handle.engine);
        assert!(!handle.wait_until_released(Duration::ZERO).await);
        drop(at_work);
        assert!(handle.wait_until_released(Duration::from_secs(60)).await);
    }
}
