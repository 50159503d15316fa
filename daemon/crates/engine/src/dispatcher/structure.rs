//! The structural steps of a plan (all but transfers: folders, moves, deletions), carried out in a task beside
//! the dispatcher: one list of steps for each folder. Commands, other folders, and transfers that need none of
//! these steps don't wait for it.
//!
//! While a folder's list is carried out, that folder is neither scanned nor planned, and no changes of the feed
//! are recorded: every step is for the state that was planned for. A list ends after a while, and what is
//! left is planned anew, so that changes that came meanwhile are included.

use super::Dispatcher;
use super::folder::Folder;
use super::plans::{Scope, rest_after};
use crate::executor::{ExecutionResult, execute, waits};
use crate::gate::BeforeDeletions;
use crate::key::{Key, LockedKeys, keys_of};
use crate::planning::Planned;
use crate::release::release;
use crate::step::Ctx;
use crate::work::Queue;
use cairn_index::{PlanSizes, Round, Worklist};
use cairn_model::RunningSteps;
use cairn_plan::{Plan, Step};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinError;
use tokio::time::Instant;

/// A list of steps ends after this time, or after [`PLANS`] times what its plan took, whichever is longer.
const SLICE: Duration = Duration::from_secs(1);
const PLANS: u32 = 5;

/// A list of steps that was carried out, as far as it went.
pub(super) struct Executed {
    pub(super) ctx: Ctx,
    pub(super) planned: Planned,
    pub(super) result: ExecutionResult,
    /// The time that the plan took.
    pub(super) took: Duration,
    /// The files that were in sync before, if the plan deletes anything.
    pub(super) before: Option<BeforeDeletions>,
    /// The round before the plan, if that was about a part.
    pub(super) round_before: Option<Round>,
}

impl Dispatcher {
    /// Carries a plan out: its transfers wait for slots, as far as they need none of its other steps, and those
    /// are carried out beside the dispatcher. Returns whether another round of the dispatcher should follow.
    pub(super) fn carry_out(
        &mut self,
        mut ctx: Ctx,
        mut planned: Planned,
        scope: Scope,
        took: Duration,
    ) -> bool {
        let id = ctx.folder.id;
        let calm = planned.plan.steps.is_empty()
            && planned.unknown.is_empty()
            && planned.worklist.is_whole;
        let mentioned = mentioned_by(&planned);
        let is_disturbing = is_disturbing(&ctx, &planned.plan, &self.locked);
        let released = match release(&ctx, &mut planned.plan, &self.locked) {
            Ok(released) => released,
            Err(error) => return self.schedule_plan_retry(id, &error.into()),
        };
        let Some(folder) = self.folders.get_mut(&id) else {
            return false;
        };
        let round_before = folder.round_before(scope, &planned.worklist);
        folder.take_over(scope, &planned.worklist, &mentioned, is_disturbing);
        folder.queue.put(released.work);
        folder.waiting.extend(released.waiting);
        folder.waiting.extend(planned.unknown.iter().copied());
        folder.next_plan = Instant::now() + rest_after(took);
        if planned.plan.steps.is_empty() {
            folder.schedule_next_part(self.tuning.plan_sizes);
            let is_resting = folder.queue.is_empty() && folder.in_flight == 0;
            let goes_on = is_resting && (folder.plan_due || folder.news_due);
            if calm && folder.in_flight == 0 {
                self.at_rest(&ctx);
            }
            return goes_on;
        }
        let (end, ended) = watch::channel(false);
        folder.executing = Some(end);
        folder.steps = steps_of(&planned.plan);
        ctx.ended = Some(ended);
        let before = self.before_deletions(id, &planned.plan);
        let locked = self.locked.clone();
        let until = Instant::now() + SLICE.max(took * PLANS);
        self.structure.spawn(async move {
            let result = execute(&ctx, &planned.plan, &locked, until).await;
            Executed {
                ctx,
                planned,
                result,
                took,
                before,
                round_before,
            }
        });
        false
    }

