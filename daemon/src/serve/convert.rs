//! From the engine's types to those of the control protocol.

use crate::output::text::rfc3339;
use cairn_control as control;
use cairn_engine as engine;
use cairn_index::{ActivityRow, FolderRow};
use cairn_model::{FolderId, ProblemCode, Side};

pub(super) fn status(status: &engine::Status) -> control::Status {
    control::Status {
        state: status.state,
        pending: status.pending,
        folders: status.folders.iter().map(folder).collect(),
        transfers: status.transfers.iter().map(transfer).collect(),
        counters: status.counters,
        message: status.message.clone(),
        paused_until: status.paused_until.map(rfc3339),
    }
}

fn folder(folder: &engine::FolderStatus) -> control::FolderStatus {
    let waiting = [
        (Side::Local, folder.waiting_local_deletions),
        (Side::Remote, folder.waiting_remote_deletions),
    ];
    let questions: Vec<_> = waiting
        .into_iter()
        .filter(|(_, files)| *files > 0)
        .map(|(side, files)| control::Question { side, files })
        .collect();
    let mut errors: Vec<_> = folder.errors.iter().map(problem).collect();
    errors.extend(questions.iter().map(|question| held(folder, question)));
    control::FolderStatus {
        local: folder.local.clone(),
        remote: folder.remote.clone(),
        state: folder.state,
        pending: folder.pending,
        files: folder.files,
        bytes: folder.bytes,
        errors,
        mode: folder.mode,
        questions,
    }
}

pub(super) fn problem(problem: &engine::Problem) -> control::Problem {
    control::Problem {
        path: problem.path.clone(),
        code: problem.code,
        message: problem.message.clone(),
        hint: problem.hint.clone(),
    }
}

/// A question, also as a line among the problems: whoever reads only those sees it too.
fn held(folder: &engine::FolderStatus, question: &control::Question) -> control::Problem {
    let files = crate::output::text::count(question.files, "file");
    let message = match question.side {
        Side::Local => format!("{files} deleted on the service would be deleted here"),
        Side::Remote => format!("{files} deleted here would be deleted on the service"),
    };
    let hint = format!(
        "run `cairn confirm {0} delete` or `cairn confirm {0} keep`",
        folder.local
    );
    control::Problem {
        path: String::new(),
        code: ProblemCode::DeletionsHeld,
        message,
        hint,
    }
}

fn transfer(transfer: &engine::TransferStatus) -> control::Transfer {
    // Both are measurements: what a float can't say exactly doesn't matter here.
    let whole = |value: f64| {
        if value.is_finite() && value > 0.0 {
            value as u64
        } else {
            0
        }
    };
    control::Transfer {
        path: transfer.path.clone(),
        direction: transfer.direction,
        done: transfer.bytes,
        size: transfer.total,
        speed: whole(transfer.speed),
        seconds_left: transfer.time_left.map(whole),
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
            folder.questions,
            [control::Question {
                side: Side::Remote,
                files: 100
            }]
        );
        assert_eq!(folder.errors[0].code, ProblemCode::DeletionsHeld);
        assert!(
            folder.errors[0]
                .hint
                .contains("cairn confirm /home/a/Cairn keep")
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
