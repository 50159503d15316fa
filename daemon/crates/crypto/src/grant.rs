//! Grants: the keys of a team's space, sealed to one member and signed by who granted them.
//!
//! The record: format u8 · the granter's signing key 32 · RSA block 384 · keys of earlier epochs,
//! sealed · signature 64 over all that and over space, epoch, member, the member's RSA key and granter.
//! In the block stands the space key of the epoch, under a label of the same ids. Under that key lie
//! the older ones, epoch u32 · key 32 each: one grant opens everything, and only somebody who held
//! the key before can have made it.

use crate::account::Unlocked;
use crate::aead::{self, OVERHEAD};
use crate::bound::Bound;
use crate::error::{CryptoError, Result};
use crate::identity::{RSA_BITS, verify};
use crate::public::PublicKeys;
use crate::random::Random;
use crate::ring::KeyRing;
use crate::secret::Key;
use cairn_model::{AccountId, SpaceId};
use std::collections::BTreeMap;
use zeroize::Zeroizing;

const FORMAT: u8 = 1;
const SIGNER: usize = 32;
const BLOCK: usize = RSA_BITS / 8;
const SIGNATURE: usize = 64;
const PER_KEY: usize = 4 + 32;
/// Earlier epochs in one grant: a record stays below the 16 KiB that a server takes.
const MAX_OLDER: usize = 400;

/// Which grant was asked for: nothing of it is taken from an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskedGrant {
    pub space: SpaceId,
    pub epoch: u32,
    /// Who is said to have granted it.
    pub granter: AccountId,
    /// The key that the granter's signatures are known by.
    pub signing: [u8; 32],
}

/// Seals a ring to a member and signs that.
///
/// # Errors
/// [`CryptoError::InvalidInput`] for a ring of more epochs than a grant holds.
pub fn make_grant(
    ring: &KeyRing,
    by: &Unlocked,
    member: AccountId,
    to: &PublicKeys,
    rng: &mut dyn Random,
) -> std::result::Result<Vec<u8>, CryptoError> {
    if ring.older.len() > MAX_OLDER {
        return Err(CryptoError::InvalidInput(
            "the space has had more keys than one grant can hold",
        ));
    }
    let asked = AskedGrant {
        space: ring.space(),
        epoch: ring.epoch(),
        granter: by.account,
        signing: by.signing.public(),
    };
    let mut older = Zeroizing::new(Vec::with_capacity(ring.older.len() * PER_KEY));
    for (epoch, key) in &ring.older {
        older.extend_from_slice(&epoch.to_be_bytes());
        older.extend_from_slice(key.bytes());
    }
    let label = bound("cairn/grant-key/1", &asked, member, to);
    let mut out = vec![FORMAT];
    out.extend_from_slice(&asked.signing);
    out.extend_from_slice(&to.seal(&label, ring.newest.bytes(), rng)?);
    out.extend_from_slice(&aead::seal(
        &older_key(&ring.newest),
        &older_bound(&asked),
        &older,
        rng,
    ));
    let signed = bound("cairn/grant-signature/1", &asked, member, to).bytes(&out);
    out.extend_from_slice(&by.signing.sign(&signed));
    Ok(out)
}

/// The signing key that a grant names as its granter's. Nothing vouches for it yet: it is to be
/// compared with the one that is known.
///
/// # Errors
/// As [`open_grant`].
pub fn granted_with(grant: &[u8]) -> std::result::Result<[u8; 32], CryptoError> {
    check_format(grant)?;
    let signing = grant[1..].first_chunk::<SIGNER>();
    signing.copied().ok_or(CryptoError::Opaque)
}

/// Opens the grant that was asked for, with the member's own keys.
///
/// # Errors
/// [`CryptoError::Opaque`] if it was altered, signed with another key, or is for another space,
/// epoch, member or granter; [`CryptoError::UnsupportedFormat`].
pub fn open_grant(
    own: &Unlocked,
    asked: &AskedGrant,
    grant: &[u8],
) -> std::result::Result<KeyRing, CryptoError> {
    check_format(grant)?;
    let (signed, signature) = grant
        .split_last_chunk::<SIGNATURE>()
        .ok_or(CryptoError::Opaque)?;
    let (signing, rest) = signed
        .get(1..)
        .and_then(<[u8]>::split_first_chunk::<SIGNER>)
        .ok_or(CryptoError::Opaque)?;
    let (block, sealed_older) = rest
        .split_first_chunk::<BLOCK>()
        .ok_or(CryptoError::Opaque)?;
    if *signing != asked.signing || sealed_older.len() < OVERHEAD {
        return Err(CryptoError::Opaque);
    }
    let public = own.public();
    let label = |text| bound(text, asked, own.account, &public);
    // Before the private key touches anything: only a granter can make it work.
    verify(
        &asked.signing,
        &label("cairn/grant-signature/1").bytes(signed),
        signature,
    )?;
    let newest = Key::from_bytes(&own.rsa.open(&label("cairn/grant-key/1"), block)?)?;
    let older = aead::open(&older_key(&newest), &older_bound(asked), sealed_older)?;
    let older = decode_older(&older, asked.epoch)?;
    Ok(KeyRing::new(asked.space, asked.epoch, newest, older))
}

fn check_format(grant: &[u8]) -> Result<()> {
    match grant.first() {
        Some(&FORMAT) => Ok(()),
        Some(other) => Err(CryptoError::UnsupportedFormat(u32::from(*other))),
        None => Err(CryptoError::Opaque),
    }
}

fn bound(label: &'static str, asked: &AskedGrant, member: AccountId, to: &PublicKeys) -> Bound {
    Bound::new(label)
        .number(u64::from(FORMAT))
        .id(&asked.space)
        .number(u64::from(asked.epoch))
        .id(&member)
        .bytes(&to.rsa_hash())
        .id(&asked.granter)
        .bytes(&asked.signing)
}

fn older_key(newest: &Key) -> Key {
    newest.derive(&Bound::new("cairn/grant-older-key/1"))
}

fn older_bound(asked: &AskedGrant) -> Bound {
    Bound::new("cairn/grant-older/1")
        .id(&asked.space)
        .number(u64::from(asked.epoch))
}

/// Epochs rise and stay below the grant's own, so that each has one key.
fn decode_older(plain: &[u8], below: u32) -> Result<BTreeMap<u32, Key>> {
    let (parts, []) = plain.as_chunks::<PER_KEY>() else {
        return Err(CryptoError::Opaque);
    };
    let mut older = BTreeMap::new();
    let mut last = 0;
    for part in parts {
        let (epoch, key) = part.split_first_chunk::<4>().ok_or(CryptoError::Opaque)?;
        let epoch = u32::from_be_bytes(*epoch);
        if epoch <= last || epoch >= below {
            return Err(CryptoError::Opaque);
        }
        last = epoch;
        older.insert(epoch, Key::from_bytes(key)?);
    }
    Ok(older)
}

#[cfg(test)]
mod tests;