    /// Records what has become of a list of steps.
    pub(super) fn record_structure(&mut self, done: Result<Executed, JoinError>) {
        self.compare_soon();
        let Executed {
            ctx,
            planned,
            mut result,
            took,
            before,
            round_before,
        } = match done {
            Ok(done) => done,
            Err(error) => return self.handle_structure_panic(&error),
        };
        let id = ctx.folder.id;
        let gone = before.map(|before| self.count_gone(id, &before));
        let now = Instant::now();
        if let Some(folder) = self.folders.get_mut(&id) {
            folder.executing = None;
            folder.steps = RunningSteps::default();
            folder
                .deletions
                .count_executed(gone.unwrap_or_default(), now);
            folder.queue.put(std::mem::take(&mut result.work));
            folder.waiting.append(&mut result.waiting);
            folder.next_plan = now + rest_after(took);
            folder.totals_due |= result.progress;
            // What was done changed the trees: see whether anything follows from it.
            let done = folder.queue.is_empty() && folder.in_flight == 0;
            let is_left = result.is_interrupted || planned.plan.rest_waits;
            match round_before.filter(|_| is_left) {
                // The same part is planned again, with what is left of it.
                Some(round) => {
                    (folder.round, folder.is_more) = (round, true);
                    folder.news_due |= result.is_interrupted;
                }
                None => folder.plan_due |= result.is_interrupted || (result.progress && done),
            }
            folder.schedule_next_part(self.tuning.plan_sizes);
            if result.progress && done {
                self.plan_overlapping(id);
            }
        }
        tracing::debug!(
            steps = planned.plan.steps.len(),
            interrupted = result.is_interrupted,
            "carried out"
        );
        if result.progress {
            self.waiters.reset();
        }
        self.apply(id, result);
    }

    /// Ends all lists of steps at their next safe points, and waits for that: a command needs the disk or the
    /// remote tree for itself.
    pub(super) async fn finish_steps(&mut self) {
        for folder in self.folders.values() {
            folder.end_steps();
        }
        while let Some(done) = self.structure.join_next().await {
            self.record_structure(done);
        }
    }

    /// Handles a panic in a list of steps. Its folder is the one whose list has ended without a result.
    fn handle_structure_panic(&mut self, error: &JoinError) {
        if !error.is_panic() {
            return;
        }
        tracing::error!("a list of steps has ended with a panic; its folder is compared again");
        for folder in self.folders.values_mut() {
            if folder
                .executing
                .as_ref()
                .is_some_and(watch::Sender::is_closed)
            {
                folder.executing = None;
                folder.steps = RunningSteps::default();
                folder.schedule.rescan();
            }
        }
    }
}

/// Returns the keys that a plan is about, and those that its steps touch.
fn mentioned_by(planned: &Planned) -> BTreeSet<Key> {
    let keys = &planned.worklist.keys;
    let locals = keys.local.iter().copied().map(Key::Local);
    let nodes = keys.node.iter().copied().map(Key::Node);
    let steps = planned.plan.steps.iter().flat_map(keys_of);
    locals.chain(nodes).chain(steps).collect()
}

/// Returns whether one of a plan's steps, and not one that waits, could change where the transfers of earlier parts are
/// read or written.
fn is_disturbing(ctx: &Ctx, plan: &Plan, locks: &LockedKeys) -> bool {
    let mut steps = plan.steps.iter();
    steps.any(|step| disturbs(step) && !waits(ctx, step, locks))
}

/// Returns whether a step could change where the transfers of earlier parts are read or written.
fn disturbs(step: &Step) -> bool {
    match step {
        Step::Adopt { .. }
        | Step::CreateLocalFolder { .. }
        | Step::CreateRemoteFolder { .. }
        | Step::RestoreRemote { .. }
        | Step::Download { .. }
        | Step::Upload { .. } => false,
        Step::Forget { .. }
        | Step::Unlink { .. }
        | Step::MoveLocal { .. }
        | Step::MoveRemote { .. }
        | Step::SetLocalExecutable { .. }
        | Step::SetRemoteExecutable { .. }
        | Step::TrashLocal { .. }
        | Step::TrashRemote { .. } => true,
    }
}

