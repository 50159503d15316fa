//! The names of a private space. The server has sealed ones only: they are sealed before a request, and opened in
//! its response. In any other space names are sent and taken as they are.

use crate::call::Call;
use crate::client::Api;
use crate::error::ApiError;
use cairn_model::{Name, NameFormat, NodeId};
use cairn_wire::Page;
use cairn_wire::changes::{Changes, PastStates, Snapshot};
use cairn_wire::nodes::{
    CopyNode, CreateNode, Node, NodeBatch, NodeOperation, NodeResults, UpdateNode,
};
use cairn_wire::shares::{Share, SharedByEmail};
use cairn_wire::transfer::{CompleteUpload, CreateUpload};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Debug;

/// Seals and opens the names of one private space.
pub trait NameSeal: Send + Sync + Debug {
    /// Returns the name under which the server has a node of a folder (`None`: the top of the space).
    ///
    /// # Errors
    /// [`ApiError::Rejected`] for a text that can't be a name.
    fn seal(&self, parent: Option<NodeId>, name: &str) -> Result<String, ApiError>;

    /// Opens a sealed name; `None` for one that no holder of the space's keys has sealed.
    fn open(&self, sealed: &str) -> Option<String>;
}

/// A response with names in it.
pub(crate) trait Named {
    fn open_names(&mut self, names: &dyn NameSeal);
}

/// Puts the name that people read in the place of the one that the server has. One that can't be opened stays, and
/// no node seal fits it.
fn open(names: &dyn NameSeal, name: &mut String) -> bool {
    let opened = names.open(name);
    let is_open = opened.is_some();
    if let Some(opened) = opened {
        *name = opened;
    }
    is_open
}

impl Named for Node {
    fn open_names(&mut self, names: &dyn NameSeal) {
        // Whatever the server says of it.
        self.name_format = match open(names, &mut self.name) {
            true => NameFormat::Plain,
            false => NameFormat::Sealed,
        };
    }
}

impl<T: Named> Named for Vec<T> {
    fn open_names(&mut self, names: &dyn NameSeal) {
        for one in self {
            one.open_names(names);
        }
    }
}

impl<T: Named> Named for Page<T> {
    fn open_names(&mut self, names: &dyn NameSeal) {
        self.content.open_names(names);
    }
}

impl Named for Changes {
    fn open_names(&mut self, names: &dyn NameSeal) {
        for node in self.changes.iter_mut().filter_map(|one| one.node.as_mut()) {
            node.open_names(names);
        }
    }
}

impl Named for Snapshot {
    fn open_names(&mut self, names: &dyn NameSeal) {
        self.nodes.open_names(names);
    }
}

impl Named for PastStates {
    fn open_names(&mut self, names: &dyn NameSeal) {
        for state in &mut self.states {
            open(names, &mut state.name);
        }
    }
}

impl Named for NodeResults {
    fn open_names(&mut self, names: &dyn NameSeal) {
        for one in &mut self.results {
            if let Some(node) = &mut one.node {
                node.open_names(names);
            }
            if let Some(error) = &mut one.error {
                error.message = open_in_text(names, &error.message);
            }
        }
    }
}

impl Named for Share {
    fn open_names(&mut self, names: &dyn NameSeal) {
        open(names, &mut self.file_name);
    }
}

impl Named for SharedByEmail {
    fn open_names(&mut self, names: &dyn NameSeal) {
        self.share.open_names(names);
    }
}

/// Returns a text of the server with the sealed names in it, which are between quotation marks, opened.
fn open_in_text(names: &dyn NameSeal, text: &str) -> String {
    let parts = text.split('"').map(|part| match names.open(part) {
        Some(name) => Cow::Owned(name),
        None => Cow::Borrowed(part),
    });
    parts.collect::<Vec<_>>().join("\"")
}

