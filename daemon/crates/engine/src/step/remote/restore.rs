//! Steps that take nodes out of the service's trash, because a change here has won over their deletion: they stay the
//! nodes that other devices know.
//!
//! Nothing is sealed (authenticated for other devices) that only the service says. The seal of the deletion, which a
//! device has made and the feed has shown, covers name, folder and content; the node has to be in the trash with just
//! that seal, and as both sides last had it. Anything else, and whatever the service refuses, is tried once: the next
//! plan makes a new node.
//!
//! Nothing is recorded here. The feed shows the nodes and what came with them, and no plan of the folder is made before
//! that. A crash, or a response that is lost, leaves the same: a node is there again, or it is still in the trash.

use super::journal::is_refusal;
use super::send::send_batch;
use crate::error::{Disposition, EngineError};
use crate::key::Key;
use crate::node_rows::restoring_seal;
use crate::step::Ctx;
use crate::step::batch::{BatchResults, StepResult};
use cairn_index::SyncedRow;
use cairn_model::Kind;
use cairn_plan::Step;
use cairn_transfer::each;
use cairn_wire::nodes::{Node, NodeBatch, NodeOperation, NodeState};
use futures_util::{StreamExt as _, stream};

/// Nodes that are taken out of the trash together.
pub(crate) const RESTORES: usize = 100;
/// Nodes that are asked for at once.
const REQUESTS: usize = 8;
/// After so many failures in a row a node is given up, though the next try may succeed: a folder waits for it.
const TRIES: u32 = 3;

/// A node that is to come back, as both sides last had it.
struct Returning {
    base: SyncedRow,
    /// The number of the seal of its deletion.
    number: u64,
}

/// Takes nodes out of the trash, each with everything that went there with it. Each step comes back with its own
/// result: [`EngineError::Stale`] if its node can't be had, and is not tried again; the service's error if it may be
/// tried again.
pub(crate) async fn restore(ctx: &Ctx, steps: Vec<Step>) -> Vec<(Step, StepResult)> {
    let mut results = BatchResults::new();
    let returning = results.proceed(steps.into_iter().map(|step| {
        let found = find(ctx, &step);
        (step, found)
    }));
    let asked = stream::iter(returning)
        .map(|(step, returning)| async move {
            let operation = operation(ctx, &returning).await;
            ((step, returning), operation)
        })
        .buffered(REQUESTS);
    let mut sending = Vec::new();
    for ((step, returning), operation) in asked.collect::<Vec<_>>().await {
        if returning.base.kind == Kind::Folder && operation.is_ok() {
            ctx.engine
                .tried_restores
                .add_folder(ctx.folder.id, returning.base.node);
        }
        match operation {
            Ok(Some(operation)) => sending.push(((step, returning), operation)),
            // Another device was quicker, or an earlier response was lost.
            Ok(None) => results.set(step, end(ctx, &returning, Ok(()))),
            Err(error) => results.set(step, end(ctx, &returning, Err(error))),
        }
    }
    if sending.is_empty() {
        return results.into_vec();
    }
    let sent = each(sending, async |operations| {
        send_batch(ctx, NodeBatch::each_alone(operations)).await
    });
    results.extend(sent.await.into_iter().map(|((step, returning), response)| {
        let result = end(ctx, &returning, response.map(drop));
        (step, result)
    }));
    results.into_vec()
}

fn find(ctx: &Ctx, step: &Step) -> Result<Returning, EngineError> {
    let Step::RestoreRemote { node, .. } = step else {
        return Err(EngineError::Stale);
    };
    let (base, number) = ctx.engine.index.read(|db| {
        let base = db.synced_row(ctx.folder.id, *node)?;
        Ok((base, db.deletion_seal(*node)?))
    })?;
    let (Some(base), Some(number)) = (base, number) else {
        return Err(EngineError::Stale);
    };
    Ok(Returning { base, number })
}

/// Ends a try. One that is the last is remembered.
fn end(ctx: &Ctx, returning: &Returning, result: StepResult) -> StepResult {
    let (folder, node) = (ctx.folder.id, returning.base.node);
    let tries = ctx.engine.health().tries(folder, Key::Node(node));
    match result {
        Err(error) if !is_final(&error, tries) => Err(error),
        outcome => {
            ctx.engine
                .tried_restores
                .add(folder, node, returning.number);
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

/// Returns the operation that brings a node back; `None` if it is back.
async fn operation(ctx: &Ctx, returning: &Returning) -> Result<Option<NodeOperation>, EngineError> {
    let Returning { base, number } = returning;
    if !is_place_free(ctx, base)? {
        return Err(protocol_error("its folder or its name is not free"));
    }
    let found = ctx.engine.structure_api.node(base.node).await?;
    if found.state == NodeState::Active {
        return Ok(None);
    }
    if !is_as_synced(base, &found) {
        return Err(protocol_error("it was changed before it was deleted"));
    }
    let seal = restoring_seal(&ctx.engine.keys, &found, *number)
        .ok_or_else(|| protocol_error("its deletion is another one than the feed has shown"))?;
    Ok(Some(NodeOperation::Restore {
        id: base.node,
        version: Some(found.version),
        seal: Some(seal),
        // Elsewhere it would have no seal, and other devices would have to trust the service.
        in_place: true,
        name: None,
    }))
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
    use cairn_model::{NodeId, SpaceId};
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
