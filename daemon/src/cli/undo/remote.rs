//! The requests of `cairn undo`; each change that they make is noted in the journal, so that an undo can itself
//! be undone.

use crate::failure::{CommandResult, Context as _, Exit, Failure};
use crate::remote::Remote;
use cairn_model::{Name, NodeId, RevisionId};
use cairn_space::undo::{self, OwnVersions, Record, Undoing};
use cairn_wire::nodes::{Node, Revision};
use parking_lot::Mutex;

/// The service, and the versions in which the session that is taken back has left its nodes.
pub(super) struct UndoingRemote<'a> {
    remote: &'a Remote,
    own: Mutex<OwnVersions>,
}

impl<'a> UndoingRemote<'a> {
    pub(super) fn new(remote: &'a Remote, own: OwnVersions) -> Self {
        Self {
            remote,
            own: Mutex::new(own),
        }
    }

    /// Returns whether the service still keeps a revision of a file.
    pub(super) async fn keeps(&self, node: &Node, revision: RevisionId) -> CommandResult<bool> {
        Ok(self.kept_revision(node, revision).await?.is_some())
    }

    async fn kept_revision(
        &self,
        node: &Node,
        revision: RevisionId,
    ) -> CommandResult<Option<Revision>> {
        let listed = self.remote.api.revisions(node.id).await;
        let revisions = listed.context(format_args!("list the versions of {}", node.name))?;
        Ok(revisions.into_iter().find(|kept| kept.id == revision))
    }
}

/// Takes one change back, or returns the reason why it stays.
///
/// # Errors
/// A failure that does not concern this change alone.
pub(super) async fn take_back<S: Undoing<Error = Failure>>(
    service: &S,
    record: &Record,
) -> CommandResult<Result<String, String>> {
    match undo::take_back(service, record).await {
        Ok(Ok(taken)) => Ok(Ok(taken.to_string())),
        Ok(Err(reason)) => Ok(Err(reason.to_string())),
        Err(failure) if matches!(failure.exit, Exit::Failed | Exit::Decision) => {
            Ok(Err(failure.message))
        }
        Err(failure) => Err(failure),
    }
}

impl Undoing for UndoingRemote<'_> {
    type Error = Failure;

    // A person waits, and a whole rewind may have to be looked at.
    const MAX_NODES: usize = usize::MAX;

    fn own_versions(&self) -> &Mutex<OwnVersions> {
        &self.own
    }

    async fn node(&self, id: NodeId) -> CommandResult<Option<Node>> {
        Ok(self.remote.space.node_if_kept(id).await?)
    }

    async fn children(&self, folder: &Node) -> CommandResult<Vec<Node>> {
        self.remote.children(Some(folder.id)).await
    }

    async fn trash(&self, node: &Node) -> CommandResult<()> {
        self.remote.trash_confirmed(node).await
    }

    async fn restore(&self, node: &Node) -> CommandResult<()> {
        self.remote.restore_node(node).await.map(drop)
    }

    async fn move_to(&self, node: &Node, parent: Option<NodeId>, name: &Name) -> CommandResult<()> {
        self.remote.move_node(node, parent, name).await.map(drop)
    }

    async fn restore_content(&self, node: &Node, revision: RevisionId) -> CommandResult<bool> {
        let Some(revision) = self.kept_revision(node, revision).await? else {
            return Ok(false);
        };
        self.remote.restore_revision(node, &revision).await?;
        Ok(true)
    }
}
