//! Putting what was downloaded in place, and recording it.

#[cfg(test)]
mod tests;

use super::{Arrived, Task};
use crate::error::EngineError;
use crate::node_rows::seal_info;
use crate::observe::hash::local_stat;
use crate::observe::unsettled::{check_unchanged, placed_stat};
use crate::placing::PlacingGuard;
use crate::record::{self, Content};
use crate::step::{Ctx, spelling};
use crate::trash;
use cairn_index::{ActivityRow, Db, IndexError, LocalRow, RemoteRow, Skipped, SyncedRow};
use cairn_model::{ActivityKind, Kind, LocalId, Manifest, NodeId, RelPath, Verification};
use cairn_platform::disk::is_target_changed;
use cairn_platform::{Expect, Stat};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A file that was put in place.
#[derive(Clone)]
pub(super) struct Placed {
    pub(super) absolute: PathBuf,
    path: RelPath,
    parent: Option<LocalId>,
    row: Option<LocalRow>,
    stat: Stat,
    manifest: Manifest,
}

/// The place of a file, with what is expected there.
struct Destination {
    path: RelPath,
    parent: Option<LocalId>,
    row: Option<LocalRow>,
    expect: Expect,
}

/// Looks up where a file belongs, and checks that what it would replace is what the plan was made for.
fn find_destination(ctx: &Ctx, task: &Task) -> Result<Destination, EngineError> {
    let (over, place, synced) = ctx.engine.index.read(|db| {
        let over = match task.over {
            Some(id) => Some((db.local_row(id)?, db.local_path(id)?)),
            None => None,
        };
        let place = ctx.local_place(db, &task.to)?;
        Ok((over, place, db.synced_row(ctx.folder.id, task.node)?))
    })?;
    let (parent, path) = place.ok_or(EngineError::Stale)?;
    let Some((row, own_path)) = over else {
        ctx.check_free(parent, &task.to.name, None)?;
        ctx.check_disk_of(parent)?;
        return Ok(Destination {
            path,
            parent,
            row: None,
            expect: Expect::Absent,
        });
    };
    let row = row.ok_or(EngineError::Stale)?;
    let path = own_path.ok_or(EngineError::Stale)?;
    // The plan was made for a file with the synced content. A scan may have seen an edit since:
    // then the row is as new as the disk, and only this tells that it is another version.
    if row.hash.is_none() || row.hash != synced.and_then(|s| s.hash) {
        return Err(EngineError::Stale);
    }
    let stat = ctx.engine.ports.disk.stat(&ctx.absolute_path(&path))?;
    check_unchanged(&row.stat, &local_stat(&stat))?;
    Ok(Destination {
        path,
        parent,
        row: Some(row),
        expect: Expect::Same(stat.key()),
    })
}

/// Refuses to write a content without a valid seal over another one, unless its manifest proves that it is a later
/// version of the same file. Without a merge base both versions are kept by the next plan. On a strict device a
/// person has accepted what has no seal.
fn keep_replaced(ctx: &Ctx, task: &Task, manifest: &Manifest) -> Result<(), EngineError> {
    let Some(over) = task.over else {
        return Ok(());
    };
    if ctx.engine.verification.get() == Verification::Strict {
        return Ok(());
    }
    let index = &ctx.engine.index;
    let (remote, synced) = index.read(|db| {
        let synced = db.synced_row(ctx.folder.id, task.node)?;
        Ok((db.remote_row(task.node)?, synced))
    })?;
    let (Some(remote), Some(synced)) = (remote, synced) else {
        return Ok(());
    };
    if synced.hash == Some(manifest.hash)
        || is_verified(ctx, &remote, manifest)
        || index.read(|db| is_beside(ctx, db, over, &synced))?
    {
        return Ok(());
    }
    tracing::warn!(node = %task.node, "a content without a valid seal would replace another one: both are kept");
    index.write(|db| {
        db.remove_synced(synced.folder, synced.node)?;
        db.mark_node(synced.folder, synced.node)?;
        db.mark_local(synced.folder, synced.local)
    })?;
    Err(EngineError::Stale)
}

/// Returns whether the synced content of a file lies beside it, too: another device may have kept it already.
fn is_beside(
    ctx: &Ctx,
    db: &Db<'_>,
    over: LocalId,
    synced: &SyncedRow,
) -> Result<bool, IndexError> {
    let Some(row) = db.local_row(over)? else {
        return Ok(false);
    };
    let beside = db.children(ctx.folder.id, row.parent)?;
    Ok(beside.iter().any(|other| {
        other.id != over
            && other.skipped == Skipped::No
            && other.hash.is_some()
            && other.hash == synced.hash
    }))
}

/// Returns whether a seal covers a content, or its manifest is one of a later version than those before.
fn is_verified(ctx: &Ctx, remote: &RemoteRow, manifest: &Manifest) -> bool {
    let is_sealed = seal_info(&ctx.engine.keys, remote).flatten().is_some();
    // The manifest of a copy counts the versions of its source.
    is_sealed || (remote.source.is_none() && manifest.number > remote.number_before)
}

