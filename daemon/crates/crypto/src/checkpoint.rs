//! Checkpoints: what a device has seen of a space, sealed for the others that have the space's key, so that they can
//! tell whether the server shows them the same.
//!
//! In clear: epoch (the generation of the key), format, nonce. Inside, numbers big-endian:
//! number of the change u64 · time i64 · digest 32 · length of the history's id u8 · id · name of the device.

use crate::aead;
use crate::error::{CryptoError, require};
use crate::random::Random;
use crate::space::SpaceKeys;
use cairn_log::AssociatedData;
use cairn_model::DeviceId;

/// The longest name of a device that is kept, in bytes.
const MAX_NAME: usize = 256;
const FIXED: usize = 8 + 8 + 32 + 1;

/// A device's view of a space at a position of the change feed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checkpoint {
    /// Id of the feed's history, at most 255 bytes.
    pub history: String,
    /// The number of the latest change that the device has seen.
    pub seq: u64,
    /// Digest of all nodes as the device has them after that change.
    pub digest: [u8; 32],
    /// Milliseconds since 1970-01-01 UTC, by the device's clock.
    pub at_ms: i64,
    /// The device's name; cut after 256 bytes.
    pub device_name: String,
}

impl Checkpoint {
    /// Seals the checkpoint of a device under the space's meta key.
    ///
    /// # Errors
    /// [`CryptoError::InvalidInput`] if the history's id is too long.
    pub fn seal(
        &self,
        keys: &SpaceKeys,
        device: DeviceId,
        rng: &mut dyn Random,
    ) -> Result<Vec<u8>, CryptoError> {
        let length = u8::try_from(self.history.len())
            .map_err(|_| CryptoError::InvalidInput("the history's id is too long"))?;
        let mut plain = Vec::with_capacity(FIXED + self.history.len() + self.device_name.len());
        plain.extend_from_slice(&self.seq.to_be_bytes());
        plain.extend_from_slice(&self.at_ms.to_be_bytes());
        plain.extend_from_slice(&self.digest);
        plain.push(length);
        plain.extend_from_slice(self.history.as_bytes());
        let end = self.device_name.floor_char_boundary(MAX_NAME);
        plain.extend_from_slice(&self.device_name.as_bytes()[..end]);
        let associated = associated_data(keys, device);
        Ok(keys.with_epoch(&aead::seal(&keys.meta, &associated, &plain, rng)))
    }

    /// Opens the checkpoint of the device that was asked for.
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] if it was altered, is another device's or space's, or was sealed with the key of an
    /// earlier epoch, which somebody may have who was shut out since; [`CryptoError::KeyMissing`] for a later epoch.
    pub fn open(keys: &SpaceKeys, device: DeviceId, sealed: &[u8]) -> Result<Self, CryptoError> {
        let (of_epoch, sealed) = keys.split_epoch(sealed)?;
        require(of_epoch.epoch() == keys.epoch())?;
        let plain = aead::open(&keys.meta, &associated_data(keys, device), sealed)?;
        decode(&plain).ok_or(CryptoError::NotAuthentic)
    }
}

fn decode(plain: &[u8]) -> Option<Checkpoint> {
    let (seq, rest) = plain.split_first_chunk::<8>()?;
    let (at_ms, rest) = rest.split_first_chunk::<8>()?;
    let (digest, rest) = rest.split_first_chunk::<32>()?;
    let (&length, rest) = rest.split_first()?;
    let (history, name) = rest.split_at_checked(usize::from(length))?;
    Some(Checkpoint {
        history: String::from_utf8(history.to_vec()).ok()?,
        seq: u64::from_be_bytes(*seq),
        digest: *digest,
        at_ms: i64::from_be_bytes(*at_ms),
        device_name: String::from_utf8(name.to_vec()).ok()?,
    })
}

fn associated_data(keys: &SpaceKeys, device: DeviceId) -> AssociatedData {
    AssociatedData::new("cairn/checkpoint/1")
        .id(&keys.space())
        .number(u64::from(keys.epoch()))
        .id(&device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SystemRandom;
    use cairn_model::SpaceId;

    fn keys(space: u8) -> SpaceKeys {
        SpaceKeys::from_raw(SpaceId::from_random_bytes([space; 16]), 1, &[3; 32]).unwrap()
    }

    fn checkpoint() -> Checkpoint {
        Checkpoint {
            history: "h".into(),
            seq: 7,
            digest: [9; 32],
            at_ms: -1,
            device_name: "laptop".into(),
        }
    }

    #[test]
    fn a_checkpoint_opens_for_its_device_and_space_only() {
        let device = DeviceId::from_random_bytes([1; 16]);
        let sealed = checkpoint()
            .seal(&keys(1), device, &mut SystemRandom)
            .unwrap();
        let opened = Checkpoint::open(&keys(1), device, &sealed).unwrap();
        assert_eq!(opened, checkpoint());
        let other = DeviceId::from_random_bytes([2; 16]);
        for (keys, device) in [(keys(1), other), (keys(2), device)] {
            let refused = Checkpoint::open(&keys, device, &sealed);
            assert!(matches!(refused, Err(CryptoError::NotAuthentic)));
        }
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(
                Checkpoint::open(&keys(1), device, &changed).is_err(),
                "{at}"
            );
        }
    }

    #[test]
    fn a_long_name_is_cut_between_characters() {
        let device = DeviceId::from_random_bytes([1; 16]);
        let long = Checkpoint {
            device_name: "é".repeat(200),
            ..checkpoint()
        };
        let sealed = long.seal(&keys(1), device, &mut SystemRandom).unwrap();
        let opened = Checkpoint::open(&keys(1), device, &sealed).unwrap();
        assert_eq!(opened.device_name, "é".repeat(128));
    }
}
