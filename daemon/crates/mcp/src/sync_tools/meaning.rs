//! The one file that a path means. Paths are written in three ways, and one that can mean two files is refused: what
//! is done to the wrong one may not come back.

use super::folders::{LocalMeaning, Place, SyncedFolders, join_paths};
use crate::error::{ToolError, ToolResult};
use crate::quote::{quote, quote_path};
use crate::services::Services;
use cairn_api::Api;
use cairn_model::{Kind, Name};
use cairn_wire::nodes::Node;
use cairn_wire::teams::Team;
use std::path::PathBuf;

/// A path, and what the service has there.
pub(crate) struct Located {
    pub(crate) place: Place,
    /// The path as records of the node show it; `None` if that could be taken for another one.
    pub(super) shown: Option<String>,
    pub(super) local_paths: Vec<PathBuf>,
    pub(crate) found: Found,
}

/// The thing that the service has at a path.
pub(crate) enum Found {
    Root,
    Node(Box<Node>),
    Nothing,
}

/// One of the things that a path can mean.
struct Meaning {
    place: Place,
    team: Option<String>,
    /// The path on this machine, for one that is read so.
    local: Option<PathBuf>,
    found: Found,
}

impl Meaning {
    fn is_there(&self) -> bool {
        let on_disk = |path: &PathBuf| path.symlink_metadata().is_ok();
        !matches!(self.found, Found::Nothing) || self.local.as_ref().is_some_and(on_disk)
    }

    /// Returns what it is, for a message.
    fn describe(&self) -> String {
        let id = match &self.found {
            Found::Node(node) => format!(" (id {})", node.id),
            Found::Root | Found::Nothing => String::new(),
        };
        match (&self.local, &self.team) {
            (Some(local), _) => format!("{}{id} on this machine", quote_path(local)),
            (None, Some(team)) => {
                let below = self.place.path.trim_start_matches('/');
                format!("{}{id} in the team {}", quote(below), quote(team))
            }
            (None, None) => format!("{}{id} on the service", quote(&self.place.path)),
        }
    }
}

/// Returns what a path of a file on this machine, on the service (`/a/b`) or in a team (`Team/a/b`) names.
///
/// # Errors
/// [`ToolError::Refused`] for a path that can mean several files, or names one on this machine where its folders have
/// those of another account; errors of the service.
pub(crate) async fn find_path(
    services: &Services,
    synced: &SyncedFolders,
    given: &str,
) -> ToolResult<Located> {
    let teams = if may_begin_with_team(given) {
        services.reads.teams().await?
    } else {
        Vec::new()
    };
    let on_service = on_service(&teams, given);
    let mut local = synced.meanings_of(given);
    if !may_be_absolute(given) && !on_service.is_empty() {
        // Nothing else makes it a path on this machine.
        local.retain(|meaning| meaning.local.symlink_metadata().is_ok());
    }
    let meanings = all_meanings(services, synced, on_service, local).await?;
    let meaning = choose(given, synced, meanings)?;
    if let (Some(_), Some(reason)) = (&meaning.local, &synced.foreign) {
        return Err(ToolError::refused(reason.clone()));
    }
    Ok(located_at(synced, &teams, meaning))
}

fn located_at(synced: &SyncedFolders, teams: &[Team], meaning: Meaning) -> Located {
    let shown = match &meaning.team {
        None => Some(meaning.place.path.clone()),
        Some(team) => Some(format!("{team}{}", meaning.place.path)),
    };
    let shown = shown.filter(|shown| is_unmistakable(synced, teams, &meaning.place, shown));
    Located {
        local_paths: synced.local_paths(&meaning.place),
        place: meaning.place,
        shown,
        found: meaning.found,
    }
}

/// Looks all meanings of a path up. One that is both on this machine and on the service is the same file.
async fn all_meanings(
    services: &Services,
    synced: &SyncedFolders,
    on_service: Vec<(Place, Option<String>)>,
    local: Vec<LocalMeaning>,
) -> ToolResult<Vec<Meaning>> {
    let mut meanings: Vec<Meaning> = Vec::new();
    for (place, team) in on_service {
        let is_also_local =
            synced.foreign.is_none() && local.iter().any(|meaning| meaning.place == place);
        if !is_also_local {
            let found = node_in(services, &place).await?;
            meanings.push(Meaning {
                place,
                team,
                local: None,
                found,
            });
        }
    }
    for LocalMeaning { local, place, team } in local {
        if synced.foreign.is_some() || meanings.iter().all(|known| known.place != place) {
            // The files of another account are not looked for.
            let found = match synced.foreign {
                Some(_) => Found::Nothing,
                None => node_in(services, &place).await?,
            };
            meanings.push(Meaning {
                place,
                team,
                local: Some(local),
                found,
            });
        }
    }
    Ok(meanings)
}

