//! The sync state of one path, and the reason for it.

use super::account::Foreign;
use super::connection::request;
use super::folders::{self, Place, SyncedFolders, join_paths};
use super::meaning::{may_begin_with_team, on_service};
use super::target::expand_home;
use super::tool_names::name_tools;
use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::quote::{quote, quote_path};
use crate::services::Services;
use cairn_control::{PathReport, typed};
use cairn_model::PathState;
use cairn_wire::teams::Team;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::timeout;

/// The name of a file that stands for all others in a folder: only a rule about everything leaves it out.
const SOME_FILE: &str = "any file 7c1f0a";

/// The time limit for asking the service for the names of teams.
const TEAMS_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) async fn read(call: &Call) -> ToolResult<Value> {
    let (services, given) = (&call.services, call.arguments.required_text("path")?);
    let synced = SyncedFolders::read_or_refuse(services).await?;
    let synced = synced.compare_account(services).await;
    let teams = teams_of_path(services, &synced, given).await;
    let path = match path_in_team(&synced, &teams, given)? {
        Some(path) => path,
        None => local_path(&synced, given)?,
    };
    let path = path
        .into_os_string()
        .into_string()
        .map_err(|_| ToolError::argument(format!("{} is not valid UTF-8", quote(given))))?;
    let report: PathReport = request(services, typed::Why { path }).await?;
    let mut value = report_json(&report);
    if let Some(left_out) = left_out_below(services, &report).await? {
        value["below"] = json!(left_out);
    }
    if let Some(foreign) = &synced.foreign {
        value["note"] = json!(foreign.note());
    }
    Ok(value)
}

/// Returns that the rules leave out what is in a folder that is in sync itself; `None` for any other folder or file.
async fn left_out_below(services: &Services, report: &PathReport) -> ToolResult<Option<String>> {
    if report.state != PathState::Synced || !Path::new(&report.path).is_dir() {
        return Ok(None);
    }
    let path = format!("{}/{SOME_FILE}", report.path);
    let below: PathReport = request(services, typed::Why { path }).await?;
    Ok(text_of_left_out(&below))
}

/// Returns the text about a file that stands for everything in its folder; `None` if nothing leaves it out.
fn text_of_left_out(file: &PathReport) -> Option<String> {
    let rule = file.rule.as_ref()?;
    let rules = rule.file.as_deref().map(Path::new);
    // Rules come with the folder, and can leave out their own file.
    let place = match rules {
        Some(rules) if rules.symlink_metadata().is_err() => {
            ", a file that is only on the service: list_files shows it"
        }
        Some(_) | None => "",
    };
    Some(format!(
        "the folder itself is in sync, but what is in it is left out, new files and changes alike: {}{place}",
        file.message
    ))
}

/// Returns the teams that a path may begin with; none where they can't be asked for, for a path of this machine needs
/// none.
async fn teams_of_path(services: &Services, synced: &SyncedFolders, given: &str) -> Vec<Team> {
    // Nobody answers then, or the folders are of another account.
    let is_known = synced.foreign != Some(Foreign::Unknown);
    if !is_known || !may_begin_with_team(given) || !given.contains('/') {
        return Vec::new();
    }
    match timeout(TEAMS_TIMEOUT, services.teams()).await {
        Ok(Ok(teams)) => teams,
        Ok(Err(error)) => {
            tracing::debug!(%error, "a path is read without the names of teams");
            Vec::new()
        }
        Err(_) => Vec::new(),
    }
}

