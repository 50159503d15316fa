//! The index of one tree: its nodes top-down, and which of them are blocked (get no step).
//!
//! These are blocked: nodes that the snapshot says are blocked, everything below them, orphans (nodes
//! without a way up to the root), and of siblings whose names differ by normalisation alone, all but one.

use crate::tree::{Blocked, LocalNode, RemoteNode};
use cairn_model::{LocalId, Name, NameKey, NodeId};
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// The reason why a node stays as it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BlockReason {
    /// The snapshot says that this node is blocked.
    Itself,
    /// A node above it is blocked.
    Ancestor,
    /// The node has the name of a sibling, is an orphan, or lies below such a node.
    Unresolvable,
}

/// A node of the local or the remote tree.
pub(crate) trait TreeNode {
    type Id: Copy + Ord + Hash;
    fn id(&self) -> Self::Id;
    fn parent(&self) -> Option<Self::Id>;
    fn name(&self) -> &Name;
    fn is_blocked(&self) -> bool;
}

impl TreeNode for LocalNode {
    type Id = LocalId;
    fn id(&self) -> LocalId {
        self.id
    }
    fn parent(&self) -> Option<LocalId> {
        self.parent
    }
    fn name(&self) -> &Name {
        &self.name
    }
    fn is_blocked(&self) -> bool {
        self.blocked || self.is_unknown
    }
}

impl TreeNode for RemoteNode {
    type Id = NodeId;
    fn id(&self) -> NodeId {
        self.id
    }
    fn parent(&self) -> Option<NodeId> {
        self.parent
    }
    fn name(&self) -> &Name {
        &self.name
    }
    fn is_blocked(&self) -> bool {
        self.blocked != Blocked::No
    }
}

/// The priority of a node for its name; of name duplicates the greatest wins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum NamePriority {
    New,
    /// Synced, but it came here by a move.
    Moved,
    /// Synced under this very name.
    Unmoved,
}

/// One tree, walked top-down.
pub(crate) struct TreeIndex<'a, N: TreeNode> {
    /// Every node with a way up to the root, parents before children.
    pub(crate) order: Vec<&'a N>,
    blocked: HashMap<N::Id, BlockReason>,
}

impl<'a, N: TreeNode> TreeIndex<'a, N> {
    pub(crate) fn new(tree: &'a BTreeMap<N::Id, N>, priority: impl Fn(&N) -> NamePriority) -> Self {
        let mut children: HashMap<Option<N::Id>, Vec<&N>> = HashMap::new();
        for node in tree.values() {
            children.entry(node.parent()).or_default().push(node);
        }
        let mut index = Self {
            order: Vec::with_capacity(tree.len()),
            blocked: HashMap::new(),
        };
        index.add_children(children.remove(&None), None, &priority);
        let mut next = 0;
        while let Some(folder) = index.order.get(next).copied() {
            let above = index.blocked.get(&folder.id()).copied();
            index.add_children(children.remove(&Some(folder.id())), above, &priority);
            next += 1;
        }
        if index.order.len() < tree.len() {
            index.block_orphans(children);
        }
        index
    }

    pub(crate) fn block_reason(&self, id: N::Id) -> Option<BlockReason> {
        self.blocked.get(&id).copied()
    }

    fn add_children(
        &mut self,
        siblings: Option<Vec<&'a N>>,
        above: Option<BlockReason>,
        priority: &impl Fn(&N) -> NamePriority,
    ) {
        let Some(siblings) = siblings else { return };
        for node in &siblings {
            let reason = match above {
                Some(BlockReason::Itself | BlockReason::Ancestor) => Some(BlockReason::Ancestor),
                Some(BlockReason::Unresolvable) => Some(BlockReason::Unresolvable),
                None if node.is_blocked() => Some(BlockReason::Itself),
                None => None,
            };
            if let Some(reason) = reason {
                self.blocked.insert(node.id(), reason);
            }
        }
        if above.is_none() && siblings.len() > 1 {
            self.block_name_duplicates(&siblings, priority);
        }
        self.order.extend(siblings);
    }

    fn block_name_duplicates(
        &mut self,
        siblings: &[&'a N],
        priority: &impl Fn(&N) -> NamePriority,
    ) {
        // Names of ASCII alone equal their keys, and a folder has each exact name once.
        if siblings.iter().all(|n| n.name().as_str().is_ascii()) {
            return;
        }
        let mut by_key: HashMap<NameKey, Vec<&N>> = HashMap::new();
        for node in siblings {
            by_key.entry(node.name().key()).or_default().push(node);
        }
        for mut duplicates in by_key.into_values().filter(|nodes| nodes.len() > 1) {
            duplicates.sort_by(|a, b| {
                let rank = |n: &N| (n.is_blocked(), std::cmp::Reverse(priority(n)));
                rank(a)
                    .cmp(&rank(b))
                    .then_with(|| a.name().cmp(b.name()))
                    .then_with(|| a.id().cmp(&b.id()))
            });
            let first_syncs = !duplicates.first().is_some_and(|n| n.is_blocked());
            for loser in duplicates.iter().skip(usize::from(first_syncs)) {
                self.blocked.insert(loser.id(), BlockReason::Unresolvable);
            }
        }
    }

    /// Blocks the nodes without a way up to the root: a snapshot that breaks the rules in `tree`
    /// must not make the planner panic.
    fn block_orphans(&mut self, left: HashMap<Option<N::Id>, Vec<&'a N>>) {
        for node in left.into_values().flatten() {
            self.blocked.insert(node.id(), BlockReason::Unresolvable);
        }
    }
}
