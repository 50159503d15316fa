//! The decision on the sync state of a path, from the facts about it.

use super::{Facts, OnDisk, PathReport};
use crate::health::PathProblem;
use crate::observe::rules::{IGNORE_FILE, OWN_FILES, RuleOrigin, UNUSABLE_RULES};
use cairn_index::Skipped;
use cairn_model::{
    PathReason, PathState, ProblemCause, ProblemCode, ProblemValues, RuleSource, SyncMode,
    TransferDirection,
};

/// Decides; the first reason that holds is the one that a person has to know.
pub(super) fn decide(facts: &Facts) -> PathReport {
    let found = report_folder_gone(facts)
        .or_else(|| report_left_out(facts))
        .or_else(|| report_skipped(facts))
        .or_else(|| in_conflict(facts))
        .or_else(|| report_failed(facts))
        .or_else(|| report_transferring(facts))
        .or_else(|| report_nothing(facts))
        .or_else(|| report_left_behind(facts))
        .or_else(|| one_way(facts))
        .or_else(|| report_waiting(facts))
        .unwrap_or_else(|| in_sync(facts));
    PathReport {
        synced_at_ms: facts.synced_at_ms,
        verified: facts.verified,
        behind: facts.behind,
        problems_below: facts.problems_below,
        ..found
    }
}

fn path_report(
    state: PathState,
    reason: PathReason,
    message: impl Into<String>,
    hint: &str,
) -> PathReport {
    PathReport {
        state,
        reason,
        message: message.into(),
        hint: hint.to_owned(),
        ..PathReport::default()
    }
}

/// Reports that the root is missing, or that the remote folder can't be had.
fn report_folder_gone(facts: &Facts) -> Option<PathReport> {
    let problem = facts.folder_problem.as_ref()?;
    let state = if problem.code == ProblemCode::FolderGone {
        PathState::Unmounted
    } else {
        PathState::Parked
    };
    Some(PathReport {
        cause: problem.cause,
        values: problem.values.clone(),
        ..path_report(
            state,
            PathReason::FolderProblem,
            format!("its folder doesn't sync: {}", problem.message),
            &problem.hint,
        )
    })
}

fn report_left_out(facts: &Facts) -> Option<PathReport> {
    if let Some(rule) = &facts.rule {
        let pattern = &rule.pattern;
        let (state, reason, message, hint) = match rule.source {
            RuleSource::BuiltIn if pattern == OWN_FILES => (
                PathState::Ignored,
                PathReason::OwnFiles,
                "it is left out: Cairn keeps files of its own there, of this device or another one"
                    .to_owned(),
                "",
            ),
            RuleSource::BuiltIn => (
                PathState::Ignored,
                PathReason::BuiltInRule,
                format!("it is ignored by the built-in rule `{pattern}`"),
                "",
            ),
            RuleSource::Exclude => (
                PathState::Unselected,
                PathReason::Excluded,
                format!("it is left out on this device by its pattern `{pattern}`"),
                "`cairn add` the folder again with other `--exclude` patterns to have it here",
            ),
            RuleSource::File => ignored_by_file(rule),
            RuleSource::Selection | RuleSource::Other => (
                PathState::Unselected,
                PathReason::NotSelected,
                "it is not among the subfolders selected for this device".to_owned(),
                "`cairn add` the folder again with `--only` for it, and for each subfolder that is selected already",
            ),
        };
        return Some(PathReport {
            rule: Some(rule.clone()),
            ..path_report(state, reason, message, hint)
        });
    }
    facts.excluded.then(|| {
        path_report(
            PathState::Unselected,
            PathReason::ExcludedBefore,
            "it was left out on this device when it came",
            "`cairn add` the folder again with other `--exclude` patterns to have it here",
        )
    })
}

/// Returns the words about a rule of a rules file.
fn ignored_by_file(rule: &RuleOrigin) -> (PathState, PathReason, String, &'static str) {
    let file = match &rule.file {
        Some(file) => file.to_string(),
        None => IGNORE_FILE.to_owned(),
    };
    if rule.pattern == UNUSABLE_RULES && rule.line.is_none() {
        return (
            PathState::Ignored,
            PathReason::RulesUnusable,
            format!("it is left out as long as the rules in {file} can't be read"),
            "see `cairn status --all` for what is wrong with that file",
        );
    }
    let line = rule
        .line
        .map(|n| format!("line {n} of "))
        .unwrap_or_default();
    (
        PathState::Ignored,
        PathReason::Rule,
        format!("it is ignored by `{}`, {line}{file}", rule.pattern),
        "change that line to have it synced",
    )
}

