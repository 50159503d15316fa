//! Reads the past of a space (the files of an account or team): from the change feed, the trash, and the places
//! (parent folder and name) that this device remembers.

use crate::failure::{CommandResult, Context as _};
use crate::folders::spaces;
use crate::remote::Remote;
use crate::remote::journal::Journal;
use cairn_control::TeamSpace;
use cairn_model::{Cursor, NodeId, PastPlace};
use cairn_platform::Home;
use cairn_space::past::{Deleted, Past, PastNode};
use cairn_wire::nodes::{Node, Revision};
use futures_util::StreamExt as _;
use std::collections::{HashMap, HashSet};

/// The number of concurrent requests.
const AT_ONCE: usize = 16;

/// Reads all nodes of a space with their past. Moves are remembered where the space has folders here, and of commands.
pub(crate) async fn load(home: &Home, remote: &Remote) -> CommandResult<Past> {
    let (mut nodes, cursor) = changes_since(remote, None).await?;
    nodes.retain(|_, node| remote.space.check(node).is_ok());
    let trash = remote
        .api
        .trash()
        .await
        .context("list the service's trash")?;
    let roots: HashSet<NodeId> = trash.iter().map(|node| node.id).collect();
    let mut left = places(home, remote)?;
    let past: Vec<PastNode> = nodes
        .values()
        .map(|node| PastNode {
            node: node.clone(),
            deleted: Deleted::of(node, &nodes, &roots),
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

/// The places that nodes left, as the daemon saw it, and as commands did it while none was running.
fn places(home: &Home, remote: &Remote) -> CommandResult<HashMap<NodeId, Vec<PastPlace>>> {
    let team = remote.journal.team();
    let mut all = Journal::past_places(home, team)?;
    if home.index_file().exists() {
        let space = remote.space.keys().space();
        let is_it = |team_space: &Option<TeamSpace>| match team_space {
            Some(team_space) => team_space.id == space,
            None => team.is_none(),
        };
        let (opened, broken) = spaces::open_usable(home)?;
        let broken: Vec<_> = broken
            .into_iter()
            .filter(|one| team.is_some() && one.id.is_none_or(|id| id == space))
            .collect();
        spaces::check_none_is_broken(&broken)?;
        for one in opened.iter().filter(|one| is_it(&one.space)) {
            all.extend(one.index.read(|db| db.places_left_after(i64::MIN))?);
        }
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
