//! Resolves conflicts as a person decides. The version that is not kept goes to the local trash.

mod both;
mod find;
mod merge;
pub(crate) mod name;
mod versions;

pub(crate) use find::{OpenConflict, open_conflicts};

use crate::engine::Engine;
use crate::error::EngineError;
use cairn_model::{ActivityKind, FolderId, Keep, Kind, RelPath};
use find::{Found, find_all};
use name::take_name;
use std::path::Path;
use std::sync::Arc;
use versions::{Version, discard_copy, put_over};

/// Resolves the conflict at `path` (the file's or the copy's). Returns the new path of the copy if it got a
/// plain name.
///
/// # Errors
/// No such conflict, a merge that can't be made, a file that is being changed, or the disk's.
pub(crate) async fn resolve(
    engine: &Arc<Engine>,
    folder: Option<FolderId>,
    path: &RelPath,
    keep: Keep,
) -> Result<Option<RelPath>, EngineError> {
    let found = find(engine, folder, path)?;
    let mut renamed = None;
    match choice(&found, keep)? {
        Choice::Both => {
            let _lock = engine.disk_lock.lock().await;
            renamed = both::give_plain_name(engine, &found)?;
        }
        Choice::Original => {
            let _lock = engine.disk_lock.lock().await;
            check_original_is_there(engine, &found)?;
            discard_copy(engine, &found)?;
        }
        Choice::Copy => {
            let _lock = engine.disk_lock.lock().await;
            if found.copy.kind == Kind::Folder || !found.is_file() {
                take_name(engine, &found)?;
            } else {
                put_over(engine, &found, Version::Copy)?;
                discard_copy(engine, &found)?;
            }
        }
        Choice::Merge => {
            let merged = merge::merge(engine, &found).await?;
            let _lock = engine.disk_lock.lock().await;
            put_over(engine, &found, Version::Bytes(merged.into_bytes()))?;
            discard_copy(engine, &found)?;
        }
    }
    engine
        .index
        .write(|db| db.close_conflict(found.conflict.copy))?;
    engine.activity(
        found.folder.id,
        ActivityKind::Resolved,
        &found.open.path.to_string(),
        None,
        0,
    );
    Ok(renamed)
}

/// The outcome that resolving a conflict would have. Paths are relative to the folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResolvePreview {
    pub path: RelPath,
    pub copy: RelPath,
    /// The plain name that the copy would get.
    pub renamed_copy: Option<RelPath>,
    /// The merged text, where both versions are to be merged.
    pub merged: Option<String>,
}

/// Returns what [`resolve`] would do. Changes nothing; a merge is made, but not kept.
///
/// # Errors
/// Those of [`resolve`], but for a file that is being changed.
pub(crate) async fn preview(
    engine: &Arc<Engine>,
    folder: Option<FolderId>,
    path: &RelPath,
    keep: Keep,
) -> Result<ResolvePreview, EngineError> {
    let found = find(engine, folder, path)?;
    let (mut renamed_copy, mut merged) = (None, None);
    match choice(&found, keep)? {
        Choice::Both => renamed_copy = both::free_plain_name(engine, &found)?,
        Choice::Original => check_original_is_there(engine, &found)?,
        Choice::Copy => {}
        Choice::Merge => merged = Some(merge::merge(engine, &found).await?),
    }
    Ok(ResolvePreview {
        path: found.open.path,
        copy: found.open.copy,
        renamed_copy,
        merged,
    })
}

/// Finds the conflict of which `path` is one of the versions.
fn find(engine: &Engine, folder: Option<FolderId>, path: &RelPath) -> Result<Found, EngineError> {
    find_all(engine)?
        .into_iter()
        .find(|f| {
            folder.is_none_or(|id| id == f.folder.id)
                && (f.open.path == *path || f.open.copy == *path)
        })
        .ok_or_else(|| EngineError::NoConflict(path.to_string()))
}

/// Refuses to give up the copy where the other version was deleted meanwhile: the copy is all that is left.
fn check_original_is_there(engine: &Engine, found: &Found) -> Result<(), EngineError> {
    let other = found.open.path.to_path(Path::new(&found.folder.root));
    match engine.ports.disk.stat(&other) {
        Ok(_) => Ok(()),
        Err(_) => Err(EngineError::OnlyCopy(found.open.copy.to_string())),
    }
}

/// The decision what becomes of the two versions.
enum Choice {
    Both,
    Copy,
    Original,
    Merge,
}

