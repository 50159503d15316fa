//! The status in words, and the status that changes while one looks at it.

use crate::app::App;
use crate::failure::Outcome;
use crate::output::text::{clean, count, local_rfc3339, size, span};
use crate::output::{Out, Style};
use cairn_control::{Client, ControlError, Event, FolderStatus, Problem, Status, Transfer};
use cairn_model::{ProblemCode, SyncState, TransferDirection};
use futures_util::StreamExt as _;
use indicatif::{ProgressBar, ProgressDrawTarget};
use std::collections::HashMap;
use std::io::{self, IsTerminal as _};
use std::time::Duration;

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

/// The problems of one cause that are listed.
const EXAMPLES: usize = 5;

/// The number of problems that are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Detail {
    /// A few of each cause, and the number of the others.
    Examples,
    All,
}

/// The whole status, line by line.
pub(super) fn lines(out: &Out, status: &Status, detail: Detail) -> Vec<String> {
    let mut lines = vec![headline(out, status)];
    lines.extend(
        status
            .folders
            .iter()
            .flat_map(|folder| folder_lines(out, folder, detail)),
    );
    lines.extend(status.transfers.iter().map(transfer_line));
    if status.folders.is_empty() {
        lines.push("No folder is synced yet: add one with `cairn add FOLDER`.".to_owned());
    }
    lines
}

/// Returns the state in one line.
fn headline(out: &Out, status: &Status) -> String {
    let mut line = out.paint(style(status.state), word(status.state));
    if let Some(until) = &status.paused_until {
        line.push_str(&format!(" until {}", clean(until)));
    }
    if status.pending > 0 {
        line.push_str(&format!(", {} to do", count(status.pending, "change")));
    }
    if let Some(message) = &status.message {
        line.push_str(&format!(": {}", clean(message)));
    }
    line
}

fn folder_lines(out: &Out, folder: &FolderStatus, detail: Detail) -> Vec<String> {
    let mut head = format!(
        "  {} ⇄ {}: {}, {}, {}",
        clean(&folder.local),
        clean(&folder.remote),
        out.paint(style(folder.state), word(folder.state)),
        count(folder.files, "file"),
        size(folder.bytes)
    );
    if folder.pending > 0 {
        head.push_str(&format!(", {} to do", count(folder.pending, "change")));
    }
    let mut lines = vec![head];
    for group in grouped(&folder.errors) {
        lines.extend(problem_lines(out, &group, detail));
    }
    lines
}

/// Problems of one cause together, in the order of their first ones.
fn grouped(problems: &[Problem]) -> Vec<Vec<&Problem>> {
    let mut groups: Vec<Vec<&Problem>> = Vec::new();
    let mut known: HashMap<(ProblemCode, &str), usize> = HashMap::new();
    for problem in problems {
        let at = *known
            .entry((problem.code, problem.hint.as_str()))
            .or_insert(groups.len());
        match groups.get_mut(at) {
            Some(group) => group.push(problem),
            None => groups.push(vec![problem]),
        }
    }
    groups
}

