//! The place for the one engine of a space: the engine that runs, or the reason why none does, and the wait until
//! nothing of the one before it is at work.

use crate::failure::CommandResult;
use crate::serve::events::{Signals, forward};
use crate::serve::halt::Halt;
use crate::serve::shared::Shared;
use cairn_api::Api;
use cairn_engine::{EngineError, EngineHandle, WaitResult};
use cairn_index::{Index, IndexError};
use cairn_model::FolderId;
use cairn_space::SpaceKeys;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The longest wait until nothing of a stopped engine is at work; the next check waits again.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(60);

/// The synced files of each folder, and the bytes in them.
pub(super) type Totals = BTreeMap<FolderId, (u64, u64)>;

/// The engine of one space, or the reason why there is none.
pub(super) struct EngineSlot {
    index: Arc<Index>,
    pub(super) shared: Arc<Shared>,
    signals: Signals,
    state: Mutex<Result<Arc<EngineHandle>, Halt>>,
    /// A stopped engine of which something may still be at work: no other one may start.
    leaving: Mutex<Option<Arc<EngineHandle>>>,
    /// The totals at the time when the engine stopped: nothing changes them without one. `None`: not counted.
    totals: Mutex<Option<Arc<Totals>>>,
    closed: AtomicBool,
}

impl EngineSlot {
    /// Returns a slot in which no engine runs yet.
    pub(super) fn new(index: Arc<Index>, shared: Arc<Shared>, signals: Signals) -> Self {
        Self {
            index,
            shared,
            signals,
            state: Mutex::new(Err(Halt::at_start())),
            leaving: Mutex::new(None),
            totals: Mutex::new(None),
            closed: AtomicBool::new(false),
        }
    }

    pub(super) fn index(&self) -> &Arc<Index> {
        &self.index
    }

    /// Returns the running engine, or the reason why none runs.
    pub(super) fn engine(&self) -> Result<Arc<EngineHandle>, Halt> {
        self.state.lock().clone()
    }

    /// Returns the size of the folders while no engine runs, as far as it is known.
    pub(super) fn totals(&self) -> Arc<Totals> {
        self.totals.lock().clone().unwrap_or_default()
    }

    /// Returns `true` if folders are in the space.
    pub(super) fn has_folders(&self) -> Result<bool, IndexError> {
        self.index.read(|db| Ok(!db.folders()?.is_empty()))
    }

    /// Starts an engine. No other one may be at work: [`Self::stop`] and [`Self::release`] come before.
    pub(super) async fn run(&self, api: Arc<Api>, keys: Arc<SpaceKeys>) -> CommandResult {
        let engine = self.shared.start_engine(&self.index, api, keys)?;
        forward(&engine, self.signals.clone());
        *self.state.lock() = Ok(engine.clone());
        // Whoever closes the slot now sees the engine; whoever closed it before did not.
        if self.is_closed() {
            engine.shutdown().await;
            return Ok(());
        }
        // What was changed while it started reached no engine.
        engine.tune(self.shared.config.lock().engine());
        engine.reload();
        self.signals.status();
        Ok(())
    }

    /// Stops the engine, if one runs, for a reason. Returns `false` if something of it is still at work.
    pub(super) async fn stop(&self, halt: Halt) -> bool {
        let before = std::mem::replace(&mut *self.state.lock(), Err(halt));
        let mut is_released = true;
        if let Ok(engine) = before {
            engine.shutdown().await;
            *self.leaving.lock() = Some(engine);
            is_released = self.release().await;
            self.count_totals().await;
        }
        self.signals.status();
        is_released
    }

    /// Waits until nothing of a stopped engine is at work; reports it, and returns `false`, if that takes too long.
    pub(super) async fn release(&self) -> bool {
        let leaving = self.leaving.lock().clone();
        let Some(engine) = leaving else {
            return true;
        };
        let is_released = engine.wait_until_released(RELEASE_TIMEOUT).await;
        if is_released {
            *self.leaving.lock() = None;
            return true;
        }
        tracing::error!("an engine was stopped, and something of it is still at work");
        if let Err(halt) = &mut *self.state.lock()
            && halt.problem.is_none()
        {
            let message = "the work that was going on in it does not end".to_owned();
            *halt = Halt::of_failure(message);
        }
        false
    }

    /// Adds up the files of the folders, if that was not done yet.
    pub(super) async fn count_once(&self) {
        let is_counted = self.totals.lock().is_some();
        if !is_counted {
            self.count_totals().await;
        }
    }

    /// Reads how many files the folders have; an engine that is at work may have the index for a while.
    async fn count_totals(&self) {
        let index = self.index.clone();
        let counting = tokio::task::spawn_blocking(move || totals_of(&index));
        match counting.await {
            Ok(Ok(totals)) => *self.totals.lock() = Some(Arc::new(totals)),
            Ok(Err(error)) => tracing::warn!(%error, "the files of the folders can't be counted"),
            Err(error) => tracing::warn!(%error, "the files of the folders can't be counted"),
        }
    }

    /// Waits until the engine is in sync, or can't be. `None`: another one takes its place, or it starts, and the
    /// caller should check and wait again.
    pub(super) async fn wait_until_idle(&self) -> Option<Result<WaitResult, EngineError>> {
        match self.engine() {
            Ok(engine) => match engine.wait_until_idle().await {
                // With other keys, or nothing is synced any more.
                Err(EngineError::Stopped) if !self.is_closed() && !self.is_running(&engine) => None,
                other => Some(other),
            },
            Err(halt) => halt.end_of_waiting().map(Ok),
        }
    }

    /// Returns `true` if the slot has this engine.
    fn is_running(&self, engine: &Arc<EngineHandle>) -> bool {
        self.engine()
            .is_ok_and(|running| Arc::ptr_eq(&running, engine))
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Ends the engine, for good.
    pub(super) async fn close(&self) {
        self.closed.store(true, Ordering::Release);
        let engine = self.engine();
        if let Ok(engine) = engine {
            engine.shutdown().await;
        }
    }
}

fn totals_of(index: &Index) -> Result<Totals, IndexError> {
    index.read(|db| {
        let rows = db.folders()?.into_iter();
        rows.map(|row| Ok((row.id, db.local_totals(row.id)?)))
            .collect()
    })
}
