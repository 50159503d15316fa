//! Requests that change something: the pairs, the settings, what waits for a person.

use super::Daemon;
use crate::config::Config;
use crate::failure::{CommandResult, Exit, Failure};
use crate::folders::pairs::{self, Pair};
use crate::folders::{trash, unsynced};
use crate::output::text::{clean, now_ms, shell_word};
use crate::serve::limits;
use cairn_control::{
    FolderStatus, Limits, NewFolder, Reply, ResolvePreview, Resolved, Status, TeamSpace,
};
use cairn_index::FolderSettings;
use cairn_model::{DeletionDecision, Keep, RelPath, SyncState};
use cairn_platform::RealDisk;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;

/// The longest wait until the status shows a change of the pairs.
const APPLIED_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest wait for the service's answer: longer than a silent one takes to count as away.
const POLL_TIMEOUT: Duration = Duration::from_secs(20);

impl Daemon {
    /// Adds a pair in the account's own space, or in that of a team.
    pub(super) async fn add_folder(
        &self,
        space: Option<&TeamSpace>,
        new: &NewFolder,
    ) -> CommandResult<Reply> {
        let pair = {
            let _one_at_a_time = self.adding.lock().await;
            self.engines.check_all_known()?;
            let indexes = self.engines.indexes();
            let pair = pairs::add(&self.shared.home, &indexes, space, new)?;
            self.engines.reload(&pair)?;
            pair
        };
        let local = &pair.row.root;
        self.wait_for_status(|status| status.folders.iter().any(|f| f.local == *local))
            .await;
        Ok(Reply::Folder(pair.to_control()))
    }

    pub(super) async fn remove_folder(&self, folder: &str) -> CommandResult<Reply> {
        let pair = self.pair(folder)?;
        pairs::remove(&self.engines.indexes(), folder)?;
        self.engines.reload(&pair)?;
        self.wait_for_status(|status| status.folders.iter().all(|f| f.local != folder))
            .await;
        Ok(Reply::DONE)
    }

    /// Stops syncing, or goes on with it; of one folder or of all.
    pub(super) async fn set_paused(
        &self,
        folder: Option<&String>,
        paused: bool,
        until_ms: Option<i64>,
    ) -> CommandResult<Reply> {
        let pair = self.optional(folder)?;
        self.engines.set_paused(pair.as_ref(), paused, until_ms)?;
        let is_meant = |one: &&FolderStatus| folder.is_none_or(|local| one.local == *local);
        self.wait_for_status(|status| {
            let mut meant = status.folders.iter().filter(is_meant);
            meant.all(|one| (one.state == SyncState::Paused) == paused)
        })
        .await;
        Ok(Reply::DONE)
    }

    /// Waits until the status shows a change of the pairs, for a while: a busy engine takes it over later.
    async fn wait_for_status(&self, shows: impl Fn(&Status) -> bool) {
        let mut signals = self.engines.signals().subscribe();
        let waiting = async {
            while !shows(&self.engines.status()) {
                if let Err(RecvError::Closed) = signals.recv().await {
                    return;
                }
            }
        };
        // Late is not wrong: the change is in the index.
        drop(tokio::time::timeout(APPLIED_TIMEOUT, waiting).await);
    }

    pub(super) fn set_limits(&self, limits: Limits) -> CommandResult<Reply> {
        let text =
            |rate: Option<u64>| rate.map_or_else(|| "off".to_owned(), |rate| rate.to_string());
        Config::store(&self.shared.home, "limits.up", &text(limits.up))?;
        Config::store(&self.shared.home, "limits.down", &text(limits.down))?;
        self.reload()
    }

    /// Applies the settings, none of which waits for a restart.
    pub(super) fn reload(&self) -> CommandResult<Reply> {
        let config = Config::load(&self.shared.home)?;
        self.log_level.set(&config.log_level)?;
        limits::apply(&config, &self.shared.limits, &self.shared.clock());
        let settings = config.engine();
        // Before the engines: one that starts meanwhile has them, too.
        *self.shared.config.lock() = config;
        for engine in self.engines.running_engines() {
            engine.tune(settings);
            engine.reload();
        }
        Ok(Reply::DONE)
    }

