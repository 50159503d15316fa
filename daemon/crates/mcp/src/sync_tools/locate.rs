//! Finds a file on both sides: its local path, and its node on the service.

use super::connection::request;
use super::target::expand_home;
use super::why;
use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::quote::quote;
use crate::services::Services;
use cairn_api::Api;
use cairn_control::{FolderStatus, Status, typed};
use cairn_model::{Kind, Name, NodeId, SpaceId};
use cairn_wire::nodes::Node;
use serde_json::{Value, json};
use std::path::{Component, Path, PathBuf};

/// A path, and what the service has there.
pub(crate) struct Located {
    /// The path as records of the node show it.
    path: String,
    local_paths: Vec<PathBuf>,
    /// The space of the team; `None` for the account's own.
    pub(crate) space: Option<SpaceId>,
    pub(crate) found: Found,
}

/// The thing that the service has at a path.
pub(crate) enum Found {
    Root,
    Node(Box<Node>),
    Nothing,
}

pub(super) async fn find(call: &Call) -> ToolResult<Value> {
    let given = call.arguments.required_text("path")?;
    let status: Status = request(&call.services, typed::Status {}).await?;
    let located = find_path(&call.services, &status.folders, given).await?;
    let mut found = json!({ "path": located.path, "local_paths": located.local_paths });
    match located.found {
        Found::Node(node) => found["node"] = json!(node),
        Found::Root => found["top_of_space"] = json!(true),
        Found::Nothing if located.space.is_some() => found["hint"] = json!(NOTHING_IN_TEAM),
        Found::Nothing => found["hint"] = json!(NOTHING),
    }
    Ok(found)
}

const NOTHING: &str = "the service has nothing at this path. A local file outside the synced folders is not uploaded; one inside may not be uploaded yet, be ignored, or have another name: sync_why tells which";
const NOTHING_IN_TEAM: &str =
    "the team has nothing at this path: list_files lists its folders, from the top with its id";

/// Returns what a path of a file on this machine, on the service (`/a/b`) or in a team (`Team/a/b`) names.
///
/// # Errors
/// [`ToolError::Refused`] for a path that can't be told from others; those of the service.
pub(crate) async fn find_path(
    services: &Services,
    folders: &[FolderStatus],
    given: &str,
) -> ToolResult<Located> {
    if !exists_below(folders, given)
        && let Some(located) = in_team(services, given).await?
    {
        return Ok(located);
    }
    let (space, path) = remote_path(folders, given).ok_or_else(|| {
        if folders.is_empty() {
            return ToolError::refused(format!(
                "`{given}` is not a path on the service such as /a/b, and does not begin with the name of a team; no synced folder of this machine is known here"
            ));
        }
        let folders: Vec<_> = folders.iter().map(|f| quote(&f.local)).collect();
        ToolError::refused(format!(
            "`{given}` is in no synced folder ({}), or in several, and is not a path on the service such as /a/b: give its whole path",
            folders.join(", ")
        ))
    })?;
    Ok(Located {
        local_paths: local_paths(folders, space, &path),
        found: node_in(services, space, &path).await?,
        path,
        space,
    })
}

/// Finds a path that begins with the name of a team, the form in which records of its files show it.
async fn in_team(services: &Services, given: &str) -> ToolResult<Option<Located>> {
    if given.starts_with(['/', '~', '.']) {
        return Ok(None);
    }
    let (name, below) = given.split_once('/').unwrap_or((given, ""));
    let teams = services.reads.teams().await?;
    let mut named = teams.iter().filter(|team| team.name == name);
    let Some(team) = named.next() else {
        return Ok(None);
    };
    if named.next().is_some() {
        return Err(ToolError::refused(format!(
            "several teams are called `{name}`: list_files with the id of one, from list_teams, lists its files"
        )));
    }
    let space = Some(team.space_id);
    Ok(Some(Located {
        path: given.to_owned(),
        local_paths: Vec::new(),
        found: node_in(services, space, below).await?,
        space,
    }))
}

/// Returns true for a path that one of the folders has on this disk.
fn exists_below(folders: &[FolderStatus], given: &str) -> bool {
    let is_there = |folder: &FolderStatus| Path::new(&folder.local).join(given).exists();
    folders.iter().any(is_there)
}

/// Returns the id of the node at a local path, if the service has one there.
pub(super) async fn node_id(call: &Call, folders: &[FolderStatus], local: &str) -> Option<NodeId> {
    let (space, remote) = remote_path(folders, local)?;
    match node_in(&call.services, space, &remote).await {
        Ok(Found::Node(node)) => Some(node.id),
        Ok(Found::Root | Found::Nothing) | Err(_) => None,
    }
}

/// Finds a path in the account's own space, or in that of a team.
async fn node_in(services: &Services, space: Option<SpaceId>, path: &str) -> ToolResult<Found> {
    match space {
        Some(space) => node_at(&services.reads.in_space(space), path).await,
        None => node_at(&services.reads, path).await,
    }
}

async fn node_at(api: &Api, path: &str) -> ToolResult<Found> {
    let mut at: Option<Box<Node>> = None;
    for part in path.split('/').filter(|part| !part.is_empty()) {
        let parent = at.map(|node| (node.id, node.kind));
        let parent = match parent {
            Some((_, Kind::File)) => return Ok(Found::Nothing),
            Some((id, Kind::Folder)) => Some(id),
            None => None,
        };
        let wanted = Name::new(part).map_err(|e| {
            ToolError::argument(format!("the path contains the invalid name {part:?}: {e}"))
        })?;
        let children = api.children(parent, Some(part)).await?;
        let found = children
            .into_iter()
            .find(|node| Name::new(node.name.clone()).is_ok_and(|name| name.key() == wanted.key()));
        match found {
            Some(node) => at = Some(Box::new(node)),
            None => return Ok(Found::Nothing),
        }
    }
    Ok(at.map_or(Found::Root, Found::Node))
}

