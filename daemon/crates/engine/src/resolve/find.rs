//! The conflicts that are open, with both versions of each.

use crate::engine::Engine;
use crate::error::EngineError;
use cairn_index::{ConflictRow, Db, FolderRow, IndexError, LocalRow};
use cairn_model::{ConflictKind, FolderId, Kind, Name, NodeId, RESTORED, RelPath};

/// A conflict as a person sees it. Paths are relative to the folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenConflict {
    pub folder: FolderId,
    pub folder_root: String,
    /// The file that has the name.
    pub path: RelPath,
    /// True if no file is there any more: it was deleted, or the copy alone was moved.
    pub original_gone: bool,
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

/// A conflict with its rows.
pub(super) struct Found {
    pub(super) conflict: ConflictRow,
    pub(super) folder: FolderRow,
    pub(super) open: OpenConflict,
    pub(super) copy: LocalRow,
    pub(super) original: Option<LocalRow>,
    /// True if the service's record says that this device has sent the version that has the name.
    pub(super) original_sent_here: bool,
}

impl Found {
    /// Returns false if what has the name is a folder.
    pub(super) fn is_file(&self) -> bool {
        self.original
            .as_ref()
            .is_none_or(|row| row.kind == Kind::File)
    }
}

/// Returns all open conflicts, oldest first.
///
/// # Errors
/// Returns the error of the index.
pub(super) fn find_all(engine: &Engine) -> Result<Vec<Found>, EngineError> {
    Ok(engine.index.read(|db| {
        let mut out = Vec::new();
        for conflict in db.conflicts()? {
            let (Some(folder), Some(copy), Some(copy_path)) = (
                db.folder(conflict.folder)?,
                db.local_row(conflict.copy)?,
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
            let original_sent_here = is_sent_here(engine, db, conflict.node)?;
            let copy_made_here = is_made_here(engine, db, &conflict, &copy)?;
            let copy_device = copy.name.copied_by().unwrap_or_default().to_owned();
            let open = OpenConflict {
                folder: folder.id,
                folder_root: folder.root.clone(),
                path,
                original_gone: local.is_none(),
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
                original_sent_here,
            });
        }
        Ok(out)
    })?)
}

/// Returns whether this device has made a copy; `None` if that is not known, such as after the index was lost
/// or the device got another name.
fn is_made_here(
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
        Some(synced) => db.remote_row(synced.node)?.and_then(|row| row.device),
        None => None,
    };
    let was_sent_here = sender.map(|sender| sender == engine.api.device());
    Ok(match (has_own_name, was_sent_here) {
        (true, sent) => sent,
        (false, Some(true)) => None,
        (false, Some(false) | None) => Some(false),
    })
}

/// Returns whether the service's record says that this device has sent the present state of a node.
fn is_sent_here(engine: &Engine, db: &Db<'_>, node: Option<NodeId>) -> Result<bool, IndexError> {
    let row = match node {
        Some(node) => db.remote_row(node)?,
        None => None,
    };
    let sender = row.and_then(|row| row.device);
    Ok(sender.is_some_and(|sender| sender == engine.api.device()))
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
        Some(node) => db.remote_row(node)?,
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
        let local = match db.synced_row(folder.id, node)? {
            Some(synced) => db.local_row(synced.local)?,
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

/// Returns all open conflicts as a person sees them, oldest first.
///
/// # Errors
/// Returns the error of the index.
pub(crate) fn open_conflicts(engine: &Engine) -> Result<Vec<OpenConflict>, EngineError> {
    Ok(find_all(engine)?
        .into_iter()
        .map(|found| found.open)
        .collect())
}
