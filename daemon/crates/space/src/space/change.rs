//! Changes of a node's place (parent folder and name): new folders, moves, the trash. Each is sealed if the node's
//! present state is verified; this device can't authenticate what it has not checked.

use super::{Space, facts, new_node};
use cairn_api::ApiError;
use cairn_crypto::{NodeFacts, NodeSeal, SealInfo};
use cairn_model::{Cursor, Kind, Name, NodeId};
use cairn_transfer::{KnownNumbers, TransferError};
use cairn_wire::Sealed;
use cairn_wire::nodes::{CreateNode, Node, UpdateNode};

/// A folder that is there.
#[derive(Clone, Debug)]
pub struct EnsuredFolder {
    pub node: Node,
    /// True if it was made just now.
    pub is_new: bool,
}

impl Space {
    /// Makes a folder.
    ///
    /// # Errors
    /// [`ApiError::Conflict`](cairn_api::ApiError::Conflict) if the name is taken.
    pub async fn make_folder(
        &self,
        parent: Option<NodeId>,
        name: &Name,
    ) -> Result<Node, TransferError> {
        let id = new_node();
        let folder = CreateNode {
            id: Some(id),
            parent_id: parent,
            kind: Kind::Folder,
            name: name.as_str().to_owned(),
            seal: Some(self.folder_seal(id, parent, name)),
        };
        Ok(self.api.create_folder(&folder).await?)
    }

    /// Seals the first state of a folder.
    pub(super) fn folder_seal(&self, id: NodeId, parent: Option<NodeId>, name: &Name) -> Sealed {
        let facts = NodeFacts {
            node: id,
            parent,
            name: name.as_str(),
            kind: Kind::Folder,
            executable: false,
            deleted: false,
        };
        let info = SealInfo {
            seq: 1,
            manifest_hash: None,
        };
        self.make_seal(&facts, info)
    }

    /// Returns the folder of a name, which is made if there is none.
    ///
    /// # Errors
    /// [`ApiError::Conflict`] if a file has the name.
    pub async fn ensure_folder(
        &self,
        parent: Option<NodeId>,
        name: &Name,
    ) -> Result<EnsuredFolder, TransferError> {
        let present = self.child(parent, name).await?;
        self.ensure_absent(present, parent, name).await
    }

    /// Returns the folder of a name, which is made unless something `present` has the name.
    ///
    /// # Errors
    /// [`ApiError::Conflict`] if a file has the name.
    pub(crate) async fn ensure_absent(
        &self,
        present: Option<Node>,
        parent: Option<NodeId>,
        name: &Name,
    ) -> Result<EnsuredFolder, TransferError> {
        let present = match present {
            Some(node) => node,
            None => match self.make_folder(parent, name).await {
                Ok(node) => return Ok(EnsuredFolder { node, is_new: true }),
                // Somebody else made it meanwhile.
                Err(error) if error.is_stale() => self.child(parent, name).await?.ok_or(error)?,
                Err(error) => return Err(error),
            },
        };
        match present.kind {
            Kind::Folder => Ok(EnsuredFolder {
                node: present,
                is_new: false,
            }),
            Kind::File => Err(ApiError::Conflict {
                head: None,
                message: format!(
                    "a file is called `{}` where a folder is needed: rename one of them",
                    present.name
                ),
            }
            .into()),
        }
    }

    /// Moves or renames a node, in one step. It must be as it was when it was found.
    ///
    /// # Errors
    /// [`ApiError::Conflict`](cairn_api::ApiError::Conflict) if it changed meanwhile or the name is taken.
    pub async fn move_node(
        &self,
        node: &Node,
        parent: Option<NodeId>,
        name: &Name,
    ) -> Result<Node, TransferError> {
        let seal = self.next_seal(
            node,
            NodeFacts {
                parent,
                name: name.as_str(),
                ..facts(node)
            },
        )?;
        let change = UpdateNode {
            name: Some(name.as_str().to_owned()),
            parent_id: Some(parent),
            seal,
            ..UpdateNode::default()
        };
        Ok(self
            .api
            .update_node(node.id, Some(node.version), &change)
            .await?)
    }

    /// Moves a node into the trash, with everything below it.
    ///
    /// # Errors
    /// [`ApiError::Gone`](cairn_api::ApiError::Gone) if it is there already.
    pub async fn trash_node(&self, node: &Node) -> Result<(), TransferError> {
        self.trash(node, self.seal(node), None).await
    }

    /// Moves a node to the trash as [`Space::trash_node`] does, after a person has confirmed: no device of the
    /// account asks again.
    ///
    /// # Errors
    /// As for [`Space::trash_node`].
    pub async fn trash_confirmed(&self, node: &Node) -> Result<(), TransferError> {
        self.trash(node, self.confirmed_seal(node), None).await
    }

    /// Moves a node to the trash as [`Space::trash_confirmed`] does, if no other device has changed anything in
    /// it after the feed position up to which the person has seen it.
    ///
    /// # Errors
    /// As for [`Space::trash_node`]; [`ApiError::Conflict`](cairn_api::ApiError::Conflict) if there is
    /// something that the person has not seen.
    pub async fn trash_seen(&self, node: &Node, seen: &Cursor) -> Result<(), TransferError> {
        self.trash(node, self.confirmed_seal(node), Some(seen))
            .await
    }

    pub(super) fn confirmed_seal(&self, node: &Node) -> Option<SealInfo> {
        self.seal(node).map(SealInfo::mark_confirmed)
    }

    async fn trash(
        &self,
        node: &Node,
        info: Option<SealInfo>,
        seen: Option<&Cursor>,
    ) -> Result<(), TransferError> {
        let deleted = NodeFacts {
            deleted: true,
            ..facts(node)
        };
        let seal = self.seal_after(node, info, deleted)?;
        let seen = seen.map(|cursor| cursor.0.as_str());
        Ok(self.api.delete_node(node.id, seen, seal.as_ref()).await?)
    }

    /// Seals the next state of a node; `None` if the present state is not verified.
    pub(super) fn next_seal(
        &self,
        node: &Node,
        facts: NodeFacts<'_>,
    ) -> Result<Option<Sealed>, TransferError> {
        self.seal_after(node, self.seal(node), facts)
    }

    /// Seals the next state of a node whose last seal had this content.
    pub(super) fn seal_after(
        &self,
        node: &Node,
        info: Option<SealInfo>,
        facts: NodeFacts<'_>,
    ) -> Result<Option<Sealed>, TransferError> {
        let Some(info) = info else {
            return Ok(None);
        };
        let known = KnownNumbers {
            seal_seq: info.seq,
            sealed: true,
            revision: None,
            version: node.version,
        };
        let seq = known.next_seal()?;
        Ok(Some(self.make_seal(&facts, SealInfo { seq, ..info })))
    }

    pub(super) fn make_seal(&self, facts: &NodeFacts<'_>, info: SealInfo) -> Sealed {
        Sealed(NodeSeal::make(&self.keys, facts, info))
    }
}
