//! The engine of a team's space (its files): it runs while the account belongs to the team and has the current key.
//!
//! The daemon checks the team now and then. A key of another epoch (generation of the key) stops the engine, and
//! starts one with the keys of all epochs so far; the end of the membership, a deleted team or a missing grant (the
//! key, sealed to this account) stops it and is reported with the folders. Nothing in them is touched meanwhile.

use crate::failure::Failure;
use crate::folders::spaces::{self, SpaceIndex};
use crate::serve::checks::Checks;
use crate::serve::engine_slot::{EngineSlot, Totals};
use crate::serve::events::Signals;
use crate::serve::halt::Halt;
use crate::serve::own_engine;
use crate::serve::shared::Shared;
use crate::trust;
use cairn_control::TeamSpace;
use cairn_engine::{EngineError, EngineHandle, WaitResult};
use cairn_index::{Index, IndexError};
use cairn_model::SyncState;
use cairn_space::{SpaceKeys, TeamGrants};
use cairn_transfer::api_in_space;
use cairn_wire::teams::Team;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;

/// The time between two checks of the team: that long a new epoch may stay unnoticed.
pub(super) const CHECK_INTERVAL: Duration = Duration::from_secs(20);
/// The pause before the next check of somebody who waits.
pub(super) const WAIT_PAUSE: Duration = Duration::from_secs(1);

/// The engine of one team's space, or the reason why there is none.
pub(super) struct TeamEngine {
    space: Mutex<TeamSpace>,
    slot: EngineSlot,
    /// The epoch of the keys of the engine that was started last.
    epoch: Mutex<Option<u32>>,
    checks: Checks,
}

impl TeamEngine {
    /// Begins to check the team; its engine starts when the first check has found the key.
    pub(super) fn start(
        space: TeamSpace,
        index: Arc<Index>,
        shared: Arc<Shared>,
        signals: Signals,
    ) -> Arc<Self> {
        let team = Arc::new(Self {
            space: Mutex::new(space),
            slot: EngineSlot::new(index, shared, signals),
            epoch: Mutex::new(None),
            checks: Checks::default(),
        });
        let task = tokio::spawn(check_regularly(team.clone()));
        team.checks.keep(task);
        team
    }

    /// Returns the space with its index.
    pub(super) fn space_index(&self) -> SpaceIndex {
        SpaceIndex {
            space: Some(self.space.lock().clone()),
            index: self.slot.index().clone(),
            set_aside: None,
        }
    }

    /// Returns the running engine, or the reason why none runs.
    pub(super) fn engine(&self) -> Result<Arc<EngineHandle>, Halt> {
        self.slot.engine()
    }

    /// Returns the size of the folders while no engine runs, as far as it is known.
    pub(super) fn totals(&self) -> Arc<Totals> {
        self.slot.totals()
    }

    /// Makes the next check due.
    pub(super) fn request_check(&self) {
        self.checks.request();
    }

    /// Asks the server for the team, and starts, replaces or stops the engine accordingly.
    pub(super) async fn check(self: &Arc<Self>) {
        let team = self.clone();
        Checks::finish("a team", async move { team.check_now().await }).await;
    }

    async fn check_now(&self) {
        let _one_at_a_time = self.checks.lock().await;
        match self.slot.has_folders() {
            Ok(true) => {}
            Ok(false) => {
                // The next check after a folder was added starts an engine.
                self.slot.stop(Halt::at_start()).await;
                return;
            }
            Err(error) => return self.halt(Halt::of_failure(error.to_string())).await,
        }
        self.slot.count_once().await;
        // Before anything else is done with the former keys.
        if let Some(halt) = self.slot.shared.replacement() {
            return self.halt(halt).await;
        }
        let TeamSpace { id, team, name } = self.space.lock().clone();
        let teams = self.slot.shared.session().api.teams().await;
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
        let is_released = match self.slot.engine() {
            Ok(_) => self.slot.stop(Halt::at_start()).await,
            Err(_) => self.slot.release().await,
        };
        if !is_released {
            return;
        }
        let started = match self.open(team).await {
            Ok(keys) => self.run(keys).await,
            Err(halt) => Err(self.first_reason(halt).await),
        };
        if let Err(halt) = started {
            self.halt(halt).await;
        }
    }