/// Returns what becomes of the versions by a person's decision: of "mine" and "theirs" the conflict's record says
/// which is which. A copy that another device has made says nothing about the version that has the name: of three
/// devices, that may be the third one's.
fn choice(found: &Found, keep: Keep) -> Result<Choice, EngineError> {
    let is_known = |made_here: &bool| *made_here || found.original_sent_here;
    let copy_made_here = found.open.copy_made_here.filter(is_known);
    let keep_copy = match (keep, copy_made_here) {
        (Keep::Both, _) => return Ok(Choice::Both),
        (Keep::Merge, _) => return Ok(Choice::Merge),
        (Keep::Copy, _) => true,
        (Keep::Original, _) => false,
        (Keep::Mine, Some(is_ours)) => is_ours,
        (Keep::Theirs, Some(is_ours)) => !is_ours,
        (Keep::Mine | Keep::Theirs, None) => {
            return Err(EngineError::WhoseCopy(found.open.copy.to_string()));
        }
    };
    Ok(if keep_copy {
        Choice::Copy
    } else {
        Choice::Original
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestEngine;
    use cairn_index::Skipped;

    #[tokio::test]
    async fn a_preview_refuses_what_resolving_refuses() {
        let test = TestEngine::new();
        test.local_file(
            "f (conflicted copy here 2026-01-02 030405).txt",
            Skipped::No,
        );
        let (engine, _dir) = test.into_engine();
        let path = RelPath::parse("f.txt").unwrap();
        let only_copy = preview(&engine, None, &path, Keep::Original).await;
        assert!(
            matches!(only_copy, Err(EngineError::OnlyCopy(_))),
            "{only_copy:?}"
        );
        let no_merge = preview(&engine, None, &path, Keep::Merge).await;
        assert!(
            matches!(no_merge, Err(EngineError::NoMerge { .. })),
            "{no_merge:?}"
        );
        let other = RelPath::parse("g.txt").unwrap();
        let none = preview(&engine, None, &other, Keep::Copy).await;
        assert!(matches!(none, Err(EngineError::NoConflict(_))), "{none:?}");
    }

    #[tokio::test]
    async fn a_merge_of_a_file_and_a_folder_is_refused_as_such() {
        for (copy, original, why) in [
            (
                Kind::Folder,
                Kind::File,
                "copy is a folder and the other version a file",
            ),
            (
                Kind::File,
                Kind::Folder,
                "copy is a file and the other version a folder",
            ),
            (
                Kind::Folder,
                Kind::Folder,
                "copy is a folder, and only text files",
            ),
        ] {
            let test = TestEngine::new();
            test.local_node("f", original, Skipped::No);
            test.local_node(
                "f (conflicted copy here 2026-01-02 030405)",
                copy,
                Skipped::No,
            );
            let (engine, _dir) = test.into_engine();
            let path = RelPath::parse("f").unwrap();
            let refused = resolve(&engine, None, &path, Keep::Merge)
                .await
                .unwrap_err();
            assert!(refused.to_string().contains(why), "{refused}");
        }
    }

    #[tokio::test]
    async fn whose_a_copy_is_that_nobody_knows_is_not_guessed() {
        let test = TestEngine::new();
        test.local_file("f.txt", Skipped::No);
        // It has this device's name, but no record says that it was made here.
        test.local_file(
            "f (conflicted copy here 2026-01-02 030405).txt",
            Skipped::No,
        );
        let (engine, dir) = test.into_engine();
        let path = RelPath::parse("f.txt").unwrap();
        let open = open_conflicts(&engine).unwrap();
        assert_eq!((&open[0].path, open[0].copy_made_here), (&path, None));
        for keep in [Keep::Mine, Keep::Theirs] {
            let refused = resolve(&engine, None, &path, keep).await;
            assert!(
                matches!(refused, Err(EngineError::WhoseCopy(_))),
                "{refused:?}"
            );
        }
        std::fs::write(open[0].copy.to_path(dir.path()), "a copy").unwrap();
        let plain = RelPath::parse("f (here 2026-01-02 030405).txt").unwrap();
        let preview = preview(&engine, None, &path, Keep::Both).await.unwrap();
        assert_eq!(preview.renamed_copy, Some(plain.clone()));
        assert!(!plain.to_path(dir.path()).exists(), "nothing was done");
        let renamed = resolve(&engine, None, &path, Keep::Both).await.unwrap();
        assert!(plain.to_path(dir.path()).exists());
        assert_eq!(renamed, Some(plain));
        assert_eq!(open_conflicts(&engine).unwrap(), []);
    }
}
