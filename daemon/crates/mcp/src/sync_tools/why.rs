//! The sync state of one path, and the reason for it.

use super::connection::request;
use super::folders::{self, SyncedFolders, join_paths};
use super::target::expand_home;
use super::tool_names::name_tools;
use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::quote::{quote, quote_path};
use cairn_control::{PathReport, typed};
use cairn_model::PathState;
use serde_json::{Value, json};
use std::path::PathBuf;

pub(super) async fn read(call: &Call) -> ToolResult<Value> {
    let (services, given) = (&call.services, call.arguments.required_text("path")?);
    let synced = SyncedFolders::read_or_refuse(services).await?;
    let synced = synced.compare_account(services).await;
    let path = local_path(&synced, given)?
        .into_os_string()
        .into_string()
        .map_err(|_| ToolError::argument(format!("{} is not valid UTF-8", quote(given))))?;
    let report: PathReport = request(services, typed::Why { path }).await?;
    let mut value = report_json(&report);
    if let Some(foreign) = &synced.foreign {
        value["note"] = json!(foreign.note());
    }
    Ok(value)
}

/// Returns the local path that is meant: itself, one below a synced folder as other tools list it, or the
/// place of a path on the service.
///
/// # Errors
/// [`ToolError::Refused`] for a path that can mean several files, and for one on the service where the folders have
/// the files of another account.
fn local_path(synced: &SyncedFolders, given: &str) -> ToolResult<PathBuf> {
    let wanted = expand_home(given);
    match synced.meanings_of(given).as_slice() {
        [one] => return Ok(one.local.clone()),
        [] if wanted.is_absolute() => {}
        _ => {
            return Err(ToolError::refused(format!(
                "{} is in no synced folder, or in several: give its whole path on this machine",
                quote(given)
            )));
        }
    }
    let on_service = join_paths(given, "");
    let is_there = |path: &PathBuf| path.symlink_metadata().is_ok();
    let is_outside = is_there(&wanted);
    let synced_as = folders::local_paths(&synced.folders, None, &on_service).into_iter();
    // A file of this machine that is in no synced folder is what it reads as, if nothing else is.
    let mut synced_as = synced_as.filter(|local| is_there(local) || !is_outside);
    match (synced_as.next(), &synced.foreign) {
        (None, _) => Ok(wanted),
        (Some(_), Some(foreign)) => Err(foreign.refusal()),
        (Some(local), None) if is_outside => Err(ToolError::refused(format!(
            "{} can mean a file of this machine that is in no synced folder, and so has no state, or one on the service, which is synced as {}: give that path if it is meant",
            quote(given),
            quote_path(&local)
        ))),
        (Some(local), None) => Ok(local),
    }
}

/// Returns the report without fields that say nothing.
fn report_json(report: &PathReport) -> Value {
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
    use super::super::account::Foreign;
    use super::*;
    use cairn_control::FolderStatus;

    fn synced(folders: &[(&str, &str)]) -> SyncedFolders {
        let folders = folders.iter().map(|(local, remote)| FolderStatus {
            local: (*local).to_owned(),
            remote: (*remote).to_owned(),
            ..FolderStatus::default()
        });
        SyncedFolders {
            folders: folders.collect(),
            foreign: None,
        }
    }

    #[test]
    fn a_path_is_found_as_people_and_other_tools_write_it() {
        let one = synced(&[("/x/Docs", "/job/docs")]);
        for (given, path) in [
            ("/x/Docs/a.txt", "/x/Docs/a.txt"),
            ("/job/docs/a.txt", "/x/Docs/a.txt"),
            ("a.txt", "/x/Docs/a.txt"),
            ("/elsewhere/a.txt", "/elsewhere/a.txt"),
        ] {
            let found = local_path(&one, given).unwrap();
            assert_eq!(found, PathBuf::from(path), "{given}");
        }
        let two = synced(&[("/x/Docs", "/docs"), ("/x/All", "/all")]);
        let refused = local_path(&two, "a.txt").unwrap_err().to_string();
        assert!(refused.contains("whole path"), "{refused}");
    }

    #[test]
    fn a_file_of_this_machine_is_not_taken_for_one_on_the_service() {
        let dir = tempfile::tempdir().unwrap();
        let outside = dir.path().join("a.txt");
        std::fs::write(&outside, "a").unwrap();
        let all = synced(&[("/x/All", "/")]);
        let found = local_path(&all, outside.to_str().unwrap());
        assert_eq!(found.unwrap(), outside);
    }

    #[test]
    fn a_path_of_two_files_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let outside = dir.path().join("a.txt");
        let local = dir.path().join("All");
        let all = synced(&[(local.to_str().unwrap(), "/")]);
        let given = outside.to_str().unwrap();
        let inside = local.join(given.trim_start_matches('/'));
        std::fs::create_dir_all(inside.parent().unwrap()).unwrap();
        std::fs::write(&inside, "a").unwrap();
        assert_eq!(local_path(&all, given).unwrap(), inside);
        std::fs::write(&outside, "a").unwrap();
        let refused = local_path(&all, given).unwrap_err().to_string();
        assert!(refused.contains(inside.to_str().unwrap()), "{refused}");
    }

    #[test]
    fn a_path_on_the_service_is_not_one_in_the_folder_of_another_account() {
        for foreign in [
            Foreign::Unknown,
            Foreign::Other {
                daemon: "ada@example.com".to_owned(),
                tools: "bob@example.com".to_owned(),
            },
        ] {
            let synced = SyncedFolders {
                foreign: Some(foreign),
                ..synced(&[("/x/Docs", "/docs")])
            };
            assert!(local_path(&synced, "/docs/a.txt").is_err());
            let local = local_path(&synced, "/x/Docs/a.txt").unwrap();
            assert_eq!(local, PathBuf::from("/x/Docs/a.txt"));
        }
    }
}