    /// Scans now, and asks the service for changes; an answer that takes long is left to the status.
    pub(super) async fn sync_now(&self, folder: Option<&String>) -> CommandResult<Reply> {
        let pair = self.optional(folder)?;
        self.engines.rescan(pair.as_ref());
        match &pair {
            Some(Pair { row, .. }) => check_not_paused(Some(&row.root), [&row.settings], now_ms())?,
            None => {
                let all = pairs::list(&self.engines.indexes())?;
                check_not_paused(None, all.iter().map(|pair| &pair.row.settings), now_ms())?;
            }
        }
        let polling = self.engines.poll(pair.as_ref());
        if let Ok(polled) = tokio::time::timeout(POLL_TIMEOUT, polling).await {
            polled?;
            check_any_is_synced(folder.map(String::as_str), &self.engines.status())?;
            return Ok(Reply::DONE);
        }
        // An engine that waits for the service takes no further request.
        let status = self.engines.status();
        if status.state == SyncState::Offline {
            let why = status.message.unwrap_or_default();
            return Err(Failure::new(Exit::Offline, why));
        }
        Ok(Reply::DONE)
    }

    pub(super) async fn resolve(&self, path: &str, keep: Keep) -> CommandResult<Reply> {
        let (pair, below) = pairs::find_containing(&self.engines.indexes(), Path::new(path))?;
        let engine = self.engine_of(&pair)?;
        let copy = engine.resolve(Some(pair.row.id), below, keep).await?;
        let root = Path::new(&pair.row.root);
        let path = |copy: RelPath| copy.to_path(root).display().to_string();
        Ok(Reply::Resolved(Resolved {
            copy: copy.map(path),
        }))
    }

    pub(super) async fn preview_resolve(&self, path: &str, keep: Keep) -> CommandResult<Reply> {
        let (pair, below) = pairs::find_containing(&self.engines.indexes(), Path::new(path))?;
        let engine = self.engine_of(&pair)?;
        let preview = engine
            .preview_resolve(Some(pair.row.id), &below, keep)
            .await?;
        let root = Path::new(&pair.row.root);
        let path = |path: RelPath| path.to_path(root).display().to_string();
        Ok(Reply::ResolvePreview(ResolvePreview {
            path: preview.path.to_string(),
            copy: preview.copy.to_string(),
            renamed_copy: preview.renamed_copy.map(path),
            merged: preview.merged,
        }))
    }

    pub(super) fn confirm(&self, folder: &str, decision: DeletionDecision) -> CommandResult<Reply> {
        let pair = self.pair(folder)?;
        self.engine_of(&pair)?.confirm(pair.row.id, decision)?;
        Ok(Reply::DONE)
    }

    pub(super) fn restore(&self, folder: &str, id: &str) -> CommandResult<Reply> {
        let pair = self.pair(folder)?;
        let trashed = trash::restore(&RealDisk::new(), &pair.row, id, None)?;
        self.engines.rescan(Some(&pair));
        Ok(Reply::Trashed(trashed))
    }

    pub(super) async fn delete_trashed(
        &self,
        folder: &str,
        ids: BTreeSet<String>,
    ) -> CommandResult<Reply> {
        let pair = self.pair(folder)?;
        match self.engines.of(&pair) {
            Ok(engine) => {
                let deleted = engine.delete_trashed(PathBuf::from(&pair.row.root), ids);
                deleted.await.map_err(trash::not_deleted)?;
            }
            // No engine puts anything there.
            Err(_) => trash::delete(&RealDisk::new(), &pair.row, &ids)?,
        }
        Ok(Reply::DONE)
    }

    pub(super) async fn accept_disk(&self, path: &str) -> CommandResult<Reply> {
        let (pair, below) = pairs::find_containing(&self.engines.indexes(), Path::new(path))?;
        let engine = self.engine_of(&pair)?;
        engine.accept_disk(pair.row.id, below).await?;
        Ok(Reply::DONE)
    }
}

