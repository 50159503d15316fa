//! The engine of a team's space (its files): it runs while the account belongs to the team and has the current key.
//!
//! The daemon looks at the team now and then. A key of another epoch (generation of the key) stops the engine, and
//! starts one with the keys of all epochs so far; the end of the membership, a deleted team or a missing grant (the
//! key, sealed to this account) stops it and is reported with the folders. Nothing in them is touched meanwhile.

use crate::failure::Failure;
use crate::folders::spaces::{self, SpaceIndex};
use crate::serve::events::{Signals, forward};
use crate::serve::halt::Halt;
use crate::serve::shared::Shared;
use crate::trust;
use cairn_control::TeamSpace;
use cairn_engine::{EngineError, EngineHandle, WaitResult};
use cairn_index::{Index, IndexError};
use cairn_model::FolderId;
use cairn_space::{SpaceKeys, TeamGrants};
use cairn_wire::teams::Team;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{Mutex as AsyncMutex, Notify};
use tokio::task::JoinHandle;

/// The time between two looks at the team: that long a new epoch may stay unnoticed.
pub(super) const LOOK_INTERVAL: Duration = Duration::from_secs(20);
/// The pause before the next look of somebody who waits.
pub(super) const WAIT_PAUSE: Duration = Duration::from_secs(1);
/// The longest wait until nothing of a stopped engine is at work; the next look waits again.
pub(super) const RELEASE_TIMEOUT: Duration = Duration::from_secs(60);

/// The synced files of each folder, and the bytes in them.
pub(super) type Totals = BTreeMap<FolderId, (u64, u64)>;

/// The state of the space's engine.
enum EngineState {
    Running {
        engine: Arc<EngineHandle>,
        /// The epoch of its keys.
        epoch: u32,
    },
    /// No folder is in the space.
    Unused,
    Halted(Halt),
}

