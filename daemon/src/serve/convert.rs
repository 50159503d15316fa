//! Converts the engine's types to those of the control protocol.

use crate::output::text::{count, rfc3339, shell_word, size};
use cairn_control as control;
use cairn_engine as engine;
use cairn_index::{ActivityRow, FolderRow};
use cairn_model::{
    ConfirmationKind, FolderId, Problem, ProblemCause, ProblemCode, ProblemValues, RunningSteps,
    Side,
};

pub(super) fn status(status: &engine::Status) -> control::Status {
    let folders: Vec<_> = status.folders.iter().map(folder).collect();
    let mut steps = RunningSteps::default();
    for folder in &status.folders {
        steps.add(folder.steps);
    }
    control::Status {
        state: status.state,
        pending: status.pending,
        open_conflicts: folders.iter().map(|folder| folder.conflicts).sum(),
        steps,
        folders,
        transfers: status.transfers.iter().map(transfer).collect(),
        progress: status.progress.as_ref().map(progress),
        counters: status.counters,
        message: status.message.clone(),
        paused_until: status.paused_until.map(rfc3339),
        limits: None,
    }
}

fn folder(folder: &engine::FolderStatus) -> control::FolderStatus {
    let waiting = [
        (
            Side::Local,
            folder.waiting_local_deletions,
            ConfirmationKind::Deletion,
        ),
        (
            Side::Remote,
            folder.waiting_remote_deletions,
            ConfirmationKind::Deletion,
        ),
        (
            Side::Remote,
            folder.waiting_overwrites,
            ConfirmationKind::Overwriting,
        ),
    ];
    let confirmations: Vec<_> = waiting
        .into_iter()
        .filter(|(_, files, _)| *files > 0)
        .map(|(side, files, kind)| control::Confirmation { side, files, kind })
        .collect();
    let mut errors = folder.errors.clone();
    let mut problems: Vec<_> = folder.problems.iter().map(|g| group(g, folder)).collect();
    for confirmation in &confirmations {
        let held = confirmation_problem(folder, confirmation);
        problems.push(group_of_one(&held));
        errors.push(held);
    }
    control::FolderStatus {
        local: folder.local.clone(),
        remote: folder.remote.clone(),
        state: folder.state,
        pending: folder.pending,
        files: folder.files,
        bytes: folder.bytes,
        errors,
        problems,
        conflicts: folder.conflicts,
        mode: folder.mode,
        confirmations,
        space: None,
    }
}

fn group(group: &engine::ProblemGroup, folder: &engine::FolderStatus) -> control::ProblemGroup {
    let examples = group.examples.iter().take(control::ProblemGroup::EXAMPLES);
    control::ProblemGroup {
        code: group.code,
        count: group.count,
        bytes: group.bytes,
        message: summary(group, folder),
        hint: group.hint.clone(),
        examples: examples.map(|problem| problem.path.clone()).collect(),
        cause: group.cause,
        values: values(group, folder),
    }
}

/// The values of the first problem, with those of the folder that its cause is about.
fn values(group: &engine::ProblemGroup, folder: &engine::FolderStatus) -> ProblemValues {
    let first = group.examples.first();
    let free = folder.free.filter(|_| group.code == ProblemCode::DiskFull);
    ProblemValues {
        free,
        ..first.map(|first| first.values.clone()).unwrap_or_default()
    }
}

/// All problems of a group in one sentence.
fn summary(group: &engine::ProblemGroup, folder: &engine::FolderStatus) -> String {
    if group.code == ProblemCode::DiskFull {
        return full_disk(group, folder);
    }
    let first = group.examples.first().map_or("", |first| &first.message);
    match group.count {
        1 => first.to_owned(),
        more => format!("{}, such as: {first}", count(more, "problem")),
    }
}

/// The disk, the room that its files need and that is free there, and how much a person has to make.
fn full_disk(group: &engine::ProblemGroup, folder: &engine::FolderStatus) -> String {
    let files = count(group.count, "file");
    let (wait, need) = match group.count {
        1 => ("waits", "needs"),
        _ => ("wait", "need"),
    };
    let mut text = format!("the disk of {} is full: {files} {wait}", folder.local);
    if group.bytes > 0 {
        text.push_str(&format!(", and {need} {} there", size(group.bytes)));
    }
    let Some(free) = folder.free else {
        let first = group.examples.first();
        if let Some(detail) = first.and_then(|first| first.values.detail.as_deref()) {
            text.push_str(&format!("; {detail}"));
        }
        return text;
    };
    text.push_str(&format!("; {} free on it", size(free)));
    let missing = group.bytes.saturating_sub(free);
    if missing > 0 {
        text.push_str(&format!(": make room for {} more", size(missing)));
    }
    text
}

