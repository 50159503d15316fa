//! Deeds on the service without keys: on its pages, or through a program with an API key alone.

use crate::deeds::NAMES;
use crate::random::Seeded;
use crate::world::World;
use cairn_api::ApiError;
use cairn_model::{Kind, NodeId};
use cairn_wire::nodes::{CopyNode, Node, UpdateNode};

/// One deed on the service; `None` if there was nothing to do it to, or the service has refused it.
///
/// # Panics
/// If the service does not answer.
pub(crate) async fn work(world: &World) -> Option<String> {
    let nodes = active(world).await;
    let random = &world.random;
    let node = random.pick(&nodes)?;
    let done = match random.below(3) {
        0 => rename(world, node).await,
        1 => move_to(world, node, &nodes).await,
        _ => copy(world, node).await,
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