/// Returns the one meaning of a path that is there, or, where nothing is, the one that it would have.
fn choose(given: &str, synced: &SyncedFolders, meanings: Vec<Meaning>) -> ToolResult<Meaning> {
    let mut there: Vec<_> = meanings
        .iter()
        .filter(|meaning| meaning.is_there())
        .collect();
    if there.len() > 1 {
        let described: Vec<_> = there.drain(..).map(Meaning::describe).collect();
        return Err(ToolError::refused(format!(
            "`{given}` can mean {}: give the id of the one that is meant{}",
            described.join(", or "),
            other_way(given)
        )));
    }
    let one_there = meanings.iter().position(Meaning::is_there);
    // A path below a synced folder is one of this machine.
    let local = meanings.iter().position(|meaning| meaning.local.is_some());
    let at = one_there.or(local).unwrap_or_default();
    let mut meanings = meanings;
    if at < meanings.len() {
        return Ok(meanings.swap_remove(at));
    }
    Err(ToolError::refused(if synced.folders.is_empty() {
        format!(
            "`{given}` is not a path on the service such as /a/b, and does not begin with the name of a team; no synced folder of this machine is known here"
        )
    } else {
        format!(
            "`{given}` is in no synced folder ({}), and is not a path on the service such as /a/b: give its whole path",
            synced.list_folders()
        )
    }))
}

/// Returns another way to name a file than by its id.
fn other_way(given: &str) -> &'static str {
    if given.starts_with('/') {
        ", or a path on this machine that begins with ~/"
    } else {
        ", or its whole path: on this machine one that begins with / or ~/"
    }
}

/// Returns true for a path that can only be whole.
fn may_be_absolute(given: &str) -> bool {
    given.starts_with(['/', '~'])
}

fn may_begin_with_team(given: &str) -> bool {
    !given.starts_with(['/', '~', '.'])
}

/// Returns the places on the service that a path can mean, with the names of their teams.
fn on_service(teams: &[Team], given: &str) -> Vec<(Place, Option<String>)> {
    if given.starts_with('/') {
        let path = join_paths(given, "");
        return vec![(Place { space: None, path }, None)];
    }
    let in_team = |team: &Team| {
        let path = join_paths(below_team(&team.name, given)?, "");
        let space = Some(team.space_id);
        Some((Place { space, path }, Some(team.name.clone())))
    };
    teams.iter().filter_map(in_team).collect()
}

/// Returns the part of a path after the name of a team that it begins with.
fn below_team<'a>(name: &str, path: &'a str) -> Option<&'a str> {
    let below = path.strip_prefix(name).filter(|_| !name.is_empty())?;
    (below.is_empty() || below.starts_with('/')).then_some(below)
}

/// Returns true if a path, given back, can only mean this place.
pub(crate) fn is_unmistakable(
    synced: &SyncedFolders,
    teams: &[Team],
    place: &Place,
    shown: &str,
) -> bool {
    let is_it = |other: &Place| other == place;
    let on_service = on_service(
        if may_begin_with_team(shown) {
            teams
        } else {
            &[]
        },
        shown,
    );
    let is_on_service = place.space.is_none() || on_service.len() == 1;
    let mut local = synced.meanings_of(shown);
    if !may_be_absolute(shown) {
        local.retain(|meaning| meaning.local.symlink_metadata().is_ok());
    }
    is_on_service
        && on_service.iter().all(|(other, _)| is_it(other))
        && local.iter().all(|meaning| is_it(&meaning.place))
}

