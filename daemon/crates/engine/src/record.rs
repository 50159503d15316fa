//! Writes the merge base after a step: what both sides now agree on.

use cairn_index::{Db, FolderRow, IndexError, LocalRow, RemoteRow, SentPlace, Skipped, SyncedRow};
use cairn_model::{ContentHash, DeviceId, FolderId, Kind, LocalId, NodeId, RevisionId};

/// The content that both sides have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Content {
    pub(crate) revision: Option<RevisionId>,
    pub(crate) hash: Option<ContentHash>,
    pub(crate) size: u64,
}

/// Links a local row and a node: from now on they are one, with this content as merge base. Both
/// stay dirty as long as anything is still different.
pub(crate) fn adopt(
    db: &Db<'_>,
    folder: &FolderRow,
    local: LocalId,
    remote: &RemoteRow,
    content: Content,
) -> Result<(), IndexError> {
    db.put_synced(&SyncedRow {
        folder: folder.id,
        node: remote.node,
        local,
        parent: remote.parent,
        name: remote.name.clone(),
        kind: remote.kind,
        revision: content.revision,
        hash: content.hash,
        size: content.size,
        executable: remote.executable,
    })?;
    if remote.kind == Kind::Folder {
        db.end_sent_folder(local)?;
    }
    compare(db, folder, local, remote.node)
}

/// Records new content of a pair that is linked already; name and place stay as they were agreed.
pub(crate) fn update_synced_content(
    db: &Db<'_>,
    folder: &FolderRow,
    node: NodeId,
    content: Content,
    executable: bool,
) -> Result<(), IndexError> {
    if let Some(synced) = db.synced_row(folder.id, node)? {
        let local = synced.local;
        db.put_synced(&SyncedRow {
            revision: content.revision,
            hash: content.hash,
            size: content.size,
            executable,
            ..synced
        })?;
        compare(db, folder, local, node)?;
    }
    Ok(())
}

/// Makes the present revision of a node its merge base if this device has sent it and the response was
/// lost: it is nobody else's version. The file may have been edited, renamed or deleted since, and
/// that is what the next plan carries on.
pub(crate) fn end_sent(
    db: &Db<'_>,
    folders: &[FolderRow],
    remote: &RemoteRow,
) -> Result<(), IndexError> {
    let Some(revision) = remote.revision else {
        return Ok(());
    };
    let Some(sent) = db.sent_row(revision)? else {
        return Ok(());
    };
    let Some(folder) = folders.iter().find(|f| f.id == sent.folder) else {
        return db.end_sent(sent.local);
    };
    let content = Content {
        revision: Some(revision),
        hash: Some(sent.hash),
        size: sent.size,
    };
    match db.synced_row(folder.id, sent.node)? {
        Some(_) => update_synced_content(db, folder, sent.node, content, sent.executable)?,
        // Another node has taken the file over.
        None if db.synced_by_local(sent.local)?.is_some() => {}
        None => {
            // As it was sent, not as somebody may have marked it since.
            let made = RemoteRow {
                executable: sent.executable,
                ..remote.clone()
            };
            adopt(db, folder, sent.local, &made, content)?;
        }
    }
    db.end_sent(sent.local)
}

/// Makes the place, and the executable bit, that this device has given to a node its merge base if the response was
/// lost: it is nobody else's change. A new folder becomes the pair of the directory that it was made for. That may have been moved,
/// renamed or deleted since, and that is what the next plan carries on. Returns whether any merge base is another
/// one now.
pub(crate) fn end_sent_places(
    db: &Db<'_>,
    remote: &RemoteRow,
    device: DeviceId,
) -> Result<bool, IndexError> {
    let mut is_changed = end_sent_bits(db, remote, device)?;
    for place in db.sent_places(remote.node)? {
        if place.version > remote.version {
            continue;
        }
        let Some(folder) = db.folder(place.folder)? else {
            continue;
        };
        match db.synced_row(folder.id, place.node)? {
            Some(base) if base.local == place.local => {
                if !has_arrived(&place, remote, device) {
                    continue;
                }
                db.put_synced(&SyncedRow {
                    parent: place.parent,
                    name: place.name,
                    ..base
                })?;
                compare(db, &folder, place.local, place.node)?;
            }
            // Where it was made, not where somebody may have moved it since.
            None if place.creates && db.synced_by_local(place.local)?.is_none() => {
                let made = RemoteRow {
                    parent: place.parent,
                    name: place.name,
                    ..remote.clone()
                };
                adopt(db, &folder, place.local, &made, Content::default())?;
            }
            Some(_) | None => continue,
        }
        is_changed = true;
    }
    db.end_sent_places(remote.node, remote.version)?;
    Ok(is_changed)
}

