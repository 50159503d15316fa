//! The past of a space, from the feed, the trash and the places that this device remembers.

use crate::failure::{CommandResult, Context as _};
use crate::folders::open_index;
use crate::remote::Remote;
use crate::remote::journal::Journal;
use cairn_model::{Cursor, NodeId, PastPlace};
use cairn_platform::Home;
use cairn_space::MAX_DEPTH;
use cairn_space::past::{Deleted, Past, PastNode};
use cairn_wire::nodes::{Node, NodeState, Revision};
use futures_util::StreamExt as _;
use std::collections::{HashMap, HashSet};

/// The number of concurrent requests.
const AT_ONCE: usize = 16;

/// Reads all nodes of a space with their past. Only the personal space's moves are remembered.
pub(crate) async fn load(home: &Home, remote: &Remote) -> CommandResult<Past> {
    let (mut nodes, cursor) = changes_since(remote, None).await?;
    nodes.retain(|_, node| remote.space.check(node).is_ok());
    let trash = remote
        .api
        .trash()
        .await
        .context("list the service's trash")?;
    let roots: HashSet<NodeId> = trash.iter().map(|node| node.id).collect();
    let mut left = places(home, remote.journal.team())?;
    let past: Vec<PastNode> = nodes
        .values()
        .map(|node| PastNode {
            node: node.clone(),
            deleted: deletion_of(&nodes, &roots, node),
            left: left.remove(&node.id).unwrap_or_default(),
        })
        .collect();
    Ok(Past::new(past).read_up_to(cursor))
}

/// Reads the present state of what has changed after a position in the feed, and the position of the last
/// change; without one, of everything.
pub(crate) async fn changes_since(
    remote: &Remote,
    cursor: Option<&Cursor>,
) -> CommandResult<(HashMap<NodeId, Node>, Cursor)> {
    let mut nodes = HashMap::new();
    let mut cursor = cursor.cloned();
    loop {
        let page = remote
            .api
            .changes(cursor.as_ref())
            .await
            .context("read what has changed")?;
        let changed = page.changes.into_iter().filter_map(|change| change.node);
        nodes.extend(changed.map(|node| (node.id, node)));
        if !page.has_more || cursor.as_ref() == Some(&page.cursor) {
            return Ok((nodes, page.cursor));
        }
        cursor = Some(page.cursor);
    }
}

/// Finds with which node another one went to the trash.
fn deletion_of(
    nodes: &HashMap<NodeId, Node>,
    roots: &HashSet<NodeId>,
    node: &Node,
) -> Option<Deleted> {
    if node.state == NodeState::Active {
        return None;
    }
    let mut at = node;
    for _ in 0..MAX_DEPTH {
        if roots.contains(&at.id) {
            break;
        }
        match at.parent_id.and_then(|parent| nodes.get(&parent)) {
            Some(parent) if parent.state == NodeState::Trashed => at = parent,
            Some(_) | None => break,
        }
    }
    Some(Deleted {
        at_ms: at.updated_at.0,
        root: at.id,
    })
}

/// The places that nodes left, as the daemon saw it, and as commands did it while none was running.
fn places(home: &Home, team: Option<&str>) -> CommandResult<HashMap<NodeId, Vec<PastPlace>>> {
    let mut all = Journal::past_places(home, team)?;
    if team.is_none() && home.index_file().exists() {
        let (index, _) = open_index(home)?;
        all.extend(index.read(|db| db.places_left_after(i64::MIN))?);
    }
    all.sort_by_key(|place| place.until_ms);
    let mut left: HashMap<NodeId, Vec<PastPlace>> = HashMap::new();
    for place in all {
        let left = left.entry(place.node).or_default();
        // The same move, seen by a command and by the daemon, a moment apart.
        let again = left.last().map(|last| (last.parent, last.name.as_str()));
        if again != Some((place.parent, place.name.as_str())) {
            left.push(place);
        }
    }
    Ok(left)
}

/// Reads the revisions of many files.
pub(crate) async fn revisions_of(
    remote: &Remote,
    files: &[NodeId],
) -> CommandResult<HashMap<NodeId, Vec<Revision>>> {
    let reading = files.iter().map(|id| async move {
        let revisions = remote.api.revisions(*id).await;
        revisions
            .context(format_args!("list the versions of {id}"))
            .map(|revisions| (*id, revisions))
    });
    let mut reading = futures_util::stream::iter(reading).buffer_unordered(AT_ONCE);
    let mut all = HashMap::new();
    while let Some(read) = reading.next().await {
        let (id, revisions) = read?;
        all.insert(id, revisions);
    }
    Ok(all)
}
