//! The keys of one space: four that are derived from the space key, one per purpose, for the current
//! epoch and for those before it.

use crate::error::CryptoError;
use crate::secret::Key;
use cairn_log::AssociatedData;
use cairn_model::SpaceId;

/// The keys that seal and open everything in one space.
#[derive(Clone, Debug)]
pub struct SpaceKeys {
    space: SpaceId,
    epoch: u32,
    /// Wraps content keys.
    pub(crate) wrap: Key,
    /// Seals manifests.
    pub(crate) meta: Key,
    /// Authenticates nodes.
    pub(crate) mac: Key,
    /// Seeds the table that cuts files into chunks.
    pub(crate) chunker: Key,
    /// Those of earlier epochs, newest first: they open, and never seal.
    older: Vec<SpaceKeys>,
}

impl SpaceKeys {
    /// Derives the keys from a space key as raw bytes.
    ///
    /// # Errors
    /// [`CryptoError::Opaque`] if all are zero.
    pub fn from_raw(space: SpaceId, epoch: u32, key: &[u8; 32]) -> Result<Self, CryptoError> {
        Ok(Self::from_key(space, epoch, &Key::from_bytes(key)?))
    }

    pub(crate) fn from_key(space: SpaceId, epoch: u32, key: &Key) -> Self {
        let derive = |label| {
            key.derive(
                &AssociatedData::new(label)
                    .id(&space)
                    .number(u64::from(epoch)),
            )
        };
        Self {
            space,
            epoch,
            wrap: derive("cairn/space-wrap/1"),
            meta: derive("cairn/space-meta/1"),
            mac: derive("cairn/space-mac/1"),
            chunker: derive("cairn/space-chunker/1"),
            older: Vec::new(),
        }
    }

    /// Adds the keys of earlier epochs, newest first.
    pub(crate) fn with_older(mut self, older: Vec<Self>) -> Self {
        self.older = older;
        self
    }

    /// The space whose keys these are.
    #[must_use]
    pub fn space(&self) -> SpaceId {
        self.space
    }

    /// The current epoch, under which everything new is sealed. It rises when a reader is removed.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Returns whether something was sealed in the current epoch, and not in an earlier one, whose key a
    /// former member may still have.
    #[must_use]
    pub fn is_current(&self, sealed: &[u8]) -> bool {
        sealed.starts_with(&self.epoch.to_be_bytes())
    }

    /// The keys of all epochs, newest first.
    pub(crate) fn epochs(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.older)
    }

    /// Splits off the epoch in which a seal was made, a big-endian u32 in clear in front of it, and
    /// returns the keys of that epoch.
    pub(crate) fn split_epoch<'a>(
        &self,
        sealed: &'a [u8],
    ) -> Result<(&Self, &'a [u8]), CryptoError> {
        let (epoch, rest) = sealed.split_first_chunk::<4>().ok_or(CryptoError::Opaque)?;
        let epoch = u32::from_be_bytes(*epoch);
        let keys =
            self.epochs()
                .find(|keys| keys.epoch == epoch)
                .ok_or(CryptoError::KeyMissing {
                    space: self.space,
                    epoch,
                })?;
        Ok((keys, rest))
    }

    pub(crate) fn with_epoch(&self, sealed: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(4 + sealed.len());
        out.extend_from_slice(&self.epoch.to_be_bytes());
        out.extend_from_slice(sealed);
        out
    }
}