    /// Returns the reason why the keys of the space can't be opened: that the account's keys were replaced, to which
    /// they are sealed now, or else the given one.
    async fn first_reason(&self, halt: Halt) -> Halt {
        match halt.state {
            SyncState::Offline => halt,
            SyncState::Idle
            | SyncState::Syncing
            | SyncState::Paused
            | SyncState::Attention
            | SyncState::Error => {
                let replaced = own_engine::look_for_replacement(&self.slot.shared).await;
                replaced.unwrap_or(halt)
            }
        }
    }

    fn take_name(&self, name: &str) {
        let mut space = self.space.lock();
        if space.name != name {
            name.clone_into(&mut space.name);
            if let Err(error) = spaces::record(&self.slot.shared.home, &space) {
                tracing::warn!(%error, "the new name of a team can't be kept");
            }
        }
    }

    /// Opens the keys of the space: that of the epoch in force, and those before it.
    async fn open(&self, team: &Team) -> Result<SpaceKeys, Halt> {
        let halt = |error| Halt::of_team(&team.name, &error);
        let session = self.slot.shared.session();
        let grants = TeamGrants::fetch(&session.api, team).await.map_err(halt)?;
        let shared = self.slot.shared.clone();
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

    async fn run(&self, keys: SpaceKeys) -> Result<(), Halt> {
        *self.epoch.lock() = Some(keys.epoch());
        let session = self.slot.shared.session();
        let keys = Arc::new(keys);
        let api = api_in_space(&session.api, &keys);
        let started = self.slot.run(api, keys).await;
        started.map_err(|failure| Halt::of_failure(failure.message))
    }

    async fn halt(&self, halt: Halt) {
        if let Some(problem) = &halt.problem
            && self.slot.engine().err().as_ref() != Some(&halt)
        {
            let name = self.space.lock().name.clone();
            tracing::warn!(
                team = name,
                reason = problem.message,
                "a space is not synced"
            );
        }
        self.slot.stop(halt).await;
    }

    /// Returns the epoch of the keys of the engine that is at work.
    fn epoch(&self) -> Option<u32> {
        let engine = self.slot.engine().ok()?;
        (!engine.has_ended()).then_some(*self.epoch.lock())?
    }

    /// Returns `true` if all folders are paused.
    fn is_paused(&self) -> Result<bool, IndexError> {
        let folders = self.slot.index().read(|db| db.folders())?;
        Ok(folders.iter().all(|row| row.settings.paused))
    }

    /// Waits until the space is in sync, or can't be; `None` if no folder is in it.
    pub(super) async fn wait_until_idle(
        self: &Arc<Self>,
    ) -> Result<Option<WaitResult>, EngineError> {
        loop {
            if !self.slot.has_folders()? {
                return Ok(None);
            }
            // A check may take long, such as while the server can't be reached.
            if self.is_paused()? && self.slot.engine().is_err() {
                return Ok(Some(WaitResult::Paused));
            }
            self.check().await;
            match self.slot.wait_until_idle().await {
                // The next check starts another one.
                Some(Err(EngineError::Stopped)) if !self.slot.is_closed() => {}
                Some(end) => return end.map(Some),
                None => {}
            }
            tokio::time::sleep(WAIT_PAUSE).await;
        }
    }

    /// Ends the engine, and checks no more.
    pub(super) async fn shutdown(&self) {
        self.checks.end();
        self.slot.close().await;
    }
}

async fn check_regularly(team: Arc<TeamEngine>) {
    while !team.slot.is_closed() {
        team.check().await;
        tokio::select! {
            () = tokio::time::sleep(CHECK_INTERVAL) => {}
            () = team.checks.wait_for_request() => {}
            () = team.slot.shared.keys_changed.notified() => {}
        }
    }
}
