//! Fetching file content: into a temporary file on the same file system, verified, then put in place
//! in one atomic step if the place is still what the plan was made for.

use crate::error::EngineError;
use crate::key::Key;
use crate::observe::hash::local_stat;
use crate::observe::rules::TEMP_DIR;
use crate::planning::download_of;
use crate::record::{self, Content};
use crate::step::Ctx;
use crate::step::stable_file::StableFile;
use crate::step::upload::ByteCounter;
use crate::trash;
use cairn_index::{IndexError, LocalRow, RemoteRow, Skipped};
use cairn_model::{ActivityKind, Kind, LocalId, Manifest, NodeId, RelPath, TransferDirection};
use cairn_plan::ParentAndName;
use cairn_platform::disk::is_target_changed;
use cairn_platform::{Expect, TempFile};
use cairn_transfer::{Download, Source, Target};
use std::io::{self, SeekFrom};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// One file to fetch.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) node: NodeId,
    pub(crate) over: Option<LocalId>,
    pub(crate) to: ParentAndName,
    pub(crate) size: u64,
}

/// The keys that a task holds while it runs.
pub(crate) fn keys(task: &Task) -> Vec<Key> {
    std::iter::once(Key::Node(task.node))
        .chain(task.over.map(Key::Local))
        .collect()
}

struct Ready {
    remote: RemoteRow,
    download: Download,
    path: String,
}

fn ready(ctx: &Ctx, task: &Task) -> Result<Ready, EngineError> {
    let (remote, place) = ctx
        .engine
        .index
        .read(|db| Ok((db.remote(task.node)?, ctx.local_place(db, &task.to)?)))?;
    let remote = remote.ok_or(EngineError::Stale)?;
    let (_, path) = place.ok_or(EngineError::Stale)?;
    let download = download_of(&ctx.engine, &remote).ok_or(EngineError::Stale)?;
    Ok(Ready {
        download,
        path: path.to_string(),
        remote,
    })
}

/// Something verified that waits beside its place.
struct Arrived {
    temp: PathBuf,
    manifest: Manifest,
}

/// Fetches one file of any size, keeping what an earlier try has verified.
pub(crate) async fn one(ctx: &Ctx, task: &Task) -> Result<(), EngineError> {
    let ready = ready(ctx, task)?;
    let engine = &ctx.engine;
    let guard = engine.running.start(
        ready.path.clone(),
        TransferDirection::Down,
        ready.remote.size,
    );
    make_room(ctx, &ready)?;
    let name = format!("{}-{}", ready.download.node, ready.download.revision);
    let file = engine
        .ports
        .disk
        .create_temp(&ctx.root().join(TEMP_DIR), &name)?;
    let target = Arc::new(TempTarget(Mutex::new(file)));
    let progress = ByteCounter(Arc::clone(&guard.running));
    let into = Arc::clone(&target) as Arc<dyn Target>;
    let fetching = async {
        match version_here(ctx, task)? {
            Some(here) => {
                let over = engine
                    .transfer
                    .download_over(ready.download, into, here, &progress);
                Ok(over.await)
            }
            None => Ok(engine
                .transfer
                .download(ready.download, into, &progress)
                .await),
        }
    };
    let outcome = tokio::select! {
        biased;
        outcome = fetching => outcome.map_err(|error: IndexError| EngineError::from(error))?,
        // What has arrived stays for the next try.
        () = ctx.paused() => return Err(EngineError::Paused),
    };
    let manifest = match outcome {
        Ok(manifest) => manifest,
        Err(error) => {
            give_up(ctx, &target, &error);
            return Err(error.into());
        }
    };
    let executable = ready.remote.executable;
    let temp = {
        let mut file = target.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.set_executable(executable)?;
        file.set_modified(manifest.modified_ms)?;
        file.sync()?;
        file.path().to_owned()
    };
    drop(target);
    let disk_lock = engine.disk_lock.lock().await;
    let placed = place(ctx, task, &Arrived { temp, manifest });
    let dir = placed
        .as_ref()
        .ok()
        .and_then(|p| p.absolute.parent().map(ToOwned::to_owned));
    if let Some(dir) = dir {
        engine.ports.disk.sync_dirs(&[dir])?;
    }
    let outcome = placed.and_then(|placed| commit(ctx, vec![(task, &ready.remote, placed)]));
    drop(disk_lock);
    outcome
}

