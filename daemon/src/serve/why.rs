//! The request `Why`: which pair a path is in, and its sync state.

use crate::failure::CommandResult;
use crate::folders::pairs;
use crate::local_path;
use crate::output::text::{now_ms, rfc3339};
use crate::serve::engines::Engines;
use crate::serve::halt::Halt;
use cairn_control::{DecidingRule, PathReport, WaitingList};
use cairn_index::{Db, FolderRow, IndexError};
use cairn_model::{PathReason, PathState, Problem, ProblemValues, RelPath, SyncState};
use std::path::{MAIN_SEPARATOR, Path};

/// Reports the sync state of an absolute path.
pub(super) fn report(engines: &Engines, path: &str) -> CommandResult<PathReport> {
    let pairs = pairs::list(&engines.indexes())?;
    let found = pairs.iter().find_map(|pair| {
        let below = Path::new(path).strip_prefix(&pair.row.root).ok()?;
        let below = local_path::as_spelled_there(Path::new(&pair.row.root), below);
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
        Ok(engine) => Ok(PathReport {
            remote: pair.index.read(|db| remote_path(db, row, &below))?,
            ..to_control(path, row, engine.why(row, &below)?)
        }),
        Err(halt) => Ok(PathReport {
            path: path.to_owned(),
            folder: Some(row.root.clone()),
            remote: pair.index.read(|db| remote_path(db, row, &below))?,
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
    for part in engines.parts() {
        let Ok(engine) = &part.engine else {
            continue;
        };
        for row in engine.folders()? {
            for below in engine.waiting_paths(&row, limit)? {
                let report = engine.why(&row, &below)?;
                // The mark of something that needs no step is taken off a little later.
                if report.state == PathState::Synced {
                    continue;
                }
                let path = below.to_path(Path::new(&row.root));
                waiting.push(PathReport {
                    remote: part.index.read(|db| remote_path(db, &row, &below))?,
                    ..to_control(&path.to_string_lossy(), &row, report)
                });
            }
        }
    }
    Ok(WaitingList { waiting })
}

/// Returns the path on the service, if the index knows that something is there.
fn remote_path(
    db: &Db<'_>,
    row: &FolderRow,
    below: &RelPath,
) -> Result<Option<String>, IndexError> {
    if below.is_root() {
        let is_known = row.remote_node.is_some();
        return Ok(is_known.then(|| row.remote_path.clone()));
    }
    let top = row.remote_path.trim_end_matches('/');
    let node = db.remote_at(row, below)?;
    Ok(node.map(|_| format!("{top}/{below}")))
}

/// Returns the report of the engine, without the path on the service.
fn to_control(path: &str, row: &FolderRow, report: cairn_engine::PathReport) -> PathReport {
    PathReport {
        path: path.to_owned(),
        folder: Some(row.root.clone()),
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
        ..PathReport::default()
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

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_index::{FileIdentity, FolderSettings, Index, RemoteRow};
    use cairn_model::{Name, NodeId};

    #[test]
    fn a_path_on_the_service_is_given_for_what_is_known_to_be_there() {
        let index = Index::memory().unwrap();
        let name = |text: &str| Name::new(text.to_owned()).unwrap();
        let nodes = [1, 2].map(|byte| NodeId::from_random_bytes([byte; 16]));
        let known_path = |path: &str| {
            let below = RelPath::parse(path).unwrap();
            let row = index.read(|db| db.folders()).unwrap().remove(0);
            index.read(|db| remote_path(db, &row, &below)).unwrap()
        };
        let add = |db: &Db<'_>| {
            let id = db.add_folder("/home/a/s", "/s", &FolderSettings::default())?;
            db.put_remote(&[], &RemoteRow::folder(nodes[0], None, name("s")))?;
            db.put_remote(&[], &RemoteRow::folder(nodes[1], Some(nodes[0]), name("x")))?;
            Ok(id)
        };
        let id = index.write(add).unwrap();
        assert_eq!(
            (known_path(""), known_path("x")),
            (None, None),
            "not found yet"
        );
        let root = FileIdentity {
            device: 1,
            inode: 2,
            birth: None,
        };
        let attach = |db: &Db<'_>| db.attach_folder(id, Some(nodes[0]), root);
        index.write(attach).unwrap();
        assert_eq!(known_path("").as_deref(), Some("/s"));
        assert_eq!(known_path("x").as_deref(), Some("/s/x"));
        assert_eq!(known_path("secret"), None);
    }
}
