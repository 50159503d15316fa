//! Names of encrypted things: what the log, which has no keys, can say about them.

use cairn_model::NodeId;
use std::fmt;

/// The id of an object: 32 bytes that nobody without the node's key can compute.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub [u8; 32]);

/// Names a node's key without containing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeKeyRef {
    pub node: NodeId,
    pub epoch: u64,
}

/// The most bytes of an object: the largest chunk with its padding, a list of chunks, or the boxes of an epoch. It
/// is small enough to be held in memory.
pub const MAX_OBJECT: usize = 5 << 20;

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectId({self})")
    }
}
