//! Files with several names: a change that is seen at one of them is one of all.

use crate::observe::hash::local_stat;
use crate::observe::scan::Scan;
use cairn_index::{Db, IndexError, LocalRow, LocalStat, Skipped};
use cairn_model::{FolderId, Kind, LocalId, RelPath};
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
    /// gives a hint for the one that was used. Names in other pairs are left to scans of those.
    pub(crate) fn look_at_other_names(&mut self) -> Result<(), IndexError> {
        if self.several_names.is_empty() {
            return Ok(());
        }
        let pairs = self.db.folders()?;
        for stat in std::mem::take(&mut self.several_names).into_values() {
            for row in self.db.locals_by_file(self.folder.id, &local_stat(&stat))? {
                self.look_at_name(&row, &stat)?;
            }
            for other in pairs.iter().filter(|pair| pair.id != self.folder.id) {
                for row in self.db.locals_by_file(other.id, &local_stat(&stat))? {
                    if !is_known(&row, &stat)
                        && let Some(path) = self.db.local_path(row.id)?
                    {
                        self.found.elsewhere.insert((other.id, path));
                    }
                }
            }
        }
        Ok(())
    }

    fn look_at_name(&mut self, row: &LocalRow, seen: &Stat) -> Result<(), IndexError> {
        if is_known(row, seen) {
            return Ok(());
        }
        let Some(path) = self.db.local_path(row.id)? else {
            return Ok(());
        };
        match self.disk.stat(&path.to_path(&self.root)) {
            Ok(there) if local_stat(&there).same_file(&local_stat(seen)) => {
                self.update_known_row(row, &there, &path)
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }
}

/// Returns whether nothing is to be recorded about a name of a file, as far as the file tells that was seen under another
/// one. Only the time of the last change of attributes differs where a file has got a further name.
fn is_known(row: &LocalRow, seen: &Stat) -> bool {
    let now = local_stat(seen);
    let is_same = (row.stat.size, row.stat.mtime) == (now.size, now.mtime)
        && seen.executable.is_none_or(|bit| bit == row.executable);
    is_same || row.kind != Kind::File || row.skipped != Skipped::No
}

/// Returns the other names of a file in all pairs, after the engine itself has changed it under one: the watcher gives a
/// hint for that one alone, at which all is as it is known.
///
/// # Errors
/// Returns the error of the index.
pub(crate) fn other_names(
    db: &Db<'_>,
    changed: LocalId,
    stat: &LocalStat,
) -> Result<Vec<(FolderId, RelPath)>, IndexError> {
    let mut names = Vec::new();
    for pair in db.folders()? {
        for row in db.locals_by_file(pair.id, stat)? {
            if row.id != changed && row.kind == Kind::File {
                let path = db.local_path(row.id)?;
                names.extend(path.map(|path| (pair.id, path)));
            }
        }
    }
    Ok(names)
}
