//! The key ring of a team's space: the key of the current epoch and those before it, so that earlier
//! data stays readable. An epoch is one generation of the key; a new one begins when a member leaves.

use crate::error::CryptoError;
use crate::random::Random;
use crate::secret::Key;
use crate::space::SpaceKeys;
use cairn_log::AssociatedData;
use cairn_model::SpaceId;
use std::collections::BTreeMap;

/// The space key of each epoch; at least one.
#[derive(Clone, Debug)]
pub struct KeyRing {
    space: SpaceId,
    epoch: u32,
    pub(crate) newest: Key,
    /// The earlier keys by epoch; all below the newest one's.
    pub(crate) older: BTreeMap<u32, Key>,
}

impl KeyRing {
    /// Makes the first key of a space that never had one.
    #[must_use]
    pub fn generate(space: SpaceId, epoch: u32, rng: &mut dyn Random) -> Self {
        Self::new(space, epoch, Key::generate(rng), BTreeMap::new())
    }

    pub(crate) fn new(space: SpaceId, epoch: u32, newest: Key, older: BTreeMap<u32, Key>) -> Self {
        Self {
            space,
            epoch,
            newest,
            older,
        }
    }

    /// Makes the key of a later epoch; the ones before it stay on the ring.
    ///
    /// # Errors
    /// [`CryptoError::InvalidInput`] if the epoch is not later.
    pub fn renew(&self, epoch: u32, rng: &mut dyn Random) -> Result<Self, CryptoError> {
        if epoch <= self.epoch {
            return Err(CryptoError::InvalidInput(
                "a new space key needs a later epoch than the one before",
            ));
        }
        let mut older = self.older.clone();
        older.insert(self.epoch, self.newest.clone());
        Ok(Self::new(self.space, epoch, Key::generate(rng), older))
    }

    /// The space whose keys these are.
    #[must_use]
    pub fn space(&self) -> SpaceId {
        self.space
    }

    /// The newest epoch that has a key.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Returns the keys that seal under the newest epoch and open under all.
    #[must_use]
    pub fn keys(&self) -> SpaceKeys {
        let of = |epoch, key| SpaceKeys::from_key(self.space, epoch, key);
        let older = self.older.iter().rev();
        of(self.epoch, &self.newest).with_older(older.map(|(epoch, key)| of(*epoch, key)).collect())
    }

    /// Returns the check values of all epochs, by epoch.
    pub(crate) fn check_values(&self) -> BTreeMap<u32, [u8; 32]> {
        let epochs = self.older.keys().copied().chain([self.epoch]);
        epochs
            .filter_map(|epoch| Some((epoch, self.check_value(epoch)?)))
            .collect()
    }

    /// Returns a value that identifies the key of an epoch and reveals nothing about it. A device stores
    /// it, so that nobody can replace the key.
    #[must_use]
    pub fn check_value(&self, epoch: u32) -> Option<[u8; 32]> {
        let key = if epoch == self.epoch {
            Some(&self.newest)
        } else {
            self.older.get(&epoch)
        };
        let label = AssociatedData::new("cairn/space-key-check/1")
            .id(&self.space)
            .number(u64::from(epoch));
        key.map(|key| *key.derive(&label).bytes())
    }
}
