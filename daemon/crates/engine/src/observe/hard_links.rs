//! Files with several names: a change that is seen at one of them is one of all.

use crate::observe::hash::local_stat;
use crate::observe::scan::Scan;
use cairn_index::{IndexError, LocalRow, Skipped};
use cairn_model::Kind;
use cairn_platform::{FileKind, Stat};

impl Scan<'_, '_> {
    /// Notes a file that was found new or changed, if it may have other names.
    pub(crate) fn note_names(&mut self, stat: &Stat) {
        if stat.kind == FileKind::File && stat.links > 1 {
            let file = (stat.file_id.device, stat.file_id.inode, stat.birth_ns);
            // By the file, so that one with many names is looked for once.
            self.several_names.insert(file, *stat);
        }
    }

    /// Records the changes of files with several names at those names that this scan has not looked at: the watcher
    /// gives a hint for the one that was used.
    pub(crate) fn look_at_other_names(&mut self) -> Result<(), IndexError> {
        for stat in std::mem::take(&mut self.several_names).into_values() {
            for row in self.db.locals_by_file(self.folder.id, &local_stat(&stat))? {
                self.look_at_name(&row, &stat)?;
            }
        }
        Ok(())
    }

    fn look_at_name(&mut self, row: &LocalRow, seen: &Stat) -> Result<(), IndexError> {
        let now = local_stat(seen);
        // Only the time of the last change of attributes differs where a file has got a further name.
        let is_known = (row.stat.size, row.stat.mtime) == (now.size, now.mtime)
            && seen.executable.is_none_or(|bit| bit == row.executable);
        if is_known || row.kind != Kind::File || row.skipped != Skipped::No {
            return Ok(());
        }
        let Some(path) = self.db.local_path(row.id)? else {
            return Ok(());
        };
        match self.disk.stat(&path.to_path(&self.root)) {
            Ok(there) if local_stat(&there).same_file(&now) => {
                self.update_known_row(row, &there, &path)
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }
}
