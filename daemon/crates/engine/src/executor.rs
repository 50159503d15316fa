//! Carries a plan out: records and structure at once and in order, content as work for the pool.

mod exchanges;
mod local_moves;
mod other_names;
mod run;
#[cfg(test)]
mod tests;
mod unmoved;

use crate::error::{Disposition, EngineError};
use crate::full_disk;
use crate::health::RetryHint;
use crate::key::{Key, LockedKeys, keys_of};
use crate::record;
use crate::step::batch::StepResult;
use crate::step::{Ctx, local, local_folders, remote, trash_local};
use crate::work::{Queue, pack};
use cairn_api::ApiError;
use cairn_index::{Db, IndexError, LocalRow};
use cairn_model::{FolderId, LocalId, NodeId, RelPath};
use cairn_plan::{Plan, Step};
use exchanges::Exchanges;
use local_moves::{RulesDirs, moved_dir};
use run::{Run, batch_of};
use std::collections::BTreeSet;
use tokio::time::Instant;
use unmoved::Unmoved;

/// The result of carrying out the structure of a plan.
#[derive(Default)]
pub(crate) struct ExecutionResult {
    pub(crate) work: Queue,
    /// True if anything was done.
    pub(crate) progress: bool,
    /// Directories that are not as the plan has them: scan them and poll the feed, then plan again.
    pub(crate) rescan: BTreeSet<RelPath>,
    pub(crate) replan: bool,
    /// The reason why everything stops for now.
    pub(crate) last_error: Option<EngineError>,
    /// The service carries out nothing for now.
    pub(crate) overload: Option<ApiError>,
    /// The service has no room: no upload is begun for now.
    pub(crate) is_service_full: bool,
    /// Steps that wait: after a failure (parked), or for a running transfer of the same file. The first key of each.
    pub(crate) waiting: BTreeSet<Key>,
    /// A command came in between: the rest is to be planned again.
    pub(crate) is_interrupted: bool,
    /// The directories that were moved on this disk, from and to.
    pub(crate) moved_dirs: Vec<(RelPath, RelPath)>,
    /// Names of files that were changed under another one, in whatever pair.
    pub(crate) other_names: Vec<(FolderId, RelPath)>,
    /// A rules file of a directory may be elsewhere now, or gone.
    pub(crate) has_moved_rules: bool,
    /// Something was found that is not as planned, and recorded: nothing more is deleted on this disk.
    pub(crate) keeps_local: bool,
}

impl ExecutionResult {
    /// Returns whether a step would delete something that is not as planned any more, as far as is known.
    fn keeps(&self, step: &Step) -> bool {
        self.keeps_local && matches!(step, Step::TrashLocal { .. })
    }
}

/// Carries out everything but transfers, which are returned as work. Between two steps it ends early at
/// `until`, or if the engine stops or a command, such as a pause, has come.
pub(crate) async fn execute(
    ctx: &Ctx,
    plan: &Plan,
    locks: &LockedKeys,
    until: Instant,
) -> ExecutionResult {
    let mut out = ExecutionResult::default();
    let mut transfers = Vec::new();
    let mut unmoved = Unmoved::default();
    let rules_dirs = RulesDirs::of(ctx);
    let mut exchanges = Exchanges::of(&plan.steps);
    let mut steps = plan.steps.iter().enumerate().peekable();
    while let Some((at, step)) = steps.next() {
        if ctx.is_interrupted() || Instant::now() >= until {
            out.is_interrupted = true;
            return out;
        }
        if out.last_error.is_some() || out.overload.is_some() {
            break;
        }
        let has_to_wait = |step: &Step| waits(ctx, step, locks);
        if out.keeps(step)
            || exchanges.holds(at, has_to_wait)
            || has_to_wait(step)
            || unmoved.holds(ctx, step)
        {
            unmoved.add(step);
            out.waiting.extend(keys_of(step).first());
            continue;
        }
        tracing::trace!(device = %ctx.engine.device_name, ?step, "next");
        out.has_moved_rules |= rules_dirs.are_moved_by(ctx, step);
        if matches!(step, Step::Download { .. } | Step::Upload { .. }) {
            transfers.push(step);
        } else if let Some(most) = batch_of(step) {
            let mut run = Run::begin(step, most);
            while let Some((_, next)) = steps.next_if(|(at, next)| {
                run.takes(next)
                    && !exchanges.holds(*at, has_to_wait)
                    && !has_to_wait(next)
                    && !unmoved.holds(ctx, next)
            }) {
                out.has_moved_rules |= rules_dirs.are_moved_by(ctx, next);
                run.add(next);
            }
            let results = run_batch(ctx, run.into_steps()).await;
            record_results(ctx, results, &mut unmoved, &mut out);
        } else {
            carry_out_alone(ctx, plan, step, &mut unmoved, &mut out).await;
        }
    }
    // What was not planned is the rest of the same part.
    out.is_interrupted |= plan.rest_waits && out.progress;
    match pack(ctx, &transfers) {
        Ok(work) => out.work = work,
        Err(error) => out.last_error = Some(error.into()),
    }
    out
}

