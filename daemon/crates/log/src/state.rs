//! The vouched and unvouched state of a space, as its log makes it. Each commit and entry is checked
//! against the state before it; one that is refused changes nothing.

mod draft;
mod members;
mod nodes;

use crate::commit::Commit;
use crate::control::{Chain, DeviceList, Genesis, Member, Role};
use crate::digest::{Element, StateDigest};
use crate::entry::{EntryOp, ServerEntry, entry_leaf};
use crate::rules::Refusal;
use crate::statement::{NodeStatement, Statement};
use crate::tree::{EMPTY_ROOT, Tree, hash_leaf, verify_consistency};
use crate::{hash, short};
use cairn_model::{AccountId, NodeId, SpaceId};
use draft::Draft;
use std::collections::{BTreeMap, BTreeSet};

/// Roots that are remembered; older ones need a consistency proof.
const ROOTS: usize = 4096;
/// Positions at which a checkpoint can stand.
pub(super) const CHECKPOINT_STEP: u64 = 64;
/// The farthest that a number may jump after the service was restored.
pub(super) const MAX_JUMP: u64 = 1 << 20;

pub(super) type LogResult<T> = std::result::Result<T, Refusal>;

/// The state of a space at one size of its log.
#[derive(Clone, Debug)]
pub struct SpaceState {
    pub(super) space: SpaceId,
    pub(super) history: [u8; 16],
    /// The service was restored: numbers may jump.
    pub(super) is_restored: bool,
    tree: Tree,
    roots: BTreeMap<u64, [u8; 32]>,
    /// The digest's hash and the epoch at each multiple of 64.
    pub(super) marks: BTreeMap<u64, ([u8; 32], u64)>,
    digest: StateDigest,
    pub(super) genesis: Option<Genesis>,
    pub(super) epoch: u64,
    pub(super) members: BTreeMap<AccountId, Member>,
    pub(super) lists: BTreeMap<AccountId, DeviceList>,
    pub(super) devices: BTreeMap<u32, KnownDevice>,
    pub(super) nodes: BTreeMap<NodeId, NodeState>,
    pub(super) purged: BTreeSet<NodeId>,
    pub(super) chains: BTreeMap<Chain, [u8; 32]>,
    /// The vouched places of open spaces: folder and name, of nodes that aren't in the trash.
    pub(super) places: BTreeMap<(Option<NodeId>, Vec<u8>), NodeId>,
}

/// A device that is or was in a device list of the space.
#[derive(Clone, Debug)]
pub(super) struct KnownDevice {
    pub(super) account: AccountId,
    pub(super) key: [u8; 32],
    pub(super) is_listed: bool,
    /// The highest number that it has signed.
    pub(super) own: u64,
    /// The least size that its next commit has to have seen.
    pub(super) min_seen: u64,
}

/// A node with its newest statement and the entry on it.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeState {
    pub(super) signed: Option<(NodeStatement, [u8; 32])>,
    pub(super) entry: Option<(ServerEntry, [u8; 32])>,
}

impl SpaceState {
    /// Makes the state of a log without leaves.
    #[must_use]
    pub fn new(space: SpaceId, history: [u8; 16]) -> Self {
        Self {
            space,
            history,
            is_restored: false,
            tree: Tree::default(),
            roots: BTreeMap::from([(0, EMPTY_ROOT)]),
            marks: BTreeMap::new(),
            digest: StateDigest::default(),
            genesis: None,
            epoch: 0,
            members: BTreeMap::new(),
            lists: BTreeMap::new(),
            devices: BTreeMap::new(),
            nodes: BTreeMap::new(),
            purged: BTreeSet::new(),
            chains: BTreeMap::new(),
            places: BTreeMap::new(),
        }
    }

    /// Goes on under another history id, as the service says after it was restored.
    #[must_use]
    pub fn with_history(mut self, history: [u8; 16]) -> Self {
        self.history = history;
        self.is_restored = true;
        self
    }

    /// Returns the number of leaves and their root.
    #[must_use]
    pub fn head(&self) -> (u64, [u8; 32]) {
        (self.tree.size(), self.tree.root())
    }

    /// Returns the digest of the state.
    #[must_use]
    pub fn digest(&self) -> &StateDigest {
        &self.digest
    }

    /// Returns the epoch that new statements carry.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Returns the role of an account.
    #[must_use]
    pub fn role(&self, account: AccountId) -> Option<Role> {
        self.members.get(&account).map(|member| member.role)
    }

    /// Returns the newest statement about a node.
    #[must_use]
    pub fn statement(&self, node: NodeId) -> Option<&NodeStatement> {
        let (statement, _) = self.nodes.get(&node)?.signed.as_ref()?;
        Some(statement)
    }

