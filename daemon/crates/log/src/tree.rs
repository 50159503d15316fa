//! The Merkle tree of a log (RFC 9162, section 2.1, with SHA-256): roots, audit paths, consistency.

mod proof;

pub use proof::{prove_consistency, prove_inclusion, root_at};

use crate::error::{LogError, require};
use sha2::{Digest as _, Sha256};

/// The root of a tree without leaves: SHA-256 of nothing.
pub const EMPTY_ROOT: [u8; 32] = [
    0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24,
    0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
];

type Hash = [u8; 32];

/// Returns the hash of a leaf: SHA-256(00 · leaf).
#[must_use]
pub fn hash_leaf(leaf: &[u8]) -> Hash {
    Sha256::new()
        .chain_update([0])
        .chain_update(leaf)
        .finalize()
        .into()
}

fn hash_pair(left: &Hash, right: &Hash) -> Hash {
    let pair = Sha256::new().chain_update([1]).chain_update(left);
    pair.chain_update(right).finalize().into()
}

/// Returns the root over leaves.
#[must_use]
pub fn root_of<B: AsRef<[u8]>>(leaves: &[B]) -> Hash {
    let mut tree = Tree::default();
    for leaf in leaves {
        tree.push(hash_leaf(leaf.as_ref()));
    }
    tree.root()
}

/// A tree as its complete subtrees: all that appending and comparing roots needs, and no leaf.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    size: u64,
    /// The roots of the complete subtrees, largest first: one for each bit of the size.
    subtrees: Vec<Hash>,
}

impl Tree {
    /// Returns the number of leaves.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Appends the hash of a leaf.
    pub fn push(&mut self, leaf: Hash) {
        self.append(leaf, &mut |_, _, _| {});
    }

    /// Appends the hash of a leaf and names each complete subtree that it ends, the leaf first: its level,
    /// its place on the level, its hash.
    pub(crate) fn append(&mut self, leaf: Hash, completed: &mut impl FnMut(u8, u64, Hash)) {
        let (mut node, mut level) = (leaf, 0);
        completed(level, self.size, node);
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.subtrees.pop() {
                node = hash_pair(&left, &node);
                level += 1;
                completed(level, self.size >> level, node);
            }
        }
        self.subtrees.push(node);
        self.size += 1;
    }

    /// Returns the roots of the complete subtrees, largest first: with the size, all that the tree is.
    pub(crate) fn subtrees(&self) -> &[Hash] {
        &self.subtrees
    }

    /// Makes a tree of its size and complete subtrees, if there are as many as the size has.
    pub(crate) fn of_subtrees(size: u64, subtrees: Vec<Hash>) -> Option<Self> {
        let fits = subtrees.len() == size.count_ones() as usize;
        fits.then_some(Self { size, subtrees })
    }

    /// Returns the root.
    #[must_use]
    pub fn root(&self) -> Hash {
        let mut subtrees = self.subtrees.iter().rev();
        let Some(last) = subtrees.next() else {
            return EMPTY_ROOT;
        };
        subtrees.fold(*last, |right, left| hash_pair(left, &right))
    }
}

/// Checks that a leaf is at a position of the tree with this size and root.
///
/// # Errors
/// [`LogError::NotGenuine`] if the audit path doesn't lead there.
pub fn verify_inclusion(
    leaf: &Hash,
    position: u64,
    size: u64,
    path: &[Hash],
    root: &Hash,
) -> std::result::Result<(), LogError> {
    // RFC 9162, section 2.1.3.2.
    if position >= size {
        return Err(LogError::NotGenuine);
    }
    let (mut at, mut last, mut node) = (position, size - 1, *leaf);
    for sibling in path {
        if last == 0 {
            return Err(LogError::NotGenuine);
        }
        if at & 1 == 1 || at == last {
            node = hash_pair(sibling, &node);
            while at & 1 == 0 && at != 0 {
                at >>= 1;
                last >>= 1;
            }
        } else {
            node = hash_pair(&node, sibling);
        }
        at >>= 1;
        last >>= 1;
    }
    require(last == 0 && node == *root)
}

/// Checks that the tree of `old_size` leaves is the beginning of the tree of `new_size` leaves.
///
/// # Errors
/// [`LogError::NotGenuine`] if the proof doesn't show it.
pub fn verify_consistency(
    (old_size, old_root): (u64, &Hash),
    (new_size, new_root): (u64, &Hash),
    proof: &[Hash],
) -> std::result::Result<(), LogError> {
    // RFC 9162, section 2.1.4.2; a tree of nothing begins every tree.
    if old_size == 0 {
        return require(*old_root == EMPTY_ROOT && proof.is_empty());
    }
    if old_size == new_size {
        return require(old_root == new_root && proof.is_empty());
    }
    require(old_size < new_size)?;
    let mut path = proof.iter();
    let first = if old_size.is_power_of_two() {
        *old_root
    } else {
        *path.next().ok_or(LogError::NotGenuine)?
    };
    let (mut at, mut last) = (old_size - 1, new_size - 1);
    while at & 1 == 1 {
        at >>= 1;
        last >>= 1;
    }
    let (mut old, mut new) = (first, first);
    for sibling in path {
        if last == 0 {
            return Err(LogError::NotGenuine);
        }
        if at & 1 == 1 || at == last {
            old = hash_pair(sibling, &old);
            new = hash_pair(sibling, &new);
            while at & 1 == 0 && at != 0 {
                at >>= 1;
                last >>= 1;
            }
        } else {
            new = hash_pair(&new, sibling);
        }
        at >>= 1;
        last >>= 1;
    }
    require(last == 0 && old == *old_root && new == *new_root)
}

#[cfg(test)]
mod tests;