async fn carry_out_alone(
    ctx: &Ctx,
    plan: &Plan,
    step: &Step,
    unmoved: &mut Unmoved,
    out: &mut ExecutionResult,
) {
    let from = moved_dir(ctx, step);
    let result = run_single(ctx, plan, step).await;
    let to = moved_dir(ctx, step);
    out.moved_dirs
        .extend(from.zip(to).filter(|(from, to)| from != to));
    record_results(ctx, vec![(step.clone(), result)], unmoved, out);
}

/// Carries out steps of one kind together.
async fn run_batch(ctx: &Ctx, steps: Vec<Step>) -> Vec<(Step, StepResult)> {
    match steps.first() {
        Some(Step::CreateLocalFolder { .. }) => local_folders::create(ctx, steps).await,
        Some(Step::TrashLocal { .. }) => trash_local::run(ctx, steps).await,
        Some(Step::RestoreRemote { .. }) => remote::restore(ctx, steps).await,
        Some(_) | None => remote::run(ctx, steps).await,
    }
}

/// Returns the service's failure if it has carried out none of these because it carries out nothing now.
pub(crate) fn overload<'a>(
    results: impl IntoIterator<Item = &'a Result<(), EngineError>>,
) -> Option<ApiError> {
    let mut first = None;
    for result in results {
        let error = result.as_ref().err()?.overload()?;
        first.get_or_insert(error);
    }
    first.cloned()
}

/// Returns whether a step has to wait because of an earlier failure or a running transfer.
pub(crate) fn waits(ctx: &Ctx, step: &Step, locks: &LockedKeys) -> bool {
    // What fails about a node is its transfer. That it is no longer paired is a record that steps of its
    // local file rely on, and those have another key. For a node that comes back everything else waits.
    let is_record = matches!(
        step,
        Step::Forget { .. } | Step::Unlink { .. } | Step::RestoreRemote { .. }
    );
    let health = ctx.engine.health();
    let is_held = matches!(step, Step::Upload { .. }) && health.holds_uploads();
    is_held
        || keys_of(step).iter().any(|key| {
            locks.contains(key)
                || (!is_record && health.is_parked(ctx.folder.id, *key))
                || ctx.engine.arriving.contains(*key)
        })
}

async fn run_single(ctx: &Ctx, plan: &Plan, step: &Step) -> Result<(), EngineError> {
    match step {
        Step::Adopt { local, node } => Ok(adopt(ctx, *local, *node)?),
        Step::Forget { node } => Ok(ctx.engine.index.write(|db| {
            db.remove_synced(ctx.folder.id, *node)?;
            db.clean_node(ctx.folder.id, *node)
        })?),
        Step::Unlink { node } => Ok(unlink(ctx, *node)?),
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
            node,
            local,
            executable,
        } => remote::set_executable(ctx, *node, *local, *executable).await,
        Step::TrashLocal { .. }
        | Step::CreateLocalFolder { .. }
        | Step::CreateRemoteFolder { .. }
        | Step::MoveRemote { .. }
        | Step::RestoreRemote { .. }
        | Step::TrashRemote { .. }
        | Step::Download { .. }
        | Step::Upload { .. } => Err(EngineError::Stale),
    }
}

fn adopt(ctx: &Ctx, local: LocalId, node: NodeId) -> Result<(), EngineError> {
    let adopted = ctx.engine.index.write(|db| {
        let (Some(mut row), Some(remote)) = (db.local_row(local)?, db.remote_row(node)?) else {
            return Ok(false);
        };
        if row.executable != remote.executable && !keeps_executable_bit(ctx, db, &row)? {
            row.executable = remote.executable;
            db.update_local(&row)?;
        }
        let content = record::equal_content(&row, &remote);
        match db.synced_row(ctx.folder.id, node)? {
            Some(synced) if synced.local == local => {
                record::update_synced_content(db, &ctx.folder, node, content, remote.executable)?;
                record::update_synced_place(db, &ctx.folder, node)?;
            }
            Some(_) | None => record::adopt(db, &ctx.folder, local, &remote, content)?,
        }
        Ok(true)
    })?;
    adopted.then_some(()).ok_or(EngineError::Stale)
}

