//! A version that lost its name already, on another device: it is that copy, and needs no second one.
//!
//! When the service went back to an older state, every device has the later version and finds its
//! name taken by the older one. The first that commits makes the conflict copy; for the others the
//! copy is where their version went.

use super::Pairing;
use crate::Direction;
use crate::entity::{EntityId, Occupants};
use crate::tree::LocalNode;
use cairn_model::{Kind, LocalId, NameKey};
use std::collections::{HashMap, HashSet};

/// Conflict copies that other devices made, and those that stand here.
pub(super) struct Copies {
    /// New remote ones by the place of the file that they are copies of.
    there: HashMap<(EntityId, NameKey), Vec<EntityId>>,
    /// By the local folder, which is the same whatever it is paired with by now.
    here: HashSet<(Option<LocalId>, NameKey)>,
}

impl Pairing<'_> {
    pub(super) fn copies(&self, strangers: &Occupants, direction: Direction) -> Copies {
        let mut copies = Copies {
            there: HashMap::new(),
            here: HashSet::new(),
        };
        // To become the copy, the file here has to be renamed.
        if direction == Direction::Upload {
            return copies;
        }
        for &id in strangers.values() {
            let Some(r) = self.all[id].remote.filter(|r| r.kind == Kind::File) else {
                continue;
            };
            if let Some(name) = r.name.copied_from() {
                let place = (self.remote_parent(r), name.key());
                copies.there.entry(place).or_default().push(id);
            }
        }
        if copies.there.is_empty() {
            return copies;
        }
        for found in copies.there.values_mut() {
            found.sort_unstable();
        }
        let locals = self.local.order.iter();
        copies.here = locals
            .filter(|l| l.name.is_conflict_copy())
            .map(|l| (l.parent, l.name.key()))
            .collect();
        copies
    }

    /// Takes the copy that has a local file's bytes from those of its name. One that stands here too
    /// is what stands here, and one that was taken is somebody's.
    pub(super) fn take_copy(
        &mut self,
        l: &LocalNode,
        place: &(EntityId, NameKey),
        copies: &mut Copies,
    ) -> Option<EntityId> {
        let there = copies.there.get_mut(place)?;
        let at = there.iter().position(|&id| {
            let free = self.all[id].local.is_none()
                && self.all[id]
                    .remote
                    .is_some_and(|r| !copies.here.contains(&(l.parent, r.name.key())));
            free && self.are_one(l, id)
        })?;
        Some(there.remove(at))
    }
}
