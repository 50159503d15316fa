//! Grants: a grant is the key of a team's space (its files), sealed to one member and signed by the account
//! that grants it. An epoch is one generation of that key.
//!
//! The record: format u8 · the granter's signing key 32 bytes · RSA block 384 · keys of earlier epochs,
//! sealed · signature 64 over all that and over space, epoch, member, the member's RSA key and granter.
//! The block contains the space key of the epoch, with the same ids in its label. The older keys are
//! sealed under a key derived from it, epoch u32 · key 32 each: one grant opens everything, and only
//! somebody who had the key before can have made it.

use crate::account::AccountKeys;
use crate::aead::{self, OVERHEAD};
use crate::error::{CryptoError, Result};
use crate::identity::{RSA_BITS, verify};
use crate::public::PublicKeys;
use crate::random::Random;
use crate::ring::KeyRing;
use crate::secret::Key;
use cairn_log::AssociatedData;
use cairn_model::{AccountId, SpaceId};
use std::collections::BTreeMap;
use zeroize::Zeroizing;

const FORMAT: u8 = 1;
const SIGNER: usize = 32;
const BLOCK: usize = RSA_BITS / 8;
const SIGNATURE: usize = 64;
const PER_KEY: usize = 4 + 32;
/// The most earlier epochs in one grant: a record stays below the 16 KiB that a server accepts.
const MAX_OLDER: usize = 400;

/// The grant that was requested. Nothing of it comes from a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantContext {
    pub space: SpaceId,
    pub epoch: u32,
    /// The account that is said to have made the grant.
    pub granter: AccountId,
    /// The granter's public signing key, as it is pinned.
    pub signing: [u8; 32],
}

/// Seals a key ring to a member and signs it.
///
/// # Errors
/// [`CryptoError::InvalidInput`] for a ring of more epochs than a grant can have.
pub fn make_grant(
    ring: &KeyRing,
    by: &AccountKeys,
    member: AccountId,
    to: &PublicKeys,
    rng: &mut dyn Random,
) -> std::result::Result<Vec<u8>, CryptoError> {
    if ring.older.len() > MAX_OLDER {
        return Err(CryptoError::InvalidInput(
            "the space has had more keys than fit into one grant",
        ));
    }
    let context = GrantContext {
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
    let label = associated_data("cairn/grant-key/1", &context, member, to);
    let mut out = vec![FORMAT];
    out.extend_from_slice(&context.signing);
    out.extend_from_slice(&to.seal(&label, ring.newest.bytes(), rng)?);
    out.extend_from_slice(&aead::seal(
        &older_key(&ring.newest),
        &older_data(&context),
        &older,
        rng,
    ));
    let signed = associated_data("cairn/grant-signature/1", &context, member, to).bytes(&out);
    out.extend_from_slice(&by.signing.sign(&signed));
    Ok(out)
}

/// Returns the signing key that a grant names as its granter's. It isn't verified: compare it with the
/// pinned one.
///
/// # Errors
/// Fails like [`open_grant`].
pub fn grant_signer(grant: &[u8]) -> std::result::Result<[u8; 32], CryptoError> {
    check_format(grant)?;
    let signing = grant[1..].first_chunk::<SIGNER>();
    signing.copied().ok_or(CryptoError::NotAuthentic)
}

/// Opens the requested grant with the member's own keys.
///
/// # Errors
/// [`CryptoError::NotAuthentic`] if it was altered, signed with another key, or is for another space,
/// epoch, member or granter; [`CryptoError::UnsupportedFormat`].
pub fn open_grant(
    own: &AccountKeys,
    context: &GrantContext,
    grant: &[u8],
) -> std::result::Result<KeyRing, CryptoError> {
    check_format(grant)?;
    let (signed, signature) = grant
        .split_last_chunk::<SIGNATURE>()
        .ok_or(CryptoError::NotAuthentic)?;
    let (signing, rest) = signed
        .get(1..)
        .and_then(<[u8]>::split_first_chunk::<SIGNER>)
        .ok_or(CryptoError::NotAuthentic)?;
    let (block, sealed_older) = rest
        .split_first_chunk::<BLOCK>()
        .ok_or(CryptoError::NotAuthentic)?;
    if *signing != context.signing || sealed_older.len() < OVERHEAD {
        return Err(CryptoError::NotAuthentic);
    }
    let public = own.public();
    let label = |text| associated_data(text, context, own.account, &public);
    // Before the private key touches anything: only a granter can make it work.
    verify(
        &context.signing,
        &label("cairn/grant-signature/1").bytes(signed),
        signature,
    )?;
    let newest = Key::from_bytes(&own.rsa.open(&label("cairn/grant-key/1"), block)?)?;
    let older = aead::open(&older_key(&newest), &older_data(context), sealed_older)?;
    let older = decode_older(&older, context.epoch)?;
    Ok(KeyRing::new(context.space, context.epoch, newest, older))
}

fn check_format(grant: &[u8]) -> Result<()> {
    match grant.first() {
        Some(&FORMAT) => Ok(()),
        Some(other) => Err(CryptoError::UnsupportedFormat(u32::from(*other))),
        None => Err(CryptoError::NotAuthentic),
    }
}

fn associated_data(
    label: &'static str,
    context: &GrantContext,
    member: AccountId,
    to: &PublicKeys,
) -> AssociatedData {
    AssociatedData::new(label)
        .number(u64::from(FORMAT))
        .id(&context.space)
        .number(u64::from(context.epoch))
        .id(&member)
        .bytes(&to.rsa_hash())
        .id(&context.granter)
        .bytes(&context.signing)
}

fn older_key(newest: &Key) -> Key {
    newest.derive(&AssociatedData::new("cairn/grant-older-key/1"))
}

fn older_data(context: &GrantContext) -> AssociatedData {
    AssociatedData::new("cairn/grant-older/1")
        .id(&context.space)
        .number(u64::from(context.epoch))
}

/// Epochs rise and stay below the grant's own, so that each has one key.
fn decode_older(plain: &[u8], below: u32) -> Result<BTreeMap<u32, Key>> {
    let (parts, []) = plain.as_chunks::<PER_KEY>() else {
        return Err(CryptoError::NotAuthentic);
    };
    let mut older = BTreeMap::new();
    let mut last = 0;
    for part in parts {
        let (epoch, key) = part
            .split_first_chunk::<4>()
            .ok_or(CryptoError::NotAuthentic)?;
        let epoch = u32::from_be_bytes(*epoch);
        if epoch <= last || epoch >= below {
            return Err(CryptoError::NotAuthentic);
        }
        last = epoch;
        older.insert(epoch, Key::from_bytes(key)?);
    }
    Ok(older)
}

#[cfg(test)]
mod tests;
