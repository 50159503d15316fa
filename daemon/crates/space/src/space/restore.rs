//! Back from the trash and from the history, sealed like every other change.
//!
//! The server's own restore makes a state that no seal (MAC with the space's key) covers. Here an older content
//! becomes a revision that this device seals, and what comes out of the trash gets the seal of its new
//! state where its last one was verified. Nothing is sealed that only the server says: neither a place or
//! name that nobody asked for, nor the content of another file or revision.

use super::batch::node_of;
use super::content::past_content;
use super::{BroughtBack, Space, facts, new_revision};
use cairn_api::ApiError;
use cairn_crypto::{NodeFacts, NodeSeal, SealInfo, manifest_hash, open_manifest};
use cairn_model::{Kind, Manifest, Name, NameFormat, NodeId, RevisionId};
use cairn_transfer::{KnownNumbers, Restore, TransferError, Uploaded};
use cairn_wire::Sealed;
use cairn_wire::nodes::{Node, NodeBatch, NodeOperation, NodeState, Revision, UpdateNode};

/// The highest number that a service appends to a name that is in use.
const MAX_COPIES: u32 = 1_000;
/// The end of the numbers that are tried for a name that is in use in a private space.
const NUMBERS: u32 = 100;

impl Space {
    /// Makes the content of an older revision the newest again; what is there now stays in the history.
    /// No content is transferred. The outcome has no seal if only the server says that this was the file's own
    /// content; it may be that of the file that it was copied from, for example.
    ///
    /// # Errors
    /// [`ApiError::Conflict`](cairn_api::ApiError::Conflict) if somebody changed the file meanwhile.
    pub async fn restore_revision(
        &self,
        node: &Node,
        revision: &Revision,
    ) -> Result<Node, TransferError> {
        if node.revision_id == Some(revision.id) {
            return Ok(node.clone());
        }
        let content = past_content(node.id, revision);
        let head = self.head(node)?;
        let present = self.transfer.manifest(head).await?;
        let older = self.transfer.manifest(content).await?;
        if is_same_content(&older, &present) && self.seal(node).is_some() {
            return Ok(node.clone());
        }
        let target = self.next_revision(node, head.revision, &present)?;
        let restore = Restore {
            target,
            revision: new_revision(),
            content,
        };
        match self.transfer.restore(restore).await? {
            Some(Uploaded::Committed { node, .. }) => Ok(*node),
            Some(Uploaded::Unchanged) => Ok(node.clone()),
            None => self.restore_on_server(node, revision.id, &older).await,
        }
    }

    /// Has the server restore a content, and seals the outcome if that is the verified file with the content
    /// that was opened as its own before.
    async fn restore_on_server(
        &self,
        node: &Node,
        revision: RevisionId,
        older: &Manifest,
    ) -> Result<Node, TransferError> {
        let restored = self.api.restore_revision(node.id, revision).await?;
        self.expect(&restored, node.id)?;
        let is_own = (older.node, older.revision) == (node.id, revision);
        let same_place = (restored.parent_id, &restored.name, restored.kind)
            == (node.parent_id, &node.name, node.kind);
        let known = self.seal(node).filter(|_| is_own && same_place);
        let Some(info) = known.filter(|_| restored.executable == older.executable) else {
            tracing::warn!(node = %node.id, "only the service says that this is the file of then: it is not sealed");
            return Ok(restored);
        };
        match self.head_record(&restored).await? {
            Some((hash, record)) if record == *older => {
                self.put_seal(&restored, info, Some(hash)).await
            }
            Some(_) | None => Err(protocol(format!(
                "it restored another content of {} than it was asked for",
                node.id
            ))),
        }
    }

    /// Takes a node with everything that went with it out of the trash, to the place of [`Space::place_back`]. It is
    /// sealed again if its seal in the trash was verified, and it is what went there.
    ///
    /// # Errors
    /// [`ApiError::NotFound`](cairn_api::ApiError::NotFound) if it is not in the trash.
    pub async fn restore_node(&self, trashed: &Node) -> Result<BroughtBack, TransferError> {
        let alone = |node| BroughtBack {
            node,
            folders: Vec::new(),
        };
        if trashed.state == NodeState::Active {
            return Ok(alone(trashed.clone()));
        }
        let place = self.place_back(trashed).await?;
        if !place.is_of_server(trashed) {
            return self.bring_back(trashed, &place).await;
        }
        self.restore_by_server(trashed).await.map(alone)
    }

    async fn restore_by_server(&self, trashed: &Node) -> Result<Node, TransferError> {
        let info = self.seal(trashed);
        let restored = match self.api.restore_node(trashed.id).await {
            Err(error @ ApiError::Conflict { .. }) if self.keys.space().is_private() => {
                self.restore_numbered(trashed, error).await?
            }
            restored => restored?,
        };
        self.seal_restored(trashed, restored, info).await
    }

