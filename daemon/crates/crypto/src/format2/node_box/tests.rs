//! Boxes (the encrypted part of a node's statement): all shapes, all wrong requests, padding.

use super::*;
use crate::format2::SpaceSecret;
use cairn_model::SpaceId;
use proptest::prelude::*;

const OPEN_FILE: BoxShape = BoxShape {
    is_folder: false,
    is_private: false,
};
const OPEN_FOLDER: BoxShape = BoxShape {
    is_folder: true,
    is_private: false,
};
const PRIVATE_FILE: BoxShape = BoxShape {
    is_folder: false,
    is_private: true,
};
const PRIVATE_FOLDER: BoxShape = BoxShape {
    is_folder: true,
    is_private: true,
};
const SHAPES: [BoxShape; 4] = [OPEN_FILE, OPEN_FOLDER, PRIVATE_FILE, PRIVATE_FOLDER];

fn keys(space: u8, epoch: u64) -> SpaceKeys {
    let space = SpaceId::from_random_bytes([space; 16]);
    SpaceSecret::from_bytes(space, epoch, &[7; 32])
        .unwrap()
        .keys()
}

fn node(n: u8) -> NodeId {
    NodeId::from_random_bytes([n; 16])
}

fn boxes() -> Vec<(BoxShape, NodeBox)> {
    let facts = PrivateFacts {
        name: "Steuer 2025.pdf".to_owned(),
        size: 123_456,
        mtime_ms: -5,
        mime: "application/pdf".to_owned(),
        hash: [4; 32],
    };
    // Longer than a hash: the shape follows from signed flags, not from the box.
    let name = "Privat, und noch ein langer Name".to_owned();
    vec![
        (OPEN_FILE, NodeBox::OpenFile { hash: [4; 32] }),
        (OPEN_FOLDER, NodeBox::OpenFolder),
        (PRIVATE_FILE, NodeBox::PrivateFile(facts)),
        (PRIVATE_FOLDER, NodeBox::PrivateFolder { name }),
    ]
}

#[test]
fn a_box_opens_for_its_statement_and_shape_only() {
    for (shape, plain) in boxes() {
        let sealed = plain.seal(&keys(1, 1), node(1), 3).unwrap();
        let open =
            |keys: &SpaceKeys, node, seq, shape| NodeBox::open(keys, node, seq, shape, &sealed);
        assert_eq!(open(&keys(1, 1), node(1), 3, shape).as_ref(), Ok(&plain));
        for other in SHAPES {
            let opened = open(&keys(1, 1), node(1), 3, other);
            assert_eq!(opened.is_ok(), other == shape, "{plain:?} as {other:?}");
        }
        if shape == OPEN_FOLDER {
            continue;
        }
        assert!(open(&keys(2, 1), node(1), 3, shape).is_err());
        assert!(open(&keys(1, 2), node(1), 3, shape).is_err());
        assert!(open(&keys(1, 1), node(2), 3, shape).is_err());
        assert!(open(&keys(1, 1), node(1), 4, shape).is_err());
        for at in 0..sealed.len() {
            let mut bad = sealed.clone();
            bad[at] ^= 1;
            assert!(NodeBox::open(&keys(1, 1), node(1), 3, shape, &bad).is_err());
            assert!(NodeBox::open(&keys(1, 1), node(1), 3, shape, &sealed[..at]).is_err());
        }
    }
}

#[test]
fn private_lengths_are_rounded() {
    let folder = |length| NodeBox::PrivateFolder {
        name: "x".repeat(length),
    };
    let sealed = |length| folder(length).seal(&keys(1, 1), node(1), 1).unwrap().len();
    assert_eq!((sealed(1), sealed(31), sealed(32)), (48, 48, 80));
    for bad in [0, 256] {
        assert!(folder(bad).seal(&keys(1, 1), node(1), 1).is_err());
    }
}

#[test]
fn no_word_of_a_private_node_is_in_its_box() {
    for (_, plain) in &boxes()[2..] {
        let sealed = plain.seal(&keys(1, 1), node(1), 1).unwrap();
        for word in ["Steuer", "Privat", "pdf"] {
            let found = sealed
                .windows(word.len())
                .any(|part| part == word.as_bytes());
            assert!(!found, "{word}");
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_do_harm(bytes in prop::collection::vec(any::<u8>(), 0..100), shape in 0..4_usize) {
        let opened = NodeBox::open(&keys(1, 1), node(1), 1, SHAPES[shape], &bytes);
        prop_assert!(opened.is_err() || bytes.is_empty());
        let _ = NodeBox::decode(SHAPES[shape], &bytes);
    }

    #[test]
    fn what_is_read_is_written_the_same(
        name in "[a-z]{1,40}", size in 0..1_u64 << 40, mtime_ms in -(1_i64 << 40)..1 << 40,
    ) {
        let facts = PrivateFacts { name, size, mtime_ms, mime: "text/plain".to_owned(), hash: [1; 32] };
        let plain = NodeBox::PrivateFile(facts).encode()?;
        let again = NodeBox::decode(PRIVATE_FILE, &plain)?.encode()?;
        prop_assert_eq!(plain, again);
    }
}
