//! Random bytes in place of commits, entries and pages: refused, and nothing has changed.

use super::both::Both;
use super::world::{World, node_bytes};
use super::*;
use crate::frame::{LogPage, decode_snapshot};
use crate::statement::NodeOp;
use proptest::prelude::*;
use std::sync::LazyLock;

/// A log with commits and an entry, and one more commit that it would take.
struct Sample {
    state: Both,
    commit: Vec<u8>,
    entry: Vec<u8>,
    page: Vec<u8>,
}

static SAMPLE: LazyLock<Sample> = LazyLock::new(|| {
    let mut world = World::with_genesis(false);
    world.create_folder(1, None);
    world.create_file(2, Some(1), "a.txt");
    world.keyless_place(1, "moved");
    let state = world.state.clone();
    let entry = world.entry(1, "again").encode();
    let statements = [
        world.folder(3, Some(1)),
        node_bytes(&world.successor(2, NodeOp::Content)),
    ];
    world.commit(&statements).unwrap();
    let (size, root) = world.state.head();
    let frames = world.frames;
    let Some(Frame::Commit(commit)) = frames.last().cloned() else {
        panic!("the last frame is the commit");
    };
    let page = LogPage {
        history: state.history,
        size,
        root,
        restored_at_ms: 0,
        restored_to: 0,
        frames,
    };
    Sample {
        state,
        commit,
        entry,
        page: page.encode(),
    }
});

type Edit = (prop::sample::Index, u8, u8);

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    prop::collection::vec((any::<prop::sample::Index>(), 0..4_u8, any::<u8>()), 1..5)
}

fn apply_edits(good: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut bytes = good.to_vec();
    for (at, kind, value) in edits {
        if bytes.is_empty() {
            break;
        }
        let at = at.index(bytes.len());
        match kind {
            0 => bytes[at] = *value,
            1 => bytes.truncate(at),
            2 => bytes.insert(at, *value),
            _ => drop(bytes.remove(at)),
        }
    }
    bytes
}

fn facts(state: &SpaceState) -> ((u64, [u8; 32]), [u8; 32], u64) {
    (state.head(), state.digest().hash(), state.epoch())
}

proptest! {
    /// All of a commit is signed: whatever is changed in it, the state refuses it and stays as it is.
    #[test]
    fn a_changed_commit_changes_nothing(edits in edits()) {
        let bytes = apply_edits(&SAMPLE.commit, &edits);
        prop_assume!(bytes != SAMPLE.commit);
        let mut state = SAMPLE.state.clone();
        prop_assert!(state.apply_commit(&bytes).is_err());
        prop_assert_eq!(facts(&state), facts(&SAMPLE.state));
        prop_assert!(state.apply_commit(&SAMPLE.commit).is_ok());
    }

    /// Entries aren't signed: a changed one is refused and changes nothing, or stands as another.
    #[test]
    fn a_changed_entry_is_refused_or_another(edits in edits()) {
        let bytes = apply_edits(&SAMPLE.entry, &edits);
        prop_assume!(bytes != SAMPLE.entry);
        let (mut state, mut honest) = (SAMPLE.state.clone(), SAMPLE.state.clone());
        honest.apply_entry(&SAMPLE.entry).unwrap();
        match state.apply_entry(&bytes) {
            Ok(_) => prop_assert_ne!(facts(&state), facts(&honest)),
            Err(_) => prop_assert_eq!(facts(&state), facts(&SAMPLE.state)),
        }
    }

    /// A page is read as one form, and its leaves never make an error into a panic.
    #[test]
    fn a_changed_page_is_refused_or_another(edits in edits()) {
        let bytes = apply_edits(&SAMPLE.page, &edits);
        if let Ok(page) = LogPage::decode(&bytes) {
            let leaves: Vec<_> = page.frames.iter().map(Frame::leaf).collect();
            prop_assert_eq!(leaves.len(), page.frames.len());
            prop_assert_eq!(page.encode(), bytes);
        }
    }

    #[test]
    fn random_bytes_make_no_reader_fail_otherwise(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let mut state = SAMPLE.state.clone();
        prop_assert!(state.apply_commit(&bytes).is_err());
        let _ = state.apply_entry(&bytes);
        let _ = LogPage::decode(&bytes);
        let _ = decode_snapshot(&bytes);
        let _ = crate::Boxes::decode(&bytes);
    }
}
