//! Lookups by name or file of what a call has made: for calls whose result nobody got.

use crate::services::Services;
use crate::session_links::created_links;
use crate::session_own_change::is_by_this_device;
use crate::spaces::Sent;
use cairn_api::Method;
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
    /// Looks at what is there now at a path below a folder, or below the top.
    pub(crate) async fn read(
        services: &Services,
        parent: Option<&str>,
        path: &str,
    ) -> Option<Self> {
        let parts = path.trim_matches('/').split('/');
        let names = parts.map(|part| Name::new(part).ok());
        let names = names.collect::<Option<Vec<_>>>()?;
        let parent = parent.map(str::to_owned);
        let there = walk(services, parent.clone(), &names).await?;
        Some(Self {
            parent,
            names,
            before: there.iter().map(|node| node.id).collect(),
        })
    }

    /// Returns the nodes that have come since, none where nobody has read what was there before; `None` if they can't
    /// be looked up.
    pub(crate) async fn find_any(services: &Services, before: Option<&Self>) -> Option<Vec<Node>> {
        match before {
            Some(before) => before.find(services).await,
            None => Some(Vec::new()),
        }
    }

    async fn find(&self, services: &Services) -> Option<Vec<Node>> {
        let mut there = walk(services, self.parent.clone(), &self.names).await?;
        there.retain(|node| !self.before.contains(&node.id));
        // What others have made under the name is theirs.
        there.retain(|node| is_by_this_device(services, node));
        Some(there)
    }
}

/// Returns the nodes of these names, one below the other, as far as they are there.
async fn walk(services: &Services, parent: Option<String>, names: &[Name]) -> Option<Vec<Node>> {
    let mut parent = parent;
    let mut found = Vec::new();
    for name in names {
        let mut query = vec![
            ("name".to_owned(), name.as_str().to_owned()),
            ("state".to_owned(), "active".to_owned()),
        ];
        query.extend(parent.map(|parent| ("parent_id".to_owned(), parent)));
        let mut list = get(services, "nodes", query).await?;
        let nodes: Vec<Node> = serde_json::from_value(list["content"].take()).ok()?;
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
    Some(found)
}

/// The links that were there before a call made some to these files.
pub(crate) struct NewLinks {
    files: Vec<String>,
    before: HashSet<String>,
}

impl NewLinks {
    /// Looks at the links that are there now, before a call makes some to these files.
    pub(crate) async fn read(services: &Services, files: Vec<String>) -> Option<Self> {
        let links = read_links(services).await?;
        Some(Self {
            files,
            before: links.iter().flat_map(created_links).collect(),
        })
    }

    /// Returns the ids of the links to the same files that have come since; `None` if they can't be looked up.
    pub(crate) async fn find(&self, services: &Services) -> Option<Vec<String>> {
        let links = read_links(services).await?;
        let is_old = |link: &Value| {
            let mut ids = created_links(link).into_iter();
            ids.any(|id| self.before.contains(&id))
        };
        let new = links.iter().take_while(|link| !is_old(link));
        let of_files = new.filter(|link| {
            let file = link["file_id"].as_str().unwrap_or_default();
            self.files.iter().any(|wanted| wanted == file)
        });
        Some(of_files.flat_map(created_links).collect())
    }
}

async fn read_links(services: &Services) -> Option<Vec<Value>> {
    let query = [("page", "0"), ("page_size", LINKS)];
    let query = query.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let list = get(services, "shares", query.to_vec()).await?;
    Some(list["content"].as_array()?.clone())
}

async fn get(services: &Services, path: &str, query: Vec<(String, String)>) -> Option<Value> {
    let sent = Sent {
        root: "/api/v1".to_owned(),
        method: Method::GET,
        path: vec![path.to_owned()],
        query,
        body: None,
    };
    services.send(sent).await.ok()
}
