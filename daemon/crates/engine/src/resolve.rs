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
    let found = find_all(engine)?
        .into_iter()
        .find(|f| {
            folder.is_none_or(|id| id == f.folder.id)
                && (f.open.path == *path || f.open.copy == *path)
        })
        .ok_or_else(|| EngineError::NoConflict(path.to_string()))?;
    let mut renamed = None;
    match choice(&found, keep)? {
        Choice::Both => {
            let _lock = engine.disk_lock.lock().await;
            renamed = both::give_plain_name(engine, &found)?;
        }
        Choice::Original => {
            let _lock = engine.disk_lock.lock().await;
            // The copy is all that is left where the other version was deleted meanwhile.
            let other = found.open.path.to_path(Path::new(&found.folder.root));
            if engine.ports.disk.stat(&other).is_err() {
                return Err(EngineError::OnlyCopy(found.open.copy.to_string()));
            }
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
            put_over(engine, &found, Version::Bytes(merged))?;
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
        let renamed = resolve(&engine, None, &path, Keep::Both).await.unwrap();
        let plain = RelPath::parse("f (here 2026-01-02 030405).txt").unwrap();
        assert!(plain.to_path(dir.path()).exists());
        assert_eq!(renamed, Some(plain));
        assert_eq!(open_conflicts(&engine).unwrap(), []);
    }
}
