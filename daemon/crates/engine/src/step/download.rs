//! Fetching file content: into a temporary file on the same file system, verified, then put in place
//! in one atomic step if the file there is still the one that the plan was made for.

mod batch;
mod nearby;
mod place;
mod room;
mod temp_target;

pub(crate) use batch::many;

use crate::error::EngineError;
use crate::key::Key;
use crate::node_rows::download_of;
use crate::observe::rules::TEMP_DIR;
use crate::step::upload::ByteCounter;
use crate::step::{Ctx, spelling};
use cairn_api::ErrorClass;
use cairn_index::RemoteRow;
use cairn_model::{LocalId, Manifest, NodeId, TransferDirection};
use cairn_plan::ParentAndName;
use cairn_transfer::{Download, Progress, Target, TransferError};
use std::path::PathBuf;
use std::sync::Arc;
use temp_target::TempTarget;

/// One file to fetch.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) node: NodeId,
    /// The local file whose content is replaced; `None`: a new file.
    pub(crate) over: Option<LocalId>,
    pub(crate) to: ParentAndName,
    /// Bytes.
    pub(crate) size: u64,
}

/// Returns the node and the local row that no other step touches while a task runs.
pub(crate) fn keys(task: &Task) -> Vec<Key> {
    std::iter::once(Key::Node(task.node))
        .chain(task.over.map(Key::Local))
        .collect()
}

struct PreparedDownload {
    remote: RemoteRow,
    download: Download,
    path: String,
}

impl PreparedDownload {
    /// Returns the name of the temporary file: the same for each try.
    fn temp_name(&self) -> String {
        format!("{}-{}", self.download.node, self.download.revision)
    }
}

fn prepare_download(ctx: &Ctx, task: &Task) -> Result<PreparedDownload, EngineError> {
    let (remote, place) = ctx
        .engine
        .index
        .read(|db| Ok((db.remote_row(task.node)?, ctx.local_place(db, &task.to)?)))?;
    let remote = remote.ok_or(EngineError::Stale)?;
    let (_, path) = place.ok_or(EngineError::Stale)?;
    let download = download_of(&ctx.engine.keys, &remote).ok_or(EngineError::Stale)?;
    if task.over.is_none() {
        // Before anything is fetched: what can't be put here would be fetched again and again.
        let disk = &*ctx.engine.ports.disk;
        spelling::check(disk, &ctx.absolute_path(&path))?;
        if ctx
            .engine
            .health()
            .tries(ctx.folder.id, Key::Node(task.node))
            > 0
        {
            spelling::check_possible(disk, ctx.root(), &task.to.name)?;
        }
    }
    Ok(PreparedDownload {
        download,
        path: path.to_string(),
        remote,
    })
}

impl PreparedDownload {
    /// Takes the executable bit from the record of the content where no seal covers the node as it is.
    fn set_executable(&mut self, manifest: &Manifest) {
        if self.download.manifest_hash.is_none() {
            self.remote.executable = manifest.executable;
        }
    }
}

/// Something verified that waits beside its place.
struct Arrived {
    temp: PathBuf,
    manifest: Manifest,
}

/// Fetches one file of any size, keeping what an earlier try has verified.
pub(crate) async fn one(ctx: &Ctx, task: &Task) -> Result<(), EngineError> {
    let mut ready = prepare_download(ctx, task)?;
    let engine = &ctx.engine;
    let guard = engine.running.start(
        ready.path.clone(),
        TransferDirection::Down,
        ready.remote.size,
    );
    room::make_room(ctx, &ready).await?;
    ctx.check_root()?;
    let dir = ctx.root().join(TEMP_DIR);
    let file = engine.ports.disk.create_temp(&dir, &ready.temp_name())?;
    let target = Arc::new(TempTarget::new(file));
    let progress = ByteCounter(Arc::clone(&guard.running));
    let manifest = fetch(ctx, task, &ready, &target, &progress).await?;
    ready.set_executable(&manifest);
    let (executable, modified_ms) = (ready.remote.executable, manifest.modified_ms);
    let temp = engine
        .ports
        .run_blocking(move || target.finish(executable, modified_ms))
        .await?;
    let arrived = Arrived { temp, manifest };
    let _disk_lock = engine.disk_lock.lock().await;
    let (ctx2, task) = (ctx.clone(), task.clone());
    let put = move || {
        let (there, _placing) = place::check_still_there(&ctx2, &[task.node])?;
        if !there.contains(&task.node) {
            return Err(EngineError::Stale);
        }
        let placed = place::place(&ctx2, &task, &arrived)?;
        record(&ctx2, &task, &ready, &placed).map_err(|error| {
            // It is in place: a scan has to find it, because nobody may fetch it any more.
            tracing::warn!(%error, "a download can't be recorded");
            EngineError::NotRecorded
        })
    };
    engine.ports.run_blocking(put).await
}

/// Records a file that was put in place, once its name is durable.
fn record(
    ctx: &Ctx,
    task: &Task,
    ready: &PreparedDownload,
    placed: &place::Placed,
) -> Result<(), EngineError> {
    if let Some(dir) = placed.absolute.parent() {
        ctx.engine.ports.disk.sync_dirs(&[dir.to_owned()])?;
    }
    place::commit(ctx, &[(task, &ready.remote, placed)])
}

/// Fetches the content into a target, unless the folder is paused meanwhile.
async fn fetch(
    ctx: &Ctx,
    task: &Task,
    ready: &PreparedDownload,
    target: &Arc<TempTarget>,
    progress: &dyn Progress,
) -> Result<Manifest, EngineError> {
    let transfer = &ctx.engine.transfer;
    let into = Arc::clone(target) as Arc<dyn Target>;
    let fetching = async {
        let manifest = match nearby::find(ctx, task, ready).await? {
            Some(nearby) => {
                transfer
                    .download_over(ready.download, into, nearby, progress)
                    .await
            }
            None => transfer.download(ready.download, into, progress).await,
        };
        manifest.map_err(|error| {
            give_up(ctx, target, &error);
            EngineError::from(error)
        })
    };
    tokio::select! {
        biased;
        outcome = fetching => outcome,
        // What has arrived stays for the next try.
        () = ctx.wait_paused() => Err(EngineError::Paused),
    }
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
fn give_up(ctx: &Ctx, target: &TempTarget, error: &TransferError) {
    let useless = match error {
        TransferError::Refused { .. } | TransferError::Target(_) => true,
        TransferError::Api(error) => error.class() == ErrorClass::Missing,
        TransferError::SourceChanged
        | TransferError::UploadLost
        | TransferError::Sealing(_)
        | TransferError::Source(_) => false,
    };
    if useless && let Err(error) = ctx.engine.ports.disk.remove_file(&target.path()) {
        tracing::debug!(%error, "a temporary file stays for now");
    }
}
