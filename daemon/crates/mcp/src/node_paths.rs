//! Adds paths to the files and folders in a result, so that two of one name can be told apart without walking up
//! from folder to folder: `/a/b` in the account's own space (its files), `Team/a/b` in that of a team. A path that,
//! given back to a tool, could name another file is not shown; what lies in the trash has a former path.

use crate::clean;
use crate::services::Services;
use crate::sync_tools::{Place, SyncedFolders, is_unmistakable};
use cairn_api::{Api, ApiError};
use cairn_model::{Name, NodeId, SpaceId};
use cairn_wire::teams::Team;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Folders that are looked up for one result; nodes below others come without a path.
const MAX_LOOKUPS: usize = 60;
/// The mark of a node whose name or path has characters that nobody sees, and that are left out here.
pub(crate) const HIDDEN: &str = "invisible_characters";

/// Adds the paths of nodes to a result. A node whose path can't be found stays without.
pub(crate) async fn add(services: &Services, value: &mut Value) {
    visit(value, &mut mark_team);
    let mut places = Vec::new();
    visit(value, &mut |node| places.extend(place(node)));
    if places.is_empty() {
        return;
    }
    let mut paths = match Paths::new(services).await {
        Ok(paths) => paths,
        Err(error) => {
            tracing::debug!(%error, "the files of a result come without their paths");
            return;
        }
    };
    for (space, parent) in places {
        paths.find(space, parent).await;
    }
    // Without them a path is shown that may have two meanings: it is refused when it is given back.
    let synced = SyncedFolders::read(services).await.unwrap_or_default();
    visit(value, &mut |node| {
        let found = place(node).and_then(|(space, parent)| paths.folder(space, parent));
        let Some(found) = found else {
            return;
        };
        let name = node["name"].as_str().unwrap_or_default();
        let Some(found) = found.child(name) else {
            return;
        };
        if clean::text(&found.shown) != found.shown {
            node[HIDDEN] = json!(true);
        } else if node["state"] == "trashed" {
            node["former_path"] = json!(found.shown);
        } else if is_unmistakable(&synced, paths.teams(), &found.place, &found.shown) {
            node["path"] = json!(found.shown);
        }
    });
}

/// Returns the path of a node for a person to read, whether it could name another file or not.
pub(crate) async fn for_person(services: &Services, node: &Value) -> Option<String> {
    let (space, parent) = place(node)?;
    let mut paths = Paths::new(services).await.ok()?;
    paths.find(space, parent).await;
    let folder = paths.folder(space, parent)?;
    Some(folder.child(node["name"].as_str()?)?.shown)
}

/// A path as it is shown, and the place that it stands for.
struct ShownPath {
    shown: String,
    place: Place,
}

impl ShownPath {
    /// Returns the path of something in this folder; `None` for a name with which it would be another one.
    fn child(self, name: &str) -> Option<Self> {
        Name::new(name).ok()?;
        Some(Self {
            shown: format!("{}/{name}", self.shown),
            place: Place {
                space: self.place.space,
                path: format!("{}/{name}", self.place.path),
            },
        })
    }
}

/// Returns the space and folder of a record if it is that of a node.
fn place(record: &Value) -> Option<(SpaceId, Option<NodeId>)> {
    record.get("kind")?;
    record["name"].as_str()?;
    let space = record["space_id"].as_str()?.parse().ok()?;
    let parent = record.get("parent_id")?;
    let parent = if parent.is_null() {
        None
    } else {
        Some(parent.as_str()?.parse().ok()?)
    };
    Some((space, parent))
}

/// Marks the record of a team whose name has characters that nobody sees: it may read like that of another one.
fn mark_team(record: &mut Value) {
    let is_team = record.get("owner_id").is_some() && record.get("space_id").is_some();
    let is_hidden = |name: &str| clean::text(name) != name;
    if is_team && record["name"].as_str().is_some_and(is_hidden) {
        record[HIDDEN] = json!(true);
    }
}

fn visit(value: &mut Value, work: &mut dyn FnMut(&mut Value)) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| visit(item, work)),
        Value::Object(_) => {
            work(value);
            let fields = value.as_object_mut().into_iter();
            let fields = fields.flat_map(|fields| fields.values_mut());
            fields.for_each(|field| visit(field, work));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Paths of folders, looked up as needed.
struct Paths<'a> {
    services: &'a Services,
    own: SpaceId,
    /// The caller's teams, once one of their files was met; none if they can't be asked for.
    teams: Option<Vec<Team>>,
    /// The first part of the paths of each space; `None` for one that can't be found.
    tops: HashMap<SpaceId, Option<String>>,
    /// The paths of folders in their spaces.
    folders: HashMap<NodeId, String>,
    lookups: usize,
}

