//! `cairn why`: the sync state of one path, and the reason for it.

use crate::app::App;
use crate::failure::CommandResult;
use crate::local_path;
use crate::output::text::{clean, count, local_rfc3339};
use crate::output::{Out, Style};
use cairn_control::{PathReport, typed};
use cairn_model::{PathReason, PathState};
use std::path::{Path, PathBuf};

/// Show whether a path is in sync, or why not
///
/// Shows when it was last transferred, what it waits for, which rule of which file leaves it out, which
/// file it is in conflict with, or what failed and when it is tried again.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// A file or folder on this machine, existing or not
    #[arg(value_hint = clap::ValueHint::AnyPath)]
    path: PathBuf,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let client = app.daemon().await?;
    let folders = client.send(typed::Folders {}).await?;
    let folders: Vec<String> = folders.into_iter().map(|folder| folder.local).collect();
    let path = local_path::in_folders(&args.path, &folders)?;
    let report = match path.to_str() {
        Some(path) => {
            client
                .send(typed::Why {
                    path: path.to_owned(),
                })
                .await?
        }
        None => report_of_bytes(&path, &folders),
    };
    for line in lines(&app.out, &app.zone, &report) {
        app.out.line(line);
    }
    app.out.json(&report);
    Ok(())
}

/// Reports a path that is not UTF-8, which the daemon can't be asked about: names on the service are text.
fn report_of_bytes(path: &Path, folders: &[String]) -> PathReport {
    let shown = path.display().to_string();
    match folders.iter().find(|folder| path.starts_with(folder)) {
        Some(folder) => PathReport {
            path: shown,
            folder: Some(folder.clone()),
            state: PathState::Name,
            reason: PathReason::BadName,
            message:
                "its name, or that of a folder above it, is not valid UTF-8, so it can't be synced"
                    .to_owned(),
            hint: "rename it; until then it stays where it is".to_owned(),
            ..PathReport::default()
        },
        None => PathReport {
            path: shown,
            state: PathState::Unpaired,
            reason: PathReason::Unpaired,
            message: "it is in no synced folder".to_owned(),
            hint: "see `cairn folders`; `cairn add` makes a folder a synced one".to_owned(),
            ..PathReport::default()
        },
    }
}

/// A state in words.
fn word(state: PathState) -> &'static str {
    match state {
        PathState::Synced => "in sync",
        PathState::Waiting => "waiting",
        PathState::Conflict => "in conflict",
        PathState::Ignored => "ignored",
        PathState::Unselected => "not selected for this device",
        PathState::OneWay => "not synced this way",
        PathState::Name => "name not possible",
        PathState::Special => "not a file or folder",
        PathState::Parked => "failed",
        PathState::Unmounted => "not mounted",
        PathState::Unverified => "held back",
        PathState::Missing => "not there",
        PathState::Unpaired => "not in a synced folder",
        PathState::Other => "in another state",
    }
}

fn style(state: PathState) -> Style {
    match state {
        PathState::Synced => Style::Good,
        PathState::Waiting => Style::Bold,
        PathState::Ignored
        | PathState::Unselected
        | PathState::Special
        | PathState::Missing
        | PathState::Unpaired
        | PathState::Other => Style::Dim,
        PathState::Conflict
        | PathState::OneWay
        | PathState::Name
        | PathState::Parked
        | PathState::Unmounted
        | PathState::Unverified => Style::Warning,
    }
}

fn lines(out: &Out, zone: &cairn_platform::Zone, report: &PathReport) -> Vec<String> {
    let mut lines = vec![format!(
        "{}: {}",
        clean(&report.path),
        out.paint(style(report.state), word(report.state))
    )];
    lines.push(format!("  {}", clean(&report.message)));
    let mut line = |text: String| lines.push(format!("  {text}"));
    if let Some(at) = &report.synced_at {
        line(format!("last transferred {}", local_rfc3339(at, zone)));
    }
    if let Some(at) = &report.next_try_at {
        line(format!("tried again {}", local_rfc3339(at, zone)));
    }
    if let Some(remote) = &report.remote {
        line(format!("on the service: {}", clean(remote)));
    }
    if report.problems_below > 0 {
        line(format!(
            "{} below it: see `cairn status --all`",
            count(report.problems_below, "problem")
        ));
    }
    if !report.hint.is_empty() {
        line(format!("→ {}", clean(&report.hint)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_name_that_is_no_text_has_its_reason() {
        use std::os::unix::ffi::OsStrExt as _;
        let bad = std::ffi::OsStr::from_bytes(b"bad\xff");
        let folders = ["/f".to_owned()];
        let inside = report_of_bytes(&Path::new("/f").join(bad), &folders);
        assert_eq!(
            (inside.state, inside.reason),
            (PathState::Name, PathReason::BadName)
        );
        assert_eq!(inside.path, "/f/bad\u{fffd}");
        let outside = report_of_bytes(&Path::new("/g").join(bad), &folders);
        assert_eq!(outside.state, PathState::Unpaired);
    }

    #[test]
    fn a_report_names_the_rule_and_what_to_do() {
        let report = PathReport {
            path: "/home/a/Cairn/x.log".into(),
            folder: Some("/home/a/Cairn".into()),
            remote: Some("/x.log".into()),
            state: PathState::Ignored,
            message: "it is ignored by `*.log`, line 3 of .cairnignore".into(),
            hint: "change that line to have it synced".into(),
            problems_below: 2,
            ..PathReport::default()
        };
        assert_eq!(
            lines(&Out::new(true), &cairn_platform::Zone::utc(), &report),
            [
                "/home/a/Cairn/x.log: ignored",
                "  it is ignored by `*.log`, line 3 of .cairnignore",
                "  on the service: /x.log",
                "  2 problems below it: see `cairn status --all`",
                "  → change that line to have it synced",
            ]
        );
    }
}
