//! The status as lines of text.

use crate::output::text::{clean, count, local_rfc3339, number, size, span};
use crate::output::{Out, Style};
use cairn_control::{Decisions, FolderStatus, OverallProgress, ProblemGroup, Status, Transfer};
use cairn_model::{Problem, ProblemCode, RunningSteps, SyncState, TransferDirection};
use cairn_platform::Zone;

/// A state in one word.
pub(super) fn word(state: SyncState) -> &'static str {
    match state {
        SyncState::Idle => "up to date",
        SyncState::Syncing => "syncing",
        SyncState::Paused => "paused",
        SyncState::Offline => "offline",
        SyncState::Attention => "needs attention",
        SyncState::Error => "error",
    }
}

fn style(state: SyncState) -> Style {
    match state {
        SyncState::Idle => Style::Good,
        SyncState::Syncing => Style::Bold,
        SyncState::Paused | SyncState::Offline => Style::Dim,
        SyncState::Attention => Style::Warning,
        SyncState::Error => Style::Bad,
    }
}

/// The line for a person who has no folder yet.
pub(super) const NO_FOLDER: &str = "No folder is synced yet: add one with `cairn add FOLDER`.";

/// The number of problems that are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Detail {
    /// A few of each cause, and the number of the others.
    Examples,
    All,
}

/// The whole status, line by line.
pub(super) fn lines(out: &Out, zone: &Zone, status: &Status, detail: Detail) -> Vec<String> {
    let mut lines = vec![headline(out, zone, status)];
    lines.extend(status.progress.as_ref().map(progress_line));
    lines.extend(
        status
            .folders
            .iter()
            .flat_map(|folder| folder_lines(out, folder, detail)),
    );
    lines.extend(status.transfers.iter().map(transfer_line));
    if status.folders.is_empty() {
        lines.push(NO_FOLDER.to_owned());
    }
    lines
}

/// Returns the state in one line.
pub(super) fn headline(out: &Out, zone: &Zone, status: &Status) -> String {
    let mut line = out.paint(style(status.state), word(status.state));
    if let Some(until) = &status.paused_until {
        line.push_str(&format!(" until {}", local_rfc3339(until, zone)));
    }
    for decision in decisions(&status.decisions()) {
        line.push_str(&format!(", {decision}"));
    }
    if status.open_conflicts > 0 {
        let conflicts = count(status.open_conflicts, "conflict");
        line.push_str(&format!(", {conflicts} to resolve (see `cairn conflicts`)"));
    }
    if status.pending > 0 {
        line.push_str(&format!(", {} to do", count(status.pending, "change")));
    }
    let running = steps_text(&status.steps);
    if !running.is_empty() {
        line.push_str(&format!(", just now {}", running.join(", ")));
    }
    if let Some(message) = &status.message {
        line.push_str(&format!(": {}", clean(message)));
    }
    line
}

/// The decisions that wait for a person, each kind in a few words.
fn decisions(decisions: &Decisions) -> Vec<String> {
    let deletions = count(decisions.deletions, "deletion");
    let files = count(decisions.overwrites, "file");
    let changes = count(decisions.unverified, "unverified change");
    let all = [
        (decisions.deletions, format!("{deletions} to confirm")),
        (
            decisions.overwrites,
            format!("overwriting of {files} to confirm"),
        ),
        (decisions.unverified, format!("{changes} to accept")),
        (
            decisions.keys,
            format!("{} to accept", count(decisions.keys, "key")),
        ),
    ];
    let waiting = all.into_iter().filter(|(number, _)| *number > 0);
    waiting.map(|(_, words)| words).collect()
}

/// The steps besides transfers that are carried out just now, each kind in a few words.
fn steps_text(steps: &RunningSteps) -> Vec<String> {
    let all = [
        (steps.deletions, "deletion"),
        (steps.moves, "move"),
        (steps.new_folders, "new folder"),
    ];
    let running = all.into_iter().filter(|(number, _)| *number > 0);
    running.map(|(number, what)| count(number, what)).collect()
}

/// All transfers in one line.
pub(super) fn progress_line(progress: &OverallProgress) -> String {
    let mut line = format!(
        "  {} %: {} of {}, {} of {}",
        progress.percent,
        number(progress.files_done),
        count(progress.files_total, "file"),
        size(progress.bytes_done),
        size(progress.bytes_total)
    );
    if progress.speed > 0 {
        line.push_str(&format!(", {}/s", size(progress.speed)));
    }
    if let Some(left) = progress.seconds_left {
        line.push_str(&format!(", {} left", span(left)));
    }
    line
}

/// Returns the words for the team's space that a folder is in; empty for the account's own.
fn of_team(folder: &FolderStatus) -> String {
    let team = folder.space.as_ref();
    team.map_or_else(String::new, |team| {
        format!(" of the team {}", clean(&team.name))
    })
}

