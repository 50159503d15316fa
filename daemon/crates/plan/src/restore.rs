//! Decides which deletions on the service are taken back: those of a file that was edited, moved or renamed here, and
//! those of a folder that was moved or renamed here.
//!
//! Such an entity is kept. As a new node it would have no history, and what another device changes in the former node
//! would be a change of something else. So the former node comes back first, as both sides last had it; the plan after
//! that carries the change on like any other. A folder comes back with everything that went with it. That is what a
//! move of it keeps; one that is kept only because something in it is kept is made anew, without the rest.

use crate::content::Content;
use crate::decision::Decision;
use crate::entity::{Entities, EntityId, ROOT, Side, UNKNOWN};
use cairn_model::{NodeId, is_temporary_name};
use std::collections::BTreeSet;

/// Returns whether the node of an entity is to be taken out of the service's trash: a change here has won over its
/// deletion, its folder is there and stays, and nothing else has its name.
pub(crate) fn is_restored(
    entities: &Entities<'_>,
    decisions: &[Decision],
    trashed: &BTreeSet<NodeId>,
    id: EntityId,
) -> bool {
    let e = &entities.all[id];
    let (Some(Side::Local), Some(base), Some(place)) = (e.only_side(), e.base, e.base_location())
    else {
        return false;
    };
    let is_changed = e.has_moved(Side::Local) || (e.is_file() && e.content == Content::Push);
    decisions[id] == Decision::Keep
        && is_changed
        && e.restore_to.is_none()
        && trashed.contains(&base.node)
        && stays(entities, decisions, place.parent, base.parent)
        && !is_temporary_name(place.name)
        && !entities
            .remote_at
            .contains_key(&(place.parent, place.name.key()))
}

/// Returns whether a folder is on the service as the node that it was, and not about to be deleted there.
fn stays(
    entities: &Entities<'_>,
    decisions: &[Decision],
    folder: EntityId,
    node: Option<NodeId>,
) -> bool {
    if folder == ROOT {
        return true;
    }
    folder != UNKNOWN
        && entities.all[folder].is_pair()
        && entities.all[folder].remote.map(|r| r.id) == node
        && decisions[folder] == Decision::Keep
}
