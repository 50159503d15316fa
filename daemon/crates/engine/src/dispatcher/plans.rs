//! Plans of folders: made when something has changed. Deletions in them wait until a person decides, or until no more
//! follow.

#[cfg(test)]
mod tests;

use super::Dispatcher;
use super::folder::Folder;
use super::rules::RulesUpdate;
use super::{in_the_way, invalid_names};
use crate::error::EngineError;
use crate::gate::{self, Deletions};
use crate::health::FolderPart;
use crate::key::{Key, keys_of};
use crate::planning::{BlockedChanges, Part, Planned, plan_folder};
use crate::restored;
use crate::step::{Ctx, download};
use cairn_index::{Db, Dirty, IndexError, Round, Worklist};
use cairn_model::{BackOff, FolderId, NodeId, Problem, ProblemCause, RelPath, SyncMode};
use cairn_plan::{MoveReason, Plan, Step};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::Instant;

/// While transfers run, the next plan waits for this many times as long as the last one took, but no longer than
/// [`LONGEST_REST`], or than that one took: what a person saves meanwhile waits for it.
const REST: u32 = 1;
const LONGEST_REST: Duration = Duration::from_millis(300);
/// The pauses after plans that could not be made.
const PAUSES: BackOff = BackOff {
    first: Duration::from_millis(500),
    most: Duration::from_secs(60),
};

/// The part that a plan is about, where there is too much for one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scope {
    /// The newest part of everything.
    NewRound,
    /// News, and if little is left to begin with, the next part.
    SameRound,
}

/// Returns the time between a plan that took so long and the next one, while transfers run.
pub(super) fn rest_after(took: Duration) -> Duration {
    (took * REST).min(LONGEST_REST).max(took)
}

impl Dispatcher {
    /// Plans one folder and carries the structure out. Returns whether another round should follow.
    pub(super) async fn plan_and_execute(&mut self, id: FolderId) -> bool {
        let Some(scope) = self.due_scope(id) else {
            return false;
        };
        let Some(ctx) = self.ctx(id) else {
            return false;
        };
        if !self.check_remote_root(&ctx) {
            return false;
        }
        if let Err(error) = self.retry_news(id) {
            return self.schedule_plan_retry(id, &error.into());
        }
        match self.follow_shared_rules(&ctx).await {
            RulesUpdate::AsBefore => {}
            RulesUpdate::Changed => {
                self.retry_by_rules(id);
                return true;
            }
            RulesUpdate::Missing => return false,
        }
        let began = Instant::now();
        let planned = match self.plan(id, scope).await {
            Ok(planned) => planned,
            Err(error) => return self.schedule_plan_retry(id, &error),
        };
        let took = began.elapsed();
        if let Some(folder) = self.folders.get_mut(&id) {
            folder.failed_plans = 0;
        }
        tracing::debug!(
            steps = planned.plan.steps.len(),
            keys = planned.worklist.len(),
            whole = planned.worklist.is_whole,
            more = planned.worklist.is_more,
            ms = took.as_millis(),
            "planned"
        );
        tracing::trace!(device = %self.engine.device_name, steps = ?planned.plan.steps, "steps");
        self.carry_out(ctx, planned, scope, took)
    }

    /// Schedules a retry of a plan that could not be made. A failure of this folder alone holds up no
    /// other. Returns whether another round should follow.
    pub(super) fn schedule_plan_retry(&mut self, id: FolderId, error: &EngineError) -> bool {
        let is_paused = matches!(error, EngineError::Paused);
        if let Some(folder) = self.folders.get_mut(&id) {
            folder.plan_due = true;
            if !is_paused && !error.concerns_all() {
                folder.failed_plans += 1;
                let pause = PAUSES.after(folder.failed_plans);
                folder.next_plan = Instant::now() + self.engine.ports.spread(pause);
                tracing::warn!(%error, root = %folder.row.root, "no plan can be made for now");
                let problem = Some(error.problem(String::new()));
                self.engine
                    .health()
                    .set_folder_problem(id, FolderPart::Remote, problem);
                return false;
            }
        }
        if !is_paused {
            self.back_off(error);
        }
        is_paused
    }

