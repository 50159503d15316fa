//! Adds paths to the files and folders in a result, so that two of one name can be told apart without walking up
//! from folder to folder: `/a/b` in the account's own space (its files), `Team/a/b` in that of a team.

use crate::services::Services;
use cairn_api::{Api, ApiError};
use cairn_model::{NodeId, SpaceId};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Folders that are looked up for one result; nodes below others come without a path.
const MAX_LOOKUPS: usize = 60;

/// Adds the paths of nodes to a result. A node whose path can't be found stays without.
pub(crate) async fn add(services: &Services, value: &mut Value) {
    let mut places = Vec::new();
    visit(value, &mut |node| places.extend(place(node)));
    if places.is_empty() {
        return;
    }
    let Ok(mut paths) = Paths::new(services).await else {
        return;
    };
    for (space, parent) in places {
        paths.find(space, parent).await;
    }
    visit(value, &mut |node| {
        let found = place(node).and_then(|(space, parent)| paths.cached_path(space, parent));
        let name = node["name"].as_str().unwrap_or_default();
        if let Some(folder) = found {
            node["path"] = json!(format!("{folder}/{name}"));
        }
    });
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
    /// The first part of the paths of each space.
    tops: HashMap<SpaceId, String>,
    folders: HashMap<NodeId, String>,
    lookups: usize,
}

impl<'a> Paths<'a> {
    async fn new(services: &'a Services) -> Result<Self, ApiError> {
        Ok(Self {
            services,
            own: services.own_space_id().await?,
            tops: HashMap::new(),
            folders: HashMap::new(),
            lookups: 0,
        })
    }

    fn cached_path(&self, space: SpaceId, folder: Option<NodeId>) -> Option<&str> {
        let top = self.tops.get(&space)?;
        match folder {
            None => Some(top),
            Some(id) => self.folders.get(&id).map(String::as_str),
        }
    }

    /// Looks the path of a folder up, and remembers those of the folders above it.
    async fn find(&mut self, space: SpaceId, folder: Option<NodeId>) {
        let Some(top) = self.top(space).await else {
            return;
        };
        let api = if space == self.own {
            None
        } else {
            Some(self.services.reads.in_space(space))
        };
        let api: &Api = api.as_ref().unwrap_or(&self.services.reads);
        let mut names: Vec<(NodeId, String)> = Vec::new();
        let mut at = folder;
        let mut path = loop {
            let Some(id) = at else { break top };
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
            names.push((id, node.name));
            at = node.parent_id;
        };
        while let Some((id, name)) = names.pop() {
            path = format!("{path}/{name}");
            self.folders.insert(id, path.clone());
        }
    }

    async fn top(&mut self, space: SpaceId) -> Option<String> {
        if let Some(top) = self.tops.get(&space) {
            return Some(top.clone());
        }
        let top = if space == self.own {
            String::new()
        } else {
            let teams = self.services.reads.teams().await.ok()?;
            let team = teams.into_iter().find(|team| team.space_id == space)?;
            team.name
        };
        self.tops.insert(space, top.clone());
        Some(top)
    }
}