/// Reports that the last scan has left it, or a folder above it, out of syncing.
fn report_skipped(facts: &Facts) -> Option<PathReport> {
    let (skipped, above) = match (&facts.skipped, &facts.skipped_above) {
        (Skipped::No, Some((above, skipped))) => (*skipped, Some(above)),
        (skipped, _) => (*skipped, None),
    };
    let (state, reason, message, hint) = match skipped {
        // What is about to be looked into is new.
        Skipped::No | Skipped::Unscanned => return None,
        Skipped::Ignored => (PathState::Ignored, PathReason::Ignored, "is ignored", ""),
        Skipped::Special => (
            PathState::Special,
            PathReason::Special,
            "is a symbolic link, a device or the like, which doesn't sync",
            "",
        ),
        Skipped::Name => (
            PathState::Name,
            PathReason::NameTaken,
            "has a name that isn't possible on the other side, or that reads the same as another one there",
            "rename it",
        ),
        Skipped::Unreadable => (
            PathState::Parked,
            PathReason::Unreadable,
            "can't be read",
            "give this user the right to read it",
        ),
        Skipped::Unmounted => (
            PathState::Unmounted,
            PathReason::MountGone,
            "is on a mount that is gone, or that another one hides",
            "mount it as before; until then nothing in it is deleted anywhere. If another disk takes its place: `cairn folders accept-disk PATH`",
        ),
    };
    let subject = match above {
        Some(above) => format!("the folder {above} above it"),
        None => "it".to_owned(),
    };
    Some(PathReport {
        above: above.cloned(),
        ..path_report(state, reason, format!("{subject} {message}"), hint)
    })
}

fn in_conflict(facts: &Facts) -> Option<PathReport> {
    let conflict = facts.conflict.as_ref()?;
    let other = conflict.with.to_string();
    let (reason, message) = match (conflict.is_copy, conflict.made_here) {
        (true, Some(true)) => (
            PathReason::ConflictCopyOurs,
            format!(
                "it is this device's version of {other}, in conflict with the one of that name"
            ),
        ),
        (true, Some(false)) => (
            PathReason::ConflictCopyTheirs,
            format!(
                "it is the version of {other} that {} made, in conflict with the one of that name",
                conflict.copy_device
            ),
        ),
        (true, None) => (
            PathReason::ConflictCopy,
            format!("it is a conflict copy of {other}: both versions were kept"),
        ),
        (false, _) => (
            PathReason::Conflict,
            format!("it is in conflict with {other}: both versions were kept"),
        ),
    };
    Some(PathReport {
        conflict_with: Some(conflict.with.clone()),
        ..path_report(
            PathState::Conflict,
            reason,
            message,
            "resolve it with `cairn resolve PATH --keep copy|original|mine|theirs|both|merge`",
        )
    })
}

fn report_failed(facts: &Facts) -> Option<PathReport> {
    let PathProblem {
        problem,
        tries,
        next_try,
    } = facts.problem.as_ref()?;
    let is_link = matches!(problem.code, ProblemCode::Symlink | ProblemCode::Special);
    if is_link && (facts.synced || facts.is_root) {
        // It speaks of what lies in this folder.
        return None;
    }
    let message = match tries {
        0 => problem.message.clone(),
        1 => format!("the last try failed: {}", problem.message),
        n => format!("{n} tries failed: {}", problem.message),
    };
    Some(PathReport {
        cause: problem.cause,
        values: problem.values.clone(),
        tries: *tries,
        next_try_ms: next_try.map(|wait| i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)),
        ..path_report(
            state_of(problem.code),
            PathReason::Failed,
            message,
            &problem.hint,
        )
    })
}

fn state_of(code: ProblemCode) -> PathState {
    const STATES: [(ProblemCode, PathState); 10] = [
        (ProblemCode::Name, PathState::Name),
        (ProblemCode::NameClash, PathState::Name),
        (ProblemCode::Symlink, PathState::Special),
        (ProblemCode::Special, PathState::Special),
        (ProblemCode::FolderGone, PathState::Unmounted),
        (ProblemCode::Unverified, PathState::Unverified),
        (ProblemCode::Rollback, PathState::Unverified),
        (ProblemCode::AuthFailed, PathState::Unverified),
        (ProblemCode::OneWay, PathState::OneWay),
        (ProblemCode::Changing, PathState::Waiting),
    ];
    let known = STATES.iter().find(|(of, _)| *of == code);
    known.map_or(PathState::Parked, |(_, state)| *state)
}

fn report_transferring(facts: &Facts) -> Option<PathReport> {
    let transfer = facts.transfer.as_ref()?;
    let (reason, word) = match transfer.direction {
        TransferDirection::Up => (PathReason::Uploading, "uploaded"),
        TransferDirection::Down => (PathReason::Downloading, "downloaded"),
    };
    let message = format!(
        "it is being {word}: {} of {} bytes",
        transfer.bytes, transfer.total
    );
    Some(path_report(PathState::Waiting, reason, message, ""))
}

fn report_nothing(facts: &Facts) -> Option<PathReport> {
    let known =
        facts.is_local || facts.is_remote || facts.synced || facts.on_disk != OnDisk::Absent;
    (!known).then(|| {
        path_report(
            PathState::Missing,
            PathReason::Missing,
            "there is nothing of that name, neither here nor on the service",
            "see `cairn trash list --remote` for what was deleted",
        )
    })
}