/// Refuses to look for changes where nothing of `folder` is synced now, or of any that is not paused if none is named.
fn check_any_is_synced(folder: Option<&str>, status: &Status) -> CommandResult {
    let all = status.folders.iter();
    let meant = all.filter(|one| folder.is_none_or(|local| one.local == local));
    let looked_at = meant.filter(|one| one.state != SyncState::Paused);
    let mut reasons: Vec<_> = looked_at.map(unsynced::reason).collect();
    if reasons.is_empty() || reasons.iter().any(Option::is_none) {
        return Ok(());
    }
    let several = reasons.len() > 1;
    let first = reasons.swap_remove(0);
    first.map_or(Ok(()), |first| {
        Err(match several {
            true => first.adding("nor is any other folder: see `cairn status`"),
            false => first,
        })
    })
}

/// Refuses to look for changes where `folder` is paused, or each one if none is named: nothing would come of it.
fn check_not_paused<'a>(
    folder: Option<&str>,
    all: impl IntoIterator<Item = &'a FolderSettings>,
    now_ms: i64,
) -> CommandResult {
    let is_paused =
        |one: &FolderSettings| one.paused && one.paused_until.is_none_or(|until| until > now_ms);
    let mut all = all.into_iter().peekable();
    if all.peek().is_none() || !all.all(is_paused) {
        return Ok(());
    }
    Err(Failure::failed(match folder {
        Some(local) => {
            let command = format!("cairn resume {}", shell_word(local));
            format!("{} is paused: run `{}`", clean(local), clean(&command))
        }
        None => "syncing is paused: run `cairn resume`".to_owned(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::{Problem, ProblemCode};

    #[test]
    fn nobody_looks_for_changes_where_no_folder_is_synced() {
        use SyncState::{Error, Idle, Paused};
        let refused = |only: Option<&str>, states: &[SyncState]| {
            let folders = states.iter().enumerate().map(|(at, state)| FolderStatus {
                local: format!("/f/{at}"),
                state: *state,
                errors: vec![Problem {
                    code: ProblemCode::FolderGone,
                    message: "it is gone".into(),
                    hint: "do this".into(),
                    ..Problem::default()
                }],
                ..FolderStatus::default()
            });
            let status = Status {
                folders: folders.collect(),
                ..Status::default()
            };
            check_any_is_synced(only, &status)
                .err()
                .map(|one| one.message)
        };
        let one = "/f/0 is not synced now: it is gone; do this";
        let all = format!("{one}; nor is any other folder: see `cairn status`");
        for (only, states, expected) in [
            (None, &[][..], None),
            (None, &[Error, Idle], None),
            (Some("/f/1"), &[Error, Idle], None),
            (Some("/f/0"), &[Error, Idle], Some(one)),
            (None, &[Error, Paused], Some(one)),
            (None, &[Error, Error], Some(&*all)),
        ] {
            assert_eq!(refused(only, states).as_deref(), expected, "{states:?}");
        }
    }

    #[test]
    fn nothing_is_looked_for_in_a_paused_folder() {
        let of = |paused, paused_until| FolderSettings {
            paused,
            paused_until,
            ..FolderSettings::default()
        };
        let (runs, paused, ended) = (of(false, None), of(true, Some(2)), of(true, Some(1)));
        let refused = |folder, all: &[&FolderSettings]| {
            let failure = check_not_paused(folder, all.iter().copied(), 1).err()?;
            assert_eq!(failure.exit, Exit::Failed);
            Some(failure.message)
        };
        for all in [&[][..], &[&runs], &[&paused, &runs], &[&ended]] {
            assert_eq!(refused(None, all), None, "{all:?}");
        }
        let message = "/f 1 is paused: run `cairn resume '/f 1'`";
        assert_eq!(refused(Some("/f 1"), &[&paused]).as_deref(), Some(message));
        let message = "syncing is paused: run `cairn resume`";
        assert_eq!(refused(None, &[&paused, &paused]).as_deref(), Some(message));
    }
}