fn group_of_one(problem: &Problem) -> control::ProblemGroup {
    control::ProblemGroup {
        code: problem.code,
        count: 1,
        bytes: 0,
        message: problem.message.clone(),
        hint: problem.hint.clone(),
        examples: Vec::new(),
        cause: problem.cause,
        values: problem.values.clone(),
    }
}

fn progress(progress: &engine::OverallProgress) -> control::OverallProgress {
    control::OverallProgress {
        files_done: progress.files_done,
        files_total: progress.files_total,
        bytes_done: progress.bytes_done,
        bytes_total: progress.bytes_total,
        // Not 100 before the end.
        percent: (progress.fraction * 100.0).clamp(0.0, 99.0) as u8,
        speed: round(progress.speed),
        seconds_left: progress.time_left.map(round),
    }
}

/// Rounds a measurement to a whole number: its fractions don't matter here.
fn round(value: f64) -> u64 {
    if value.is_finite() && value > 0.0 {
        value as u64
    } else {
        0
    }
}

/// A confirmation, also as a line among the problems: it is also seen by those who read only these.
fn confirmation_problem(
    folder: &engine::FolderStatus,
    confirmation: &control::Confirmation,
) -> Problem {
    let files = count(confirmation.files, "file");
    let (cause, message) = match (confirmation.kind, confirmation.side) {
        (ConfirmationKind::Deletion, Side::Local) => (
            ProblemCause::DeletionsHeld,
            format!("{files} deleted on the service would be deleted here"),
        ),
        (ConfirmationKind::Deletion, Side::Remote) => (
            ProblemCause::DeletionsHeld,
            format!("{files} deleted here would be deleted on the service"),
        ),
        (ConfirmationKind::Overwriting, Side::Local | Side::Remote) => (
            ProblemCause::OverwritesHeld,
            format!(
                "{files} here suddenly look encrypted, and the service's versions are not overwritten with them"
            ),
        ),
    };
    let dir = shell_word(&folder.local);
    let hint = match confirmation.kind {
        ConfirmationKind::Deletion => {
            format!("run `cairn confirm {dir} delete` or `cairn confirm {dir} keep`")
        }
        ConfirmationKind::Overwriting => format!(
            "if you did this run `cairn confirm {dir} overwrite`; if not, find the program that did it, and run `cairn confirm {dir} keep`"
        ),
    };
    Problem::new("", cause, message, hint)
}

fn transfer(transfer: &engine::TransferStatus) -> control::Transfer {
    control::Transfer {
        path: transfer.path.clone(),
        direction: transfer.direction,
        done: transfer.bytes,
        size: transfer.total,
        speed: round(transfer.speed),
        seconds_left: transfer.time_left.map(round),
    }
}

pub(super) fn activity(row: &ActivityRow, folders: &[FolderRow]) -> control::Activity {
    control::Activity {
        at: rfc3339(row.at_ms),
        kind: row.kind,
        path: row.path.clone(),
        folder: row.folder.and_then(|id| root(folders, id)),
        device: row.device.clone(),
        bytes: row.bytes,
    }
}

/// Returns the time of a conflict; empty for the copy of a folder that an older Cairn recorded without one.
pub(super) fn conflict_time(at_ms: i64) -> String {
    if at_ms == 0 {
        return String::new();
    }
    rfc3339(at_ms)
}

