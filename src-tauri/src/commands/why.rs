//! The daemon's report why a path is in sync, or why not, for the window's own words.

use super::context::{Commands, local_text};
use crate::program::ProgramError;
use cairn_control::{PathReport, typed};
use cairn_model::{PathReason, PathState, ProblemCause, ProblemValues};
use serde::Serialize;
use std::path::{MAIN_SEPARATOR, Path};
use ts_rs::TS;

/// The sync state of one path, and the reason for it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct WhyView {
    /// Below the folder; empty for the folder itself.
    pub path: String,
    pub state: PathState,
    pub reason: PathReason,
    /// The cause of a failure, of it or of its whole folder, as a word; `other` without one.
    pub cause: ProblemCause,
    pub values: ProblemValues,
    /// The reason and the advice in the daemon's own words, which are English.
    pub message: String,
    pub hint: String,
    /// The path on the service.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub remote: Option<String>,
    /// The folder above it that the reason is about, below the synced folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub above: Option<String>,
    /// The pattern that leaves it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub rule: Option<String>,
    /// The rules file that the pattern is in, below the synced folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub rule_file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub rule_line: Option<u64>,
    /// The other version of a conflict, below the synced folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub conflict_with: Option<String>,
    /// Failed tries in a row.
    pub tries: u32,
    /// RFC 3339 in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub next_try_at: Option<String>,
    /// RFC 3339 in UTC: the latest transfer, as far as that is remembered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub synced_at: Option<String>,
    /// Other changes of the folder that are to be done.
    pub behind: u64,
    /// Problems of what lies below it.
    pub problems_below: u64,
}

/// Asks about a path of a synced folder: below it, or absolute.
pub(super) async fn why(
    commands: &Commands,
    folder: String,
    path: String,
) -> Result<WhyView, ProgramError> {
    let below = below(&folder, path.trim())?;
    let path = local_text(&folder, &below)?;
    let report = commands.request(typed::Why { path }).await?;
    Ok(view(&folder, below, report))
}

/// Lets the person pick a file in a synced folder. Returns its path below the folder; none if the person cancelled.
pub(super) async fn pick_file(
    commands: &Commands,
    folder: String,
) -> Result<Option<String>, ProgramError> {
    let Some(path) = commands.desktop.pick_file(Path::new(&folder)).await else {
        return Ok(None);
    };
    below(&folder, &path.to_string_lossy()).map(Some)
}

/// Returns a path as one below the folder, with `/`, if it is below it.
fn below(folder: &str, path: &str) -> Result<String, ProgramError> {
    let path = Path::new(path);
    let below = if path.is_absolute() {
        path.strip_prefix(folder)
            .map_err(|_| ProgramError::failed(format!("{} is not in {folder}", path.display())))?
    } else {
        path
    };
    Ok(below.to_string_lossy().replace(MAIN_SEPARATOR, "/"))
}

fn view(folder: &str, path: String, report: PathReport) -> WhyView {
    let rule = report.rule;
    let file = rule.as_ref().and_then(|rule| rule.file.as_deref());
    WhyView {
        path,
        state: report.state,
        reason: report.reason,
        cause: report.cause,
        values: report.values,
        message: report.message,
        hint: report.hint,
        remote: report.remote,
        above: report.above,
        // A file that is outside is named whole.
        rule_file: file.map(|file| below(folder, file).unwrap_or_else(|_| file.to_owned())),
        rule_line: rule.as_ref().and_then(|rule| rule.line),
        rule: rule
            .map(|rule| rule.pattern)
            .filter(|pattern| !pattern.is_empty()),
        conflict_with: report.conflict_with,
        tries: report.tries,
        next_try_at: report.next_try_at,
        synced_at: report.synced_at,
        behind: report.behind,
        problems_below: report.problems_below,
    }
}
