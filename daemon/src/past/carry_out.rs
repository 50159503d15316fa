//! Carrying out a plan that takes a folder back to a time: moves and restores of what the service has, no content is
//! uploaded.
//!
//! Many changes go in one request, and each succeeds or fails alone; what fails is looked at again and has a request of
//! its own. An interruption leaves everything in order at any moment, and the same command goes on from there, because a
//! plan is made of present facts alone.

mod contents;
mod moves;

use self::moves::Moves;
use super::unchanged::leave_equal;
use super::{changes_since, load, revisions_at};
use crate::failure::{CommandResult, Exit};
use crate::remote::Remote;
use cairn_model::{NodeId, PastPlace};
use cairn_platform::Home;
use cairn_space::past::{
    Incomplete, Location, Newer, Past, PastNode, Plan, Scope, Unseen, needs_revisions, plan,
    same_path,
};
use cairn_wire::nodes::{Node, NodeState};
use std::collections::HashSet;

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
        self.plan_from(past).await
    }

    /// Plans from a state that was loaded just now.
    pub(crate) async fn plan_from(&self, past: Past) -> CommandResult<(Past, Plan)> {
        let needed = needs_revisions(&past, self.scope, self.at_ms);
        let revisions = revisions_at(self.remote, &needed, self.at_ms).await?;
        let mut plan = plan(&past, self.scope, self.at_ms, &revisions, self.newer);
        leave_equal(self.remote, &past, &mut plan).await;
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
        for (id, name) in std::mem::take(&mut moves.later) {
            self.rename(past, (id, &name), &mut moves, &mut done)
                .await?;
        }
        self.contents([&shown, past], plan, &moves, &mut done)
            .await?;
        done.failed.extend(plan.incomplete.iter().cloned());
        done.failed.sort();
        done.failed.dedup();
        Ok(done)
    }

    async fn restore(&self, past: &Past, plan: &Plan, done: &mut Done) -> CommandResult {
        let back = plan.back.iter().filter_map(|id| past.get(*id));
        let (lost, others): (Vec<&PastNode>, Vec<_>) =
            back.partition(|one| self.is_lost(past, one));
        // What else comes back may be in it.
        for one in lost {
            let result = self.remote.restore_node(&one.node).await.map(drop);
            done.note(past.path(one.node.id), result)?
                .then(|| done.restored += 1);
        }
        let trashed: Vec<Node> = others.iter().map(|one| one.node.clone()).collect();
        for (node, restored) in self.remote.restore_nodes(&trashed).await {
            let result = match restored {
                Some(_) => Ok(()),
                None => self.remote.restore_node(&node).await.map(drop),
            };
            done.note(past.path(node.id), result)?
                .then(|| done.restored += 1);
        }
        Ok(())
    }

    /// Returns whether a node is the one that is taken back, alone, and its folder is in the trash: that is made again.
    /// All other folders come back themselves.
    fn is_lost(&self, past: &Past, one: &PastNode) -> bool {
        let id = one.node.id;
        let folder = one.node.parent_id.and_then(|folder| past.get(folder));
        let was_at = past.path_at(id, self.at_ms);
        self.scope.top() == Some(id)
            && (self.scope == Scope::Below(id) || same_path(&past.path(id), &was_at))
            && folder.is_some_and(|folder| !folder.is_active())
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
        let missing = missing_places(past, plan);
        let is_gone = |node: &Node| node.state == NodeState::Trashed;
        let gone: HashSet<NodeId> = changed
            .values()
            .filter(|node| is_gone(node))
            .map(|node| node.id)
            .collect();
        let unseen = Unseen::new(shown, changed, &moves.versions);
        let mut going = Vec::with_capacity(plan.trash.len());
        // What somebody else has deleted meanwhile is not this one's work, and not its to take back.
        for id in plan.trash.iter().filter(|id| !gone.contains(id)) {
            let reason = reason_to_stay(past, *id, (moves, &missing, &unseen));
            match reason {
                Some(message) => done.failed.push(Incomplete {
                    path: past.path(*id),
                    message: message.to_owned(),
                }),
                None => going.extend(moves.current(past, *id)),
            }
        }
        for (node, trashed) in self.remote.trash_nodes_seen(&going, &seen).await {
            let result = match trashed {
                Some(_) => Ok(()),
                None => match self.remote.space.node_if_kept(node.id).await? {
                    Some(now) if now.state == NodeState::Active => {
                        self.remote.trash_seen(&now, &seen).await
                    }
                    // The request did it, and its response was lost.
                    Some(now) if self.remote.has_changed_next(&node, &now) => {
                        self.remote.note_own_trashed(&node, &now);
                        Ok(())
                    }
                    Some(_) | None => continue,
                },
            };
            done.note(past.path(node.id), result)?
                .then(|| done.trashed += 1);
        }
        Ok(())
    }

    /// The node as it is now; `None` if it is not there any more.
    async fn current(&self, id: NodeId) -> CommandResult<Option<Node>> {
        let found = self.remote.space.node_if_kept(id).await?;
        Ok(found.filter(|node| node.state == NodeState::Active))
    }
}

/// Returns the reason why something newer does not go to the trash after all, if there is one.
fn reason_to_stay(
    past: &Past,
    id: NodeId,
    (moves, missing, unseen): (&Moves, &HashSet<Location<'_>>, &Unseen),
) -> Option<&'static str> {
    // What was there before must not go along with a newer folder.
    let mut unmoved = moves.unmoved.iter();
    let holds_unmoved = unmoved.any(|node| past.is_in(*node, Scope::Below(id)));
    let replaces_missing = past
        .get(id)
        .is_some_and(|one| missing.contains(&one.place()));
    if holds_unmoved {
        Some("it holds what could not be moved back: it stays")
    } else if replaces_missing {
        Some("what was in its place could not be brought back: it stays")
    } else if unseen.is_below(id) {
        Some("it was changed meanwhile: it stays, plan again to see it")
    } else {
        None
    }
}

/// Returns the places of the nodes that a plan still has to bring back after what could be was: no newer file there
/// goes to the trash for nothing.
fn missing_places<'a>(past: &'a Past, plan: &Plan) -> HashSet<Location<'a>> {
    let missing = plan.back.iter().filter_map(|id| past.get(*id));
    missing.map(PastNode::place).collect()
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
