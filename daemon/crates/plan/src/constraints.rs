//! The constraints of planning: the changes that are not allowed for each entity.
//! An entity is one file or folder of the user, with up to three nodes: local, remote and synced.

use crate::entity::{Entities, EntityId};

/// The constraints of planning: everything that was found to be impossible for now. None is ever
/// removed, so that planning ends.
#[derive(Debug)]
pub(crate) struct Constraints {
    /// Entities that get no step at all.
    pub(crate) blocked: Vec<bool>,
    /// Entities that stay where they are on both sides; their content may be transferred.
    pub(crate) pinned: Vec<bool>,
    /// Entities that go back to where the service has them.
    pub(crate) put_back: Vec<bool>,
    /// Entities whose deletion is one of many and waits for a person's consent (the deletion gate).
    pub(crate) gated: Vec<bool>,
    /// Pairs whose content waits for it (the overwriting gate).
    pub(crate) held: Vec<bool>,
}

impl Constraints {
    pub(crate) fn new(entities: &Entities<'_>) -> Self {
        let none = vec![false; entities.all.len()];
        Self {
            blocked: entities.blocked.clone(),
            pinned: none.clone(),
            put_back: none.clone(),
            gated: none.clone(),
            held: none,
        }
    }

    /// Defers an entity: a pair stays where it is, anything else gets no step.
    pub(crate) fn defer(&mut self, entities: &Entities<'_>, id: EntityId) {
        if entities.all[id].is_pair() {
            self.pinned[id] = true;
        } else {
            self.blocked[id] = true;
        }
    }

    /// Returns whether an entity may be moved or made.
    pub(crate) fn is_movable(&self, id: EntityId) -> bool {
        !self.blocked[id] && !self.pinned[id]
    }
}
