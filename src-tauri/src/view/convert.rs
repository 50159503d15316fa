//! Conversion of control messages to view models.

#[cfg(test)]
mod tests;

use super::{
    ActivityView, ConfirmationView, ConflictView, ConnectionState, FolderView, ProblemView,
    SyncProgress, TeamView, TransferView, View,
};
use crate::strings::Language;
use cairn_control as control;
use cairn_model::{ProblemCode, RunningSteps, SyncState, TransferDirection};

/// Problems that are no work for a person: what is to be confirmed is shown as a question, the others only inform.
const INFORMATIONAL: [ProblemCode; 5] = [
    ProblemCode::DeletionsHeld,
    ProblemCode::OverwritesHeld,
    ProblemCode::Symlink,
    ProblemCode::Special,
    ProblemCode::Changing,
];
/// The most transfers that are listed: a burst of small files has more, of short duration.
const MAX_TRANSFERS: usize = 50;

/// Everything that is known of the daemon at one moment.
#[derive(Clone, Debug, Default)]
pub struct Model {
    pub connection: ConnectionState,
    pub last_error: Option<String>,
    pub status: control::Status,
    pub conflicts: Vec<ConflictView>,
}

/// Builds the view of a model, in a language.
#[must_use]
pub fn build(model: &Model, language: Language) -> View {
    let status = &model.status;
    let up = model.connection == ConnectionState::Up;
    let mut view = View {
        connection: model.connection,
        last_error: model.last_error.clone().or_else(|| status.message.clone()),
        ..View::default()
    };
    if up {
        view.state = status.state;
        view.paused_until.clone_from(&status.paused_until);
        view.pending = status.pending;
        view.progress = status.progress.as_ref().map(progress);
        view.speed = status.progress.map_or(0, |progress| progress.speed);
        view.folders = status.folders.iter().map(folder_status).collect();
        view.transfers = status
            .transfers
            .iter()
            .take(MAX_TRANSFERS)
            .map(transfer)
            .collect();
        view.conflicts.clone_from(&model.conflicts);
        let of_folders: u64 = view.folders.iter().map(attention).sum();
        view.attention = of_folders + view.conflicts.len() as u64;
        // For the daemon a conflict is done: both versions are kept. A person still has to choose.
        if view.state == SyncState::Idle && view.attention > 0 {
            view.state = SyncState::Attention;
        }
    } else {
        view.state = match model.connection {
            ConnectionState::Down => SyncState::Error,
            ConnectionState::LoggedOut => SyncState::Attention,
            ConnectionState::Starting | ConnectionState::Up => SyncState::Offline,
        };
    }
    view.headline = headline(&view, &status.steps, language);
    view
}

/// Returns how many things of a folder need a person.
fn attention(folder: &FolderView) -> u64 {
    (folder.problems.len() + folder.confirmations.len()) as u64
}

fn headline(view: &View, steps: &RunningSteps, language: Language) -> String {
    let text = |key: &str| language.text(key, &[]);
    match (view.connection, view.state) {
        (ConnectionState::Starting, _) => return text("headline.starting"),
        (ConnectionState::Down, _) => return text("headline.down"),
        (ConnectionState::LoggedOut, _) => return text("headline.logged_out"),
        (ConnectionState::Up, _) => {}
    }
    match view.state {
        SyncState::Idle if view.folders.is_empty() => text("headline.no_folders"),
        SyncState::Idle => text("headline.idle"),
        SyncState::Syncing => syncing_text(view, steps, language),
        SyncState::Paused => with_attention(text("headline.paused"), view, language),
        SyncState::Offline => with_attention(text("headline.offline"), view, language),
        SyncState::Attention => language.count("headline.attention", view.attention.max(1)),
        SyncState::Error => with_attention(text("headline.error"), view, language),
    }
}

/// Adds to a headline how many things wait for a decision.
fn with_attention(headline: String, view: &View, language: Language) -> String {
    let confirmations = view.folders.iter().map(|folder| folder.confirmations.len());
    match confirmations.sum::<usize>() + view.conflicts.len() {
        0 => headline,
        waiting => {
            let waiting = language.count("headline.attention", waiting as u64);
            format!("{headline} · {waiting}")
        }
    }
}

