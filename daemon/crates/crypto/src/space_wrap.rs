//! The keys of spaces within a key bundle: one entry for each space and epoch, wrapped under the account key.

use crate::aead;
use crate::bundle::{KeyBundle, WrappedSpaceKey};
use crate::error::{CryptoError, Result};
use crate::random::Random;
use crate::ring::KeyRing;
use crate::secret::{AccountKey, Key};
use cairn_log::AssociatedData;
use cairn_model::{AccountId, SpaceId};
use std::collections::{BTreeMap, BTreeSet};

/// Wraps the keys of all epochs of a space, the newest one first.
pub(crate) fn wrap_ring(
    account_key: &AccountKey,
    account: AccountId,
    ring: &KeyRing,
    rng: &mut dyn Random,
) -> Vec<WrappedSpaceKey> {
    let space = ring.space();
    let newest = std::iter::once((ring.epoch(), &ring.newest));
    let older = ring.older.iter().rev().map(|(epoch, key)| (*epoch, key));
    newest
        .chain(older)
        .map(|(epoch, key)| WrappedSpaceKey {
            space_id: space,
            epoch,
            key: aead::seal(
                &wrapping_key(account_key),
                &data(account, space, epoch),
                key.bytes(),
                rng,
            ),
        })
        .collect()
}

/// Opens the keys of all epochs of a space.
///
/// # Errors
/// [`CryptoError::KeyMissing`] if the space has no key, [`CryptoError::NotAuthentic`] if one of them is altered or
/// an epoch has two.
pub(crate) fn unwrap_ring(
    bundle: &KeyBundle,
    account_key: &AccountKey,
    account: AccountId,
    space: SpaceId,
) -> Result<KeyRing> {
    let newest = bundle.newest_key(space)?;
    let wrap = wrapping_key(account_key);
    let mut keys = BTreeMap::new();
    for wrapped in bundle.spaces.iter().filter(|one| one.space_id == space) {
        let bytes = aead::open(&wrap, &data(account, space, wrapped.epoch), &wrapped.key)?;
        let key = Key::from_bytes(&bytes)?;
        if keys.insert(wrapped.epoch, key).is_some() {
            return Err(CryptoError::NotAuthentic);
        }
    }
    let key = keys
        .remove(&newest.epoch)
        .ok_or(CryptoError::NotAuthentic)?;
    Ok(KeyRing::new(space, newest.epoch, key, keys))
}

/// Opens the keys of all spaces but the personal one.
pub(crate) fn unwrap_team_rings(
    bundle: &KeyBundle,
    account_key: &AccountKey,
    account: AccountId,
    personal: SpaceId,
) -> Result<Vec<KeyRing>> {
    let spaces: BTreeSet<SpaceId> = bundle.spaces.iter().map(|one| one.space_id).collect();
    spaces
        .into_iter()
        .filter(|space| *space != personal)
        .map(|space| unwrap_ring(bundle, account_key, account, space))
        .collect()
}

fn wrapping_key(account_key: &AccountKey) -> Key {
    account_key
        .0
        .derive(&AssociatedData::new("cairn/space-wrap-key/1"))
}

fn data(account: AccountId, space: SpaceId, epoch: u32) -> AssociatedData {
    AssociatedData::new("cairn/space-key/1")
        .id(&account)
        .id(&space)
        .number(u64::from(epoch))
}
