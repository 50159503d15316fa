//! Format 2: signed history, derived keys, provable chunks. `docs/design/format-2.md` explains it.
//!
//! Nothing in the product uses it yet. Bytes in, bytes out, as in the rest of this crate; everything
//! that is decoded here may have been made by a hostile server.

pub mod account;
mod attributes;
mod bytes;
mod chunker;
mod compress;
mod device_key;
mod keys;
pub mod log;
mod manifest;
mod node_box;
mod object;
mod parts;
pub mod rule;
mod seal;

pub use attributes::{Attributes, MAX_ATTRIBUTES};
pub use chunker::Chunker;
pub use compress::Compression;
pub use device_key::{DeviceKey, IdentityKey, device_number};
pub use keys::{NodeKey, NodeKeyRef, SpaceKeys, SpaceSecret};
pub use manifest::{ChunkRow, Manifest, PartRow, ROWS_PER_PART, TopManifest};
pub use node_box::{BoxShape, NodeBox, PrivateFacts};
pub use object::{ObjectId, ObjectKind, SealedObject};
pub use parts::{PlannedManifest, join_parts, plan_manifest};
pub use seal::{Purpose, open_secret, seal_secret};
