//! Order: plays the structural changes of one side through, one by one, so that at every moment
//! each node has a parent, no two share a name, and nothing lies in itself.
//!
//! Whatever can go goes, shallow before deep. What can't waits for the one thing in its way. If
//! everything waits, one thing in the way is moved aside for a moment. Deletions come last, or
//! as soon as a name that they free is wanted.

use crate::clash::Goal;
use crate::detour::detour_name;
use crate::entity::{Entities, EntityId, NOWHERE, ROOT, Side};
use crate::fate::{Fate, Holds};
use cairn_model::{Kind, Name, NameKey};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// One structural change of one side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    CreateFolder(EntityId),
    /// To its goal.
    Move(EntityId),
    /// Out of the way for a moment.
    Detour(EntityId, EntityId, Name),
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
/// The entities that can never get to their goals.
pub(crate) fn order(
    side: Side,
    makes_new: bool,
    entities: &Entities<'_>,
    fates: &[Fate],
    holds: &Holds,
    goals: &[Option<Goal<'_>>],
    depths: &[u32],
) -> Result<Ordered, BTreeSet<EntityId>> {
    let mut stage = Stage::new(side, makes_new, entities, fates, holds, goals, depths);
    stage.play()?;
    Ok(stage.out)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TaskKind {
    CreateFolder,
    /// A file that a transfer makes later: here it only takes its name.
    Reserve,
    Move,
}

#[derive(Clone, Copy, Debug)]
struct Task {
    id: EntityId,
    kind: TaskKind,
}

enum Verdict {
    Go,
    Wait(EntityId, Obstacle),
    Never,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Obstacle {
    /// The parent is not there yet.
    Parent,
    /// It stands where another shall stand.
    Name,
    /// It is inside of what shall move into it.
    Inside,
    /// It is still inside of a folder whose deletion frees the name.
    Deletion,
}

struct Stage<'s, 'a> {
    side: Side,
    entities: &'s Entities<'a>,
    fates: &'s [Fate],
    goals: &'s [Option<Goal<'a>>],
    tasks: Vec<Task>,
    task_of: HashMap<EntityId, usize>,
    /// Where each entity is right now: its folder, if it stands on this side.
    parent: Vec<Option<EntityId>>,
    /// Who holds a name right now, where that differs from the beginning.
    changed: HashMap<(EntityId, NameKey), Option<EntityId>>,
    /// The key that each displaced entity holds right now.
    key: HashMap<EntityId, NameKey>,
    /// What has to leave each folder before that is deleted.
    leaving: BTreeMap<EntityId, Vec<EntityId>>,
    deleted: BTreeSet<EntityId>,
    ready: BTreeSet<usize>,
    waiting: BTreeMap<usize, (EntityId, Obstacle)>,
    waiters: HashMap<EntityId, Vec<usize>>,
    out: Ordered,
}

impl<'s, 'a> Stage<'s, 'a> {
    fn new(
        side: Side,
        makes_new: bool,
        entities: &'s Entities<'a>,
        fates: &'s [Fate],
        holds: &Holds,
        goals: &'s [Option<Goal<'a>>],
        depths: &[u32],
    ) -> Self {
        let mut tasks = Vec::new();
        let mut tops = Vec::new();
        let mut parent = vec![None; entities.all.len()];
        parent[ROOT] = Some(ROOT);
        for id in entities.ids() {
            let e = &entities.all[id];
            let spot = e.spot(side);
            parent[id] = spot.map(|s| s.parent);
            match (fates[id], &goals[id]) {
                (Fate::Doomed(on), _) if on == side => {
                    let above = spot.map_or(NOWHERE, |s| s.parent);
                    if above == NOWHERE || fates[above] != Fate::Doomed(side) {
                        tops.push(id);
                    }
                }
                (Fate::Alive, Some(goal)) if holds.is_free(id) => {
                    let kind = match (spot, e.kind) {
                        (Some(_), _) if goal.is_at(spot) => continue,
                        (Some(_), _) => TaskKind::Move,
                        (None, _) if !makes_new => continue,
                        (None, Kind::Folder) => TaskKind::CreateFolder,
                        (None, Kind::File) => TaskKind::Reserve,
                    };
                    tasks.push(Task { id, kind });
                }
                (Fate::Alive | Fate::Doomed(_) | Fate::Absent | Fate::Frozen | Fate::Gone, _) => {}
            }
        }
        tasks.sort_by_key(|t| (depths[t.id], t.kind == TaskKind::Reserve, t.id));
        let task_of = tasks.iter().enumerate().map(|(at, t)| (t.id, at)).collect();
        let mut stage = Self {
            side,
            entities,
            fates,
            goals,
            ready: (0..tasks.len()).collect(),
            tasks,
            task_of,
            parent,
            changed: HashMap::new(),
            key: HashMap::new(),
            leaving: tops.into_iter().map(|top| (top, Vec::new())).collect(),
            deleted: BTreeSet::new(),
            waiting: BTreeMap::new(),
            waiters: HashMap::new(),
            out: Ordered::default(),
        };
        stage.find_leaving();
        stage
    }

    /// Notes for each folder to be deleted what moves out of it.
    fn find_leaving(&mut self) {
        for task in &self.tasks {
            let mut top = None;
            let mut at = self.parent[task.id];
            while let Some(folder) = at
                && folder != NOWHERE
                && self.fates[folder] == Fate::Doomed(self.side)
            {
                top = Some(folder);
                at = self.parent[folder];
            }
            if let Some(list) = top.and_then(|top| self.leaving.get_mut(&top)) {
                list.push(task.id);
            }
        }
    }

    fn play(&mut self) -> Result<(), BTreeSet<EntityId>> {
        let mut stuck = BTreeSet::new();
        loop {
            while let Some(at) = self.ready.pop_first() {
                match self.verdict(at) {
                    Verdict::Go => self.perform(at),
                    Verdict::Wait(on, why) => {
                        self.waiting.insert(at, (on, why));
                        self.waiters.entry(on).or_default().push(at);
                    }
                    Verdict::Never => {
                        stuck.insert(self.tasks[at].id);
                    }
                }
            }
            // With something stuck this play is void, so a detour would be too.
            if !stuck.is_empty() {
                return Err(stuck);
            }
            if self.waiting.is_empty() {
                break;
            }
            if !self.step_aside() {
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

    fn is_pending(&self, id: EntityId) -> bool {
        self.task_of.contains_key(&id)
    }

    fn holder(&self, place: &(EntityId, NameKey)) -> Option<EntityId> {
        match self.changed.get(place) {
            Some(now) => *now,
            None => self.entities.at(self.side).get(place).copied(),
        }
    }

    fn verdict(&mut self, at: usize) -> Verdict {
        let Task { id, kind } = self.tasks[at];
        let Some(goal) = &self.goals[id] else {
            return Verdict::Never;
        };
        let (folder, key) = (goal.parent, goal.name.key());
        if folder == NOWHERE {
            return Verdict::Never;
        }
        if self.parent[folder].is_none() {
            return if self.is_pending(folder) {
                Verdict::Wait(folder, Obstacle::Parent)
            } else {
                Verdict::Never
            };
        }
        if let Some(holder) = self.holder(&(folder, key)).filter(|&h| h != id) {
            if self.leaving.contains_key(&holder) {
                if let Some(inside) = self.still_inside(holder) {
                    return Verdict::Wait(inside, Obstacle::Deletion);
                }
                self.delete(holder);
            } else if self.is_pending(holder) {
                return Verdict::Wait(holder, Obstacle::Name);
            } else {
                return Verdict::Never;
            }
        }
        if kind == TaskKind::Move && !self.entities.all[id].is_file() {
            return self.clear_of_itself(id, folder);
        }
        Verdict::Go
    }

    /// A folder can't move into itself; something between it and its goal has to leave first.
    fn clear_of_itself(&self, id: EntityId, folder: EntityId) -> Verdict {
        let mut first_mover = None;
        let mut at = folder;
        for _ in 0..self.parent.len() {
            if at == id {
                return first_mover.map_or(Verdict::Never, |m| Verdict::Wait(m, Obstacle::Inside));
            }
            if at == ROOT {
                return Verdict::Go;
            }
            if first_mover.is_none() && self.is_pending(at) {
                first_mover = Some(at);
            }
            match self.parent[at] {
                Some(above) if above != NOWHERE => at = above,
                Some(_) | None => return Verdict::Never,
            }
        }
        Verdict::Never
    }

    /// What still has to leave a folder before it can be deleted. What has left never comes back.
    fn still_inside(&mut self, top: EntityId) -> Option<EntityId> {
        loop {
            let id = *self.leaving.get(&top)?.last()?;
            if self.is_pending(id) && self.never_moved(id) {
                return Some(id);
            }
            self.leaving.get_mut(&top)?.pop();
        }
    }

    fn delete(&mut self, top: EntityId) {
        self.vacate(top);
        self.parent[top] = None;
        self.deleted.insert(top);
        self.out.ops.push(Op::Delete(top));
    }

    fn vacate(&mut self, id: EntityId) {
        let Some(spot) = self.entities.all[id].spot(self.side) else {
            return;
        };
        let folder = self.parent[id].unwrap_or(NOWHERE);
        let key = self
            .key
            .get(&id)
            .cloned()
            .unwrap_or_else(|| spot.name.key());
        let place = (folder, key);
        if self.holder(&place) == Some(id) {
            self.changed.insert(place, None);
        }
    }

    fn occupy(&mut self, id: EntityId, folder: EntityId, name: &Name) {
        self.vacate(id);
        let key = name.key();
        self.changed.insert((folder, key.clone()), Some(id));
        self.key.insert(id, key);
        self.parent[id] = Some(folder);
    }

    fn perform(&mut self, at: usize) {
        let Task { id, kind } = self.tasks[at];
        let Some(goal) = self.goals[id].clone() else {
            return;
        };
        self.occupy(id, goal.parent, goal.name.as_ref());
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

    /// Moves one thing out of the way, each once at most; returns whether there was one.
    fn step_aside(&mut self) -> bool {
        let blocked_by = |why| {
            let mut on = self.waiting.iter().filter(move |(_, (_, w))| *w == why);
            on.find_map(|(_, &(on, _))| (self.is_pending(on) && self.never_moved(on)).then_some(on))
        };
        let Some(id) = blocked_by(Obstacle::Name).or_else(|| blocked_by(Obstacle::Deletion)) else {
            return false;
        };
        let e = &self.entities.all[id];
        let (Some(node), Some(spot)) = (e.remote.map(|r| r.id), e.spot(self.side)) else {
            return false;
        };
        let here = self.parent[id].unwrap_or(ROOT);
        let stays = here != NOWHERE && matches!(self.fates[here], Fate::Alive | Fate::Frozen);
        let folder = if stays { here } else { ROOT };
        let free = (0..=self.tasks.len()).find_map(|attempt| {
            let name = detour_name(node, spot.name, u32::try_from(attempt).ok()?)?;
            self.holder(&(folder, name.key())).is_none().then_some(name)
        });
        let Some(name) = free else { return false };
        self.occupy(id, folder, &name);
        self.out.ops.push(Op::Detour(id, folder, name));
        self.wake(id);
        true
    }

    fn never_moved(&self, id: EntityId) -> bool {
        !self.key.contains_key(&id)
    }
}
