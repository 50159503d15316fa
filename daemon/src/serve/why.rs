//! The request `Why`: which pair a path is in, and its sync state.

use crate::failure::CommandResult;
use crate::output::text::{now_ms, rfc3339};
use cairn_control::{DecidingRule, PathReport, WaitingList};
use cairn_engine::EngineHandle;
use cairn_index::FolderRow;
use cairn_model::{PathState, RelPath, RuleSource};
use std::path::{MAIN_SEPARATOR, Path};

/// Reports the sync state of an absolute path.
pub(super) fn report(engine: &EngineHandle, path: &str) -> CommandResult<PathReport> {
    let folders = engine.folders()?;
    let found = folders.iter().find_map(|row| {
        let below = Path::new(path).strip_prefix(&row.root).ok()?;
        Some((row, below.to_str()?.replace(MAIN_SEPARATOR, "/")))
    });
    let Some((row, below)) = found else {
        return Ok(PathReport {
            path: path.to_owned(),
            state: PathState::Unpaired,
            message: "it is in no synced folder".to_owned(),
            hint: "see `cairn folders`; `cairn add` makes a folder a synced one".to_owned(),
            ..PathReport::default()
        });
    };
    let below = match RelPath::parse(&below) {
        Ok(below) => below,
        Err(error) => {
            return Ok(PathReport {
                path: path.to_owned(),
                folder: Some(row.root.clone()),
                state: PathState::Name,
                message: format!("its name can't be synced: {error}"),
                hint: "rename it".to_owned(),
                ..PathReport::default()
            });
        }
    };
    let report = engine.why(row, &below)?;
    Ok(to_control(path, row, &below, report))
}

/// Reports what waits in all pairs, at most `limit` paths of each.
pub(super) fn waiting_list(engine: &EngineHandle, limit: u32) -> CommandResult<WaitingList> {
    let mut waiting = Vec::new();
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
    Ok(WaitingList { waiting })
}

fn to_control(
    path: &str,
    row: &FolderRow,
    below: &RelPath,
    report: cairn_engine::PathReport,
) -> PathReport {
    let remote = format!("{}/{below}", row.remote_path.trim_end_matches('/'));
    PathReport {
        path: path.to_owned(),
        folder: Some(row.root.clone()),
        remote: Some(match below.is_root() {
            true => row.remote_path.clone(),
            false => remote,
        }),
        state: report.state,
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
        file: (rule.source == RuleSource::File)
            .then(|| crate::folders::ignore::file(row).display().to_string()),
        line: rule.line,
        matched: rule.matched.to_string(),
    }
}
