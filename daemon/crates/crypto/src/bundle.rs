//! The key bundle of one account: its private keys and the keys of its spaces (a space: the files of one account,
//! or of one team, under one key), each encrypted, as the server stores them. Plain bytes: callers translate to and
//! from the wire.

use crate::derive::RootKeys;
use crate::error::{CryptoError, Result};
use crate::kdf::Kdf;
use cairn_model::{AccountId, SpaceId};

/// The bundle format that this build reads and writes.
pub(crate) const BUNDLE_FORMAT: u32 = 1;
/// More spaces than anybody is in; limits the work that a hostile bundle can cause.
const MAX_SPACES: usize = 10_000;

/// The account's key bundle. The server stores it and can't open it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyBundle {
    pub format: u32,
    /// Grows by one with every change; authenticated, so that a server can't make an old bundle look new.
    pub version: u64,
    /// The derivation from the passphrase, unchecked.
    pub kdf: KdfFields,
    /// The account key, wrapped under a key that is derived from the passphrase.
    pub account_key: Vec<u8>,
    /// PKCS#1 DER.
    pub rsa_public: Vec<u8>,
    pub rsa_private: Vec<u8>,
    /// 32 bytes of Ed25519.
    pub signing_public: Vec<u8>,
    /// The digest of the whole bundle is in its associated data: nothing can be exchanged alone.
    pub signing_private: Vec<u8>,
    pub spaces: Vec<WrappedSpaceKey>,
    /// The account key wrapped under the recovery key (kept by a person, for when the passphrase is forgotten), if
    /// one was set up.
    pub recovery: Option<Vec<u8>>,
    /// The replacement of all keys that made this bundle; `None` for an account's first keys.
    pub replaced: Option<Replacement>,
}

/// The derivation of the key from the passphrase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KdfFields {
    /// [`crate::ARGON2ID`], or [`crate::PBKDF2`] in a bundle from before.
    pub algorithm: String,
    /// The rounds of PBKDF2, or the passes of Argon2id over its memory.
    pub iterations: u32,
    /// KiB; only of Argon2id, like `lanes`.
    pub memory: Option<u32>,
    pub lanes: Option<u32>,
    pub salt: Vec<u8>,
}

/// The time and device of a replacement of all keys of an account, for people to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// Milliseconds since 1970.
    pub at_ms: i64,
    pub device: String,
}

/// A space key, wrapped under the account key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrappedSpaceKey {
    pub space_id: SpaceId,
    /// Counts the keys of the space, from 1 on.
    pub epoch: u32,
    pub key: Vec<u8>,
}

impl KdfFields {
    /// Derives the keys of a passphrase.
    ///
    /// # Errors
    /// [`CryptoError`] of the class [`crate::Class::WeakKdf`] for parameters that aren't accepted, and
    /// [`CryptoError::InvalidInput`] for an empty passphrase; all before anything is derived.
    pub fn derive(&self, passphrase: &str) -> std::result::Result<RootKeys, CryptoError> {
        Kdf::parse(self)?.derive(passphrase)
    }

    /// Refuses fields that don't belong to the algorithm: the digest has those that are there, one after the other.
    fn check_shape(&self) -> Result<()> {
        let is_argon2id = self.algorithm == crate::ARGON2ID;
        if self.memory.is_some() == is_argon2id && self.lanes.is_some() == is_argon2id {
            Ok(())
        } else {
            Err(CryptoError::BadKdf(
                "its parameters are those of another algorithm",
            ))
        }
    }
}

impl KeyBundle {
    /// Refuses a bundle older than one that was seen before.
    ///
    /// # Errors
    /// [`CryptoError::Rollback`] if the bundle's version is below `seen`.
    pub fn check_not_older(&self, seen: u64) -> std::result::Result<(), CryptoError> {
        if self.version < seen {
            return Err(CryptoError::Rollback {
                seen,
                served: self.version,
            });
        }
        Ok(())
    }

    /// Refuses another format, and more spaces than anybody is in.
    pub(crate) fn check_shape(&self) -> Result<()> {
        if self.format != BUNDLE_FORMAT {
            return Err(CryptoError::UnsupportedFormat(self.format));
        }
        if self.spaces.len() > MAX_SPACES {
            return Err(CryptoError::InvalidInput(
                "the key bundle names too many spaces",
            ));
        }
        self.kdf.check_shape()
    }

    /// Returns the newest epoch of a space that the bundle names. It isn't verified before the bundle is opened.
    #[must_use]
    pub fn named_epoch(&self, space: SpaceId) -> u32 {
        self.newest_key(space).map_or(0, |wrapped| wrapped.epoch)
    }

    /// Refuses a bundle whose epoch of a space is before one that was seen.
    ///
    /// # Errors
    /// [`CryptoError::Rollback`].
    pub fn check_epoch(&self, space: SpaceId, seen: u32) -> std::result::Result<(), CryptoError> {
        let served = self.named_epoch(space);
        if served < seen {
            return Err(CryptoError::Rollback {
                seen: seen.into(),
                served: served.into(),
            });
        }
        Ok(())
    }

    /// Returns the wrapped key of a space in its newest epoch.
    pub(crate) fn newest_key(&self, space: SpaceId) -> Result<&WrappedSpaceKey> {
        self.spaces
            .iter()
            .filter(|wrapped| wrapped.space_id == space)
            .max_by_key(|wrapped| wrapped.epoch)
            .ok_or(CryptoError::KeyMissing { space, epoch: 1 })
    }

    /// Returns BLAKE3 over everything but the signing key, whose wrap has this digest in its associated
    /// data, and the public keys, which are recomputed from the private ones.
    pub(crate) fn digest(&self, account: AccountId) -> [u8; 32] {
        let mut hash = blake3::Hasher::new_derive_key("cairn/bundle-digest/1");
        let mut part = |bytes: &[u8]| {
            hash.update(&(bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        };
        part(account.as_bytes());
        part(&self.format.to_be_bytes());
        part(&self.version.to_be_bytes());
        part(self.kdf.algorithm.as_bytes());
        part(&self.kdf.iterations.to_be_bytes());
        for cost in [self.kdf.memory, self.kdf.lanes].into_iter().flatten() {
            part(&cost.to_be_bytes());
        }
        part(&self.kdf.salt);
        part(&self.account_key);
        part(&self.rsa_private);
        part(&(self.spaces.len() as u64).to_be_bytes());
        for space in &self.spaces {
            part(space.space_id.as_bytes());
            part(&space.epoch.to_be_bytes());
            part(&space.key);
        }
        part(&[u8::from(self.recovery.is_some())]);
        part(self.recovery.as_deref().unwrap_or_default());
        if let Some(replaced) = &self.replaced {
            part(&replaced.at_ms.to_be_bytes());
            part(replaced.device.as_bytes());
        }
        *hash.finalize().as_bytes()
    }
}
