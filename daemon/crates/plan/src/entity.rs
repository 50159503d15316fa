//! An entity: one thing of the user, with up to three faces (local, remote, synced).
//!
//! Everything after pairing speaks of entities alone, so that a place means the same on both sides:
//! a parent entity and a name. This module decides nothing.

use crate::content::Content;
use crate::detour::is_detour;
use crate::tree::{LocalNode, RemoteNode, SyncedNode};
use crate::{Need, Parent};
use cairn_model::{Kind, Name, NameKey, NodeId};
use std::collections::{BTreeMap, HashMap};

/// Where something is carried out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Side {
    Local,
    Remote,
}

impl Side {
    pub(crate) const BOTH: [Self; 2] = [Self::Local, Self::Remote];
}

/// An index into [`Entities::all`].
pub(crate) type EntityId = usize;

/// The folder's root; it stands on both sides and is never touched.
pub(crate) const ROOT: EntityId = 0;

/// The parent of a node whose real parent is in none of the trees.
pub(crate) const NOWHERE: EntityId = EntityId::MAX;

/// A place: a folder and a name in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Spot<'a> {
    pub(crate) parent: EntityId,
    pub(crate) name: &'a Name,
}

/// One thing of the user. With no face at all it is a hole that a merge left behind.
#[derive(Clone, Debug)]
pub(crate) struct Entity<'a> {
    pub(crate) kind: Kind,
    pub(crate) local: Option<&'a LocalNode>,
    pub(crate) remote: Option<&'a RemoteNode>,
    pub(crate) base: Option<&'a SyncedNode>,
    pub(crate) local_parent: EntityId,
    pub(crate) remote_parent: EntityId,
    pub(crate) base_parent: EntityId,
    /// A synced node that no longer holds the two sides together: both changed, each its own way.
    pub(crate) cut: Option<NodeId>,
    pub(crate) content: Content,
    /// Where it belongs if all that is known of its place is an interrupted detour.
    pub(crate) stranded: Option<Spot<'a>>,
}

impl<'a> Entity<'a> {
    pub(crate) fn hole(kind: Kind) -> Self {
        Self {
            kind,
            local: None,
            remote: None,
            base: None,
            local_parent: NOWHERE,
            remote_parent: NOWHERE,
            base_parent: NOWHERE,
            cut: None,
            content: Content::Same,
            stranded: None,
        }
    }

    pub(crate) fn is_file(&self) -> bool {
        self.kind == Kind::File
    }

    pub(crate) fn stands(&self, side: Side) -> bool {
        match side {
            Side::Local => self.local.is_some(),
            Side::Remote => self.remote.is_some(),
        }
    }

    /// Tells whether it stands on both sides.
    pub(crate) fn is_pair(&self) -> bool {
        self.local.is_some() && self.remote.is_some()
    }

    /// The side on which it stands alone.
    pub(crate) fn lone_side(&self) -> Option<Side> {
        match (self.local, self.remote) {
            (Some(_), None) => Some(Side::Local),
            (None, Some(_)) => Some(Side::Remote),
            (Some(_), Some(_)) | (None, None) => None,
        }
    }

    pub(crate) fn spot(&self, side: Side) -> Option<Spot<'a>> {
        match side {
            Side::Local => self.local.map(|l| Spot {
                parent: self.local_parent,
                name: &l.name,
            }),
            Side::Remote => self.remote.map(|r| Spot {
                parent: self.remote_parent,
                name: &r.name,
            }),
        }
    }

    pub(crate) fn base_spot(&self) -> Option<Spot<'a>> {
        self.base.map(|s| Spot {
            parent: self.base_parent,
            name: &s.name,
        })
    }

    /// Tells whether a side moved or renamed it since both last agreed.
    ///
    /// A detour is the middle of a ring of moves that was interrupted, never the user's wish. Where
    /// the folder that both agreed on is forgotten, only the name can tell.
    pub(crate) fn moved(&self, side: Side) -> bool {
        let (Some(spot), Some(base)) = (self.spot(side), self.base_spot()) else {
            return false;
        };
        let elsewhere = base.parent != NOWHERE && spot.parent != base.parent;
        (elsewhere || spot.name != base.name) && !is_detour(spot.name)
    }

    /// How steps name it where it is the parent.
    pub(crate) fn as_parent(&self) -> Parent {
        match (self.remote, self.local) {
            (Some(r), _) => Parent::Node(r.id),
            (None, Some(l)) => Parent::Local(l.id),
            (None, None) => Parent::Root,
        }
    }
}

/// Who stands where, on one side.
pub(crate) type Occupants = HashMap<(EntityId, NameKey), EntityId>;

/// All entities, and what is known about them before anything is decided.
#[derive(Debug)]
pub(crate) struct Entities<'a> {
    pub(crate) all: Vec<Entity<'a>>,
    /// What must stay as it is and gets no step.
    pub(crate) frozen: Vec<bool>,
    /// Who stands where, in folders in which anything is to be done.
    pub(crate) local_at: Occupants,
    pub(crate) remote_at: Occupants,
    /// Files whose two versions part: the remote one for each local one.
    pub(crate) parted: BTreeMap<EntityId, EntityId>,
    pub(crate) needs: Vec<Need>,
}

impl Entities<'_> {
    pub(crate) fn at(&self, side: Side) -> &Occupants {
        match side {
            Side::Local => &self.local_at,
            Side::Remote => &self.remote_at,
        }
    }

    /// How deep each entity lies below the root, by the parent that a tree gives it; 0 for the
    /// root, and where the way up ends is counted as just below it.
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
                match parent_of(at).filter(|&p| p != NOWHERE) {
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

    /// The indices of everything but the root.
    pub(crate) fn ids(&self) -> std::ops::Range<EntityId> {
        1..self.all.len()
    }
}
