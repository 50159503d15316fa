//! The layout of one side while its changes are simulated: the folder and the name of each entity (a file or folder
//! with its nodes on both sides).

use crate::entity::{Entities, EntityId, ROOT, Side, UNKNOWN};
use cairn_model::{Name, NameKey};
use std::collections::HashMap;

pub(super) struct Layout<'s, 'a> {
    side: Side,
    entities: &'s Entities<'a>,
    /// The current folder of each entity that exists on this side.
    pub(super) parent: Vec<Option<EntityId>>,
    /// The current holder of each name, where that differs from the beginning.
    changed: HashMap<(EntityId, NameKey), Option<EntityId>>,
    /// The current name key of each entity that has moved.
    key: HashMap<EntityId, NameKey>,
}

impl<'s, 'a> Layout<'s, 'a> {
    /// Starts with the tree of the side as it is.
    pub(super) fn new(side: Side, entities: &'s Entities<'a>) -> Self {
        let mut parent = vec![None; entities.all.len()];
        parent[ROOT] = Some(ROOT);
        for id in entities.ids() {
            parent[id] = entities.all[id].location(side).map(|at| at.parent);
        }
        Self {
            side,
            entities,
            parent,
            changed: HashMap::new(),
            key: HashMap::new(),
        }
    }

    /// Returns the entity that has a name in a folder now.
    pub(super) fn holder(&self, location: &(EntityId, NameKey)) -> Option<EntityId> {
        match self.changed.get(location) {
            Some(now) => *now,
            None => self.entities.at(self.side).get(location).copied(),
        }
    }

    /// Returns the entity whose name this disk takes for the one in a folder, as long as it has that name.
    pub(super) fn alias_holder(&self, location: &(EntityId, NameKey)) -> Option<EntityId> {
        if self.side == Side::Remote {
            return None;
        }
        let holder = self.entities.local_aliases.get(location).copied();
        holder.filter(|&id| self.is_unmoved(id) && self.parent[id].is_some())
    }

    /// Frees the name of an entity, which leaves its folder.
    pub(super) fn vacate(&mut self, id: EntityId) {
        let Some(location) = self.entities.all[id].location(self.side) else {
            return;
        };
        let folder = self.parent[id].unwrap_or(UNKNOWN);
        let key = self
            .key
            .get(&id)
            .cloned()
            .unwrap_or_else(|| location.name.key());
        let place = (folder, key);
        if self.holder(&place) == Some(id) {
            self.changed.insert(place, None);
        }
    }

    /// Moves an entity to a folder and a name.
    pub(super) fn occupy(&mut self, id: EntityId, folder: EntityId, name: &Name) {
        self.vacate(id);
        let key = name.key();
        self.changed.insert((folder, key.clone()), Some(id));
        self.key.insert(id, key);
        self.parent[id] = Some(folder);
    }

    /// Returns whether an entity is where it was at the beginning.
    pub(super) fn is_unmoved(&self, id: EntityId) -> bool {
        !self.key.contains_key(&id)
    }
}
