//! Pairing: makes entities of three trees.
//!
//! What a synced node links is one entity. Strangers that stand at the same place are one entity
//! too: two folders always, two files if their bytes are equal. What was replaced where it stood
//! (a program that saves by writing anew, a folder that was removed and made again) takes the
//! place of what was there. Nothing is decided yet about who wins.

mod copies;
mod finish;

use crate::Direction;
use crate::content::same_bytes;
use crate::entity::{Entities, Entity, EntityId, NOWHERE, Occupants, ROOT, Side};
use crate::hold::{Claim, Freeze, Survey};
use crate::tree::{Hold, LocalNode, RemoteNode, Trees};
use crate::{Need, SyncedNode};
use cairn_model::{Kind, LocalId, Name, NodeId};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Pairs the three trees.
pub(crate) fn pair<'a>(
    trees: &'a Trees,
    origins: &'a BTreeMap<Name, Name>,
    direction: Direction,
) -> Entities<'a> {
    let synced_by_local: HashMap<LocalId, &SyncedNode> =
        trees.synced.values().map(|s| (s.local, s)).collect();
    let local = Survey::new(&trees.local, |l: &LocalNode| {
        let Some(base) = synced_by_local.get(&l.id) else {
            return Claim::New;
        };
        let parent = base
            .parent
            .and_then(|p| trees.synced.get(&p))
            .map(|p| p.local);
        settled(base.name == l.name && parent == l.parent)
    });
    let remote = Survey::new(&trees.remote, |r: &RemoteNode| {
        match trees.synced.get(&r.id) {
            None => Claim::New,
            Some(base) => settled(base.name == r.name && base.parent == r.parent),
        }
    });
    let mut pairing = Pairing {
        local,
        remote,
        all: vec![Entity::hole(Kind::Folder)],
        of_local: HashMap::with_capacity(trees.local.len()),
        of_remote: HashMap::with_capacity(trees.remote.len()),
        of_base: HashMap::with_capacity(trees.synced.len()),
        forced: HashSet::new(),
        needs: Vec::new(),
    };
    pairing.link(trees);
    pairing.add_strangers();
    pairing.part_departed_locals();
    pairing.part_departed_remotes();
    pairing.adopt_remotes();
    pairing.adopt_locals(direction);
    pairing.finish(origins, direction)
}

fn settled(at_home: bool) -> Claim {
    if at_home {
        Claim::Settled
    } else {
        Claim::Arrived
    }
}

struct Pairing<'a> {
    local: Survey<'a, LocalNode>,
    remote: Survey<'a, RemoteNode>,
    all: Vec<Entity<'a>>,
    of_local: HashMap<LocalId, EntityId>,
    of_remote: HashMap<NodeId, EntityId>,
    of_base: HashMap<NodeId, EntityId>,
    /// Frozen for what stands at their place.
    forced: HashSet<EntityId>,
    needs: Vec<Need>,
}

