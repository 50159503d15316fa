//! The sync state of one path, and the reason for it.

use super::connection::request;
use super::folders;
use super::target::expand_home;
use super::tool_names::name_tools;
use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use cairn_control::{FolderStatus, PathReport, Status, typed};
use cairn_model::PathState;
use serde_json::{Value, json};
use std::path::PathBuf;

pub(super) async fn read(call: &Call) -> ToolResult<Value> {
    let given = call.arguments.required_text("path")?;
    let status: Status = request(&call.services, typed::Status {}).await?;
    let path = local_path(&status.folders, given)?
        .into_os_string()
        .into_string()
        .map_err(|_| ToolError::argument(format!("`{given}` is not valid UTF-8")))?;
    let report: PathReport = request(&call.services, typed::Why { path }).await?;
    Ok(report_json(&report))
}

/// Returns the local path that is meant: itself, one below a synced folder as other tools list it, or the
/// place of a path on the service.
pub(super) fn local_path(folders: &[FolderStatus], given: &str) -> ToolResult<PathBuf> {
    let wanted = expand_home(given);
    if wanted.is_absolute() {
        let is_here = folders
            .iter()
            .any(|folder| wanted.starts_with(&folder.local));
        let remote = folders::local_paths(folders, None, given.trim_end_matches('/'));
        return Ok(match remote.into_iter().next() {
            Some(local) if !is_here => local,
            Some(_) | None => wanted,
        });
    }
    let below: Vec<PathBuf> = folders
        .iter()
        .map(|folder| PathBuf::from(&folder.local).join(&wanted))
        .collect();
    match below.as_slice() {
        [one] => Ok(one.clone()),
        several => {
            let mut there = several
                .iter()
                .filter(|path| path.symlink_metadata().is_ok());
            match (there.next(), there.next()) {
                (Some(one), None) => Ok(one.clone()),
                _ => Err(ToolError::refused(format!(
                    "`{given}` is in no synced folder, or in several: give its whole path on this machine"
                ))),
            }
        }
    }
}

/// The report without fields that say nothing.
pub(super) fn report_json(report: &PathReport) -> Value {
    let mut value = json!(report);
    name_tools(&mut value);
    if report.state == PathState::Conflict {
        value["hint"] = json!("sync_resolve_conflict ends it");
    }
    if let Some(fields) = value.as_object_mut() {
        // The message says the same.
        fields.remove("reason");
        fields.retain(|_, field| *field != json!(0) && *field != json!(""));
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_as_people_and_other_tools_write_it() {
        let folder = |local: &str, remote: &str| FolderStatus {
            local: local.to_owned(),
            remote: remote.to_owned(),
            ..FolderStatus::default()
        };
        let one = [folder("/x/Docs", "/job/docs")];
        for (given, path) in [
            ("/x/Docs/a.txt", "/x/Docs/a.txt"),
            ("/job/docs/a.txt", "/x/Docs/a.txt"),
            ("a.txt", "/x/Docs/a.txt"),
            ("/elsewhere/a.txt", "/elsewhere/a.txt"),
        ] {
            assert_eq!(
                local_path(&one, given).unwrap(),
                PathBuf::from(path),
                "{given}"
            );
        }
        let two = [folder("/x/Docs", "/docs"), folder("/x/All", "/all")];
        let refused = local_path(&two, "a.txt").unwrap_err().to_string();
        assert!(refused.contains("whole path"), "{refused}");
    }
}