/// Finds a path in the account's own space, or in that of a team.
pub(super) async fn node_in(services: &Services, place: &Place) -> ToolResult<Found> {
    match place.space {
        Some(space) => node_at(&services.reads.in_space(space), &place.path).await,
        None => node_at(&services.reads, &place.path).await,
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

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_control::{FolderStatus, TeamSpace};
    use cairn_model::{SpaceId, TeamId};
    use serde_json::json;

    fn team(n: u8, name: &str) -> Team {
        let id = |n| SpaceId::from_random_bytes([n; 16]);
        let team = json!({
            "id": id(n), "name": name, "role": "owner", "owner_id": id(99), "owner_name": "Ada",
            "member_count": 1, "space_id": id(n), "key_epoch": 1,
            "created_at": "2026-11-22T03:05:53.123Z",
        });
        serde_json::from_value(team).unwrap()
    }

    fn in_team(n: u8, path: &str) -> Place {
        Place {
            space: Some(SpaceId::from_random_bytes([n; 16])),
            path: path.to_owned(),
        }
    }

    fn own(path: &str) -> Place {
        Place {
            space: None,
            path: path.to_owned(),
        }
    }

    fn synced(dir: &std::path::Path, space: Option<TeamSpace>) -> SyncedFolders {
        let folder = FolderStatus {
            local: dir.to_str().unwrap().to_owned(),
            remote: "/".to_owned(),
            space,
            ..FolderStatus::default()
        };
        SyncedFolders {
            folders: vec![folder],
            foreign: None,
        }
    }

    #[test]
    fn a_path_in_a_team_that_is_also_one_of_this_machine_is_not_shown() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let (teams, shown) = ([team(1, "Dev Team")], "Dev Team/budget.txt");
        let place = in_team(1, "/budget.txt");
        let folders = synced(&top, None);
        assert!(is_unmistakable(&folders, &teams, &place, shown));
        std::fs::create_dir(top.join("Dev Team")).unwrap();
        std::fs::write(top.join(shown), "private").unwrap();
        assert!(!is_unmistakable(&folders, &teams, &place, shown));
        // The folder of the team itself is the same file.
        let space = TeamSpace {
            id: SpaceId::from_random_bytes([1; 16]),
            team: TeamId::from_random_bytes([1; 16]),
            name: "Dev Team".to_owned(),
        };
        let of_team = synced(&top.join("Dev Team"), Some(space));
        let both = SyncedFolders {
            folders: [folders.folders, of_team.folders].concat(),
            foreign: None,
        };
        assert!(is_unmistakable(&both, &teams, &place, shown));
    }

    #[test]
    fn a_path_on_the_service_below_a_synced_folder_of_this_machine_is_not_shown() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let folders = synced(&top, None);
        let shown = top.join("notes.txt").to_str().unwrap().to_owned();
        assert!(!is_unmistakable(&folders, &[], &own(&shown), &shown));
        assert!(is_unmistakable(&folders, &[], &own("/docs/a"), "/docs/a"));
    }

    #[test]
    fn a_team_whose_name_reads_as_another_path_has_none() {
        let teams = [
            team(1, "Ops"),
            team(2, "Ops/EU"),
            team(3, "/x"),
            team(4, "Five"),
            team(5, "Five"),
        ];
        let none = SyncedFolders::default();
        for (n, path, shown, is_shown) in [
            (1, "/a", "Ops/a", true),
            (1, "/EU/a", "Ops/EU/a", false),
            (2, "/a", "Ops/EU/a", false),
            (3, "/a", "/x/a", false),
            (4, "/a", "Five/a", false),
        ] {
            let place = in_team(n, path);
            assert_eq!(
                is_unmistakable(&none, &teams, &place, shown),
                is_shown,
                "{shown}"
            );
        }
    }

    fn meaning(place: Place, local: Option<&str>, found: Found) -> Meaning {
        Meaning {
            team: place.space.map(|_| "Dev Team".to_owned()),
            place,
            local: local.map(PathBuf::from),
            found,
        }
    }

    #[test]
    fn a_path_that_can_mean_two_files_is_refused_with_both() {
        let given = "Dev Team/a.txt";
        let synced = SyncedFolders::default();
        let chosen = |found| {
            let in_team = meaning(in_team(1, "/a.txt"), None, found);
            let local = meaning(
                own("/Dev Team/a.txt"),
                Some("/nowhere/Dev Team/a.txt"),
                Found::Root,
            );
            choose(given, &synced, vec![in_team, local])
        };
        let refused = chosen(Found::Root).err().unwrap().to_string();
        for part in [
            "`a.txt` in the team `Dev Team`",
            "`/nowhere/Dev Team/a.txt` on this machine",
            "give the id",
        ] {
            assert!(refused.contains(part), "{refused}");
        }
        let one = chosen(Found::Nothing).unwrap();
        assert_eq!(one.place, own("/Dev Team/a.txt"));
        let nothing = vec![meaning(own("/a"), None, Found::Nothing)];
        assert_eq!(choose("/a", &synced, nothing).unwrap().place, own("/a"));
        assert!(choose("a/b", &synced, Vec::new()).is_err());
    }
}
