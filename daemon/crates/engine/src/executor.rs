//! Carries a plan out: records and structure at once and in order, content as work for the pool.

use crate::error::{Disposition, EngineError};
use crate::key::{Key, LockedKeys};
use crate::record;
use crate::step::{Ctx, download, local, remote, trash_local, upload};
use cairn_index::IndexError;
use cairn_model::{LocalId, NodeId, RelPath};
use cairn_plan::{Plan, Step};
use cairn_wire::transfer::{BATCH_BYTES, BATCH_FILES};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::mem::discriminant;

/// Files up to this size travel in batches: they are one chunk.
const SMALL: u64 = cairn_crypto::MIN_CHUNK as u64;
/// Room for seals and padding in a batch.
const BATCH_ROOM: u64 = (BATCH_BYTES - BATCH_BYTES / 8) as u64;

/// Transfers that belong together.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    Upload(upload::Task),
    Uploads(Vec<upload::Task>),
    Download(download::Task),
    Downloads(Vec<download::Task>),
}

/// The outcome of one task of a work: its keys, where it was, and what happened.
pub(crate) struct TransferResult {
    pub(crate) keys: Vec<Key>,
    pub(crate) path: String,
    pub(crate) result: Result<(), EngineError>,
}

impl Work {
    pub(crate) fn keys(&self) -> Vec<Key> {
        match self {
            Self::Upload(task) => upload::keys(task),
            Self::Uploads(tasks) => tasks.iter().flat_map(upload::keys).collect(),
            Self::Download(task) => download::keys(task),
            Self::Downloads(tasks) => tasks.iter().flat_map(download::keys).collect(),
        }
    }

    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Upload(_) | Self::Download(_) => 1,
            Self::Uploads(tasks) => tasks.len() as u64,
            Self::Downloads(tasks) => tasks.len() as u64,
        }
    }

    /// Does the work; one outcome a task.
    pub(crate) async fn run(self, ctx: Ctx) -> Vec<TransferResult> {
        let results = match &self {
            Self::Upload(task) => vec![upload::one(&ctx, task).await],
            Self::Uploads(tasks) => upload::many(&ctx, tasks).await,
            Self::Download(task) => vec![download::one(&ctx, task).await],
            Self::Downloads(tasks) => download::many(&ctx, tasks).await,
        };
        let keyed: Vec<(Vec<Key>, Key)> = match &self {
            Self::Upload(task) => vec![(upload::keys(task), Key::Local(task.local))],
            Self::Uploads(tasks) => tasks
                .iter()
                .map(|t| (upload::keys(t), Key::Local(t.local)))
                .collect(),
            Self::Download(task) => vec![(download::keys(task), Key::Node(task.node))],
            Self::Downloads(tasks) => tasks
                .iter()
                .map(|t| (download::keys(t), Key::Node(t.node)))
                .collect(),
        };
        keyed
            .into_iter()
            .zip(results)
            .map(|((keys, main), result)| {
                let path = if result.is_err() {
                    path_of(&ctx, main)
                } else {
                    String::new()
                };
                TransferResult { keys, path, result }
            })
            .collect()
    }
}

/// The result of carrying out the structure of a plan.
#[derive(Default)]
pub(crate) struct ExecutionResult {
    pub(crate) work: VecDeque<Work>,
    /// True if anything was done.
    pub(crate) progress: bool,
    /// The world has moved on: look at these directories and at the service, then plan again.
    pub(crate) rescan: BTreeSet<RelPath>,
    pub(crate) replan: bool,
    /// Nothing works for now.
    pub(crate) last_error: Option<EngineError>,
    /// Steps that wait (parked, or held by a running transfer).
    pub(crate) waiting: u64,
}

/// The keys that a step touches; the first is the one that is parked if it fails.
pub(crate) fn keys_of(step: &Step) -> Vec<Key> {
    match step {
        Step::Adopt { local, node }
        | Step::SetLocalExecutable { node, local, .. }
        | Step::SetRemoteExecutable { node, local, .. }
        | Step::TrashLocal { node, local } => vec![Key::Node(*node), Key::Local(*local)],
        Step::Forget { node }
        | Step::Unlink { node }
        | Step::CreateLocalFolder { node, .. }
        | Step::MoveRemote { node, .. }
        | Step::TrashRemote { node } => vec![Key::Node(*node)],
        Step::CreateRemoteFolder { local, .. } | Step::MoveLocal { local, .. } => {
            vec![Key::Local(*local)]
        }
        Step::Download { node, over, .. } => std::iter::once(Key::Node(*node))
            .chain(over.map(Key::Local))
            .collect(),
        Step::Upload { local, over, .. } => std::iter::once(Key::Local(*local))
            .chain(over.map(Key::Node))
            .collect(),
    }
}

