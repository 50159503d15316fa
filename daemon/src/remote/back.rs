//! Changes that restore something: an item from the trash, an earlier content; each sealed, and recorded in the
//! journal for `cairn undo`.

use crate::failure::{CommandResult, Context as _};
use crate::remote::Remote;
use cairn_model::Cursor;
use cairn_space::BroughtBack;
use cairn_space::undo::{NodeChange, Record};
use cairn_wire::nodes::{Node, NodeState, Revision};

impl Remote {
    /// Takes a node with everything that went with it out of the trash, into its folder, which is made again if it is
    /// gone.
    pub(crate) async fn restore_node(&self, trashed: &Node) -> CommandResult<BroughtBack> {
        let back = self
            .space
            .restore_node(trashed)
            .await
            .context(format_args!("restore {}", trashed.name))?;
        for folder in &back.folders {
            self.journal
                .note(Record::new(NodeChange::Made, None, folder));
        }
        // One that was not in the trash was not brought back, and must not go there by `undo`.
        if trashed.state == NodeState::Trashed {
            self.journal.note_restored(trashed, &back.node);
        }
        Ok(back)
    }

    /// Makes the content of an older revision the newest again; what is there now stays in the history.
    pub(crate) async fn restore_revision(
        &self,
        node: &Node,
        revision: &Revision,
    ) -> CommandResult<Node> {
        let restored = self
            .space
            .restore_revision(node, revision)
            .await
            .context(format_args!("restore {}", node.name))?;
        if let Some(change) = NodeChange::content(node, &restored) {
            self.journal
                .note(Record::new(change, Some(node), &restored));
        }
        Ok(restored)
    }

    /// Moves a node to the trash as [`Remote::trash_confirmed`] does, of what a person has seen up to a feed
    /// position: a later change of another device in it is an error.
    pub(crate) async fn trash_seen(&self, node: &Node, seen: &Cursor) -> CommandResult {
        self.space
            .trash_seen(node, seen)
            .await
            .context(format_args!("delete {}", node.name))?;
        self.note_trashed(node).await;
        Ok(())
    }

    /// Moves a node into the trash after a person has agreed: no device of the account asks again.
    pub(crate) async fn trash_confirmed(&self, node: &Node) -> CommandResult {
        self.space
            .trash_confirmed(node)
            .await
            .context(format_args!("delete {}", node.name))?;
        self.note_trashed(node).await;
        Ok(())
    }

    /// Notes that a node went into the trash. A deletion has no reply with the node's new version: it is asked
    /// for.
    pub(super) async fn note_trashed(&self, node: &Node) {
        let mut record = Record::new(NodeChange::Trashed, Some(node), node);
        let trashed = self.api.node(node.id).await.ok();
        record.version = trashed.map(|trashed| trashed.version);
        self.journal.note(record);
    }
}
