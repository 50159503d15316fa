//! The one file that a path means. Paths are written in three ways, and one that can mean two files is refused: what
//! is done to the wrong one may not come back.

#[cfg(test)]
mod tests;

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
                if let (true, Some(space)) = (below.is_empty(), self.place.space) {
                    return format!("the top of the team {} (id {space})", quote(team));
                }
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
        services.teams().await?
    } else {
        Vec::new()
    };
    let on_service = on_service(&teams, given);
    let mut local = synced.meanings_of(given);
    if !is_whole(given) && !on_service.is_empty() {
        // Nothing else makes it a path on this machine.
        local.retain(|meaning| meaning.local.symlink_metadata().is_ok());
    }
    let meanings = all_meanings(services, synced, on_service, local).await?;
    let meaning = choose(given, synced, meanings)?;
    if let (Some(_), Some(foreign)) = (&meaning.local, &synced.foreign) {
        return Err(foreign.refusal());
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
fn choose(given: &str, synced: &SyncedFolders, mut meanings: Vec<Meaning>) -> ToolResult<Meaning> {
    let there = meanings.iter().filter(|meaning| meaning.is_there());
    let described: Vec<_> = there.map(Meaning::describe).collect();
    if described.len() > 1 {
        return Err(ToolError::refused(format!(
            "{} can mean {}: give the id of the one that is meant{}",
            quote(given),
            described.join(", or "),
            other_way(given)
        )));
    }
    let there = meanings.iter().position(Meaning::is_there);
    // A path below a synced folder is one of this machine.
    let local = meanings.iter().position(|meaning| meaning.local.is_some());
    let first = (!meanings.is_empty()).then_some(0);
    match there.or(local).or(first) {
        Some(at) => Ok(meanings.swap_remove(at)),
        None => Err(no_meaning_error(given, synced)),
    }
}

fn no_meaning_error(given: &str, synced: &SyncedFolders) -> ToolError {
    let given = quote(given);
    ToolError::refused(if synced.folders.is_empty() {
        format!(
            "{given} is not a path on the service such as /a/b, and does not begin with the name of a team; no synced folder of this machine is known here"
        )
    } else {
        format!(
            "{given} is in no synced folder ({}), or in several, and is not a path on the service such as /a/b: give its whole path",
            synced.list_folders()
        )
    })
}

/// Returns another way to name a file than by its id.
fn other_way(given: &str) -> &'static str {
    if given.starts_with('/') {
        ", or a path on this machine that begins with ~/"
    } else {
        ", or its whole path: on this machine one that begins with / or ~/"
    }
}

/// Returns true for a path that is whole, and below no other.
fn is_whole(given: &str) -> bool {
    given.starts_with(['/', '~'])
}

pub(super) fn may_begin_with_team(given: &str) -> bool {
    !given.starts_with(['/', '~', '.'])
}

/// Returns the places on the service that a path can mean, with the names of their teams.
pub(super) fn on_service(teams: &[Team], given: &str) -> Vec<(Place, Option<String>)> {
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
    if !is_whole(shown) {
        local.retain(|meaning| meaning.local.symlink_metadata().is_ok());
    }
    is_on_service
        && on_service.iter().all(|(other, _)| is_it(other))
        && local.iter().all(|meaning| is_it(&meaning.place))
}

/// Finds a path in the account's own space, or in that of a team.
pub(super) async fn node_in(services: &Services, place: &Place) -> ToolResult<Found> {
    match place.space {
        Some(space) => node_at(&services.reads_in(space).await, &place.path).await,
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