fn syncing_text(view: &View, steps: &RunningSteps, language: Language) -> String {
    let mut parts = vec![match view.progress {
        Some(SyncProgress { done, total, .. }) => language.text(
            "headline.syncing_progress",
            &[
                ("done", &language.number(done)),
                ("total", &language.number(total)),
            ],
        ),
        None => language.text("headline.syncing", &[]),
    }];
    let steps = [
        ("headline.deletions", steps.deletions),
        ("headline.moves", steps.moves),
        ("headline.new_folders", steps.new_folders),
    ];
    let running = steps.into_iter().filter(|(_, number)| *number > 0);
    parts.extend(running.map(|(key, number)| language.count(key, number)));
    if view.speed > 0 {
        parts.push(format!("{}/s", language.size(view.speed)));
    }
    if let Some(left) = view.progress.and_then(|progress| progress.seconds_left) {
        parts.push(language.text("headline.left", &[("time", &language.span(left))]));
    }
    parts.join(" · ")
}

/// Converts a folder pair for its form.
#[must_use]
pub fn folder(folder: &control::Folder) -> crate::commands::FolderChoices {
    crate::commands::FolderChoices {
        local: folder.local.clone(),
        remote: folder.remote.clone(),
        team: folder.space.as_ref().map(team),
        private: false,
        mode: folder.mode,
        only: folder.only.clone(),
        exclude: folder.exclude.clone(),
        gate: folder.gate.map(|gate| crate::commands::GateView {
            percent: gate.percent,
            files: gate.files,
            most: gate.most,
        }),
    }
}

fn folder_status(folder: &control::FolderStatus) -> FolderView {
    let problems = folder.problems.iter();
    let problems = problems.filter(|group| !INFORMATIONAL.contains(&group.code));
    FolderView {
        local: folder.local.clone(),
        name: last_part(&folder.local),
        remote: folder.remote.clone(),
        team: folder.space.as_ref().map(team),
        state: folder.state,
        mode: folder.mode,
        pending: folder.pending,
        files: folder.files,
        bytes: folder.bytes,
        problems: problems.map(problem).collect(),
        confirmations: folder
            .confirmations
            .iter()
            .map(|confirmation| ConfirmationView {
                kind: confirmation.kind,
                side: confirmation.side,
                files: confirmation.files,
            })
            .collect(),
    }
}

fn team(space: &control::TeamSpace) -> TeamView {
    TeamView {
        id: space.team.to_string(),
        name: space.name.clone(),
    }
}

fn last_part(path: &str) -> String {
    path.trim_end_matches(['/', '\\'])
        .rsplit(['/', '\\'])
        .next()
        .filter(|name| !name.is_empty())
        .unwrap_or(path)
        .to_owned()
}

fn problem(group: &control::ProblemGroup) -> ProblemView {
    let examples = group.examples.iter();
    ProblemView {
        code: group.code,
        count: group.count,
        cause: group.cause,
        values: group.values.clone(),
        bytes: group.bytes,
        message: group.message.clone(),
        hint: group.hint.clone(),
        examples: examples.filter(|path| !path.is_empty()).cloned().collect(),
    }
}

fn progress(progress: &control::OverallProgress) -> SyncProgress {
    SyncProgress {
        done: progress.files_done,
        total: progress.files_total,
        bytes_done: progress.bytes_done,
        bytes_total: progress.bytes_total,
        percent: progress.percent,
        seconds_left: progress.seconds_left,
    }
}

fn transfer(transfer: &control::Transfer) -> TransferView {
    TransferView {
        path: transfer.path.clone(),
        up: transfer.direction == TransferDirection::Up,
        done: transfer.done,
        size: transfer.size,
        speed: transfer.speed,
        seconds_left: transfer.seconds_left,
    }
}

/// Converts one activity.
#[must_use]
pub fn activity(activity: &control::Activity) -> ActivityView {
    ActivityView {
        at: activity.at.clone(),
        kind: activity.kind,
        path: activity.path.clone(),
        folder: activity.folder.clone(),
        device: activity.device.clone(),
        bytes: activity.bytes,
    }
}

/// Converts one conflict.
#[must_use]
pub fn conflict(conflict: &control::Conflict) -> ConflictView {
    ConflictView {
        folder: conflict.folder.clone(),
        path: conflict.path.clone(),
        copy: conflict.copy.clone(),
        kind: conflict.kind,
        device: conflict.device.clone(),
        copy_device: conflict.copy_device.clone(),
        copy_made_here: conflict.copy_made_here,
        at: conflict.at.clone(),
    }
}
