//! Checks whether others have changed anything in a folder before an undo moves it to the trash.

use super::{LastChange, NotTakenBack, Undoing};
use crate::space::MAX_DEPTH;
use cairn_model::Kind;
use cairn_wire::Timestamp;
use cairn_wire::nodes::Node;
use std::collections::HashSet;

/// Returns the reason why what is below a folder, however deep, keeps it where it is: somebody else changed it
/// after a time of the server, or there is too much to see.
pub(super) async fn reason_below<S: Undoing>(
    service: &S,
    folder: &Node,
    since: Timestamp,
) -> Result<Option<NotTakenBack>, S::Error> {
    let since = match restored_above(service, folder).await? {
        Some(at) if at > since => at,
        Some(_) | None => since,
    };
    let mut waiting = vec![(folder.clone(), since)];
    let mut seen = HashSet::from([folder.id]);
    while let Some((at, since)) = waiting.pop() {
        for node in service.children(&at).await? {
            if seen.len() > S::MAX_NODES || !seen.insert(node.id) {
                return Ok(Some(NotTakenBack::TooMany(folder.name.clone())));
            }
            let (last, restored) = {
                let own = service.own_versions().lock();
                (own.last_change(&node), own.restored_at(node.id))
            };
            // The restore changed the times of all that came along.
            let since = match restored {
                Some(at) if at > since => at,
                Some(_) | None => since,
            };
            if node.updated_at > since && last != LastChange::Own {
                return Ok(Some(NotTakenBack::WorkedOn(folder.name.clone())));
            }
            if node.kind == Kind::Folder {
                waiting.push((node, since));
            }
        }
    }
    Ok(None)
}

/// Returns the server's time at which taking back has restored a folder, by itself or along with one above it: the
/// restore changed the times of everything in it.
async fn restored_above<S: Undoing>(
    service: &S,
    folder: &Node,
) -> Result<Option<Timestamp>, S::Error> {
    if !service.own_versions().lock().has_restored() {
        return Ok(None);
    }
    let mut last = service.own_versions().lock().restored_at(folder.id);
    let (mut above, mut seen) = (folder.parent_id, HashSet::from([folder.id]));
    while let Some(id) = above.filter(|id| seen.insert(*id)) {
        if seen.len() > MAX_DEPTH {
            break;
        }
        last = last.max(service.own_versions().lock().restored_at(id));
        above = service.node(id).await?.and_then(|node| node.parent_id);
    }
    Ok(last)
}