/// Opens the name of each node in a response of any form.
pub(crate) fn open_in_json(names: &dyn NameSeal, value: &mut Value) {
    match value {
        Value::Array(all) => {
            for one in all {
                open_in_json(names, one);
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields.iter_mut() {
                if let Value::String(text) = field
                    && matches!(key.as_str(), "name" | "file_name")
                {
                    open(names, text);
                } else {
                    open_in_json(names, field);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the refusal of what can't be sent to a private space.
pub(crate) fn sealed_names_error(what: &str) -> ApiError {
    ApiError::Rejected {
        status: 409,
        message: format!("the names in a private space are sealed, so {what}"),
    }
}

impl Api {
    /// Returns whether requests are about a private space.
    pub(crate) fn is_private(&self) -> bool {
        self.space().is_some_and(|space| space.is_private())
    }

    /// Sends a call and reads its response, with the names in it opened.
    pub(crate) async fn json_with_names<T: DeserializeOwned + Named>(
        &self,
        call: Call,
    ) -> Result<T, ApiError> {
        let mut response: T = self.json(call).await?;
        self.open_names(&mut response);
        Ok(response)
    }

    pub(crate) fn open_names(&self, response: &mut impl Named) {
        if let Some(names) = self.names() {
            response.open_names(names);
        }
    }

    /// Returns a text of the server as people read it.
    pub(crate) fn open_text(&self, text: String) -> String {
        match self.names() {
            Some(names) => open_in_text(names, &text),
            None => text,
        }
    }

    /// Returns a name as the server has it in a private space; `None` in another one.
    ///
    /// # Errors
    /// [`ApiError::Rejected`] for a text that can't be a name, or without the keys of the space.
    pub fn sealed_name(
        &self,
        parent: Option<NodeId>,
        name: &str,
    ) -> Result<Option<String>, ApiError> {
        let sealed = self.is_private().then(|| self.wire_name(parent, name));
        sealed.transpose()
    }

    /// Returns a name as the server is to have it.
    pub(crate) fn wire_name(&self, parent: Option<NodeId>, name: &str) -> Result<String, ApiError> {
        match self.names() {
            Some(names) => names.seal(parent, name),
            None if self.is_private() => Err(sealed_names_error("it takes the keys of the space")),
            None => Ok(name.to_owned()),
        }
    }

    pub(crate) fn wire_folder(&self, folder: &CreateNode) -> Result<CreateNode, ApiError> {
        Ok(CreateNode {
            name: self.wire_name(folder.parent_id, &folder.name)?,
            ..folder.clone()
        })
    }

    /// Returns a change with the name that belongs to its folder. A private space takes none of the texts that
    /// people write about a node.
    pub(crate) async fn wire_update(
        &self,
        id: NodeId,
        change: &UpdateNode,
    ) -> Result<UpdateNode, ApiError> {
        if !self.is_private() {
            return Ok(change.clone());
        }
        if change.description.is_some() || change.labels.is_some() || change.tags.is_some() {
            return Err(sealed_names_error(
                "nothing in it has a description, labels or tags: the server would read them",
            ));
        }
        let (name, parent) = match (&change.name, change.parent_id) {
            (None, None) => return Ok(change.clone()),
            (Some(name), Some(parent)) => (name.clone(), parent),
            (name, parent) => {
                let node = Box::pin(self.node(id)).await?;
                if node.name_format != NameFormat::Plain {
                    return Err(sealed_names_error("one that doesn't open is not moved"));
                }
                (
                    name.clone().unwrap_or(node.name),
                    parent.unwrap_or(node.parent_id),
                )
            }
        };
        Ok(UpdateNode {
            name: Some(self.wire_name(parent, &name)?),
            ..change.clone()
        })
    }

    pub(crate) fn wire_copy(&self, copy: &CopyNode) -> Result<CopyNode, ApiError> {
        let name = copy.name.as_ref();
        Ok(CopyNode {
            name: name
                .map(|name| self.wire_name(copy.parent_id, name))
                .transpose()?,
            ..copy.clone()
        })
    }

    /// Returns a batch as the server is to have it: another one in a private space alone.
    pub(crate) fn wire_operations<'a>(
        &self,
        batch: &'a NodeBatch,
    ) -> Result<Cow<'a, NodeBatch>, ApiError> {
        if !self.is_private() {
            return Ok(Cow::Borrowed(batch));
        }
        let operations = batch.operations.iter().map(|one| self.wire_operation(one));
        Ok(Cow::Owned(NodeBatch {
            operations: operations.collect::<Result<_, _>>()?,
            together: batch.together.clone(),
        }))
    }

    fn wire_operation(&self, one: &NodeOperation) -> Result<NodeOperation, ApiError> {
        let mut one = one.clone();
        match &mut one {
            NodeOperation::CreateFolder {
                parent_id, name, ..
            }
            | NodeOperation::Move {
                parent_id, name, ..
            } => *name = self.wire_name(*parent_id, name)?,
            NodeOperation::Trash { .. } | NodeOperation::Restore { .. } => {}
        }
        Ok(one)
    }

    pub(crate) fn wire_upload(&self, upload: &CreateUpload) -> Result<CreateUpload, ApiError> {
        let name = upload.name.as_ref();
        Ok(CreateUpload {
            name: name
                .map(|name| self.wire_name(upload.parent_id, name))
                .transpose()?,
            ..upload.clone()
        })
    }

    /// Returns what completes an upload; in a private space without the file's own time, which its record has.
    pub(crate) fn wire_completion(&self, complete: &CompleteUpload) -> CompleteUpload {
        let mut complete = complete.clone();
        if self.is_private() {
            complete.modified_at = None;
        }
        complete
    }
}

/// Returns whether two names are one: they differ at most in how their accents are composed.
pub(crate) fn is_same_name(one: &str, other: &str) -> bool {
    match (Name::new(one), Name::new(other)) {
        (Ok(one), Ok(other)) => one.key() == other.key(),
        (Ok(_), Err(_)) | (Err(_), Ok(_)) | (Err(_), Err(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Opens names that begin with `~`.
    #[derive(Debug)]
    struct Tilde;

    impl NameSeal for Tilde {
        fn seal(&self, _: Option<NodeId>, name: &str) -> Result<String, ApiError> {
            Ok(format!("~{name}"))
        }

        fn open(&self, sealed: &str) -> Option<String> {
            sealed.strip_prefix('~').map(str::to_owned)
        }
    }

    #[test]
    fn a_node_says_whether_its_name_was_opened_whatever_the_server_says() {
        for (served, format, name, opened) in [
            ("~a", "sealed", "a", NameFormat::Plain),
            ("~a", "plain", "a", NameFormat::Plain),
            ("a", "plain", "a", NameFormat::Sealed),
            ("a", "sealed", "a", NameFormat::Sealed),
        ] {
            let at = "1970-01-01T00:00:00.000Z";
            let node = json!({
                "id": "00000000-0000-4000-8000-000000000001", "space_id": "00000000-0000-8000-8000-000000000002",
                "parent_id": null, "kind": "folder", "name": served, "name_format": format, "size": 0,
                "mime_type": null, "category": null, "state": "active", "revision_id": null, "version": 1,
                "created_at": at, "updated_at": at, "modified_at": null, "executable": false, "description": "",
                "labels": {}, "tags": [], "favorite": false, "seal": null, "seq": 1,
            });
            let mut node: Node = serde_json::from_value(node).unwrap();
            node.open_names(&Tilde);
            assert_eq!(
                (&*node.name, node.name_format),
                (name, opened),
                "{served} {format}"
            );
        }
    }

    #[test]
    fn names_in_json_are_opened_wherever_they_are() {
        let mut value =
            json!({"content": [{"name": "~a", "tags": ["~b"]}], "file_name": "~c", "note": "~d"});
        open_in_json(&Tilde, &mut value);
        let opened =
            json!({"content": [{"name": "a", "tags": ["~b"]}], "file_name": "c", "note": "~d"});
        assert_eq!(value, opened);
    }

    #[test]
    fn a_text_of_the_server_has_the_names_that_people_gave() {
        let text = r#"the name "~a b" is taken in "~c", not in ~d"#;
        let read = r#"the name "a b" is taken in "c", not in ~d"#;
        assert_eq!(open_in_text(&Tilde, text), read);
        let results =
            json!({"results": [{"status": 409, "error": {"code": 409, "message": text}}]});
        let mut results: NodeResults = serde_json::from_value(results).unwrap();
        results.open_names(&Tilde);
        let error = results.results[0].error.as_ref().unwrap();
        assert_eq!(error.message, read);
    }
}
