//! Looking at the first bytes of files in sync, a few at a time: the gate before mass overwriting compares the
//! first bytes of later versions with them.

use super::Dispatcher;
use crate::gate;
use cairn_model::FolderId;
use std::time::Duration;
use tokio::time::Instant;

/// The time between two groups of files.
const BETWEEN: Duration = Duration::from_millis(100);
/// The time after which files are looked for again once all are known.
const EVERY: Duration = Duration::from_secs(60);
/// The time after which it is tried again while something is transferred.
const BUSY: Duration = Duration::from_secs(1);
/// A slow disk rests for so many times as long as a group has taken.
const REST: u32 = 9;

impl Dispatcher {
    /// Looks at the first bytes of the next files, if that is due and nothing is transferred.
    pub(super) async fn sample_heads(&mut self) {
        let now = Instant::now();
        if self.next_heads <= now && !self.transfers.is_empty() {
            self.next_heads = now + BUSY;
        }
        if self.next_heads > now {
            return;
        }
        self.next_heads = now + EVERY;
        let now_ms = self.engine.ports.clock.now_ms();
        let guarded: Vec<FolderId> = self
            .folders
            .iter()
            .filter(|(_, folder)| {
                folder.row.settings.gate.is_some()
                    && !folder.schedule.is_root_missing()
                    && !folder.is_paused(now_ms)
            })
            .map(|(id, _)| *id)
            .collect();
        for id in guarded {
            let Some(folder) = self.folders.get(&id) else {
                continue;
            };
            let (row, after) = (folder.row.clone(), folder.heads_after);
            let last = match gate::sample_heads(&self.engine, &row, after).await {
                Ok(last) => last,
                Err(error) => {
                    tracing::warn!(%error, "the first bytes of files can't be recorded");
                    continue;
                }
            };
            if let Some(folder) = self.folders.get_mut(&id) {
                folder.heads_after = last;
            }
            if last.is_some() {
                self.next_heads = Instant::now() + BETWEEN.max(now.elapsed() * REST);
                return;
            }
        }
    }
}
