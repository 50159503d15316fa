//! Pairing: makes entities of three trees. An entity is one file or folder of the user, with up to three nodes:
//! local, remote and synced.
//!
//! The nodes that a synced node pairs are one entity. Unlinked nodes (without a synced node) at the
//! same location are one entity too: two folders always, two files if their bytes are equal. A
//! successor (a file that a program saved by writing it anew, a folder that was removed and made
//! again) takes the place of the node that was there. Nothing is decided yet about which side wins.

mod conflict_copies;
mod finish;

use crate::content::same_bytes;
use crate::entity::{Entities, Entity, EntityId, Occupants, ROOT, Side, UNKNOWN};
use crate::tree::{Blocked, LocalNode, RemoteNode, Trees};
use crate::tree_index::{BlockReason, NamePriority, TreeIndex};
use crate::{Need, SyncedNode};
use cairn_model::{Kind, LocalId, Name, NodeId, SyncMode};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Pairs the three trees. The versions of a file in conflict stay one entity until its move is made, except of the
/// nodes that can't move.
pub(crate) fn pair<'a>(
    trees: &'a Trees,
    original_names: &'a BTreeMap<Name, Name>,
    mode: SyncMode,
    unmovable: &BTreeSet<NodeId>,
) -> Entities<'a> {
    let synced_by_local: HashMap<LocalId, &SyncedNode> =
        trees.synced.values().map(|s| (s.local, s)).collect();
    let local = TreeIndex::new(&trees.local, |l: &LocalNode| {
        let Some(base) = synced_by_local.get(&l.id) else {
            return NamePriority::New;
        };
        let parent = base
            .parent
            .and_then(|p| trees.synced.get(&p))
            .map(|p| p.local);
        priority_if_synced(base.name == l.name && parent == l.parent)
    });
    let remote = TreeIndex::new(&trees.remote, |r: &RemoteNode| {
        match trees.synced.get(&r.id) {
            None => NamePriority::New,
            Some(base) => priority_if_synced(base.name == r.name && base.parent == r.parent),
        }
    });
    let mut pairing = Pairing {
        local,
        remote,
        all: vec![Entity::empty(Kind::Folder)],
        of_local: HashMap::with_capacity(trees.local.len()),
        of_remote: HashMap::with_capacity(trees.remote.len()),
        of_base: HashMap::with_capacity(trees.synced.len()),
        occupied: HashSet::new(),
        needs: Vec::new(),
    };
    pairing.link(trees);
    pairing.add_unlinked();
    pairing.unlink_departed_locals();
    pairing.unlink_departed_remotes();
    pairing.match_remotes();
    pairing.match_locals(mode);
    let mut entities = pairing.finish(original_names, mode, unmovable);
    entities.add_aliases(&trees.aliases);
    entities
}

fn priority_if_synced(is_unmoved: bool) -> NamePriority {
    if is_unmoved {
        NamePriority::Unmoved
    } else {
        NamePriority::Moved
    }
}

struct Pairing<'a> {
    local: TreeIndex<'a, LocalNode>,
    remote: TreeIndex<'a, RemoteNode>,
    all: Vec<Entity<'a>>,
    of_local: HashMap<LocalId, EntityId>,
    of_remote: HashMap<NodeId, EntityId>,
    of_base: HashMap<NodeId, EntityId>,
    /// Blocked for the blocked node that is at their location.
    occupied: HashSet<EntityId>,
    needs: Vec<Need>,
}

impl<'a> Pairing<'a> {
    fn link(&mut self, trees: &'a Trees) {
        for base in trees.synced.values() {
            let id = self.all.len();
            let mut entity = Entity::empty(base.kind);
            entity.base = Some(base);
            entity.local = trees
                .local
                .get(&base.local)
                .filter(|l| l.kind == base.kind && !self.of_local.contains_key(&l.id));
            entity.remote = trees.remote.get(&base.node).filter(|r| r.kind == base.kind);
            self.of_base.insert(base.node, id);
            if let Some(l) = entity.local {
                self.of_local.insert(l.id, id);
            }
            if let Some(r) = entity.remote {
                self.of_remote.insert(r.id, id);
            }
            self.all.push(entity);
        }
    }

    fn add_unlinked(&mut self) {
        for at in 0..self.local.order.len() {
            let l = self.local.order[at];
            if !self.of_local.contains_key(&l.id) {
                self.add_local(l);
            }
        }
        for at in 0..self.remote.order.len() {
            let r = self.remote.order[at];
            if !self.of_remote.contains_key(&r.id) {
                self.add_remote(r);
            }
        }
    }

