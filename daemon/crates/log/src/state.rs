//! The state of a space, as its log makes it: what devices have signed, and on top of that what only the server says.
//! Each commit and entry is checked against the state before it; one that is refused changes nothing.

mod draft;
mod members;
mod memory;
mod nodes;
mod resume;
mod take;

use crate::commit::Commit;
use crate::control::{Genesis, Member, Role};
use crate::digest::{Element, StateDigest};
use crate::element::ElementName;
use crate::entry::{EntryOp, ServerEntry, entry_leaf};
use crate::records::{InMemory, Item, Leaf, Mark, Records};
use crate::rules::Refusal;
use crate::statement::Statement;
use crate::tree::{Tree, hash_leaf};
use crate::{hash, short_form};
use cairn_model::{AccountId, SpaceId};
use draft::Draft;
use std::collections::BTreeMap;

/// Positions at which a checkpoint can stand.
pub(super) const CHECKPOINT_STEP: u64 = 64;
/// The farthest that a number may jump after the service was restored.
pub(super) const MAX_JUMP: u64 = 1 << 20;
/// The most folders above a place that something is put into: the way up is walked for each.
pub const MAX_DEPTH: usize = 256;

pub(super) type LogResult<T> = std::result::Result<T, Refusal>;

/// The state of a space at one size of its log. Its records have the parts that grow with nodes and
/// commits; the rest grows with members only.
#[derive(Clone, Debug)]
pub struct SpaceState<R = InMemory> {
    pub(super) space: SpaceId,
    pub(super) history: [u8; 16],
    /// The service was restored: numbers may jump.
    pub(super) is_restored: bool,
    tree: Tree,
    digest: StateDigest,
    pub(super) genesis: Option<Genesis>,
    pub(super) epoch: u64,
    pub(super) members: BTreeMap<AccountId, Member>,
    /// The counter of each account's newest device list.
    pub(super) counters: BTreeMap<AccountId, u64>,
    pub(super) records: R,
}

impl<R: Records> SpaceState<R> {
    /// Makes the state of a log without leaves; the records are empty.
    #[must_use]
    pub fn with_records(space: SpaceId, history: [u8; 16], records: R) -> Self {
        Self {
            space,
            history,
            is_restored: false,
            tree: Tree::default(),
            digest: StateDigest::default(),
            genesis: None,
            epoch: 0,
            members: BTreeMap::new(),
            counters: BTreeMap::new(),
            records,
        }
    }

    /// Continues under another history id, which the service gives after it was restored from a backup.
    #[must_use]
    pub fn with_history(mut self, history: [u8; 16]) -> Self {
        self.history = history;
        self.is_restored = true;
        self
    }

    /// Returns the id of the history that new commits name.
    #[must_use]
    pub fn history(&self) -> [u8; 16] {
        self.history
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

    /// Returns the first statement of the space.
    #[must_use]
    pub fn genesis(&self) -> Option<&Genesis> {
        self.genesis.as_ref()
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

    /// Returns the records.
    #[must_use]
    pub fn records(&self) -> &R {
        &self.records
    }

    /// Checks a commit and applies it. Returns its position.
    ///
    /// # Errors
    /// The first rule that it breaks; the state is as before. A failure of the records, after which the
    /// state is of no use any more.
    pub fn apply_commit(&mut self, bytes: &[u8]) -> Result<u64, R::Error> {
        let commit = Commit::decode(bytes).map_err(Refusal::from)?;
        self.check_head(&commit)?;
        let mut statements = Vec::with_capacity(commit.statements.len());
        for bytes in &commit.statements {
            let statement = Statement::decode(bytes).map_err(Refusal::from)?;
            statements.push((statement, hash(bytes)));
        }
        let changes = Draft::new(self, &commit).check(&statements)?;
        let position = self.tree.size();
        self.take(changes, &commit, &statements)?;
        let device = commit.header.device;
        if let Some(mut known) = self.records.device(device)? {
            known.own = commit.header.own;
            known.min_seen = position + 1;
            self.records.set_device(device, &known)?;
        }
        self.push(&commit.leaf().encode(), true)?;
        Ok(position)
    }

    /// Checks a server entry and applies it. Returns its position.
    ///
    /// # Errors
    /// Fails like [`SpaceState::apply_commit`].
    pub fn apply_entry(&mut self, bytes: &[u8]) -> Result<u64, R::Error> {
        let entry = ServerEntry::decode(bytes).map_err(Refusal::from)?;
        if self.genesis.is_none() {
            return Err(Refusal::Genesis.into());
        }
        let node = self.records.node(entry.node)?;
        if node.is_purged {
            return Err(Refusal::Purged.into());
        }
        let on = node.signed.as_ref();
        if entry.prev != on.map_or([0; 16], |(_, hash)| short_form(hash)) {
            return Err(Refusal::Prev.into());
        }
        if on.is_some_and(|(s, _)| s.file.is_none() != entry.is_folder) {
            return Err(Refusal::Kind.into());
        }
        let (position, element) = (self.tree.size(), ElementName::node(entry.node));
        if let Some((_, old)) = &node.entry {
            self.digest.remove(&element.id, Element::Server, old);
        }
        let item = Item {
            position,
            part: 0,
            element,
            hash: hash(bytes),
            body: bytes,
        };
        if entry.op != EntryOp::Purge || on.is_some() {
            self.digest.add(&element.id, Element::Server, &item.hash);
        }
        self.records.put_entry(&item, &entry)?;
        self.push(&entry_leaf(bytes), false)?;
        Ok(position)
    }

    /// Checks what a commit says about the log that it continues.
    fn check_head(&self, commit: &Commit) -> Result<(), R::Error> {
        let header = &commit.header;
        if header.history != self.history {
            return Err(Refusal::History.into());
        }
        if header.seen > self.tree.size() {
            return Err(Refusal::Seen.into());
        }
        match self.records.root_at(header.seen)? {
            Some(root) if root == header.root => Ok(()),
            Some(_) => Err(Refusal::Root.into()),
            None => Err(Refusal::RootUnknown.into()),
        }
    }

    fn push(&mut self, bytes: &[u8], is_commit: bool) -> Result<(), R::Error> {
        let position = self.tree.size();
        let mut subtrees = Vec::new();
        let mut note = |level, place, hash| subtrees.push((level, place, hash));
        self.tree.append(hash_leaf(bytes), &mut note);
        self.records.push_leaf(&Leaf {
            position,
            is_commit,
            bytes,
            subtrees,
            root: self.tree.root(),
        })?;
        let size = self.tree.size();
        if size.is_multiple_of(CHECKPOINT_STEP) {
            let mark = Mark {
                digest: self.digest.hash(),
                epoch: self.epoch,
            };
            self.records.set_mark(size, mark)?;
        }
        Ok(())
    }

    fn prev_of(&self, chain: &ElementName) -> Result<[u8; 16], R::Error> {
        let newest = self.records.chain(chain)?;
        Ok(newest.map_or([0; 16], |hash| short_form(&hash)))
    }
}

#[cfg(test)]
mod tests;
