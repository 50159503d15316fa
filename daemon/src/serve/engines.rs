//! The engines of all spaces (a space: the files of one account or team): that of the account's own, which always
//! runs, and those of teams.
//!
//! One engine knows one space only. Requests find theirs by the folder; what is asked of all is put together here.

use crate::failure::CommandResult;
use crate::folders::spaces::{self, BrokenSpace, Pair, SpaceIndex};
use crate::serve::engine_slot::Totals;
use crate::serve::events::Signals;
use crate::serve::halt::Halt;
use crate::serve::own_engine::OwnEngine;
use crate::serve::shared::Shared;
use crate::serve::team_engine::TeamEngine;
use crate::serve::{convert, merge};
use cairn_control::{FolderStatus, Status, TeamSpace};
use cairn_engine::{EngineError, EngineHandle, WaitResult, record_pause};
use cairn_index::{Index, IndexError};
use cairn_model::{FolderId, SpaceId, SyncState};
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
        let Some(space) = &pair.space else {
            return self.own.engine();
        };
        let team = self.teams.lock().get(&space.id).cloned();
        team.map_or_else(|| Err(Halt::at_start()), |team| team.engine())
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

    /// Returns the status of all spaces, with some problems of each cause.
    pub(super) fn status(&self) -> Status {
        self.status_with(|engine| convert::status(&engine.status()))
    }

    /// Returns the status of all spaces, with every problem.
    pub(super) fn full_status(&self) -> Status {
        self.status_with(|engine| {
            let mut status = engine.status();
            for folder in &mut status.folders {
                folder.errors = engine.problems(FolderId(folder.id));
            }
            convert::status(&status)
        })
    }

    fn status_with(&self, of: impl Fn(&EngineHandle) -> Status) -> Status {
        let status_of = |part: &Part| match &part.engine {
            Ok(engine) => of(engine),
            Err(halt) => halted_status(part, halt).unwrap_or_else(|error| {
                tracing::warn!(%error, "the folders of a space are missing in the status");
                Status::default()
            }),
        };
        let mut parts = self.parts().into_iter();
        let own = parts.next();
        let mut all = own.as_ref().map(status_of).unwrap_or_default();
        if let Some(Err(halt)) = own.map(|part| part.engine) {
            all = with_halt(all, &halt);
        }
        for part in parts {
            let mut status = status_of(&part);
            for folder in &mut status.folders {
                folder.space.clone_from(&part.space);
            }
            let name = part.space.as_ref().map_or("", |space| &space.name);
            all = merge::add(all, status, name);
        }
        self.broken.lock().iter().fold(all, with_broken)
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

    /// Asks the service for changes now, for one pair or for all.
    ///
    /// # Errors
    /// The service can't be reached, or refuses the login.
    pub(super) async fn poll(&self, pair: Option<&Pair>) -> CommandResult {
        let engines = match pair {
            Some(pair) => vec![(pair.space.clone(), self.of(pair))],
            None => {
                let parts = self.parts().into_iter();
                parts.map(|part| (part.space, part.engine)).collect()
            }
        };
        for (space, engine) in engines {
            match engine {
                Ok(engine) => self.poll_one(space.as_ref(), &engine).await?,
                Err(halt) => halt.check_connection()?,
            }
        }
        Ok(())
    }

    async fn poll_one(&self, space: Option<&TeamSpace>, engine: &EngineHandle) -> CommandResult {
        let failure = match engine.poll().await {
            // Another one takes its place, or the status says why none does.
            Err(EngineError::Stopped) => return Ok(()),
            polled => match polled? {
                Ok(()) => return Ok(()),
                Err(failure) => failure,
            },
        };
        let team = space.and_then(|space| self.teams.lock().get(&space.id).cloned());
        if let Some(team) = team.filter(|_| failure.state == SyncState::Error) {
            // The account may have left the team since the last check, which then says so.
            team.check().await;
            if let Err(halt) = team.engine() {
                return halt.check_connection();
            }
        }
        Err(failure.into())
    }

    /// Waits until all spaces are in sync, or what is left needs a person.
    ///
    /// # Errors
    /// [`EngineError::Stopped`] if the daemon ends meanwhile.
    pub(super) async fn wait_until_idle(&self) -> Result<WaitResult, EngineError> {
        if let Err(error) = self.retry_broken() {
            tracing::warn!(%error, "the spaces that could not be opened can't be looked at again");
        }
        let teams = self.teams();
        let waiting = join_all(teams.iter().map(|team| team.wait_until_idle()));
        let (own, teams) = join(self.own.wait_until_idle(), waiting).await;
        let teams: Vec<WaitResult> = teams
            .into_iter()
            .filter_map(Result::transpose)
            .collect::<Result<_, _>>()?;
        let own_is_used = self.own.has_folders()?;
        let own = Some(own?).filter(|_| own_is_used || teams.is_empty());
        let broken = self.broken.lock().len();
        let broken = std::iter::repeat_n(WaitResult::NeedsPerson, broken);
        Ok(combine(own.into_iter().chain(teams).chain(broken)))
    }

    /// Ends all engines; at most a few seconds.
    pub(super) async fn shutdown(&self) {
        let teams = self.teams();
        let ending = join_all(teams.iter().map(|team| team.shutdown()));
        join(self.own.shutdown(), ending).await;
    }
}

