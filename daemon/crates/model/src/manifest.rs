//! A manifest: everything needed to rebuild and check one revision of a file.

use crate::{ChunkRef, ContentHash, DeviceId, NodeId, RevisionId, SpaceId};
use serde::{Deserialize, Serialize};

/// The ordered chunk list of one revision, with the facts that a reader checks it against.
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
    /// The chunks in file order; the sum of their lengths is `size`.
    pub chunks: Vec<ChunkRef>,
    /// The hash of the whole plaintext.
    pub hash: ContentHash,
    /// The device that wrote the revision.
    pub author: DeviceId,
}

impl Manifest {
    /// The format that this build writes.
    pub const FORMAT: u32 = 1;

    /// Returns whether the chunk lengths add up to the size.
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        self.chunks
            .iter()
            .try_fold(0_u64, |sum, c| sum.checked_add(u64::from(c.len)))
            == Some(self.size)
    }
}
