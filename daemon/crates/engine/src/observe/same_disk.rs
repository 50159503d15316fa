//! Telling whether a directory still holds what the index knows in it, or is on another disk.
//!
//! Numbers of devices change, and so do those of files on some file systems. Names alone say little:
//! many disks have a `DCIM` or a `lost+found`. Nothing may be taken as deleted that is only on a disk
//! that is not there.

use cairn_index::{Db, IndexError, LocalRow};
use cairn_model::{FolderId, Kind, LocalId};
use cairn_platform::{Disk, FileKind, Stat};
use std::path::Path;

/// Maximum number of names that are compared.
const COMPARED: usize = 100;

/// The names that were compared, and how many of them are the same file as before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Comparison {
    names: usize,
    same: usize,
}

/// Compares a directory with the rows below it.
pub(crate) struct SameDisk<'a, 'b> {
    pub(crate) db: &'a Db<'b>,
    pub(crate) disk: &'a dyn Disk,
    pub(crate) folder: FolderId,
}

impl SameDisk<'_, '_> {
    /// Returns whether at least half of what the index knows in `dir`, up to a limit, is there as the same
    /// files, or whether it knows nothing in it.
    ///
    /// # Errors
    /// Returns the error of the index.
    pub(crate) fn holds(&self, dir: Option<LocalId>, path: &Path) -> Result<bool, IndexError> {
        let mut found = Comparison::default();
        self.compare(dir, path, &mut found)?;
        Ok(found.same * 2 >= found.names)
    }

    /// Returns the same as [`Self::holds`], but false where nothing is known: what is empty proves nothing.
    ///
    /// # Errors
    /// Returns the error of the index.
    pub(crate) fn holds_something(
        &self,
        dir: Option<LocalId>,
        path: &Path,
    ) -> Result<bool, IndexError> {
        let mut found = Comparison::default();
        self.compare(dir, path, &mut found)?;
        Ok(found.names > 0 && found.same * 2 >= found.names)
    }

    fn compare(
        &self,
        dir: Option<LocalId>,
        path: &Path,
        found: &mut Comparison,
    ) -> Result<(), IndexError> {
        for row in self.db.children(self.folder, dir)? {
            if found.names >= COMPARED {
                break;
            }
            let path = path.join(row.name.as_str());
            let stat = self.disk.stat(&path).ok();
            match stat.and_then(|stat| is_same(&row, &stat)) {
                // Its name says nothing, but what is in it may.
                None if stat.is_some_and(|stat| stat.kind == FileKind::Dir) => {
                    self.compare(Some(row.id), &path, found)?;
                }
                same => {
                    found.names += 1;
                    found.same += usize::from(same == Some(true));
                }
            }
        }
        Ok(())
    }
}

/// Returns whether a name stands for the same file as before; `None` if its stat can't tell, or if there
/// is none.
fn is_same(row: &LocalRow, stat: &Stat) -> Option<bool> {
    let is_folder = row.kind == Kind::Folder;
    if is_folder != (stat.kind == FileKind::Dir) {
        return Some(false);
    }
    // No two files are born in the same nanosecond; a file system without births may say 0.
    match (row.stat.birth, stat.birth_ns) {
        (Some(before), Some(now)) if before != 0 && now != 0 => Some(before == now),
        (Some(_) | None, Some(_) | None) if is_folder => None,
        (Some(_) | None, Some(_) | None) => {
            Some((row.stat.size, row.stat.mtime) == (stat.size, stat.mtime_ns))
        }
    }
}
