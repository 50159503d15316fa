//! Requests that only look or wait: state, activity, conflicts, trash, doctor.

use super::Daemon;
use crate::failure::{CommandResult, Exit, Failure};
use crate::folders::pairs;
use crate::output::text::{clean, rfc3339, shell_word};
use crate::serve::convert;
use cairn_control::{
    ActivityList, Conflict, ConflictList, DoctorInfo, Handler as _, Reply, Status, TrashedList,
};
use cairn_engine::WaitResult;
use cairn_model::{ProblemCode, SyncState};
use cairn_platform::RealDisk;
use std::time::Duration;

/// The least time that a wait gets: a look at both sides takes some, also where they are in sync.
const SHORTEST_WAIT_MS: u64 = 1_000;

impl Daemon {
    pub(super) async fn wait_until_synced(&self, timeout_ms: Option<u64>) -> CommandResult<Reply> {
        let idle = self.engines.wait_until_idle();
        let idle = match timeout_ms.map(|ms| ms.max(SHORTEST_WAIT_MS)) {
            Some(ms) => tokio::time::timeout(Duration::from_millis(ms), idle)
                .await
                .map_err(|_| {
                    let seconds = ms.div_ceil(1000);
                    let message =
                        format!("still not in sync after {seconds} s: see `cairn status`");
                    Failure::new(Exit::TimedOut, message)
                })?,
            None => idle.await,
        };
        match idle? {
            WaitResult::InSync => Ok(Reply::Status(self.engines.status())),
            WaitResult::NeedsPerson => {
                let message =
                    "not everything is in sync, and the rest needs a person: see `cairn status`";
                Err(Failure::new(Exit::Decision, message))
            }
            WaitResult::LoginEnded => {
                let message = self.engines.status().message;
                let message = message.unwrap_or_else(|| "the login has ended".to_owned());
                Err(Failure::new(Exit::NotLoggedIn, message))
            }
            WaitResult::Paused => Err(paused_error(&self.engines.status())),
        }
    }

    pub(super) fn activity(&self, limit: u32) -> CommandResult<Reply> {
        let mut rows = Vec::new();
        for part in self.engines.parts() {
            let (found, folders) = part
                .index
                .read(|db| Ok((db.activity(limit)?, db.folders()?)))?;
            for row in found {
                let mut activity = convert::activity(&row, &folders);
                if let Ok(engine) = &part.engine {
                    activity.device = activity.device.map(|name| engine.device_name(&name));
                }
                rows.push((row.at_ms, activity));
            }
        }
        // Newest first, as each index has them.
        rows.sort_by_key(|(at_ms, _)| std::cmp::Reverse(*at_ms));
        rows.truncate(limit as usize);
        let events = rows.into_iter().map(|(_, activity)| activity).collect();
        Ok(Reply::Activity(ActivityList { events }))
    }

    pub(super) fn conflicts(&self) -> CommandResult<Reply> {
        let mut conflicts = Vec::new();
        // Of a space that is not synced now, the status has their number.
        for engine in self.engines.running_engines() {
            let folders = engine.folders()?;
            conflicts.extend(engine.conflicts()?.into_iter().map(|open| Conflict {
                path: open.path.to_string(),
                original_gone: open.original_gone,
                copy: open.copy.to_string(),
                folder: convert::root(&folders, open.folder).unwrap_or_default(),
                kind: open.kind,
                device: engine.device_name(&open.device),
                copy_device: open.copy_device,
                copy_made_here: open.copy_made_here,
                at: convert::conflict_time(open.at_ms),
            }));
        }
        Ok(Reply::Conflicts(ConflictList { conflicts }))
    }

    pub(super) fn trash(&self, folder: Option<&String>) -> CommandResult<Reply> {
        let pairs = match folder {
            Some(local) => vec![self.pair(local)?],
            None => pairs::list(&self.engines.indexes())?,
        };
        let mut trashed = Vec::new();
        for pair in pairs {
            trashed.extend(crate::folders::trash::list(&RealDisk::new(), &pair.row)?);
        }
        Ok(Reply::Trash(TrashedList { trashed }))
    }

    pub(super) fn doctor(&self) -> Reply {
        let status = self.engines.status();
        let session = self.shared.session();
        let account = &session.account;
        let watch_problems = status
            .folders
            .iter()
            .flat_map(|folder| folder.errors.iter())
            .filter(|problem| problem.code == ProblemCode::Watch)
            .cloned()
            .collect();
        Reply::Doctor(DoctorInfo {
            version: self.version(),
            pid: std::process::id(),
            started_at: rfc3339(self.started_ms),
            server: account.server.clone(),
            account: account.email.clone(),
            device: account.device_name.clone(),
            device_id: account.device.to_string(),
            online: status.state != SyncState::Offline,
            watch_problems,
        })
    }
}

/// Returns the error of waiting for what is paused: nothing of it will be in sync before it is resumed.
fn paused_error(status: &Status) -> Failure {
    let folders = status.folders.iter();
    let paused: Vec<&str> = folders
        .filter(|folder| folder.state == SyncState::Paused)
        .map(|folder| folder.local.as_str())
        .collect();
    let names = || paused.iter().map(|local| clean(local)).collect::<Vec<_>>();
    Failure::failed(match paused.as_slice() {
        all if all.is_empty() || all.len() == status.folders.len() => {
            "syncing is paused: run `cairn resume`".to_owned()
        }
        [one] => format!(
            "{} is paused, everything else is in sync: run `cairn resume {}`",
            clean(one),
            clean(&shell_word(one))
        ),
        several => format!(
            "{} folders are paused ({}), everything else is in sync: run `cairn resume`",
            several.len(),
            names().join(", ")
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_control::FolderStatus;

    #[test]
    fn waiting_for_paused_folders_names_them() {
        use SyncState::{Idle, Paused};
        for (states, expected) in [
            (
                &[Idle, Paused][..],
                "/f/1 is paused, everything else is in sync: run `cairn resume /f/1`",
            ),
            (
                &[Paused, Idle, Paused],
                "2 folders are paused (/f/0, /f/2), everything else is in sync: run `cairn resume`",
            ),
            (&[Paused], "syncing is paused: run `cairn resume`"),
            (&[Paused, Paused], "syncing is paused: run `cairn resume`"),
            // Resumed just now.
            (&[Idle], "syncing is paused: run `cairn resume`"),
        ] {
            let folders = states.iter().enumerate().map(|(at, state)| FolderStatus {
                local: format!("/f/{at}"),
                state: *state,
                ..FolderStatus::default()
            });
            let status = Status {
                folders: folders.collect(),
                ..Status::default()
            };
            let error = paused_error(&status);
            assert_eq!(
                (error.exit, error.message.as_str()),
                (Exit::Failed, expected)
            );
        }
    }
}
