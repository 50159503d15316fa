//! The account's keys between the server and the crypto crate: key bundles (all keys of an account, encrypted), the
//! first bundle of an account, and new ways to open one. Passphrases come from the caller and go nowhere else.

mod rotation;
mod sending;

use cairn_api::{Api, ApiError, Paging};
pub use cairn_crypto::{
    ARGON2ID, AccountKey, AccountKeys, AuthValue, DEFAULT_ITERATIONS, KdfFields, KeyBundle,
    KeyRing, MAX_ITERATIONS, MIN_ITERATIONS, PBKDF2, RecoveryKey, Replacement, RootCost, Rotation,
    passphrase, unlock, unlock_with_account_key, unlock_with_recovery,
};
use cairn_crypto::{SystemRandom, WrappedSpaceKey};
use cairn_transfer::TransferError;
use cairn_wire::account::AccountInfo;
use cairn_wire::keys as wire;
use cairn_wire::keys::PutKeys;
use cairn_wire::nodes::Node;
use cairn_wire::{Sealed, Timestamp};
pub use rotation::{Comparison, NewKeys, compare, compare_with_service};
use sending::put_in_force;
pub use sending::{Sent, may_be_in_force};
use std::time::Duration;

/// Converts a bundle into the form that the crypto crate opens.
#[must_use]
pub fn from_wire(bundle: &wire::KeyBundle) -> KeyBundle {
    KeyBundle {
        format: bundle.format,
        version: bundle.version,
        kdf: KdfFields {
            algorithm: bundle.kdf.algorithm.clone(),
            iterations: bundle.kdf.iterations,
            memory: bundle.kdf.memory,
            lanes: bundle.kdf.lanes,
            salt: bundle.kdf.salt.0.clone(),
        },
        account_key: bundle.account_key.0.clone(),
        rsa_public: bundle.rsa_public.0.clone(),
        rsa_private: bundle.rsa_private.0.clone(),
        signing_public: bundle.signing_public.0.clone(),
        signing_private: bundle.signing_private.0.clone(),
        spaces: bundle
            .spaces
            .iter()
            .map(|space| WrappedSpaceKey {
                space_id: space.space_id,
                epoch: space.epoch,
                key: space.key.0.clone(),
            })
            .collect(),
        recovery: bundle.recovery.as_ref().map(|sealed| sealed.0.clone()),
        replaced: bundle.replaced.as_ref().map(|replaced| Replacement {
            at_ms: replaced.at.0,
            device: replaced.device.clone(),
        }),
    }
}

/// Converts a bundle into the wire format.
#[must_use]
pub fn to_wire(bundle: &KeyBundle) -> wire::KeyBundle {
    let sealed = |bytes: &Vec<u8>| Sealed(bytes.clone());
    wire::KeyBundle {
        format: bundle.format,
        version: bundle.version,
        kdf: wire::KdfParams {
            algorithm: bundle.kdf.algorithm.clone(),
            iterations: bundle.kdf.iterations,
            memory: bundle.kdf.memory,
            lanes: bundle.kdf.lanes,
            salt: sealed(&bundle.kdf.salt),
        },
        account_key: sealed(&bundle.account_key),
        rsa_public: sealed(&bundle.rsa_public),
        rsa_private: sealed(&bundle.rsa_private),
        signing_public: sealed(&bundle.signing_public),
        signing_private: sealed(&bundle.signing_private),
        spaces: bundle
            .spaces
            .iter()
            .map(|space| wire::WrappedSpaceKey {
                space_id: space.space_id,
                epoch: space.epoch,
                key: sealed(&space.key),
            })
            .collect(),
        recovery: bundle.recovery.as_ref().map(sealed),
        replaced: bundle
            .replaced
            .as_ref()
            .map(|replaced| wire::KeyReplacement {
                at: Timestamp(replaced.at_ms),
                device: replaced.device.clone(),
            }),
    }
}

/// Returns true if anything on the service was made with keys. New keys are made only for an account without:
/// a server that hides an existing key bundle must not obtain a second one. Folders made without keys, on a
/// dashboard say, don't count. A snapshot that can't be an honest one, such as one without an end, counts as used.
///
/// # Errors
/// As the server gives them.
pub async fn is_used(api: &Api) -> Result<bool, TransferError> {
    let sealed = |node: &Node| node.seal.is_some() || node.revision_id.is_some();
    let mut paging = Paging::default();
    let mut after = None;
    loop {
        let page = api.snapshot(after.as_deref()).await?;
        let is_refused = paging
            .advance(page.nodes.len(), page.next.as_deref())
            .is_err();
        if is_refused || page.nodes.iter().any(sealed) {
            return Ok(true);
        }
        match page.next {
            None => return Ok(false),
            next => after = next,
        }
    }
}

