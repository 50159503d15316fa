//! The manifest: the record of one revision of a file, with what its bytes are checked against, and the object that
//! leads to them.

use crate::{ChunkId, ContentHash, DeviceId, NodeId, RevisionId, SpaceId};
use serde::{Deserialize, Serialize};

/// The object that a revision's bytes begin with: its only chunk, or the list of its chunks. The key
/// that it is sealed with follows from the node and the epoch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct ContentObject {
    pub id: ChunkId,
    /// The node whose key it is sealed with: the file's own, or that of the original of a copy.
    pub node: NodeId,
    pub epoch: u64,
    /// The object lists chunks, and isn't one.
    pub is_list: bool,
}

/// The facts that a reader checks one revision against, and the object that its bytes begin with.
///
/// It exists in clear only on clients; on the wire it is sealed under the space's meta key.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the format; the newest is [`Manifest::FORMAT`].
    pub format: u32,
    pub space: SpaceId,
    pub node: NodeId,
    pub revision: RevisionId,
    /// The revision that this one was made from; `None` for a node's first.
    pub base: Option<RevisionId>,
    /// 1 for a node's first revision, then the base's number + 1.
    pub number: u64,
    /// Length of the plaintext in bytes.
    pub size: u64,
    /// Modification time in milliseconds since 1970-01-01 UTC.
    pub modified_ms: i64,
    /// The owner-executable bit.
    pub executable: bool,
    /// The object that the revision's bytes begin with.
    pub content: ContentObject,
    /// The hash of the whole plaintext.
    pub hash: ContentHash,
    /// The device that wrote the revision.
    pub author: DeviceId,
}

impl Manifest {
    /// The format that this build writes.
    pub const FORMAT: u32 = 2;
}
