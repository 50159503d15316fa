//! Removing on this disk what was deleted on the service: it moves to the local trash, if everything in it is as the
//! index says. Files that only this disk has stay where they are.

use super::batch::{BatchResults, StepResult};
use super::local::flush_names;
use super::trash_files::{File, trash_files};
use crate::error::{Changing, EngineError};
use crate::observe::hash::local_stat;
use crate::observe::scan::{Scope, scan};
use crate::observe::unsettled::Earlier;
use crate::observe::unsynced::{Place, Unsynced};
use crate::step::Ctx;
use crate::trash;
use cairn_index::LocalRow;
use cairn_model::{Kind, NodeId, RelPath};
use cairn_plan::Step;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Files and folders that are removed together. Between two batches a pause takes effect.
pub(crate) const BATCH: usize = 200;

/// Moves files and folders to the local trash, under the disk lock. Each step comes back with its own result: with
/// [`EngineError::Stale`] if anything is not as the index says; then nothing was moved that was edited.
pub(crate) async fn run(ctx: &Ctx, steps: Vec<Step>) -> Vec<(Step, StepResult)> {
    let _lock = ctx.engine.disk_lock.lock().await;
    let ctx2 = ctx.clone();
    let trash = move || trash_all(&ctx2, steps);
    ctx.engine.ports.run_blocking(trash).await
}

fn trash_all(ctx: &Ctx, steps: Vec<Step>) -> Vec<(Step, StepResult)> {
    let mut results = BatchResults::new();
    let mut files = Vec::new();
    let mut is_as_planned = true;
    for step in steps {
        let Step::TrashLocal { node, local } = step else {
            results.set(step, Err(EngineError::Stale));
            continue;
        };
        if !is_as_planned {
            results.set(step, Err(EngineError::Stale));
            continue;
        }
        match ctx.local_row(local) {
            Err(error) => results.set(step, Err(error)),
            Ok((row, path)) if row.kind == Kind::File => {
                files.push((step, File { node, row, path }));
            }
            Ok((row, path)) => {
                trash_files(ctx, std::mem::take(&mut files), &mut results);
                let result = trash_folder(ctx, node, &row, &path);
                // The look at it has recorded what it found, there or elsewhere. From here on the index can't tell any
                // more what was planned from what the user did since.
                is_as_planned = !matches!(result, Err(EngineError::Stale));
                results.set(step, result);
            }
        }
    }
    trash_files(ctx, files, &mut results);
    results.into_vec()
}

/// Moves a folder to the local trash. One in which something lies that was never synced (ignored, a symbolic link, a name
/// that is no text) stays for it: that is recorded, so that the next plan deletes only what was synced in the folder.
fn trash_folder(
    ctx: &Ctx,
    node: NodeId,
    row: &LocalRow,
    path: &RelPath,
) -> Result<(), EngineError> {
    if has_unseen(ctx, path)? {
        return Err(EngineError::Stale);
    }
    let unsynced = find_unsynced(ctx, row, path)?;
    if !unsynced.is_empty() {
        return record_unsynced(ctx, row, &unsynced);
    }
    trash_whole(ctx, row, path)?;
    Ok(ctx
        .engine
        .index
        .write(|db| db.clean_node(ctx.folder.id, node))?)
}

/// Records what keeps a folder here, and lets it be planned anew. A plan that knew of it all is stale.
fn record_unsynced(ctx: &Ctx, dir: &LocalRow, found: &Unsynced) -> Result<(), EngineError> {
    if found.rows.is_empty() {
        return Err(EngineError::Stale);
    }
    Ok(ctx.engine.index.write(|db| {
        for row in &found.rows {
            db.insert_local(row)?;
        }
        db.mark_local(ctx.folder.id, dir.id)
    })?)
}

/// Anything that the index has not seen yet would vanish with the folder.
fn has_unseen(ctx: &Ctx, path: &RelPath) -> Result<bool, EngineError> {
    let scope = Scope::Below(path.clone());
    let found = ctx.engine.index.write(|db| {
        let disk = &*ctx.engine.ports.disk;
        let earlier = Earlier {
            now_ms: ctx.engine.ports.clock.now_ms(),
            ..Earlier::default()
        };
        scan(
            db,
            disk,
            &ctx.folder,
            &ctx.rules,
            &scope,
            &earlier,
            usize::MAX,
        )
    })?;
    let has_unseen = found.changed || !found.missing.is_empty();
    if !has_unseen && !found.unsettled.is_empty() {
        // Its deletion waits until what is in it is quiet.
        return Err(io::Error::other(Changing).into());
    }
    Ok(has_unseen)
}

fn children(ctx: &Ctx, row: &LocalRow) -> Result<Vec<LocalRow>, EngineError> {
    let index = &ctx.engine.index;
    Ok(index.read(|db| db.children(ctx.folder.id, Some(row.id)))?)
}

fn find_unsynced(ctx: &Ctx, row: &LocalRow, path: &RelPath) -> Result<Unsynced, EngineError> {
    let disk = &*ctx.engine.ports.disk;
    ctx.engine.index.read(|db| {
        let place = Place {
            db,
            disk,
            root: ctx.root(),
            rules: &ctx.rules,
        };
        Ok(place.find_unsynced(row, path))
    })?
}