    /// Returns the entry that stands on a node's newest statement.
    #[must_use]
    pub fn entry(&self, node: NodeId) -> Option<&ServerEntry> {
        let (entry, _) = self.nodes.get(&node)?.entry.as_ref()?;
        Some(entry)
    }

    /// Returns the short hash of a node's newest statement: the next one's `prev`.
    #[must_use]
    pub fn node_prev(&self, node: NodeId) -> [u8; 16] {
        let signed = self.nodes.get(&node).and_then(|n| n.signed.as_ref());
        signed.map_or([0; 16], |(_, hash)| short(hash))
    }

    /// Returns the short hash of a chain's newest statement: the next one's `prev`.
    #[must_use]
    pub fn chain_prev(&self, chain: &Chain) -> [u8; 16] {
        self.chains.get(chain).map_or([0; 16], short)
    }

    /// Remembers an older root that a proof connects with the present one.
    ///
    /// # Errors
    /// [`Refusal::Root`] if it doesn't.
    pub fn admit_root(&mut self, size: u64, root: [u8; 32], proof: &[[u8; 32]]) -> LogResult<()> {
        let (now, own) = self.head();
        verify_consistency((size, &root), (now, &own), proof).map_err(|_| Refusal::Root)?;
        self.roots.insert(size, root);
        Ok(())
    }

    /// Checks a commit and takes it in. Returns its position.
    ///
    /// # Errors
    /// The first rule that it breaks; the state is as before.
    pub fn apply_commit(&mut self, bytes: &[u8]) -> LogResult<u64> {
        let commit = Commit::decode(bytes)?;
        self.check_head(&commit)?;
        let mut statements = Vec::with_capacity(commit.statements.len());
        for bytes in &commit.statements {
            statements.push((Statement::decode(bytes)?, hash(bytes)));
        }
        let changes = Draft::new(self, &commit).check(&statements)?;
        let position = self.tree.size();
        let (own, device) = (commit.header.own, commit.header.device);
        self.take(changes);
        if let Some(known) = self.devices.get_mut(&device) {
            known.own = own;
            known.min_seen = position + 1;
        }
        self.push(hash_leaf(&commit.leaf().encode()));
        Ok(position)
    }

    /// Checks a server entry and takes it in. Returns its position.
    ///
    /// # Errors
    /// As [`SpaceState::apply_commit`].
    pub fn apply_entry(&mut self, bytes: &[u8]) -> LogResult<u64> {
        let entry = ServerEntry::decode(bytes)?;
        if self.genesis.is_none() {
            return Err(Refusal::Genesis);
        }
        if self.purged.contains(&entry.node) {
            return Err(Refusal::Purged);
        }
        if entry.prev != self.node_prev(entry.node) {
            return Err(Refusal::Prev);
        }
        let (position, id) = (self.tree.size(), *entry.node.as_bytes());
        let node = self.nodes.entry(entry.node).or_default();
        let is_folder = node.signed.as_ref().map(|(s, _)| s.file.is_none());
        if is_folder.is_some_and(|is_folder| is_folder != entry.is_folder) {
            return Err(Refusal::Kind);
        }
        if let Some((_, old)) = node.entry.take() {
            self.digest.remove(&id, Element::Server, &old);
        }
        if entry.op == EntryOp::Purge && node.signed.is_none() {
            self.nodes.remove(&entry.node);
            self.purged.insert(entry.node);
        } else {
            let hash = hash(bytes);
            self.digest.add(&id, Element::Server, &hash);
            node.entry = Some((entry, hash));
        }
        self.push(hash_leaf(&entry_leaf(bytes)));
        Ok(position)
    }

    /// Checks what a commit says about the log that it continues.
    fn check_head(&self, commit: &Commit) -> LogResult<()> {
        let header = &commit.header;
        if header.history != self.history {
            return Err(Refusal::History);
        }
        if header.seen > self.tree.size() {
            return Err(Refusal::Seen);
        }
        match self.roots.get(&header.seen) {
            Some(root) if *root == header.root => Ok(()),
            Some(_) => Err(Refusal::Root),
            None => Err(Refusal::RootUnknown),
        }
    }

    fn push(&mut self, leaf: [u8; 32]) {
        self.tree.push(leaf);
        let size = self.tree.size();
        self.roots.insert(size, self.tree.root());
        if self.roots.len() > ROOTS {
            self.roots.pop_first();
        }
        if size.is_multiple_of(CHECKPOINT_STEP) {
            self.marks.insert(size, (self.digest.hash(), self.epoch));
        }
    }

    /// Returns the root at a size, if it is remembered.
    pub(super) fn root_at(&self, size: u64) -> Option<&[u8; 32]> {
        self.roots.get(&size)
    }
}

#[cfg(test)]
mod tests;
