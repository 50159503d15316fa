//! One turn of the wheel.

use super::{Dispatcher, Done, FIRST_RETRY, GRACE, LONGEST_DEBOUNCE, LONGEST_RETRY, POLL};
use crate::error::EngineError;
use crate::feed::{self, Caught};
use crate::observe::scan::{Found, Scope, scan};
use crate::status::State;
use cairn_api::ApiError;
use cairn_model::{FolderId, LocalId, RelPath};
use cairn_transfer::TransferError;
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::time::Instant;

impl Dispatcher {
    /// Does what is due. Returns whether another turn should follow at once.
    pub(super) async fn turn(&mut self) -> bool {
        self.drain().await;
        if std::mem::take(&mut self.reload)
            && let Err(error) = self.load_folders()
        {
            self.in_trouble(&error);
        }
        self.catch_up().await;
        let ids: Vec<FolderId> = self.folders.keys().copied().collect();
        let mut again = false;
        for id in ids {
            if self.shared.is_stopping() {
                return false;
            }
            let paused = self.folders.get(&id).is_none_or(|f| self.is_paused(f));
            if let Some(folder) = self.folders.get_mut(&id) {
                folder
                    .pause
                    .send_if_modified(|now| std::mem::replace(now, paused) != paused);
                if paused {
                    folder.queue.clear();
                }
            }
            if paused {
                continue;
            }
            self.look(id).await;
            if self.reachable() {
                again |= self.plan_and_carry_out(id).await;
            }
        }
        self.start_work();
        again
    }

    fn reachable(&self) -> bool {
        self.remote_retry.is_none()
    }

    /// Catches up with the service, and links folders that are new.
    async fn catch_up(&mut self) {
        let now = Instant::now();
        if self.next_poll <= now {
            self.next_poll = now + POLL;
            self.remote_due = true;
        }
        match self.remote_retry {
            Some((at, _)) if at > now => return,
            Some(_) => self.remote_due = true,
            None => {}
        }
        if !self.remote_due || self.folders.is_empty() {
            self.remote_due = false;
            return;
        }
        match self.try_catch_up().await {
            Ok(caught) => {
                self.remote_due = false;
                self.remote_retry = None;
                self.shared.board().trouble = None;
                self.next_poll = Instant::now() + POLL;
                if caught != Caught::Nothing {
                    self.settle.something_happened();
                    for folder in self.folders.values_mut() {
                        folder.plan_due = true;
                    }
                }
                self.listen();
            }
            Err(error) => self.in_trouble(&error),
        }
    }

    async fn try_catch_up(&mut self) -> Result<Caught, EngineError> {
        let caught = feed::catch_up(&self.shared).await?;
        if std::mem::take(&mut self.devices_due) || caught != Caught::Nothing {
            self.load_devices().await;
        }
        let unlinked: Vec<FolderId> = self
            .folders
            .values()
            .filter(|f| f.row.remote_node.is_none())
            .map(|f| f.row.id)
            .collect();
        for id in unlinked {
            self.try_link(id).await?;
        }
        Ok(caught)
    }

    /// Names of devices are only for people; without them ids are shown.
    async fn load_devices(&self) {
        let known = self
            .shared
            .devices
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .len();
        let unknown = known == 0;
        if !unknown {
            return;
        }
        if let Ok(devices) = self.shared.api.devices().await {
            let mut known = self
                .shared
                .devices
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            known.extend(devices.into_iter().map(|d| (d.id, d.name)));
        }
    }

    /// Keeps the feed's stream open.
    fn listen(&mut self) {
        let open = self.stream.as_ref().is_some_and(|s| !s.is_finished());
        if !self.tuning.stream || open {
            return;
        }
        let shared = Arc::clone(&self.shared);
        let news = self.feed_sender.clone();
        self.stream = Some(tokio::spawn(async move {
            use futures_util::StreamExt as _;
            let Ok(from) = feed::cursor(&shared) else {
                return;
            };
            match shared.api.stream(from.as_ref()).await {
                Ok(mut stream) => {
                    while let Some(Ok(_)) = stream.next().await {
                        if news.send(()).is_err() {
                            return;
                        }
                    }
                    tracing::debug!("the feed's stream has ended; it is opened again");
                }
                Err(error) => {
                    tracing::debug!(%error, "the feed's stream can't be opened");
                    tokio::time::sleep(FIRST_RETRY).await;
                }
            }
            // Whatever came in between is asked for; that opens the stream again.
            if news.send(()).is_err() {
                tracing::debug!("the dispatcher has stopped");
            }
        }));
    }

    /// Nothing works for now: say so, and try again later.
    pub(super) fn in_trouble(&mut self, error: &EngineError) {
        let pause = self
            .remote_retry
            .map_or(FIRST_RETRY, |(_, pause)| (pause * 2).min(LONGEST_RETRY));
        self.remote_retry = Some((Instant::now() + pause, pause));
        let offline = match error {
            EngineError::Api(
                ApiError::Offline(_) | ApiError::Server { .. } | ApiError::RateLimited { .. },
            ) => true,
            EngineError::Transfer(TransferError::Offline(_)) => true,
            EngineError::Index(_)
            | EngineError::Api(_)
            | EngineError::Transfer(_)
            | EngineError::Disk(_)
            | EngineError::Moved
            | EngineError::Stopped
            | EngineError::NoQuestion
            | EngineError::NoConflict(_)
            | EngineError::NoMerge { .. }
            | EngineError::RootGone(_)
            | EngineError::RemoteIsFile(_)
            | EngineError::RemoteGone(_)
            | EngineError::OnlyCopy(_)
            | EngineError::Protocol(_) => false,
        };
        let state = if offline {
            State::Offline
        } else {
            State::Error
        };
        let (_, hint) = crate::error::explain(error);
        if self
            .shared
            .board()
            .trouble
            .as_ref()
            .is_none_or(|(_, known)| !known.starts_with(&error.to_string()))
        {
            tracing::warn!(%error, "syncing stops for now");
        }
        self.shared.board().trouble = Some((state, format!("{error}; {hint}")));
    }

