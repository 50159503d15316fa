//! Events for those outside: the event kinds of the webhooks, and one's own notifications.
//!
//! Both are raised inside the transaction that made them true, so that nothing is told that did
//! not happen and nothing that happened is left untold.

use crate::Tx;
use crate::error::Result;
use cairn_model::{AccountId, EventKind};
use cairn_wire::nodes::Node;
use serde_json::{Value, json};

/// Returns the data about a node that its events carry. `folder_id` at the top of a space (the files of an
/// account or team) is the space's id.
pub fn node_data(node: &Node) -> Value {
    json!({
        "file_id": node.id,
        "file_name": node.name,
        "folder_id": folder_of(node),
        "size_bytes": node.size,
        "kind": node.kind,
    })
}

/// Returns the place of a node: its folder, or its space.
fn folder_of(node: &Node) -> String {
    node.parent_id
        .map_or_else(|| node.space_id.to_string(), |folder| folder.to_string())
}

impl Tx<'_> {
    /// Raises an event for `account`: its webhooks will hear of it once this is committed.
    pub fn emit(&self, account: AccountId, kind: EventKind, data: &Value) -> Result<()> {
        self.emit_with(account, kind, || data.clone())
    }

    /// `file.uploaded`: exactly the fields that the API documents.
    pub fn emit_upload(&self, account: AccountId, node: &Node) -> Result<()> {
        self.emit_with(account, EventKind::FileUploaded, || {
            json!({
                "file_id": node.id,
                "file_name": node.name,
                "folder_id": folder_of(node),
                "size_bytes": node.size,
            })
        })
    }

    /// `file.moved` and `file.renamed`, as far as an edit was one.
    pub fn emit_edit(&self, account: AccountId, old: &Node, new: &Node) -> Result<()> {
        if old.parent_id != new.parent_id {
            self.emit_with(account, EventKind::FileMoved, || {
                let mut data = node_data(new);
                data["from_folder_id"] = json!(folder_of(old));
                data
            })?;
        }
        if old.name != new.name {
            self.emit_with(account, EventKind::FileRenamed, || {
                let mut data = node_data(new);
                data["old_name"] = json!(old.name);
                data
            })?;
        }
        Ok(())
    }
}
