//! Keeping both versions of a conflict.
//!
//! On every device the copy's name is what makes it a conflict. So the copy gets a plain name here, and the
//! rename is synced as any other: the decision holds everywhere, also after an index was lost.

use super::find::Found;
use crate::engine::Engine;
use crate::error::EngineError;
use cairn_model::{RelPath, SyncMode};
use std::io;
use std::path::Path;

/// The names that are tried before it is an error.
const ATTEMPTS: u32 = 100;

/// Gives the copy a plain name and returns its new path; `None` if it keeps its name. Callers hold the disk
/// lock.
///
/// # Errors
/// Returns the error of the disk.
pub(super) fn give_plain_name(
    engine: &Engine,
    found: &Found,
) -> Result<Option<RelPath>, EngineError> {
    let from = found.open.copy.to_path(Path::new(&found.folder.root));
    first_name(found, |to| is_given(engine, &from, to))
}

/// Returns the path that [`give_plain_name`] would give the copy now; `None` if it would keep its name.
///
/// # Errors
/// Returns the error of the disk.
pub(super) fn free_plain_name(
    engine: &Engine,
    found: &Found,
) -> Result<Option<RelPath>, EngineError> {
    first_name(found, |path| match engine.ports.disk.stat(path) {
        Ok(_) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error.into()),
    })
}

/// Returns the first path with a plain name that the copy can have, best first; `None` if the copy has to keep its
/// name.
fn first_name(
    found: &Found,
    mut can_have: impl FnMut(&Path) -> Result<bool, EngineError>,
) -> Result<Option<RelPath>, EngineError> {
    // Nothing is sent from such a folder, and a name that only differs here would be put back.
    if found.folder.settings.mode == SyncMode::Download {
        return Ok(None);
    }
    let root = Path::new(&found.folder.root);
    let parent = found.open.copy.parent().unwrap_or_default();
    let plain = found.copy.name.without_copy_mark();
    let numbered = (2..=ATTEMPTS).map(|number| plain.with_number(number));
    for name in std::iter::once(plain.clone()).chain(numbered) {
        let path = parent.join(name);
        if can_have(&path.to_path(root))? {
            return Ok(Some(path));
        }
    }
    Err(no_free_name(found))
}

fn no_free_name(found: &Found) -> EngineError {
    let text = format!(
        "{} and {} numbered names are in use: rename {} yourself",
        found.copy.name.without_copy_mark(),
        ATTEMPTS - 1,
        found.open.copy
    );
    io::Error::new(io::ErrorKind::AlreadyExists, text).into()
}

/// Renames the copy unless something has the new name.
fn is_given(engine: &Engine, from: &Path, to: &Path) -> Result<bool, EngineError> {
    match engine.ports.disk.rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        renamed => {
            renamed?;
            Ok(true)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::find::find_all;
    use super::*;
    use crate::testing::TestEngine;
    use cairn_index::Skipped;

    const COPY: &str = "f (conflicted copy here 2026-01-02 030405).txt";

    #[tokio::test]
    async fn the_plain_name_replaces_nothing() {
        let test = TestEngine::new();
        test.local_file(COPY, Skipped::No);
        let (engine, dir) = test.into_engine();
        let path = |name: &str| dir.path().join(name);
        let (plain, second) = (
            path("f (here 2026-01-02 030405).txt"),
            path("f (here 2026-01-02 030405) (2).txt"),
        );
        std::fs::write(path(COPY), "a copy").unwrap();
        std::fs::write(&plain, "another file").unwrap();
        let found = find_all(&engine).unwrap().remove(0);
        let renamed = give_plain_name(&engine, &found).unwrap();
        let name = "f (here 2026-01-02 030405) (2).txt";
        assert_eq!(renamed, Some(RelPath::parse(name).unwrap()));
        assert!(!path(COPY).exists());
        assert_eq!(std::fs::read(&plain).unwrap(), b"another file");
        assert_eq!(std::fs::read(&second).unwrap(), b"a copy");
    }

    #[tokio::test]
    async fn a_folder_that_only_downloads_renames_nothing() {
        let test = TestEngine::new();
        test.local_file(COPY, Skipped::No);
        let (engine, dir) = test.into_engine();
        std::fs::write(dir.path().join(COPY), "a copy").unwrap();
        let mut found = find_all(&engine).unwrap().remove(0);
        found.folder.settings.mode = SyncMode::Download;
        assert_eq!(give_plain_name(&engine, &found).unwrap(), None);
        assert!(dir.path().join(COPY).exists());
    }
}
