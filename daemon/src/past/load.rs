//! Reads the past of a space (the files of an account or team): from the change feed, the trash, what the service tells
//! of the states that nodes have left, and the places (parent folder and name) that this device remembers.

use super::valid_name;
use crate::failure::{CommandResult, Context as _};
use crate::folders::spaces;
use crate::remote::Remote;
use crate::remote::journal::Journal;
use cairn_api::{ApiError, Paging};
use cairn_control::TeamSpace;
use cairn_model::{Cursor, NodeId, PastPlace};
use cairn_platform::Home;
use cairn_space::past::{Deleted, LeftState, Memory, Past, PastNode};
use cairn_wire::Timestamp;
use cairn_wire::changes::PastState;
use cairn_wire::nodes::{Node, Revision};
use futures_util::StreamExt as _;
use std::collections::{HashMap, HashSet};

/// The number of concurrent requests to a service that has none for many files.
const AT_ONCE: usize = 16;

/// The number of files whose revisions are read in one request.
const FILES_PER_REQUEST: usize = 1_000;

/// The states that nodes have left, each with its node.
type LeftStates = Vec<(NodeId, LeftState)>;

/// Reads all nodes of a space with what they were after a time, or with all that is known without one: as the service
/// tells it, and as this device remembers it of the time before. Of a service that keeps nothing of it, moves are
/// remembered where the space has folders here, and of commands.
pub(crate) async fn load(
    home: &Home,
    remote: &Remote,
    since_ms: Option<i64>,
) -> CommandResult<Past> {
    let (mut nodes, cursor) = changes_since(remote, None).await?;
    nodes.retain(|_, node| remote.space.check(node).is_ok());
    let trash = remote
        .api
        .trash()
        .await
        .context("list the service's trash")?;
    let roots: HashSet<NodeId> = trash.iter().map(|node| node.id).collect();
    let listed = listed_by_service(remote, since_ms).await?;
    let (mut left, memory) = merged(places(home, remote)?, listed);
    let past: Vec<PastNode> = nodes
        .values()
        .map(|node| PastNode {
            node: node.clone(),
            deleted: Deleted::of(node, &nodes, &roots),
            left: left.remove(&node.id).unwrap_or_default(),
        })
        .collect();
    Ok(Past::new(past).read_up_to(cursor).known_by(memory))
}

/// Reads what the service tells of the states that nodes left after a time, and since when it tells all; `None` of one
/// that keeps nothing of it.
async fn listed_by_service(
    remote: &Remote,
    since_ms: Option<i64>,
) -> CommandResult<Option<(LeftStates, i64)>> {
    let mut all = Vec::new();
    let mut paging = Paging::up_to(Paging::IN_MEMORY);
    let mut after: Option<String> = None;
    loop {
        let since = since_ms.map(Timestamp);
        let page = match remote.api.past_states(since, after.as_deref()).await {
            // Before the first page: the whole endpoint.
            Err(ApiError::NotFound { .. }) if after.is_none() => return Ok(None),
            page => page.context("read what was moved and deleted")?,
        };
        paging
            .advance(page.states.len(), page.next.as_deref())
            .context("read what was moved and deleted")?;
        for state in page.states {
            all.push(left_state(state)?);
        }
        after = page.next;
        if after.is_none() {
            return Ok(Some((all, page.known_from.0)));
        }
    }
}

/// Checks a state that the service tells. Nobody has sealed it: its name must not lead anywhere else.
fn left_state(listed: PastState) -> CommandResult<(NodeId, LeftState)> {
    let name = valid_name(&listed.name)?;
    let state = LeftState {
        parent: listed.parent_id,
        name: name.as_str().to_owned(),
        state: listed.state,
        until_ms: listed.until.0,
        device: listed.device_id,
    };
    Ok((listed.node_id, state))
}

/// Puts together what the service tells and what this device remembers. From the time on of which the service tells
/// all, it is asked alone: this device may have seen two moves as one.
fn merged(
    remembered: Vec<PastPlace>,
    listed: Option<(LeftStates, i64)>,
) -> (HashMap<NodeId, Vec<LeftState>>, Memory) {
    let (listed, from_ms, memory) = match listed {
        Some((listed, from_ms)) => (listed, from_ms, Memory::Service { from_ms }),
        None => {
            let first_ms = remembered.first().map(|place| place.until_ms);
            (Vec::new(), i64::MAX, Memory::Device { first_ms })
        }
    };
    let mut left: HashMap<NodeId, Vec<LeftState>> = HashMap::new();
    for place in remembered
        .into_iter()
        .filter(|place| place.until_ms <= from_ms)
    {
        let left = left.entry(place.node).or_default();
        let state = LeftState::from(place);
        // The same move, seen by a command and by the daemon, a moment apart.
        let is_again = left
            .last()
            .is_some_and(|last| (last.parent, &last.name) == (state.parent, &state.name));
        if !is_again {
            left.push(state);
        }
    }
    let mut listed_before: HashSet<NodeId> = HashSet::new();
    for (node, state) in listed {
        let left = left.entry(node).or_default();
        // The last move before the service tells all may be known to both. Of those that the service tells, two end at
        // the same time where a request has moved the node twice.
        let is_again = listed_before.insert(node)
            && left
                .last()
                .is_some_and(|last| last.until_ms == state.until_ms);
        if is_again {
            left.pop();
        }
        left.push(state);
    }
    (left, memory)
}

