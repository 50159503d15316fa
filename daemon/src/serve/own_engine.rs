//! The engine of the account's own space. It runs while the keys of this home are those of the account.
//!
//! The daemon looks now and then whether the account's keys were replaced. Then nothing is sealed under the former
//! ones any more: the engines stop, and the status shows why. Another engine starts after a command has taken the
//! new keys over in this home.

use crate::account::Account;
use crate::failure::CommandResult;
use crate::serve::events::{Signals, forward};
use crate::serve::halt::Halt;
use crate::serve::shared::Shared;
use crate::serve::team_engine::{LOOK_INTERVAL, RELEASE_TIMEOUT, Totals, WAIT_PAUSE, totals_of};
use crate::session::{RetryProfile, Session};
use cairn_engine::{EngineError, EngineHandle, WaitResult};
use cairn_index::{Index, IndexError};
use cairn_space::account_keys::{self, Comparison};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{Mutex as AsyncMutex, Notify};
use tokio::task::JoinHandle;

/// The longest wait for the server before the engines start, and of somebody who waits for them: without it they work
/// offline.
const LOOK_TIMEOUT: Duration = Duration::from_secs(3);

/// The engine of the account's own space, or the reason why none runs.
pub(super) struct OwnEngine {
    index: Arc<Index>,
    shared: Arc<Shared>,
    signals: Signals,
    state: Mutex<Result<Arc<EngineHandle>, Halt>>,
    /// A stopped engine of which something may still be at work: no other one may start.
    leaving: Mutex<Option<Arc<EngineHandle>>>,
    /// As they were when the engine stopped.
    totals: Mutex<Arc<Totals>>,
    /// Held during a look.
    looking: AsyncMutex<()>,
    wake: Notify,
    ended: AtomicBool,
    task: Mutex<Option<JoinHandle<()>>>,
}

/// Asks the server whether the account's keys were replaced, before anything is sealed under those of this home.
pub(super) async fn look_before_start(shared: &Shared) {
    let looking = async {
        if let Some(halt) = find_replacement(shared).await {
            shared.set_replaced(halt);
        }
    };
    if tokio::time::timeout(LOOK_TIMEOUT, looking).await.is_err() {
        tracing::debug!("the server doesn't say in time whether the keys were replaced");
    }
}

/// Returns the reason to stop, if the server says that the account's keys were replaced.
async fn find_replacement(shared: &Shared) -> Option<Halt> {
    let session = shared.session();
    match account_keys::compare_with_service(&session.api, &session.keys).await {
        Ok(Comparison::Replaced(by)) => Some(Halt::keys_replaced(by.as_ref(), shared.zone())),
        Ok(Comparison::Refused(error)) => {
            tracing::warn!(%error, "the server's copy of the account's keys is refused");
            None
        }
        // A running engine meets the same failure, and reports it.
        Ok(Comparison::Same) | Err(_) => None,
    }
}

impl OwnEngine {
    /// Starts the engine, unless the account's keys were replaced, and begins to look whether they are.
    pub(super) fn start(
        index: Arc<Index>,
        shared: Arc<Shared>,
        signals: Signals,
    ) -> CommandResult<Arc<Self>> {
        let state = match shared.replacement() {
            Some(halt) => Err(halt),
            None => Ok(run(&index, &shared, &signals)?),
        };
        let totals = totals_of(&index).map(Arc::new).unwrap_or_default();
        let own = Arc::new(Self {
            index,
            shared,
            signals,
            state: Mutex::new(state),
            leaving: Mutex::new(None),
            totals: Mutex::new(totals),
            looking: AsyncMutex::default(),
            wake: Notify::new(),
            ended: AtomicBool::new(false),
            task: Mutex::new(None),
        });
        let task = tokio::spawn(look_regularly(own.clone()));
        *own.task.lock() = Some(task);
        Ok(own)
    }

    /// Returns the index of the space.
    pub(super) fn index(&self) -> &Arc<Index> {
        &self.index
    }

    /// Returns the running engine, or the reason why none runs.
    pub(super) fn engine(&self) -> Result<Arc<EngineHandle>, Halt> {
        self.state.lock().clone()
    }

    /// Returns the size of the folders while no engine runs.
    pub(super) fn totals(&self) -> Arc<Totals> {
        self.totals.lock().clone()
    }

    /// Makes the next look due.
    pub(super) fn look_soon(&self) {
        self.wake.notify_one();
    }

    /// Compares the keys of this home with those of a command and of the server, and stops or replaces the engine
    /// accordingly.
    pub(super) async fn look(self: &Arc<Self>) {
        let own = self.clone();
        // A caller that goes away must not leave an engine half replaced.
        let looking = tokio::spawn(async move { own.look_now().await });
        if let Err(error) = looking.await {
            tracing::error!(%error, "a look at the account's keys has failed");
        }
    }

    async fn look_now(&self) {
        let _one_at_a_time = self.looking.lock().await;
        if let Some(session) = self.newer_session().await {
            self.take_over(session).await;
        }
        if self.shared.replacement().is_some() {
            return;
        }
        if let Some(halt) = find_replacement(&self.shared).await {
            if let Some(problem) = &halt.problem {
                tracing::warn!(reason = problem.message, "nothing is synced");
            }
            self.shared.set_replaced(halt.clone());
            self.stop(halt).await;
        }
    }

