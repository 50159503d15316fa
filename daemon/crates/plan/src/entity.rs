//! An entity: one file or folder of the user, as up to three nodes (local, remote, synced).
//!
//! Everything after pairing works on entities alone, so that a location (a parent entity and a name) means the
//! same on both sides. This module decides nothing.

use crate::content::Content;
use crate::tree::{LocalNode, RemoteNode, SyncedNode};
use crate::{Need, Parent};
pub(crate) use cairn_model::Side;
use cairn_model::{Kind, LocalId, Name, NameKey, NodeId, RevisionId, is_temporary_name};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// An index into [`Entities::all`].
pub(crate) type EntityId = usize;

/// The folder's root; it exists on both sides and gets no step.
pub(crate) const ROOT: EntityId = 0;

/// The parent of a node whose real parent is in none of the trees.
pub(crate) const UNKNOWN: EntityId = EntityId::MAX;

/// A folder and a name in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Location<'a> {
    pub(crate) parent: EntityId,
    pub(crate) name: &'a Name,
}

/// One file or folder of the user. Without any node it is empty: two entities were merged, and the other has its nodes.
#[derive(Clone, Debug)]
pub(crate) struct Entity<'a> {
    pub(crate) kind: Kind,
    pub(crate) local: Option<&'a LocalNode>,
    pub(crate) remote: Option<&'a RemoteNode>,
    pub(crate) base: Option<&'a SyncedNode>,
    pub(crate) local_parent: EntityId,
    pub(crate) remote_parent: EntityId,
    pub(crate) base_parent: EntityId,
    /// A synced node that no longer pairs the two sides: both changed, to different bytes.
    pub(crate) unlinked: Option<NodeId>,
    /// The revision that the local file of such a node was made from.
    pub(crate) made_from: Option<RevisionId>,
    pub(crate) content: Content,
    /// The location to which it goes back after an interrupted swap left it under a temporary name.
    pub(crate) restore_to: Option<Location<'a>>,
}

impl<'a> Entity<'a> {
    pub(crate) fn empty(kind: Kind) -> Self {
        Self {
            kind,
            local: None,
            remote: None,
            base: None,
            local_parent: UNKNOWN,
            remote_parent: UNKNOWN,
            base_parent: UNKNOWN,
            unlinked: None,
            made_from: None,
            content: Content::Same,
            restore_to: None,
        }
    }

    pub(crate) fn is_file(&self) -> bool {
        self.kind == Kind::File
    }

    pub(crate) fn exists_on(&self, side: Side) -> bool {
        match side {
            Side::Local => self.local.is_some(),
            Side::Remote => self.remote.is_some(),
        }
    }

    /// Returns whether it exists on both sides.
    pub(crate) fn is_pair(&self) -> bool {
        self.local.is_some() && self.remote.is_some()
    }

    /// Returns the side on which it exists, if it is one only.
    pub(crate) fn only_side(&self) -> Option<Side> {
        match (self.local, self.remote) {
            (Some(_), None) => Some(Side::Local),
            (None, Some(_)) => Some(Side::Remote),
            (Some(_), Some(_)) | (None, None) => None,
        }
    }

    pub(crate) fn location(&self, side: Side) -> Option<Location<'a>> {
        match side {
            Side::Local => self.local.map(|l| Location {
                parent: self.local_parent,
                name: &l.name,
            }),
            Side::Remote => self.remote.map(|r| Location {
                parent: self.remote_parent,
                name: &r.name,
            }),
        }
    }

    pub(crate) fn base_location(&self) -> Option<Location<'a>> {
        self.base.map(|s| Location {
            parent: self.base_parent,
            name: &s.name,
        })
    }

    /// Returns whether a side moved or renamed it since both last agreed.
    ///
    /// A temporary name comes from a cycle of moves that was interrupted, never from the user. If the
    /// parent of the base is unknown, only the names are compared.
    pub(crate) fn has_moved(&self, side: Side) -> bool {
        let (Some(location), Some(base)) = (self.location(side), self.base_location()) else {
            return false;
        };
        let elsewhere = base.parent != UNKNOWN && location.parent != base.parent;
        (elsewhere || location.name != base.name) && !is_temporary_name(location.name)
    }

    /// Returns the name of this entity as the parent in a step.
    pub(crate) fn as_parent(&self) -> Parent {
        match (self.remote, self.local) {
            (Some(r), _) => Parent::Node(r.id),
            (None, Some(l)) => Parent::Local(l.id),
            (None, None) => Parent::Root,
        }
    }
}

/// The entity at each location of one side.
pub(crate) type Occupants = HashMap<(EntityId, NameKey), EntityId>;

/// All entities, and the facts about them before anything is decided.
#[derive(Debug)]
pub(crate) struct Entities<'a> {
    pub(crate) all: Vec<Entity<'a>>,
    /// Marks the entities that must stay as they are and get no step.
    pub(crate) blocked: Vec<bool>,
    /// The local occupants of the folders in which anything is to be done.
    pub(crate) local_at: Occupants,
    /// The same on the service.
    pub(crate) remote_at: Occupants,
    /// The entities whose local names this disk takes for others.
    pub(crate) local_aliases: Occupants,
    /// Files whose two versions become two entities: the remote one for each local one.
    pub(crate) split: BTreeMap<EntityId, EntityId>,
    pub(crate) needs: Vec<Need>,
}

impl Entities<'_> {
    pub(crate) fn at(&self, side: Side) -> &Occupants {
        match side {
            Side::Local => &self.local_at,
            Side::Remote => &self.remote_at,
        }
    }

    /// Adds the other names that this disk takes for those of local nodes.
    pub(crate) fn add_aliases(&mut self, aliases: &BTreeMap<LocalId, BTreeSet<Name>>) {
        if aliases.is_empty() {
            return;
        }
        for id in self.ids() {
            let entity = &self.all[id];
            let (Some(local), Some(at)) = (entity.local, entity.location(Side::Local)) else {
                continue;
            };
            let names = aliases.get(&local.id).into_iter().flatten();
            let places = names.map(|name| ((at.parent, name.key()), id));
            self.local_aliases.extend(places);
        }
    }

    /// Returns the depth of each entity below the root, by the parents that `parent_of` gives: 0 for
    /// the root. An entity without a known parent counts as just below the root.
    pub(crate) fn depths(&self, parent_of: impl Fn(EntityId) -> Option<EntityId>) -> Vec<u32> {
        let mut known: Vec<Option<u32>> = vec![None; self.all.len()];
        known[ROOT] = Some(0);
        for id in self.ids() {
            let mut path = Vec::new();
            let mut at = id;
            let mut depth = loop {
                if let Some(depth) = known[at] {
                    break depth;
                }
                path.push(at);
                match parent_of(at).filter(|&p| p != UNKNOWN) {
                    Some(parent) if path.len() <= self.all.len() => at = parent,
                    Some(_) | None => break 0,
                }
            };
            for id in path.into_iter().rev() {
                depth += 1;
                known[id] = Some(depth);
            }
        }
        known.into_iter().map(|d| d.unwrap_or(0)).collect()
    }

    /// Returns the indices of everything but the root.
    pub(crate) fn ids(&self) -> std::ops::Range<EntityId> {
        1..self.all.len()
    }
}