/// Returns whether the disk keeps the executable bit of a file. One that can't be looked at may.
fn keeps_executable_bit(ctx: &Ctx, db: &Db<'_>, row: &LocalRow) -> Result<bool, IndexError> {
    let Some(path) = db.local_path(row.id)? else {
        return Ok(true);
    };
    let stat = ctx.engine.ports.disk.stat(&ctx.absolute_path(&path));
    Ok(stat.map_or(true, |stat| stat.executable.is_some()))
}

fn unlink(ctx: &Ctx, node: NodeId) -> Result<(), IndexError> {
    ctx.engine.index.write(|db| {
        if let Some(synced) = db.synced_row(ctx.folder.id, node)? {
            db.remove_synced(ctx.folder.id, node)?;
            db.mark_local(ctx.folder.id, synced.local)?;
            // What was in sync in a folder has another one now, and may not have been part of this plan.
            for child in db.children(ctx.folder.id, Some(synced.local))? {
                db.mark_local(ctx.folder.id, child.id)?;
            }
        }
        if db.remote_row(node)?.is_some() {
            db.mark_node(ctx.folder.id, node)
        } else {
            db.clean_node(ctx.folder.id, node)
        }
    })
}

fn record_results(
    ctx: &Ctx,
    results: Vec<(Step, StepResult)>,
    unmoved: &mut Unmoved,
    out: &mut ExecutionResult,
) {
    // More of the same would only add to what the service can't cope with.
    out.overload = overload(results.iter().map(|(_, result)| result));
    for (step, result) in results {
        let is_stale = matches!(result, Err(EngineError::Stale));
        out.keeps_local |= is_stale && matches!(step, Step::TrashLocal { .. });
        if result.is_err() {
            unmoved.add(&step);
        }
        record_result(ctx, &step, result, out);
    }
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
            out.other_names.extend(other_names::changed_by(ctx, step));
            // The feed shows what has come back.
            out.replan |= matches!(step, Step::RestoreRemote { .. });
            ctx.engine.health().clear(ctx.folder.id, key);
        }
        Err(error) => {
            tracing::debug!(%error, ?step, "a step did not go through");
            // Without it nobody would try it again before something else has a plan made.
            if error.disposition() != Disposition::Stop {
                out.waiting.insert(key);
            }
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
    // A pause is no failure: what it has interrupted is planned again when it is over.
    if matches!(error, EngineError::Paused) {
        out.is_interrupted = true;
        return;
    }
    let disposition = error.disposition();
    match disposition {
        Disposition::Stop => {
            out.last_error = Some(error);
            return;
        }
        Disposition::Park => tracing::warn!(%path, %error, "one path waits"),
        Disposition::Replan | Disposition::Retry => {
            out.replan |= disposition == Disposition::Replan;
            let dir = RelPath::parse(&path).ok().and_then(|p| p.parent());
            out.rescan.insert(dir.unwrap_or_default());
        }
    }
    let retry = RetryHint::after(disposition);
    let full = full_disk::measure(ctx, key, &error);
    let mut health = ctx.engine.health();
    health.park(ctx.folder.id, key, path, &error, retry);
    if let Some(full) = full {
        health.set_full(ctx.folder.id, key, full);
    }
    if error.is_service_full() {
        out.is_service_full = true;
        health.hold_uploads();
    }
}

/// Returns the path of a key, for people.
pub(crate) fn path_of(ctx: &Ctx, key: Key) -> String {
    match key {
        Key::Local(id) => ctx.path_of(id),
        Key::Node(id) => {
            let local = ctx
                .engine
                .index
                .read(|db| db.synced_row(ctx.folder.id, id))
                .ok()
                .flatten();
            // What was deleted here has a place on the service alone.
            match local.map(|synced| ctx.path_of(synced.local)) {
                Some(path) if !path.is_empty() => path,
                Some(_) | None => crate::planning::remote_path(&ctx.engine, &ctx.folder, id),
            }
        }
    }
}
