//! Resolves conflicts as a person decides. The version that is not kept goes to the local trash.

mod merge;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::observe::hash::local_stat;
use crate::observe::rules::TEMP_DIR;
use crate::trash;
use cairn_index::{ConflictRow, Db, FolderRow, IndexError, LocalRow};
use cairn_model::{
    ActivityKind, ConflictKind, FolderId, Keep, Kind, Name, NodeId, RESTORED, RelPath,
};
use cairn_platform::Expect;
use cairn_platform::disk::is_target_changed;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;

/// A conflict as a person sees it. Paths are relative to the folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenConflict {
    pub folder: FolderId,
    pub folder_root: String,
    /// The file that has the name.
    pub path: RelPath,
    /// The conflict copy.
    pub copy: RelPath,
    pub kind: ConflictKind,
    /// The device whose version has the name; empty if unknown.
    pub device: String,
    /// The device in the copy's name.
    pub copy_device: String,
    /// True if the copy is this device's version; `None` if that is not known.
    pub copy_made_here: Option<bool>,
    /// Milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
}

struct Found {
    conflict: ConflictRow,
    folder: FolderRow,
    open: OpenConflict,
    copy: LocalRow,
    original: Option<LocalRow>,
}

fn find_all(engine: &Engine) -> Result<Vec<Found>, EngineError> {
    Ok(engine.index.read(|db| {
        let mut out = Vec::new();
        for conflict in db.conflicts()? {
            let (Some(folder), Some(copy), Some(copy_path)) = (
                db.folder(conflict.folder)?,
                db.local(conflict.copy)?,
                db.local_path(conflict.copy)?,
            ) else {
                continue;
            };
            // A person who renamed the copy has taken care of it.
            if !copy.name.is_conflict_copy() {
                continue;
            }
            let Original { node, local } = original(db, &folder, &conflict, &copy_path)?;
            let path = match &local {
                Some(row) => db.local_path(row.id)?.unwrap_or_else(|| copy_path.clone()),
                None => original_path(&copy_path),
            };
            let conflict = ConflictRow { node, ..conflict };
            let copy_made_here = made_here(engine, db, &conflict, &copy)?;
            let copy_device = copy.name.copied_by().unwrap_or_default().to_owned();
            let open = OpenConflict {
                folder: folder.id,
                folder_root: folder.root.clone(),
                path,
                copy: copy_path,
                kind: conflict.kind,
                device: device_of_original(engine, db, &conflict)?,
                copy_device,
                copy_made_here,
                at_ms: conflict.at_ms,
            };
            out.push(Found {
                conflict,
                folder,
                open,
                copy,
                original: local,
            });
        }
        Ok(out)
    })?)
}

/// Returns whether this device has made a copy; `None` if that is not known, such as after the index was lost
/// or the device got another name.
fn made_here(
    engine: &Engine,
    db: &Db<'_>,
    conflict: &ConflictRow,
    copy: &LocalRow,
) -> Result<Option<bool>, IndexError> {
    if conflict.made_here {
        return Ok(Some(true));
    }
    let Some(maker) = copy.name.copied_by().filter(|maker| *maker != RESTORED) else {
        return Ok(None);
    };
    let has_own_name = maker == Name::device_in_copy(&engine.device_name);
    let sender = match db.synced_by_local(copy.id)? {
        Some(synced) => db.remote(synced.node)?.and_then(|row| row.device),
        None => None,
    };
    let was_sent_here = sender.map(|sender| sender == engine.api.device());
    Ok(match (has_own_name, was_sent_here) {
        (true, sent) => sent,
        (false, Some(true)) => None,
        (false, Some(false) | None) => Some(false),
    })
}

/// Returns the device whose version has the name: as it was noted, or who has sent it last.
fn device_of_original(
    engine: &Engine,
    db: &Db<'_>,
    conflict: &ConflictRow,
) -> Result<String, IndexError> {
    if !conflict.device.is_empty() {
        return Ok(conflict.device.clone());
    }
    let row = match conflict.node {
        Some(node) => db.remote(node)?,
        None => None,
    };
    let name = row.and_then(|row| engine.devices.name(row.device));
    Ok(name.unwrap_or_default())
}

/// The version that has the name in a conflict.
#[derive(Default)]
struct Original {
    node: Option<NodeId>,
    local: Option<LocalRow>,
}

/// Finds what has the name: the node that was noted, or, where another device noted it, whatever has the
/// copy's name without the mark now.
fn original(
    db: &Db<'_>,
    folder: &FolderRow,
    conflict: &ConflictRow,
    copy: &RelPath,
) -> Result<Original, IndexError> {
    if let Some(node) = conflict.node {
        let local = match db.synced(folder.id, node)? {
            Some(synced) => db.local(synced.local)?,
            None => None,
        };
        return Ok(Original {
            node: Some(node),
            local,
        });
    }
    let Some(local) = db.local_at(folder.id, &original_path(copy))? else {
        return Ok(Original::default());
    };
    let node = db.synced_by_local(local.id)?.map(|synced| synced.node);
    Ok(Original {
        node,
        local: Some(local),
    })
}