/// Returns the path on the service of a path in one of the folders, with the team's space that the folder is in, or
/// of one that is on the service itself.
fn remote_path(folders: &[FolderStatus], given: &str) -> Option<(Option<SpaceId>, String)> {
    let wanted = expand_home(given);
    let wanted = if wanted.is_absolute() {
        wanted
    } else {
        why::local_path(folders, given).ok()?
    };
    let resolved = std::fs::canonicalize(&wanted).ok();
    let below = |folder: &FolderStatus| {
        let local = Path::new(&folder.local);
        // A path that climbs leads elsewhere than it reads: only its resolved form counts.
        let inside = |path: &Path| {
            let below = path.strip_prefix(local).ok()?;
            let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
            below
                .components()
                .all(is_plain)
                .then(|| below.to_path_buf())
        };
        inside(&wanted).or_else(|| inside(resolved.as_deref()?))
    };
    let in_folder = folders
        .iter()
        .filter_map(|folder| Some((folder, below(folder)?)))
        // The innermost folder is the one that syncs it.
        .max_by_key(|(folder, _)| folder.local.len());
    if let Some((folder, below)) = in_folder {
        let parts = below.components().map(|part| part.as_os_str().to_str());
        let parts = parts.collect::<Option<Vec<_>>>()?;
        let remote = join_paths(&folder.remote, &parts.join("/"));
        return Some((space_of(folder), remote));
    }
    given
        .starts_with('/')
        .then(|| (None, join_paths(given, "")))
}

fn space_of(folder: &FolderStatus) -> Option<SpaceId> {
    folder.space.as_ref().map(|space| space.id)
}

/// Returns the local paths of a path in a space, one for each folder that syncs it.
pub(super) fn local_paths(
    folders: &[FolderStatus],
    space: Option<SpaceId>,
    remote: &str,
) -> Vec<PathBuf> {
    let local = |folder: &FolderStatus| {
        if space_of(folder) != space {
            return None;
        }
        let top = folder.remote.trim_end_matches('/');
        let below = remote.strip_prefix(top)?;
        let is_below = below.is_empty() || below.starts_with('/');
        is_below.then(|| Path::new(&folder.local).join(below.trim_start_matches('/')))
    };
    folders.iter().filter_map(local).collect()
}

fn join_paths(top: &str, below: &str) -> String {
    let parts = top.split('/').chain(below.split('/'));
    let parts: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_control::TeamSpace;
    use cairn_model::TeamId;

    fn folder(local: &str, remote: &str) -> FolderStatus {
        FolderStatus {
            local: local.to_owned(),
            remote: remote.to_owned(),
            ..FolderStatus::default()
        }
    }

    #[test]
    fn local_paths_and_those_on_the_service_lead_to_each_other() {
        let folders = [folder("/x/Docs", "/job/docs"), folder("/x/All", "/")];
        for (given, remote) in [
            ("/x/Docs/a/b.txt", "/job/docs/a/b.txt"),
            ("/x/Docs/", "/job/docs"),
            ("/x/All/c", "/c"),
            ("/job/docs/a", "/job/docs/a"),
            ("/", "/"),
        ] {
            let found = remote_path(&folders, given);
            assert_eq!(found, Some((None, remote.to_owned())), "{given}");
        }
        let both = [
            PathBuf::from("/x/Docs/a"),
            PathBuf::from("/x/All/job/docs/a"),
        ];
        assert_eq!(local_paths(&folders, None, "/job/docs/a"), both);
        let one = [PathBuf::from("/x/All/job/docs2")];
        assert_eq!(local_paths(&folders, None, "/job/docs2"), one);
        assert_eq!(remote_path(&folders, "somewhere/else"), None);
        let only = [folder("/x/Docs", "/job/docs")];
        let relative = remote_path(&only, "a/b.txt");
        assert_eq!(relative, Some((None, "/job/docs/a/b.txt".to_owned())));
    }

    #[test]
    fn a_folder_of_a_team_leads_to_its_space_alone() {
        let space = SpaceId::from_random_bytes([1; 16]);
        let of_team = FolderStatus {
            space: Some(TeamSpace {
                id: space,
                team: TeamId::from_random_bytes([2; 16]),
                name: "Crew".to_owned(),
            }),
            ..folder("/x/Crew", "/")
        };
        let folders = [folder("/x/All", "/"), of_team];
        let found = remote_path(&folders, "/x/Crew/a");
        assert_eq!(found, Some((Some(space), "/a".to_owned())));
        let own = [PathBuf::from("/x/All/a")];
        assert_eq!(local_paths(&folders, None, "/a"), own);
        let team = [PathBuf::from("/x/Crew/a")];
        assert_eq!(local_paths(&folders, Some(space), "/a"), team);
    }

    #[test]
    fn a_path_that_climbs_is_found_where_it_leads() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("Docs/sub")).unwrap();
        std::fs::create_dir_all(top.join("Other")).unwrap();
        std::fs::write(top.join("Docs/a"), "a").unwrap();
        let local = |name: &str| top.join(name).to_str().unwrap().to_owned();
        let folders = [folder(&local("Docs"), "/docs")];
        let found = |given: &str| Some(remote_path(&folders, &local(given))?.1);
        assert_eq!(found("Docs/sub/../a").as_deref(), Some("/docs/a"));
        assert_eq!(found("Other/../Docs/a").as_deref(), Some("/docs/a"));
        let outside = found("Docs/../Other").unwrap_or_default();
        assert!(!outside.starts_with("/docs"), "{outside}");
    }
}
