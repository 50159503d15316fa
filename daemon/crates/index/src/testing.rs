//! Rows for tests.

use crate::open::MIGRATIONS;
use crate::{LocalRow, LocalStat, Skipped};
use cairn_model::{FolderId, Kind, LocalId, Name, NodeId};
use rusqlite::Connection;
use std::path::Path;

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

/// Makes the index of a Cairn from before the migration whose text contains `newer`, with some rows.
pub(crate) fn older_index(path: &Path, newer: &str, rows: &str) {
    let version = MIGRATIONS.iter().position(|sql| sql.contains(newer));
    let version = version.unwrap();
    let old = Connection::open(path).unwrap();
    for sql in &MIGRATIONS[..version] {
        old.execute_batch(sql).unwrap();
    }
    old.pragma_update(None, "user_version", version as i64)
        .unwrap();
    old.execute_batch(rows).unwrap();
}
