//! The key ring of a space: its secrets, one for each epoch (generation of its key). Layout: count v · epoch v,
//! secret 32 each, epochs rising; v is a LEB128 number.
//!
//! The older ones are sealed under the newest, beside the statement that began its epoch. So who gets the newest
//! reads everything before it, and nothing after.

use crate::error::{CryptoError, Result, require};
use crate::format2::keys::SpaceSecret;
use crate::format2::seal::{self, Purpose};
use crate::random::Random;
use cairn_log::bytes::{Reader, Writer};
use cairn_model::SpaceId;
use std::collections::BTreeMap;
use zeroize::Zeroizing;

/// The least bytes of a row.
const ROW: usize = 1 + 32;

/// All secrets of a space up to one epoch.
#[derive(Clone, Debug)]
pub struct KeyRing {
    newest: SpaceSecret,
    older: BTreeMap<u64, SpaceSecret>,
}

impl KeyRing {
    /// Makes the ring of a space's first epoch.
    #[must_use]
    pub fn new(first: SpaceSecret) -> Self {
        let older = BTreeMap::new();
        Self {
            newest: first,
            older,
        }
    }

    /// Returns the space that the secrets belong to.
    #[must_use]
    pub fn space(&self) -> SpaceId {
        self.newest.space()
    }

    /// Returns the secret under which new things are sealed.
    #[must_use]
    pub fn newest_secret(&self) -> &SpaceSecret {
        &self.newest
    }

    /// Returns the secret of an epoch.
    #[must_use]
    pub fn secret(&self, epoch: u64) -> Option<&SpaceSecret> {
        if epoch == self.newest.epoch() {
            return Some(&self.newest);
        }
        self.older.get(&epoch)
    }

    /// Returns the ring with a new secret for the next epoch.
    #[must_use]
    pub fn with_next_epoch(&self, rng: &mut dyn Random) -> Self {
        let epoch = self.newest.epoch() + 1;
        let newest = SpaceSecret::generate(self.space(), epoch, rng);
        let mut older = self.older.clone();
        older.insert(self.newest.epoch(), self.newest.clone());
        Self { newest, older }
    }

    /// Seals the older secrets under the newest.
    #[must_use]
    pub fn seal_older(&self, rng: &mut dyn Random) -> Vec<u8> {
        let plain = encode(self.older.values());
        seal::seal(&self.newest.key, purpose(&self.newest), &plain, rng)
    }

    /// Opens the older secrets with the newest.
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] for any other secret, or a ring that reaches beyond it.
    pub fn open_older(
        newest: SpaceSecret,
        sealed: &[u8],
    ) -> std::result::Result<Self, CryptoError> {
        let plain = seal::open(&newest.key, purpose(&newest), sealed)?;
        let older = decode(newest.space(), &plain)?;
        let last = older.last_key_value().map_or(0, |(epoch, _)| *epoch);
        require(last < newest.epoch())?;
        Ok(Self { newest, older })
    }

    /// Returns all secrets as bytes.
    pub(crate) fn encode(&self) -> Zeroizing<Vec<u8>> {
        encode(self.older.values().chain([&self.newest]))
    }

    /// Reads all secrets of a space.
    pub(crate) fn decode(space: SpaceId, bytes: &[u8]) -> Result<Self> {
        let mut older = decode(space, bytes)?;
        let (_, newest) = older.pop_last().ok_or(CryptoError::NotAuthentic)?;
        Ok(Self { newest, older })
    }
}

fn purpose(newest: &SpaceSecret) -> Purpose {
    Purpose::Ring {
        space: newest.space(),
        epoch: newest.epoch(),
    }
}

fn encode<'a>(secrets: impl Iterator<Item = &'a SpaceSecret> + Clone) -> Zeroizing<Vec<u8>> {
    let count = secrets.clone().count();
    // All of it at once: a vector that grows leaves copies behind.
    let mut out = Zeroizing::new(Vec::with_capacity(10 + count * (10 + 32)));
    out.extend_from_slice(&Writer::new().v(count as u64).finish());
    for secret in secrets {
        out.extend_from_slice(&Writer::new().v(secret.epoch()).finish());
        out.extend_from_slice(secret.key.bytes());
    }
    out
}

fn decode(space: SpaceId, bytes: &[u8]) -> Result<BTreeMap<u64, SpaceSecret>> {
    let mut reader = Reader::new(bytes);
    let count = reader.count(ROW)?;
    let (mut secrets, mut last) = (BTreeMap::new(), 0);
    for _ in 0..count {
        let epoch = reader.v()?;
        require(epoch > last)?;
        last = epoch;
        let secret = SpaceSecret::from_bytes(space, epoch, reader.take(32)?)?;
        secrets.insert(epoch, secret);
    }
    reader.end()?;
    Ok(secrets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SystemRandom;

    fn space(n: u8) -> SpaceId {
        SpaceId::from_random_bytes([n; 16])
    }

    fn ring(epochs: u64) -> KeyRing {
        let first = SpaceSecret::generate(space(1), 1, &mut SystemRandom);
        (1..epochs).fold(KeyRing::new(first), |ring, _| {
            ring.with_next_epoch(&mut SystemRandom)
        })
    }

    fn bytes(ring: &KeyRing, epoch: u64) -> Option<[u8; 32]> {
        ring.secret(epoch).map(|secret| *secret.to_bytes())
    }

    #[test]
    fn the_newest_secret_opens_all_older_ones() {
        for epochs in [1, 2, 200] {
            let ring = ring(epochs);
            let sealed = ring.seal_older(&mut SystemRandom);
            let opened = KeyRing::open_older(ring.newest_secret().clone(), &sealed).unwrap();
            for epoch in 0..epochs + 2 {
                assert_eq!(bytes(&opened, epoch), bytes(&ring, epoch));
                assert_eq!(
                    bytes(&opened, epoch).is_some(),
                    (1..=epochs).contains(&epoch)
                );
            }
            let next = ring.with_next_epoch(&mut SystemRandom);
            assert!(KeyRing::open_older(next.newest_secret().clone(), &sealed).is_err());
            let whole = KeyRing::decode(space(1), &ring.encode()).unwrap();
            assert_eq!(*whole.encode(), *ring.encode());
        }
    }

    #[test]
    fn epochs_rise_and_end_below_the_newest() {
        let secret = |epoch| SpaceSecret::from_bytes(space(1), epoch, &[7; 32]).unwrap();
        for epochs in [[1, 1], [2, 1], [0, 1]] {
            let plain = encode(epochs.map(secret).iter());
            assert!(decode(space(1), &plain).is_err(), "{epochs:?}");
        }
        let ring = ring(3);
        let plain = encode([secret(1), secret(3)].iter());
        let newest = ring.newest_secret().clone();
        let sealed = seal::seal(&newest.key, purpose(&newest), &plain, &mut SystemRandom);
        assert!(KeyRing::open_older(newest, &sealed).is_err());
        assert!(KeyRing::decode(space(1), &[0]).is_err());
        let zeros = [&[1, 1][..], &[0; 32]].concat();
        assert!(KeyRing::decode(space(1), &zeros).is_err());
    }
}