fn problem_lines(out: &Out, group: &[&Problem], detail: Detail) -> Vec<String> {
    let shown = match detail {
        Detail::Examples => EXAMPLES.min(group.len()),
        Detail::All => group.len(),
    };
    let mut lines: Vec<String> = group[..shown]
        .iter()
        .map(|problem| {
            let path = if problem.path.is_empty() {
                String::new()
            } else {
                format!("{}: ", clean(&problem.path))
            };
            let message = out.paint(Style::Warning, clean(&problem.message));
            format!("    {path}{message}")
        })
        .collect();
    let rest = group.len() - shown;
    if rest > 0 {
        lines.push(format!(
            "    … and {} of the same kind: see `cairn status --all`",
            count(rest as u64, "more problem")
        ));
    }
    lines.extend(
        group
            .first()
            .map(|problem| format!("      → {}", clean(&problem.hint))),
    );
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

/// Shows the status again whenever it changes, until the daemon ends or Ctrl-C.
pub(super) async fn status(app: &App, client: &Client) -> Outcome {
    let mut events = client.subscribe().await?;
    let redraw = !app.out.json && io::stdout().is_terminal();
    while let Some(event) = events.next().await {
        let Event::Status { status } = event else {
            continue;
        };
        if redraw {
            // Home, and clear to the end of the screen (ECMA-48).
            app.out.raw("\x1b[H\x1b[2J");
        }
        for line in lines(&app.out, &status, Detail::Examples) {
            app.out.line(line);
        }
        app.out.json_line(&status);
    }
    Err(ControlError::Closed.into())
}

/// Waits for an answer; a person who watches sees meanwhile what goes on.
pub(super) async fn while_waiting<T>(
    app: &App,
    client: &Client,
    answer: impl Future<Output = Result<T, ControlError>>,
) -> Result<T, ControlError> {
    if !app.out.watched {
        return answer.await;
    }
    let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    spinner.enable_steady_tick(Duration::from_millis(120));
    let plain = Out::new(true);
    let mut events = client.subscribe().await?;
    let telling = async {
        while let Some(event) = events.next().await {
            if let Event::Status { status } = event {
                let transfers: Vec<_> =
                    status.transfers.iter().take(3).map(transfer_line).collect();
                spinner.set_message(format!(
                    "{} {}",
                    headline(&plain, &status),
                    transfers.join(" ")
                ));
            }
        }
        std::future::pending::<()>().await;
    };
    let result = tokio::select! {
        result = answer => result,
        () = telling => Err(ControlError::Closed),
    };
    spinner.finish_and_clear();
    result
}

/// Follows the activity, until the daemon ends or Ctrl-C.
pub(super) async fn activity(app: &App, client: &Client) -> Outcome {
    let mut events = client.subscribe().await?;
    while let Some(event) = events.next().await {
        if let Event::Activity { activity } = event {
            app.out.line(activity_line(app, &activity));
            app.out.json_line(&activity);
        }
    }
    Err(ControlError::Closed.into())
}

/// One activity in a line.
pub(super) fn activity_line(app: &App, activity: &cairn_control::Activity) -> String {
    let at = app
        .out
        .paint(Style::Dim, local_rfc3339(&activity.at, app.offset));
    let bytes = if activity.bytes > 0 {
        format!("  {}", size(activity.bytes))
    } else {
        String::new()
    };
    let device = activity
        .device
        .as_deref()
        .map(|d| format!("  by {}", clean(d)))
        .unwrap_or_default();
    format!(
        "{at}  {:<12}  {}{bytes}{device}",
        activity.kind,
        clean(&activity.path)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_says_what_is_wrong_and_what_to_do() {
        let status = Status {
            state: SyncState::Attention,
            pending: 1,
            folders: vec![FolderStatus {
                local: "/home/a/Cairn".into(),
                remote: "/".into(),
                state: SyncState::Attention,
                files: 2,
                bytes: 2048,
                errors: vec![Problem {
                    path: "a\n".into(),
                    code: cairn_model::ProblemCode::Unreadable,
                    message: "it can't be read".into(),
                    hint: "give this user the right to read it".into(),
                }],
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
            ..Default::default()
        };
        let plain = Out::new(true);
        assert_eq!(
            lines(&plain, &status, Detail::Examples),
            [
                "needs attention, 1 change to do",
                "  /home/a/Cairn ⇄ /: needs attention, 2 files, 2.0 KiB",
                "    a\u{fffd}: it can't be read",
                "      → give this user the right to read it",
                "  ↓ big  1.0 KiB of 4.0 KiB, 1.0 KiB/s, 3 s left",
            ]
        );
    }

    #[test]
    fn many_problems_of_one_cause_are_a_number_and_examples() {
        let problem = |n: u32| Problem {
            path: format!("f{n}"),
            code: ProblemCode::DiskFull,
            message: "the disk is full".into(),
            hint: "free some space".into(),
        };
        let folder = FolderStatus {
            errors: (0..20_000).map(problem).collect(),
            ..Default::default()
        };
        let plain = Out::new(true);
        let few = folder_lines(&plain, &folder, Detail::Examples);
        assert_eq!(few.len(), 1 + EXAMPLES + 2);
        assert!(few[1 + EXAMPLES].contains("19995 more problems"), "{few:?}");
        assert_eq!(few.iter().filter(|line| line.contains("→")).count(), 1);
        let all = folder_lines(&plain, &folder, Detail::All);
        assert_eq!(all.len(), 20_002);
    }
}
