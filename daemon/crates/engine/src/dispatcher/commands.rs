//! Commands from outside.

use super::Dispatcher;
use crate::command::Command;
use crate::error::EngineError;
use crate::feed;
use crate::resolve;
use cairn_index::{ConfirmationRow, ConfirmationState, Db, IndexError};
use cairn_model::{DeletionDecision, FolderId, Side};
use std::time::Duration;
use tokio::time::Instant;

impl Dispatcher {
    pub(super) async fn command(&mut self, command: Command) {
        match command {
            Command::Rescan(only) => self.rescan_everything(only),
            Command::Reload => self.reload = true,
            Command::WaitUntilIdle(reply) => self.waiters.add(reply),
            Command::Tune {
                rescan_every,
                parallel,
            } => self.tune(rescan_every, parallel),
            Command::Accept(reply) => {
                let result = feed::accept(&self.engine).await;
                self.rescan_everything(None);
                drop(reply.send(result));
            }
            Command::Confirm(folder, decision, reply) => {
                // The caller may be gone; the decision holds all the same.
                drop(reply.send(self.confirm(folder, decision)));
            }
            Command::Resolve(path, folder, keep, reply) => {
                let result = resolve::resolve(&self.engine, folder, &path, keep).await;
                self.rescan_everything(folder);
                drop(reply.send(result));
            }
            Command::Stop => {}
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
        self.poll_due = true;
        self.retry = None;
        self.engine.health().try_again();
    }

    fn confirm(&mut self, id: FolderId, decision: DeletionDecision) -> Result<(), EngineError> {
        let pending: Vec<ConfirmationRow> = self
            .engine
            .index
            .read(|db| db.confirmations(id))?
            .into_iter()
            .filter(|c| c.state == ConfirmationState::Pending)
            .collect();
        if pending.is_empty() {
            return Err(EngineError::NothingToConfirm);
        }
        self.engine.index.write(|db| {
            for row in &pending {
                match decision {
                    DeletionDecision::Delete => db.put_confirmation(&ConfirmationRow {
                        state: ConfirmationState::Agreed,
                        ..row.clone()
                    })?,
                    DeletionDecision::Keep => keep_files(db, id, row.side)?,
                }
            }
            if let Some(row) = db.folder(id)? {
                db.mark_differing(&row)?;
            }
            Ok(())
        })?;
        if let Some(folder) = self.folders.get_mut(&id) {
            folder.deletions.forget();
            folder.plan_due = true;
            folder.totals_due = true;
        }
        Ok(())
    }
}

/// Drops the merge bases of what would have been deleted on one side: without one an absence is no
/// deletion, and what is left on the other side comes back.
fn keep_files(db: &Db<'_>, id: FolderId, side: Side) -> Result<(), IndexError> {
    for synced in db.all_synced(id)? {
        let kept = match side {
            Side::Remote => db.local(synced.local)?.is_none(),
            Side::Local => db.remote(synced.node)?.is_none(),
        };
        if kept {
            db.remove_synced(id, synced.node)?;
            db.mark_node(id, synced.node)?;
            db.mark_local(id, synced.local)?;
        }
    }
    db.end_confirmation(id, side)
}