impl<'a> Pairing<'a> {
    fn link(&mut self, trees: &'a Trees) {
        for base in trees.synced.values() {
            let id = self.all.len();
            let mut entity = Entity::hole(base.kind);
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

    fn add_strangers(&mut self) {
        for &l in &self.local.order {
            if !self.of_local.contains_key(&l.id) {
                self.of_local.insert(l.id, self.all.len());
                self.all.push(Entity {
                    local: Some(l),
                    ..Entity::hole(l.kind)
                });
            }
        }
        for &r in &self.remote.order {
            if !self.of_remote.contains_key(&r.id) {
                self.of_remote.insert(r.id, self.all.len());
                self.all.push(Entity {
                    remote: Some(r),
                    ..Entity::hole(r.kind)
                });
            }
        }
    }

    fn local_parent(&self, l: &LocalNode) -> EntityId {
        l.parent
            .map_or(ROOT, |p| self.of_local.get(&p).copied().unwrap_or(NOWHERE))
    }

    fn remote_parent(&self, r: &RemoteNode) -> EntityId {
        r.parent
            .map_or(ROOT, |p| self.of_remote.get(&p).copied().unwrap_or(NOWHERE))
    }

    fn base_parent(&self, s: &SyncedNode) -> EntityId {
        s.parent.map_or(ROOT, |p| {
            let found = self.of_base.get(&p).or_else(|| self.of_remote.get(&p));
            found.copied().unwrap_or(NOWHERE)
        })
    }

    /// What was moved to where nothing syncs has left: for the other side it is as if deleted.
    ///
    /// A node that is held for itself counts only if it was renamed into that state, as by a
    /// program that keeps the old version under an ignored name. Twins never leave that way.
    fn part_departed_locals(&mut self) {
        let mut departed = HashSet::new();
        for at in 0..self.local.order.len() {
            let l = self.local.order[at];
            let (Some(freeze), Some(&id)) = (self.local.freeze(l.id), self.of_local.get(&l.id))
            else {
                continue;
            };
            let Some(base) = self.all[id].base else {
                continue;
            };
            let moved = self.local_parent(l) != self.base_parent(base) || l.name != base.name;
            let leaves = match freeze {
                Freeze::Below => moved || l.parent.is_some_and(|p| departed.contains(&p)),
                Freeze::Held => moved,
                Freeze::Stuck => false,
            };
            if leaves {
                departed.insert(l.id);
                self.all[id].local = None;
                self.cut_if_bare(id);
                self.of_local.insert(l.id, self.all.len());
                self.all.push(Entity {
                    local: Some(l),
                    ..Entity::hole(l.kind)
                });
            }
        }
    }

    /// The mirror image, but of the nodes that are held for themselves only what is not selected
    /// leaves: of others the name may be the reason.
    fn part_departed_remotes(&mut self) {
        let mut departed = HashSet::new();
        for at in 0..self.remote.order.len() {
            let r = self.remote.order[at];
            let (Some(freeze), Some(&id)) = (self.remote.freeze(r.id), self.of_remote.get(&r.id))
            else {
                continue;
            };
            let Some(base) = self.all[id].base else {
                continue;
            };
            let moved = self.remote_parent(r) != self.base_parent(base) || r.name != base.name;
            let leaves = match freeze {
                Freeze::Below => moved || r.parent.is_some_and(|p| departed.contains(&p)),
                Freeze::Held => moved && r.hold == Hold::Unselected,
                Freeze::Stuck => false,
            };
            if leaves {
                departed.insert(r.id);
                self.all[id].remote = None;
                self.cut_if_bare(id);
                self.of_remote.insert(r.id, self.all.len());
                self.all.push(Entity {
                    remote: Some(r),
                    ..Entity::hole(r.kind)
                });
            }
        }
    }

    /// Nothing is gone if it only left, so there is nothing to forget, only to part.
    fn cut_if_bare(&mut self, id: EntityId) {
        let entity = &mut self.all[id];
        if entity.local.is_none() && entity.remote.is_none() {
            entity.cut = entity.base.take().map(|s| s.node);
        }
    }

    /// The synced entities that one side has lost, by the place where the other side still has
    /// them unmoved.
    fn bereaved(&self, lone: Side) -> Occupants {
        let mut found = Occupants::new();
        for (id, entity) in self.all.iter().enumerate() {
            let (Some(base), true) = (entity.base, entity.lone_side() == Some(lone)) else {
                continue;
            };
            let (parent, name, held) = match (entity.local, entity.remote) {
                (Some(l), _) => (self.local_parent(l), &l.name, self.local.freeze(l.id)),
                (_, Some(r)) => (self.remote_parent(r), &r.name, self.remote.freeze(r.id)),
                (None, None) => continue,
            };
            let key = name.key();
            if held.is_none() && parent == self.base_parent(base) && key == base.name.key() {
                found.insert((parent, key), id);
            }
        }
        found
    }

    /// A new remote node where a remote node was deleted is its successor.
    fn adopt_remotes(&mut self) {
        let mut bereaved = self.bereaved(Side::Local);
        if bereaved.is_empty() {
            return;
        }
        for at in 0..self.remote.order.len() {
            let r = self.remote.order[at];
            let Some(&stranger) = self.of_remote.get(&r.id) else {
                continue;
            };
            if self.all[stranger].base.is_some() {
                continue;
            }
            let place = (self.remote_parent(r), r.name.key());
            let Some(&heir) = bereaved.get(&place) else {
                continue;
            };
            if self.remote.freeze(r.id).is_some() {
                self.forced.insert(heir);
            } else if self.all[heir].kind == r.kind {
                bereaved.remove(&place);
                self.all[heir].remote = Some(r);
                self.all[stranger].remote = None;
                self.of_remote.insert(r.id, heir);
            }
        }
    }

    /// A new local node where a local node was deleted is its successor; a new local node and a
    /// new remote node of the same name are one, if nothing is lost by that.
    fn adopt_locals(&mut self, direction: Direction) {
        let mut bereaved = self.bereaved(Side::Remote);
        let mut strangers = self.remote_strangers();
        let mut copies = self.copies(&strangers, direction);
        if bereaved.is_empty() && strangers.is_empty() {
            return;
        }
        for at in 0..self.local.order.len() {
            let l = self.local.order[at];
            let Some(&stranger) = self.of_local.get(&l.id) else {
                continue;
            };
            if self.all[stranger].base.is_some() {
                continue;
            }
            let frozen = self.local.freeze(l.id).is_some();
            let place = (self.local_parent(l), l.name.key());
            if let Some(&heir) = bereaved.get(&place) {
                if frozen {
                    self.forced.insert(heir);
                } else if self.all[heir].kind == l.kind {
                    bereaved.remove(&place);
                    self.merge_local(l, stranger, heir);
                }
            } else if !frozen && let Some(&twin) = strangers.get(&place) {
                if self.all[twin].local.is_none() && self.are_one(l, twin) {
                    strangers.remove(&place);
                    self.merge_local(l, stranger, twin);
                } else if let Some(copy) = self.take_copy(l, &place, &mut copies) {
                    self.merge_local(l, stranger, copy);
                }
            }
        }
    }

    fn remote_strangers(&self) -> Occupants {
        let lone = self.remote.order.iter().filter_map(|r| {
            let id = *self.of_remote.get(&r.id)?;
            let new = self.all[id].base.is_none() && self.remote.freeze(r.id).is_none();
            new.then(|| ((self.remote_parent(r), r.name.key()), id))
        });
        lone.collect()
    }

    fn are_one(&mut self, l: &LocalNode, twin: EntityId) -> bool {
        let Some(r) = self.all[twin].remote else {
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