/// Carries out everything but transfers, which are returned as work.
pub(crate) async fn execute(ctx: &Ctx, plan: &Plan, locks: &LockedKeys) -> ExecutionResult {
    let mut out = ExecutionResult::default();
    let mut transfers = Vec::new();
    let mut steps = plan.steps.iter().peekable();
    while let Some(step) = steps.next() {
        if out.last_error.is_some() || ctx.engine.stop.is_set() {
            break;
        }
        if waits(ctx, step, locks) {
            out.waiting += 1;
            continue;
        }
        tracing::trace!(device = %ctx.engine.device_name, ?step, "next");
        match step {
            Step::Download { .. } | Step::Upload { .. } => transfers.push(step),
            Step::CreateRemoteFolder { .. }
            | Step::MoveRemote { .. }
            | Step::TrashRemote { .. } => {
                let mut run = vec![step.clone()];
                while let Some(next) = steps.next_if(|next| {
                    discriminant(*next) == discriminant(step) && !waits(ctx, next, locks)
                }) {
                    run.push(next.clone());
                }
                for (step, result) in run.iter().zip(remote::run(ctx, &run).await) {
                    record_result(ctx, step, result, &mut out);
                }
            }
            Step::Adopt { .. }
            | Step::Forget { .. }
            | Step::Unlink { .. }
            | Step::CreateLocalFolder { .. }
            | Step::MoveLocal { .. }
            | Step::SetLocalExecutable { .. }
            | Step::SetRemoteExecutable { .. }
            | Step::TrashLocal { .. } => {
                let result = single(ctx, plan, step).await;
                record_result(ctx, step, result, &mut out);
            }
        }
    }
    out.work = pack(ctx, &transfers);
    out
}

fn waits(ctx: &Ctx, step: &Step, locks: &LockedKeys) -> bool {
    let health = ctx.engine.health();
    keys_of(step).iter().any(|key| {
        locks.contains(key)
            || health.is_parked(ctx.folder.id, *key)
            || ctx.engine.arriving.contains(*key)
    })
}

async fn single(ctx: &Ctx, plan: &Plan, step: &Step) -> Result<(), EngineError> {
    match step {
        Step::Adopt { local, node } => Ok(adopt(ctx, *local, *node)?),
        Step::Forget { node } => Ok(ctx.engine.index.write(|db| {
            db.remove_synced(ctx.folder.id, *node)?;
            db.clean_node(ctx.folder.id, *node)
        })?),
        Step::Unlink { node } => Ok(unlink(ctx, *node)?),
        Step::CreateLocalFolder { node, to } => local::create_folder(ctx, *node, to).await,
        Step::MoveLocal { local, to, reason } => {
            let conflict = plan.conflicts.iter().find(|c| c.copy == *local);
            let conflict = conflict.filter(|_| *reason == cairn_plan::MoveReason::Conflict);
            local::move_local(ctx, *local, to, *reason, conflict).await
        }
        Step::SetLocalExecutable {
            node,
            local,
            executable,
        } => local::set_executable(ctx, *node, *local, *executable).await,
        Step::SetRemoteExecutable {
            node, executable, ..
        } => remote::set_executable(ctx, *node, *executable).await,
        Step::TrashLocal { node, local } => trash_local::trash_local(ctx, *node, *local).await,
        Step::CreateRemoteFolder { .. }
        | Step::MoveRemote { .. }
        | Step::TrashRemote { .. }
        | Step::Download { .. }
        | Step::Upload { .. } => Err(EngineError::Stale),
    }
}

fn adopt(ctx: &Ctx, local: LocalId, node: NodeId) -> Result<(), EngineError> {
    let adopted = ctx.engine.index.write(|db| {
        let (Some(row), Some(remote)) = (db.local(local)?, db.remote(node)?) else {
            return Ok(false);
        };
        let content = record::equal_content(&row, &remote);
        match db.synced(ctx.folder.id, node)? {
            Some(synced) if synced.local == local => {
                record::agree_content(db, &ctx.folder, node, content, remote.executable)?;
                record::agree_place(db, &ctx.folder, node)?;
            }
            Some(_) | None => record::adopt(db, &ctx.folder, local, &remote, content)?,
        }
        Ok(true)
    })?;
    adopted.then_some(()).ok_or(EngineError::Stale)
}

fn unlink(ctx: &Ctx, node: NodeId) -> Result<(), IndexError> {
    ctx.engine.index.write(|db| {
        if let Some(synced) = db.synced(ctx.folder.id, node)? {
            db.remove_synced(ctx.folder.id, node)?;
            db.mark_local(ctx.folder.id, synced.local)?;
        }
        if db.remote(node)?.is_some() {
            db.mark_node(ctx.folder.id, node)
        } else {
            db.clean_node(ctx.folder.id, node)
        }
    })
}