    /// Takes the time of a plan that is due; returns none if none is.
    fn due_scope(&mut self, id: FolderId) -> Option<Scope> {
        let now = Instant::now();
        if !self.can_plan() {
            return None;
        }
        let folder = self.folders.get_mut(&id)?;
        let next_try = self.engine.health().next_try(id, folder.planned_at);
        let retry_due = next_try.is_some_and(|at| at <= now);
        if folder.row.remote_node.is_none()
            || folder.schedule.is_root_missing()
            || folder.executing.is_some()
        {
            return None;
        }
        folder.plan_due |= folder.deletions.quiet_at().is_some_and(|at| at <= now);
        folder.news_due |= !folder.waiting.is_empty() && retry_due;
        if !(folder.plan_due || folder.news_due) {
            return None;
        }
        if (folder.in_flight > 0 || folder.failed_plans > 0) && folder.next_plan > now {
            return None;
        }
        // What is known of the disk may be from before the present rules.
        if folder.schedule.is_whole_due() {
            return None;
        }
        let everything = std::mem::take(&mut folder.plan_due);
        folder.news_due = false;
        folder.planned_at = now;
        if folder.is_more {
            folder.again |= everything;
            return Some(Scope::SameRound);
        }
        // With nothing on its way, news are looked at together with everything else.
        let is_resting = folder.queue.is_empty() && folder.in_flight == 0;
        Some(match everything || is_resting {
            true => Scope::NewRound,
            false => Scope::SameRound,
        })
    }

    /// Cleans up once both sides are equal and nothing is on its way.
    pub(super) fn at_rest(&self, ctx: &Ctx) {
        download::clear_leftovers(ctx);
        if let Err(error) = restored::end(&self.engine, ctx.folder.id) {
            tracing::warn!(%error, "the index does not take that a folder is equal again");
        }
    }

    /// Returns what the next plan of a folder is about.
    fn part(&self, folder: &Folder, scope: Scope) -> Part {
        let sizes = self.tuning.plan_sizes;
        let (round, with_left) = match scope {
            Scope::NewRound => (Round::default(), true),
            Scope::SameRound => (folder.round, folder.is_queue_low(sizes)),
        };
        // A round that has not begun yet knows nothing that is new.
        let with_left = with_left || round == Round::default();
        let mut retried = Dirty::default();
        for key in self.engine.health().keys_to_retry(folder.row.id) {
            match key {
                Key::Local(local) => retried.local.push(local),
                Key::Node(node) => retried.node.push(node),
            }
        }
        Part {
            round,
            sizes,
            with_left,
            retried,
            locked: self.locked.clone(),
        }
    }

    /// Lets what waits for its name be tried again if that is free on the disk.
    fn retry_free_names(&self, ctx: &Ctx) {
        let id = ctx.folder.id;
        let aliases = self.engine.health().aliases(id);
        for alias in aliases {
            if ctx.engine.ports.disk.stat(&alias.there).is_err() {
                self.engine.health().retry_free_name(id, &alias.there);
            }
        }
    }

    /// Lets the moves of a plan that makes room by a temporary name be tried at once: it may have failed only because
    /// the plan before didn't.
    fn try_other_way(&self, id: FolderId, plan: &Plan) {
        let makes_room = |step: &Step| matches!(step, Step::MoveLocal { reason, .. } if *reason == MoveReason::Temporary);
        if !plan.steps.iter().any(makes_room) {
            return;
        }
        let takes_name = |step: &&Step| {
            matches!(
                step,
                Step::MoveLocal { .. } | Step::CreateLocalFolder { .. }
            )
        };
        let steps = plan.steps.iter().filter(takes_name);
        let keys: Vec<Key> = steps.flat_map(keys_of).collect();
        self.engine.health().try_other_way(id, &keys);
    }

