//! Commands from outside.

use super::Dispatcher;
use super::folder::Watching;
use crate::accept_disk;
use crate::command::Command;
use crate::error::EngineError;
use crate::resolve;
use cairn_model::{FolderId, RelPath};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

impl Dispatcher {
    pub(super) async fn command(&mut self, command: Command) {
        match command {
            Command::Rescan(only) => {
                self.next_healing = Instant::now();
                self.unhealable.clear();
                self.check_roots(only);
                self.rescan_everything(only);
            }
            Command::Poll(reply) => self.poll_for(reply),
            Command::Reload => self.reload = true,
            Command::WaitUntilIdle(reply) => self.waiters.add(reply),
            Command::Tune {
                rescan_every,
                parallel,
            } => self.tune(rescan_every, parallel),
            Command::Accept(reply) => {
                self.finish_poll_and_steps().await;
                let result = self.accept().await;
                self.rescan_everything(None);
                drop(reply.send(result));
            }
            Command::Confirmed(folder) => self.forget_deletions(folder),
            Command::Resolve(path, folder, keep, reply) => {
                self.finish_poll_and_steps().await;
                let result = resolve::resolve(&self.engine, folder, &path, keep).await;
                for folder in self.folders.values_mut() {
                    folder.totals_due = true;
                    folder.next_totals = Instant::now();
                }
                self.rescan_everything(folder);
                // Whoever asked may look at the status next: it counts without the one that has ended.
                self.update_status();
                drop(reply.send(result));
            }
            Command::AcceptDisk(folder, path, reply) => {
                drop(reply.send(self.accept_disk(folder, &path).await));
            }
            Command::Stop => {}
        }
    }

    async fn finish_poll_and_steps(&mut self) {
        self.finish_poll().await;
        self.finish_steps().await;
    }

    async fn accept_disk(&mut self, id: FolderId, path: &RelPath) -> Result<(), EngineError> {
        let engine = Arc::clone(&self.engine);
        // Whether a disk is held may have changed since the last look.
        let Some(folder) = self.folders.get(&id) else {
            return Err(EngineError::NoHeldDisk(path.to_path(Path::new("/"))));
        };
        let root = PathBuf::from(&folder.row.root);
        if path.is_root() && self.check_root(id) {
            return Err(EngineError::NoHeldDisk(root));
        }
        self.finish_steps().await;
        self.finish_transfers(id).await;
        let Some(folder) = self.folders.get_mut(&id) else {
            return Err(EngineError::NoHeldDisk(root));
        };
        let _disk_lock = engine.disk_lock.lock().await;
        accept_disk::accept(&engine, &folder.row, path)?;
        if let Some(row) = engine.index.read(|db| db.folder(id))? {
            folder.row = Arc::new(row);
        }
        folder.forget_queue();
        // The watches are on the old disk.
        folder.watching = Watching::Broken;
        self.rescan_everything(Some(id));
        Ok(())
    }

    /// Interrupts the transfers of a folder, and waits until none runs: what they would record is about the disk
    /// before. The next tick ends the pause.
    async fn finish_transfers(&mut self, id: FolderId) {
        if let Some(folder) = self.folders.get_mut(&id) {
            folder.forget_queue();
            folder.pause.send_replace(true);
        }
        while self.folders.get(&id).is_some_and(|f| f.in_flight > 0) {
            match self.transfers.join_next().await {
                Some(done) => self.finish_transfer(done),
                None => return,
            }
        }
    }

    fn tune(&mut self, rescan_every: Duration, parallel: usize) {
        self.tuning.rescan_every = rescan_every;
        self.tuning.parallel = parallel.max(1);
        let latest = Instant::now() + rescan_every;
        for folder in self.folders.values_mut() {
            folder.schedule.rescan_before(latest);
        }
        // What was held back may be accepted now.
        self.poll_due = true;
    }

    /// Makes a whole scan and a poll of the feed due, and lets everything that waits be tried again.
    pub(super) fn rescan_everything(&mut self, only: Option<FolderId>) {
        for (id, folder) in &mut self.folders {
            if only.is_none_or(|o| o == *id) {
                folder.schedule.rescan();
            }
        }
        self.try_everything();
    }

    /// Makes a poll of the feed due, and lets everything that waits be tried again.
    pub(super) fn try_everything(&mut self) {
        self.poll_due = true;
        self.retry = None;
        self.steps_pause = None;
        self.engine.health().try_again();
        for folder in self.folders.values_mut() {
            // By the clock alone, a plan of this very moment would count as the try.
            folder.news_due |= !folder.waiting.is_empty();
        }
    }

    /// Resets the counts of deletions and of overwriting: a person has decided about them.
    fn forget_deletions(&mut self, id: FolderId) {
        if let Some(folder) = self.folders.get_mut(&id) {
            folder.deletions.forget();
            folder.overwrites.forget();
            folder.plan_due = true;
            folder.totals_due = true;
        }
    }
}
