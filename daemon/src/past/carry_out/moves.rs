//! The moves of a plan: together where nothing is in the way, and one by one where the service has changed meanwhile.

use super::{Done, Rewind};
use crate::failure::{CommandResult, Failure};
use crate::past::valid_name;
use cairn_model::{Name, NameKey, NodeId};
use cairn_space::Relocation;
use cairn_space::past::{Incomplete, Move, Past, PastNode, Plan};
use cairn_wire::nodes::{Node, NodeState};
use std::collections::{HashMap, HashSet};

/// Free names that are tried beside one that is taken.
const MAX_COPIES: u32 = 1_000;

/// The moves of a plan that were tried.
#[derive(Default)]
pub(super) struct Moves {
    /// The nodes that got another name for now, because a node that is still to be moved has theirs.
    pub(super) later: Vec<(NodeId, String)>,
    /// The nodes that could not be moved.
    pub(super) unmoved: Vec<NodeId>,
    /// The versions that nodes have since they came back or were moved.
    pub(super) versions: HashMap<NodeId, u64>,
    /// The nodes as they are since they were moved.
    moved: HashMap<NodeId, Node>,
}

impl Moves {
    fn note_moved(&mut self, node: Node) {
        self.versions.insert(node.id, node.version);
        self.moved.insert(node.id, node);
    }

    /// Returns a node as it is after the moves, as far as is known; `None` if it is in the trash.
    pub(super) fn current(&self, past: &Past, id: NodeId) -> Option<Node> {
        let moved = self.moved.get(&id);
        let node = moved.or_else(|| past.get(id).map(|one| &one.node));
        node.filter(|node| node.state == NodeState::Active).cloned()
    }
}

/// The names that are in use in each folder, while moves are planned.
struct UsedNames(HashMap<(Option<NodeId>, NameKey), NodeId>);

impl UsedNames {
    fn of(past: &Past) -> Self {
        let key = |one: &PastNode| {
            let name = Name::new(one.node.name.clone()).ok()?;
            Some(((one.node.parent_id, name.key()), one.node.id))
        };
        let active = past.iter().filter(|one| one.is_active());
        Self(active.filter_map(key).collect())
    }

    fn is_free(&self, id: NodeId, parent: Option<NodeId>, name: &Name) -> bool {
        let user = self.0.get(&(parent, name.key()));
        user.is_none_or(|user| *user == id)
    }

    /// Gives a node another place.
    fn change(&mut self, node: &Node, parent: Option<NodeId>, name: &Name) {
        if let Ok(old) = Name::new(node.name.clone()) {
            self.0.remove(&(node.parent_id, old.key()));
        }
        self.0.insert((parent, name.key()), node.id);
    }
}

