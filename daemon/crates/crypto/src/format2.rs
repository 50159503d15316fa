//! Format 2: signed history, derived keys, provable chunks. `docs/design/format-2.md` explains it.
//!
//! The log of signed statements (each one a change of a file, or of a space's members and keys) is the crate
//! `cairn-log`, which needs no key. Everything that needs a key is here. A space is the files of one account or
//! of one team; an epoch counts its keys, which change when a member or device is removed.
//!
//! In use are the contents of files and share links. Not used until clients write the log: accounts, device
//! boxes (new keys, sealed to one device) and grants (a team's key, sealed to one member).
//!
//! As in the rest of this crate, bytes go in and bytes come out. Everything that is decoded here may have
//! been made by a hostile server.

pub mod account;
mod attributes;
mod chunker;
mod compress;
mod device_key;
mod epoch;
mod grant;
mod keys;
mod listing;
mod manifest;
mod node_box;
mod object;
mod parts;
mod ring;
mod seal;
mod sharing;

pub use attributes::Attributes;
pub use cairn_log::{NodeKeyRef, ObjectId};
pub use chunker::{Chunker, MAX_CHUNK, MIN_CHUNK};
pub use compress::Compression;
pub use device_key::{DeviceKey, IdentityKey, sign_commit};
pub use epoch::{NewEpoch, open_team_epoch, raise_team_epoch};
pub use grant::{make_grant, open_grant};
pub use keys::{NodeKey, SpaceKeys, SpaceSecret};
pub use listing::{LinkKey, ListedChunk, Listing, ListingPlace};
pub use manifest::{ChunkRow, Manifest, PartRow, ROWS_PER_PART, TopManifest};
pub use node_box::{BoxShape, NodeBox, PrivateFacts};
pub use object::{ObjectKind, SealedObject, raw_len};
pub use parts::{OpenedManifest, PlannedManifest, join_parts, open_manifest, plan_manifest};
pub use ring::KeyRing;
pub use seal::{Purpose, open_secret, seal_secret};
pub use sharing::{SharingKeys, SharingPublic};
