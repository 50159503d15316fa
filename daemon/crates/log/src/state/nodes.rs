//! Statements about nodes, held against the newest ones before them.

use super::draft::Draft;
use super::{LogResult, MAX_JUMP, SpaceState};
use crate::rules::Refusal;
use crate::short;
use crate::statement::{Flags, NodeOp, NodeStatement};
use cairn_model::NodeId;
use std::collections::BTreeMap;

/// Checks a statement against the one before it.
pub(super) fn check_statement(state: &SpaceState, statement: &NodeStatement) -> LogResult<()> {
    if state.purged.contains(&statement.node) {
        return Err(Refusal::Purged);
    }
    let is_private = state.genesis.as_ref().is_some_and(|g| g.is_private);
    if statement.flags.has(Flags::PRIVATE) != is_private {
        return Err(Refusal::Form);
    }
    let known = state.nodes.get(&statement.node);
    let Some((old, hash)) = known.and_then(|node| node.signed.as_ref()) else {
        return check_first(state, statement);
    };
    if statement.prev != short(hash) {
        return Err(Refusal::Prev);
    }
    check_seq(state, statement.seq, old.seq + 1)?;
    if kind_holds(old, statement) {
        Ok(())
    } else {
        Err(Refusal::Kind)
    }
}

fn check_first(state: &SpaceState, statement: &NodeStatement) -> LogResult<()> {
    if statement.prev != [0; 16] {
        return Err(Refusal::Prev);
    }
    check_seq(state, statement.seq, 1)?;
    match statement.op {
        // What the server made is accepted without a statement before.
        NodeOp::Create | NodeOp::Accept => Ok(()),
        NodeOp::Content | NodeOp::Place | NodeOp::Trash | NodeOp::Untrash | NodeOp::Purge => {
            Err(Refusal::Kind)
        }
    }
}

fn check_seq(state: &SpaceState, seq: u64, expected: u64) -> LogResult<()> {
    let jump = if state.is_restored { MAX_JUMP } else { 0 };
    if (expected..=expected + jump).contains(&seq) {
        Ok(())
    } else {
        Err(Refusal::Seq)
    }
}

/// Returns `true` if only that changes which the statement's kind is about.
fn kind_holds(old: &NodeStatement, new: &NodeStatement) -> bool {
    let shape = [Flags::FOLDER, Flags::PRIVATE, Flags::SYMLINK];
    let same_flag = |flag| old.flags.has(flag) == new.flags.has(flag);
    let same_shape = shape.into_iter().all(same_flag);
    let same_place = (old.parent, &old.name) == (new.parent, &new.name);
    let same_state = same_flag(Flags::TRASHED);
    let same_content = same_content(old, new);
    same_shape
        && match new.op {
            NodeOp::Create => false,
            NodeOp::Content => same_place && same_state && new.file.is_some(),
            NodeOp::Place => same_state && same_content,
            NodeOp::Trash | NodeOp::Untrash => same_place && same_content,
            NodeOp::Purge => same_place && same_state && same_content,
            NodeOp::Accept => true,
        }
}

/// Compares objects, and the keys that they are sealed under: in a later epoch they have to be named.
fn same_content(old: &NodeStatement, new: &NodeStatement) -> bool {
    let same_flag = |flag| old.flags.has(flag) == new.flags.has(flag);
    let facts = |statement: &NodeStatement| {
        statement
            .file
            .map(|file| (file.object, file.facts, file.attributes))
    };
    same_flag(Flags::EXECUTABLE)
        && same_flag(Flags::MANIFEST)
        && facts(old) == facts(new)
        && (old.file.is_none() || old.content_key() == new.content_key())
}

/// Returns `true` if a node takes up its name: in open spaces, outside the trash.
pub(super) fn has_place(statement: &NodeStatement) -> bool {
    !statement.flags.has(Flags::TRASHED) && !statement.flags.has(Flags::PRIVATE)
}

/// Checks the places of all nodes that a commit changes, when all of it is known: nodes may swap names.
pub(super) fn check_places(draft: &Draft<'_>) -> LogResult<()> {
    let mut taken = BTreeMap::new();
    for (node, (statement, _)) in &draft.changes.nodes {
        if statement.op == NodeOp::Purge {
            continue;
        }
        check_path(draft, *node, statement.parent)?;
        if !has_place(statement) {
            continue;
        }
        let place = (statement.parent, statement.name.clone());
        let before = draft.state.places.get(&place);
        let stays = |other: &&NodeId| !draft.changes.nodes.contains_key(other);
        if before.filter(stays).is_some() || taken.insert(place, node).is_some() {
            return Err(Refusal::NameDuplicate);
        }
    }
    Ok(())
}

/// Walks up to the top: every step is a vouched folder, and none is the node itself.
fn check_path(draft: &Draft<'_>, node: NodeId, parent: Option<NodeId>) -> LogResult<()> {
    let mut at = parent;
    let mut steps = draft.state.nodes.len() + draft.changes.nodes.len();
    while let Some(folder) = at {
        if folder == node || steps == 0 {
            return Err(Refusal::Cycle);
        }
        steps -= 1;
        let statement = newest(draft, folder).ok_or(Refusal::Parent)?;
        if statement.file.is_some() {
            return Err(Refusal::Parent);
        }
        at = statement.parent;
    }
    Ok(())
}

fn newest<'a>(draft: &'a Draft<'_>, node: NodeId) -> Option<&'a NodeStatement> {
    match draft.changes.nodes.get(&node) {
        Some((statement, _)) => Some(statement).filter(|s| s.op != NodeOp::Purge),
        None => draft.state.statement(node),
    }
}