/// Returns the path of the file of which a path is the conflict copy.
fn original_path(copy: &RelPath) -> RelPath {
    match copy.name().and_then(cairn_model::Name::copied_from) {
        Some(name) => copy.parent().unwrap_or_default().join(name),
        None => copy.clone(),
    }
}

/// All open conflicts, oldest first.
///
/// # Errors
/// The index's.
pub(crate) fn open_conflicts(engine: &Engine) -> Result<Vec<OpenConflict>, EngineError> {
    Ok(find_all(engine)?
        .into_iter()
        .map(|found| found.open)
        .collect())
}

/// Settles the conflict at `path` (the file's or the copy's).
///
/// # Errors
/// No such conflict, a merge that can't be made, a file that is being changed, or the disk's.
pub(crate) async fn resolve(
    engine: &Arc<Engine>,
    folder: Option<FolderId>,
    path: &RelPath,
    keep: Keep,
) -> Result<(), EngineError> {
    let found = find_all(engine)?
        .into_iter()
        .find(|f| {
            folder.is_none_or(|id| id == f.folder.id)
                && (f.open.path == *path || f.open.copy == *path)
        })
        .ok_or_else(|| EngineError::NoConflict(path.to_string()))?;
    match choice(&found, keep)? {
        Choice::Both => {}
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
            if found.copy.kind == Kind::Folder || !is_file(&found) {
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
    Ok(())
}

/// The fate of the two versions.
enum Choice {
    Both,
    Copy,
    Original,
    Merge,
}

/// Returns what a person's word means in a conflict: which version is this device's, its record says.
fn choice(found: &Found, keep: Keep) -> Result<Choice, EngineError> {
    let keep_copy = match (keep, found.open.copy_made_here) {
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

enum Version {
    Copy,
    Bytes(Vec<u8>),
}

fn discard_copy(engine: &Engine, found: &Found) -> Result<(), EngineError> {
    let root = Path::new(&found.folder.root);
    let from = found.open.copy.to_path(root);
    // Edited since it was read: that is nobody's choice, and it stays.
    if found.copy.kind == Kind::File
        && local_stat(&engine.ports.disk.stat(&from)?) != found.copy.stat
    {
        return Err(EngineError::Stale);
    }
    trash::put(
        &*engine.ports.disk,
        root,
        &from,
        &found.open.copy,
        engine.ports.clock.now_ms(),
    )?;
    Ok(())
}

/// Puts a version over the file that has the name; what was there goes to the trash.
fn put_over(engine: &Engine, found: &Found, from: Version) -> Result<(), EngineError> {
    let disk = &engine.ports.disk;
    let root = Path::new(&found.folder.root);
    let target = found.open.path.to_path(root);
    let copy = found.open.copy.to_path(root);
    let mut temp = disk.create_temp(
        &root.join(TEMP_DIR),
        &format!("resolve-{}", found.copy.id.0),
    )?;
    temp.set_len(0)?;
    match from {
        Version::Copy => {
            let mut source = disk.open(&copy)?;
            let mut piece = vec![0; 256 * 1024];
            loop {
                match source.read(&mut piece)? {
                    0 => break,
                    n => temp.write_all(&piece[..n])?,
                }
            }
        }
        Version::Bytes(bytes) => temp.write_all(&bytes)?,
    }
    temp.set_executable(found.copy.executable)?;
    temp.sync()?;
    let path = temp.path().to_owned();
    drop(temp);
    let expect = match disk.stat(&target) {
        Ok(stat) => {
            if found
                .original
                .as_ref()
                .is_some_and(|row| local_stat(&stat) != row.stat)
            {
                return Err(EngineError::Stale);
            }
            Expect::Same(stat.key())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Expect::Absent,
        Err(error) => return Err(error.into()),
    };
    match disk.replace(&path, &target, expect) {
        Err(error) if is_target_changed(&error) => return Err(EngineError::Stale),
        other => other?,
    };
    if expect != Expect::Absent {
        trash::put(
            &**disk,
            root,
            &path,
            &found.open.path,
            engine.ports.clock.now_ms(),
        )?;
    }
    Ok(())
}

fn is_file(found: &Found) -> bool {
    found
        .original
        .as_ref()
        .is_none_or(|row| row.kind == Kind::File)
}

/// Folders, or a file against a folder: what has the name goes to the trash, the copy takes the name.
fn take_name(engine: &Engine, found: &Found) -> Result<(), EngineError> {
    let disk = &engine.ports.disk;
    let root = Path::new(&found.folder.root);
    let target = found.open.path.to_path(root);
    let trashed = trash::put(
        &**disk,
        root,
        &target,
        &found.open.path,
        engine.ports.clock.now_ms(),
    )?;
    if let Err(error) = disk.rename(&found.open.copy.to_path(root), &target) {
        // A name that is missing would be taken for a deletion.
        disk.rename(&trashed, &target)?;
        return Err(error.into());
    }
    Ok(())
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
        let (engine, _dir) = test.into_engine();
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
        resolve(&engine, None, &path, Keep::Both).await.unwrap();
        assert_eq!(open_conflicts(&engine).unwrap(), []);
    }
}
