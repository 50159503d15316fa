//! The request `Why`: which pair a path is in, and its sync state.

use crate::failure::CommandResult;
use crate::folders::pairs;
use crate::output::text::{now_ms, rfc3339};
use crate::serve::engines::Engines;
use crate::serve::halt::Halt;
use cairn_control::{DecidingRule, PathReport, WaitingList};
use cairn_index::FolderRow;
use cairn_model::{PathReason, PathState, Problem, ProblemValues, RelPath, SyncState};
use std::path::{MAIN_SEPARATOR, Path};

/// Reports the sync state of an absolute path.
pub(super) fn report(engines: &Engines, path: &str) -> CommandResult<PathReport> {
    let pairs = pairs::list(&engines.indexes())?;
    let found = pairs.iter().find_map(|pair| {
        let below = Path::new(path).strip_prefix(&pair.row.root).ok()?;
        Some((pair, below.to_str()?.replace(MAIN_SEPARATOR, "/")))
    });
    let Some((pair, below)) = found else {
        return Ok(PathReport {
            path: path.to_owned(),
            state: PathState::Unpaired,
            reason: PathReason::Unpaired,
            message: "it is in no synced folder".to_owned(),
            hint: "see `cairn folders`; `cairn add` makes a folder a synced one".to_owned(),
            ..PathReport::default()
        });
    };
    let row = &pair.row;
    let below = match RelPath::parse(&below) {
        Ok(below) => below,
        Err(error) => {
            return Ok(PathReport {
                path: path.to_owned(),
                folder: Some(row.root.clone()),
                state: PathState::Name,
                reason: PathReason::BadName,
                message: format!("its name can't be synced: {error}"),
                values: ProblemValues::of_detail(error.to_string()),
                hint: "rename it".to_owned(),
                ..PathReport::default()
            });
        }
    };
    match engines.of(pair) {
        Ok(engine) => Ok(to_control(path, row, &below, engine.why(row, &below)?)),
        Err(halt) => Ok(PathReport {
            path: path.to_owned(),
            folder: Some(row.root.clone()),
            remote: Some(remote_path(row, &below)),
            ..halted_report(halt)
        }),
    }
}

/// Returns the report of a path whose space is not synced now.
fn halted_report(halt: Halt) -> PathReport {
    let (reason, problem) = match halt.problem {
        Some(problem) => (PathReason::FolderProblem, *problem),
        None => (
            PathReason::Starting,
            Problem {
                message: "its space is being opened".to_owned(),
                ..Problem::default()
            },
        ),
    };
    PathReport {
        state: match halt.state {
            SyncState::Error => PathState::Parked,
            SyncState::Idle
            | SyncState::Syncing
            | SyncState::Paused
            | SyncState::Offline
            | SyncState::Attention => PathState::Waiting,
        },
        reason,
        message: problem.message,
        hint: problem.hint,
        cause: problem.cause,
        values: problem.values,
        ..PathReport::default()
    }
}

/// Reports what waits in all pairs, at most `limit` paths of each.
pub(super) fn waiting_list(engines: &Engines, limit: u32) -> CommandResult<WaitingList> {
    let mut waiting = Vec::new();
    for engine in engines.running_engines() {
        for row in engine.folders()? {
            for below in engine.waiting_paths(&row, limit)? {
                let report = engine.why(&row, &below)?;
                // The mark of something that needs no step is taken off a little later.
                if report.state == PathState::Synced {
                    continue;
                }
                let path = below.to_path(Path::new(&row.root));
                waiting.push(to_control(&path.to_string_lossy(), &row, &below, report));
            }
        }
    }
    Ok(WaitingList { waiting })
}

fn remote_path(row: &FolderRow, below: &RelPath) -> String {
    match below.is_root() {
        true => row.remote_path.clone(),
        false => format!("{}/{below}", row.remote_path.trim_end_matches('/')),
    }
}

fn to_control(
    path: &str,
    row: &FolderRow,
    below: &RelPath,
    report: cairn_engine::PathReport,
) -> PathReport {
    PathReport {
        path: path.to_owned(),
        folder: Some(row.root.clone()),
        remote: Some(remote_path(row, below)),
        state: report.state,
        reason: report.reason,
        cause: report.cause,
        values: report.values,
        above: report.above.map(|path| path.to_string()),
        message: report.message,
        hint: report.hint,
        rule: report.rule.map(|rule| deciding_rule(row, rule)),
        conflict_with: report.conflict_with.map(|path| path.to_string()),
        tries: report.tries,
        next_try_at: report.next_try_ms.map(|wait| rfc3339(now_ms() + wait)),
        synced_at: report.synced_at_ms.map(rfc3339),
        verified: report.verified,
        behind: report.behind,
        problems_below: report.problems_below,
    }
}

fn deciding_rule(row: &FolderRow, rule: cairn_engine::RuleOrigin) -> DecidingRule {
    DecidingRule {
        source: rule.source,
        pattern: rule.pattern,
        file: rule
            .file
            .map(|file| file.to_path(Path::new(&row.root)).display().to_string()),
        line: rule.line,
        matched: rule.matched.to_string(),
    }
}