    /// Takes a node out of the trash of a private space under its name with the first number that is free. Anywhere
    /// else the server does so by itself; of a sealed name it can make no other one.
    async fn restore_numbered(
        &self,
        trashed: &Node,
        refused: ApiError,
    ) -> Result<Node, TransferError> {
        for number in 2..NUMBERS {
            let operation = NodeOperation::Restore {
                id: trashed.id,
                version: None,
                seal: None,
                in_place: false,
                name: self.name_with_number(trashed, number)?,
            };
            let batch = NodeBatch::each_alone(vec![operation]);
            let mut results = self.api.node_batch(&batch).await?.results;
            match results.pop().map(node_of) {
                Some(Err(TransferError::Api(ApiError::Conflict { .. }))) => {}
                Some(restored) => return restored,
                None => return Err(protocol("a batch came without its result")),
            }
        }
        Err(refused.into())
    }

    /// Returns a node's name with a number, as the server of a private space has it; `None` in another space.
    pub(super) fn name_with_number(
        &self,
        node: &Node,
        number: u32,
    ) -> Result<Option<String>, TransferError> {
        let name = Name::new(node.name.clone()).ok();
        // Of a name that does not open there is none with a number.
        let Some(name) = name.filter(|_| node.name_format == NameFormat::Plain) else {
            return Ok(None);
        };
        let name = name.with_number(number);
        Ok(self.api.sealed_name(node.parent_id, name.as_str())?)
    }

    /// Seals a node that came out of the trash, where its last seal was verified.
    ///
    /// # Errors
    /// [`ApiError::Protocol`](cairn_api::ApiError::Protocol) if it is another node than the restored one.
    pub(super) async fn seal_restored(
        &self,
        trashed: &Node,
        restored: Node,
        info: Option<SealInfo>,
    ) -> Result<Node, TransferError> {
        self.expect(&restored, trashed.id)?;
        let Some(info) = info else {
            return Ok(restored);
        };
        let hash = self.head_record(&restored).await?.map(|(hash, _)| hash);
        let unchanged = restored.kind == trashed.kind
            && restored.executable == trashed.executable
            && is_where_it_was(trashed, &restored)
            && info.is_of(hash);
        if !unchanged {
            tracing::warn!(node = %trashed.id, "what came out of the trash is not what was put there: it is not sealed");
            return Ok(restored);
        }
        self.put_seal(&restored, info, hash).await
    }

    pub(super) fn expect(&self, node: &Node, id: NodeId) -> Result<(), TransferError> {
        self.check(node)?;
        if node.id == id && node.state == NodeState::Active {
            return Ok(());
        }
        Err(protocol(format!(
            "the response has another node than the restored {id}"
        )))
    }

    /// Returns the decrypted manifest of a file's content with its hash; `None` for a folder.
    async fn head_record(
        &self,
        node: &Node,
    ) -> Result<Option<([u8; 32], Manifest)>, TransferError> {
        if node.kind == Kind::Folder {
            return Ok(None);
        }
        let head = self.head(node)?;
        let content = self.api.manifest(head.node, head.revision).await?;
        let (sealed_node, sealed_revision) =
            head.source.map_or((head.node, head.revision), |from| {
                (from.node_id, from.revision_id)
            });
        let sealed = &content.manifest.0;
        let record = open_manifest(&self.keys, sealed_node, sealed_revision, sealed)
            .map_err(|_| protocol(format!("the manifest of {} is not authentic", node.id)))?;
        Ok(Some((manifest_hash(sealed), record)))
    }

    /// Seals the present state of a node, after the seal that it had before.
    async fn put_seal(
        &self,
        node: &Node,
        before: SealInfo,
        manifest_hash: Option<[u8; 32]>,
    ) -> Result<Node, TransferError> {
        let known = KnownNumbers {
            seal_seq: before.seq,
            sealed: true,
            revision: None,
            version: node.version,
        };
        let sealed_facts = NodeFacts {
            deleted: false,
            ..facts(node)
        };
        let seq = known.next_seal()?;
        let info = SealInfo { seq, manifest_hash };
        let change = UpdateNode {
            seal: Some(Sealed(NodeSeal::make(&self.keys, &sealed_facts, info))),
            ..UpdateNode::default()
        };
        Ok(self
            .api
            .update_node(node.id, Some(node.version), &change)
            .await?)
    }
}

/// Returns true if a restored node lies in its folder under its name, or under that with a number because
/// another node has the name now.
fn is_where_it_was(trashed: &Node, restored: &Node) -> bool {
    let has_name = || {
        let Ok(name) = Name::new(trashed.name.clone()) else {
            return false;
        };
        name.as_str() == restored.name
            || (2..MAX_COPIES).any(|number| name.with_number(number).as_str() == restored.name)
    };
    restored.parent_id == trashed.parent_id && has_name()
}

pub(super) fn is_same_content(older: &Manifest, present: &Manifest) -> bool {
    older.hash == present.hash && older.executable == present.executable
}

fn protocol(why: impl Into<String>) -> TransferError {
    ApiError::Protocol(why.into()).into()
}