/// The engine of one team's space, or the reason why there is none.
pub(super) struct TeamEngine {
    space: Mutex<TeamSpace>,
    index: Arc<Index>,
    shared: Arc<Shared>,
    signals: Signals,
    state: Mutex<EngineState>,
    /// A stopped engine of which something may still be at work: no other one may start.
    leaving: Mutex<Option<Arc<EngineHandle>>>,
    /// As they were when the engine stopped: nothing changes them without one.
    totals: Mutex<Option<Arc<Totals>>>,
    /// Held during a look.
    looking: AsyncMutex<()>,
    wake: Notify,
    ended: AtomicBool,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl TeamEngine {
    /// Begins to look at the team; its engine starts when the first look has found the key.
    pub(super) fn start(
        space: TeamSpace,
        index: Arc<Index>,
        shared: Arc<Shared>,
        signals: Signals,
    ) -> Arc<Self> {
        let team = Arc::new(Self {
            space: Mutex::new(space),
            index,
            shared,
            signals,
            state: Mutex::new(EngineState::Halted(Halt::at_start())),
            leaving: Mutex::new(None),
            totals: Mutex::new(None),
            looking: AsyncMutex::default(),
            wake: Notify::new(),
            ended: AtomicBool::new(false),
            task: Mutex::new(None),
        });
        let task = tokio::spawn(look_regularly(team.clone()));
        *team.task.lock() = Some(task);
        team
    }

    /// Returns the space with its index.
    pub(super) fn space_index(&self) -> SpaceIndex {
        SpaceIndex {
            space: Some(self.space.lock().clone()),
            index: self.index.clone(),
            set_aside: None,
        }
    }

    /// Returns the running engine, or the reason why none runs.
    pub(super) fn engine(&self) -> Result<Arc<EngineHandle>, Halt> {
        match &*self.state.lock() {
            EngineState::Running { engine, .. } => Ok(engine.clone()),
            // A folder that was just added: the next look starts the engine.
            EngineState::Unused => Err(Halt::at_start()),
            EngineState::Halted(halt) => Err(halt.clone()),
        }
    }

    /// Returns the size of the folders while no engine runs, as far as it is known.
    pub(super) fn totals(&self) -> Arc<Totals> {
        self.totals.lock().clone().unwrap_or_default()
    }

    /// Adds up the files of the folders, which takes a while where there are many.
    async fn count_totals(&self) {
        let index = self.index.clone();
        let counting = tokio::task::spawn_blocking(move || totals_of(&index));
        match counting.await {
            Ok(Ok(totals)) => *self.totals.lock() = Some(Arc::new(totals)),
            Ok(Err(error)) => {
                tracing::warn!(%error, "the files of a team's folders can't be counted")
            }
            Err(error) => tracing::warn!(%error, "the files of a team's folders can't be counted"),
        }
    }

    /// Makes the next look due.
    pub(super) fn look_soon(&self) {
        self.wake.notify_one();
    }

    /// Asks the server for the team, and starts, replaces or stops the engine accordingly.
    pub(super) async fn look(self: &Arc<Self>) {
        let team = self.clone();
        // A caller that goes away must not leave an engine half replaced.
        let looking = tokio::spawn(async move { team.look_now().await });
        if let Err(error) = looking.await {
            tracing::error!(%error, "a look at a team has failed");
        }
    }

    async fn look_now(&self) {
        let _one_at_a_time = self.looking.lock().await;
        match self.has_folders() {
            Ok(true) => {}
            Ok(false) => {
                self.set(EngineState::Unused).await;
                return;
            }
            Err(error) => return self.halt(Halt::of_failure(error.to_string())).await,
        }
        let is_counted = self.totals.lock().is_some();
        if !is_counted {
            self.count_totals().await;
        }
        // Before anything else is done with the former keys.
        if let Some(halt) = self.shared.replacement() {
            return self.halt(halt).await;
        }
        let TeamSpace { id, team, name } = self.space.lock().clone();
        let teams = self.shared.session().api.teams().await;
        match teams.map(|teams| teams.into_iter().find(|found| found.id == team)) {
            Ok(Some(team)) if team.space_id == id => self.follow(&team).await,
            Ok(_) => self.halt(Halt::not_a_member(&name)).await,
            // A running engine meets the same failure, and reports it.
            Err(_) if self.epoch().is_some() => {}
            Err(error) => self.halt(Halt::of_api(&error)).await,
        }
    }

    /// Takes over a team's name, and starts an engine where none runs with the key in force.
    async fn follow(&self, team: &Team) {
        self.take_name(&team.name);
        if self.epoch() == Some(team.key_epoch) {
            return;
        }
        // Whoever was removed has the key of the epoch before: nothing more is sealed under it.
        let is_released = match self.is_started() {
            true => self.set(EngineState::Halted(Halt::at_start())).await,
            false => self.release().await,
        };
        if !is_released {
            return;
        }
        match self.open(team).await.and_then(|keys| self.run(keys)) {
            Ok(running) => {
                self.set(running).await;
            }
            Err(halt) => self.halt(halt).await,
        }
    }

    fn take_name(&self, name: &str) {
        let mut space = self.space.lock();
        if space.name != name {
            name.clone_into(&mut space.name);
            if let Err(error) = spaces::record(&self.shared.home, &space) {
                tracing::warn!(%error, "the new name of a team can't be kept");
            }
        }
    }

    /// Opens the keys of the space: that of the epoch in force, and those before it.
    async fn open(&self, team: &Team) -> Result<SpaceKeys, Halt> {
        let halt = |error| Halt::of_team(&team.name, &error);
        let session = self.shared.session();
        let grants = TeamGrants::fetch(&session.api, team).await.map_err(halt)?;
        let shared = self.shared.clone();
        let opening = tokio::task::spawn_blocking(move || {
            let own = &session.keys;
            trust::update(&shared.home, own, |trust| {
                Ok::<_, Failure>(grants.open(own, trust))
            })
        });
        match opening.await {
            Ok(Ok(opened)) => opened.map(|ring| ring.keys()).map_err(halt),
            Ok(Err(failure)) => Err(Halt::of_failure(failure.message)),
            Err(error) => Err(Halt::of_failure(error.to_string())),
        }
    }

    fn run(&self, keys: SpaceKeys) -> Result<EngineState, Halt> {
        let epoch = keys.epoch();
        let api = Arc::new(self.shared.session().api.in_space(keys.space()));
        let engine = self.shared.start_engine(&self.index, api, Arc::new(keys));
        let engine = engine.map_err(|failure| Halt::of_failure(failure.message))?;
        forward(&engine, self.signals.clone());
        Ok(EngineState::Running { engine, epoch })
    }

    async fn halt(&self, halt: Halt) {
        if let Some(problem) = &halt.problem
            && self.engine().err().as_ref() != Some(&halt)
        {
            let name = self.space.lock().name.clone();
            tracing::warn!(
                team = name,
                reason = problem.message,
                "a space is not synced"
            );
        }
        self.set(EngineState::Halted(halt)).await;
    }

    /// Takes over a state. Returns `false` if something of an engine that ran before is still at work.
    async fn set(&self, next: EngineState) -> bool {
        let started = match &next {
            EngineState::Running { engine, .. } => Some(engine.clone()),
            EngineState::Unused | EngineState::Halted(_) => None,
        };
        if let Some(engine) = &started
            && self.ended.load(Ordering::Acquire)
        {
            engine.shutdown().await;
            return true;
        }
        let before = std::mem::replace(&mut *self.state.lock(), next);
        if let Some(engine) = started {
            // What was changed while it started reached no engine.
            engine.tune(self.shared.config.lock().engine());
            engine.reload();
        }
        let mut is_released = true;
        if let EngineState::Running { engine, .. } = before {
            engine.shutdown().await;
            *self.leaving.lock() = Some(engine);
            is_released = self.release().await;
            self.count_totals().await;
        }
        self.signals.status();
        is_released
    }

    /// Waits until nothing of a stopped engine is at work; reports it, and returns `false`, if that takes too long.
    async fn release(&self) -> bool {
        let leaving = self.leaving.lock().clone();
        let Some(engine) = leaving else {
            return true;
        };
        let is_released = engine.wait_until_released(RELEASE_TIMEOUT).await;
        if is_released {
            *self.leaving.lock() = None;
        } else {
            let message = "the work that was going on in it does not end".to_owned();
            *self.state.lock() = EngineState::Halted(Halt::of_failure(message));
            tracing::error!("an engine was stopped, and something of it is still at work");
        }
        is_released
    }

    /// Returns the epoch of the keys of the engine that is at work.
    fn epoch(&self) -> Option<u32> {
        match &*self.state.lock() {
            EngineState::Running { engine, epoch } if !engine.has_ended() => Some(*epoch),
            EngineState::Running { .. } | EngineState::Unused | EngineState::Halted(_) => None,
        }
    }

    /// Returns `true` if an engine was started and not stopped, also if it has failed since.
    fn is_started(&self) -> bool {
        matches!(&*self.state.lock(), EngineState::Running { .. })
    }

    /// Returns `true` if all folders are paused.
    fn is_paused(&self) -> Result<bool, IndexError> {
        let folders = self.index.read(|db| db.folders())?;
        Ok(folders.iter().all(|row| row.settings.paused))
    }

    fn has_folders(&self) -> Result<bool, IndexError> {
        self.index.read(|db| Ok(!db.folders()?.is_empty()))
    }

    /// Waits until the space is in sync, or can't be; `None` if no folder is in it.
    pub(super) async fn wait_until_idle(
        self: &Arc<Self>,
    ) -> Result<Option<WaitResult>, EngineError> {
        loop {
            if !self.has_folders()? {
                return Ok(None);
            }
            // A look may take long, such as while the server can't be reached.
            if self.is_paused()? && self.engine().is_err() {
                return Ok(Some(WaitResult::Paused));
            }
            self.look().await;
            match self.engine() {
                Ok(engine) => match engine.wait_until_idle().await {
                    // Another one takes its place, with other keys, or nothing is synced any more.
                    Err(EngineError::Stopped) if !self.ended.load(Ordering::Acquire) => {}
                    other => return other.map(Some),
                },
                Err(halt) => {
                    if let Some(end) = halt.end_of_waiting() {
                        return Ok(Some(end));
                    }
                }
            }
            tokio::time::sleep(WAIT_PAUSE).await;
        }
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

pub(super) fn totals_of(index: &Index) -> Result<Totals, IndexError> {
    index.read(|db| {
        let rows = db.folders()?.into_iter();
        rows.map(|row| Ok((row.id, db.local_totals(row.id)?)))
            .collect()
    })
}

async fn look_regularly(team: Arc<TeamEngine>) {
    while !team.ended.load(Ordering::Acquire) {
        team.look().await;
        tokio::select! {
            () = tokio::time::sleep(LOOK_INTERVAL) => {}
            () = team.wake.notified() => {}
            () = team.shared.keys_changed.notified() => {}
        }
    }
}