    /// Adds an entity that is on this disk only.
    fn add_local(&mut self, l: &'a LocalNode) {
        self.of_local.insert(l.id, self.all.len());
        self.all.push(Entity {
            local: Some(l),
            ..Entity::empty(l.kind)
        });
    }

    /// Adds an entity that is on the service only.
    fn add_remote(&mut self, r: &'a RemoteNode) {
        self.of_remote.insert(r.id, self.all.len());
        self.all.push(Entity {
            remote: Some(r),
            ..Entity::empty(r.kind)
        });
    }

    fn local_parent(&self, l: &LocalNode) -> EntityId {
        l.parent
            .map_or(ROOT, |p| self.of_local.get(&p).copied().unwrap_or(UNKNOWN))
    }

    fn remote_parent(&self, r: &RemoteNode) -> EntityId {
        r.parent
            .map_or(ROOT, |p| self.of_remote.get(&p).copied().unwrap_or(UNKNOWN))
    }

    fn base_parent(&self, s: &SyncedNode) -> EntityId {
        s.parent.map_or(ROOT, |p| {
            let found = self.of_base.get(&p).or_else(|| self.of_remote.get(&p));
            found.copied().unwrap_or(UNKNOWN)
        })
    }

    /// Unlinks local nodes that were moved to where nothing syncs: for the other side they are
    /// deleted.
    ///
    /// A node that is blocked itself counts only if it was renamed into that state, as by a program
    /// that keeps the old version under an ignored name. Name duplicates never leave that way, and neither does what
    /// can't be read for now.
    fn unlink_departed_locals(&mut self) {
        let mut departed = HashSet::new();
        for at in 0..self.local.order.len() {
            let l = self.local.order[at];
            let (Some(reason), Some(&id)) =
                (self.local.block_reason(l.id), self.of_local.get(&l.id))
            else {
                continue;
            };
            let Some(base) = self.all[id].base else {
                continue;
            };
            let moved = self.local_parent(l) != self.base_parent(base) || l.name != base.name;
            let leaves = match reason {
                BlockReason::Ancestor => moved || l.parent.is_some_and(|p| departed.contains(&p)),
                BlockReason::Itself => moved && !l.is_unknown,
                BlockReason::Unresolvable => false,
            };
            if leaves {
                departed.insert(l.id);
                self.all[id].local = None;
                self.unlink_if_empty(id);
                self.add_local(l);
            }
        }
    }

    /// Unlinks remote nodes in the same way, but of those that are blocked themselves only the
    /// unselected: of the others the name may be the reason.
    fn unlink_departed_remotes(&mut self) {
        let mut departed = HashSet::new();
        for at in 0..self.remote.order.len() {
            let r = self.remote.order[at];
            let (Some(reason), Some(&id)) =
                (self.remote.block_reason(r.id), self.of_remote.get(&r.id))
            else {
                continue;
            };
            let Some(base) = self.all[id].base else {
                continue;
            };
            let moved = self.remote_parent(r) != self.base_parent(base) || r.name != base.name;
            let leaves = match reason {
                BlockReason::Ancestor => {
                    moved
                        || r.parent.is_some_and(|p| departed.contains(&p))
                        || self.has_left_with_folder(id, base, r)
                }
                BlockReason::Itself => moved && r.blocked == Blocked::Unselected,
                BlockReason::Unresolvable => false,
            };
            if leaves {
                departed.insert(r.id);
                self.all[id].remote = None;
                self.unlink_if_empty(id);
                self.add_remote(r);
            }
        }
    }

    /// Returns whether a node has left with its folder in an earlier plan, which has unlinked that folder, while its
    /// local side has stayed in another one: else it would wait for ever.
    fn has_left_with_folder(&self, id: EntityId, base: &SyncedNode, r: &RemoteNode) -> bool {
        let is_unlinked = base.parent.is_some_and(|p| !self.of_base.contains_key(&p));
        let local = self.all[id].local;
        is_unlinked && local.is_some_and(|l| self.local_parent(l) != self.remote_parent(r))
    }

    /// Unlinks the synced node if both sides have left: nothing is gone, so it must not be forgotten.
    fn unlink_if_empty(&mut self, id: EntityId) {
        let entity = &mut self.all[id];
        if entity.local.is_none() && entity.remote.is_none() {
            entity.unlinked = entity.base.take().map(|s| s.node);
        }
    }

