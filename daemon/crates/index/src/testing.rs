//! Rows for tests.

use crate::{LocalRow, LocalStat, Skipped};
use cairn_model::{FolderId, Kind, LocalId, Name, NodeId};

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

pub(crate) fn node(id: u8) -> NodeId {
    NodeId::from_random_bytes([id; 16])
}

/// A file that is not recorded yet.
pub(crate) fn local(folder: FolderId, parent: Option<LocalId>, text: &str) -> LocalRow {
    LocalRow {
        id: LocalId(0),
        folder,
        parent,
        name: name(text),
        kind: Kind::File,
        stat: LocalStat::default(),
        executable: false,
        hash: None,
        skipped: Skipped::No,
    }
}
