//! A version that lost its name already, on another device: it is that copy, and needs no second one.
//!
//! When the service went back to an older state, every device has the later version and finds its
//! name taken by the older one. The first that commits makes the conflict copy; for the others the
//! copy is where their version went.

use super::Pairing;
use crate::entity::{EntityId, Occupants};
use crate::tree::LocalNode;
use cairn_model::{Kind, NameKey};
use std::collections::{HashMap, HashSet};

/// New remote conflict copies by the place of the file that they are copies of.
pub(super) type Copies = HashMap<(EntityId, NameKey), Vec<EntityId>>;

impl Pairing<'_> {
    /// The copies that no device but others have. One that stands here too is what stands here.
    pub(super) fn remote_copies(&self, strangers: &Occupants) -> Copies {
        let mut copies = Copies::new();
        for &id in strangers.values() {
            let Some(r) = self.all[id].remote.filter(|r| r.kind == Kind::File) else {
                continue;
            };
            if let Some(name) = r.name.copied_from() {
                let place = (self.remote_parent(r), name.key());
                copies.entry(place).or_default().push(id);
            }
        }
        if copies.is_empty() {
            return copies;
        }
        let locals = self.local.order.iter();
        let here: HashSet<(EntityId, NameKey)> = locals
            .filter(|l| l.name.is_conflict_copy())
            .map(|l| (self.local_parent(l), l.name.key()))
            .collect();
        for ((parent, _), found) in &mut copies {
            found.retain(|&id| {
                let name = self.all[id].remote.map(|r| r.name.key());
                name.is_some_and(|name| !here.contains(&(*parent, name)))
            });
            found.sort_unstable();
        }
        copies
    }

    /// Takes the copy that has a local file's bytes from those of its name.
    pub(super) fn take_copy(
        &mut self,
        l: &LocalNode,
        copies: Option<&mut Vec<EntityId>>,
    ) -> Option<EntityId> {
        let copies = copies?;
        let at = copies.iter().position(|&id| self.are_one(l, id))?;
        Some(copies.remove(at))
    }
}