fn folder_lines(out: &Out, folder: &FolderStatus, detail: Detail) -> Vec<String> {
    let mut head = format!(
        "  {} ⇄ {}{}: {}, {}, {}",
        clean(&folder.local),
        clean(&folder.remote),
        of_team(folder),
        out.paint(style(folder.state), word(folder.state)),
        count(folder.files, "file"),
        size(folder.bytes)
    );
    if folder.pending > 0 {
        head.push_str(&format!(", {} to do", count(folder.pending, "change")));
    }
    if folder.conflicts > 0 {
        head.push_str(&format!(", {}", count(folder.conflicts, "conflict")));
    }
    let mut lines = vec![head];
    for (at, group) in folder.problems.iter().enumerate() {
        let is_alike = |other: &&ProblemGroup| is_alike(other, group);
        if !folder.problems[..at].iter().any(|other| is_alike(&other)) {
            let alike = folder.problems.iter().filter(is_alike);
            let number = alike.map(|group| group.count).sum();
            lines.extend(problem_lines(out, folder, (group, number), detail));
        }
    }
    lines
}

/// Returns whether two groups are shown together: their problems are of one kind, with the same advice. There is a
/// question for each side with the same answers, for example.
fn is_alike(one: &ProblemGroup, other: &ProblemGroup) -> bool {
    (one.code, &one.hint) == (other.code, &other.hint)
}

fn problem_lines(
    out: &Out,
    folder: &FolderStatus,
    (group, number): (&ProblemGroup, u64),
    detail: Detail,
) -> Vec<String> {
    let mut listed: Vec<&Problem> = folder
        .errors
        .iter()
        .filter(|problem| problem.code == group.code && problem.hint == group.hint)
        .collect();
    if detail == Detail::Examples {
        listed.truncate(ProblemGroup::EXAMPLES);
    }
    // Of a full disk the figures are the message, and the files are only named.
    let is_sum = group.code == ProblemCode::DiskFull;
    let mut lines = Vec::new();
    if is_sum {
        let message = out.paint(Style::Warning, clean(&group.message));
        lines.push(format!("    {message}"));
    }
    for problem in &listed {
        let message = out.paint(Style::Warning, clean(&problem.message));
        lines.push(match (problem.path.as_str(), is_sum) {
            ("", _) => format!("    {message}"),
            (path, true) => format!("      {}", clean(path)),
            (path, false) => format!("    {}: {message}", clean(path)),
        });
    }
    let rest = number.saturating_sub(listed.len() as u64);
    if rest > 0 {
        lines.push(format!(
            "    … and {} of the same kind: see `cairn status --all`",
            count(rest, "more problem")
        ));
    }
    lines.push(format!("      → {}", clean(&group.hint)));
    lines
}