    /// Scans what is due.
    async fn look(&mut self, id: FolderId) {
        let now = Instant::now();
        let Some(folder) = self.folders.get_mut(&id) else {
            return;
        };
        let burst_over = folder.burst.is_some_and(|(first, last)| {
            last + self.tuning.debounce <= now || first + LONGEST_DEBOUNCE <= now
        });
        if burst_over && std::mem::take(&mut folder.rules_hint) {
            folder.whole = true;
        }
        let again_due = folder.again.as_ref().is_some_and(|(at, _)| *at <= now);
        let root_due = folder.root_retry.is_some_and(|at| at <= now);
        if folder.next_rescan <= now {
            folder.whole = true;
            let every = if folder.blind.is_some() {
                std::time::Duration::from_secs(30)
            } else {
                self.tuning.rescan_every
            };
            folder.next_rescan = now + every;
        }
        if !(folder.whole || burst_over || again_due || root_due) {
            return;
        }
        let was_gone = folder.root_retry.is_some();
        if !self.root_is_there(id) {
            if let Some(folder) = self.folders.get_mut(&id) {
                folder.burst = None;
                folder.dirs.clear();
                folder.again = None;
                folder.whole = true;
            }
            return;
        }
        self.refresh_rules(id);
        let Some(folder) = self.folders.get_mut(&id) else {
            return;
        };
        let whole = folder.whole || was_gone || root_due;
        let mut dirs = std::mem::take(&mut folder.dirs);
        folder.burst = None;
        if again_due || whole {
            dirs.extend(folder.again.take().into_iter().flat_map(|(_, dirs)| dirs));
        }
        folder.whole = false;
        let believed: BTreeSet<LocalId> = folder
            .missing
            .iter()
            .filter(|(_, since)| **since + GRACE <= now)
            .map(|(id, _)| *id)
            .collect();
        let scope = if whole {
            Scope::Whole
        } else {
            Scope::Dirs(dirs.clone())
        };
        let outcome = self.scan(id, scope, believed).await;
        tracing::debug!(whole, ms = now.elapsed().as_millis(), "looked");
        let Some(folder) = self.folders.get_mut(&id) else {
            return;
        };
        match outcome {
            Ok(found) => {
                let names: Vec<String> = dirs.iter().map(RelPath::to_string).collect();
                self.shared
                    .health()
                    .scanned(id, whole, &names, found.problems);
                if whole || again_due {
                    folder.missing.retain(|id, _| found.missing.contains(id));
                }
                for id in found.missing {
                    folder.missing.entry(id).or_insert(now);
                }
                if !found.again.is_empty() {
                    let (_, dirs) = folder
                        .again
                        .get_or_insert_with(|| (now + GRACE, BTreeSet::new()));
                    dirs.extend(found.again);
                }
                if found.changed {
                    self.settle.something_happened();
                    folder.totals_due = true;
                }
                folder.plan_due |= found.changed || whole;
            }
            Err(error) => self.in_trouble(&error),
        }
    }

    async fn scan(
        &self,
        id: FolderId,
        scope: Scope,
        believed: BTreeSet<LocalId>,
    ) -> Result<Found, EngineError> {
        let Some(ctx) = self.ctx(id) else {
            return Ok(Found::default());
        };
        let gate = self.shared.disk_gate.lock().await;
        let ports = self.shared.ports.clone();
        let found = ports
            .blocking(move || {
                ctx.shared.index.write(|db| {
                    let disk = &*ctx.shared.ports.disk;
                    let found = scan(db, disk, &ctx.folder, &ctx.rules, &scope, &believed)?;
                    if scope == Scope::Whole {
                        db.mark_differing(&ctx.folder)?;
                    }
                    Ok(found)
                })
            })
            .await;
        drop(gate);
        Ok(found?)
    }

    /// Fills the pool with transfers, taking folders in turn.
    fn start_work(&mut self) {
        if !self.reachable() {
            return;
        }
        let ids: Vec<FolderId> = self.folders.keys().copied().collect();
        let mut any = true;
        while any && self.jobs.len() < self.tuning.parallel {
            any = false;
            for id in &ids {
                let Some(ctx) = self.ctx(*id) else { continue };
                let Some(folder) = self.folders.get_mut(id) else {
                    continue;
                };
                if self.jobs.len() >= self.tuning.parallel {
                    break;
                }
                let Some(work) = folder.queue.pop_front() else {
                    continue;
                };
                any = true;
                let (keys, count, folder_id) = (work.keys(), work.len(), *id);
                folder.in_flight += count;
                self.locks.extend(keys.iter().copied());
                self.jobs.spawn(async move {
                    let outcomes = work.run(ctx).await;
                    Done {
                        folder: folder_id,
                        keys,
                        count,
                        outcomes,
                    }
                });
            }
        }
    }
}
