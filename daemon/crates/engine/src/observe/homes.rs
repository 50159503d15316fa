//! Directories in a synced folder where other installations keep their own files, known by a marker file: they
//! are not synced.
//!
//! The directories of this installation are known without one; they are among the rules.

use crate::observe::scan::Scan;
use cairn_index::{IndexError, LocalRow, Skipped};
use cairn_model::{Kind, LocalId, RelPath};
use cairn_platform::Entry;
use cairn_platform::dirs::HOME_MARK;

impl Scan<'_, '_> {
    /// Leaves out a directory below the root if it is marked as one of an installation, with everything in
    /// it. Its row stays, so that nothing from the service is put in it or over it, and nothing is deleted
    /// there. Returns whether it is one.
    pub(crate) fn leave_out_home(
        &mut self,
        dir: Option<LocalId>,
        entries: &[Entry],
    ) -> Result<bool, IndexError> {
        let Some(dir) = dir.filter(|_| entries.iter().any(|entry| entry.name == HOME_MARK)) else {
            return Ok(false);
        };
        if let Some(row) = self.db.local_row(dir)? {
            self.mark_skipped(row, Skipped::Ignored)?;
        }
        Ok(true)
    }

    /// Returns whether a directory that was left out is still marked.
    pub(crate) fn is_still_home(&self, path: &RelPath, kind: Kind, row: Option<&LocalRow>) -> bool {
        let was_left_out =
            row.is_some_and(|row| row.kind == Kind::Folder && row.skipped == Skipped::Ignored);
        let mark = || path.to_path(&self.root).join(HOME_MARK);
        kind == Kind::Folder && was_left_out && self.disk.stat(&mark()).is_ok()
    }
}