fn transfer_line(transfer: &Transfer) -> String {
    let arrow = match transfer.direction {
        TransferDirection::Up => "↑",
        TransferDirection::Down => "↓",
    };
    let left = transfer
        .seconds_left
        .map(|s| format!(", {} left", span(s)))
        .unwrap_or_default();
    format!(
        "  {arrow} {}  {} of {}, {}/s{left}",
        clean(&transfer.path),
        size(transfer.done),
        size(transfer.size),
        size(transfer.speed)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_control::Confirmation;
    use cairn_model::{ConfirmationKind, Side};

    fn problem(path: &str, code: ProblemCode) -> Problem {
        Problem {
            path: path.into(),
            code,
            message: "it can't be done".into(),
            hint: "do this".into(),
            ..Problem::default()
        }
    }

    fn group(code: ProblemCode, count: u64, message: &str) -> ProblemGroup {
        ProblemGroup {
            code,
            count,
            message: message.into(),
            hint: "do this".into(),
            ..ProblemGroup::default()
        }
    }

    #[test]
    fn a_status_says_what_is_wrong_and_what_to_do() {
        let status = Status {
            state: SyncState::Attention,
            pending: 27_138,
            open_conflicts: 1,
            folders: vec![FolderStatus {
                local: "/home/a/Cairn".into(),
                remote: "/".into(),
                state: SyncState::Attention,
                files: 2_000,
                bytes: 2048,
                errors: vec![problem("a\n", ProblemCode::Unreadable)],
                problems: vec![group(ProblemCode::Unreadable, 1, "it can't be done")],
                conflicts: 1,
                ..Default::default()
            }],
            transfers: vec![Transfer {
                path: "big".into(),
                direction: TransferDirection::Down,
                done: 1024,
                size: 4096,
                speed: 1024,
                seconds_left: Some(3),
            }],
            progress: Some(OverallProgress {
                files_done: 1_234,
                files_total: 27_138,
                bytes_done: 12 << 20,
                bytes_total: 602 << 20,
                percent: 4,
                speed: 3 << 20,
                seconds_left: Some(197),
            }),
            ..Default::default()
        };
        let plain = Out::new(true);
        assert_eq!(
            lines(&plain, &Zone::utc(), &status, Detail::Examples),
            [
                "needs attention, 1 conflict to resolve (see `cairn conflicts`), 27,138 changes to do",
                "  4 %: 1,234 of 27,138 files, 12 MiB of 602 MiB, 3.0 MiB/s, 3 min left",
                "  /home/a/Cairn ⇄ /: needs attention, 2,000 files, 2.0 KiB, 1 conflict",
                "    a\u{fffd}: it can't be done",
                "      → do this",
                "  ↓ big  1.0 KiB of 4.0 KiB, 1.0 KiB/s, 3 s left",
            ]
        );
    }

    #[test]
    fn a_pause_ends_at_a_local_time() {
        let status = Status {
            state: SyncState::Paused,
            paused_until: Some("2026-11-22T00:46:46.028Z".into()),
            ..Default::default()
        };
        let zone = Zone::from_rule("CET-1").unwrap();
        assert_eq!(
            headline(&Out::new(true), &zone, &status),
            "paused until 2026-11-22 01:46"
        );
    }

    #[test]
    fn what_waits_for_a_person_and_what_is_done_now_is_in_the_headline() {
        let waiting = |kind, files| Confirmation {
            side: Side::Remote,
            files,
            kind,
        };
        let mut status = Status {
            state: SyncState::Paused,
            pending: 12,
            folders: vec![FolderStatus {
                confirmations: vec![
                    waiting(ConfirmationKind::Deletion, 1_200),
                    waiting(ConfirmationKind::Overwriting, 1),
                ],
                problems: vec![
                    group(ProblemCode::DeletionsHeld, 1, ""),
                    group(ProblemCode::Unverified, 2, ""),
                    group(ProblemCode::KeyToAccept, 1, ""),
                ],
                ..Default::default()
            }],
            ..Default::default()
        };
        let shown = |status: &Status| headline(&Out::new(true), &Zone::utc(), status);
        assert_eq!(
            shown(&status),
            "paused, 1,200 deletions to confirm, overwriting of 1 file to confirm, 2 unverified changes to accept, 1 key to accept, 12 changes to do"
        );
        status.state = SyncState::Syncing;
        status.folders.clear();
        status.steps = RunningSteps {
            deletions: 500,
            moves: 1,
            new_folders: 0,
        };
        assert_eq!(
            shown(&status),
            "syncing, 12 changes to do, just now 500 deletions, 1 move"
        );
    }

    #[test]
    fn a_question_for_each_side_is_shown_once() {
        let held = |message: &str| Problem {
            message: message.into(),
            ..problem("", ProblemCode::DeletionsHeld)
        };
        let (here, there) = ("3 files would go here", "4 files would go there");
        let folder = FolderStatus {
            local: "/f".into(),
            remote: "/".into(),
            state: SyncState::Attention,
            errors: vec![held(here), held(there)],
            problems: vec![
                group(ProblemCode::DeletionsHeld, 1, here),
                group(ProblemCode::DeletionsHeld, 1, there),
            ],
            ..Default::default()
        };
        assert_eq!(
            folder_lines(&Out::new(true), &folder, Detail::Examples)[1..],
            [
                format!("    {here}"),
                format!("    {there}"),
                "      → do this".to_owned(),
            ]
        );
    }

    #[test]
    fn many_problems_of_one_cause_are_a_number_and_examples() {
        let sum = "the disk of /f is full: 20,000 files wait";
        let mut folder = FolderStatus {
            errors: (0..20)
                .map(|n| problem(&format!("f{n}"), ProblemCode::DiskFull))
                .collect(),
            problems: vec![group(ProblemCode::DiskFull, 20_000, sum)],
            ..Default::default()
        };
        let plain = Out::new(true);
        let few = folder_lines(&plain, &folder, Detail::Examples);
        assert_eq!(few.len(), 1 + 1 + ProblemGroup::EXAMPLES + 2, "{few:?}");
        assert_eq!((&*few[1], &*few[2]), (&*format!("    {sum}"), "      f0"));
        assert!(few[7].contains("19,995 more problems"), "{few:?}");
        assert_eq!(few.iter().filter(|line| line.contains("→")).count(), 1);
        folder.errors = (0..20_000)
            .map(|n| problem(&format!("f{n}"), ProblemCode::DiskFull))
            .collect();
        let all = folder_lines(&plain, &folder, Detail::All);
        assert_eq!(all.len(), 20_003);
    }
}
