//! Signing keys of devices, identities and invitation tokens, all Ed25519.

use crate::error::CryptoError;
use crate::identity::SigningPair;
use crate::random::Random;
use cairn_log::{Commit, CommitHeader, DeviceList, IdentityChange, Roster};
use cairn_model::{AccountId, SpaceId};
use zeroize::Zeroizing;

/// A device's key. It is made on the device, never leaves it, and signs its commits.
#[derive(Clone, Debug)]
pub struct DeviceKey(pub(crate) SigningPair);

/// An account's identity: signs device lists and rosters. Only a command that asked for the passphrase
/// has it.
#[derive(Clone, Debug)]
pub struct IdentityKey(pub(crate) SigningPair);

macro_rules! signing_key {
    ($name:ident) => {
        impl $name {
            /// Draws a new key.
            #[must_use]
            pub fn generate(rng: &mut dyn Random) -> Self {
                Self(SigningPair::generate(rng))
            }

            /// Reads a key from its seed of 32 bytes.
            ///
            /// # Errors
            /// [`CryptoError::NotAuthentic`] for another length.
            pub fn from_seed(seed: &[u8]) -> std::result::Result<Self, CryptoError> {
                SigningPair::from_seed(seed).map(Self)
            }

            /// The seed, 32 bytes, for the keyring.
            #[must_use]
            pub fn to_seed(&self) -> Zeroizing<[u8; 32]> {
                self.0.to_seed()
            }

            /// The public key, 32 bytes.
            #[must_use]
            pub fn public(&self) -> [u8; 32] {
                self.0.public()
            }
        }
    };
}

signing_key!(DeviceKey);
signing_key!(IdentityKey);

impl IdentityKey {
    /// Signs the account's device list.
    pub fn sign_devices(&self, account: AccountId, list: &mut DeviceList) {
        list.signature = self.0.sign(&list.to_sign(account));
    }

    /// Signs a roster that adds somebody or gives a higher role, on behalf of `account`.
    pub fn sign_roster(
        &self,
        account: AccountId,
        space: SpaceId,
        prev: &[u8; 16],
        roster: &mut Roster,
    ) {
        let signature = self.0.sign(&roster.to_sign(space, prev));
        roster.signed = Some((account, signature));
    }

    /// Signs a claim of this identity, or an objection of it.
    pub fn sign_change(&self, account: AccountId, change: &mut IdentityChange) {
        change.signature = self.0.sign(&change.to_sign(account));
    }
}

/// Signs statements with the device's key; the header's count is set.
///
/// # Errors
/// [`CryptoError::InvalidInput`] for a commit that no reader takes: too long, or empty.
pub fn sign_commit(
    space: SpaceId,
    header: CommitHeader,
    statements: Vec<Vec<u8>>,
    key: &DeviceKey,
) -> std::result::Result<Commit, CryptoError> {
    let mut commit = Commit::unsigned(header, statements)?;
    commit.signature = key.0.sign(&commit.to_sign(space));
    Ok(commit)
}
