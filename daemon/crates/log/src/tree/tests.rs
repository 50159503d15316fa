//! The tree against a naive one, and each proof against all wrong sizes.

use super::*;
use proptest::prelude::*;

/// RFC 9162 as it is written: split at the largest power of two below the size.
fn naive_root(leaves: &[Hash]) -> Hash {
    match leaves {
        [] => EMPTY_ROOT,
        [one] => *one,
        _ => {
            let (left, right) = leaves.split_at(split(leaves.len()));
            hash_pair(&naive_root(left), &naive_root(right))
        }
    }
}

fn split(length: usize) -> usize {
    length.next_power_of_two() / 2
}

fn audit(at: usize, leaves: &[Hash]) -> Vec<Hash> {
    if leaves.len() == 1 {
        return Vec::new();
    }
    let (left, right) = leaves.split_at(split(leaves.len()));
    let (mut path, other) = if at < left.len() {
        (audit(at, left), naive_root(right))
    } else {
        (audit(at - left.len(), right), naive_root(left))
    };
    path.push(other);
    path
}

fn consistency(old: usize, leaves: &[Hash], is_whole: bool) -> Vec<Hash> {
    if old == leaves.len() {
        return if is_whole {
            Vec::new()
        } else {
            vec![naive_root(leaves)]
        };
    }
    let (left, right) = leaves.split_at(split(leaves.len()));
    let (mut proof, other) = if old <= left.len() {
        (consistency(old, left, is_whole), naive_root(right))
    } else {
        (
            consistency(old - left.len(), right, false),
            naive_root(left),
        )
    };
    proof.push(other);
    proof
}

fn leaves(count: usize) -> Vec<Hash> {
    (0..count).map(|i| hash_leaf(&[i as u8])).collect()
}

fn tree(leaves: &[Hash]) -> Tree {
    let mut tree = Tree::default();
    leaves.iter().for_each(|leaf| tree.push(*leaf));
    tree
}

#[test]
fn roots_are_those_of_the_specification() {
    for count in 0..70 {
        let leaves = leaves(count);
        assert_eq!(tree(&leaves).root(), naive_root(&leaves), "{count}");
        assert_eq!(tree(&leaves).size(), count as u64);
    }
    // The roots of certificate transparency's own tests.
    let inputs = [
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    ]
    .map(|hex| hex::decode(hex).unwrap());
    let roots = [
        (
            1,
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        ),
        (
            3,
            "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        ),
        (
            8,
            "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
        ),
    ];
    for (count, root) in roots {
        assert_eq!(hex::encode(root_of(&inputs[..count])), root);
    }
}

#[test]
fn audit_paths_lead_from_their_leaf_to_their_root_only() {
    for count in 1..20 {
        let leaves = leaves(count);
        let root = naive_root(&leaves);
        for at in 0..count {
            let path = audit(at, &leaves);
            let check = |leaf: &Hash, at: usize, size: usize, path: &[Hash]| {
                verify_inclusion(leaf, at as u64, size as u64, path, &root).is_ok()
            };
            assert!(check(&leaves[at], at, count, &path), "{at} of {count}");
            for other in 0..count + 2 {
                assert_eq!(check(&leaves[at], other, count, &path), other == at);
            }
            assert!(!check(&hash_leaf(b"other"), at, count, &path));
            assert!(!check(
                &leaves[at],
                at,
                count,
                &[&path[..], &[root]].concat()
            ));
            if let Some((_, short)) = path.split_last() {
                assert!(!check(&leaves[at], at, count, short));
            }
        }
    }
}

#[test]
fn consistency_holds_for_beginnings_only() {
    for new in 1..20 {
        let leaves = leaves(new);
        for old in 1..=new {
            let proof = consistency(old, &leaves, true);
            let (old_root, new_root) = (naive_root(&leaves[..old]), naive_root(&leaves));
            let check = |old: usize, old_root: &Hash, new: usize, proof: &[Hash]| {
                verify_consistency((old as u64, old_root), (new as u64, &new_root), proof).is_ok()
            };
            assert!(check(old, &old_root, new, &proof), "{old} of {new}");
            assert!(!check(old, &hash_leaf(b"other"), new, &proof));
            assert!(!check(
                old,
                &old_root,
                new,
                &[&proof[..], &[new_root]].concat()
            ));
            if let Some((_, short)) = proof.split_last() {
                assert!(!check(old, &old_root, new, short));
            }
            for other in 1..=new {
                if other != old {
                    assert!(!check(other, &old_root, new, &proof), "{old} as {other}");
                }
            }
        }
        assert!(
            verify_consistency((0, &EMPTY_ROOT), (new as u64, &naive_root(&leaves)), &[]).is_ok()
        );
        assert!(
            verify_consistency((0, &[1; 32]), (new as u64, &naive_root(&leaves)), &[]).is_err()
        );
    }
}

#[test]
fn stored_subtrees_prove_every_size_as_the_specification_does() {
    let mut tree = Tree::default();
    let mut stored = std::collections::BTreeMap::new();
    for size in 0..130_u64 {
        let leaves = leaves(size as usize);
        let mut read = |level, place| stored.get(&(level, place)).copied().ok_or((level, place));
        assert_eq!(root_at(size, &mut read), Ok(naive_root(&leaves)), "{size}");
        for at in 0..size {
            let path = prove_inclusion(at, size, &mut read);
            assert_eq!(path, Ok(audit(at as usize, &leaves)), "{at} of {size}");
            let proof = prove_consistency(at, size, &mut read);
            let expected = match at {
                0 => Vec::new(),
                _ => consistency(at as usize, &leaves, true),
            };
            assert_eq!(proof, Ok(expected), "{at} of {size}");
        }
        assert_eq!(prove_consistency(size, size, &mut read), Ok(Vec::new()));
        tree.append(hash_leaf(&[size as u8]), &mut |level, place, hash| {
            assert_eq!(stored.insert((level, place), hash), None);
        });
    }
}

proptest! {
    #[test]
    fn no_proof_does_harm(
        sizes: (u64, u64), path in prop::collection::vec(any::<[u8; 32]>(), 0..70),
    ) {
        prop_assert!(verify_inclusion(&[1; 32], sizes.0, sizes.1, &path, &[2; 32]).is_err());
        let (old, new) = ((sizes.0, &[1; 32]), (sizes.1, &[2; 32]));
        prop_assert!(verify_consistency(old, new, &path).is_err());
    }
}
