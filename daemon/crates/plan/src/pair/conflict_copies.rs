//! Conflict copies that another device made of the version that this device has: no second copy is
//! made.
//!
//! After the service went back to an older state, every device has the later version and finds its
//! name taken by the older one. The first that commits makes the conflict copy; the others pair
//! their version with that copy.

use super::Pairing;
use crate::entity::{EntityId, Occupants};
use crate::tree::LocalNode;
use cairn_model::{Kind, LocalId, NameKey, SyncMode};
use std::collections::{HashMap, HashSet};

/// Conflict copies that other devices made, and those on this disk.
pub(super) struct Copies {
    /// New remote ones by the location of the file that they are copies of.
    remote: HashMap<(EntityId, NameKey), Vec<EntityId>>,
    /// Local ones by the local folder, which doesn't change when it is paired.
    local: HashSet<(Option<LocalId>, NameKey)>,
}

impl Pairing<'_> {
    pub(super) fn copies(&self, unlinked: &Occupants, mode: SyncMode) -> Copies {
        let mut copies = Copies {
            remote: HashMap::new(),
            local: HashSet::new(),
        };
        // To become the copy, the file here has to be renamed.
        if mode == SyncMode::Upload {
            return copies;
        }
        for &id in unlinked.values() {
            let Some(r) = self.all[id].remote.filter(|r| r.kind == Kind::File) else {
                continue;
            };
            if let Some(name) = r.name.copied_from() {
                let place = (self.remote_parent(r), name.key());
                copies.remote.entry(place).or_default().push(id);
            }
        }
        if copies.remote.is_empty() {
            return copies;
        }
        for found in copies.remote.values_mut() {
            found.sort_unstable();
        }
        let locals = self.local.order.iter();
        copies.local = locals
            .filter(|l| l.name.is_conflict_copy())
            .map(|l| (l.parent, l.name.key()))
            .collect();
        copies
    }

    /// Removes and returns the copy of the given location that has the local file's bytes. A copy that
    /// is on this disk too, or that is paired already, doesn't count.
    pub(super) fn find_copy(
        &mut self,
        l: &LocalNode,
        place: &(EntityId, NameKey),
        copies: &mut Copies,
    ) -> Option<EntityId> {
        let candidates = copies.remote.get_mut(place)?;
        let at = candidates.iter().position(|&id| {
            let free = self.all[id].local.is_none()
                && self.all[id]
                    .remote
                    .is_some_and(|r| !copies.local.contains(&(l.parent, r.name.key())));
            free && self.are_equal(l, id)
        })?;
        Some(candidates.remove(at))
    }
}
