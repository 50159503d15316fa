//! The server's files seen through its REST API: nodes (files and folders) by path, and the change feed. Has no key to
//! any content.

use crate::http::Http;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// The remote folder that both devices of a test are linked to.
pub const REMOTE: &str = "sync";

/// One node as the server knows it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Node {
    pub id: String,
    pub parent_id: Option<String>,
    pub kind: String,
    pub name: String,
    pub revision_id: Option<String>,
    pub size: u64,
    pub version: u64,
    pub executable: bool,
}

/// A REST client with an API key and no passphrase.
#[derive(Clone, Debug)]
pub struct Service(Http);

impl Service {
    pub(crate) fn new(base: &str, key: &str) -> Self {
        Self(Http::new(base, Some(key)))
    }

    /// All active nodes below the synced folder, by path relative to it.
    ///
    /// # Errors
    /// No answer, or nodes without a parent.
    pub fn tree(&self) -> Result<BTreeMap<String, Node>> {
        let mut nodes: HashMap<String, Node> = HashMap::new();
        let mut after: Option<String> = None;
        loop {
            let query = after.map(|a| format!("&after={a}")).unwrap_or_default();
            let page = self
                .0
                .get(&format!("/api/v1/changes/snapshot?limit=1000{query}"))?;
            let list: Vec<Node> = serde_json::from_value(page["nodes"].clone())?;
            nodes.extend(list.into_iter().map(|node| (node.id.clone(), node)));
            after = page["next"].as_str().map(str::to_owned);
            if after.is_none() {
                break;
            }
        }
        let mut tree = BTreeMap::new();
        for node in nodes.values() {
            let path = path_of(node, &nodes)?;
            if let Some(inside) = path.strip_prefix(&format!("{REMOTE}/")) {
                tree.insert(inside.to_owned(), node.clone());
            }
        }
        Ok(tree)
    }

    /// The node at a path of the synced folder.
    ///
    /// # Errors
    /// There is none.
    pub fn node(&self, path: &str) -> Result<Node> {
        self.tree()?
            .remove(path)
            .with_context(|| format!("the server has no node at {path}"))
    }

    /// The present end of the change feed.
    ///
    /// # Errors
    /// No answer.
    pub fn cursor(&self) -> Result<String> {
        let page = self.0.get("/api/v1/changes/snapshot?limit=1")?;
        page["cursor"]
            .as_str()
            .map(str::to_owned)
            .context("a snapshot without a cursor")
    }

    /// Returns the number of changes after a cursor. A folder's move, or its deletion with all that
    /// is in it, is one.
    ///
    /// # Errors
    /// No answer.
    pub fn changes_since(&self, cursor: &str) -> Result<usize> {
        let (mut count, mut cursor) = (0, cursor.to_owned());
        loop {
            let page = self
                .0
                .get(&format!("/api/v1/changes?limit=1000&cursor={cursor}"))?;
            count += page["changes"]
                .as_array()
                .context("a page without changes")?
                .len();
            cursor = page["cursor"]
                .as_str()
                .context("a page without a cursor")?
                .to_owned();
            if page["has_more"] != Value::Bool(true) {
                return Ok(count);
            }
        }
    }

    /// The id of a folder at the top of the space.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn folder_id(&self, name: &str) -> Result<String> {
        let page = self.0.get(&format!("/api/v1/nodes?name={name}"))?;
        page["content"][0]["id"]
            .as_str()
            .map(str::to_owned)
            .with_context(|| format!("the server has no folder {name}"))
    }

    /// Makes a folder as somebody without the passphrase would: unsealed.
    ///
    /// # Errors
    /// The server refuses it.
    pub fn create_folder(&self, parent_id: Option<&str>, name: &str) -> Result<()> {
        let body = json!({"parent_id": parent_id, "kind": "folder", "name": name});
        self.0.post("/api/v1/nodes", &body)?;
        Ok(())
    }
}

fn path_of(node: &Node, nodes: &HashMap<String, Node>) -> Result<String> {
    let mut names = vec![node.name.as_str()];
    let mut at = node;
    while let Some(parent) = &at.parent_id {
        at = nodes.get(parent).with_context(|| {
            format!(
                "{} has the parent {parent}, which is no active node",
                at.name
            )
        })?;
        names.push(&at.name);
        if names.len() > 1000 {
            bail!("the server's tree has a cycle through {}", at.name);
        }
    }
    names.reverse();
    Ok(names.join("/"))
}
