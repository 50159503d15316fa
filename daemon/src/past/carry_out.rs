//! Carrying out a plan that takes a folder back to a time: moves and restores of what the service has, no content is
//! uploaded.
//!
//! Each change is one request of its own. An interruption leaves everything in order at any moment, and
//! the same command goes on from there, because a plan is made of present facts alone.

use super::unchanged::leave_equal;
use super::{changes_since, load, revisions_of, valid_name};
use crate::failure::{CommandResult, Exit, Failure};
use crate::remote::Remote;
use cairn_model::{Name, NodeId, PastPlace};
use cairn_platform::Home;
use cairn_space::past::{Incomplete, Newer, Past, Plan, Scope, Unseen, needs_revisions, plan};
use cairn_wire::nodes::{Node, NodeState};
use futures_util::StreamExt as _;
use std::collections::HashMap;

/// The number of concurrent requests.
const AT_ONCE: usize = 16;
/// Free names that are tried beside one that is taken.
const MAX_COPIES: u32 = 1_000;

/// A restore of one part of a space to a time.
pub(crate) struct Rewind<'a> {
    pub(crate) home: &'a Home,
    pub(crate) remote: &'a Remote,
    pub(crate) scope: Scope,
    pub(crate) at_ms: i64,
    pub(crate) newer: Newer,
}

/// The result of a rewind.
#[derive(Clone, PartialEq, Eq, Debug, Default, serde::Serialize)]
pub(crate) struct Done {
    pub(crate) restored: u64,
    pub(crate) moved: u64,
    pub(crate) trashed: u64,
    pub(crate) contents: u64,
    /// Items that were left as they are, with the reason.
    pub(crate) failed: Vec<Incomplete>,
}

/// The moves of a plan that were tried.
#[derive(Default)]
struct Moves {
    /// The nodes that got another name for now, because a node that is still to be moved has theirs.
    later: Vec<(NodeId, String)>,
    /// The nodes that could not be moved.
    unmoved: Vec<NodeId>,
    /// The versions that the others have since.
    versions: HashMap<NodeId, u64>,
}

