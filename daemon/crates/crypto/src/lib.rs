//! Keys and encryption: everything between a passphrase and the bytes that the server may see.
//! `docs/design/crypto.md` describes the formats.
//!
//! Words: to *seal* is to encrypt and authenticate, to *open* is to check and decrypt. A *space* is the files of
//! one account, or of one team, under one key; an *epoch* counts the keys of a space: a new one begins when a
//! member leaves. A *grant* is a space's key, sealed to one member of the team.
//!
//! Bytes in, bytes out. This crate does no IO, reads no clock and knows no wire format; randomness
//! comes in through [`Random`]. Everything that it opens may have been made by a hostile server.

mod account;
mod aead;
mod bundle;
mod checkpoint;
mod derive;
mod error;
pub mod format2;
mod grant;
mod hash;
mod identity;
mod kdf;
mod link;
mod manifest;
mod new_keys;
mod node_seal;
mod pad;
pub mod passphrase;
mod public;
mod random;
mod recovery;
mod ring;
mod rotation;
mod sealed_name;
mod secret;
mod space;
mod space_wrap;
mod trust;

pub use account::{
    AccountKeys, change_passphrase, create_account, unlock, unlock_with_account_key,
};
pub use bundle::{KdfFields, KeyBundle, Replacement, WrappedSpaceKey};
pub use checkpoint::Checkpoint;
pub use derive::{
    AuthValue, DEFAULT_ITERATIONS, KdfParams, MAX_ITERATIONS, MIN_ITERATIONS, PBKDF2, RootKeys,
    derive_root,
};
pub use error::{Class, CryptoError};
pub use format2::account::RootCost;
pub use format2::{MAX_CHUNK, MIN_CHUNK, NodeKey};
pub use grant::{GrantContext, grant_signer, make_grant, open_grant};
pub use hash::{ContentHasher, content_hash};
pub use identity::{RsaPair, SigningPair};
pub use kdf::ARGON2ID;
pub use link::{LinkSecret, OwnedLink, PasswordCheck};
pub use manifest::{manifest_hash, open_manifest, seal_manifest};
pub use node_seal::{NodeFacts, NodeSeal, SealInfo};
pub use public::PublicKeys;
pub use random::{Random, SystemRandom};
pub use recovery::{RecoveryKey, make_recovery_key, unlock_with_recovery};
pub use ring::KeyRing;
pub use rotation::{Rotation, rotate};
pub use secret::AccountKey;
pub use space::SpaceKeys;
pub use trust::TrustKey;
