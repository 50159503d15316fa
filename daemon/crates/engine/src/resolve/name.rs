//! A conflict over a name in which a folder is involved: the item that has the name goes to the trash, and the
//! conflict copy takes the name.
//!
//! In between nothing has the name, which a scan would take for a deletion. So the copy is noted in the index
//! first, and the next scan after a crash begins by giving it the name.

use super::find::Found;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::trash;
use cairn_index::{Db, FolderRow, IndexError};
use cairn_model::{FolderId, RelPath};
use cairn_platform::Stat;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// A copy that is about to take a name.
#[derive(Serialize, Deserialize)]
struct TakenName {
    /// Below the folder's root.
    copy: String,
    name: String,
    /// The copy's device and inode: another file is not given the name.
    file: (u64, u64),
    /// The file's birth time: a file id may be used again.
    #[serde(default)]
    birth_ns: Option<i64>,
}

impl TakenName {
    fn key(folder: FolderId) -> String {
        format!("taken name {}", folder.0)
    }

    fn of(db: &Db<'_>, folder: FolderId) -> Result<Option<Self>, IndexError> {
        let Some(bytes) = db.meta(&Self::key(folder))? else {
            return Ok(None);
        };
        let taken = serde_json::from_slice(&bytes);
        taken
            .map(Some)
            .map_err(|_| IndexError::Corrupt("taken name"))
    }

    /// Returns whether a file is the copy. The number of its device may have changed since.
    fn is_copy(&self, found: &Stat) -> bool {
        let same_birth = self.birth_ns.is_none() || self.birth_ns == found.birth_ns;
        self.file.1 == found.file_id.inode && same_birth
    }

    fn forget(engine: &Engine, folder: FolderId) -> Result<(), IndexError> {
        engine.index.write(|db| db.remove_meta(&Self::key(folder)))
    }
}

fn file_of(stat: &Stat) -> (u64, u64) {
    (stat.file_id.device, stat.file_id.inode)
}

/// Moves what has the name to the trash, and gives the name to the copy. Callers hold the disk lock.
///
/// # Errors
/// Returns the error of the disk or the index.
pub(super) fn take_name(engine: &Engine, found: &Found) -> Result<(), EngineError> {
    finish(engine, &found.folder)?;
    let trashed = free_name(engine, found)?;
    let (disk, root) = (&engine.ports.disk, Path::new(&found.folder.root));
    let target = found.open.path.to_path(root);
    let renamed = disk.rename(&found.open.copy.to_path(root), &target);
    if renamed.is_err() {
        disk.rename(&trashed, &target)?;
    }
    TakenName::forget(engine, found.folder.id)?;
    Ok(renamed?)
}

/// Notes the copy, and moves what has the name to the trash. Returns its place there.
fn free_name(engine: &Engine, found: &Found) -> Result<PathBuf, EngineError> {
    let (disk, root) = (&engine.ports.disk, Path::new(&found.folder.root));
    let (copy, name) = (&found.open.copy, &found.open.path);
    // A note of what can't be done now must not be carried out later.
    disk.stat(&name.to_path(root))?;
    let stat = disk.stat(&copy.to_path(root))?;
    let taken = TakenName {
        copy: copy.to_string(),
        name: name.to_string(),
        file: file_of(&stat),
        birth_ns: stat.birth_ns,
    };
    let taken = serde_json::to_vec(&taken).map_err(io::Error::from)?;
    engine
        .index
        .write(|db| db.set_meta(&TakenName::key(found.folder.id), &taken))?;
    let now_ms = engine.ports.clock.now_ms();
    Ok(trash::put(
        &**disk,
        root,
        &name.to_path(root),
        name,
        now_ms,
    )?)
}

