//! Seals of keys and other small secrets: salt 32, then AES-256-GCM under a key derived with that salt,
//! with a nonce of zeros. The purpose and the ids that the client asked for are associated data.

use crate::aead;
use crate::error::{CryptoError, Result};
use crate::random::{self, Random};
use crate::secret::Key;
use cairn_log::AssociatedData;
use cairn_model::{AccountId, NodeId, SpaceId};
use uuid::Uuid;
use zeroize::Zeroizing;

pub(crate) const SALT: usize = 32;
/// The number of bytes that a seal is longer than its plaintext.
pub(crate) const OVERHEAD: usize = SALT + aead::TAG;

/// A use of a sealing key, with the ids that were asked for. No two purposes share a derived key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The account key, under the key from the passphrase.
    Account(AccountId),
    /// The account key, under the recovery key.
    Recovery(AccountId),
    /// The seed of the identity, under the account key.
    Identity(AccountId),
    /// The private sharing keys, under the account key.
    Sharing(AccountId),
    /// All secrets of the personal space, under the account key.
    PersonalRing(AccountId),
    /// The secrets of earlier epochs, under the secret of this one.
    Ring { space: SpaceId, epoch: u64 },
    /// The personal space's next secrets for one device, under the device's box key.
    DeviceBox {
        space: SpaceId,
        epoch: u64,
        number: u32,
    },
    /// A space secret for one member, under the key that both halves of a grant agree on.
    Grant {
        space: SpaceId,
        epoch: u64,
        account: AccountId,
    },
    /// The listing behind a share link, under the link key.
    Listing {
        share: Uuid,
        node: NodeId,
        number: u64,
    },
}

impl Purpose {
    fn label(self) -> &'static str {
        match self {
            Self::Account(_) => "cairn/2/account",
            Self::Recovery(_) => "cairn/2/recovery",
            Self::Identity(_) => "cairn/2/identity",
            Self::Sharing(_) => "cairn/2/sharing",
            Self::PersonalRing(_) | Self::Ring { .. } => "cairn/2/ring",
            Self::DeviceBox { .. } => "cairn/2/device-box",
            Self::Grant { .. } => "cairn/2/grant",
            Self::Listing { .. } => "cairn/2/listing",
        }
    }

    fn associated_data(self) -> AssociatedData {
        let start = AssociatedData::new(self.label());
        match self {
            Self::Account(account)
            | Self::Recovery(account)
            | Self::Identity(account)
            | Self::Sharing(account)
            | Self::PersonalRing(account) => start.id(&account),
            Self::Ring { space, epoch } => start.id(&space).number(epoch),
            Self::DeviceBox {
                space,
                epoch,
                number,
            } => start.id(&space).number(epoch).number(u64::from(number)),
            Self::Grant {
                space,
                epoch,
                account,
            } => start.id(&space).number(epoch).id(&account),
            Self::Listing {
                share,
                node,
                number,
            } => start.bytes(share.as_bytes()).id(&node).number(number),
        }
    }

    fn key(self, key: &Key, salt: &[u8; SALT]) -> Key {
        key.derive(&AssociatedData::new(self.label()).bytes(salt))
    }
}

/// Seals `plain` under a key of 32 bytes for one purpose.
///
/// # Errors
/// [`CryptoError::NotAuthentic`] for a key of zeros.
pub fn seal_secret(
    key: &[u8; 32],
    purpose: Purpose,
    plain: &[u8],
    rng: &mut dyn Random,
) -> std::result::Result<Vec<u8>, CryptoError> {
    Ok(seal(&Key::from_bytes(key)?, purpose, plain, rng))
}

/// Opens what [`seal_secret`] made with the same key and purpose.
///
/// # Errors
/// [`CryptoError::NotAuthentic`] for any other key, purpose or seal.
pub fn open_secret(
    key: &[u8; 32],
    purpose: Purpose,
    sealed: &[u8],
) -> std::result::Result<Zeroizing<Vec<u8>>, CryptoError> {
    open(&Key::from_bytes(key)?, purpose, sealed)
}

pub(crate) fn seal(key: &Key, purpose: Purpose, plain: &[u8], rng: &mut dyn Random) -> Vec<u8> {
    let salt: [u8; SALT] = random::array(rng);
    let mut out = Vec::with_capacity(plain.len() + OVERHEAD);
    out.extend_from_slice(&salt);
    out.extend_from_slice(plain);
    let associated = purpose.associated_data();
    let key = purpose.key(key, &salt);
    let tag = aead::encrypt(&key, &[0; 12], associated.as_bytes(), &mut out[SALT..]);
    out.extend_from_slice(&tag);
    out
}

pub(crate) fn open(key: &Key, purpose: Purpose, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    let (salt, rest) = sealed
        .split_first_chunk::<SALT>()
        .ok_or(CryptoError::NotAuthentic)?;
    let (cipher, tag) = rest
        .split_last_chunk::<{ aead::TAG }>()
        .ok_or(CryptoError::NotAuthentic)?;
    let mut plain = Zeroizing::new(cipher.to_vec());
    let associated = purpose.associated_data();
    let key = purpose.key(key, salt);
    aead::decrypt(&key, &[0; 12], associated.as_bytes(), &mut plain, tag)?;
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SystemRandom;

    const KEY: [u8; 32] = [5; 32];

    fn purposes() -> Vec<Purpose> {
        let account = |n| AccountId::from_random_bytes([n; 16]);
        let space = |n| SpaceId::from_random_bytes([n; 16]);
        let mut all = Vec::new();
        for n in [1, 2] {
            all.extend([
                Purpose::Account(account(n)),
                Purpose::Recovery(account(n)),
                Purpose::Identity(account(n)),
                Purpose::Sharing(account(n)),
                Purpose::PersonalRing(account(n)),
            ]);
            for epoch in [1, 2] {
                let space = space(n);
                all.push(Purpose::Ring { space, epoch });
                for m in [1, 2] {
                    let (number, account) = (u32::from(m), account(m));
                    all.push(Purpose::DeviceBox {
                        space,
                        epoch,
                        number,
                    });
                    all.push(Purpose::Grant {
                        space,
                        epoch,
                        account,
                    });
                }
            }
            for number in [1, 2] {
                let share = Uuid::from_bytes([n; 16]);
                let node = NodeId::from_random_bytes([n; 16]);
                all.push(Purpose::Listing {
                    share,
                    node,
                    number,
                });
            }
        }
        all
    }

    #[test]
    fn a_seal_opens_for_its_purpose_and_ids_only() {
        for (i, &made) in purposes().iter().enumerate() {
            let sealed = seal_secret(&KEY, made, b"secret", &mut SystemRandom).unwrap();
            assert_eq!(sealed.len(), b"secret".len() + OVERHEAD);
            for (j, &asked) in purposes().iter().enumerate() {
                let opened = open_secret(&KEY, asked, &sealed);
                assert_eq!(opened.is_ok(), i == j, "{made:?} as {asked:?}");
            }
        }
    }

    #[test]
    fn each_bit_and_each_length_counts() {
        let purpose = purposes()[0];
        let sealed = seal_secret(&KEY, purpose, b"s", &mut SystemRandom).unwrap();
        for at in 0..sealed.len() {
            let mut bad = sealed.clone();
            bad[at] ^= 1;
            assert!(open_secret(&KEY, purpose, &bad).is_err(), "byte {at}");
            assert!(open_secret(&KEY, purpose, &sealed[..at]).is_err());
        }
        assert!(open_secret(&KEY, purpose, &[&sealed[..], &[0]].concat()).is_err());
        assert!(open_secret(&[6; 32], purpose, &sealed).is_err());
    }
}