/// Returns the files that the service still has, of those that wait to be put in place, and keeps note of what a person
/// agrees to about them until the returned guard is dropped.
pub(super) fn check_still_there(
    ctx: &Ctx,
    nodes: &[NodeId],
) -> Result<(BTreeSet<NodeId>, PlacingGuard), EngineError> {
    let guard = ctx.engine.placing.add(nodes.iter().copied());
    // A write waits for the page of the feed that is being recorded: what that removes is gone here, and what a later
    // one removes is noted.
    let there = ctx.engine.index.write(|db| {
        let mut there = BTreeSet::new();
        for node in nodes {
            if db.remote_row(*node)?.is_some() {
                there.insert(*node);
            }
        }
        Ok(there)
    })?;
    Ok((there, guard))
}

/// Puts what has arrived in place. A file that it displaces goes to the local trash.
pub(super) fn place(ctx: &Ctx, task: &Task, arrived: &Arrived) -> Result<Placed, EngineError> {
    keep_replaced(ctx, task, &arrived.manifest)?;
    let disk = &ctx.engine.ports.disk;
    let Destination {
        path,
        parent,
        row,
        expect,
    } = find_destination(ctx, task)?;
    let absolute = ctx.absolute_path(&path);
    let stat = match disk.replace(&arrived.temp, &absolute, expect) {
        Ok(stat) => stat,
        Err(error) if is_target_changed(&error) => {
            spelling::check(&**disk, &absolute)?;
            return Err(EngineError::Stale);
        }
        Err(error) => {
            let place = (ctx.root(), absolute.as_path());
            return Err(spelling::explain(&**disk, place, &task.to.name, error));
        }
    };
    if task.over.is_some() {
        // What was displaced lies at the temporary path now.
        trash::put(
            &**disk,
            ctx.root(),
            &arrived.temp,
            &path,
            ctx.engine.ports.clock.now_ms(),
        )?;
    }
    Ok(Placed {
        absolute,
        path,
        parent,
        row,
        stat,
        manifest: arrived.manifest.clone(),
    })
}

/// Checks that files which were put in place lie below the root that was attached: its disk may have gone just
/// before, and come back since. They came there by a rename, and so lie in the mount of the root.
fn check_places(ctx: &Ctx, placed: &[(&Task, &RemoteRow, &Placed)]) -> Result<(), EngineError> {
    let root = ctx.check_root()?;
    let is_elsewhere = |stat: &Stat| match (stat.mount, root.mount) {
        (Some(one), Some(other)) => one != other,
        (None, _) | (_, None) => stat.file_id.device != root.file_id.device,
    };
    let mut stats = placed.iter().map(|(_, _, placed)| &placed.stat);
    match stats.any(is_elsewhere) {
        true => Err(EngineError::Stale),
        false => Ok(()),
    }
}

/// Records files that were put in place, in one transaction.
///
/// # Errors
/// [`EngineError::Stale`] if they lie elsewhere, or the index's.
pub(super) fn commit(
    ctx: &Ctx,
    placed: &[(&Task, &RemoteRow, &Placed)],
) -> Result<(), EngineError> {
    check_places(ctx, placed)?;
    let at_ms = ctx.engine.ports.clock.now_ms();
    let mut announced = Vec::new();
    ctx.engine.index.write(|db| {
        for (task, remote, placed) in placed {
            record_one(ctx, db, task, remote, placed)?;
            if ctx.engine.placing.is_deletion_confirmed(task.node) {
                db.confirm_deletion(task.node)?;
            }
            let activity = ActivityRow {
                at_ms,
                folder: Some(ctx.folder.id),
                kind: ActivityKind::Downloaded,
                path: placed.path.to_string(),
                device: ctx.engine.devices.name(remote.device),
                bytes: placed.manifest.size,
            };
            db.add_activity(&activity)?;
            announced.push(activity);
        }
        Ok(())
    })?;
    for activity in announced {
        ctx.engine.count(|c| {
            c.downloads += 1;
            c.downloaded_bytes += activity.bytes;
        });
        ctx.engine.announce(activity);
    }
    Ok(())
}

fn record_one(
    ctx: &Ctx,
    db: &Db<'_>,
    task: &Task,
    remote: &RemoteRow,
    placed: &Placed,
) -> Result<(), IndexError> {
    let manifest = &placed.manifest;
    let now_ms = ctx.engine.ports.clock.now_ms();
    let content = Content {
        revision: remote.revision,
        hash: Some(manifest.hash),
        size: manifest.size,
    };
    if let Some(revision) = remote.revision {
        db.set_remote_manifest(task.node, revision, manifest.hash, manifest.number)?;
        db.set_remote_executable(task.node, revision, remote.version, remote.executable)?;
    }
    // What the disk does not keep is as the service has it.
    let executable = placed.stat.executable.unwrap_or(remote.executable);
    if let Some(row) = &placed.row {
        db.update_local(&LocalRow {
            stat: placed_stat(&placed.stat, now_ms),
            executable,
            hash: Some(manifest.hash),
            ..row.clone()
        })?;
        return record::update_synced_content(
            db,
            &ctx.folder,
            task.node,
            content,
            remote.executable,
        );
    }
    let id = db.insert_local(&LocalRow {
        id: LocalId(0),
        folder: ctx.folder.id,
        parent: placed.parent,
        name: task.to.name.clone(),
        kind: Kind::File,
        stat: placed_stat(&placed.stat, now_ms),
        executable,
        hash: Some(manifest.hash),
        skipped: Skipped::No,
    })?;
    record::adopt(db, &ctx.folder, id, remote, content)
}
