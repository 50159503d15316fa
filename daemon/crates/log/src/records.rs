//! The boundary to the parts of a space's state that grow with its nodes and its log: [`Records`]. A reader
//! keeps them in memory, the server in its database: neither the rules nor [`crate::SpaceState`] know which.

mod memory;

pub use memory::InMemory;

use crate::element::ElementName;
use crate::entry::ServerEntry;
use crate::rules::Refusal;
use crate::statement::{NodeStatement, Statement};
use cairn_model::{AccountId, NodeId};

/// A node: its newest statement, which a device signed, and the server's entry on top of that, each with its hash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeRecord {
    pub signed: Option<(NodeStatement, [u8; 32])>,
    pub entry: Option<(ServerEntry, [u8; 32])>,
    /// Deleted for good; its id is never used again.
    pub is_purged: bool,
}

/// A device that is or was in a device list of the space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownDevice {
    pub account: AccountId,
    pub key: [u8; 32],
    pub is_listed: bool,
    /// The highest number that it has signed.
    pub own: u64,
    /// The least size that its next commit has to have seen.
    pub min_seen: u64,
}

/// The state at a size that a checkpoint can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// BLAKE3 of the state digest.
    pub digest: [u8; 32],
    pub epoch: u64,
}

/// A statement or entry to be recorded.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// The position of its commit, or its own.
    pub position: u64,
    /// The place among the statements of a commit; 0 for an entry.
    pub part: u32,
    /// The item's node or chain.
    pub element: ElementName,
    pub hash: [u8; 32],
    pub body: &'a [u8],
}

/// A leaf of the tree, with the complete subtrees that it ends.
#[derive(Clone, Debug)]
pub struct Leaf<'a> {
    pub position: u64,
    pub is_commit: bool,
    /// The leaf's bytes: header, signature and root over the statements, or the hash of an entry.
    pub bytes: &'a [u8],
    /// Level (0: the leaf itself), place on the level, and hash.
    pub subtrees: Vec<(u8, u64, [u8; 32])>,
    /// The root of the tree with this leaf.
    pub root: [u8; 32],
}

/// The records of one space.
///
/// Each commit and entry is checked before the first write, so a refusal changes nothing. A write that fails leaves
/// a part of them behind: an implementation outside memory wraps each commit in a transaction.
pub trait Records {
    /// A refusal, or the failure of what keeps the records.
    type Error: From<Refusal>;

    /// Returns a node; of one that was never there, nothing is set.
    ///
    /// # Errors
    /// Records that can't be read; so for all readers.
    fn node(&self, node: NodeId) -> Result<NodeRecord, Self::Error>;

    /// Returns the hash of a chain's newest statement.
    ///
    /// # Errors
    /// Fails like [`Records::node`].
    fn chain(&self, chain: &ElementName) -> Result<Option<[u8; 32]>, Self::Error>;

    /// Returns the node that has this place by its newest statement, outside the trash of an open space.
    ///
    /// # Errors
    /// Fails like [`Records::node`].
    fn place(&self, parent: Option<NodeId>, name: &[u8]) -> Result<Option<NodeId>, Self::Error>;

    /// Returns a device by its number.
    ///
    /// # Errors
    /// Fails like [`Records::node`].
    fn device(&self, number: u32) -> Result<Option<KnownDevice>, Self::Error>;

    /// Returns the root at a size, if it is known.
    ///
    /// # Errors
    /// Fails like [`Records::node`].
    fn root_at(&self, size: u64) -> Result<Option<[u8; 32]>, Self::Error>;

    /// Returns what was noted at a size.
    ///
    /// # Errors
    /// Fails like [`Records::node`].
    fn mark(&self, size: u64) -> Result<Option<Mark>, Self::Error>;

    /// Records a statement: the newest of its node or chain. It ends the entry on its node; a purge ends the node.
    ///
    /// # Errors
    /// Records that can't be written; so for all writers.
    fn put_statement(&mut self, item: &Item<'_>, statement: &Statement) -> Result<(), Self::Error>;

    /// Records an entry in place of the one before. A purge of a node without a statement ends the node.
    ///
    /// # Errors
    /// Fails like [`Records::put_statement`].
    fn put_entry(&mut self, item: &Item<'_>, entry: &ServerEntry) -> Result<(), Self::Error>;

    /// Gives a place (parent and name) that a statement has signed to a node, or frees it.
    ///
    /// # Errors
    /// Fails like [`Records::put_statement`].
    fn set_place(
        &mut self,
        parent: Option<NodeId>,
        name: &[u8],
        node: Option<NodeId>,
    ) -> Result<(), Self::Error>;

    /// Writes a device.
    ///
    /// # Errors
    /// Fails like [`Records::put_statement`].
    fn set_device(&mut self, number: u32, device: &KnownDevice) -> Result<(), Self::Error>;

    /// Takes all devices of an account off the lists.
    ///
    /// # Errors
    /// Fails like [`Records::put_statement`].
    fn unlist_devices(&mut self, account: AccountId) -> Result<(), Self::Error>;

    /// Appends a leaf.
    ///
    /// # Errors
    /// Fails like [`Records::put_statement`].
    fn push_leaf(&mut self, leaf: &Leaf<'_>) -> Result<(), Self::Error>;

    /// Notes the state at a size.
    ///
    /// # Errors
    /// Fails like [`Records::put_statement`].
    fn set_mark(&mut self, size: u64, mark: Mark) -> Result<(), Self::Error>;
}
