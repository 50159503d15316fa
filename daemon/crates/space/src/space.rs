//! One space (the files of one account or team) on the service as a holder of its keys sees it: nodes from the
//! server are checked, and changed nodes are sealed. It reads no local path and prompts nobody.

mod above;
mod batch;
mod change;
mod content;
mod copy;
mod restore;
mod restore_many;
mod restore_place;

pub use batch::{NODES_PER_REQUEST, Relocation};
pub use change::EnsuredFolder;
pub use content::LocalMetadata;
pub(crate) use content::SmallFile;
pub use copy::CopiedNode;
pub use restore_many::Earlier;
pub use restore_place::{BroughtBack, FolderAgain, LostPlace, PlaceBack, restore_without_keys};

use crate::verify::SeenSeals;
use cairn_api::{Api, ApiError};
use cairn_crypto::{NodeFacts, NodeSeal, Random as _, SealInfo, SpaceKeys, SystemRandom};
use cairn_model::{IdSeries, Name, NameFormat, NodeId, RevisionId};
use cairn_transfer::{Transfer, TransferError};
use cairn_wire::nodes::{Node, NodeState};
use parking_lot::Mutex;
use std::sync::Arc;

/// The most folders above one another; deeper is taken for a cycle, which a hostile server could make this
/// client follow.
pub const MAX_DEPTH: usize = 1_000;

/// A space that is worked in without a synced folder.
#[derive(Clone)]
pub struct Space {
    pub(crate) api: Arc<Api>,
    pub(crate) keys: Arc<SpaceKeys>,
    pub(crate) transfer: Transfer,
    pub(crate) seen: Option<Arc<dyn SeenSeals>>,
}

impl Space {
    /// Creates the view of one space from a client, keys and transfers of the same account.
    #[must_use]
    pub fn new(api: Arc<Api>, keys: Arc<SpaceKeys>, transfer: Transfer) -> Self {
        Self {
            api,
            keys,
            transfer,
            seen: None,
        }
    }

    /// Makes a node state that is older than one that this device has seen count as unverified, and share links
    /// refuse it; likewise one that was sealed with a replaced key since.
    #[must_use]
    pub fn with_seen(self, seen: Arc<dyn SeenSeals>) -> Self {
        Self {
            seen: Some(seen),
            ..self
        }
    }

    /// Returns the API client.
    #[must_use]
    pub fn api(&self) -> &Arc<Api> {
        &self.api
    }

    /// Returns the keys of the space.
    #[must_use]
    pub fn keys(&self) -> &Arc<SpaceKeys> {
        &self.keys
    }

    /// Returns the content transfers.
    #[must_use]
    pub fn transfer(&self) -> &Transfer {
        &self.transfer
    }

    /// The node of an id, which may be in the trash.
    ///
    /// # Errors
    /// [`ApiError::NotFound`](cairn_api::ApiError::NotFound) if there is none,
    /// [`ApiError::Protocol`](cairn_api::ApiError::Protocol) if it can't be one.
    pub async fn node(&self, id: NodeId) -> Result<Node, TransferError> {
        let node = self.api.node(id).await?;
        self.check(&node)?;
        Ok(node)
    }

