//! The rows that a scan writes for files that are where they were.

use super::{Directory, Scan};
use crate::observe::hash::local_stat;
use cairn_index::{IndexError, LocalRow, Skipped};
use cairn_model::{Kind, LocalId, Name, RelPath};
use cairn_platform::Stat;

impl Scan<'_, '_> {
    /// Records a changed stat of a file that is where it was.
    pub(crate) fn update_known_row(
        &mut self,
        row: &LocalRow,
        stat: &Stat,
        path: &RelPath,
    ) -> Result<(), IndexError> {
        let now = local_stat(stat);
        let executable = row.kind == Kind::File && stat.executable.unwrap_or(row.executable);
        let is_same = row.stat == now && !self.earlier.was_read_too_early(path, &now);
        if is_same && row.executable == executable && row.skipped == Skipped::No {
            return Ok(());
        }
        if !is_same && self.is_unsettled(path, stat) {
            return Ok(());
        }
        self.note_names(stat);
        // Skipped until now, or another stat: the hash holds only for the bytes that it was made from.
        let hash = row.hash.filter(|_| is_same);
        self.db.update_local(&LocalRow {
            stat: now,
            executable,
            hash,
            skipped: Skipped::No,
            ..row.clone()
        })?;
        self.found.changed = true;
        Ok(())
    }

    /// Returns whether a file is left to a later scan, because its stat can have more than one content yet.
    pub(crate) fn is_unsettled(&mut self, path: &RelPath, stat: &Stat) -> bool {
        let Some(file) = self.earlier.unsettled(path, stat) else {
            return false;
        };
        self.found.unsettled.insert(path.clone(), file);
        !file.is_recorded
    }

    pub(crate) fn mark_skipped(
        &mut self,
        row: LocalRow,
        skipped: Skipped,
    ) -> Result<(), IndexError> {
        if row.skipped != skipped {
            self.db.update_local(&LocalRow { skipped, ..row })?;
            self.found.changed = true;
        }
        Ok(())
    }

    /// Marks a row that is gone from the scan because it is ignored now, not because it was deleted.
    pub(crate) fn mark_if_ignored(
        &mut self,
        row: &LocalRow,
        path: &RelPath,
    ) -> Result<bool, IndexError> {
        let ignored = self.rules.ignores(path, row.kind == Kind::Folder);
        if ignored {
            self.mark_skipped(row.clone(), Skipped::Ignored)?;
        }
        Ok(ignored)
    }

    /// Records a symbolic link, a socket or a device as a row that is not synced: the planner has to know that its
    /// name is taken.
    pub(super) fn record_special(
        &mut self,
        dir: &Directory<'_>,
        name: Name,
        stat: &Stat,
        row: Option<LocalRow>,
    ) -> Result<(), IndexError> {
        if row.is_some() {
            return self.mark_if_known(row, Skipped::Special);
        }
        self.db.insert_local(&LocalRow {
            id: LocalId(0),
            folder: self.folder.id,
            parent: dir.id,
            name,
            kind: Kind::File,
            stat: local_stat(stat),
            executable: false,
            hash: None,
            skipped: Skipped::Special,
        })?;
        self.found.changed = true;
        Ok(())
    }

    pub(super) fn mark_if_known(
        &mut self,
        row: Option<LocalRow>,
        skipped: Skipped,
    ) -> Result<(), IndexError> {
        match row {
            Some(row) => self.mark_skipped(row, skipped),
            None => Ok(()),
        }
    }
}
