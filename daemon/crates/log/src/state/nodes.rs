//! Statements about nodes (files and folders), checked against the newest ones before them.

use super::draft::Draft;
use super::{LogResult, MAX_DEPTH, MAX_JUMP, SpaceState};
use crate::records::Records;
use crate::rules::Refusal;
use crate::short_form;
use crate::statement::{Flags, NodeOp, NodeStatement};
use cairn_model::NodeId;
use std::collections::{BTreeMap, BTreeSet};

/// Checks a statement against the one before it.
pub(super) fn check_statement<R: Records>(
    state: &SpaceState<R>,
    statement: &NodeStatement,
) -> Result<(), R::Error> {
    let known = state.records.node(statement.node)?;
    if known.is_purged {
        return Err(Refusal::Purged.into());
    }
    let is_private = state.genesis.as_ref().is_some_and(|g| g.is_private);
    if statement.flags.has(Flags::PRIVATE) != is_private {
        return Err(Refusal::Form.into());
    }
    let Some((old, hash)) = known.signed else {
        return Ok(check_first(state.is_restored, statement)?);
    };
    if statement.prev != short_form(&hash) {
        return Err(Refusal::Prev.into());
    }
    check_seq(state.is_restored, statement.seq, old.seq + 1)?;
    if kind_holds(&old, statement) {
        Ok(())
    } else {
        Err(Refusal::Kind.into())
    }
}

fn check_first(is_restored: bool, statement: &NodeStatement) -> LogResult<()> {
    if statement.prev != [0; 16] {
        return Err(Refusal::Prev);
    }
    check_seq(is_restored, statement.seq, 1)?;
    match statement.op {
        // What the server made is accepted without a statement before.
        NodeOp::Create | NodeOp::Accept => Ok(()),
        NodeOp::Content | NodeOp::Place | NodeOp::Trash | NodeOp::Untrash | NodeOp::Purge => {
            Err(Refusal::Kind)
        }
    }
}

fn check_seq(is_restored: bool, seq: u64, expected: u64) -> LogResult<()> {
    let jump = if is_restored { MAX_JUMP } else { 0 };
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
pub(super) fn check_places<R: Records>(draft: &Draft<'_, R>) -> Result<(), R::Error> {
    let (mut taken, mut depths) = (BTreeSet::new(), BTreeMap::new());
    for (node, statement) in &draft.changes.nodes {
        if statement.op == NodeOp::Purge {
            continue;
        }
        let is_within = check_path(draft, *node, statement.parent, &mut depths)?;
        if !is_within && is_put(draft, statement)? {
            return Err(Refusal::Depth.into());
        }
        if !has_place(statement) {
            continue;
        }
        let before = draft
            .state
            .records
            .place(statement.parent, &statement.name)?;
        let stays = before.is_some_and(|other| !draft.changes.nodes.contains_key(&other));
        if stays || !taken.insert((statement.parent, &statement.name)) {
            return Err(Refusal::NameDuplicate.into());
        }
    }
    Ok(())
}

/// Walks up to the top, or to a folder whose depth is known from a walk before: every step is a vouched folder, and
/// none comes twice. Returns `false` if more than [`MAX_DEPTH`] folders lie above.
///
/// So the walk has a bound, which counts for nodes that are put into a folder. A node that stays where it is may
/// lie deeper, because a folder above it was moved: it can still be changed, deleted and moved up.
fn check_path<R: Records>(
    draft: &Draft<'_, R>,
    node: NodeId,
    parent: Option<NodeId>,
    depths: &mut BTreeMap<NodeId, usize>,
) -> Result<bool, R::Error> {
    let (mut met, mut walked) = (BTreeSet::from([node]), Vec::new());
    let (mut at, mut depth) = (parent, 0);
    while let Some(folder) = at {
        if let Some(known) = depths.get(&folder) {
            depth = *known;
            break;
        }
        if !met.insert(folder) {
            return Err(Refusal::Cycle.into());
        }
        if walked.len() == MAX_DEPTH {
            return Ok(false);
        }
        let statement = newest_statement(draft, folder)?.ok_or(Refusal::Parent)?;
        if statement.file.is_some() {
            return Err(Refusal::Parent.into());
        }
        walked.push(folder);
        at = statement.parent;
    }
    for folder in walked.into_iter().rev() {
        depth += 1;
        depths.insert(folder, depth);
    }
    Ok(depth <= MAX_DEPTH)
}

/// Returns `true` if a statement puts its node into another folder than before.
fn is_put<R: Records>(draft: &Draft<'_, R>, statement: &NodeStatement) -> Result<bool, R::Error> {
    let old = draft.state.records.node(statement.node)?.signed;
    Ok(old.is_none_or(|(old, _)| old.parent != statement.parent))
}

fn newest_statement<R: Records>(
    draft: &Draft<'_, R>,
    node: NodeId,
) -> Result<Option<NodeStatement>, R::Error> {
    match draft.changes.nodes.get(&node) {
        Some(statement) => Ok(Some(statement.clone()).filter(|s| s.op != NodeOp::Purge)),
        None => {
            let known = draft.state.records.node(node)?;
            Ok(known.signed.map(|(statement, _)| statement))
        }
    }
}