/// Reads the present state of what has changed after a position in the feed, and the position of the last
/// change; without one, of everything.
pub(crate) async fn changes_since(
    remote: &Remote,
    cursor: Option<&Cursor>,
) -> CommandResult<(HashMap<NodeId, Node>, Cursor)> {
    let mut nodes = HashMap::new();
    let mut paging = Paging::up_to(Paging::IN_MEMORY);
    let mut cursor = cursor.cloned();
    if let Some(from) = &cursor {
        paging.begin_at(&from.0);
    }
    loop {
        let page = remote
            .api
            .changes(cursor.as_ref())
            .await
            .context("read what has changed")?;
        let next = page.has_more.then_some(page.cursor.0.as_str());
        paging
            .advance(page.changes.len(), next)
            .context("read what has changed")?;
        let changed = page.changes.into_iter().filter_map(|change| change.node);
        nodes.extend(changed.map(|node| (node.id, node)));
        if !page.has_more {
            return Ok((nodes, page.cursor));
        }
        cursor = Some(page.cursor);
    }
}

/// The places that nodes left, oldest first: as the daemon saw it, and as commands did it while none was running.
fn places(home: &Home, remote: &Remote) -> CommandResult<Vec<PastPlace>> {
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
    Ok(all)
}

/// Reads the revisions that many files had at a time, beside their present ones.
pub(crate) async fn revisions_at(
    remote: &Remote,
    files: &[NodeId],
    at_ms: i64,
) -> CommandResult<HashMap<NodeId, Vec<Revision>>> {
    let mut all = HashMap::with_capacity(files.len());
    for group in files.chunks(FILES_PER_REQUEST) {
        match remote.api.revisions_at(group, Timestamp(at_ms)).await {
            Ok(found) => all.extend(found.into_iter().map(|one| (one.node_id, one.revisions))),
            // A service without this request lists all revisions of each file.
            Err(ApiError::NotFound { .. }) => return all_revisions_of(remote, files).await,
            Err(error) => return Err(error).context("read the versions of that time"),
        }
    }
    Ok(all)
}

/// Reads all revisions of many files, with a request for each.
pub(crate) async fn all_revisions_of(
    remote: &Remote,
    files: &[NodeId],
) -> CommandResult<HashMap<NodeId, Vec<Revision>>> {
    let reading = files.iter().map(|id| async move {
        match remote.api.revisions(*id).await {
            // It was deleted for good just now.
            Err(ApiError::NotFound { .. }) => Ok((*id, Vec::new())),
            revisions => revisions
                .context(format_args!("list the versions of {id}"))
                .map(|revisions| (*id, revisions)),
        }
    });
    let mut reading = futures_util::stream::iter(reading).buffer_unordered(AT_ONCE);
    let mut all = HashMap::new();
    while let Some(read) = reading.next().await {
        let (id, revisions) = read?;
        all.insert(id, revisions);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_wire::nodes::NodeState;

    fn id(n: u8) -> NodeId {
        NodeId::from_random_bytes([n; 16])
    }

    fn place(n: u8, name: &str, until_ms: i64) -> PastPlace {
        PastPlace {
            node: id(n),
            parent: None,
            name: name.to_owned(),
            until_ms,
        }
    }

    fn service_state(n: u8, name: &str, until_ms: i64) -> (NodeId, LeftState) {
        (id(n), LeftState::from(place(n, name, until_ms)))
    }

    fn names(left: &HashMap<NodeId, Vec<LeftState>>, n: u8) -> Vec<&str> {
        let states = left.get(&id(n)).map_or(&[][..], Vec::as_slice);
        states.iter().map(|state| state.name.as_str()).collect()
    }

    #[test]
    fn the_service_is_believed_from_the_time_on_of_which_it_tells_all() {
        let remembered = vec![
            place(1, "before", 10),
            place(1, "before", 12),
            place(1, "both", 50),
            // Two moves that came here as one.
            place(1, "first", 90),
            place(2, "unknown", 95),
        ];
        let service = vec![
            service_state(1, "both", 50),
            service_state(1, "first", 80),
            service_state(1, "second", 90),
        ];
        let (left, memory) = merged(remembered, Some((service, 50)));
        assert_eq!(names(&left, 1), ["before", "both", "first", "second"]);
        assert_eq!(names(&left, 2), [""; 0]);
        assert_eq!(memory, Memory::Service { from_ms: 50 });
        assert!(memory.reaches(50) && !memory.reaches(49));
    }

    #[test]
    fn a_node_that_was_moved_twice_at_once_has_both_places() {
        let remembered = vec![place(1, "a", 50)];
        let service = vec![
            service_state(1, "a", 50),
            service_state(1, "b", 80),
            service_state(1, "for now", 80),
        ];
        let (left, _) = merged(remembered, Some((service, 50)));
        assert_eq!(names(&left, 1), ["a", "b", "for now"]);
    }

    #[test]
    fn without_a_service_that_keeps_it_this_device_is_all_that_is_asked() {
        let (left, memory) = merged(vec![place(1, "a", 10), place(1, "b", 20)], None);
        assert_eq!(names(&left, 1), ["a", "b"]);
        assert_eq!(memory, Memory::Device { first_ms: Some(10) });
        assert!(!memory.reaches(15));
    }

    #[test]
    fn a_name_that_leads_elsewhere_is_refused() {
        let state = |name: &str| PastState {
            node_id: id(1),
            parent_id: None,
            name: name.to_owned(),
            state: NodeState::Active,
            until: Timestamp(1),
            device_id: None,
        };
        for name in ["..", "a/b", ""] {
            assert!(left_state(state(name)).is_err(), "{name}");
        }
        assert!(left_state(state("a")).is_ok());
    }
}
