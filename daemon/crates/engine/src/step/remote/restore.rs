//! The step that takes a node out of the service's trash, because a change here has won over its deletion: it stays the
//! node that other devices know.
//!
//! Nothing is sealed (authenticated for other devices) that only the service says. The seal of the deletion, which a
//! device has made and the feed has shown, covers name, folder and content; the node has to be in the trash with just
//! that seal, and as both sides last had it. Anything else, and whatever the service refuses, is tried once: the next
//! plan makes a new node.
//!
//! Nothing is recorded here. The feed shows the node and what came with it, and no plan is made before that. A crash, or
//! a response that is lost, leaves the same: the node is there again, or it is still in the trash.

use super::journal::is_refusal;
use crate::error::{Disposition, EngineError};
use crate::key::Key;
use crate::node_rows::restoring_seal;
use crate::step::Ctx;
use cairn_api::ApiError;
use cairn_index::SyncedRow;
use cairn_model::{Kind, NodeId};
use cairn_wire::nodes::{Node, NodeBatch, NodeOperation, NodeState};

/// After so many failures in a row a node is given up, though the next try may succeed: a folder waits for it.
const TRIES: u32 = 3;

/// Takes a node out of the service's trash, with everything that went there with it.
///
/// # Errors
/// [`EngineError::Stale`] if it can't be, and is not tried again; the service's error if it may be tried again.
pub(crate) async fn restore(ctx: &Ctx, node: NodeId) -> Result<(), EngineError> {
    let (base, number) = ctx.engine.index.read(|db| {
        let base = db.synced_row(ctx.folder.id, node)?;
        Ok((base, db.deletion_seal(node)?))
    })?;
    let (Some(base), Some(number)) = (base, number) else {
        return Err(EngineError::Stale);
    };
    let tries = ctx.engine.health().tries(ctx.folder.id, Key::Node(node));
    match take_out(ctx, &base, number).await {
        Err(error) if !is_final(&error, tries) => Err(error),
        outcome => {
            let tried = &ctx.engine.tried_restores;
            tried.add(node, number);
            if outcome.is_ok() && base.kind == Kind::Folder {
                tried.add_folder(ctx.folder.id, node);
            }
            outcome.map_err(|error| {
                tracing::info!(%node, %error, "it can't be taken out of the trash; what is here becomes a new node");
                EngineError::Stale
            })
        }
    }
}

/// Returns whether there is no use in trying again.
fn is_final(error: &EngineError, tries: u32) -> bool {
    if error.overload().is_some() {
        return false;
    }
    match error.disposition() {
        Disposition::Stop => false,
        Disposition::Park => true,
        Disposition::Replan | Disposition::Retry => is_refusal(error) || tries >= TRIES,
    }
}

async fn take_out(ctx: &Ctx, base: &SyncedRow, number: u64) -> Result<(), EngineError> {
    if !is_place_free(ctx, base)? {
        return Err(protocol_error("its folder or its name is not free"));
    }
    let api = &ctx.engine.structure_api;
    let found = api.node(base.node).await?;
    // Another device was quicker, or an earlier response was lost.
    if found.state == NodeState::Active {
        return Ok(());
    }
    if !is_as_synced(base, &found) {
        return Err(protocol_error("it was changed before it was deleted"));
    }
    let seal = restoring_seal(&ctx.engine.keys, &found, number)
        .ok_or_else(|| protocol_error("its deletion is another one than the feed has shown"))?;
    let operation = NodeOperation::Restore {
        id: base.node,
        version: Some(found.version),
        seal: Some(seal),
        // Elsewhere it would have no seal, and other devices would have to trust the service.
        in_place: true,
    };
    let batch = NodeBatch {
        operations: vec![operation],
    };
    let result = api.node_batch(&batch).await?.results.pop();
    let result = result.ok_or_else(|| protocol_error("a response without a result"))?;
    if (200..300).contains(&result.status) {
        return Ok(());
    }
    let message = result.error.map(|error| error.message).unwrap_or_default();
    Err(ApiError::from_status(result.status, message).into())
}

/// Returns whether the folder in which a node was synced is there, in this pair, and nothing has its name, as far as
/// is known here.
fn is_place_free(ctx: &Ctx, base: &SyncedRow) -> Result<bool, EngineError> {
    Ok(ctx.engine.index.read(|db| {
        let is_folder_there = base.parent == ctx.base()
            || match base.parent {
                Some(parent) => db.remote_path_in(&ctx.folder, parent)?.is_some(),
                None => false,
            };
        let others = db.remote_children_by_key(base.parent, &base.name)?;
        Ok(is_folder_there && others.is_empty())
    })?)
}

/// Returns whether a node went to the trash as both sides last had it.
fn is_as_synced(base: &SyncedRow, found: &Node) -> bool {
    found.id == base.node
        && found.kind == base.kind
        && found.parent_id == base.parent
        && found.name == base.name.as_str()
        && found.revision_id == base.revision
}

fn protocol_error(why: &'static str) -> EngineError {
    EngineError::Protocol(why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_crypto::{NodeFacts, NodeSeal, SealInfo, SpaceKeys};
    use cairn_model::SpaceId;
    use cairn_wire::Sealed;
    use serde_json::json;

    fn node(n: u8) -> NodeId {
        NodeId::from_random_bytes([n; 16])
    }

    /// A folder in the trash, as the service shows it under a name, with the seal of its deletion.
    fn trashed(keys: &SpaceKeys, name: &str, info: SealInfo) -> Node {
        let facts = NodeFacts {
            node: node(1),
            parent: None,
            name: "d",
            kind: Kind::Folder,
            executable: false,
            deleted: true,
        };
        let at = cairn_wire::Timestamp(0).to_string();
        let text = json!({
            "id": node(1), "space_id": keys.space(), "parent_id": null, "kind": "folder", "name": name,
            "name_format": "plain", "size": 0, "mime_type": null, "category": null, "state": "trashed",
            "revision_id": null, "version": 3, "created_at": at, "updated_at": at, "modified_at": null,
            "executable": false, "description": "", "labels": {}, "tags": [], "favorite": false,
            "seal": Sealed(NodeSeal::make(keys, &facts, info)), "seq": 1,
        });
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn only_the_deletion_that_the_feed_has_shown_is_taken_back() {
        let keys = SpaceKeys::from_raw(SpaceId::from_random_bytes([2; 16]), 1, &[3; 32]).unwrap();
        let info = SealInfo {
            seq: 2,
            manifest_hash: None,
        };
        let seal = |node: &Node, number| restoring_seal(&keys, node, number);
        assert!(seal(&trashed(&keys, "d", info), 2).is_some());
        assert!(seal(&trashed(&keys, "d", info), 3).is_none(), "an old one");
        assert!(seal(&trashed(&keys, "x", info), 2).is_none(), "renamed");
        let confirmed = trashed(&keys, "d", info.mark_confirmed());
        assert!(seal(&confirmed, 2).is_none());
        let later = SpaceKeys::from_raw(keys.space(), 2, &[4; 32]).unwrap();
        assert!(restoring_seal(&later, &trashed(&keys, "d", info), 2).is_none());
    }
}
