//! Marks that were set since somebody has last looked.

use super::{LOCAL, NODE};
use crate::dirty::Dirty;
use crate::error::IndexError;
use crate::open::Db;
use crate::sql_types::node_at;
use cairn_model::{FolderId, LocalId};

/// The newest marks of a folder that somebody has seen. Marks are numbered, so all later ones are above.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SeenMarks {
    local: i64,
    node: i64,
}

impl Db<'_> {
    /// Returns the keys of a folder, at most `most` of either kind, that were marked after `seen`, the newest first; and
    /// the marks that are seen with them.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn marked_since(
        &self,
        folder: FolderId,
        seen: SeenMarks,
        most: usize,
    ) -> Result<(Dirty, SeenMarks), IndexError> {
        let after = (seen.local, i64::MAX);
        let local = self.marks(LOCAL, folder, after, most, |row| Ok(LocalId(row.get(1)?)))?;
        let after = (seen.node, i64::MAX);
        let node = self.marks(NODE, folder, after, most, |row| node_at(row, 1))?;
        let keys = Dirty {
            local: local.into_iter().map(|(_, key)| key).collect(),
            node: node.into_iter().map(|(_, key)| key).collect(),
        };
        // Those that were seen may have been cleared meanwhile.
        let seen = SeenMarks {
            local: self.newest_mark(LOCAL, folder)?.max(seen.local),
            node: self.newest_mark(NODE, folder)?.max(seen.node),
        };
        Ok((keys, seen))
    }
}
