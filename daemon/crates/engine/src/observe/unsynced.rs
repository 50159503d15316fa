//! The content of a folder that takes no part in syncing: it stays here where the folder is deleted elsewhere.

use crate::error::EngineError;
use crate::observe::hash::local_stat;
use crate::observe::rules::Rules;
use cairn_index::{Db, LocalRow, Skipped};
use cairn_model::{Kind, LocalId, Name, RelPath};
use cairn_platform::{Disk, Entry, FileKind};
use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hasher as _};
use std::path::Path;

/// The number of bytes that the name of a row has of one that is no text.
const LONGEST_BEGIN: usize = 200;

/// A place to look at: a pair on the disk, with what is known of it.
pub(crate) struct Place<'a> {
    pub(crate) db: &'a Db<'a>,
    pub(crate) disk: &'a dyn Disk,
    /// The root of the pair.
    pub(crate) root: &'a Path,
    pub(crate) rules: &'a Rules,
}

/// The files and directories of a folder that are not synced, other than leftovers of programs.
#[derive(Default)]
pub(crate) struct Unsynced {
    /// Rows for those that have none, not inserted yet. A planner that knows of them deletes no folder around them.
    pub(crate) rows: Vec<LocalRow>,
    /// The number of those that have a row.
    pub(crate) known: usize,
}

impl Unsynced {
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.known == 0
    }
}

impl Place<'_> {
    /// Returns what is not synced of all that is below a folder.
    ///
    /// # Errors
    /// Returns the error of the index, or of the disk.
    pub(crate) fn find_unsynced(
        &self,
        dir: &LocalRow,
        path: &RelPath,
    ) -> Result<Unsynced, EngineError> {
        let mut found = Unsynced::default();
        self.add_unsynced(dir, path, &mut found)?;
        Ok(found)
    }

    fn add_unsynced(
        &self,
        dir: &LocalRow,
        path: &RelPath,
        found: &mut Unsynced,
    ) -> Result<(), EngineError> {
        let known = self.db.children(dir.folder, Some(dir.id))?;
        for entry in self.disk.list(&path.to_path(self.root))? {
            let is_text = entry.name.to_str().is_some();
            let name = name_of_row(&entry.name).ok_or(EngineError::Stale)?;
            match known.iter().find(|child| child.name == name) {
                Some(child) if child.skipped != Skipped::No => found.known += 1,
                Some(child) if child.kind == Kind::Folder => {
                    self.add_unsynced(child, &path.join(name), found)?;
                }
                Some(_) => {}
                None if is_text && self.rules.is_leftover(path, name.as_str()) => {}
                None => found.rows.push(row_of(dir, name, &entry)?),
            }
        }
        Ok(())
    }
}

/// Returns the name that the row of an entry has. For a name that is no text, which no row can have, another one stands
/// that is made from its bytes.
pub(crate) fn name_of_row(name: &OsStr) -> Option<Name> {
    if let Some(Ok(name)) = name.to_str().map(Name::new) {
        return Some(name);
    }
    let mut hasher = DefaultHasher::new();
    hasher.write(name.as_encoded_bytes());
    let text = name.to_string_lossy();
    let begin = &text[..text.floor_char_boundary(LONGEST_BEGIN)];
    Name::new(format!("{begin}\u{fffd}{:016x}", hasher.finish())).ok()
}

/// Returns a row for what has none because the rules leave it out, or because its name is no text.
fn row_of(dir: &LocalRow, name: Name, entry: &Entry) -> Result<LocalRow, EngineError> {
    let stat = match &entry.stat {
        Ok(stat) => stat,
        Err(error) => {
            return Err(std::io::Error::new(error.kind(), error.to_string()).into());
        }
    };
    Ok(LocalRow {
        id: LocalId(0),
        folder: dir.folder,
        parent: Some(dir.id),
        name,
        kind: match stat.kind {
            FileKind::Dir => Kind::Folder,
            FileKind::File | FileKind::Symlink | FileKind::Other => Kind::File,
        },
        stat: local_stat(stat),
        executable: false,
        hash: None,
        skipped: Skipped::Ignored,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_text_stay_as_they_are() {
        let name = name_of_row(OsStr::new("café")).unwrap();
        assert_eq!(name.as_str(), "café");
    }

    #[cfg(unix)]
    #[test]
    fn each_name_that_is_no_text_has_its_own_stand_in() {
        use std::collections::BTreeSet;
        use std::os::unix::ffi::OsStrExt as _;
        let long = [&[b'x'; 253][..], b"\xe9"].concat();
        let longer = [&[b'x'; 254][..], b"\xe9"].concat();
        let names = [&b"caf\xe9"[..], b"caf\xe8", b"\xff", &long, &longer];
        let names = names.map(|name| name_of_row(OsStr::from_bytes(name)).unwrap());
        assert_eq!(BTreeSet::from(names).len(), 5);
    }
}