/// Makes the first keys of an account and keeps them, sealed, on the service.
///
/// # Errors
/// [`TransferError::Sealing`] for a cost out of bounds or an empty passphrase; [`TransferError::Api`] as the server
/// gives it: [`may_be_in_force`] tells whether the keys may be there all the same.
///
/// # Panics
/// Outside a multi-threaded Tokio runtime.
pub async fn create(
    api: &Api,
    info: &AccountInfo,
    passphrase: &str,
    cost: RootCost,
) -> Result<(wire::KeyBundle, AccountKeys), TransferError> {
    let made = tokio::task::block_in_place(|| {
        cairn_crypto::create_account(passphrase, info.id, info.space_id, cost, &mut SystemRandom)
    });
    let (bundle, unlocked, auth) = made.map_err(TransferError::Sealing)?;
    let bundle = to_wire(&bundle);
    let put = PutKeys {
        bundle: bundle.clone(),
        auth: auth.to_hex(),
        current_auth: None,
        recovery_auth: None,
    };
    put_in_force(api, &put, None).await?;
    Ok((bundle, unlocked))
}

/// A recovery key that was made just now, and the bundle that it opens.
pub struct NewRecoveryKey {
    pub key: RecoveryKey,
    /// The bundle that the server has from now on.
    pub bundle: wire::KeyBundle,
    /// The failure after which nobody knows whether the key is in force or an earlier one: whoever has made it must
    /// see it all the same.
    pub unconfirmed: Option<TransferError>,
}

/// Makes a recovery key for an opened bundle and replaces the bundle on the service; an earlier recovery
/// key opens nothing any more.
///
/// # Errors
/// [`ApiError::PreconditionFailed`](cairn_api::ApiError::PreconditionFailed) if the server has another bundle by now;
/// nothing is changed then. [`TransferError::Sealing`] for a bundle that these keys don't belong to.
pub async fn make_recovery_key(
    api: &Api,
    bundle: &KeyBundle,
    unlocked: &AccountKeys,
    auth: &AuthValue,
) -> Result<NewRecoveryKey, TransferError> {
    const SENT_WITHIN: Duration = Duration::from_secs(30);
    let (key, changed) = cairn_crypto::make_recovery_key(bundle, unlocked, &mut SystemRandom)
        .map_err(TransferError::Sealing)?;
    let put = PutKeys {
        bundle: to_wire(&changed),
        auth: auth.to_hex(),
        current_auth: Some(auth.to_hex()),
        recovery_auth: Some(key.auth().to_hex()),
    };
    // Whoever waits for the key has to get it while they wait: it may be in force.
    let sending = put_in_force(api, &put, Some(bundle.version));
    let sent = tokio::time::timeout(SENT_WITHIN, sending).await;
    let sent = sent.unwrap_or_else(|_| {
        let why = format!("no answer within {} s", SENT_WITHIN.as_secs());
        Err(ApiError::Offline(why).into())
    });
    let unconfirmed = match sent {
        Ok(()) => None,
        Err(error) if may_be_in_force(&error) => Some(error),
        Err(error) => return Err(error),
    };
    Ok(NewRecoveryKey {
        key,
        bundle: put.bundle,
        unconfirmed,
    })
}

/// Proof for the server that the keys may be replaced.
#[derive(Clone, Copy)]
pub enum Proof<'a> {
    Passphrase(&'a AuthValue),
    RecoveryKey(&'a RecoveryKey),
}

/// Wraps opened keys under a new passphrase and replaces the bundle on the service. Returns the bundle as the
/// server has it from now on.
///
/// # Errors
/// [`TransferError::Sealing`] for a cost out of bounds or an empty passphrase;
/// [`ApiError::PreconditionFailed`](cairn_api::ApiError::PreconditionFailed) if the server has another bundle by now.
/// Nothing is changed then; after another error, [`may_be_in_force`] tells whether the new passphrase may be in force.
///
/// # Panics
/// Outside a multi-threaded Tokio runtime.
pub async fn change_passphrase(
    api: &Api,
    bundle: &KeyBundle,
    unlocked: &AccountKeys,
    new: &str,
    cost: RootCost,
    proof: Proof<'_>,
) -> Result<wire::KeyBundle, TransferError> {
    let changed = tokio::task::block_in_place(|| {
        cairn_crypto::change_passphrase(bundle, unlocked, new, cost, &mut SystemRandom)
    });
    let (changed, auth) = changed.map_err(TransferError::Sealing)?;
    let (current_auth, recovery_auth) = match proof {
        Proof::Passphrase(auth) => (Some(auth.to_hex()), None),
        Proof::RecoveryKey(key) => (None, Some(key.auth().to_hex())),
    };
    let put = PutKeys {
        bundle: to_wire(&changed),
        auth: auth.to_hex(),
        current_auth,
        recovery_auth,
    };
    put_in_force(api, &put, Some(bundle.version)).await?;
    Ok(put.bundle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::{AccountId, SpaceId};

    #[test]
    fn a_bundle_survives_the_wire() {
        let (account, space) = (
            AccountId::from_random_bytes([1; 16]),
            SpaceId::from_random_bytes([2; 16]),
        );
        let (bundle, ..) = cairn_crypto::create_account(
            "passphrase",
            account,
            space,
            RootCost::LEAST,
            &mut SystemRandom,
        )
        .unwrap();
        assert_eq!(from_wire(&to_wire(&bundle)), bundle);
    }
}
