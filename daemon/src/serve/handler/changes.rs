//! Requests that change something: the pairs, the settings, what waits for a person.

use super::Daemon;
use crate::config::Config;
use crate::failure::CommandResult;
use crate::folders;
use cairn_control::{Limits, NewFolder, Reply, Resolved};
use cairn_model::{DeletionDecision, Keep, RelPath};
use cairn_platform::RealDisk;
use std::path::Path;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;

/// The longest wait until the status shows a change of the pairs.
const APPLIED_TIMEOUT: Duration = Duration::from_secs(5);

impl Daemon {
    pub(super) async fn add_folder(&self, new: &NewFolder) -> CommandResult<Reply> {
        let row = folders::add(&self.home, self.engine.index(), new)?;
        self.disk.guard(
            self.engine
                .folders()?
                .into_iter()
                .map(|row| row.root.into())
                .collect(),
        );
        self.engine.reload();
        self.wait_for_status(|status| status.folders.iter().any(|f| f.local == row.root))
            .await;
        Ok(Reply::Folder(folders::to_control(&row)))
    }

    pub(super) async fn remove_folder(&self, folder: &str) -> CommandResult<Reply> {
        folders::remove(self.engine.index(), folder)?;
        self.engine.reload();
        self.wait_for_status(|status| status.folders.iter().all(|f| f.local != folder))
            .await;
        Ok(Reply::DONE)
    }

    /// Waits until the engine's status shows a change of the pairs, for a while: a busy engine takes
    /// it over later.
    async fn wait_for_status(&self, shows: impl Fn(&cairn_engine::Status) -> bool) {
        let mut events = self.engine.events();
        let waiting = async {
            while !shows(&self.engine.status()) {
                if let Err(RecvError::Closed) = events.recv().await {
                    return;
                }
            }
        };
        // Late is not wrong: the change is in the index.
        drop(tokio::time::timeout(APPLIED_TIMEOUT, waiting).await);
    }

    pub(super) fn set_limits(&self, limits: Limits) -> CommandResult<Reply> {
        let text =
            |rate: Option<u64>| rate.map_or_else(|| "off".to_owned(), |rate| rate.to_string());
        Config::store(&self.home, "limits.up", &text(limits.up))?;
        Config::store(&self.home, "limits.down", &text(limits.down))?;
        self.reload()
    }

    /// Takes over what can change while the daemon runs; the rest waits for a restart.
    pub(super) fn reload(&self) -> CommandResult<Reply> {
        let config = Config::load(&self.home)?;
        let limits = self.engine.transfer().limits();
        limits.set_up(config.limits.up);
        limits.set_down(config.limits.down);
        self.engine.tune(config.engine());
        *self.config.lock() = config;
        self.engine.reload();
        Ok(Reply::DONE)
    }

    pub(super) async fn resolve(&self, path: &str, keep: Keep) -> CommandResult<Reply> {
        let (row, below) = folders::pair_containing(self.engine.index(), Path::new(path))?;
        let copy = self.engine.resolve(Some(row.id), below, keep).await?;
        let path = |copy: RelPath| copy.to_path(Path::new(&row.root)).display().to_string();
        Ok(Reply::Resolved(Resolved {
            copy: copy.map(path),
        }))
    }

    pub(super) fn confirm(&self, folder: &str, decision: DeletionDecision) -> CommandResult<Reply> {
        self.engine.confirm(self.folder(folder)?, decision)?;
        Ok(Reply::DONE)
    }

    pub(super) fn restore(&self, folder: &str, id: &str) -> CommandResult<Reply> {
        let row = folders::find(self.engine.index(), folder)?;
        let trashed = crate::folders::trash::restore(&RealDisk::new(), &row, id, None)?;
        self.engine.rescan(Some(row.id));
        Ok(Reply::Trashed(trashed))
    }

    pub(super) async fn accept_disk(&self, path: &str) -> CommandResult<Reply> {
        let (row, below) = folders::pair_containing(self.engine.index(), Path::new(path))?;
        self.engine.accept_disk(row.id, below).await?;
        Ok(Reply::DONE)
    }
}
