//! Plans: made when something is due, held back where a person or calm is needed, executed out.

use super::Dispatcher;
use super::rules::Followed;
use super::unfit_names;
use crate::error::EngineError;
use crate::executor::{ExecutionResult, execute, keys_of};
use crate::gate::{self, Deletions};
use crate::key::Key;
use crate::planning::{Planned, plan_folder};
use crate::restored;
use crate::status::Problem;
use crate::step::{Ctx, download};
use cairn_index::{Db, IndexError};
use cairn_model::{FolderId, NodeId, ProblemCode, RelPath, SyncMode};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::Instant;

/// While transfers run, planning rests this many times as long as it took.
const REST: u32 = 5;

impl Dispatcher {
    /// Plans one folder and carries the structure out. Returns whether another round should follow.
    pub(super) async fn plan_and_execute(&mut self, id: FolderId) -> bool {
        if !self.is_plan_due(id) {
            return false;
        }
        let Some(ctx) = self.ctx(id) else {
            return false;
        };
        if self.is_remote_root_gone(&ctx) {
            return false;
        }
        match self.follow_shared_rules(&ctx).await {
            Followed::AsBefore => {}
            Followed::Changed => return true,
            Followed::Missing => return false,
        }
        let began = Instant::now();
        let planned = match self.plan(id).await {
            Ok(planned) => planned,
            Err(error) => {
                if let Some(folder) = self.folders.get_mut(&id) {
                    folder.plan_due = true;
                }
                if matches!(error, EngineError::Paused) {
                    return true;
                }
                self.back_off(&error);
                return false;
            }
        };
        let took = began.elapsed();
        tracing::debug!(
            steps = planned.plan.steps.len(),
            ms = took.as_millis(),
            "planned"
        );
        let deletes = planned.plan.local_deletions + planned.plan.remote_deletions > 0;
        let before = if deletes { self.synced_files(id) } else { 0 };
        let executed = execute(&ctx, &planned.plan, &self.locked).await;
        if deletes {
            let gone = before.saturating_sub(self.synced_files(id));
            if let Some(folder) = self.folders.get_mut(&id) {
                folder.deletions.done(gone, Instant::now());
            }
        }
        self.executed(&ctx, &planned, executed, took)
    }

    /// Takes the time of a plan that is due; returns false if none is.
    fn is_plan_due(&mut self, id: FolderId) -> bool {
        let now = Instant::now();
        let retry_due = self.engine.health().next_try().is_some_and(|at| at <= now);
        let Some(folder) = self.folders.get_mut(&id) else {
            return false;
        };
        if folder.row.remote_node.is_none() || folder.schedule.is_root_missing() {
            return false;
        }
        folder.plan_due |= folder.deletions.quiet_at().is_some_and(|at| at <= now);
        if !(folder.plan_due || (folder.waiting > 0 && retry_due)) {
            return false;
        }
        if folder.in_flight > 0 && folder.next_plan > now {
            return false;
        }
        // What is known of the disk may be from before the present rules.
        if folder.schedule.is_whole_due() {
            return false;
        }
        folder.plan_due = false;
        true
    }

    /// Records what has become of a plan. Returns whether another round should follow.
    fn executed(
        &mut self,
        ctx: &Ctx,
        planned: &Planned,
        mut executed: ExecutionResult,
        took: Duration,
    ) -> bool {
        let id = ctx.folder.id;
        let (progress, interrupted) = (executed.progress, executed.is_interrupted);
        let calm = planned.plan.steps.is_empty() && planned.unknown.is_empty();
        let mut idle = false;
        if let Some(folder) = self.folders.get_mut(&id) {
            folder.queue = std::mem::take(&mut executed.work);
            folder.waiting = executed.waiting + planned.unknown.len() as u64;
            folder.next_plan = Instant::now() + took * REST;
            folder.totals_due |= progress;
            // What was done changed the trees: see whether anything follows from it.
            folder.plan_due |=
                interrupted || (progress && folder.queue.is_empty() && folder.in_flight == 0);
            idle = folder.in_flight == 0;
        }
        if progress {
            self.waiters.reset();
        }
        if calm && idle {
            download::clear_leftovers(ctx);
            if let Err(error) = restored::end(&self.engine, id) {
                tracing::warn!(%error, "the index does not take that a folder is equal again");
            }
        }
        self.apply(id, executed);
        progress || interrupted
    }