    async fn plan(&mut self, id: FolderId, scope: Scope) -> Result<Planned, EngineError> {
        let (Some(ctx), Some(folder)) = (self.ctx(id), self.folders.get(&id)) else {
            return Err(EngineError::Stale);
        };
        self.retry_free_names(&ctx);
        let part = self.part(folder, scope);
        let plan =
            async |blocked| plan_folder(&ctx.engine, &ctx.folder, &ctx.rules, blocked, &part).await;
        let mut planned = plan(BlockedChanges::default()).await?;
        // Its steps delete and overwrite nothing, and what else is to be done stays marked.
        if planned.plan.rest_waits {
            return Ok(planned);
        }
        let overwrites = self.check_overwrites(&ctx, &planned).await?;
        let unconfirmed = gate::unconfirmed_deletions(&self.engine, &ctx.folder, &planned.plan)?;
        let Some(folder) = self.folders.get_mut(&id) else {
            return Err(EngineError::Stale);
        };
        let now = Instant::now();
        let recent = folder.deletions.recent_deletions(now);
        let growing = match ctx.folder.settings.gate {
            Some(_) => folder.deletions.wait(unconfirmed.files(), now),
            None => Deletions::default(),
        };
        let new_files = folder.deletions.new_beside(unconfirmed.files(), now);
        let asked = gate::check(&self.engine, &ctx.folder, &unconfirmed, recent, &new_files)?;
        let blocked = BlockedChanges {
            local_deletions: asked.local + growing.local > 0,
            remote_deletions: asked.remote + growing.remote > 0,
            overwrites,
        };
        let is_blocked = blocked != BlockedChanges::default();
        // A question that has lost its reason goes from the status, too.
        let was_asked = self.engine.figures.folder(id).waiting_files() > 0;
        folder.totals_due |= is_blocked || was_asked;
        if is_blocked {
            planned = plan(blocked).await?;
        }
        let mentioned = self.mentioned_keys(id, &planned)?;
        let others = self.others_parked(id, &planned.worklist)?;
        self.engine
            .health()
            .keep_only(id, |key| mentioned.contains(key) || others.contains(key));
        self.try_other_way(id, &planned.plan);
        if !is_blocked {
            let keys = &planned.worklist.keys;
            let unmentioned = Dirty {
                local: (keys.local.iter().copied())
                    .filter(|local| !mentioned.contains(&Key::Local(*local)))
                    .collect(),
                node: (keys.node.iter().copied())
                    .filter(|node| !mentioned.contains(&Key::Node(*node)))
                    .collect(),
            };
            self.clean(id, &unmentioned)?;
        }
        Ok(planned)
    }

    /// Returns what failed, is still dirty and is not part of a plan.
    fn others_parked(
        &self,
        id: FolderId,
        worklist: &Worklist,
    ) -> Result<BTreeSet<Key>, EngineError> {
        if worklist.is_whole {
            return Ok(BTreeSet::new());
        }
        let mut others = Dirty::default();
        for key in self.engine.health().parked_keys(id) {
            match key {
                Key::Local(local) if worklist.keys.local.binary_search(&local).is_err() => {
                    others.local.push(local);
                }
                Key::Node(node) if worklist.keys.node.binary_search(&node).is_err() => {
                    others.node.push(node);
                }
                Key::Local(_) | Key::Node(_) => {}
            }
        }
        let dirty = self.engine.index.read(|db| db.still_dirty(id, &others))?;
        let locals = dirty.local.into_iter().map(Key::Local);
        Ok(locals
            .chain(dirty.node.into_iter().map(Key::Node))
            .collect())
    }

    /// Returns the nodes of a plan whose overwriting waits for a person.
    async fn check_overwrites(
        &mut self,
        ctx: &Ctx,
        planned: &Planned,
    ) -> Result<BTreeSet<NodeId>, EngineError> {
        let Some(folder) = self.folders.get_mut(&ctx.folder.id) else {
            return Err(EngineError::Stale);
        };
        let mut flow = std::mem::take(&mut folder.overwrites);
        let held =
            gate::check_overwrites(&self.engine, &ctx.folder, &mut flow, &planned.plan).await;
        if let Some(folder) = self.folders.get_mut(&ctx.folder.id) {
            folder.overwrites = flow;
        }
        held
    }