/// Checks that there is room for a file. The local trash gives way to it, oldest things first.
fn make_room(ctx: &Ctx, ready: &Ready) -> Result<(), EngineError> {
    let disk = &*ctx.engine.ports.disk;
    let size = ready.remote.size;
    let mut room = disk.free_space(ctx.root())?;
    if room < size {
        // A third of what is free with an empty trash is its limit: what it has above that, and more if
        // that is not enough.
        let limit = trash::limit(disk, ctx.root())?;
        for limit in [limit, 0] {
            if room < size {
                trash::shrink(disk, ctx.root(), limit)?;
                room = disk.free_space(ctx.root())?;
            }
        }
    }
    if room >= size {
        return Ok(());
    }
    Err(EngineError::Disk(io::Error::new(
        io::ErrorKind::StorageFull,
        format!("{} needs {size} bytes, {room} are free", ready.path),
    )))
}

/// The version that is replaced: most of its chunks are in the new one, too.
fn version_here(ctx: &Ctx, task: &Task) -> Result<Option<Arc<dyn Source>>, IndexError> {
    let Some(id) = task.over else { return Ok(None) };
    let found = ctx
        .engine
        .index
        .read(|db| Ok((db.local(id)?, db.local_path(id)?)))?;
    let (Some(row), Some(path)) = found else {
        return Ok(None);
    };
    let disk = Arc::clone(&ctx.engine.ports.disk);
    let file = StableFile::new(disk, ctx.absolute(&path), row.stat);
    Ok(Some(Arc::new(file)))
}

/// Removes what downloads have left behind that nothing needs any more: called when there is nothing
/// to transfer, so none of it will be resumed.
pub(crate) fn clear_leftovers(ctx: &Ctx) {
    let disk = &ctx.engine.ports.disk;
    let dir = ctx.root().join(TEMP_DIR);
    // No such directory: nothing was left.
    let Ok(entries) = disk.list(&dir) else { return };
    for entry in entries {
        if let Err(error) = disk.remove_file(&dir.join(&entry.name)) {
            tracing::debug!(%error, "a temporary file stays for now");
        }
    }
    if let Err(error) = disk.remove_dir(&dir) {
        tracing::debug!(%error, "the directory for temporary files stays for now");
    }
}

/// A refused or impossible download leaves nothing behind; an interrupted one is resumed.
fn give_up(ctx: &Ctx, target: &TempTarget, error: &cairn_transfer::TransferError) {
    let useless = matches!(
        error,
        cairn_transfer::TransferError::Refused { .. }
            | cairn_transfer::TransferError::Gone { .. }
            | cairn_transfer::TransferError::Target(_)
    );
    if useless {
        let path = target
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .path()
            .to_owned();
        if let Err(error) = ctx.engine.ports.disk.remove_file(&path) {
            tracing::debug!(%error, "a temporary file stays for now");
        }
    }
}