    /// Returns the session of this home, if a command has stored another bundle since this one was opened.
    async fn newer_session(&self) -> Option<Session> {
        let home = self.shared.home.clone();
        let known = self.shared.session().account.keys.clone();
        let reading = tokio::task::spawn_blocking(move || {
            // Logged out, or being written: there is nothing to take over.
            let account = Account::load(&home).ok()?;
            if account.keys == known {
                return None;
            }
            match Session::open(&home, RetryProfile::Background) {
                Ok(session) => Some(session),
                Err(error) => {
                    tracing::warn!(%error, "the account's new keys can't be opened");
                    None
                }
            }
        });
        reading.await.ok().flatten()
    }

    /// Goes on with the keys that this home has now.
    async fn take_over(&self, next: Session) {
        let present = self.shared.session();
        if let Err(error) = present.keys.check_successor(&next.keys) {
            tracing::warn!(%error, "keys in the home are not taken over");
            return;
        }
        if present.keys.is_same(&next.keys) {
            self.shared.set_session(next);
            return;
        }
        if !self.stop(Halt::at_start()).await {
            return;
        }
        self.shared.set_session(next);
        match run(&self.index, &self.shared, &self.signals) {
            Ok(engine) => {
                let is_late = {
                    *self.state.lock() = Ok(engine.clone());
                    self.ended.load(Ordering::Acquire)
                };
                if is_late {
                    engine.shutdown().await;
                }
                engine.tune(self.shared.config.lock().engine());
                engine.reload();
            }
            Err(failure) => *self.state.lock() = Err(Halt::of_failure(failure.message)),
        }
        self.shared.end_replaced();
        self.signals.status();
        tracing::info!("the account's new keys were taken over");
    }

    /// Stops the engine. Returns `false` if something of it is still at work.
    async fn stop(&self, halt: Halt) -> bool {
        let before = std::mem::replace(&mut *self.state.lock(), Err(halt));
        if let Ok(engine) = before {
            engine.shutdown().await;
            *self.leaving.lock() = Some(engine);
        }
        let leaving = self.leaving.lock().clone();
        let is_released = match leaving {
            Some(engine) => engine.wait_until_released(RELEASE_TIMEOUT).await,
            None => true,
        };
        if is_released {
            *self.leaving.lock() = None;
        } else {
            tracing::error!("the engine was stopped, and something of it is still at work");
        }
        let index = self.index.clone();
        let counted = tokio::task::spawn_blocking(move || totals_of(&index)).await;
        if let Ok(Ok(totals)) = counted {
            *self.totals.lock() = Arc::new(totals);
        }
        self.signals.status();
        is_released
    }

    /// Returns `true` if folders are in the space.
    pub(super) fn has_folders(&self) -> Result<bool, IndexError> {
        self.index.read(|db| Ok(!db.folders()?.is_empty()))
    }

    /// Waits until the space is in sync, or can't be.
    pub(super) async fn wait_until_idle(self: &Arc<Self>) -> Result<WaitResult, EngineError> {
        loop {
            // It goes on by itself if the server doesn't answer in time.
            drop(tokio::time::timeout(LOOK_TIMEOUT, self.look()).await);
            match self.engine() {
                Ok(engine) => match engine.wait_until_idle().await {
                    // Another one takes its place, with other keys, or nothing is synced any more.
                    Err(EngineError::Stopped)
                        if !self.ended.load(Ordering::Acquire) && self.is_other(&engine) => {}
                    other => return other,
                },
                Err(halt) => {
                    if let Some(end) = halt.end_of_waiting() {
                        return Ok(end);
                    }
                }
            }
            tokio::time::sleep(WAIT_PAUSE).await;
        }
    }

    /// Returns `true` if this engine isn't the one that runs.
    fn is_other(&self, engine: &Arc<EngineHandle>) -> bool {
        self.engine()
            .map_or(true, |running| !Arc::ptr_eq(&running, engine))
    }

    /// Ends the engine, and looks no more.
    pub(super) async fn shutdown(&self) {
        self.ended.store(true, Ordering::Release);
        if let Some(task) = self.task.lock().take() {
            task.abort();
        }
        let engine = self.engine();
        if let Ok(engine) = engine {
            engine.shutdown().await;
        }
    }
}

/// Starts an engine with the keys of the session.
fn run(
    index: &Arc<Index>,
    shared: &Arc<Shared>,
    signals: &Signals,
) -> CommandResult<Arc<EngineHandle>> {
    let session = shared.session();
    let (api, keys) = (session.api.clone(), session.keys.space.clone());
    let engine = shared.start_engine(index, api, keys)?;
    forward(&engine, signals.clone());
    Ok(engine)
}

async fn look_regularly(own: Arc<OwnEngine>) {
    while !own.ended.load(Ordering::Acquire) {
        tokio::select! {
            () = tokio::time::sleep(LOOK_INTERVAL) => {}
            () = own.wake.notified() => {}
        }
        own.look().await;
    }
}
