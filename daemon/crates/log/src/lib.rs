//! The log of a space (the files of one account or team): an append-only Merkle tree of what was changed in it,
//! and the rules by which both the server and every reader refuse a change. `docs/design/format-2.md` describes
//! it.
//!
//! Leaves are *commits*, which a device signs, and *server entries*, changes that were made without keys. A
//! commit has *statements*: about a node (file or folder), or *control statements* about members, devices and
//! keys. An *epoch* is one generation of the space's key. A *box* is a secret that only one recipient, or only
//! key holders, can open. *Vouched for* is what the newest statement of a device says; *unvouched*, what only
//! the server says.
//!
//! No secret is needed here, and none can be named: signatures are checked with public keys, boxes and
//! objects stay bytes. Everything that is decoded may have been made by a hostile server or member.

mod acceptance;
mod associated_data;
mod boxes;
pub mod bytes;
mod commit;
mod control;
mod digest;
mod element;
mod entry;
mod error;
mod exchange;
mod frame;
mod ids;
mod records;
pub mod rule;
mod rules;
mod signature;
mod state;
mod statement;
mod tree;

#[cfg(test)]
mod test_key;

pub use acceptance::{Acceptance, AcceptanceSignatures};
pub use associated_data::AssociatedData;
pub use boxes::{Boxes, SealedBox};
pub use commit::{Commit, CommitHeader, CommitLeaf, MAX_COMMIT, MAX_STATEMENTS};
pub use control::{
    Chain, Checkpoint, Control, ControlBody, Device, DeviceList, Epoch, Genesis, IdentityChange,
    Invitation, Joined, KEM_PUBLIC, LinkNotice, Member, RSA_MODULUS, Rejoin, Role, Roster,
};
pub use digest::StateDigest;
pub use element::ElementName;
pub use entry::{EntryOp, ServerEntry, Source};
pub use error::LogError;
pub use exchange::{CommitRequest, CommitResponse, ManifestObjects, Proof};
pub use frame::{Frame, LogPage, SnapshotItem, SnapshotPage, decode_snapshot, encode_snapshot};
pub use ids::{MAX_OBJECT, NodeKeyRef, ObjectId};
pub use records::{InMemory, Item, KnownDevice, Leaf, Mark, NodeRecord, Records};
pub use rules::{Refusal, Severity};
pub use signature::{device_number, verify};
pub use state::{MAX_DEPTH, SpaceState};
pub use statement::{
    AttributesRef, FileFacts, FilePart, Flags, MAX_ATTRIBUTES, MAX_BOX, NodeOp, NodeStatement,
    Statement, is_usable_name, revision_id,
};
pub use tree::{
    EMPTY_ROOT, Tree, hash_leaf, prove_consistency, prove_inclusion, root_at, root_of,
    verify_consistency, verify_inclusion,
};

use sha2::{Digest as _, Sha256};

/// Returns SHA-256 of a zero byte and the bytes: the hash of a statement, an entry or a leaf.
#[must_use]
pub fn hash(bytes: &[u8]) -> [u8; 32] {
    hash_leaf(bytes)
}

/// Returns the first 16 bytes of [`hash`]: what `prev` names a statement by.
#[must_use]
pub fn short_hash(bytes: &[u8]) -> [u8; 16] {
    short_form(&hash(bytes))
}

fn short_form(hash: &[u8; 32]) -> [u8; 16] {
    *hash.first_chunk().expect("a hash has 32 bytes")
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}