/// Returns the end of waiting for several spaces.
fn combine(results: impl Iterator<Item = WaitResult>) -> WaitResult {
    let results: Vec<WaitResult> = results.collect();
    let any = |wanted| results.contains(&wanted);
    if any(WaitResult::LoginEnded) {
        WaitResult::LoginEnded
    } else if any(WaitResult::NeedsPerson) {
        WaitResult::NeedsPerson
    } else if any(WaitResult::InSync) || results.is_empty() {
        WaitResult::InSync
    } else {
        WaitResult::Paused
    }
}

/// Logs the indexes of teams that had to be set aside.
fn log_set_aside(opened: &[SpaceIndex]) {
    for path in opened.iter().filter_map(|one| one.set_aside.as_ref()) {
        tracing::warn!(set_aside = %path.display(), "the index of a team's space was unreadable: it is built again");
    }
}

/// Returns the status of a space whose folders are not known, added to that of the others.
fn with_broken(all: Status, broken: &BrokenSpace) -> Status {
    let message = match all.message {
        Some(before) => format!("{before}; {}", broken.message),
        None => broken.message.clone(),
    };
    Status {
        state: all.state.max(SyncState::Error),
        message: Some(message),
        ..all
    }
}

/// Returns the status of the account's own space without an engine, also where no folder is in it.
fn with_halt(own: Status, halt: &Halt) -> Status {
    Status {
        state: own.state.max(halt.state),
        message: halt.problem.as_ref().map(|_| halt.sentence()),
        ..own
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

/// Returns the status of a space whose engine doesn't run: what its index knows, and the reason.
fn halted_status(part: &Part, halt: &Halt) -> Result<Status, IndexError> {
    let folders = part.index.read(|db| {
        let mut folders = Vec::new();
        for row in db.folders()? {
            let (files, bytes) = part.totals.get(&row.id).copied().unwrap_or_default();
            folders.push(FolderStatus {
                local: row.root,
                remote: row.remote_path,
                mode: row.settings.mode,
                state: match row.settings.paused {
                    true => SyncState::Paused,
                    false => halt.state,
                },
                files,
                bytes,
                errors: halt.problem.iter().cloned().collect(),
                problems: halt.group().into_iter().collect(),
                conflicts: db.conflict_count(row.id)?,
                ..FolderStatus::default()
            });
        }
        Ok(folders)
    })?;
    Ok(Status {
        state: folders
            .iter()
            .map(|folder| folder.state)
            .max()
            .unwrap_or_default(),
        open_conflicts: folders.iter().map(|folder| folder.conflicts).sum(),
        folders,
        ..Status::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_index::FolderSettings;

    #[test]
    fn the_folders_of_a_halted_space_show_the_reason_and_what_is_known() {
        let index = Index::memory().unwrap();
        let id = index
            .write(|db| db.add_folder("/home/a/Crew", "/", &FolderSettings::default()))
            .unwrap();
        let halt = Halt::not_a_member("Crew");
        let part = Part {
            space: None,
            index: Arc::new(index),
            engine: Err(halt.clone()),
            totals: Arc::new(Totals::from([(id, (3, 40))])),
        };
        let status = halted_status(&part, &halt).unwrap();
        assert_eq!(status.state, SyncState::Error);
        let folder = &status.folders[0];
        assert_eq!(folder.errors, [halt.problem.unwrap()]);
        assert_eq!(folder.problems[0].count, 1);
        assert_eq!((folder.files, folder.bytes), (3, 40));
    }

    #[test]
    fn a_space_that_can_not_be_opened_is_an_error_in_the_status() {
        let broken = BrokenSpace {
            id: None,
            message: "space.json is damaged".into(),
        };
        let alone = with_broken(Status::default(), &broken);
        assert_eq!(alone.state, SyncState::Error);
        assert_eq!(alone.message.as_deref(), Some("space.json is damaged"));
        let offline = Status {
            message: Some("no route".into()),
            ..Status::default()
        };
        let both = with_broken(offline, &broken).message.unwrap();
        assert_eq!(both, "no route; space.json is damaged");
    }

    #[test]
    fn waiting_ends_with_what_a_person_has_to_do_first() {
        use WaitResult::{InSync, LoginEnded, NeedsPerson, Paused};
        for (results, expected) in [
            (&[InSync, NeedsPerson][..], NeedsPerson),
            (&[LoginEnded, NeedsPerson], LoginEnded),
            (&[Paused, InSync], InSync),
            (&[Paused, Paused], Paused),
            (&[], InSync),
        ] {
            assert_eq!(combine(results.iter().copied()), expected, "{results:?}");
        }
    }
}
