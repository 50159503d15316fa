//! Deeds on the service without keys: on its pages, or through a program with an API key alone.

use crate::deeds::NAMES;
use crate::oracle::Oracle;
use crate::random::Seeded;
use crate::world::World;
use cairn_api::ApiError;
use cairn_index::{Db, IndexError};
use cairn_model::{ContentHash, Kind, NodeId};
use cairn_wire::nodes::{CopyNode, Node, UpdateNode};
use std::collections::BTreeSet;

/// One deed on the service; `None` if there was nothing to do it to, or the service has refused it.
///
/// # Panics
/// If the service does not answer.
pub(crate) async fn work(world: &World, oracle: &mut Oracle) -> Option<String> {
    let nodes = active(world).await;
    let random = &world.random;
    let node = random.pick(&nodes)?;
    let done = match random.below(7) {
        0 => rename(world, node).await,
        1 | 2 => move_to(world, node, &nodes).await,
        3 => trash(world, node, &nodes, oracle).await,
        4 => restore(world).await?,
        5 => copy(world, node).await,
        _ => restore_revision(world, node, oracle).await?,
    };
    done.ok().map(|done| format!("service: {done}"))
}

async fn active(world: &World) -> Vec<Node> {
    let (mut nodes, mut after) = (Vec::new(), None);
    loop {
        let page = world.api.snapshot(after.as_deref()).await.expect("a page");
        nodes.extend(page.nodes);
        after = page.next;
        if after.is_none() {
            return nodes;
        }
    }
}

fn name(random: &Seeded) -> String {
    random
        .pick(NAMES)
        .map(ToString::to_string)
        .unwrap_or_default()
}

async fn rename(world: &World, node: &Node) -> Result<String, ApiError> {
    let change = UpdateNode {
        name: Some(name(&world.random)),
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

async fn trash(
    world: &World,
    node: &Node,
    nodes: &[Node],
    oracle: &mut Oracle,
) -> Result<String, ApiError> {
    world.api.delete_node(node.id, None, None).await?;
    let mut gone = BTreeSet::from([node.id]);
    // Parents may stand behind their children.
    while let Some(next) = nodes.iter().find(|node| {
        let is_below = node.parent_id.is_some_and(|parent| gone.contains(&parent));
        is_below && !gone.contains(&node.id)
    }) {
        gone.insert(next.id);
    }
    for node in nodes.iter().filter(|node| gone.contains(&node.id)) {
        put_away(world, node, oracle);
    }
    Ok(format!("trash {}", node.name))
}

async fn restore(world: &World) -> Option<Result<String, ApiError>> {
    let trash = world.api.trash().await.expect("the trash");
    let node = world.random.pick(&trash)?;
    let restored = world.api.restore_node(node.id).await;
    Some(restored.map(|node| format!("restore {}", node.name)))
}

async fn copy(world: &World, node: &Node) -> Result<String, ApiError> {
    let copy = CopyNode {
        parent_id: node.parent_id,
        name: Some(name(&world.random)),
        id: None,
        seal: None,
    };
    let copied = world.api.copy_node(node.id, None, &copy).await?;
    Ok(format!("copy {} to {}", node.name, copied.name))
}

async fn restore_revision(
    world: &World,
    node: &Node,
    oracle: &mut Oracle,
) -> Option<Result<String, ApiError>> {
    if node.kind == Kind::Folder {
        return None;
    }
    let revisions = world.api.revisions(node.id).await.expect("the revisions");
    let revision = world.random.pick(&revisions)?;
    let restored = world.api.restore_revision(node.id, revision.id).await;
    if restored.is_ok() {
        put_away(world, node, oracle);
    }
    Some(restored.map(|node| format!("restore revision {} of {}", revision.number, node.name)))
}

/// Puts away the content of a node, which the device that sent it knows.
fn put_away(world: &World, node: &Node, oracle: &mut Oracle) {
    for device in &world.devices {
        let hash = device.index().read(|db| content_of(db, node));
        if let Some(hash) = hash.expect("the index answers") {
            oracle.put_away_hash(hash);
        }
    }
}

fn content_of(db: &Db<'_>, node: &Node) -> Result<Option<ContentHash>, IndexError> {
    let Some(revision) = node.revision_id else {
        return Ok(None);
    };
    if let Some(sent) = db.sent_row(revision)? {
        return Ok(Some(sent.hash));
    }
    let remote = db.remote_row(node.id)?;
    Ok(remote
        .filter(|row| row.revision == Some(revision))
        .and_then(|row| row.hash))
}
