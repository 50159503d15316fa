//! Looking for the work of others in a folder before it goes to the trash.

use super::{LastChange, NotTakenBack, Undoing};
use cairn_model::Kind;
use cairn_wire::Timestamp;
use cairn_wire::nodes::Node;
use std::collections::HashSet;

/// Returns the reason why what is below a folder, however deep, keeps it where it is: somebody else changed it
/// after a time of the server, or there is too much to see.
pub(super) async fn below<S: Undoing>(
    service: &S,
    folder: &Node,
    since: Timestamp,
) -> Result<Option<NotTakenBack>, S::Error> {
    let mut waiting = vec![folder.clone()];
    let mut seen = HashSet::from([folder.id]);
    while let Some(at) = waiting.pop() {
        for node in service.children(&at).await? {
            if seen.len() > S::MAX_NODES || !seen.insert(node.id) {
                return Ok(Some(NotTakenBack::TooMany(folder.name.clone())));
            }
            let last = service.own_versions().lock().last_change(&node);
            if node.updated_at > since && last != LastChange::Own {
                return Ok(Some(NotTakenBack::WorkedOn(folder.name.clone())));
            }
            if node.kind == Kind::Folder {
                waiting.push(node);
            }
        }
    }
    Ok(None)
}
