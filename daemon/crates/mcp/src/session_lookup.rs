//! Lookups by name or file of what a call has made: for calls whose result nobody got.

use crate::error::ToolResult;
use crate::foreign_records::read_nodes;
use crate::services::Services;
use crate::session_call_time::CallTime;
use crate::session_links::{created_links, is_in_time};
use crate::session_own_change::is_by_this_device;
use crate::spaces::{Location, Sent};
use cairn_api::{ApiError, Method};
use cairn_model::{Kind, Name, NodeId};
use cairn_wire::nodes::Node;
use serde_json::Value;
use std::collections::HashSet;

/// Links that are compared; new ones come first.
const LINKS: &str = "100";

/// Names that a call makes nodes under, one below the other, and the nodes that were there before.
pub(crate) struct NewNodes {
    parent: Option<String>,
    names: Vec<Name>,
    before: HashSet<NodeId>,
}

impl NewNodes {
    /// Looks at what is there now at a path below a folder, or below the top; `None` for a name or a folder that can't
    /// be used, as the call itself says, and for a list that can't be read, as only other services than Cairn's give it.
    ///
    /// # Errors
    /// Those of the service.
    pub(crate) async fn read(
        services: &Services,
        parent: Option<&str>,
        path: &str,
    ) -> ToolResult<Option<Self>> {
        let parts = path.trim_matches('/').split('/');
        let names = parts.map(|part| Name::new(part).ok());
        let Some(names) = names.collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let parent = parent.map(str::to_owned);
        let there = match walk(services, parent.clone(), &names).await {
            Ok(Some(there)) => there,
            Ok(None) => return Ok(None),
            Err(error) if is_refusal(&error) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        Ok(Some(Self {
            parent,
            names,
            before: there.iter().map(|node| node.id).collect(),
        }))
    }

    /// Returns the nodes that a call of this time can have made since, none where nobody has read what was there
    /// before; `None` if they can't be looked up.
    pub(crate) async fn find_any(
        services: &Services,
        before: Option<&Self>,
        time: CallTime,
    ) -> Option<Vec<Node>> {
        match before {
            Some(before) => before.find(services, time).await,
            None => Some(Vec::new()),
        }
    }

    async fn find(&self, services: &Services, time: CallTime) -> Option<Vec<Node>> {
        let there = walk(services, self.parent.clone(), &self.names).await;
        let mut there = there.ok()??;
        there.retain(|node| !self.before.contains(&node.id));
        // What others have made under the name is theirs, and so is what this device has made or changed since.
        there.retain(|node| {
            is_by_this_device(services, node)
                && time.may_include(node.created_at)
                && time.may_include(node.updated_at)
        });
        Some(there)
    }
}

/// Returns true for a look that the service refuses: it refuses the call, too, or the call refuses itself.
fn is_refusal(error: &ApiError) -> bool {
    matches!(
        error,
        ApiError::NotFound { .. } | ApiError::Forbidden { .. } | ApiError::Rejected { .. }
    )
}

/// Returns the nodes of these names, one below the other, as far as they are there; `None` if a list can't be read.
async fn walk(
    services: &Services,
    parent: Option<String>,
    names: &[Name],
) -> Result<Option<Vec<Node>>, ApiError> {
    let mut parent = parent;
    let mut found = Vec::new();
    for name in names {
        if let Some(nodes) = private_children(services, parent.as_ref(), name).await? {
            let Some(node) = nodes.into_iter().next() else {
                break;
            };
            parent = Some(node.id.to_string());
            found.push(node);
            continue;
        }
        let mut query = vec![
            ("name".to_owned(), name.as_str().to_owned()),
            ("state".to_owned(), "active".to_owned()),
        ];
        query.extend(parent.map(|parent| ("parent_id".to_owned(), parent)));
        let Some(nodes) = read_nodes(get(services, "nodes", query).await?) else {
            return Ok(None);
        };
        let Some(node) = nodes
            .into_iter()
            .find(|node| Name::new(node.name.clone()).is_ok_and(|other| other.key() == name.key()))
        else {
            break;
        };
        parent = Some(node.id.to_string());
        let is_folder = node.kind == Kind::Folder;
        found.push(node);
        if !is_folder {
            break;
        }
    }
    Ok(Some(found))
}

/// Returns the nodes of a name in a folder of a private space, which is asked with sealed names; `None` in any other one.
async fn private_children(
    services: &Services,
    parent: Option<&String>,
    name: &Name,
) -> Result<Option<Vec<Node>>, ApiError> {
    let Some(id) = parent.map(|id| id.to_lowercase()) else {
        return Ok(None);
    };
    services
        .find_private_locations(std::slice::from_ref(&id))
        .await?;
    let Some(location) = services.known_location(&id) else {
        return Ok(None);
    };
    if !location.space().is_private() {
        return Ok(None);
    }
    let folder = match location {
        Location::Node(_) => id.parse().ok(),
        Location::Root(_) => None,
    };
    let api = services.reads_in(location.space()).await;
    api.children(folder, Some(name.as_str())).await.map(Some)
}

/// The links that were there before a call made some to these files.
pub(crate) struct NewLinks {
    files: Vec<String>,
    before: HashSet<String>,
}

impl NewLinks {
    /// Looks at the links that are there now, before a call makes some to these files; `None` for a caller who may not
    /// see them, and for a list that can't be read, as only other services than Cairn's give it.
    ///
    /// # Errors
    /// Those of the service.
    pub(crate) async fn read(services: &Services, files: Vec<String>) -> ToolResult<Option<Self>> {
        let links = match read_links(services).await {
            Ok(Some(links)) => links,
            Ok(None) => return Ok(None),
            Err(error) if is_refusal(&error) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        Ok(Some(Self {
            files,
            before: links.iter().flat_map(created_links).collect(),
        }))
    }

    /// Returns the ids of the links to the same files that a call of this time can have made since; `None` if they
    /// can't be looked up.
    pub(crate) async fn find(&self, services: &Services, time: CallTime) -> Option<Vec<String>> {
        let links = read_links(services).await.ok()??;
        let is_old = |link: &Value| {
            let mut ids = created_links(link).into_iter();
            ids.any(|id| self.before.contains(&id))
        };
        let new = links.iter().take_while(|link| !is_old(link));
        let of_files = new.filter(|link| {
            let file = link["file_id"].as_str().unwrap_or_default();
            self.files.iter().any(|wanted| wanted == file) && is_in_time(&link["created_at"], time)
        });
        Some(of_files.flat_map(created_links).collect())
    }
}

/// Returns the newest links; `None` if the list of them can't be read.
async fn read_links(services: &Services) -> Result<Option<Vec<Value>>, ApiError> {
    let query = [("page", "0"), ("page_size", LINKS)];
    let query = query.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let list = get(services, "shares", query.to_vec()).await?;
    Ok(list["content"].as_array().cloned())
}

async fn get(
    services: &Services,
    path: &str,
    query: Vec<(String, String)>,
) -> Result<Value, ApiError> {
    let sent = Sent {
        root: "/api/v1".to_owned(),
        method: Method::GET,
        path: vec![path.to_owned()],
        query,
        body: None,
    };
    services.send(sent).await.map_err(|failure| failure.error)
}