/// Returns the local path of a path that begins with the name of a team; `None` for another one.
///
/// # Errors
/// [`ToolError::Refused`] for a path that can mean several files, and for one that no folder of this machine syncs.
fn path_in_team(
    synced: &SyncedFolders,
    teams: &[Team],
    given: &str,
) -> ToolResult<Option<PathBuf>> {
    if !may_begin_with_team(given) {
        return Ok(None);
    }
    let in_teams = on_service(teams, given);
    let Some((place, team)) = in_teams.first() else {
        return Ok(None);
    };
    if let Some(foreign) = &synced.foreign {
        return Err(foreign.refusal());
    }
    let local = synced.meanings_of(given).into_iter();
    let local: Vec<_> = local
        .filter(|meaning| meaning.local.symlink_metadata().is_ok())
        .collect();
    let is_it = |other: &Place| other == place;
    let is_clear = in_teams.iter().all(|(other, _)| is_it(other))
        && local.iter().all(|meaning| is_it(&meaning.place));
    if !is_clear {
        return Err(ToolError::refused(format!(
            "{} can mean several files: give the whole path on this machine of the one that is meant",
            quote(given)
        )));
    }
    let paths = synced.local_paths(place);
    let there = paths.iter().find(|path| path.symlink_metadata().is_ok());
    match there.or(paths.first()) {
        Some(path) => Ok(Some(path.clone())),
        None => Err(ToolError::refused(format!(
            "{} is in the team {}, and no folder of this machine syncs it: sync_status lists those that are synced",
            quote(given),
            quote(team.as_deref().unwrap_or_default())
        ))),
    }
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
    use super::*;
    use cairn_control::{FolderStatus, TeamSpace};
    use cairn_model::{SpaceId, TeamId};

    fn synced(folders: &[(&str, &str)]) -> SyncedFolders {
        let folders = folders.iter().map(|(local, remote)| FolderStatus {
            local: (*local).to_owned(),
            remote: (*remote).to_owned(),
            ..FolderStatus::default()
        });
        SyncedFolders {
            folders: folders.collect(),
            foreign: None,
            is_unknown: false,
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

    fn team(n: u8, name: &str) -> Team {
        let (id, space) = (TeamId::from_random_bytes([n; 16]), space(n));
        let team = json!({
            "id": id, "name": name, "owner_id": id, "owner_name": "Ada", "space_id": space, "role": "owner", "member_count": 1,
            "created_at": "2026-11-22T03:05:53.123Z", "key_epoch": 1,
        });
        serde_json::from_value(team).unwrap()
    }

    fn space(n: u8) -> SpaceId {
        SpaceId::from_random_bytes([n; 16])
    }

    #[test]
    fn a_path_in_a_team_is_found_in_its_synced_folder() {
        let mut folders = synced(&[("/x/Docs", "/docs"), ("/x/Plans", "/plans")]);
        folders.folders[1].space = Some(TeamSpace {
            id: space(1),
            team: TeamId::from_random_bytes([1; 16]),
            name: "Dev Team".to_owned(),
        });
        let teams = [team(1, "Dev Team"), team(2, "Crew")];
        let found = path_in_team(&folders, &teams, "Dev Team/plans/team.txt");
        assert_eq!(found.unwrap(), Some(PathBuf::from("/x/Plans/team.txt")));
        for other in ["docs/a.txt", "/Dev Team/plans/team.txt"] {
            assert_eq!(path_in_team(&folders, &teams, other).unwrap(), None);
        }
        for unsynced in ["Dev Team/a.txt", "Crew/plans/a.txt"] {
            let refused = path_in_team(&folders, &teams, unsynced).unwrap_err();
            let message = refused.to_string();
            assert!(message.contains("in the team `"), "{message}");
        }
        let twice = [team(1, "Dev Team"), team(2, "Dev Team")];
        let refused = path_in_team(&folders, &twice, "Dev Team/plans/team.txt");
        assert!(refused.unwrap_err().to_string().contains("several"));
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
    fn rules_about_everything_in_a_folder_are_reported_with_it() {
        let file = |rule: Option<&str>| {
            let rule = rule.map(|file| json!({ "source": "file", "pattern": "*", "file": file, "line": 1, "matched": "x" }));
            let report = json!({
                "path": "/x/any", "state": "ignored", "message": "it is ignored by `*`, line 1 of .cairnignore", "rule": rule,
            });
            text_of_left_out(&serde_json::from_value(report).unwrap())
        };
        assert_eq!(file(None), None);
        let missing = file(Some("/nowhere/.cairnignore")).unwrap();
        assert!(missing.contains("only on the service"), "{missing}");
        let dir = tempfile::tempdir().unwrap();
        let rules = dir.path().join(".cairnignore");
        std::fs::write(&rules, "*").unwrap();
        let here = file(rules.to_str()).unwrap();
        assert!(here.contains("what is in it is left out"), "{here}");
        assert!(!here.contains("only on the service"), "{here}");
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
