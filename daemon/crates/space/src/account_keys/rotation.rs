//! Replacing all keys of an account on the service, and comparing what the service has with the keys of a device.

use super::sending::{self, Sent};
use super::{from_wire, to_wire};
use cairn_api::{Api, ApiError};
use cairn_crypto::{
    AccountKeys, AuthValue, CryptoError, KeyBundle, Replacement, Rotation, SystemRandom,
    unlock_with_account_key,
};
use cairn_transfer::TransferError;
use cairn_wire::keys as wire;
use cairn_wire::keys::PutKeys;

/// New keys of an account that were made and not sent yet.
pub struct NewKeys {
    pub keys: AccountKeys,
    pub bundle: wire::KeyBundle,
    /// The authentication value of the passphrase that opens them.
    pub auth: AuthValue,
    replaces: u64,
}

impl NewKeys {
    /// Makes new keys from an opened bundle. Nothing is sent.
    ///
    /// # Errors
    /// [`CryptoError`] for a cost out of bounds, an empty passphrase, or a bundle of other keys.
    ///
    /// # Panics
    /// Outside a multi-threaded Tokio runtime.
    pub fn make(
        bundle: &KeyBundle,
        unlocked: &AccountKeys,
        rotation: Rotation<'_>,
    ) -> Result<Self, CryptoError> {
        let made = tokio::task::block_in_place(|| {
            cairn_crypto::rotate(bundle, unlocked, rotation, &mut SystemRandom)
        });
        let (next, keys, auth) = made?;
        Ok(Self {
            keys,
            bundle: to_wire(&next),
            auth,
            replaces: bundle.version,
        })
    }

    /// Puts the keys in force in the place of the bundle that they were made from. If the answer is lost, the service
    /// is asked which keys it has. `current` proves the passphrase of before.
    ///
    /// # Errors
    /// [`TransferError::Api`]: after one, the keys may be in force or not.
    pub async fn send(&self, api: &Api, current: &AuthValue) -> Result<Sent, TransferError> {
        let put = PutKeys {
            bundle: self.bundle.clone(),
            auth: self.auth.to_hex(),
            current_auth: Some(current.to_hex()),
            recovery_auth: None,
        };
        Ok(sending::send(api, &put, Some(self.replaces)).await?)
    }
}

/// The bundle of the service in comparison with the keys of a device.
#[derive(Clone, Debug)]
pub enum Comparison {
    /// The service's copy holds the keys of the device.
    Same,
    /// All keys were replaced, as the service says. Only the passphrase tells whether that is true.
    Replaced(Option<Replacement>),
    /// The service's copy is older than what the device knows, or was altered.
    Refused(CryptoError),
}

/// Compares a bundle of the service with the keys of a device, without the passphrase.
#[must_use]
pub fn compare(own: &AccountKeys, served: &wire::KeyBundle) -> Comparison {
    let bundle = from_wire(served);
    let space = own.space.space();
    let floors = bundle
        .check_not_older(own.bundle_version)
        .and_then(|()| bundle.check_epoch(space, own.epoch()));
    if let Err(error) = floors {
        return Comparison::Refused(error);
    }
    if bundle.named_epoch(space) > own.epoch() && bundle.version > own.bundle_version {
        return Comparison::Replaced(bundle.replaced);
    }
    let opened = unlock_with_account_key(&bundle, &own.account_key, own.account, space);
    match opened.and_then(|opened| own.check_successor(&opened)) {
        Ok(()) => Comparison::Same,
        Err(error) => Comparison::Refused(error),
    }
}

/// Compares the keys of a device with those that the service has now.
///
/// # Errors
/// As the server gives them.
pub async fn compare_with_service(api: &Api, own: &AccountKeys) -> Result<Comparison, ApiError> {
    Ok(compare(own, &api.keys().await?))
}
