//! Words for two devices of one space: equal if both see the same nodes with the same seals (a seal: the MAC with which
//! a key holder authenticates a node's name, parent and content).
//!
//! A server that shows the devices different histories, each correctly sealed, has them say different words.

use cairn_crypto::format2::account::comparison_words;
use cairn_crypto::{ContentHasher, CryptoError};
use cairn_model::{Kind, NodeId, SpaceId};

/// Begins what is hashed: nothing else in the program is hashed into words under it.
const LABEL: &[u8] = b"cairn/compare/1";

/// A node as a device sees it, with its seal.
#[derive(Clone, Copy, Debug)]
pub struct SealedNode<'a> {
    pub node: NodeId,
    /// `None`: the top of the space.
    pub parent: Option<NodeId>,
    pub name: &'a str,
    pub kind: Kind,
    pub executable: bool,
    /// With its number.
    pub seal: &'a [u8],
}

/// The nodes of a space that have seals.
#[derive(Clone, Debug)]
pub struct SealedNodes {
    count: u64,
    hasher: ContentHasher,
}

impl Default for SealedNodes {
    fn default() -> Self {
        let mut hasher = ContentHasher::new();
        hasher.update(LABEL);
        Self { count: 0, hasher }
    }
}

impl SealedNodes {
    /// Adds a node. All devices add them in the order of their ids.
    pub fn add(&mut self, node: SealedNode<'_>) {
        self.count += 1;
        self.hasher.update(node.node.as_bytes());
        // No node has this id.
        let top = [0; 16];
        let parent = node.parent.as_ref().map_or(&top, |id| id.as_bytes());
        self.hasher.update(parent);
        let is_folder = node.kind == Kind::Folder;
        self.hasher
            .update(&[u8::from(is_folder), u8::from(node.executable)]);
        for part in [node.name.as_bytes(), node.seal] {
            self.hasher.update(&(part.len() as u64).to_be_bytes());
            self.hasher.update(part);
        }
    }

    /// Returns the number of the nodes.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the words. Takes some tenths of a second: a server that looks for two histories with equal ones has to
    /// pay that for each try.
    ///
    /// # Errors
    /// [`CryptoError::BadKdf`] if the memory can't be allocated.
    pub fn words(&self, space: SpaceId) -> Result<Vec<&'static str>, CryptoError> {
        let digest = self.hasher.finish().0;
        Ok(comparison_words(space, self.count, &digest)?.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(nodes: &[SealedNode<'_>]) -> Vec<&'static str> {
        let mut all = SealedNodes::default();
        for node in nodes {
            all.add(*node);
        }
        assert_eq!(all.count(), nodes.len() as u64);
        all.words(SpaceId::from_random_bytes([7; 16])).unwrap()
    }

    #[test]
    fn any_difference_gives_other_words() {
        let id = |n| NodeId::from_random_bytes([n; 16]);
        let one = SealedNode {
            node: id(1),
            parent: None,
            name: "plan",
            kind: Kind::File,
            executable: false,
            seal: &[1, 2, 3],
        };
        let two = SealedNode { node: id(2), ..one };
        let same = words(&[one, two]);
        assert_eq!(same.len(), 12);
        assert_eq!(same, words(&[one, two]));
        let others: [&[SealedNode<'_>]; 8] = [
            &[],
            &[one],
            &[
                one,
                SealedNode {
                    seal: &[1, 2, 4],
                    ..two
                },
            ],
            &[
                one,
                SealedNode {
                    name: "plan ",
                    ..two
                },
            ],
            &[
                one,
                SealedNode {
                    parent: Some(id(1)),
                    ..two
                },
            ],
            &[
                one,
                SealedNode {
                    kind: Kind::Folder,
                    ..two
                },
            ],
            &[
                one,
                SealedNode {
                    executable: true,
                    ..two
                },
            ],
            &[one, SealedNode { node: id(3), ..two }],
        ];
        for other in others {
            assert_ne!(words(other), same, "{other:?}");
        }
    }
}