    /// Returns the synced entities that exist on one side only, by the location where that side has
    /// them unmoved.
    fn one_sided(&self, side: Side) -> Occupants {
        let mut found = Occupants::new();
        for (id, entity) in self.all.iter().enumerate() {
            let (Some(base), true) = (entity.base, entity.only_side() == Some(side)) else {
                continue;
            };
            let (parent, name, blocked) = match (entity.local, entity.remote) {
                (Some(l), _) => (self.local_parent(l), &l.name, self.local.block_reason(l.id)),
                (_, Some(r)) => (
                    self.remote_parent(r),
                    &r.name,
                    self.remote.block_reason(r.id),
                ),
                (None, None) => continue,
            };
            let key = name.key();
            if blocked.is_none() && parent == self.base_parent(base) && key == base.name.key() {
                found.insert((parent, key), id);
            }
        }
        found
    }

    /// Pairs each new remote node with the entity whose remote node was deleted at its location.
    fn match_remotes(&mut self) {
        let mut one_sided = self.one_sided(Side::Local);
        if one_sided.is_empty() {
            return;
        }
        for at in 0..self.remote.order.len() {
            let r = self.remote.order[at];
            let Some(&unlinked) = self.of_remote.get(&r.id) else {
                continue;
            };
            if self.all[unlinked].base.is_some() {
                continue;
            }
            let place = (self.remote_parent(r), r.name.key());
            let Some(&successor) = one_sided.get(&place) else {
                continue;
            };
            if self.remote.block_reason(r.id).is_some() {
                self.occupied.insert(successor);
            } else if self.all[successor].kind == r.kind {
                one_sided.remove(&place);
                self.all[successor].remote = Some(r);
                self.all[unlinked].remote = None;
                self.of_remote.insert(r.id, successor);
            }
        }
    }

    /// Pairs each new local node with the entity whose local node was deleted at its location, or with a
    /// new remote node of the same name if nothing is lost by that.
    fn match_locals(&mut self, mode: SyncMode) {
        let mut one_sided = self.one_sided(Side::Remote);
        let mut unlinked_remotes = self.unlinked_remotes();
        let mut copies = self.copies(&unlinked_remotes, mode);
        if one_sided.is_empty() && unlinked_remotes.is_empty() {
            return;
        }
        for at in 0..self.local.order.len() {
            let l = self.local.order[at];
            let Some(&unlinked) = self.of_local.get(&l.id) else {
                continue;
            };
            if self.all[unlinked].base.is_some() {
                continue;
            }
            let blocked = self.local.block_reason(l.id).is_some();
            let place = (self.local_parent(l), l.name.key());
            if let Some(&successor) = one_sided.get(&place) {
                if blocked {
                    self.occupied.insert(successor);
                } else if self.all[successor].kind == l.kind {
                    one_sided.remove(&place);
                    self.merge_local(l, unlinked, successor);
                }
            } else if !blocked && let Some(&counterpart) = unlinked_remotes.get(&place) {
                if self.all[counterpart].local.is_none() && self.are_equal(l, counterpart) {
                    unlinked_remotes.remove(&place);
                    self.merge_local(l, unlinked, counterpart);
                } else if let Some(copy) = self.find_copy(l, &place, &mut copies) {
                    self.merge_local(l, unlinked, copy);
                }
            }
        }
    }

    fn unlinked_remotes(&self) -> Occupants {
        let one_sided = self.remote.order.iter().filter_map(|r| {
            let id = *self.of_remote.get(&r.id)?;
            let new = self.all[id].base.is_none() && self.remote.block_reason(r.id).is_none();
            new.then(|| ((self.remote_parent(r), r.name.key()), id))
        });
        one_sided.collect()
    }

    fn are_equal(&mut self, l: &LocalNode, other: EntityId) -> bool {
        let Some(r) = self.all[other].remote else {
            return false;
        };
        match (l.kind, r.kind) {
            (Kind::Folder, Kind::Folder) => true,
            (Kind::File, Kind::File) => same_bytes(l, r, &mut self.needs) == Some(true),
            (Kind::File, Kind::Folder) | (Kind::Folder, Kind::File) => false,
        }
    }

    fn merge_local(&mut self, l: &'a LocalNode, from: EntityId, into: EntityId) {
        self.all[into].local = Some(l);
        self.all[from].local = None;
        self.of_local.insert(l.id, into);
    }
}
