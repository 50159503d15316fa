//! Random actions on the server by somebody without keys: on its pages, or through a program with an API key alone.

use crate::oracle::Oracle;
use crate::world::World;
use cairn_api::ApiError;
use cairn_model::{Cursor, Kind, NodeId, RevisionId};
use cairn_wire::nodes::{CopyNode, Node, UpdateNode};

/// One action, as a line for the log; `None` if there was nothing to do it to, or the server has refused it.
///
/// # Panics
/// If the service does not answer.
pub(crate) async fn work(world: &World, oracle: &Oracle) -> Option<String> {
    let (nodes, seen) = active(world).await;
    note_revisions(world, &nodes, oracle);
    let random = &world.random;
    let action = random.below(6);
    if action == 0 {
        return restore(world).await.ok()?;
    }
    let node = random.pick(&nodes)?;
    let done = match action {
        1 => rename(world, node).await,
        2 => move_to(world, node, &nodes).await,
        3 => copy(world, node, oracle).await,
        4 => trash(world, node, (&nodes, &seen), oracle).await,
        _ => restore_revision(world, node, oracle).await,
    };
    done.ok().map(|done| format!("service: {done}"))
}

/// Returns all nodes, and the position of the feed from which on they may have changed.
async fn active(world: &World) -> (Vec<Node>, Cursor) {
    let mut page = world.api.snapshot(None).await.expect("a page");
    let (mut nodes, seen) = (page.nodes, page.cursor);
    while let Some(after) = page.next {
        page = world.api.snapshot(Some(&after)).await.expect("a page");
        nodes.append(&mut page.nodes);
    }
    (nodes, seen)
}

fn name(world: &World) -> String {
    let name = world.random.pick(world.names);
    name.map(ToString::to_string).unwrap_or_default()
}

async fn rename(world: &World, node: &Node) -> Result<String, ApiError> {
    let change = UpdateNode {
        name: Some(name(world)),
        ..UpdateNode::default()
    };
    let renamed = world.api.update_node(node.id, None, &change).await?;
    Ok(format!("rename {} to {}", node.name, renamed.name))
}

async fn move_to(world: &World, node: &Node, nodes: &[Node]) -> Result<String, ApiError> {
    let folders = nodes.iter().filter(|node| node.kind == Kind::Folder);
    let mut parents: Vec<Option<NodeId>> = folders.map(|folder| Some(folder.id)).collect();
    parents.push(None);
    let change = UpdateNode {
        parent_id: world.random.pick(&parents).copied(),
        ..UpdateNode::default()
    };
    let moved = world.api.update_node(node.id, None, &change).await?;
    Ok(format!("move {} into {:?}", node.name, moved.parent_id))
}

async fn copy(world: &World, node: &Node, oracle: &Oracle) -> Result<String, ApiError> {
    let copy = CopyNode {
        parent_id: node.parent_id,
        name: Some(name(world)),
        id: None,
        seal: None,
    };
    let copied = world.api.copy_node(node.id, None, &copy).await?;
    if let Some(revision) = node.revision_id {
        oracle.note_copy(revision, copied.revision_id);
    }
    Ok(format!("copy {} to {}", node.name, copied.name))
}

async fn trash(
    world: &World,
    node: &Node,
    (nodes, seen): (&[Node], &Cursor),
    oracle: &Oracle,
) -> Result<String, ApiError> {
    // Nobody removes what came since they looked.
    world.api.delete_node(node.id, Some(&seen.0), None).await?;
    let mut removed = vec![node.id];
    let mut at = 0;
    while let Some(&above) = removed.get(at) {
        removed.extend(
            nodes
                .iter()
                .filter(|node| node.parent_id == Some(above))
                .map(|node| node.id),
        );
        at += 1;
    }
    for node in nodes.iter().filter(|node| removed.contains(&node.id)) {
        put_away(node, oracle);
    }
    Ok(format!("trash {}", node.name))
}

async fn restore(world: &World) -> Result<Option<String>, ApiError> {
    let trashed = world.api.trash().await?;
    let Some(node) = world.random.pick(&trashed) else {
        return Ok(None);
    };
    let restored = world.api.restore_node(node.id).await?;
    Ok(Some(format!("service: restore {}", restored.name)))
}

async fn restore_revision(world: &World, node: &Node, oracle: &Oracle) -> Result<String, ApiError> {
    let revisions = world.api.revisions(node.id).await?;
    let Some(revision) = world.random.pick(&revisions) else {
        return Ok(format!("no revision of {}", node.name));
    };
    let restored = world.api.restore_revision(node.id, revision.id).await?;
    oracle.note_copy(revision.id, restored.revision_id);
    // The service replaces what a device has sent meanwhile, too: it is in the history.
    for replaced in world.api.revisions(node.id).await? {
        note_revision(world, node.id, replaced.id, oracle);
        if Some(replaced.id) != restored.revision_id {
            oracle.put_away_revision(replaced.id);
        }
    }
    Ok(format!(
        "restore revision {} of {}",
        revision.number, node.name
    ))
}

/// Notes the hashes of the present revisions as far as devices know them: after an action they may forget them.
fn note_revisions(world: &World, nodes: &[Node], oracle: &Oracle) {
    for node in nodes {
        if let Some(revision) = node.revision_id {
            note_revision(world, node.id, revision, oracle);
        }
    }
}

fn note_revision(world: &World, node: NodeId, revision: RevisionId, oracle: &Oracle) {
    for device in &world.devices {
        let known = device.index().read(|db| {
            let remote = db.remote_row(node)?;
            let remote = remote.filter(|row| row.revision == Some(revision));
            let sent = db.sent_row(revision)?.map(|row| row.hash);
            // Nobody opens what this device has sent itself.
            let mut synced = None;
            for folder in db.folders()? {
                let base = db.synced_row(folder.id, node)?;
                let base = base.filter(|base| base.revision == Some(revision));
                synced = synced.or(base.and_then(|base| base.hash));
            }
            Ok(remote.and_then(|row| row.hash).or(sent).or(synced))
        });
        if let Some(hash) = known.expect("the index can be read") {
            oracle.note_revision(revision, hash);
        }
    }
}

/// Notes that somebody who saw a file as it was on the service removed or replaced its content.
fn put_away(node: &Node, oracle: &Oracle) {
    if let Some(revision) = node.revision_id {
        oracle.put_away_revision(revision);
    }
}