fn record_result(
    ctx: &Ctx,
    step: &Step,
    result: Result<(), EngineError>,
    out: &mut ExecutionResult,
) {
    let Some(key) = keys_of(step).first().copied() else {
        return;
    };
    match result {
        Ok(()) => {
            out.progress = true;
            ctx.engine.health().clear(ctx.folder.id, key);
        }
        Err(error) => {
            tracing::debug!(%error, ?step, "a step did not go through");
            record_failure(ctx, key, path_of(ctx, key), error, out);
        }
    }
}

/// Decides what follows from a failed step or transfer.
pub(crate) fn record_failure(
    ctx: &Ctx,
    key: Key,
    path: String,
    error: EngineError,
    out: &mut ExecutionResult,
) {
    match error.disposition() {
        Disposition::Stop => out.last_error = Some(error),
        Disposition::Replan => {
            out.replan = true;
            let dir = RelPath::parse(&path)
                .ok()
                .and_then(|p| p.parent())
                .unwrap_or_default();
            out.rescan.insert(dir);
            ctx.engine
                .health()
                .park(ctx.folder.id, key, path, &error, true);
        }
        Disposition::Retry => {
            let changing = crate::error::explain(&error).0 == cairn_model::ProblemCode::Changing;
            let dir = RelPath::parse(&path)
                .ok()
                .and_then(|p| p.parent())
                .unwrap_or_default();
            out.rescan.insert(dir);
            ctx.engine
                .health()
                .park(ctx.folder.id, key, path, &error, changing);
        }
        Disposition::Park => {
            tracing::warn!(%path, %error, "one path waits");
            ctx.engine
                .health()
                .park(ctx.folder.id, key, path, &error, false);
        }
    }
}

fn path_of(ctx: &Ctx, key: Key) -> String {
    match key {
        Key::Local(id) => ctx.path_of(id),
        Key::Node(id) => {
            let local = ctx
                .engine
                .index
                .read(|db| db.synced(ctx.folder.id, id))
                .ok()
                .flatten();
            match local {
                Some(synced) => ctx.path_of(synced.local),
                None => crate::planning::remote_path(&ctx.engine, &ctx.folder, id),
            }
        }
    }
}

/// Packs transfers: small files together, each big one alone, in the order of the plan.
fn pack(ctx: &Ctx, steps: &[&Step]) -> VecDeque<Work> {
    let sizes = sizes(ctx, steps);
    let mut work = VecDeque::new();
    let mut ups: Vec<upload::Task> = Vec::new();
    let mut downs: Vec<download::Task> = Vec::new();
    let (mut up_bytes, mut down_bytes) = (0, 0);
    for step in steps {
        match step {
            Step::Upload { local, over, to } => {
                let size = sizes.get(&Key::Local(*local)).copied().unwrap_or(0);
                let task = upload::Task {
                    local: *local,
                    over: *over,
                    to: to.clone(),
                    size,
                };
                if size > SMALL {
                    work.push_back(Work::Upload(task));
                    continue;
                }
                if ups.len() == BATCH_FILES || up_bytes + size > BATCH_ROOM {
                    work.push_back(Work::Uploads(std::mem::take(&mut ups)));
                    up_bytes = 0;
                }
                up_bytes += task.size;
                ups.push(task);
            }
            Step::Download { node, over, to } => {
                let size = sizes.get(&Key::Node(*node)).copied().unwrap_or(0);
                let task = download::Task {
                    node: *node,
                    over: *over,
                    to: to.clone(),
                    size,
                };
                if size > SMALL {
                    work.push_back(Work::Download(task));
                    continue;
                }
                if downs.len() == BATCH_FILES || down_bytes + size > BATCH_ROOM {
                    work.push_back(Work::Downloads(std::mem::take(&mut downs)));
                    down_bytes = 0;
                }
                down_bytes += task.size;
                downs.push(task);
            }
            Step::Adopt { .. }
            | Step::Forget { .. }
            | Step::Unlink { .. }
            | Step::CreateLocalFolder { .. }
            | Step::CreateRemoteFolder { .. }
            | Step::MoveLocal { .. }
            | Step::MoveRemote { .. }
            | Step::SetLocalExecutable { .. }
            | Step::SetRemoteExecutable { .. }
            | Step::TrashLocal { .. }
            | Step::TrashRemote { .. } => {}
        }
    }
    if !ups.is_empty() {
        work.push_front(Work::Uploads(ups));
    }
    if !downs.is_empty() {
        work.push_front(Work::Downloads(downs));
    }
    work
}

fn sizes(ctx: &Ctx, steps: &[&Step]) -> BTreeMap<Key, u64> {
    let looked = ctx.engine.index.read(|db| {
        let mut out = BTreeMap::new();
        for step in steps {
            if let Step::Upload { local, .. } = step
                && let Some(row) = db.local(*local)?
            {
                out.insert(Key::Local(*local), row.stat.size);
            }
            if let Step::Download { node, .. } = step
                && let Some(row) = db.remote(*node)?
            {
                out.insert(Key::Node(*node), row.size);
            }
        }
        Ok(out)
    });
    looked.unwrap_or_default()
}
