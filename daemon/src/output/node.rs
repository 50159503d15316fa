//! Files and folders of the service, as commands show them.

use crate::output::Out;
use crate::output::table::{Align, Table};
use crate::output::text::{local_time, size};
use cairn_model::{DeviceId, Kind, NodeId, RevisionId};
use cairn_platform::Zone;
use cairn_wire::Timestamp;
use cairn_wire::nodes::Node;
use serde::Serialize;
use std::collections::BTreeMap;

/// A node without what only programs with keys can use.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct NodeView {
    pub(crate) id: NodeId,
    pub(crate) path: String,
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) size: u64,
    pub(crate) parent_id: Option<NodeId>,
    pub(crate) revision_id: Option<RevisionId>,
    pub(crate) version: u64,
    pub(crate) mime_type: Option<String>,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) modified_at: Option<Timestamp>,
    pub(crate) executable: bool,
    pub(crate) description: String,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) tags: Vec<String>,
    pub(crate) favorite: bool,
    pub(crate) device_id: Option<DeviceId>,
    /// The sum of all files below a folder, where that was asked for and the server says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) total: Option<FolderTotal>,
}

/// The files below a folder, at every depth, and their bytes together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct FolderTotal {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

impl NodeView {
    pub(crate) fn new(node: &Node, path: String) -> Self {
        Self {
            id: node.id,
            path,
            name: node.name.clone(),
            kind: node.kind,
            size: node.size,
            parent_id: node.parent_id,
            revision_id: node.revision_id,
            version: node.version,
            mime_type: node.mime_type.clone(),
            created_at: node.created_at,
            updated_at: node.updated_at,
            modified_at: node.modified_at,
            executable: node.executable,
            description: node.description.clone(),
            labels: node.labels.clone(),
            tags: node.tags.clone(),
            favorite: node.favorite,
            device_id: node.device_id,
            total: None,
        }
    }

    /// The name, with a slash after a folder's.
    pub(crate) fn label(name: &str, kind: Kind) -> String {
        match kind {
            Kind::File => name.to_owned(),
            Kind::Folder => format!("{name}/"),
        }
    }
}

/// Prints nodes as a table; `label` gives the first column.
pub(crate) fn print_table(
    out: &Out,
    zone: &Zone,
    nodes: &[NodeView],
    label: impl Fn(&NodeView) -> String,
    if_empty: &str,
) {
    let mut table = Table::new(&[
        ("NAME", Align::Name),
        ("SIZE", Align::Right),
        ("MODIFIED", Align::Left),
        ("ID", Align::Left),
    ]);
    for node in nodes {
        let bytes = match (node.kind, node.total) {
            (Kind::File, _) => size(node.size),
            (Kind::Folder, Some(total)) => size(total.bytes),
            (Kind::Folder, None) => String::new(),
        };
        let modified = local_time(node.modified_at.unwrap_or(node.updated_at).0, zone);
        table.row([
            NodeView::label(&label(node), node.kind),
            bytes,
            modified,
            node.id.to_string(),
        ]);
    }
    table.print(out, if_empty);
}

/// A path made of a folder's and a name.
pub(crate) fn join(folder: &str, name: &str) -> String {
    format!("{}/{name}", folder.trim_end_matches('/'))
}
