//! The keys of one space: four that come from the space key, one per purpose, in the epoch in force
//! and in those before it.

use crate::bound::Bound;
use crate::error::CryptoError;
use crate::secret::Key;
use cairn_model::SpaceId;

/// What seals and opens everything in one space.
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
    /// Decides where files are cut into chunks.
    pub(crate) chunker: Key,
    /// Those of earlier epochs, newest first: they open, and never seal.
    older: Vec<SpaceKeys>,
}

impl SpaceKeys {
    /// Takes a space key as raw bytes.
    ///
    /// # Errors
    /// [`CryptoError::Opaque`] if all are zero.
    pub fn from_raw(space: SpaceId, epoch: u32, key: &[u8; 32]) -> Result<Self, CryptoError> {
        Ok(Self::from_key(space, epoch, &Key::from_bytes(key)?))
    }

    pub(crate) fn from_key(space: SpaceId, epoch: u32, key: &Key) -> Self {
        let derive = |label| key.derive(&Bound::new(label).id(&space).number(u64::from(epoch)));
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

    /// Rises when a reader is removed; what is written is sealed under the newest.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Tells whether something was sealed in the epoch in force, and not in one whose key somebody
    /// who has left may still hold.
    #[must_use]
    pub fn is_current(&self, sealed: &[u8]) -> bool {
        sealed.starts_with(&self.epoch.to_be_bytes())
    }

    /// The keys of all epochs, newest first.
    pub(crate) fn epochs(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.older)
    }

    /// Splits off the epoch that a seal was made in, which stands in front of it in clear, and gives
    /// the keys of that epoch.
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
