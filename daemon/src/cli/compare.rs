//! `cairn compare`: words for each space, which two devices that are in sync have in common, unless the server shows
//! them different files.

use crate::app::App;
use crate::cli::status_lines::NO_FOLDER;
use crate::cli::status_lines::word;
use crate::failure::{CommandResult, Context as _};
use crate::folders::spaces::{self, SpaceIndex};
use crate::output::text::{clean, count, local_time, rfc3339};
use crate::session::Session;
use cairn_control::{FolderStatus, Status, typed};
use cairn_index::sealed::LastChange;
use cairn_index::{IndexError, OtherView};
use cairn_model::{DeviceId, ProblemCode, SpaceId, SyncState};
use cairn_space::{SealedNode, SealedNodes};
use serde_json::{Value, json};
use std::collections::HashMap;
use tokio::task::block_in_place;

/// Show words that two devices in sync have in common, unless the server shows them different files
///
/// Read them to one another: the same account's devices for your own files, members of a team for the
/// team's. A server can hide the changes of one device from another, and each would take what it sees for
/// everything. Devices compare what they see by themselves, through the server, and it is shown when each last
/// saw the same; the words hold whatever the server does. Run `cairn status --wait` on both first. Nothing of
/// the files can be told from the words.
#[derive(clap::Args, Debug)]
pub(super) struct Args {}

/// One space as this device sees it.
struct View {
    space: SpaceId,
    /// `None`: the account's own.
    team: Option<String>,
    sealed: u64,
    unsealed: u64,
    words: Vec<&'static str>,
    last: Option<LastChange>,
    others: Vec<OtherView>,
}

pub(super) async fn run(app: &App, _: Args) -> CommandResult {
    let session = app.session()?;
    let status = status(app).await?;
    let in_sync = status.as_ref().is_some_and(is_in_sync);
    let mut views = Vec::new();
    for one in spaces::open_noting(app)? {
        views.extend(view(&one, session.account.space)?);
    }
    let names = device_names(&session).await;
    match &status {
        Some(_) if in_sync => {}
        Some(status) => app.out.note(format_args!(
            "this device is not in sync ({}): run `cairn status --wait` first, the words change until then",
            word(status.state)
        )),
        None => app.out.note(
            "the daemon is not running: these are the words of what it saw last; run `cairn status --wait` first",
        ),
    }
    for view in &views {
        print(app, view, &names);
    }
    match views.is_empty() {
        true => app
            .out
            .line(NO_FOLDER),
        false => app.out.line(
            "If another device in sync has other words for a space, the server shows the two different files, or one of them has changes that wait for `cairn accept`: see `cairn status` on both.",
        ),
    }
    app.out.json(&json!({
        "in_sync": in_sync,
        "spaces": views.iter().map(|view| document(view, &names)).collect::<Vec<_>>(),
    }));
    Ok(())
}

/// Returns the status of the daemon; `None` if none is running.
async fn status(app: &App) -> CommandResult<Option<Status>> {
    let Some(client) = app.running_daemon().await? else {
        return Ok(None);
    };
    Ok(Some(client.send(typed::Status {}).await?))
}

/// Returns true if nothing is left to transfer. Conflicts that are open change no words before a person resolves them.
fn is_in_sync(status: &Status) -> bool {
    match status.state {
        SyncState::Idle => true,
        SyncState::Attention => {
            status.transfers.is_empty() && status.folders.iter().all(has_conflicts_only)
        }
        SyncState::Syncing | SyncState::Paused | SyncState::Offline | SyncState::Error => false,
    }
}

/// Returns true if a folder is in sync but for conflicts.
fn has_conflicts_only(folder: &FolderStatus) -> bool {
    let mut problems = folder.problems.iter();
    match folder.state {
        SyncState::Idle => true,
        SyncState::Attention => {
            folder.conflicts > 0
                && folder.pending == 0
                && folder.confirmations.is_empty()
                && problems.all(|group| only_informs(group.code))
        }
        SyncState::Syncing | SyncState::Paused | SyncState::Offline | SyncState::Error => false,
    }
}

/// Returns true for what is never synced, on any device.
fn only_informs(code: ProblemCode) -> bool {
    matches!(code, ProblemCode::Symlink | ProblemCode::Special)
}

/// Returns the devices' names; none where the server doesn't give them.
async fn device_names(session: &Session) -> HashMap<DeviceId, String> {
    let devices = session.api.devices().await.unwrap_or_default();
    devices.into_iter().map(|one| (one.id, one.name)).collect()
}

