//! Key rotation of an account: new keys after a new passphrase, and when devices are revoked. Pure functions that
//! return everything that has to be sent, so that a caller can keep it until all of it has arrived.
//!
//! Both generate a new account key, recovery key and epoch (a new secret) of the personal space. The devices
//! that stay get the new secrets in boxes, each sealed to one device. A revoked device can open what was sealed
//! before, and nothing after. An old passphrase or recovery key is not shut out: with the account as it was
//! sealed before, which a server may have kept, it gives the old account key, from that the box keys of all
//! devices, and so the new secrets.

use super::device_box::DeviceBox;
use super::root::Root;
use super::secrets::{AccountSecrets, SealedAccount};
use crate::error::{CryptoError, Result};
use crate::format2::account::AccountKey;
use crate::format2::epoch::NewEpoch;
use crate::format2::sharing::SharingKeys;
use crate::random::Random;
use crate::recovery::RecoveryKey;
use cairn_log::{Boxes, DeviceList, Epoch, SealedBox};

/// The new keys of an account, with what has to be sent.
#[derive(Clone, Debug)]
pub struct KeyRotation {
    pub secrets: AccountSecrets,
    /// The new recovery key, to be shown once. The module's description says what the old one still opens.
    pub recovery: RecoveryKey,
    pub sealed: SealedAccount,
    /// The body of the epoch's statement in the personal log.
    pub epoch: Epoch,
    /// The blob beside it: a box for each device that remains.
    pub boxes: Boxes,
    /// The body of the device list for all spaces of the account, if it changed.
    pub devices: Option<DeviceList>,
}

/// Makes the keys that follow from a new passphrase. All devices of the account's list remain. `root` is
/// that of the passphrase from now on. `list` is the account's verified device list: its signature is not
/// checked here.
///
/// # Errors
/// [`CryptoError::InvalidInput`] for the device list of another account.
pub fn change_passphrase(
    old: &AccountSecrets,
    root: &Root,
    list: &DeviceList,
    rng: &mut dyn Random,
) -> std::result::Result<KeyRotation, CryptoError> {
    check_owner(old, list)?;
    renew(old, old.sharing.clone(), root, list, rng)
}

/// Makes the keys that follow when devices are revoked: other sharing keys, too, and a device list
/// without them. Every team of the account has to raise its epoch then. `root` is that of the passphrase
/// from now on. `list` is the account's verified device list: its signature is not checked here.
///
/// # Errors
/// [`CryptoError::InvalidInput`] for the device list of another account, no device or one that isn't in
/// it, or if none would remain.
pub fn revoke_devices(
    old: &AccountSecrets,
    root: &Root,
    list: &DeviceList,
    revoked: &[u32],
    rng: &mut dyn Random,
) -> std::result::Result<KeyRotation, CryptoError> {
    check_owner(old, list)?;
    if revoked.is_empty() {
        return Err(CryptoError::InvalidInput("no device to revoke was given"));
    }
    let is_listed = |number: &u32| list.devices.iter().any(|device| device.number == *number);
    if !revoked.iter().all(is_listed) {
        return Err(CryptoError::InvalidInput(
            "the device isn't one of this account's",
        ));
    }
    let mut list = list.clone();
    list.devices
        .retain(|device| !revoked.contains(&device.number));
    if list.devices.is_empty() {
        return Err(CryptoError::InvalidInput(
            "the last device of an account can't be revoked",
        ));
    }
    let sharing = SharingKeys::generate(rng)?;
    list.counter += 1;
    list.rsa = sharing.public().rsa.clone();
    list.kem = sharing.public().kem.clone();
    old.identity.sign_devices(old.account, &mut list);
    let mut rotation = renew(old, sharing, root, &list, rng)?;
    rotation.devices = Some(list);
    Ok(rotation)
}

fn check_owner(old: &AccountSecrets, list: &DeviceList) -> Result<()> {
    if list.identity == old.identity.public() {
        Ok(())
    } else {
        Err(CryptoError::InvalidInput(
            "the device list isn't this account's",
        ))
    }
}

fn renew(
    old: &AccountSecrets,
    sharing: SharingKeys,
    root: &Root,
    list: &DeviceList,
    rng: &mut dyn Random,
) -> Result<KeyRotation> {
    let mut secrets = AccountSecrets {
        key: AccountKey::generate(rng),
        sharing,
        ring: old.ring.with_next_epoch(rng),
        ..old.clone()
    };
    let mut boxes = Vec::with_capacity(list.devices.len());
    for device in &list.devices {
        let content = DeviceBox {
            next: secrets.key.box_key(device.number),
            sharing: secrets.sharing.clone(),
            ring: secrets.ring.clone(),
        };
        boxes.push(SealedBox {
            account: old.account,
            number: device.number,
            // Under the key that the device has: the old one.
            sealed: old.key.box_key(device.number).seal(&content, rng)?,
        });
    }
    let epoch = NewEpoch::new(secrets.ring, boxes, rng);
    secrets.ring = epoch.ring;
    let (recovery, sealed) = secrets.seal(root, rng)?;
    Ok(KeyRotation {
        secrets,
        recovery,
        sealed,
        epoch: epoch.statement,
        boxes: epoch.boxes,
        devices: None,
    })
}

#[cfg(test)]
mod tests;
