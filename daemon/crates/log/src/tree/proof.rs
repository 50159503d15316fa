//! Proofs from stored subtrees: what a server shows of a tree without reading its leaves.
//!
//! A subtree is named by its level (0: a leaf) and its place on that level. Only complete ones are stored;
//! each range that a proof needs is made of them.

use super::{EMPTY_ROOT, Hash, hash_pair};

/// Returns the root of the tree at a size.
///
/// # Errors
/// Errors of reading a subtree; so for all proofs.
pub fn root_at<E>(size: u64, read: &mut impl FnMut(u8, u64) -> Result<Hash, E>) -> Result<Hash, E> {
    if size == 0 {
        return Ok(EMPTY_ROOT);
    }
    range(0, size, read)
}

/// Returns the audit path of the leaf at a position (RFC 9162, section 2.1.3.1); it has to be below the size.
///
/// # Errors
/// Fails like [`root_at`].
pub fn prove_inclusion<E>(
    position: u64,
    size: u64,
    read: &mut impl FnMut(u8, u64) -> Result<Hash, E>,
) -> Result<Vec<Hash>, E> {
    let (mut start, mut count) = (0, size);
    let mut siblings = Vec::new();
    while count > 1 {
        let left = split(count);
        if position < start + left {
            siblings.push((start + left, count - left));
            count = left;
        } else {
            siblings.push((start, left));
            start += left;
            count -= left;
        }
    }
    hashes(siblings, read)
}

/// Returns the proof that the tree of `old` leaves is the beginning of that of `size` leaves (RFC 9162,
/// section 2.1.4.1); `old` is at most `size`.
///
/// # Errors
/// Fails like [`root_at`].
pub fn prove_consistency<E>(
    old: u64,
    size: u64,
    read: &mut impl FnMut(u8, u64) -> Result<Hash, E>,
) -> Result<Vec<Hash>, E> {
    if old == 0 || old == size {
        return Ok(Vec::new());
    }
    let (mut start, mut count, mut rest) = (0, size, old);
    let mut ranges = Vec::new();
    while rest != count {
        let left = split(count);
        if rest <= left {
            ranges.push((start + left, count - left));
            count = left;
        } else {
            ranges.push((start, left));
            start += left;
            count -= left;
            rest -= left;
        }
    }
    // The verifier has the old root itself, and needs no copy of it.
    if start > 0 {
        ranges.push((start, count));
    }
    hashes(ranges, read)
}

/// Returns the largest power of two below a count of at least two.
fn split(count: u64) -> u64 {
    count.next_power_of_two() / 2
}

/// The hashes of ranges, the last one first: from the leaf up.
fn hashes<E>(
    ranges: Vec<(u64, u64)>,
    read: &mut impl FnMut(u8, u64) -> Result<Hash, E>,
) -> Result<Vec<Hash>, E> {
    let upwards = ranges.into_iter().rev();
    upwards
        .map(|(start, count)| range(start, count, read))
        .collect()
}

/// The root over a range of leaves; its start is a multiple of each of its complete subtrees.
fn range<E>(
    start: u64,
    count: u64,
    read: &mut impl FnMut(u8, u64) -> Result<Hash, E>,
) -> Result<Hash, E> {
    let mut parts = Vec::new();
    let mut at = start;
    for level in (0..63_u8).rev() {
        if count & (1 << level) != 0 {
            parts.push(read(level, at >> level)?);
            at += 1 << level;
        }
    }
    let mut parts = parts.into_iter().rev();
    let last = parts.next().unwrap_or(EMPTY_ROOT);
    Ok(parts.fold(last, |right, left| hash_pair(&left, &right)))
}