    /// Returns the keys of everything that needs a step, or waits for something to become known.
    fn mentioned_keys(
        &self,
        id: FolderId,
        planned: &Planned,
    ) -> Result<BTreeSet<Key>, EngineError> {
        let mut mentioned: BTreeSet<Key> = planned.plan.steps.iter().flat_map(keys_of).collect();
        mentioned.extend(planned.unknown.iter().copied());
        mentioned.extend(self.locked.iter().copied());
        // A step names one side; the other side's mark belongs to it just the same.
        let linked = self.engine.index.read(|db| {
            let mut linked = Vec::new();
            for key in &mentioned {
                let synced = match key {
                    Key::Local(local) => db.synced_by_local(*local)?,
                    Key::Node(node) => db.synced_row(id, *node)?,
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
        Ok(mentioned)
    }

    /// Clears the dirty marks of what needs no step.
    fn clean(&self, id: FolderId, unmentioned: &Dirty) -> Result<(), EngineError> {
        self.report_one_way_conflicts(id, unmentioned)?;
        invalid_names::report(&self.engine, id, &unmentioned.node)?;
        in_the_way::report(&self.engine, id, unmentioned)?;
        Ok(self.engine.index.write(|db| {
            for local in &unmentioned.local {
                db.clean_local(id, *local)?;
            }
            for node in &unmentioned.node {
                db.clean_node(id, *node)?;
            }
            Ok(())
        })?)
    }

    /// Reports files of a one-way folder that both sides changed: nothing is done about them.
    fn report_one_way_conflicts(
        &self,
        id: FolderId,
        unmentioned: &Dirty,
    ) -> Result<(), EngineError> {
        let Some(folder) = self.folders.get(&id) else {
            return Ok(());
        };
        let (cause, hint) = match folder.row.settings.mode {
            SyncMode::TwoWay => return Ok(()),
            SyncMode::Upload => (
                ProblemCause::OneWaySends,
                "rename it to have it sent as a file of its own",
            ),
            SyncMode::Download => (
                ProblemCause::OneWayReceives,
                "rename it to have the service's version fetched",
            ),
        };
        let both = self
            .engine
            .index
            .read(|db| nodes_changed_on_both_sides(db, id, unmentioned))?;
        let mut health = self.engine.health();
        for (node, path) in both {
            health.accept(node);
            if let Some(path) = path {
                let problem = Problem::new(
                    path.to_string(),
                    cause,
                    "it was changed here and on the service, and this folder syncs one way only: both stay as they are",
                    hint,
                );
                health.refuse(id, node, problem);
            }
        }
        Ok(())
    }
}

/// Returns the synced nodes that are in no step, with the path of those that both sides changed.
fn nodes_changed_on_both_sides(
    db: &Db<'_>,
    id: FolderId,
    unmentioned: &Dirty,
) -> Result<Vec<(NodeId, Option<RelPath>)>, IndexError> {
    // A step that mentions one side of a pair mentions both.
    let mut nodes: BTreeSet<NodeId> = unmentioned.node.iter().copied().collect();
    for local in &unmentioned.local {
        nodes.extend(db.synced_by_local(*local)?.map(|synced| synced.node));
    }
    let mut both = Vec::new();
    for node in nodes {
        let Some(synced) = db.synced_row(id, node)? else {
            continue;
        };
        let (local, remote) = (db.local_row(synced.local)?, db.remote_row(node)?);
        let changed = local.is_some_and(|row| row.hash != synced.hash)
            && remote.is_some_and(|row| row.revision != synced.revision);
        let path = db.local_path(synced.local)?.filter(|_| changed);
        both.push((node, path));
    }
    Ok(both)
}