/// Reports what was deleted elsewhere and can't go here, because something in it was never synced.
fn report_left_behind(facts: &Facts) -> Option<PathReport> {
    (facts.left_behind && facts.behind == 0).then(|| {
        path_report(
            PathState::Ignored,
            PathReason::DeletedThere,
            "it was deleted on another device, and stays here for what is in its folder and doesn't sync",
            "delete it here, too, if nothing of that is needed",
        )
    })
}

const SEND: &str = "`cairn add` the folder again with `--mode two-way` to have it sent";
const RECEIVE: &str = "`cairn add` the folder again with `--mode two-way` to have it here";
const DELETE_THERE: &str =
    "`cairn add` the folder again with `--mode two-way` to have it deleted on the service, too";
const DELETE_HERE: &str =
    "`cairn add` the folder again with `--mode two-way` to have it deleted here, too";

fn one_way(facts: &Facts) -> Option<PathReport> {
    if facts.is_root || facts.equal && facts.on_disk != OnDisk::Changed {
        return None;
    }
    let both = facts.is_local && facts.is_remote;
    let only_here = facts.is_local && !facts.is_remote;
    let only_there = facts.is_remote && !facts.is_local;
    let was_synced = facts.synced;
    let (reason, message, hint) = match facts.mode {
        SyncMode::Download
            if facts.on_disk == OnDisk::Changed
                || only_here && (!was_synced || facts.changed_here)
                || both && facts.changed_here && !facts.changed_there =>
        {
            (
                PathReason::ReceivesOnly,
                "it was changed here, and this folder only receives",
                SEND,
            )
        }
        SyncMode::Download if only_there && was_synced && !facts.changed_there => (
            PathReason::ReceivesOnlyDeleted,
            "it was deleted here, and this folder only receives",
            DELETE_THERE,
        ),
        SyncMode::Upload if only_there && (!was_synced || facts.changed_there) => (
            PathReason::SendsOnly,
            "it is on the service only, and this folder only sends",
            RECEIVE,
        ),
        SyncMode::Upload if both && facts.changed_there => (
            PathReason::SendsOnlyChanged,
            "it was changed on the service, and this folder only sends",
            RECEIVE,
        ),
        SyncMode::Upload if only_here && was_synced && !facts.changed_here => (
            PathReason::SendsOnlyDeleted,
            "it was deleted on the service, and this folder only sends",
            DELETE_HERE,
        ),
        SyncMode::TwoWay | SyncMode::Upload | SyncMode::Download => return None,
    };
    Some(path_report(PathState::OneWay, reason, message, hint))
}

fn waiting_for_server(message: &str) -> PathReport {
    PathReport {
        cause: ProblemCause::Offline,
        values: ProblemValues::of_detail(message),
        ..path_report(
            PathState::Waiting,
            PathReason::Offline,
            format!("it waits: {message}"),
            "syncing resumes by itself when the server can be reached again",
        )
    }
}

fn report_waiting(facts: &Facts) -> Option<PathReport> {
    if facts.equal && facts.on_disk == OnDisk::AsKnown {
        return None;
    }
    let wait = |reason, message: String, hint| {
        Some(path_report(PathState::Waiting, reason, message, hint))
    };
    if facts.paused {
        return wait(
            PathReason::Paused,
            "it waits: syncing is paused".to_owned(),
            "run `cairn resume`",
        );
    }
    if let Some(message) = &facts.offline {
        return Some(waiting_for_server(message));
    }
    if facts.deletion_waits {
        return wait(
            PathReason::DeletionHeld,
            "its deletion waits for a person".to_owned(),
            "see `cairn status` for the deletions, and decide with `cairn confirm`",
        );
    }
    if facts.overwrite_waits {
        return wait(
            PathReason::OverwriteHeld,
            "it looks encrypted, as many others do, and waits for a person before it takes the place of the service's version"
                .to_owned(),
            "if you did this run `cairn confirm FOLDER overwrite`, else `cairn confirm FOLDER keep`",
        );
    }
    let (reason, what) = match (facts.on_disk, facts.is_local, facts.is_remote) {
        (OnDisk::Changed, _, _) => (PathReason::Unread, "a change here was not read yet"),
        (OnDisk::Absent, true, _) => (
            PathReason::UnreadDeletion,
            "its deletion here was not read yet",
        ),
        (_, true, true) => (PathReason::Differs, "the two sides differ"),
        (_, true, false) => (PathReason::OnlyHere, "it is here only so far"),
        (_, false, _) => (PathReason::OnlyThere, "it is on the service only so far"),
    };
    match facts.behind {
        0 => wait(reason, format!("it waits: {what}"), ""),
        1 => wait(
            reason,
            format!("it waits, {what}; 1 change of its folder is to be done"),
            "",
        ),
        n => wait(
            reason,
            format!("it waits, {what}; {n} changes of its folder are to be done"),
            "",
        ),
    }
}

fn in_sync(facts: &Facts) -> PathReport {
    let (reason, message) = match facts.verified {
        Some(false) => (
            PathReason::SyncedUnverified,
            "it is in sync; its state on the service was last changed without your keys, or with keys that were replaced",
        ),
        Some(true) | None => (PathReason::Synced, "it is in sync"),
    };
    path_report(PathState::Synced, reason, message, "")
}
