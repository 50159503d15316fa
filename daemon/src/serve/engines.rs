//! The engines of all spaces (a space: the files of one account or team): that of the account's own, which always
//! runs, and those of teams.
//!
//! One engine knows one space only. Requests find theirs by the folder; what is asked of all is put together here.

mod status;
mod waiting;

use crate::failure::CommandResult;
use crate::folders::pairs::Pair;
use crate::folders::spaces::{self, BrokenSpace, SpaceIndex};
use crate::serve::engine_slot::Totals;
use crate::serve::events::Signals;
use crate::serve::halt::Halt;
use crate::serve::own_engine::OwnEngine;
use crate::serve::shared::Shared;
use crate::serve::team_engine::TeamEngine;
use cairn_control::TeamSpace;
use cairn_engine::{EngineError, EngineHandle, record_pause};
use cairn_index::Index;
use cairn_model::SpaceId;
use futures_util::future::{join, join_all};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// One space: its index, and its engine, or the reason why none runs.
pub(super) struct Part {
    /// `None`: the account's own.
    pub(super) space: Option<TeamSpace>,
    pub(super) index: Arc<Index>,
    pub(super) engine: Result<Arc<EngineHandle>, Halt>,
    /// The size of the folders where no engine runs.
    pub(super) totals: Arc<Totals>,
}

/// The engines of this home.
pub(super) struct Engines {
    shared: Arc<Shared>,
    own: Arc<OwnEngine>,
    teams: Mutex<BTreeMap<SpaceId, Arc<TeamEngine>>>,
    /// The spaces whose folders are not known.
    broken: Mutex<Vec<BrokenSpace>>,
    /// Held while the guarded folders are collected and set, and a space is included.
    guarding: Mutex<()>,
    signals: Signals,
}

impl Engines {
    /// Starts the engine of the account's own space, and begins to check the teams that have folders here.
    pub(super) async fn start(shared: Arc<Shared>, own: SpaceIndex) -> CommandResult<Arc<Self>> {
        shared.disk.guard(roots(std::slice::from_ref(&own))?);
        let signals = Signals::new();
        let own = OwnEngine::start(own.index, shared.clone(), signals.clone()).await?;
        let engines = Arc::new(Self {
            shared,
            own,
            teams: Mutex::default(),
            broken: Mutex::default(),
            guarding: Mutex::default(),
            signals,
        });
        engines.open_teams()?;
        Ok(engines)
    }

    /// Opens the spaces of teams that are not open yet. One that can't be opened keeps its own folders from being
    /// synced, and others from being added.
    fn open_teams(&self) -> CommandResult {
        let _one_at_a_time = self.guarding.lock();
        let is_open = |id| self.teams.lock().contains_key(&id);
        let (opened, broken) = spaces::open_teams(&self.shared.home, is_open);
        log_set_aside(&opened);
        let mut all = self.indexes();
        all.extend(opened.iter().cloned());
        self.shared.disk.guard(roots(&all)?);
        for team in opened {
            self.include(team);
        }
        let before = std::mem::replace(&mut *self.broken.lock(), broken.clone());
        for one in broken.iter().filter(|one| !before.contains(one)) {
            tracing::error!(reason = one.message, "the folders of a team are not synced");
        }
        Ok(())
    }

    /// Looks again at the spaces that could not be opened.
    fn retry_broken(&self) -> CommandResult {
        let is_needed = !self.broken.lock().is_empty();
        if is_needed {
            self.open_teams()?;
            self.signals.status();
        }
        Ok(())
    }

    /// Refuses to add a folder while those of a space are not known: it could be one of them, or a part.
    pub(super) fn check_all_known(&self) -> CommandResult {
        self.retry_broken()?;
        spaces::check_none_is_broken(&self.broken.lock())
    }

    pub(super) fn signals(&self) -> &Signals {
        &self.signals
    }

    /// Returns the index of the account's own space.
    pub(super) fn own_index(&self) -> &Arc<Index> {
        self.own.index()
    }

    fn teams(&self) -> Vec<Arc<TeamEngine>> {
        self.teams.lock().values().cloned().collect()
    }

    /// Returns the indexes of all spaces; the account's own is the first one.
    pub(super) fn indexes(&self) -> Vec<SpaceIndex> {
        let own = SpaceIndex {
            space: None,
            index: self.own.index().clone(),
            set_aside: None,
        };
        let teams = self.teams();
        let teams = teams.iter().map(|team| team.space_index());
        std::iter::once(own).chain(teams).collect()
    }

    /// Returns all spaces; the account's own is the first one.
    pub(super) fn parts(&self) -> Vec<Part> {
        let own = Part {
            space: None,
            index: self.own.index().clone(),
            engine: self.own.engine(),
            totals: self.own.totals(),
        };
        let teams = self.teams();
        let teams = teams.iter().map(|team| {
            let SpaceIndex { space, index, .. } = team.space_index();
            let engine = team.engine();
            Part {
                space,
                index,
                engine,
                totals: team.totals(),
            }
        });
        std::iter::once(own).chain(teams).collect()
    }

