//! A share link's secret and key, encrypted for the owner's own devices: each of them can show the address
//! again, and add files to the link, without asking for its password.

use super::LinkSecret;
use crate::aead;
use crate::error::CryptoError;
use crate::format2::LinkKey;
use crate::random::Random;
use crate::secret::Key;
use crate::space::SpaceKeys;
use cairn_log::AssociatedData;
use uuid::Uuid;
use zeroize::Zeroizing;

/// The secret and the key of a link, as its owner has them.
#[derive(Clone, Debug)]
pub struct OwnedLink {
    pub secret: LinkSecret,
    pub key: LinkKey,
}

impl OwnedLink {
    /// Wraps it under the keys of the space that the shared node is in.
    #[must_use]
    pub fn wrap(&self, keys: &SpaceKeys, share: Uuid, rng: &mut dyn Random) -> Vec<u8> {
        let mut plain = Zeroizing::new([0; 64]);
        plain[..32].copy_from_slice(self.secret.0.bytes());
        plain[32..].copy_from_slice(self.key.0.bytes());
        keys.with_epoch(&aead::seal(
            &keys.wrap,
            &associated_data(keys, share),
            &*plain,
            rng,
        ))
    }

    /// Opens the wrap of the requested link.
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] if it was altered or belongs to another link or space;
    /// [`CryptoError::KeyMissing`] if `keys` have no key of the epoch in which it was wrapped.
    pub fn unwrap(keys: &SpaceKeys, share: Uuid, wrapped: &[u8]) -> Result<Self, CryptoError> {
        let (keys, wrapped) = keys.split_epoch(wrapped)?;
        let plain = aead::open(&keys.wrap, &associated_data(keys, share), wrapped)?;
        let (secret, key) = plain
            .split_at_checked(32)
            .ok_or(CryptoError::NotAuthentic)?;
        Ok(Self {
            secret: LinkSecret(Key::from_bytes(secret)?),
            key: LinkKey(Key::from_bytes(key)?),
        })
    }
}

fn associated_data(keys: &SpaceKeys, share: Uuid) -> AssociatedData {
    AssociatedData::new("cairn/link-owner/1")
        .id(&keys.space())
        .number(u64::from(keys.epoch()))
        .bytes(share.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SystemRandom;
    use cairn_model::SpaceId;

    #[test]
    fn only_the_owner_of_this_very_link_gets_its_secret_back() {
        let rng = &mut SystemRandom;
        let space = SpaceId::from_random_bytes([1; 16]);
        let keys = SpaceKeys::from_raw(space, 1, &[7; 32]).unwrap();
        let secret = LinkSecret::generate(rng);
        let owned = OwnedLink {
            key: secret.key(),
            secret,
        };
        let share = Uuid::from_bytes([4; 16]);
        let wrapped = owned.wrap(&keys, share, rng);
        let back = OwnedLink::unwrap(&keys, share, &wrapped).unwrap();
        assert_eq!(*back.secret.reveal(), *owned.secret.reveal());
        assert_eq!(back.key.0.bytes(), owned.key.0.bytes());
        assert!(OwnedLink::unwrap(&keys, Uuid::nil(), &wrapped).is_err());
        let other = SpaceKeys::from_raw(space, 1, &[8; 32]).unwrap();
        assert!(OwnedLink::unwrap(&other, share, &wrapped).is_err());
        assert!(OwnedLink::unwrap(&keys, share, &wrapped[..60]).is_err());
    }
}
