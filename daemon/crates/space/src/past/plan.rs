//! The plan that takes a folder back to a time: what comes out of the trash, what moves, what goes to the
//! trash, and which files get an earlier content. Pure, and made of present facts alone: after a part was
//! carried out, a new plan of the new facts goes on where the first one stopped.

mod misplaced;
#[cfg(test)]
mod tests;

use super::{Location, Past, PastNode, Scope, same_path};
use cairn_model::{Kind, NodeId, RevisionId};
use cairn_wire::nodes::Revision;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The treatment of files and folders that were made after the time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Newer {
    /// Goes to the trash: everything is as it was.
    Trash,
    /// Stays beside what comes back.
    Keep,
}

/// A node that gets another place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Move {
    pub node: NodeId,
    pub parent: Option<NodeId>,
    pub name: String,
}

/// A file that gets an earlier content.
#[derive(Clone, PartialEq, Debug)]
pub struct Content {
    pub node: NodeId,
    pub revision: Revision,
}

/// Something that can't be as it was.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize)]
pub struct Incomplete {
    pub path: String,
    pub message: String,
}

/// The changes to make.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Plan {
    /// Nodes to take out of the trash, with everything that went there with them; outer ones first.
    pub back: Vec<NodeId>,
    /// Moves, those to outer places first.
    pub moves: Vec<Move>,
    /// Nodes to put into the trash, with everything below.
    pub trash: Vec<NodeId>,
    pub contents: Vec<Content>,
    pub incomplete: Vec<Incomplete>,
    /// Files that come out of the trash.
    pub files_back: u64,
    /// Files that go to the trash.
    pub files_trashed: u64,
}

impl Plan {
    /// Returns whether everything is as it was.
    pub fn is_empty(&self) -> bool {
        self.back.is_empty()
            && self.moves.is_empty()
            && self.trash.is_empty()
            && self.contents.is_empty()
    }

    /// Returns the path of each node that moves, and the one where it lands: folders that stay, such as the one that the
    /// plan is for, have their present names.
    pub fn moved_paths(&self, past: &Past) -> Vec<(String, String)> {
        let landing = self.landing();
        let paths = self.moves.iter().map(|step| {
            let to = path_after(past, step.node, &landing);
            (past.path(step.node), to)
        });
        paths.collect()
    }

    /// Returns the path that a node has when the plan is carried out, as far as nothing else has its name.
    fn landing_path(&self, past: &Past, id: NodeId) -> String {
        path_after(past, id, &self.landing())
    }

    fn landing(&self) -> HashMap<NodeId, Location<'_>> {
        let places = self
            .moves
            .iter()
            .map(|step| (step.node, (step.parent, &*step.name)));
        places.collect()
    }

    /// Leaves in the trash of a later plan what a person has agreed to, and what came back since with what that
    /// plan restored. Returns what stays.
    pub fn keep_confirmed(&mut self, shown: &Past, confirmed: &Self) -> Vec<NodeId> {
        let may_go =
            |id: &NodeId| confirmed.trash.contains(id) || confirmed.brings_back(shown, *id);
        let (goes, stays) = self.trash.iter().copied().partition(may_go);
        self.trash = goes;
        stays
    }

    /// Returns the later versions of what this plan brought back.
    pub fn versions_back(&self, shown: &Past, later: &Past) -> HashMap<NodeId, u64> {
        let back = later
            .iter()
            .filter(|one| self.brings_back(shown, one.node.id));
        back.map(|one| (one.node.id, one.node.version)).collect()
    }

    fn brings_back(&self, shown: &Past, id: NodeId) -> bool {
        let deleted = shown.get(id).and_then(|one| one.deleted);
        deleted.is_some_and(|deleted| self.back.contains(&deleted.root))
    }
}

fn path_after(past: &Past, id: NodeId, landing: &HashMap<NodeId, Location<'_>>) -> String {
    past.path_by(id, |one| {
        let place = landing.get(&one.node.id).copied();
        place.unwrap_or_else(|| one.place())
    })
}

/// Returns the files whose revisions decide what they contained at a time.
pub fn needs_revisions(past: &Past, scope: Scope, at_ms: i64) -> Vec<NodeId> {
    let changed = |one: &&PastNode| {
        one.node.kind == Kind::File
            && past.existed_at(one, at_ms)
            && one.node.updated_at.0 > at_ms
            && past.was_in(one.node.id, scope, at_ms)
    };
    let mut needed: Vec<NodeId> = past.iter().filter(changed).map(|one| one.node.id).collect();
    needed.sort_unstable();
    needed
}

