//! A first walk through one tree: top-down order, and what in it must stay as it is.
//!
//! Held is what the snapshot says is held, all below it, what hangs in the air, and of two
//! siblings whose names differ by normalisation alone the one that can't sync.

use crate::tree::{Hold, LocalNode, RemoteNode};
use cairn_model::{LocalId, Name, NameKey, NodeId};
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// Why a node stays as it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Freeze {
    /// The snapshot holds the node itself.
    Held,
    /// Something above it is held.
    Below,
    /// A twin has its name, or it hangs in the air, or it lies below such a node.
    Stuck,
}

/// What the walk needs to know about a node of either tree.
pub(crate) trait TreeNode {
    type Id: Copy + Ord + Hash;
    fn id(&self) -> Self::Id;
    fn parent(&self) -> Option<Self::Id>;
    fn name(&self) -> &Name;
    fn held(&self) -> bool;
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
    fn held(&self) -> bool {
        self.held
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
    fn held(&self) -> bool {
        self.hold != Hold::No
    }
}

/// How much a node is at home under its name; the greatest claim among twins wins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Claim {
    New,
    /// Synced, but it came here by a move.
    Arrived,
    /// Synced under this very name.
    Settled,
}

/// One tree, walked.
pub(crate) struct Survey<'a, N: TreeNode> {
    /// Every node that hangs together with the root, parents before children.
    pub(crate) order: Vec<&'a N>,
    freezes: HashMap<N::Id, Freeze>,
}

impl<'a, N: TreeNode> Survey<'a, N> {
    pub(crate) fn new(tree: &'a BTreeMap<N::Id, N>, claim: impl Fn(&N) -> Claim) -> Self {
        let mut children: HashMap<Option<N::Id>, Vec<&N>> = HashMap::new();
        for node in tree.values() {
            children.entry(node.parent()).or_default().push(node);
        }
        let mut survey = Self {
            order: Vec::with_capacity(tree.len()),
            freezes: HashMap::new(),
        };
        survey.take(children.remove(&None), None, &claim);
        let mut next = 0;
        while let Some(folder) = survey.order.get(next).copied() {
            let above = survey.freezes.get(&folder.id()).copied();
            survey.take(children.remove(&Some(folder.id())), above, &claim);
            next += 1;
        }
        if survey.order.len() < tree.len() {
            survey.freeze_adrift(children);
        }
        survey
    }

    pub(crate) fn freeze(&self, id: N::Id) -> Option<Freeze> {
        self.freezes.get(&id).copied()
    }

    fn take(
        &mut self,
        siblings: Option<Vec<&'a N>>,
        above: Option<Freeze>,
        claim: &impl Fn(&N) -> Claim,
    ) {
        let Some(siblings) = siblings else { return };
        for node in &siblings {
            let freeze = match above {
                Some(Freeze::Held | Freeze::Below) => Some(Freeze::Below),
                Some(Freeze::Stuck) => Some(Freeze::Stuck),
                None if node.held() => Some(Freeze::Held),
                None => None,
            };
            if let Some(freeze) = freeze {
                self.freezes.insert(node.id(), freeze);
            }
        }
        if above.is_none() && siblings.len() > 1 {
            self.part_twins(&siblings, claim);
        }
        self.order.extend(siblings);
    }

    fn part_twins(&mut self, siblings: &[&'a N], claim: &impl Fn(&N) -> Claim) {
        // Names of ASCII alone equal their keys, and a folder has each exact name once.
        if siblings.iter().all(|n| n.name().as_str().is_ascii()) {
            return;
        }
        let mut by_key: HashMap<NameKey, Vec<&N>> = HashMap::new();
        for node in siblings {
            by_key.entry(node.name().key()).or_default().push(node);
        }
        for mut twins in by_key.into_values().filter(|t| t.len() > 1) {
            twins.sort_by(|a, b| {
                let rank = |n: &N| (n.held(), std::cmp::Reverse(claim(n)));
                rank(a)
                    .cmp(&rank(b))
                    .then_with(|| a.name().cmp(b.name()))
                    .then_with(|| a.id().cmp(&b.id()))
            });
            let first_syncs = !twins.first().is_some_and(|n| n.held());
            for loser in twins.iter().skip(usize::from(first_syncs)) {
                self.freezes.insert(loser.id(), Freeze::Stuck);
            }
        }
    }

    /// A snapshot that breaks its promises must not bring the planner down.
    fn freeze_adrift(&mut self, left: HashMap<Option<N::Id>, Vec<&'a N>>) {
        for node in left.into_values().flatten() {
            self.freezes.insert(node.id(), Freeze::Stuck);
        }
    }
}
