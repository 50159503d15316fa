//! The keys of one space (the files of one account or team), derived from the space key, one per purpose, for the
//! current epoch (generation of the space key) and for those before it. The keys of contents follow from them, the
//! node and the epoch.

use crate::error::CryptoError;
use crate::format2::{self, NodeKey};
use crate::secret::Key;
use cairn_log::{AssociatedData, NodeKeyRef};
use cairn_model::{NodeId, SpaceId};

/// The keys that seal and open everything in one space.
#[derive(Clone, Debug)]
pub struct SpaceKeys {
    space: SpaceId,
    epoch: u32,
    /// Seals what only the account's own devices read.
    pub(crate) wrap: Key,
    /// Seals manifests.
    pub(crate) meta: Key,
    /// Authenticates nodes.
    pub(crate) mac: Key,
    /// Seals the names of a private space.
    pub(crate) names: Key,
    /// Makes the keys of contents.
    contents: format2::SpaceKeys,
    /// The keys of earlier epochs, newest first: they open, and never seal.
    older: Vec<SpaceKeys>,
}

impl SpaceKeys {
    /// Derives the keys from a space key as raw bytes.
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] if all are zero.
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
            names: derive("cairn/space-names/1"),
            contents: format2::SpaceKeys::of(space, u64::from(epoch), key),
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

    /// Returns true if there were earlier epochs.
    #[must_use]
    pub fn has_older(&self) -> bool {
        !self.older.is_empty()
    }

    /// Returns the key under which new content of a node is sealed: its own of the current epoch.
    #[must_use]
    pub fn node_key(&self, node: NodeId) -> NodeKey {
        self.contents.node(node)
    }

    /// Returns the key of content that is there, of any node and epoch.
    ///
    /// # Errors
    /// [`CryptoError::KeyMissing`] for an epoch that the keys don't reach.
    pub fn node_key_at(&self, at: NodeKeyRef) -> Result<NodeKey, CryptoError> {
        let epoch = u32::try_from(at.epoch).map_err(|_| CryptoError::NotAuthentic)?;
        let keys = self.of_epoch(epoch)?;
        Ok(keys.contents.node(at.node))
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
        let (epoch, rest) = sealed
            .split_first_chunk::<4>()
            .ok_or(CryptoError::NotAuthentic)?;
        let epoch = u32::from_be_bytes(*epoch);
        Ok((self.of_epoch(epoch)?, rest))
    }

    fn of_epoch(&self, epoch: u32) -> Result<&Self, CryptoError> {
        let space = self.space;
        self.epochs()
            .find(|keys| keys.epoch == epoch)
            .ok_or(CryptoError::KeyMissing { space, epoch })
    }

    pub(crate) fn with_epoch(&self, sealed: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(4 + sealed.len());
        out.extend_from_slice(&self.epoch.to_be_bytes());
        out.extend_from_slice(sealed);
        out
    }
}
