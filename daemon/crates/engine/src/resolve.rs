//! Resolves conflicts as a person decides. The version that is not kept goes to the local trash.

use crate::engine::Engine;
use crate::error::EngineError;
use crate::observe::hash::local_stat;
use crate::observe::rules::TEMP_DIR;
use crate::trash;
use cairn_index::{ConflictRow, Db, FolderRow, IndexError, LocalRow};
use cairn_model::{ActivityKind, ConflictKind, FolderId, Keep, Kind, NodeId, RelPath};
use cairn_platform::Expect;
use cairn_platform::disk::is_target_changed;
use cairn_transfer::{Download, MemoryTarget};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;

/// Texts up to this size are merged.
const MAX_MERGE: u64 = 1024 * 1024;

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
            let open = OpenConflict {
                folder: folder.id,
                folder_root: folder.root.clone(),
                path,
                copy: copy_path,
                kind: conflict.kind,
                device: conflict.device.clone(),
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
    match keep {
        Keep::Both => {}
        Keep::Theirs => {
            let _lock = engine.disk_lock.lock().await;
            // The copy is all that is left where the other version was deleted meanwhile.
            let other = found.open.path.to_path(Path::new(&found.folder.root));
            if engine.ports.disk.stat(&other).is_err() {
                return Err(EngineError::OnlyCopy(found.open.copy.to_string()));
            }
            discard_copy(engine, &found)?;
        }
        Keep::Mine => {
            let _lock = engine.disk_lock.lock().await;
            if found.copy.kind == Kind::Folder || !is_file(&found) {
                take_name(engine, &found)?;
            } else {
                put_over(engine, &found, Version::Copy)?;
                discard_copy(engine, &found)?;
            }
        }
        Keep::Merge => {
            let merged = merge(engine, &found).await?;
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

enum Version {
    Copy,
    Bytes(Vec<u8>),
}

fn discard_copy(engine: &Engine, found: &Found) -> Result<(), EngineError> {
    let root = Path::new(&found.folder.root);
    let from = found.open.copy.to_path(root);
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
    trash::put(
        &**disk,
        root,
        &target,
        &found.open.path,
        engine.ports.clock.now_ms(),
    )?;
    disk.rename(&found.open.copy.to_path(root), &target)?;
    Ok(())
}

async fn merge(engine: &Arc<Engine>, found: &Found) -> Result<Vec<u8>, EngineError> {
    let no = |why| EngineError::NoMerge {
        path: found.open.path.to_string(),
        why,
    };
    let node = found
        .conflict
        .node
        .ok_or_else(|| no("it has no common version"))?;
    if !is_file(found) || found.copy.stat.size > MAX_MERGE {
        return Err(no("only text files up to 1 MiB are merged"));
    }
    let root = Path::new(&found.folder.root);
    let mine = text(engine, &found.open.copy.to_path(root))
        .map_err(|_| no("your version is not UTF-8 text"))?;
    let theirs = text(engine, &found.open.path.to_path(root))
        .map_err(|_| no("the other version is not UTF-8 text"))?;
    let base = base_text(engine, node)
        .await?
        .ok_or_else(|| no("the common version is not there or no text"))?;
    diffy::merge(&base, &mine, &theirs)
        .map(String::into_bytes)
        .map_err(|_| no("both versions changed the same lines"))
}

fn text(engine: &Engine, path: &Path) -> io::Result<String> {
    let mut out = String::new();
    engine
        .ports
        .disk
        .open(path)?
        .take(MAX_MERGE + 1)
        .read_to_string(&mut out)?;
    if out.len() as u64 > MAX_MERGE {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(out)
}

/// The version that both were made from: the base of the one that has the name.
async fn base_text(engine: &Arc<Engine>, node: NodeId) -> Result<Option<String>, EngineError> {
    let Some(row) = engine.index.read(|db| db.remote(node))? else {
        return Ok(None);
    };
    let Some(download) = crate::planning::download_of(engine, &row) else {
        return Ok(None);
    };
    let head = engine.transfer.manifests(&[download]).await.pop();
    let Some(Ok(head)) = head else {
        return Ok(None);
    };
    let Some(base) = head.base else {
        return Ok(None);
    };
    let target = Arc::new(MemoryTarget::default());
    let manifest = engine
        .transfer
        .download(
            Download::new(node, base),
            Arc::clone(&target) as Arc<dyn cairn_transfer::Target>,
            &(),
        )
        .await?;
    if manifest.size > MAX_MERGE {
        return Ok(None);
    }
    Ok(String::from_utf8(target.take()).ok())
}
