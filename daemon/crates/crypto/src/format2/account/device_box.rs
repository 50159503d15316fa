//! Device boxes: the new secrets of an account, sealed to one of its devices, so that a device goes on when the
//! account's keys change without asking for a passphrase there. Content: next box key 32 bytes · sharing keys · all
//! secrets of the personal space, sealed under the box key that the device has.

use crate::error::{CryptoError, Result, require};
use crate::format2::ring::KeyRing;
use crate::format2::seal::{self, Purpose};
use crate::format2::sharing::{PRIVATE, SharingKeys};
use crate::random::Random;
use crate::secret::Key;
use cairn_log::{Boxes, Epoch};
use cairn_model::{AccountId, SpaceId};
use zeroize::Zeroizing;

/// The key of one device's boxes, BK. The device keeps it in its keyring.
#[derive(Clone, Debug)]
pub struct BoxKey {
    key: Key,
    number: u32,
}

/// The content of a device box.
#[derive(Clone, Debug)]
pub struct DeviceBox {
    /// Opens the next box.
    pub next: BoxKey,
    pub sharing: SharingKeys,
    /// All secrets of the personal space.
    pub ring: KeyRing,
}

impl BoxKey {
    pub(super) fn new(key: Key, number: u32) -> Self {
        Self { key, number }
    }

    /// Reads the key of a device from its keyring.
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] if it isn't 32 bytes, or all zero.
    pub fn from_bytes(number: u32, bytes: &[u8]) -> std::result::Result<Self, CryptoError> {
        Key::from_bytes(bytes).map(|key| Self { key, number })
    }

    /// Returns the 32 bytes, for the keyring.
    #[must_use]
    pub fn to_bytes(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(*self.key.bytes())
    }

    /// Returns the number of the device.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Seals a box for the epoch of its ring's newest secret.
    pub(super) fn seal(&self, content: &DeviceBox, rng: &mut dyn Random) -> Result<Vec<u8>> {
        require(content.next.number == self.number)?;
        let (sharing, ring) = (content.sharing.to_bytes()?, content.ring.encode());
        let mut plain = Zeroizing::new(Vec::with_capacity(32 + PRIVATE + ring.len()));
        plain.extend_from_slice(content.next.key.bytes());
        plain.extend_from_slice(&*sharing);
        plain.extend_from_slice(&ring);
        let newest = content.ring.newest_secret();
        let purpose = self.purpose(newest.space(), newest.epoch());
        Ok(seal::seal(&self.key, purpose, &plain, rng))
    }

    /// Opens the box of an epoch of the personal space.
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] for a box of another device, space or epoch.
    pub fn open(
        &self,
        space: SpaceId,
        epoch: u64,
        sealed: &[u8],
    ) -> std::result::Result<DeviceBox, CryptoError> {
        let plain = seal::open(&self.key, self.purpose(space, epoch), sealed)?;
        let (next, rest) = plain
            .split_at_checked(32)
            .ok_or(CryptoError::NotAuthentic)?;
        let (sharing, ring) = rest
            .split_at_checked(PRIVATE)
            .ok_or(CryptoError::NotAuthentic)?;
        let ring = KeyRing::decode(space, ring)?;
        require(ring.newest_secret().epoch() == epoch)?;
        Ok(DeviceBox {
            next: Self::from_bytes(self.number, next)?,
            sharing: SharingKeys::from_bytes(sharing)?,
            ring,
        })
    }

    /// Opens this device's box of an epoch that the personal log has. `boxes` is the blob beside the
    /// commit.
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] for another blob, or without a box for this device: it was revoked.
    pub fn open_epoch(
        &self,
        account: AccountId,
        space: SpaceId,
        statement: &Epoch,
        boxes: &[u8],
    ) -> std::result::Result<DeviceBox, CryptoError> {
        let boxes = Boxes::decode_named(boxes, &statement.boxes)?;
        let sealed = boxes.find(account, self.number);
        let opened = self.open(
            space,
            statement.epoch,
            sealed.ok_or(CryptoError::NotAuthentic)?,
        )?;
        require(opened.ring.newest_secret().check_value() == statement.check)?;
        Ok(opened)
    }

    fn purpose(&self, space: SpaceId, epoch: u64) -> Purpose {
        Purpose::DeviceBox {
            space,
            epoch,
            number: self.number,
        }
    }
}