fn end_sent_bits(db: &Db<'_>, remote: &RemoteRow, device: DeviceId) -> Result<bool, IndexError> {
    let mut is_changed = false;
    for bit in db.sent_bits(remote.node)? {
        let has_arrived = bit.executable == remote.executable
            && (remote.version > bit.version
                || (remote.version == bit.version && remote.device == Some(device)));
        let (Some(folder), Some(base)) =
            (db.folder(bit.folder)?, db.synced_row(bit.folder, bit.node)?)
        else {
            continue;
        };
        if has_arrived && base.local == bit.local {
            update_synced_executable(db, &folder, bit.node, bit.executable)?;
            compare(db, &folder, bit.local, bit.node)?;
            is_changed = true;
        }
    }
    db.end_sent_bits(remote.node, remote.version)?;
    Ok(is_changed)
}

/// Returns whether a node is where this device has sent it, and not because another device did the same.
fn has_arrived(place: &SentPlace, remote: &RemoteRow, device: DeviceId) -> bool {
    (place.parent, &place.name) == (remote.parent, &remote.name)
        && (remote.version > place.version || remote.device == Some(device))
}

/// Does the same for all places that were sent of a folder pair, as far as the service has shown since what became
/// of them.
pub(crate) fn end_known_places(
    db: &Db<'_>,
    folder: FolderId,
    device: DeviceId,
) -> Result<(), IndexError> {
    for node in db.nodes_with_known_places(folder)? {
        if let Some(remote) = db.remote_row(node)? {
            end_sent_places(db, &remote, device)?;
        }
    }
    Ok(())
}

/// Records a place that a step has given to one side: the merge base of the place becomes what the
/// service has now.
pub(crate) fn update_synced_place(
    db: &Db<'_>,
    folder: &FolderRow,
    node: NodeId,
) -> Result<(), IndexError> {
    let (Some(synced), Some(remote)) = (db.synced_row(folder.id, node)?, db.remote_row(node)?)
    else {
        return Ok(());
    };
    let local = synced.local;
    db.put_synced(&SyncedRow {
        parent: remote.parent,
        name: remote.name,
        ..synced
    })?;
    compare(db, folder, local, node)
}

/// Records an equal executable bit.
pub(crate) fn update_synced_executable(
    db: &Db<'_>,
    folder: &FolderRow,
    node: NodeId,
    executable: bool,
) -> Result<(), IndexError> {
    if let Some(synced) = db.synced_row(folder.id, node)? {
        db.put_synced(&SyncedRow {
            executable,
            ..synced
        })?;
    }
    Ok(())
}

/// Clears the dirty marks of a pair that is equal in all three trees, and sets them where the next plan
/// has to look: most steps end equal, and ten thousand of them should not be planned once more.
fn compare(
    db: &Db<'_>,
    folder: &FolderRow,
    local: LocalId,
    node: NodeId,
) -> Result<(), IndexError> {
    if is_equal(db, folder, local, node)? {
        db.clean_local(folder.id, local)?;
        db.clean_node(folder.id, node)
    } else {
        db.mark_local(folder.id, local)?;
        db.mark_node(folder.id, node)
    }
}

/// Returns whether a pair is equal in all three trees.
pub(crate) fn is_equal(
    db: &Db<'_>,
    folder: &FolderRow,
    local: LocalId,
    node: NodeId,
) -> Result<bool, IndexError> {
    let (Some(local), Some(remote), Some(base)) = (
        db.local_row(local)?,
        db.remote_row(node)?,
        db.synced_row(folder.id, node)?,
    ) else {
        return Ok(false);
    };
    let parent = match local.parent {
        None => folder.remote_node,
        Some(parent) => db.synced_by_local(parent)?.map(|synced| Some(synced.node)),
    };
    Ok(local.skipped == Skipped::No
        && base.local == local.id
        && (local.kind, remote.kind) == (base.kind, base.kind)
        && local.hash == base.hash
        && remote.revision == base.revision
        && local.name.as_str() == base.name.as_str()
        && remote.name.as_str() == base.name.as_str()
        && (local.executable, remote.executable) == (base.executable, base.executable)
        && parent == Some(base.parent)
        && remote.parent == base.parent)
}

/// Returns the content of a local row and a node that were found equal.
pub(crate) fn equal_content(local: &LocalRow, remote: &RemoteRow) -> Content {
    Content {
        revision: remote.revision,
        hash: local.hash.or(remote.hash),
        size: remote.size,
    }
}

#[cfg(test)]
mod tests;