/// Returns what this device sees of a space; `None` if no folder is in it, so that nothing is followed there.
fn view(one: &SpaceIndex, own: SpaceId) -> CommandResult<Option<View>> {
    let space = one.space.as_ref().map_or(own, |team| team.id);
    let mut nodes = SealedNodes::default();
    let seen = one.index.read(|db| {
        if db.folders()?.is_empty() {
            return Ok::<_, IndexError>(None);
        }
        let unsealed = db.visit_sealed(&mut |row| {
            nodes.add(SealedNode {
                node: row.node,
                parent: row.parent,
                name: row.name.as_str(),
                kind: row.kind,
                executable: row.executable,
                seal: row.seal.as_deref().unwrap_or_default(),
            });
        })?;
        Ok(Some((unsealed, db.last_change()?, db.other_views()?)))
    });
    let Some((unsealed, last, others)) = seen.context("read the index")? else {
        return Ok(None);
    };
    Ok(Some(View {
        space,
        team: one.space.as_ref().map(|team| team.name.clone()),
        sealed: nodes.count(),
        unsealed,
        words: block_in_place(|| nodes.words(space))?,
        last,
        others,
    }))
}

fn print(app: &App, view: &View, names: &HashMap<DeviceId, String>) {
    let what = match &view.team {
        Some(name) => format!("The team {}", clean(name)),
        None => "Your own files".to_owned(),
    };
    let sealed = count(view.sealed, "sealed item");
    app.out.line(format_args!("{what} ({sealed}):"));
    for words in view.words.chunks(6) {
        app.out.line(format_args!("    {}", words.join(" ")));
    }
    if view.unsealed > 0 {
        app.out.line(format_args!(
            "    besides {} that no device with the keys vouches for, which no words cover",
            view.unsealed
        ));
    }
    if let Some(last) = view.last {
        let by = last.device.and_then(|id| names.get(&id));
        let by = by.map_or_else(String::new, |name| format!(", by {}", clean(name)));
        app.out.line(format_args!(
            "    last change, as the service says: {}{by}",
            local_time(last.changed_ms, &app.zone)
        ));
    }
    for other in &view.others {
        let name = clean(&other.name);
        if let Some(at) = other.differs_ms {
            let at = local_time(at, &app.zone);
            app.out.line(format_args!(
                "    other files are shown to {name}, as was found at {at}"
            ));
        }
        if let Some(at) = other.same_ms {
            let at = local_time(at, &app.zone);
            app.out
                .line(format_args!("    {name} saw the same, last at {at}"));
        }
    }
}

fn document(view: &View, names: &HashMap<DeviceId, String>) -> Value {
    json!({
        "space_id": view.space,
        "team": view.team,
        "sealed": view.sealed,
        "unsealed": view.unsealed,
        "words": view.words,
        "last_change": view.last.map(|last| json!({
            "at": rfc3339(last.changed_ms),
            "device_id": last.device,
            "device": last.device.and_then(|id| names.get(&id)),
        })),
        "others": view.others.iter().map(|other| json!({
            "device_id": other.device,
            "device": other.name,
            "same_at": other.same_ms.map(rfc3339),
            "differs_since": other.differs_ms.map(rfc3339),
        })).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_control::ProblemGroup;

    fn status(state: SyncState, folder: FolderStatus) -> Status {
        let idle = FolderStatus::default();
        Status {
            state,
            folders: vec![idle, FolderStatus { state, ..folder }],
            ..Status::default()
        }
    }

    fn problem(code: ProblemCode) -> Vec<ProblemGroup> {
        vec![ProblemGroup {
            code,
            ..ProblemGroup::default()
        }]
    }

    #[test]
    fn open_conflicts_alone_leave_a_device_in_sync() {
        let conflicts = FolderStatus {
            conflicts: 2,
            problems: problem(ProblemCode::Symlink),
            ..FolderStatus::default()
        };
        assert!(is_in_sync(&status(SyncState::Attention, conflicts.clone())));
        assert!(is_in_sync(&status(
            SyncState::Idle,
            FolderStatus::default()
        )));
        for state in [SyncState::Syncing, SyncState::Offline, SyncState::Error] {
            assert!(!is_in_sync(&status(state, conflicts.clone())), "{state:?}");
        }
        for other in [
            FolderStatus {
                pending: 1,
                ..conflicts.clone()
            },
            FolderStatus {
                problems: problem(ProblemCode::KeysReplaced),
                ..conflicts
            },
            FolderStatus {
                problems: problem(ProblemCode::Unverified),
                ..FolderStatus::default()
            },
        ] {
            assert!(
                !is_in_sync(&status(SyncState::Attention, other.clone())),
                "{other:?}"
            );
        }
    }
}