/// Plans how to take a folder back to a time. `revisions` has those of the files that [`needs_revisions`] names.
pub fn plan(
    past: &Past,
    scope: Scope,
    at_ms: i64,
    revisions: &HashMap<NodeId, Vec<Revision>>,
    newer: Newer,
) -> Plan {
    let planning = Planning {
        past,
        scope,
        at_ms,
        newer,
    };
    let mut plan = Plan::default();
    let back = planning.back();
    planning.count_back(&back, &mut plan);
    planning.moves(&back, &mut plan);
    planning.trash(&back, &mut plan);
    planning.contents(revisions, &mut plan);
    plan.back = planning.outer_first(back);
    plan.incomplete.sort();
    plan
}

struct Planning<'a> {
    past: &'a Past,
    scope: Scope,
    at_ms: i64,
    newer: Newer,
}

impl Planning<'_> {
    /// Returns whether a node was there at the time.
    fn was_there(&self, one: &PastNode) -> bool {
        self.past.existed_at(one, self.at_ms)
    }

    /// Returns whether a node was in the scope at the time.
    fn was_in_scope(&self, one: &PastNode) -> bool {
        self.was_there(one) && self.past.was_in(one.node.id, self.scope, self.at_ms)
    }

    /// The nodes in the trash with which something went there that is wanted back.
    fn back(&self) -> BTreeSet<NodeId> {
        let wanted = self.past.iter().filter(|one| self.was_in_scope(one));
        wanted
            .filter_map(|one| one.deleted.map(|deleted| deleted.root))
            .collect()
    }

    /// Returns whether a node is outside the trash once those are back.
    fn will_be_active(&self, one: &PastNode, back: &BTreeSet<NodeId>) -> bool {
        one.deleted
            .is_none_or(|deleted| back.contains(&deleted.root))
    }

    fn count_back(&self, back: &BTreeSet<NodeId>, plan: &mut Plan) {
        let files = self.past.iter().filter(|one| {
            one.node.kind == Kind::File
                && !one.is_active()
                && self.will_be_active(one, back)
                && self.was_there(one)
        });
        plan.files_back = files.count() as u64;
    }

    fn moves(&self, back: &BTreeSet<NodeId>, plan: &mut Plan) {
        let mut moves = BTreeMap::new();
        for one in self.past.iter() {
            let id = one.node.id;
            let concerned = self.was_there(one)
                && self.will_be_active(one, back)
                && (self.was_in_scope(one) || self.past.is_in(id, self.scope));
            let (parent, name) = one.place_at(self.at_ms);
            // The folder itself stays where a person has it now.
            if !concerned || (parent, name) == one.place() || self.scope == Scope::Below(id) {
                continue;
            }
            let leaves_nothing = self.newer == Newer::Keep && !self.was_in_scope(one);
            if leaves_nothing {
                continue;
            }
            if self.is_taken_for_good(id, (parent, name)) {
                plan.incomplete.push(Incomplete {
                    path: self.past.path(id),
                    message: format!(
                        "something else that stays is at {} now: it stays where it is",
                        self.past.path_at(id, self.at_ms)
                    ),
                });
                continue;
            }
            let parent_there = parent.is_none_or(|parent| {
                let parent = self.past.get(parent);
                parent.is_some_and(|parent| self.will_be_active(parent, back))
            });
            if !parent_there && self.is_in_folder_made_again(one) {
                continue;
            }
            if !parent_there {
                plan.incomplete.push(Incomplete {
                    path: self.past.path(id),
                    message: "the folder in which it was is gone for good: it stays where it is"
                        .to_owned(),
                });
                continue;
            }
            let order = (self.past.depth_at(id, self.at_ms), id);
            moves.insert(order, (parent, name.to_owned()));
        }
        let moves =
            moves
                .into_iter()
                .map(|((_, node), (parent, name))| Move { node, parent, name });
        plan.moves = moves.collect();
    }

    /// Returns whether the place of the file that is the scope belongs to something that does not go: that was
    /// there before, or is a folder.
    fn is_taken_for_good(&self, id: NodeId, place: Location<'_>) -> bool {
        let stays = |other: &PastNode| {
            other.is_active()
                && other.node.id != id
                && other.place() == place
                && (self.was_there(other) || other.node.kind == Kind::Folder)
        };
        self.scope == Scope::Place(id) && self.past.iter().any(stays)
    }

    /// Returns whether a file has come to the place of the one that is the scope.
    fn is_in_the_way(&self, one: &PastNode) -> bool {
        let Scope::Place(top) = self.scope else {
            return false;
        };
        let place = self.past.get(top).map(|top| top.place_at(self.at_ms));
        one.is_active()
            && one.node.kind == Kind::File
            && one.node.id != top
            && place == Some(one.place())
    }

    /// Plans what goes to the trash: it was made since; what lies in it and was there before is moved out first.
    fn trash(&self, back: &BTreeSet<NodeId>, plan: &mut Plan) {
        if self.newer == Newer::Keep {
            return;
        }
        let is_newer = |one: &PastNode| {
            self.will_be_active(one, back)
                && !self.was_there(one)
                && (self.past.is_in(one.node.id, self.scope) || self.is_in_the_way(one))
                && self.scope != Scope::Below(one.node.id)
        };
        let kept = self.above_older(back, plan);
        let goes = |one: &PastNode| is_newer(one) && !kept.contains(&one.node.id);
        for one in self.past.iter().filter(|one| goes(one)) {
            if one.node.kind == Kind::File && one.is_active() {
                plan.files_trashed += 1;
            }
            let parent = one.node.parent_id.and_then(|id| self.past.get(id));
            if !parent.is_some_and(goes) {
                plan.trash.push(one.node.id);
            }
        }
        plan.trash.sort_unstable();
    }

    /// Returns whether a node is at the path that it had, in a folder that was made in place of the one of then.
    fn is_in_folder_made_again(&self, one: &PastNode) -> bool {
        let id = one.node.id;
        one.place_at(self.at_ms) != one.place()
            && same_path(&self.past.path(id), &self.past.path_at(id, self.at_ms))
    }

    /// The newer folders that hold something older of which nobody knows where it was: they stay, or it
    /// would go to the trash with them.
    fn above_older(&self, back: &BTreeSet<NodeId>, plan: &mut Plan) -> BTreeSet<NodeId> {
        let moved: BTreeSet<NodeId> = plan.moves.iter().map(|step| step.node).collect();
        let mut kept = BTreeSet::new();
        for one in self.past.iter() {
            let id = one.node.id;
            if !self.was_there(one) || !self.will_be_active(one, back) || moved.contains(&id) {
                continue;
            }
            let mut newer = false;
            let mut is_at_path = false;
            let mut at = one;
            // What is moved out takes along what is in it.
            while let Some(above) = at.node.parent_id.filter(|above| !moved.contains(above))
                && let Some(folder) = self.past.get(above)
            {
                is_at_path |= self.is_in_folder_made_again(at);
                if !self.was_there(folder) {
                    newer |= !is_at_path && self.past.is_in(id, self.scope);
                    kept.insert(above);
                }
                at = folder;
            }
            if newer {
                plan.incomplete.push(Incomplete {
                    path: self.past.path(id),
                    message: "it was moved since, from where is not known here: it stays"
                        .to_owned(),
                });
            }
        }
        kept
    }

    fn contents(&self, revisions: &HashMap<NodeId, Vec<Revision>>, plan: &mut Plan) {
        for id in needs_revisions(self.past, self.scope, self.at_ms) {
            let Some(one) = self.past.get(id) else {
                continue;
            };
            let known = revisions.get(&id).map_or(&[][..], Vec::as_slice);
            match content_at(known, self.at_ms) {
                Some(then) if is_head(known, then.id, one.node.revision_id) => {}
                Some(then) => plan.contents.push(Content {
                    node: id,
                    revision: then.clone(),
                }),
                None => plan.incomplete.push(Incomplete {
                    path: self.past.path(id),
                    message: "the version of that time is not kept any more: it stays as it is"
                        .to_owned(),
                }),
            }
        }
    }

    /// Outer folders first: what is restored goes back into them.
    fn outer_first(&self, back: BTreeSet<NodeId>) -> Vec<NodeId> {
        let mut back: Vec<NodeId> = back.into_iter().collect();
        back.sort_by_key(|id| (self.past.path(*id).matches('/').count(), *id));
        back
    }
}

/// The newest revision of those that were there at a time.
pub fn content_at(revisions: &[Revision], at_ms: i64) -> Option<&Revision> {
    revisions
        .iter()
        .filter(|revision| revision.created_at.0 <= at_ms)
        .max_by_key(|revision| revision.number)
}

/// Returns whether a revision is the present one, or was restored as it.
fn is_head(revisions: &[Revision], then: RevisionId, head: Option<RevisionId>) -> bool {
    if head == Some(then) {
        return true;
    }
    let head = revisions.iter().find(|revision| Some(revision.id) == head);
    head.and_then(|head| head.content_source)
        .is_some_and(|source| source.revision_id == then)
}