/// Fetches small files together. The outcomes are in the order of the tasks.
pub(crate) async fn many(ctx: &Ctx, tasks: &[Task]) -> Vec<Result<(), EngineError>> {
    let engine = &ctx.engine;
    let readies: Vec<Result<Ready, EngineError>> =
        tasks.iter().map(|task| ready(ctx, task)).collect();
    let downloads: Vec<Download> = readies.iter().flatten().map(|r| r.download).collect();
    let total = readies.iter().flatten().map(|r| r.remote.size).sum();
    let label = match readies.as_slice() {
        [Ok(one)] => one.path.clone(),
        _ => format!("{} small files", tasks.len()),
    };
    let guard = engine.running.start(label, TransferDirection::Down, total);
    let contents = engine
        .transfer
        .download_batch(&downloads, &ByteCounter(Arc::clone(&guard.running)))
        .await;
    let mut jobs = Vec::new();
    let mut outcomes: Vec<Option<Result<(), EngineError>>> = Vec::new();
    let mut contents = contents.into_iter();
    for (at, ready) in readies.into_iter().enumerate() {
        match ready {
            Err(error) => outcomes.push(Some(Err(error))),
            Ok(ready) => match contents.next() {
                Some(Ok((manifest, bytes))) => {
                    jobs.push((at, ready, manifest, bytes));
                    outcomes.push(None);
                }
                Some(Err(error)) => outcomes.push(Some(Err(error.into()))),
                None => outcomes.push(Some(Err(EngineError::ShortBatch))),
            },
        }
    }
    let ctx2 = ctx.clone();
    let arrived = engine
        .ports
        .blocking(move || {
            jobs.into_iter()
                .map(|(at, ready, manifest, bytes)| {
                    let outcome = write_temp(&ctx2, &ready, manifest, &bytes);
                    (at, ready, outcome)
                })
                .collect::<Vec<_>>()
        })
        .await;
    let placed_outcomes = place_many(ctx, tasks, arrived).await;
    for (at, outcome) in placed_outcomes {
        outcomes[at] = Some(outcome);
    }
    outcomes
        .into_iter()
        .map(|outcome| outcome.unwrap_or(Err(EngineError::ShortBatch)))
        .collect()
}

fn write_temp(
    ctx: &Ctx,
    ready: &Ready,
    manifest: Manifest,
    bytes: &[u8],
) -> Result<Arrived, EngineError> {
    let name = format!("{}-{}", ready.download.node, ready.download.revision);
    let mut file = ctx
        .engine
        .ports
        .disk
        .create_temp(&ctx.root().join(TEMP_DIR), &name)?;
    let executable = ready.remote.executable;
    let written = file
        .set_len(0)
        .and_then(|()| io::Write::write_all(&mut *file, bytes))
        .and_then(|()| file.set_executable(executable))
        .and_then(|()| file.set_modified(manifest.modified_ms));
    let temp = file.path().to_owned();
    drop(file);
    if let Err(error) = written {
        if let Err(error) = ctx.engine.ports.disk.remove_file(&temp) {
            tracing::debug!(%error, "a temporary file stays for now");
        }
        return Err(error.into());
    }
    Ok(Arrived { temp, manifest })
}

type Written = (usize, Ready, Result<Arrived, EngineError>);

/// Puts a batch in place under the gate: durable first, then named, then durable names, then one
/// transaction. Two flushes serve the whole batch.
async fn place_many(
    ctx: &Ctx,
    tasks: &[Task],
    arrived: Vec<Written>,
) -> Vec<(usize, Result<(), EngineError>)> {
    let disk_lock = ctx.engine.disk_lock.lock().await;
    let ctx2 = ctx.clone();
    let tasks = tasks.to_vec();
    let outcomes = ctx
        .engine
        .ports
        .blocking(move || {
            let disk = &ctx2.engine.ports.disk;
            let mut outcomes = Vec::new();
            let mut placed = Vec::new();
            let flushed = disk.sync_all(ctx2.root()).map_err(|e| e.to_string());
            for (at, ready, arrived) in arrived {
                let put = arrived.and_then(|arrived| match &flushed {
                    Ok(()) => place(&ctx2, &tasks[at], &arrived),
                    Err(error) => Err(EngineError::Disk(io::Error::other(error.clone()))),
                });
                match put {
                    Ok(put) => placed.push((at, ready, put)),
                    Err(error) => outcomes.push((at, Err(error))),
                }
            }
            let named = disk.sync_all(ctx2.root());
            let ats: Vec<usize> = placed.iter().map(|(at, _, _)| *at).collect();
            let recorded = named.map_err(EngineError::Disk).and_then(|()| {
                commit(
                    &ctx2,
                    placed
                        .iter()
                        .map(|(at, ready, put)| (&tasks[*at], &ready.remote, put.clone()))
                        .collect(),
                )
            });
            match recorded {
                Ok(()) => outcomes.extend(ats.into_iter().map(|at| (at, Ok(())))),
                Err(error) => {
                    // They are in place but not recorded: the next scan sees that they are equal.
                    tracing::warn!(%error, "downloads can't be recorded");
                    outcomes.extend(
                        ats.into_iter()
                            .map(|at| (at, Err(EngineError::NotRecorded))),
                    );
                }
            }
            outcomes
        })
        .await;
    drop(disk_lock);
    outcomes
}