/// Gives a copy its name if a crash came in between. Callers hold the disk lock.
///
/// # Errors
/// Returns the error of the disk or the index; nothing may be scanned then.
pub(crate) fn finish(engine: &Engine, folder: &FolderRow) -> Result<(), EngineError> {
    let Some(taken) = engine.index.read(|db| TakenName::of(db, folder.id))? else {
        return Ok(());
    };
    let disk = &engine.ports.disk;
    let root = Path::new(&folder.root);
    let path = |path: &str| RelPath::parse(path).map(|path| path.to_path(root));
    let (Ok(copy), Ok(target)) = (path(&taken.copy), path(&taken.name)) else {
        return Ok(TakenName::forget(engine, folder.id)?);
    };
    let stat = |path: &Path| match disk.stat(path) {
        Ok(stat) => Ok(Some(stat)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(error),
    };
    if stat(&target)?.is_none() {
        // Where the copy is missing, too, its file system may be: it is looked for again with each scan.
        let Some(found) = stat(&copy)? else {
            return Ok(());
        };
        if taken.is_copy(&found) {
            match disk.rename(&copy, &target) {
                // Its directory is gone: it can never be given the name.
                Err(error) if is_missing(&error) => {}
                renamed => renamed?,
            }
        }
    }
    Ok(TakenName::forget(engine, folder.id)?)
}

fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::find::find_all;
    use super::*;
    use crate::testing::TestEngine;
    use cairn_index::Skipped;

    /// Begins to give the name of the first conflict to its copy, as if a crash came then. Returns the place of
    /// what had the name.
    pub(crate) fn crash_halfway(engine: &Engine) -> PathBuf {
        let found = find_all(engine).unwrap().remove(0);
        free_name(engine, &found).unwrap()
    }

    const COPY: &str = "f (conflicted copy here 2026-01-02 030405)";

    #[tokio::test]
    async fn nothing_but_the_copy_is_given_the_name_and_only_if_it_is_free() {
        let test = TestEngine::new();
        test.local_file("f", Skipped::No);
        test.local_file(COPY, Skipped::No);
        let (engine, dir) = test.into_engine();
        let (name, copy) = (dir.path().join("f"), dir.path().join(COPY));
        std::fs::create_dir(&name).unwrap();
        std::fs::write(&copy, "a copy").unwrap();
        let found = find_all(&engine).unwrap().remove(0);
        free_name(&engine, &found).unwrap();
        // Another file has the copy's name by now: the inode of the first must not be free for it.
        std::fs::rename(&copy, dir.path().join("elsewhere")).unwrap();
        finish(&engine, &found.folder).unwrap();
        std::fs::write(&copy, "another file").unwrap();
        finish(&engine, &found.folder).unwrap();
        assert!(!name.exists());
        assert_eq!(std::fs::read(&copy).unwrap(), b"another file");

        std::fs::remove_file(&copy).unwrap();
        std::fs::create_dir(&name).unwrap();
        std::fs::write(&copy, "a copy").unwrap();
        free_name(&engine, &found).unwrap();
        std::fs::write(&name, "a person's").unwrap();
        finish(&engine, &found.folder).unwrap();
        assert_eq!(std::fs::read(&name).unwrap(), b"a person's");
        assert!(copy.exists());
    }

    #[tokio::test]
    async fn a_copy_is_known_under_another_number_of_its_device() {
        let (engine, dir) = TestEngine::new().into_engine();
        let folder = engine.index.read(|db| db.folders()).unwrap().remove(0);
        let copy = dir.path().join(COPY);
        std::fs::write(&copy, "a copy").unwrap();
        let stat = engine.ports.disk.stat(&copy).unwrap();
        let (device, inode) = file_of(&stat);
        let note = serde_json::json!({ "copy": COPY, "name": "f", "file": [device + 1, inode] });
        let note = serde_json::to_vec(&note).unwrap();
        let key = TakenName::key(folder.id);
        engine.index.write(|db| db.set_meta(&key, &note)).unwrap();
        finish(&engine, &folder).unwrap();
        assert_eq!(std::fs::read(dir.path().join("f")).unwrap(), b"a copy");
    }
}