impl Folder {
    /// Returns the round before a plan of a part.
    fn round_before(&self, scope: Scope, worklist: &Worklist) -> Option<Round> {
        match scope {
            _ if worklist.is_whole => None,
            Scope::NewRound => Some(Round::default()),
            Scope::SameRound => Some(self.round),
        }
    }

    /// Has the next part of the round planned if little is queued, or at its end another round if one is to follow.
    fn schedule_next_part(&mut self, sizes: PlanSizes) {
        if !self.is_more {
            self.plan_due |= std::mem::take(&mut self.again);
        } else if self.is_queue_low(sizes) {
            self.news_due = true;
        }
    }

    /// Puts a plan in the place of what was planned before: of all of it, or of what it is about.
    fn take_over(
        &mut self,
        scope: Scope,
        worklist: &Worklist,
        mentioned: &BTreeSet<Key>,
        is_disturbing: bool,
    ) {
        if worklist.is_whole || scope == Scope::NewRound {
            self.queue = Queue::default();
            self.waiting.clear();
        } else {
            self.waiting.retain(|key| !mentioned.contains(key));
            if is_disturbing {
                self.again |= !self.queue.is_empty();
                self.queue = Queue::default();
            } else {
                self.queue.remove(mentioned);
            }
        }
        self.round = worklist.round;
        self.is_more = worklist.is_more;
        self.again &= !worklist.is_whole;
        let taken = worklist.len() as u64;
        self.left.files = match self.is_more {
            true => self.left.files.saturating_sub(taken),
            false => 0,
        };
        if self.left.files == 0 {
            self.left.bytes = 0;
        }
    }
}

/// Counts the steps of a plan that are no transfers. A folder that is deleted counts with everything in it.
fn steps_of(plan: &Plan) -> RunningSteps {
    let mut steps = RunningSteps::default();
    let (mut here, mut there) = (0, 0);
    for step in &plan.steps {
        match step {
            Step::TrashLocal { .. } => here = plan.local_deletions.len() as u64,
            Step::TrashRemote { .. } => there = plan.remote_deletions.len() as u64,
            Step::MoveLocal { .. } | Step::MoveRemote { .. } => steps.moves += 1,
            Step::CreateLocalFolder { .. } | Step::CreateRemoteFolder { .. } => {
                steps.new_folders += 1;
            }
            Step::Adopt { .. }
            | Step::Forget { .. }
            | Step::Unlink { .. }
            | Step::RestoreRemote { .. }
            | Step::SetLocalExecutable { .. }
            | Step::SetRemoteExecutable { .. }
            | Step::Download { .. }
            | Step::Upload { .. } => {}
        }
    }
    steps.deletions = here + there;
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::{Kind, LocalId, Name, NodeId};
    use cairn_plan::{Deletion, MoveReason, Parent, ParentAndName};

    #[test]
    fn a_folder_that_is_deleted_counts_with_everything_in_it() {
        let node = NodeId::from_random_bytes([1; 16]);
        let kind = Kind::File;
        let mut plan = Plan {
            remote_deletions: vec![Deletion { node, kind }; 500],
            ..Plan::default()
        };
        assert_eq!(steps_of(&plan), RunningSteps::default(), "they are held");
        let to = ParentAndName {
            parent: Parent::Root,
            name: Name::new("f".to_owned()).unwrap(),
        };
        plan.steps = vec![
            Step::TrashRemote { node },
            Step::MoveRemote {
                node,
                to: to.clone(),
                reason: MoveReason::Follow,
            },
            Step::CreateLocalFolder {
                node,
                to: to.clone(),
            },
            Step::Upload {
                local: LocalId(1),
                over: None,
                to,
            },
        ];
        let expected = RunningSteps {
            deletions: 500,
            moves: 1,
            new_folders: 1,
        };
        assert_eq!(steps_of(&plan), expected);
    }
}