fn trash_whole(ctx: &Ctx, row: &LocalRow, path: &RelPath) -> Result<(), EngineError> {
    let disk = &ctx.engine.ports.disk;
    let absolute = ctx.absolute_path(path);
    let now_ms = ctx.engine.ports.clock.now_ms();
    let kept = trash::put(&**disk, ctx.root(), &absolute, path, now_ms)?;
    // From here on nobody reaches it by its path: what it holds now is all that it will hold, but for
    // programs that have it open.
    let unchanged =
        flush_names(ctx, &[&absolute, &kept]).and_then(|()| is_unchanged(ctx, row, path, &kept));
    if !matches!(unchanged, Ok(true)) {
        put_back(ctx, &kept, &absolute)?;
        unchanged?;
        return Err(EngineError::Stale);
    }
    Ok(ctx.record_deletions(None, &[row], |db, row| {
        db.forget_local_below(ctx.folder.id, row.id)?;
        db.remove_local(ctx.folder.id, row.id)?;
        Ok(path.to_string())
    })?)
}

/// Moves from the trash back to its place, or beside it where that is taken by now.
pub(super) fn put_back(ctx: &Ctx, kept: &Path, place: &Path) -> Result<(), EngineError> {
    let disk = &ctx.engine.ports.disk;
    let mut to = place.to_owned();
    for attempt in 1..1_000_u32 {
        match disk.rename(kept, &to) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            other => return Ok(other?),
        }
        let mut name = place.file_name().unwrap_or_default().to_owned();
        name.push(format!(" (put back {attempt})"));
        to = place.with_file_name(name);
    }
    Err(io::Error::from(io::ErrorKind::AlreadyExists).into())
}

/// Returns whether everything at `at` is what the index says of `path`: no file was written, none came,
/// none went.
pub(super) fn is_unchanged(
    ctx: &Ctx,
    row: &LocalRow,
    path: &RelPath,
    at: &Path,
) -> Result<bool, EngineError> {
    let disk = &ctx.engine.ports.disk;
    if row.kind == Kind::File {
        let now = local_stat(&disk.stat(at)?);
        // A rename changes the change time.
        return Ok(
            (now.size, now.mtime, now.inode) == (row.stat.size, row.stat.mtime, row.stat.inode)
        );
    }
    let mut known: BTreeMap<String, LocalRow> = children(ctx, row)?
        .into_iter()
        .map(|child| (child.name.as_str().to_owned(), child))
        .collect();
    for entry in disk.list(at)? {
        let child = entry.name.to_str().and_then(|name| known.remove(name));
        let unchanged = match (child, entry.name.to_str()) {
            (Some(child), Some(name)) => {
                let path = path.join(child.name.clone());
                is_unchanged(ctx, &child, &path, &at.join(name))?
            }
            (None, Some(name)) => ctx.rules.is_leftover(path, name),
            (_, None) => false,
        };
        if !unchanged {
            return Ok(false);
        }
    }
    Ok(known.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestEngine, synced_file};
    use cairn_index::{Skipped, SyncedRow};
    use std::ffi::OsStr;
    use std::fs;

    /// Other systems have no such names.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_file_whose_name_is_no_text_keeps_its_folder_until_it_has_gone() {
        use std::os::unix::ffi::OsStrExt as _;
        let test = TestEngine::new();
        let place = test.dir.path().join("d");
        let odd = place.join(OsStr::from_bytes(b"._caf\xe9"));
        fs::create_dir(&place).unwrap();
        fs::write(&odd, "mine").unwrap();
        let local = test.local_node("d", Kind::Folder, Skipped::No);
        let node = NodeId::from_random_bytes([1; 16]);
        let base = SyncedRow {
            kind: Kind::Folder,
            ..synced_file(test.folder.id, node, local, "d")
        };
        let stat = local_stat(&test.options.ports.disk.stat(&place).unwrap());
        let recorded = test.options.index.write(|db| {
            let row = db.local_row(local)?.unwrap();
            db.update_local(&LocalRow { stat, ..row })?;
            db.put_synced(&base)
        });
        recorded.unwrap();
        let (ctx, _dir) = test.into_ctx();
        let (index, folder) = (&ctx.engine.index, ctx.folder.id);
        let skipped = || {
            let rows = index.read(|db| db.children(folder, Some(local))).unwrap();
            rows.iter().map(|row| row.skipped).collect::<Vec<_>>()
        };
        let trash = || run(&ctx, vec![Step::TrashLocal { node, local }]);

        assert!(trash().await.iter().all(|(_, result)| result.is_ok()));
        assert_eq!(skipped(), [Skipped::Ignored]);
        let dir = RelPath::parse("d").unwrap();
        assert!(!has_unseen(&ctx, &dir).unwrap(), "scans leave its row");
        assert_eq!(skipped(), [Skipped::Ignored]);
        let synced = index.read(|db| db.synced_row(folder, node)).unwrap();
        assert!(synced.is_some(), "the folder is not new to the service");
        assert_eq!(fs::read(&odd).unwrap(), b"mine");

        fs::remove_file(&odd).unwrap();
        has_unseen(&ctx, &dir).unwrap();
        assert_eq!(skipped(), []);
        assert!(trash().await.iter().all(|(_, result)| result.is_ok()));
        assert!(!place.exists());
    }
}
