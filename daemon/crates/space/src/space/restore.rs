//! Back from the trash and from the history, sealed like every other change.
//!
//! The server's own restore makes a state that nobody with the keys vouches for. Here an older content
//! becomes a revision that this device seals, and what comes out of the trash gets the seal of its new
//! state where its last one was verified.

use super::{Space, facts, random_id};
use cairn_api::ApiError;
use cairn_crypto::{
    CONFIRMED_DELETION, NodeFacts, NodeSeal, SealInfo, manifest_hash, open_manifest,
};
use cairn_model::{Kind, NodeId, RevisionId};
use cairn_transfer::{Download, KnownNumbers, Restore, TransferError, Uploaded};
use cairn_wire::Sealed;
use cairn_wire::nodes::{Node, NodeState, Revision, UpdateNode};

impl Space {
    /// Makes the content of an older revision the newest again; what is there now stays in the history.
    /// No content is transferred.
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
        let content = Download {
            node: node.id,
            revision: revision.id,
            source: revision.content_source,
            manifest_hash: None,
        };
        let head = self.head(node)?;
        let present = self.transfer.manifest(head).await?;
        let older = self.transfer.manifest(content).await?;
        let same = older.hash == present.hash && older.executable == present.executable;
        if same && self.seal(node).is_some() {
            return Ok(node.clone());
        }
        let target = self.next_revision(node, head.revision, &present)?;
        let restore = Restore {
            target,
            revision: RevisionId::from_random_bytes(random_id()),
            content,
        };
        match self.transfer.restore(restore).await? {
            Some(Uploaded::Committed { node, .. }) => Ok(*node),
            Some(Uploaded::Unchanged) => Ok(node.clone()),
            None => self.restore_on_server(node, revision.id).await,
        }
    }

    /// Has the server restore content that was sealed elsewhere, and seals the outcome.
    async fn restore_on_server(
        &self,
        node: &Node,
        revision: RevisionId,
    ) -> Result<Node, TransferError> {
        let info = self.seal(node);
        let known = KnownNumbers {
            seal_seq: info.map_or(0, |info| info.seq),
            sealed: info.is_some(),
            revision: None,
            version: node.version,
        };
        let restored = self.api.restore_revision(node.id, revision).await?;
        self.expect(&restored, node.id)?;
        let hash = self.head_hash(&restored).await?;
        self.put_seal(&restored, known.next_seal()?, hash).await
    }

    /// Takes a node with everything that went with it out of the trash. It is sealed again if its seal in
    /// the trash was verified.
    ///
    /// # Errors
    /// [`ApiError::NotFound`](cairn_api::ApiError::NotFound) if it is not in the trash.
    pub async fn restore_node(&self, trashed: &Node) -> Result<Node, TransferError> {
        let info = match trashed.state {
            NodeState::Trashed => self.seal(trashed),
            NodeState::Active => return Ok(trashed.clone()),
        };
        let restored = self.api.restore_node(trashed.id).await?;
        self.expect(&restored, trashed.id)?;
        let Some(info) = info else {
            return Ok(restored);
        };
        let hash = self.head_hash(&restored).await?;
        let unchanged = restored.kind == trashed.kind
            && restored.executable == trashed.executable
            && (info.manifest_hash == hash || info.manifest_hash == Some(CONFIRMED_DELETION));
        if !unchanged {
            tracing::warn!(node = %trashed.id, "what came out of the trash is not what was put there: it is not sealed");
            return Ok(restored);
        }
        let known = KnownNumbers {
            seal_seq: info.seq,
            sealed: true,
            revision: None,
            version: restored.version,
        };
        self.put_seal(&restored, known.next_seal()?, hash).await
    }

    fn expect(&self, node: &Node, id: NodeId) -> Result<(), TransferError> {
        self.check(node)?;
        if node.id == id && node.state == NodeState::Active {
            return Ok(());
        }
        Err(protocol(format!(
            "the response has another node than the restored {id}"
        )))
    }

    /// Returns the hash of a file's manifest, which was opened; `None` for a folder.
    async fn head_hash(&self, node: &Node) -> Result<Option<[u8; 32]>, TransferError> {
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
        open_manifest(&self.keys, sealed_node, sealed_revision, sealed)
            .map_err(|_| protocol(format!("the manifest of {} is not authentic", node.id)))?;
        Ok(Some(manifest_hash(sealed)))
    }

    /// Seals the present state of a node.
    async fn put_seal(
        &self,
        node: &Node,
        seq: u64,
        manifest_hash: Option<[u8; 32]>,
    ) -> Result<Node, TransferError> {
        let sealed_facts = NodeFacts {
            deleted: false,
            ..facts(node)
        };
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

fn protocol(why: impl Into<String>) -> TransferError {
    ApiError::Protocol(why.into()).into()
}