impl<'a> Paths<'a> {
    async fn new(services: &'a Services) -> Result<Self, ApiError> {
        Ok(Self {
            services,
            own: services.own_space_id().await?,
            teams: None,
            tops: HashMap::new(),
            folders: HashMap::new(),
            lookups: 0,
        })
    }

    /// Returns the caller's teams, as far as they were asked for.
    fn teams(&self) -> &[Team] {
        self.teams.as_deref().unwrap_or_default()
    }

    /// Returns a folder that was looked up; `None` for the top.
    fn folder(&self, space: SpaceId, folder: Option<NodeId>) -> Option<ShownPath> {
        let top = self.tops.get(&space)?.as_ref()?;
        let path = match folder {
            None => "",
            Some(id) => self.folders.get(&id)?,
        };
        Some(ShownPath {
            shown: format!("{top}{path}"),
            place: Place {
                space: (space != self.own).then_some(space),
                path: path.to_owned(),
            },
        })
    }

    /// Looks the path of a folder up, and remembers those of the folders above it.
    async fn find(&mut self, space: SpaceId, folder: Option<NodeId>) {
        if !self.find_top(space).await {
            return;
        }
        let api = if space == self.own {
            None
        } else {
            Some(self.services.reads_in(space).await)
        };
        let api: &Api = api.as_ref().unwrap_or(&self.services.reads);
        let mut names: Vec<(NodeId, String)> = Vec::new();
        let mut at = folder;
        let mut path = loop {
            let Some(id) = at else { break String::new() };
            if let Some(path) = self.folders.get(&id) {
                break path.clone();
            }
            if self.lookups >= MAX_LOOKUPS {
                return;
            }
            self.lookups += 1;
            let Ok(node) = api.node(id).await else {
                return;
            };
            // With a `/` in it, the path would be that of another folder.
            if Name::new(node.name.as_str()).is_err() {
                return;
            }
            names.push((id, node.name));
            at = node.parent_id;
        };
        while let Some((id, name)) = names.pop() {
            path = format!("{path}/{name}");
            self.folders.insert(id, path.clone());
        }
    }

    /// Finds the first part of the paths of a space, and returns whether there is one. The teams are asked for once.
    async fn find_top(&mut self, space: SpaceId) -> bool {
        if let Some(top) = self.tops.get(&space) {
            return top.is_some();
        }
        let top = if space == self.own {
            Some(String::new())
        } else {
            if self.teams.is_none() {
                let teams = self.services.teams().await;
                // Without them the result is of use, and comes without paths.
                let teams = teams.unwrap_or_else(|error| {
                    tracing::debug!(%error, "the files of teams come without their paths");
                    Vec::new()
                });
                self.teams = Some(teams);
            }
            let team = self.teams().iter().find(|team| team.space_id == space);
            team.map(|team| team.name.clone())
        };
        let is_found = top.is_some();
        self.tops.insert(space, top);
        is_found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_team_with_a_hidden_part_in_its_name_is_marked() {
        let team = |name: &str| json!({ "name": name, "owner_id": "1", "space_id": "2" });
        let mut teams = json!({ "content": [team("Crew"), team("Cr\u{200b}ew")] });
        visit(&mut teams, &mut mark_team);
        assert!(teams["content"][0].get(HIDDEN).is_none(), "{teams}");
        assert_eq!(teams["content"][1][HIDDEN], true);
        let mut comment = json!({ "name": "Cr\u{200b}ew", "owner_id": "1" });
        visit(&mut comment, &mut mark_team);
        assert!(comment.get(HIDDEN).is_none());
    }

    #[test]
    fn a_name_that_reads_as_a_path_has_none() {
        let folder = || ShownPath {
            shown: "/a".to_owned(),
            place: Place {
                space: None,
                path: "/a".to_owned(),
            },
        };
        assert_eq!(folder().child("b").unwrap().shown, "/a/b");
        for name in ["b/c", "..", ""] {
            assert!(folder().child(name).is_none(), "{name}");
        }
    }
}