/// A file that stands at its place now.
#[derive(Clone)]
struct Placed {
    absolute: PathBuf,
    path: RelPath,
    parent: Option<LocalId>,
    row: Option<LocalRow>,
    stat: cairn_platform::Stat,
    manifest: Manifest,
}

fn place(ctx: &Ctx, task: &Task, arrived: &Arrived) -> Result<Placed, EngineError> {
    let disk = &ctx.engine.ports.disk;
    let (row, own_path, place, synced) = ctx.engine.index.read(|db| {
        let row = match task.over {
            Some(id) => db.local(id)?,
            None => None,
        };
        let own = match task.over {
            Some(id) => db.local_path(id)?,
            None => None,
        };
        Ok((
            row,
            own,
            ctx.local_place(db, &task.to)?,
            db.synced(ctx.folder.id, task.node)?,
        ))
    })?;
    let (parent, planned) = place.ok_or(EngineError::Stale)?;
    let (path, expect) = match task.over {
        None => (planned, Expect::Absent),
        Some(_) => {
            let row = row.clone().ok_or(EngineError::Stale)?;
            let path = own_path.ok_or(EngineError::Stale)?;
            // The plan was made for a file with the synced content. A scan may have seen an edit since:
            // then the row is as new as the disk, and only this tells that it is another version.
            if row.hash.is_none() || row.hash != synced.and_then(|s| s.hash) {
                return Err(EngineError::Stale);
            }
            let stat = disk.stat(&ctx.absolute(&path))?;
            if local_stat(&stat) != row.stat {
                return Err(EngineError::Stale);
            }
            (path, Expect::Same(stat.key()))
        }
    };
    let absolute = ctx.absolute(&path);
    let stat = match disk.replace(&arrived.temp, &absolute, expect) {
        Ok(stat) => stat,
        Err(error) if is_target_changed(&error) => return Err(EngineError::Stale),
        Err(error) => return Err(error.into()),
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

fn commit(ctx: &Ctx, placed: Vec<(&Task, &RemoteRow, Placed)>) -> Result<(), EngineError> {
    let at_ms = ctx.engine.ports.clock.now_ms();
    let mut announced = Vec::new();
    ctx.engine.index.write(|db| {
        for (task, remote, placed) in &placed {
            let manifest = &placed.manifest;
            let content = Content {
                revision: remote.revision,
                hash: Some(manifest.hash),
                size: manifest.size,
            };
            if let Some(revision) = remote.revision {
                db.set_remote_manifest(task.node, revision, manifest.hash, manifest.number)?;
            }
            match &placed.row {
                Some(row) => {
                    db.update_local(&LocalRow {
                        stat: local_stat(&placed.stat),
                        executable: placed.stat.executable,
                        hash: Some(manifest.hash),
                        ..row.clone()
                    })?;
                    record::agree_content(db, &ctx.folder, task.node, content, remote.executable)?;
                }
                None => {
                    let id = db.insert_local(&LocalRow {
                        id: LocalId(0),
                        folder: ctx.folder.id,
                        parent: placed.parent,
                        name: task.to.name.clone(),
                        kind: Kind::File,
                        stat: local_stat(&placed.stat),
                        executable: placed.stat.executable,
                        hash: Some(manifest.hash),
                        skipped: Skipped::No,
                    })?;
                    record::adopt(db, &ctx.folder, id, remote, content)?;
                }
            }
            let activity = cairn_index::ActivityRow {
                at_ms,
                folder: Some(ctx.folder.id),
                kind: ActivityKind::Downloaded,
                path: placed.path.to_string(),
                device: ctx.engine.devices.name(remote.device),
                bytes: manifest.size,
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

/// A temporary file as a transfer wants it.
struct TempTarget(Mutex<Box<dyn TempFile>>);

impl Target for TempTarget {
    fn size(&self) -> io::Result<u64> {
        Ok(self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .stat()?
            .size)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        io::Read::read_exact(&mut **file, out)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        io::Write::write_all(&mut **file, bytes)
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .set_len(size)
    }
}