    async fn plan(&mut self, id: FolderId) -> Result<Planned, EngineError> {
        let Some(ctx) = self.ctx(id) else {
            return Err(EngineError::Stale);
        };
        let mut planned =
            plan_folder(&self.engine, &ctx.folder, &ctx.rules, (false, false)).await?;
        let deletions = gate::deletions(&self.engine, &ctx.folder, &planned.plan)?;
        let Some(folder) = self.folders.get_mut(&id) else {
            return Err(EngineError::Stale);
        };
        let now = Instant::now();
        let recent = folder.deletions.recent(now);
        let growing = match ctx.folder.settings.gate {
            Some(_) => folder.deletions.wait(deletions, now),
            None => Deletions::default(),
        };
        let asked = gate::check(&self.engine, &ctx.folder, deletions, recent)?;
        let hold = (
            asked.local + growing.local > 0,
            asked.remote + growing.remote > 0,
        );
        if hold != (false, false) {
            planned = plan_folder(&self.engine, &ctx.folder, &ctx.rules, hold).await?;
            if let Some(folder) = self.folders.get_mut(&id) {
                folder.totals_due = true;
            }
        } else {
            self.clean(id, &planned)?;
        }
        Ok(planned)
    }

    fn synced_files(&self, id: FolderId) -> u64 {
        // Only a memory for the gate: without it the gate sees this plan alone.
        let files = self.engine.index.read(|db| db.synced_files(id));
        files.unwrap_or_default()
    }

    /// Clears the dirty marks of everything that needs no step.
    fn clean(&self, id: FolderId, planned: &Planned) -> Result<(), EngineError> {
        let mut mentioned: BTreeSet<Key> = planned.plan.steps.iter().flat_map(keys_of).collect();
        mentioned.extend(planned.unknown.iter().copied());
        mentioned.extend(self.locked.iter().copied());
        // A step names one side; the other side's mark belongs to it just the same.
        let linked = self.engine.index.read(|db| {
            let mut linked = Vec::new();
            for key in &mentioned {
                let synced = match key {
                    Key::Local(local) => db.synced_by_local(*local)?,
                    Key::Node(node) => db.synced(id, *node)?,
                };
                linked.extend(
                    synced
                        .into_iter()
                        .flat_map(|s| [Key::Local(s.local), Key::Node(s.node)]),
                );
            }
            Ok(linked)
        })?;
        mentioned.extend(linked);
        self.engine
            .health()
            .keep_only(id, |key| mentioned.contains(key));
        self.report_one_way_conflicts(id, &mentioned)?;
        unfit_names::report(&self.engine, id, &mentioned)?;
        Ok(self.engine.index.write(|db| {
            let dirty = db.dirty(id)?;
            for local in dirty.local {
                if !mentioned.contains(&Key::Local(local)) {
                    db.clean_local(id, local)?;
                }
            }
            for node in dirty.node {
                if !mentioned.contains(&Key::Node(node)) {
                    db.clean_node(id, node)?;
                }
            }
            Ok(())
        })?)
    }

    /// A one-way folder does nothing about a file that both sides changed: a person has to know.
    fn report_one_way_conflicts(
        &self,
        id: FolderId,
        mentioned: &BTreeSet<Key>,
    ) -> Result<(), EngineError> {
        let Some(folder) = self.folders.get(&id) else {
            return Ok(());
        };
        let hint = match folder.row.settings.mode {
            SyncMode::TwoWay => return Ok(()),
            SyncMode::Upload => "rename it to have it sent as a file of its own",
            SyncMode::Download => "rename it to have the service's version fetched",
        };
        let both = self
            .engine
            .index
            .read(|db| changed_on_both_sides(db, id, mentioned))?;
        let mut health = self.engine.health();
        for (node, path) in both {
            health.accept(node);
            if let Some(path) = path {
                let problem = Problem {
                    path: path.to_string(),
                    code: ProblemCode::OneWay,
                    message: "it was changed here and on the service, and this folder syncs one way only: both stay as they are".into(),
                    hint: hint.into(),
                };
                health.refuse(id, node, problem);
            }
        }
        Ok(())
    }
}

/// Returns the synced nodes that are dirty and in no step, with the path of those that both sides changed.
fn changed_on_both_sides(
    db: &Db<'_>,
    id: FolderId,
    mentioned: &BTreeSet<Key>,
) -> Result<Vec<(NodeId, Option<RelPath>)>, IndexError> {
    let dirty = db.dirty(id)?;
    let mut nodes: BTreeSet<NodeId> = dirty.node.into_iter().collect();
    for local in dirty.local {
        nodes.extend(db.synced_by_local(local)?.map(|synced| synced.node));
    }
    let mut both = Vec::new();
    for node in nodes {
        if mentioned.contains(&Key::Node(node)) {
            continue;
        }
        let Some(synced) = db.synced(id, node)? else {
            continue;
        };
        let (local, remote) = (db.local(synced.local)?, db.remote(node)?);
        let changed = local.is_some_and(|row| row.hash != synced.hash)
            && remote.is_some_and(|row| row.revision != synced.revision);
        let path = db.local_path(synced.local)?.filter(|_| changed);
        both.push((node, path));
    }
    Ok(both)
}