    /// Returns the node as [`Space::node`] does; `None` if it was deleted for good.
    ///
    /// # Errors
    /// As for [`Space::node`].
    pub async fn node_if_kept(&self, id: NodeId) -> Result<Option<Node>, TransferError> {
        match self.node(id).await {
            Ok(node) => Ok(Some(node)),
            Err(TransferError::Api(ApiError::NotFound { .. } | ApiError::Gone { .. })) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The child of a folder (`None`: the top) under a name, in any normal form of it.
    ///
    /// # Errors
    /// [`ApiError::Protocol`](cairn_api::ApiError::Protocol) if what is found can't be used.
    pub async fn child(
        &self,
        parent: Option<NodeId>,
        name: &Name,
    ) -> Result<Option<Node>, TransferError> {
        let wanted = name.key();
        let found = self.api.children(parent, Some(name.as_str())).await?;
        let node = found.into_iter().find(|node| {
            node.parent_id == parent
                && Name::new(node.name.clone()).is_ok_and(|name| name.key() == wanted)
        });
        if let Some(node) = &node {
            self.check(node)?;
        }
        Ok(node)
    }

    /// The children of a folder, by name; what can't be one is left out with a note in the log.
    ///
    /// # Errors
    /// [`TransferError::Api`].
    pub async fn children(&self, parent: Option<NodeId>) -> Result<Vec<Node>, TransferError> {
        let mut found = self.api.children(parent, None).await?;
        let belongs = |node: &Node| {
            self.check(node)?;
            check_parent(node, parent)
        };
        found.retain(|node| match belongs(node) {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(node = %node.id, %error, "left out");
                false
            }
        });
        Ok(found)
    }

    /// Refuses a node that can't be one of this space.
    ///
    /// # Errors
    /// [`ApiError::Protocol`](cairn_api::ApiError::Protocol).
    pub fn check(&self, node: &Node) -> Result<(), TransferError> {
        let wrong = |why: &str| TransferError::protocol(format!("node {} {why}", node.id));
        if node.space_id != self.keys.space() {
            return Err(wrong("belongs to another space"));
        }
        if node.space_id.is_private() && node.name_format != NameFormat::Plain {
            return Err(wrong("has a name that no key at hand opens"));
        }
        Name::new(node.name.clone()).map_err(|_| wrong("has an impossible name"))?;
        Ok(())
    }

    /// Returns the content of the node's seal, if it is valid, covers the present state, and wasn't made with a
    /// replaced key since (as far as this device knows).
    #[must_use]
    pub fn seal(&self, node: &Node) -> Option<SealInfo> {
        let info = self.seal_of_any_epoch(node)?;
        let vouches = self.still_vouches(node, info);
        if let Err(error) = &vouches {
            tracing::warn!(%error, "what this device has seen of the service can't be read");
        }
        vouches.unwrap_or(false).then_some(info)
    }

    /// Returns the content of the node's seal, if it is valid and covers the present state, whichever key of the
    /// space it was made with.
    pub(crate) fn seal_of_any_epoch(&self, node: &Node) -> Option<SealInfo> {
        NodeSeal::check(&self.keys, &facts_as_is(node), &node.seal.as_ref()?.0).ok()
    }

    fn still_vouches(&self, node: &Node, info: SealInfo) -> std::io::Result<bool> {
        let (Some(seen), Some(seal)) = (&self.seen, &node.seal) else {
            return Ok(true);
        };
        if !self.keys.has_older()
            || NodeSeal::check_current(&self.keys, &facts_as_is(node), &seal.0).is_ok()
        {
            return Ok(true);
        }
        seen.still_vouches(self.keys.epoch(), node, info)
    }
}

/// Refuses a node that was listed in another folder than its own.
fn check_parent(node: &Node, listed_in: Option<NodeId>) -> Result<(), TransferError> {
    if node.parent_id == listed_in {
        return Ok(());
    }
    Err(TransferError::protocol(format!(
        "node {} is not in the folder that was listed",
        node.id
    )))
}

/// Returns the facts that a seal covers, of a node that is not deleted.
fn facts(node: &Node) -> NodeFacts<'_> {
    NodeFacts {
        node: node.id,
        parent: node.parent_id,
        name: &node.name,
        kind: node.kind,
        executable: node.executable,
        deleted: false,
    }
}

/// Returns the facts that a seal covers, of a node that may be in the trash.
fn facts_as_is(node: &Node) -> NodeFacts<'_> {
    NodeFacts {
        deleted: node.state == NodeState::Trashed,
        ..facts(node)
    }
}

/// Returns 16 random bytes for a new id.
#[must_use]
pub fn random_id() -> [u8; 16] {
    let mut bytes = [0; 16];
    SystemRandom.fill(&mut bytes);
    bytes
}

/// Ids for what this process makes.
static IDS: Mutex<IdSeries> = Mutex::new(IdSeries::new());

/// Returns the id of a new file or folder.
pub(crate) fn new_node() -> NodeId {
    NodeId(IDS.lock().draw(random_id))
}

/// Returns the id of a new version of a file.
pub(crate) fn new_revision() -> RevisionId {
    RevisionId(IDS.lock().draw(random_id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_node_that_is_listed_in_another_folder_is_refused_by_name() {
        let id = |n: u8| NodeId::from_random_bytes([n; 16]);
        let at = "2026-11-22T03:05:53.123Z";
        let node = json!({
            "id": id(1), "space_id": id(9), "parent_id": id(2), "kind": "file", "name": "a",
            "name_format": "plain", "size": 1, "mime_type": null, "category": null, "state": "active",
            "revision_id": id(3), "version": 1, "created_at": at, "updated_at": at,
            "modified_at": null, "executable": false, "description": "", "labels": {}, "tags": [],
            "favorite": false, "seal": null, "seq": 1,
        });
        let node: Node = serde_json::from_value(node).unwrap();
        check_parent(&node, Some(id(2))).unwrap();
        for elsewhere in [None, Some(id(4))] {
            let refused = check_parent(&node, elsewhere).unwrap_err().to_string();
            assert!(refused.contains(&id(1).to_string()), "{refused}");
        }
    }
}
