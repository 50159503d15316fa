//! Order: simulates the structural changes of one side, one by one, so that at every moment each
//! node has a parent, no two share a name, and no folder contains itself.
//!
//! A task (the change of one entity, that is of one file or folder) that is possible runs, shallow before deep. Any
//! other waits for the one entity in its way. If everything waits, one entity in the way gets a temporary name.
//! Deletions come last, or as soon as a name that they free is wanted.

mod layout;
mod task;

use self::layout::Layout;
use self::task::{Obstacle, Readiness, Task, TaskKind, is_top_deletion, task};
use crate::constraints::Constraints;
use crate::decision::Decision;
use crate::entity::{Entities, EntityId, ROOT, Side, UNKNOWN};
use crate::name_conflicts::Target;
use cairn_model::{Name, temporary_name};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// One structural change of one side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    CreateFolder(EntityId),
    /// A move to the target.
    Move(EntityId),
    /// A move to a temporary name in the given folder.
    MoveAside(EntityId, EntityId, Name),
    /// With everything below.
    Delete(EntityId),
}

/// The changes of one side.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Ordered {
    /// In the order in which they are safe.
    pub(crate) ops: Vec<Op>,
    /// The deletions that nothing waits for.
    pub(crate) deletions: Vec<EntityId>,
}

/// Orders the changes of a side.
///
/// # Errors
/// The entities that can't reach their targets.
pub(crate) fn order(
    side: Side,
    makes_new: bool,
    entities: &Entities<'_>,
    decisions: &[Decision],
    constraints: &Constraints,
    targets: &[Option<Target<'_>>],
    depths: &[u32],
) -> Result<Ordered, BTreeSet<EntityId>> {
    let mut simulation = Simulation::new(
        side,
        makes_new,
        entities,
        decisions,
        constraints,
        targets,
        depths,
    );
    simulation.run()?;
    Ok(simulation.out)
}

struct Simulation<'s, 'a> {
    side: Side,
    entities: &'s Entities<'a>,
    decisions: &'s [Decision],
    targets: &'s [Option<Target<'a>>],
    tasks: Vec<Task>,
    task_of: HashMap<EntityId, usize>,
    layout: Layout<'s, 'a>,
    /// The entities that have to leave each folder before that is deleted.
    leaving: BTreeMap<EntityId, Vec<EntityId>>,
    deleted: BTreeSet<EntityId>,
    ready: BTreeSet<usize>,
    waiting: BTreeMap<usize, (EntityId, Obstacle)>,
    waiters: HashMap<EntityId, Vec<usize>>,
    /// Tasks wait for what has their name in another spelling.
    heeds_aliases: bool,
    out: Ordered,
}

