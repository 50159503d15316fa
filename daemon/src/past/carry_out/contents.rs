//! The earlier contents of files: many in few requests, and what is left of them alone.

use super::moves::Moves;
use super::{Done, Rewind};
use crate::failure::{CommandResult, Failure};
use cairn_space::past::{Content, Past, Plan};
use cairn_wire::nodes::Node;
use futures_util::StreamExt as _;
use std::collections::{HashMap, HashSet};

/// The number of concurrent requests for files that need requests of their own.
const AT_ONCE: usize = 16;

impl Rewind<'_> {
    /// Gives files their earlier contents.
    pub(super) async fn contents(
        &self,
        [shown, past]: [&Past; 2],
        plan: &Plan,
        moves: &Moves,
        done: &mut Done,
    ) -> CommandResult {
        let together = plan.contents.iter().filter_map(|content| {
            let node = moves.current(past, content.node)?;
            is_as_planned(shown, &node).then(|| (node, content.revision.clone()))
        });
        let together: Vec<_> = together.collect();
        let mut restored = HashSet::with_capacity(together.len());
        let mut sent = HashMap::new();
        for ((before, _), after) in self.remote.restore_revisions(&together).await {
            if let Some(after) = after {
                restored.insert(before.id);
                // What had that content already is not changed.
                done.contents += u64::from(after.revision_id != before.revision_id);
            } else {
                sent.insert(before.id, before);
            }
        }
        let is_left = |content: &&Content| !restored.contains(&content.node);
        let alone = plan.contents.iter().filter(is_left);
        let alone = alone.map(|content| {
            let before = sent.get(&content.node);
            async move {
                let result = self.restore_alone(shown, content, before).await;
                (content.node, result)
            }
        });
        let mut alone = futures_util::stream::iter(alone).buffer_unordered(AT_ONCE);
        while let Some((id, result)) = alone.next().await {
            let changed = matches!(result, Ok(true));
            done.note(past.path(id), result.map(drop))?;
            done.contents += u64::from(changed);
        }
        Ok(())
    }

    /// Gives one file its earlier content, by what the service has now; returns whether that changed it. `before` is the
    /// file for which a request with others was made already.
    async fn restore_alone(
        &self,
        shown: &Past,
        content: &Content,
        before: Option<&Node>,
    ) -> CommandResult<bool> {
        match self.current(content.node).await? {
            // Changed since the plan was made: what a person has just written stays the newest.
            Some(node) if is_as_planned(shown, &node) => {
                let restored = self.remote.restore_revision(&node, &content.revision);
                Ok(restored.await?.revision_id != node.revision_id)
            }
            Some(node) => match before {
                // The request did it, and its response was lost.
                Some(before) if self.is_own_restore(before, &node, content).await => {
                    self.remote.note_content(before, &node);
                    Ok(true)
                }
                Some(_) | None => Err(changed_meanwhile()),
            },
            None => Err(changed_meanwhile()),
        }
    }

    /// Returns whether the next change of a file was the restore that this device has asked for. A daemon may have sent
    /// another content.
    async fn is_own_restore(&self, before: &Node, node: &Node, content: &Content) -> bool {
        if !self.remote.has_changed_next(before, node) {
            return false;
        }
        let file = (node.clone(), content.revision.clone());
        let space = &self.remote.space;
        space
            .with_equal_content(vec![file])
            .await
            .contains(&node.id)
    }
}

fn changed_meanwhile() -> Failure {
    Failure::failed("it was changed meanwhile: it stays as it is")
}

fn is_as_planned(past: &Past, node: &Node) -> bool {
    past.get(node.id)
        .is_some_and(|one| one.node.revision_id == node.revision_id)
}
