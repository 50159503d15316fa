//! The keys of a space (the files of one account or team): all of them follow from one secret for each epoch
//! (generation of it), and from the ids of space and node that the client asked for. No key of a content is stored,
//! wrapped or received.

use crate::error::CryptoError;
use crate::random::Random;
use crate::secret::Key;
use cairn_log::{AssociatedData, NodeKeyRef};
use cairn_model::{NodeId, SpaceId};
use zeroize::Zeroizing;

/// The secret of a space in one epoch, S_e.
#[derive(Clone, Debug)]
pub struct SpaceSecret {
    pub(crate) key: Key,
    space: SpaceId,
    epoch: u64,
}

/// The two keys that a space secret is used through: for objects, and for the boxes of nodes.
#[derive(Clone, Debug)]
pub struct SpaceKeys {
    objects: Key,
    pub(crate) boxes: Key,
    pub(crate) space: SpaceId,
    pub(crate) epoch: u64,
}

/// The key of one node's contents in one epoch, K(n, e).
#[derive(Clone, Debug)]
pub struct NodeKey {
    pub(crate) key: Key,
    pub(crate) space: SpaceId,
    pub(crate) at: NodeKeyRef,
}

impl SpaceSecret {
    /// Draws the secret of a new epoch.
    #[must_use]
    pub fn generate(space: SpaceId, epoch: u64, rng: &mut dyn Random) -> Self {
        let key = Key::generate(rng);
        Self { key, space, epoch }
    }

    /// Reads a secret of 32 bytes that are not all zero.
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] for anything else.
    pub fn from_bytes(
        space: SpaceId,
        epoch: u64,
        bytes: &[u8],
    ) -> std::result::Result<Self, CryptoError> {
        let key = Key::from_bytes(bytes)?;
        Ok(Self { key, space, epoch })
    }

    /// The 32 bytes, for a key ring.
    #[must_use]
    pub fn to_bytes(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(*self.key.bytes())
    }

    /// Returns the space that the secret belongs to.
    #[must_use]
    pub fn space(&self) -> SpaceId {
        self.space
    }

    /// Returns the epoch that the secret belongs to.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Derives the keys of the epoch.
    #[must_use]
    pub fn keys(&self) -> SpaceKeys {
        SpaceKeys::of(self.space, self.epoch, &self.key)
    }

    /// Returns the value that an epoch statement publishes, by which a received secret is recognised.
    #[must_use]
    pub fn check_value(&self) -> [u8; 32] {
        *self.derive("cairn/2/check").bytes()
    }

    fn derive(&self, label: &'static str) -> Key {
        derive(&self.key, label, self.space, self.epoch)
    }
}

fn derive(secret: &Key, label: &'static str, space: SpaceId, epoch: u64) -> Key {
    secret.derive(&AssociatedData::new(label).id(&space).number(epoch))
}

impl SpaceKeys {
    /// Derives the keys of an epoch from its secret.
    pub(crate) fn of(space: SpaceId, epoch: u64, secret: &Key) -> Self {
        Self {
            objects: derive(secret, "cairn/2/objects", space, epoch),
            boxes: derive(secret, "cairn/2/box", space, epoch),
            space,
            epoch,
        }
    }

    /// Derives the key of a node's contents.
    #[must_use]
    pub fn node(&self, node: NodeId) -> NodeKey {
        let purpose = AssociatedData::new("cairn/2/node")
            .id(&self.space)
            .number(self.epoch)
            .id(&node);
        let epoch = self.epoch;
        NodeKey {
            key: self.objects.derive(&purpose),
            space: self.space,
            at: NodeKeyRef { node, epoch },
        }
    }
}

impl NodeKey {
    /// Returns the node and epoch that the key belongs to.
    #[must_use]
    pub fn at(&self) -> NodeKeyRef {
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(space: u8, epoch: u64, key: u8) -> SpaceSecret {
        let space = SpaceId::from_random_bytes([space; 16]);
        SpaceSecret::from_bytes(space, epoch, &[key; 32]).unwrap()
    }

    #[test]
    fn each_part_of_the_request_makes_another_key() {
        let node = NodeId::from_random_bytes([9; 16]);
        let all = [
            secret(1, 1, 7),
            secret(2, 1, 7),
            secret(1, 2, 7),
            secret(1, 1, 8),
        ];
        let mut keys: Vec<[u8; 32]> = Vec::new();
        for secret in &all {
            keys.push(*secret.keys().node(node).key.bytes());
            keys.push(*secret.keys().boxes.bytes());
            keys.push(secret.check_value());
        }
        let other = NodeId::from_random_bytes([10; 16]);
        keys.push(*all[0].keys().node(other).key.bytes());
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }

    #[test]
    fn a_secret_of_zeros_is_refused() {
        let space = SpaceId::from_random_bytes([1; 16]);
        assert!(SpaceSecret::from_bytes(space, 1, &[0; 32]).is_err());
        assert!(SpaceSecret::from_bytes(space, 1, &[1; 31]).is_err());
    }
}