pub(super) fn root(folders: &[FolderRow], id: FolderId) -> Option<String> {
    folders
        .iter()
        .find(|row| row.id == id)
        .map(|row| row.root.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::{SyncState, TransferDirection};

    #[test]
    fn held_deletions_are_a_question_and_a_problem() {
        let folder = engine::FolderStatus {
            local: "/home/a/Cairn".into(),
            state: SyncState::Attention,
            waiting_remote_deletions: 100,
            ..Default::default()
        };
        let status = status(&engine::Status {
            folders: vec![folder],
            ..Default::default()
        });
        let folder = &status.folders[0];
        assert_eq!(
            folder.confirmations,
            [control::Confirmation {
                side: Side::Remote,
                files: 100,
                kind: ConfirmationKind::Deletion,
            }]
        );
        assert_eq!(folder.errors[0].code, ProblemCode::DeletionsHeld);
        assert!(
            folder.errors[0]
                .hint
                .contains("cairn confirm /home/a/Cairn keep")
        );
        let spaced = engine::FolderStatus {
            local: "/home/a/My Files".into(),
            ..Default::default()
        };
        let held = confirmation_problem(&spaced, &folder.confirmations[0]);
        assert!(
            held.hint
                .contains("`cairn confirm '/home/a/My Files' keep`")
        );
    }

    #[test]
    fn held_overwriting_is_a_question_with_its_own_answers() {
        let folder = engine::FolderStatus {
            local: "/home/a/Cairn".into(),
            state: SyncState::Attention,
            waiting_overwrites: 40,
            ..Default::default()
        };
        let status = status(&engine::Status {
            folders: vec![folder],
            ..Default::default()
        });
        let folder = &status.folders[0];
        let asked = &folder.confirmations[0];
        assert_eq!(
            (asked.kind, asked.side, asked.files),
            (ConfirmationKind::Overwriting, Side::Remote, 40)
        );
        let problem = &folder.errors[0];
        assert_eq!(problem.code, ProblemCode::OverwritesHeld);
        assert!(problem.message.starts_with("40 files here"));
        for answer in ["overwrite", "keep"] {
            let command = format!("`cairn confirm /home/a/Cairn {answer}`");
            assert!(problem.hint.contains(&command), "{}", problem.hint);
        }
    }

    #[test]
    fn a_conflict_without_a_time_is_not_from_1970() {
        assert_eq!(conflict_time(0), "");
        assert_eq!(conflict_time(86_400_000), "1970-01-02T00:00:00.000Z");
    }

    #[test]
    fn a_full_disk_is_one_sentence_with_the_files_that_wait_and_the_room() {
        let problem = Problem {
            path: "a".into(),
            code: ProblemCode::DiskFull,
            message: "there is no room for it on this disk".into(),
            hint: "free some space".into(),
            cause: ProblemCause::DiskFull,
            ..Problem::default()
        };
        let folder = engine::FolderStatus {
            local: "/home/a/Cairn".into(),
            state: SyncState::Attention,
            errors: vec![problem.clone(); 20],
            problems: vec![engine::ProblemGroup {
                code: ProblemCode::DiskFull,
                cause: ProblemCause::DiskFull,
                hint: "free some space".into(),
                count: 14_881,
                bytes: 602 << 20,
                examples: vec![problem; 20],
            }],
            free: Some(12 << 20),
            conflicts: 2,
            ..Default::default()
        };
        let status = status(&engine::Status {
            folders: vec![folder],
            ..Default::default()
        });
        let group = &status.folders[0].problems[0];
        assert_eq!(
            group.message,
            "the disk of /home/a/Cairn is full: 14,881 files wait, and need 602 MiB there; 12 MiB free on it: make room for 590 MiB more"
        );
        assert_eq!((group.count, group.bytes), (14_881, 602 << 20));
        assert_eq!(group.cause, ProblemCause::DiskFull);
        assert_eq!(group.values.free, Some(12 << 20));
        assert_eq!(group.examples.len(), control::ProblemGroup::EXAMPLES);
        assert_eq!(status.folders[0].errors.len(), 20);
        assert_eq!(status.open_conflicts, 2);
    }

    #[test]
    fn a_disk_without_room_for_more_files_does_not_ask_for_bytes() {
        let detail = "it has no room for more files, however small they are";
        let problem = Problem {
            code: ProblemCode::DiskFull,
            values: ProblemValues::of_detail(detail.to_owned()),
            ..Problem::default()
        };
        let group = engine::ProblemGroup {
            code: ProblemCode::DiskFull,
            cause: ProblemCause::DiskFull,
            hint: String::new(),
            count: 131,
            bytes: 0,
            examples: vec![problem],
        };
        let folder = engine::FolderStatus {
            local: "/home/a/Cairn".into(),
            ..Default::default()
        };
        assert_eq!(
            summary(&group, &folder),
            format!("the disk of /home/a/Cairn is full: 131 files wait; {detail}")
        );
    }

    #[test]
    fn a_transfer_without_speed_has_no_time_left() {
        let engine = engine::TransferStatus {
            path: "f".into(),
            direction: TransferDirection::Down,
            bytes: 0,
            total: 9,
            speed: f64::NAN,
            time_left: None,
        };
        let control = transfer(&engine);
        assert_eq!(
            (control.speed, control.seconds_left, control.direction),
            (0, None, TransferDirection::Down)
        );
    }
}