impl Rewind<'_> {
    /// Moves what is elsewhere.
    pub(super) async fn move_all(
        &self,
        past: &Past,
        plan: &Plan,
        moves: &mut Moves,
        done: &mut Done,
    ) -> CommandResult {
        let together = relocations(past, plan, moves)?;
        let mut alone = HashSet::new();
        for (one, moved) in self.remote.move_nodes(&together).await {
            match moved {
                Some(node) => {
                    moves.note_moved(node);
                    done.moved += 1;
                }
                None => {
                    alone.insert(one.node.id);
                }
            }
        }
        let alone = plan.moves.iter().filter(|step| alone.contains(&step.node));
        for step in alone.clone() {
            self.note_lost_move(past, step.node, moves).await?;
        }
        for step in alone {
            self.move_alone(past, step, moves, done).await?;
        }
        Ok(())
    }

    /// Notes a move that the request with others made although its response was lost. All of them come before what is
    /// moved alone: taking back goes the other way, and needs the names that were free then.
    async fn note_lost_move(&self, past: &Past, id: NodeId, moves: &mut Moves) -> CommandResult {
        let (Some(planned), Some(node)) = (past.get(id), self.current(id).await?) else {
            return Ok(());
        };
        let place = |node: &Node| (node.parent_id, node.name.clone());
        let is_moved = place(&planned.node) != place(&node);
        if is_moved && self.remote.has_changed_next(&planned.node, &node) {
            self.remote.note_moved(&planned.node, &node);
            moves.note_moved(node);
        }
        Ok(())
    }

    /// Moves one node by what the service has now.
    async fn move_alone(
        &self,
        past: &Past,
        step: &Move,
        moves: &mut Moves,
        done: &mut Done,
    ) -> CommandResult {
        moves.later.retain(|(id, _)| *id != step.node);
        let Some(node) = self.current(step.node).await? else {
            return Ok(());
        };
        let name = valid_name(&step.name)?;
        let taken = self.remote.child(step.parent, name.as_str()).await?;
        let is_free = taken.is_none_or(|found| found.id == node.id);
        let target = if is_free {
            name
        } else {
            moves.later.push((node.id, step.name.clone()));
            self.free_name(&node, step.parent, &name).await?
        };
        if (node.parent_id, node.name.as_str()) == (step.parent, target.as_str()) {
            // The request with others did it, and its response was lost.
            done.moved += u64::from(moves.moved.contains_key(&node.id));
            return Ok(());
        }
        let moved = self.remote.move_node(&node, step.parent, &target).await;
        let moved = moved.map(|node| moves.note_moved(node));
        if done.note(past.path(step.node), moved)? {
            done.moved += 1;
        } else {
            moves.unmoved.push(step.node);
        }
        Ok(())
    }

    /// Gives a node its own name, now that it is free; if it is not, it keeps the one that it has.
    pub(super) async fn rename(
        &self,
        past: &Past,
        (id, name): (NodeId, &str),
        moves: &mut Moves,
        done: &mut Done,
    ) -> CommandResult {
        let Some(node) = self.current(id).await? else {
            return Ok(());
        };
        let name = valid_name(name)?;
        let taken = self.remote.child(node.parent_id, name.as_str()).await?;
        if taken.is_some() {
            done.failed.push(Incomplete {
                path: past.path(id),
                message: format!("its name {name} is in use: it is called {} now", node.name),
            });
            return Ok(());
        }
        let result = self.remote.move_node(&node, node.parent_id, &name).await;
        let result = result.map(|node| moves.note_moved(node));
        done.note(past.path(id), result).map(drop)
    }

    /// Finds a name that is free in a folder, or that the node has there already.
    async fn free_name(
        &self,
        node: &Node,
        parent: Option<NodeId>,
        name: &Name,
    ) -> CommandResult<Name> {
        for candidate in names_with_numbers(name) {
            let found = self.remote.child(parent, candidate.as_str()).await?;
            if found.is_none_or(|found| found.id == node.id) {
                return Ok(candidate);
            }
        }
        Err(no_free_name_error(name))
    }
}

/// Returns the moves as they can be made one after another, each to a name that is free then.
fn relocations(past: &Past, plan: &Plan, moves: &mut Moves) -> CommandResult<Vec<Relocation>> {
    let mut used = UsedNames::of(past);
    let mut all = Vec::with_capacity(plan.moves.len());
    for step in &plan.moves {
        let Some(one) = past.get(step.node).filter(|one| one.is_active()) else {
            continue;
        };
        let (node, parent) = (&one.node, step.parent);
        let mut name = valid_name(&step.name)?;
        if !used.is_free(node.id, parent, &name) {
            moves.later.push((node.id, step.name.clone()));
            let free = names_with_numbers(&name).find(|name| used.is_free(node.id, parent, name));
            name = free.ok_or_else(|| no_free_name_error(&name))?;
        }
        if (node.parent_id, node.name.as_str()) == (parent, name.as_str()) {
            continue;
        }
        used.change(node, parent, &name);
        all.push(Relocation {
            node: node.clone(),
            parent,
            name,
        });
    }
    Ok(all)
}

fn names_with_numbers(name: &Name) -> impl Iterator<Item = Name> {
    (2..MAX_COPIES).map(|number| name.with_number(number))
}

fn no_free_name_error(name: &Name) -> Failure {
    Failure::failed(format!("all names like {name} are in use"))
}