impl Rewind<'_> {
    /// Loads the present state and plans from it.
    pub(crate) async fn plan(&self) -> CommandResult<(Past, Plan)> {
        self.plan_after(Vec::new()).await
    }

    /// Plans as [`Self::plan`] does, with the places from which nodes went to the trash.
    async fn plan_after(&self, places: Vec<PastPlace>) -> CommandResult<(Past, Plan)> {
        let mut past = load(self.home, self.remote, Some(self.at_ms)).await?;
        for place in places {
            past.remember(place);
        }
        let needed = needs_revisions(&past, self.scope, self.at_ms);
        let revisions = revisions_of(self.remote, &needed).await?;
        let mut plan = plan(&past, self.scope, self.at_ms, &revisions, self.newer);
        leave_equal(self.remote, &past, &mut plan).await?;
        Ok((past, plan))
    }

    /// Carries out a plan that was made from what a person was shown.
    pub(crate) async fn carry_out(&self, shown: Past, confirmed: Plan) -> CommandResult<Done> {
        let mut done = Done::default();
        let mut moves = Moves::default();
        let mut rest = None;
        if !confirmed.back.is_empty() {
            self.restore(&shown, &confirmed, &mut done).await?;
            // What came back has another name where its own is in use by now: look, and plan the rest.
            let (past, mut plan) = self.plan_after(places(&shown, &confirmed)).await?;
            for id in plan.keep_confirmed(&shown, &confirmed) {
                done.failed.push(changed_item(&past, id));
            }
            moves.versions = confirmed.versions_back(&shown, &past);
            rest = Some((past, plan));
        }
        let (past, plan) = rest
            .as_ref()
            .map_or((&shown, &confirmed), |(past, plan)| (past, plan));
        self.move_all(past, plan, &mut moves, &mut done).await?;
        self.trash([&shown, past], plan, &moves, &mut done).await?;
        for (id, name) in moves.later {
            self.rename(past, id, &name, &mut done).await?;
        }
        self.contents([&shown, past], plan, &mut done).await?;
        done.failed.extend(plan.incomplete.iter().cloned());
        done.failed.sort();
        done.failed.dedup();
        Ok(done)
    }

    async fn restore(&self, past: &Past, plan: &Plan, done: &mut Done) -> CommandResult {
        for id in &plan.back {
            let Some(one) = past.get(*id) else {
                continue;
            };
            let result = self.remote.restore_node(&one.node).await;
            done.note(past.path(*id), result.map(drop))?
                .then(|| done.restored += 1);
        }
        Ok(())
    }

    /// Moves files and folders that were made after the time to the trash, if they are still as the person was
    /// shown.
    async fn trash(
        &self,
        [shown, past]: [&Past; 2],
        plan: &Plan,
        moves: &Moves,
        done: &mut Done,
    ) -> CommandResult {
        if plan.trash.is_empty() {
            return Ok(());
        }
        let (changed, seen) = changes_since(self.remote, shown.cursor.as_ref()).await?;
        let unseen = Unseen::new(shown, changed, &moves.versions);
        for id in &plan.trash {
            // What was there before must not go along with a newer folder.
            let holds_unmoved = moves
                .unmoved
                .iter()
                .any(|node| past.is_in(*node, Scope::Below(*id)));
            let reason = match (holds_unmoved, unseen.is_below(*id)) {
                (true, _) => Some("it holds what could not be moved back: it stays"),
                (false, true) => Some("it was changed meanwhile: it stays, plan again to see it"),
                (false, false) => None,
            };
            if let Some(message) = reason {
                done.failed.push(Incomplete {
                    path: past.path(*id),
                    message: message.to_owned(),
                });
                continue;
            }
            let Some(node) = self.current(*id).await? else {
                continue;
            };
            let result = self.remote.trash_seen(&node, &seen).await;
            done.note(past.path(*id), result)?
                .then(|| done.trashed += 1);
        }
        Ok(())
    }

    /// Moves what is elsewhere.
    async fn move_all(
        &self,
        past: &Past,
        plan: &Plan,
        moves: &mut Moves,
        done: &mut Done,
    ) -> CommandResult {
        for step in &plan.moves {
            let Some(node) = self.current(step.node).await? else {
                continue;
            };
            let name = valid_name(&step.name)?;
            let taken = self.remote.child(step.parent, name.as_str()).await?;
            let is_free = taken.is_none_or(|found| found.id == node.id);
            let target = match is_free {
                true => name,
                false => {
                    moves.later.push((node.id, step.name.clone()));
                    self.free_name(&node, step.parent, &name).await?
                }
            };
            if (node.parent_id, node.name.as_str()) == (step.parent, target.as_str()) {
                continue;
            }
            let moved = self.remote.move_node(&node, step.parent, &target).await;
            let moved = moved.map(|node| {
                moves.versions.insert(node.id, node.version);
            });
            if done.note(past.path(step.node), moved)? {
                done.moved += 1;
            } else {
                moves.unmoved.push(step.node);
            }
        }
        Ok(())
    }

    /// Gives a node its own name, now that it is free; if it is not, it keeps the one that it has.
    async fn rename(&self, past: &Past, id: NodeId, name: &str, done: &mut Done) -> CommandResult {
        let Some(node) = self.current(id).await? else {
            return Ok(());
        };
        let name = valid_name(name)?;
        if self
            .remote
            .child(node.parent_id, name.as_str())
            .await?
            .is_some()
        {
            done.failed.push(Incomplete {
                path: past.path(id),
                message: format!("its name {name} is in use: it is called {} now", node.name),
            });
            return Ok(());
        }
        let result = self.remote.move_node(&node, node.parent_id, &name).await;
        done.note(past.path(id), result.map(drop)).map(drop)
    }

    async fn contents(
        &self,
        [shown, past]: [&Past; 2],
        plan: &Plan,
        done: &mut Done,
    ) -> CommandResult {
        let restoring = plan.contents.iter().map(|content| async move {
            let result = match self.current(content.node).await? {
                // Changed since the plan was made: what a person has just written stays the newest.
                Some(node) if is_as_planned(shown, &node) => {
                    let restored = self.remote.restore_revision(&node, &content.revision);
                    let restored = restored.await;
                    restored.map(|restored| restored.revision_id != node.revision_id)
                }
                Some(_) | None => Err(Failure::failed(
                    "it was changed meanwhile: it stays as it is",
                )),
            };
            Ok::<_, Failure>((content.node, result))
        });
        let mut restoring = futures_util::stream::iter(restoring).buffer_unordered(AT_ONCE);
        while let Some(restored) = restoring.next().await {
            let (id, result) = restored?;
            // What had that content already is not changed.
            let changed = matches!(result, Ok(true));
            done.note(past.path(id), result.map(drop))?;
            done.contents += u64::from(changed);
        }
        Ok(())
    }

    /// The node as it is now; `None` if it is not there any more.
    async fn current(&self, id: NodeId) -> CommandResult<Option<Node>> {
        let found = self.remote.space.node_if_kept(id).await?;
        Ok(found.filter(|node| node.state == NodeState::Active))
    }

    /// Finds a name that is free in a folder, or that the node has there already.
    async fn free_name(
        &self,
        node: &Node,
        parent: Option<NodeId>,
        name: &Name,
    ) -> CommandResult<Name> {
        for number in 2..MAX_COPIES {
            let candidate = name.with_number(number);
            let found = self.remote.child(parent, candidate.as_str()).await?;
            if found.is_none_or(|found| found.id == node.id) {
                return Ok(candidate);
            }
        }
        Err(Failure::failed(format!("all names like {name} are in use")))
    }
}

/// Returns the places from which the nodes that come back went to the trash.
fn places(past: &Past, plan: &Plan) -> Vec<PastPlace> {
    let back = plan.back.iter().filter_map(|id| past.get(*id));
    back.map(|one| {
        let (parent, name) = one.place();
        PastPlace {
            node: one.node.id,
            parent,
            name: name.to_owned(),
            until_ms: i64::MAX,
        }
    })
    .collect()
}

fn changed_item(past: &Past, id: NodeId) -> Incomplete {
    Incomplete {
        path: past.path(id),
        message: "it was changed meanwhile: it stays, plan again to see it".to_owned(),
    }
}

fn is_as_planned(past: &Past, node: &Node) -> bool {
    past.get(node.id)
        .is_some_and(|one| one.node.revision_id == node.revision_id)
}

impl Done {
    /// Notes what became of one node; returns whether it was done.
    ///
    /// # Errors
    /// A failure that does not concern this one alone: nobody is logged in, the server is away.
    fn note(&mut self, path: String, result: CommandResult) -> CommandResult<bool> {
        match result {
            Ok(()) => Ok(true),
            Err(failure) if matches!(failure.exit, Exit::Failed | Exit::Decision) => {
                self.failed.push(Incomplete {
                    path,
                    message: failure.message,
                });
                Ok(false)
            }
            Err(failure) => Err(failure),
        }
    }
}