impl<'s, 'a> Simulation<'s, 'a> {
    fn new(
        side: Side,
        makes_new: bool,
        entities: &'s Entities<'a>,
        decisions: &'s [Decision],
        constraints: &Constraints,
        targets: &'s [Option<Target<'a>>],
        depths: &[u32],
    ) -> Self {
        let layout = Layout::new(side, entities);
        let tops = entities
            .ids()
            .filter(|&id| is_top_deletion(decisions, side, id, layout.parent[id]));
        let leaving = tops.map(|top| (top, Vec::new())).collect();
        let mut tasks: Vec<Task> = entities
            .ids()
            .filter(|&id| decisions[id] == Decision::Keep && constraints.is_movable(id))
            .filter_map(|id| {
                task(
                    &entities.all[id],
                    id,
                    side,
                    makes_new,
                    targets[id].as_ref()?,
                )
            })
            .collect();
        tasks.sort_by_key(|t| (depths[t.id], t.kind == TaskKind::Reserve, t.id));
        let task_of = tasks.iter().enumerate().map(|(at, t)| (t.id, at)).collect();
        let mut simulation = Self {
            side,
            entities,
            decisions,
            targets,
            ready: (0..tasks.len()).collect(),
            tasks,
            task_of,
            layout,
            leaving,
            deleted: BTreeSet::new(),
            waiting: BTreeMap::new(),
            waiters: HashMap::new(),
            heeds_aliases: !entities.local_aliases.is_empty(),
            out: Ordered::default(),
        };
        simulation.find_leaving();
        simulation
    }

    /// Records for each folder to be deleted what moves out of it.
    fn find_leaving(&mut self) {
        for task in &self.tasks {
            let mut top = None;
            let mut at = self.layout.parent[task.id];
            while let Some(folder) = at
                && folder != UNKNOWN
                && self.decisions[folder] == Decision::Delete(self.side)
            {
                top = Some(folder);
                at = self.layout.parent[folder];
            }
            if let Some(list) = top.and_then(|top| self.leaving.get_mut(&top)) {
                list.push(task.id);
            }
        }
    }

    fn run(&mut self) -> Result<(), BTreeSet<EntityId>> {
        let mut stuck = BTreeSet::new();
        loop {
            while let Some(at) = self.ready.pop_first() {
                match self.readiness(at) {
                    Readiness::Ready => self.complete(at),
                    Readiness::WaitFor(on, why) => {
                        self.waiting.insert(at, (on, why));
                        self.waiters.entry(on).or_default().push(at);
                    }
                    Readiness::Never => {
                        stuck.insert(self.tasks[at].id);
                    }
                }
            }
            // With something stuck this run is void, so a temporary name would be too.
            if !stuck.is_empty() {
                return Err(stuck);
            }
            if self.waiting.is_empty() {
                break;
            }
            if !self.move_aside() && !self.ignore_aliases() {
                return Err(self.waiting.keys().map(|&at| self.tasks[at].id).collect());
            }
        }
        let tops: Vec<EntityId> = self.leaving.keys().copied().collect();
        self.out.deletions = tops
            .into_iter()
            .filter(|top| !self.deleted.contains(top))
            .collect();
        Ok(())
    }

    /// Lets all that waits be tried without heed to aliases; returns whether that is something new.
    fn ignore_aliases(&mut self) -> bool {
        if !std::mem::take(&mut self.heeds_aliases) {
            return false;
        }
        self.waiters.clear();
        self.ready.extend(std::mem::take(&mut self.waiting).keys());
        true
    }

    fn is_pending(&self, id: EntityId) -> bool {
        self.task_of.contains_key(&id)
    }

    fn readiness(&mut self, at: usize) -> Readiness {
        let Task { id, kind } = self.tasks[at];
        let Some(target) = &self.targets[id] else {
            return Readiness::Never;
        };
        let (folder, key) = (target.parent, target.name.key());
        if folder == UNKNOWN {
            return Readiness::Never;
        }
        if self.layout.parent[folder].is_none() {
            return if self.is_pending(folder) {
                Readiness::WaitFor(folder, Obstacle::Parent)
            } else {
                Readiness::Never
            };
        }
        let place = (folder, key);
        if let Some(holder) = self.layout.holder(&place).filter(|&h| h != id)
            && let Some(obstacle) = self.obstacle(holder)
        {
            return obstacle;
        }
        // What stays there is found in the way by the step, which says so.
        if let Some(holder) = self.layout.alias_holder(&place).filter(|&h| h != id)
            && self.heeds_aliases
            && let Some(wait @ Readiness::WaitFor(..)) = self.obstacle(holder)
        {
            return wait;
        }
        if kind == TaskKind::Move && !self.entities.all[id].is_file() {
            return self.check_containment(id, folder);
        }
        Readiness::Ready
    }

    /// Returns what has to be waited for until the holder of a name gives it up; it is deleted if that is all.
    fn obstacle(&mut self, holder: EntityId) -> Option<Readiness> {
        if self.leaving.contains_key(&holder) {
            let inside = self.find_still_inside(holder);
            if inside.is_none() {
                self.delete(holder);
            }
            return inside.map(|inside| Readiness::WaitFor(inside, Obstacle::Deletion));
        }
        Some(match self.is_pending(holder) {
            true => Readiness::WaitFor(holder, Obstacle::Name),
            false => Readiness::Never,
        })
    }

    /// Checks that a folder doesn't move into itself; else something between it and its target has to
    /// leave first.
    fn check_containment(&self, id: EntityId, folder: EntityId) -> Readiness {
        let mut first_mover = None;
        let mut at = folder;
        for _ in 0..self.layout.parent.len() {
            if at == id {
                return first_mover.map_or(Readiness::Never, |m| {
                    Readiness::WaitFor(m, Obstacle::Inside)
                });
            }
            if at == ROOT {
                return Readiness::Ready;
            }
            if first_mover.is_none() && self.is_pending(at) {
                first_mover = Some(at);
            }
            match self.layout.parent[at] {
                Some(above) if above != UNKNOWN => at = above,
                Some(_) | None => return Readiness::Never,
            }
        }
        Readiness::Never
    }

    /// Returns an entity that still has to leave a folder before that can be deleted. An entity that has
    /// left never comes back.
    fn find_still_inside(&mut self, top: EntityId) -> Option<EntityId> {
        loop {
            let id = *self.leaving.get(&top)?.last()?;
            if self.is_pending(id) && self.layout.is_unmoved(id) {
                return Some(id);
            }
            self.leaving.get_mut(&top)?.pop();
        }
    }

    fn delete(&mut self, top: EntityId) {
        self.layout.vacate(top);
        self.layout.parent[top] = None;
        self.deleted.insert(top);
        self.out.ops.push(Op::Delete(top));
    }

    fn complete(&mut self, at: usize) {
        let Task { id, kind } = self.tasks[at];
        let Some(target) = self.targets[id].clone() else {
            return;
        };
        self.layout.occupy(id, target.parent, target.name.as_ref());
        match kind {
            TaskKind::CreateFolder => self.out.ops.push(Op::CreateFolder(id)),
            TaskKind::Move => self.out.ops.push(Op::Move(id)),
            TaskKind::Reserve => {}
        }
        self.task_of.remove(&id);
        self.wake(id);
    }

    fn wake(&mut self, id: EntityId) {
        for at in self.waiters.remove(&id).unwrap_or_default() {
            if self.waiting.remove(&at).is_some() {
                self.ready.insert(at);
            }
        }
    }

    /// Gives one entity in the way a temporary name, each once at most; returns whether there was one.
    fn move_aside(&mut self) -> bool {
        let blocked_by = |why| {
            let mut on = self.waiting.iter().filter(move |(_, (_, w))| *w == why);
            on.find_map(|(_, &(on, _))| {
                (self.is_pending(on) && self.layout.is_unmoved(on)).then_some(on)
            })
        };
        let Some(id) = blocked_by(Obstacle::Name).or_else(|| blocked_by(Obstacle::Deletion)) else {
            return false;
        };
        let e = &self.entities.all[id];
        let (Some(node), Some(location)) = (e.remote.map(|r| r.id), e.location(self.side)) else {
            return false;
        };
        let parent = self.layout.parent[id].unwrap_or(ROOT);
        let stays = parent != UNKNOWN
            && matches!(self.decisions[parent], Decision::Keep | Decision::Blocked);
        let folder = if stays { parent } else { ROOT };
        let free = (0..=self.tasks.len()).find_map(|attempt| {
            let name = temporary_name(node, location.name, u32::try_from(attempt).ok()?)?;
            self.layout
                .holder(&(folder, name.key()))
                .is_none()
                .then_some(name)
        });
        let Some(name) = free else { return false };
        self.layout.occupy(id, folder, &name);
        self.out.ops.push(Op::MoveAside(id, folder, name));
        self.wake(id);
        true
    }
}