    /// Returns the engine of a pair's space, or the reason why none runs.
    pub(super) fn of(&self, pair: &Pair) -> Result<Arc<EngineHandle>, Halt> {
        self.of_space(pair.space.as_ref())
    }

    fn of_space(&self, space: Option<&TeamSpace>) -> Result<Arc<EngineHandle>, Halt> {
        let Some(space) = space else {
            return self.own.engine();
        };
        let team = self.team(space);
        team.map_or_else(|| Err(Halt::at_start()), |team| team.engine())
    }

    fn team(&self, space: &TeamSpace) -> Option<Arc<TeamEngine>> {
        self.teams.lock().get(&space.id).cloned()
    }

    /// Returns the engines that run.
    pub(super) fn running_engines(&self) -> Vec<Arc<EngineHandle>> {
        let parts = self.parts().into_iter();
        parts.filter_map(|part| part.engine.ok()).collect()
    }

    /// Takes over a change of the pairs of a space.
    pub(super) fn reload(&self, pair: &Pair) -> CommandResult {
        let one_at_a_time = self.guarding.lock();
        let mut guarded = roots(&self.indexes())?;
        guarded.push(PathBuf::from(&pair.row.root));
        self.shared.disk.guard(guarded);
        if let Some(space) = &pair.space {
            self.include(SpaceIndex {
                space: Some(space.clone()),
                index: pair.index.clone(),
                set_aside: None,
            });
        }
        drop(one_at_a_time);
        if let Ok(engine) = self.of(pair) {
            engine.reload();
        }
        self.signals.status();
        Ok(())
    }

    /// Begins to look at a team, or does it again now.
    fn include(&self, opened: SpaceIndex) {
        let SpaceIndex {
            space: Some(space),
            index,
            ..
        } = opened
        else {
            return;
        };
        let mut teams = self.teams.lock();
        match teams.get(&space.id) {
            Some(known) => known.request_check(),
            None => {
                let (shared, signals) = (self.shared.clone(), self.signals.clone());
                let id = space.id;
                teams.insert(id, TeamEngine::start(space, index, shared, signals));
            }
        }
    }

    /// Stops syncing, or goes on with it; of one pair or of all, also of those that are not synced now.
    pub(super) fn set_paused(
        &self,
        pair: Option<&Pair>,
        paused: bool,
        until_ms: Option<i64>,
    ) -> Result<(), EngineError> {
        let only = pair.map(|pair| pair.row.id);
        let set = |part: &Part| match &part.engine {
            Ok(engine) if paused => engine.pause(only, until_ms),
            Ok(engine) => engine.resume(only),
            Err(_) => {
                let record = |db: &cairn_index::Db<'_>| record_pause(db, only, paused, until_ms);
                Ok(part.index.write(record)?)
            }
        };
        let is_meant = |part: &Part| pair.is_none_or(|pair| Arc::ptr_eq(&pair.index, &part.index));
        let parts = self.parts();
        parts
            .iter()
            .filter(|part| is_meant(part))
            .try_for_each(set)?;
        // One that has started meanwhile may have read the settings before.
        for engine in self.running_engines() {
            engine.reload();
        }
        self.signals.status();
        Ok(())
    }

    /// Scans and polls now; one pair or all.
    pub(super) fn rescan(&self, pair: Option<&Pair>) {
        if let Err(error) = self.retry_broken() {
            tracing::warn!(%error, "the spaces that could not be opened can't be looked at again");
        }
        match pair {
            Some(pair) => {
                if let Ok(engine) = self.of(pair) {
                    engine.rescan(Some(pair.row.id));
                }
            }
            None => self
                .running_engines()
                .iter()
                .for_each(|engine| engine.rescan(None)),
        }
        self.own.request_check();
        for team in self.teams() {
            team.request_check();
        }
    }

    /// Ends all engines; at most a few seconds.
    pub(super) async fn shutdown(&self) {
        let teams = self.teams();
        let ending = join_all(teams.iter().map(|team| team.shutdown()));
        join(self.own.shutdown(), ending).await;
    }
}

/// Logs the indexes of teams that had to be set aside.
fn log_set_aside(opened: &[SpaceIndex]) {
    for path in opened.iter().filter_map(|one| one.set_aside.as_ref()) {
        tracing::warn!(set_aside = %path.display(), "the index of a team's space was unreadable: it is built again");
    }
}

/// Returns the local folders of all pairs.
fn roots(indexes: &[SpaceIndex]) -> CommandResult<Vec<PathBuf>> {
    let mut roots = Vec::new();
    for one in indexes {
        let rows = one.index.read(|db| db.folders())?;
        roots.extend(rows.into_iter().map(|row| PathBuf::from(row.root)));
    }
    Ok(roots)
}
