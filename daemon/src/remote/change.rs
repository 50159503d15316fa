//! Changes on the service by commands: new folders, renames, moves, copies, the trash.

use crate::failure::{CommandResult, Context as _, Exit, Failure};
use crate::remote::{Remote, RemoteNode};
use cairn_model::{Kind, Name, NodeId};
use cairn_space::CopiedNode;
pub(crate) use cairn_space::random_id;
use cairn_space::undo::{NodeChange, Record};
use cairn_wire::nodes::Node;

impl Remote {
    /// Makes a folder.
    pub(crate) async fn make_folder(
        &self,
        parent: Option<NodeId>,
        name: &Name,
    ) -> CommandResult<Node> {
        let made = self
            .space
            .make_folder(parent, name)
            .await
            .context(format_args!("make the folder {name}"))?;
        self.journal
            .note(Record::new(NodeChange::Made, None, &made));
        Ok(made)
    }

    /// Finds the folder of a path, and makes it and those above it where they are missing.
    pub(crate) async fn ensure_folder(&self, path: &str) -> CommandResult<(RemoteNode, Vec<Node>)> {
        let path = self.path(path)?;
        let mut at = RemoteNode::Top;
        let mut made = Vec::new();
        for part in path.split('/').filter(|part| !part.is_empty()) {
            let parent = at.folder()?;
            let node = match self.child(parent, part).await? {
                Some(node) => node,
                None => {
                    let name = Name::new(part).map_err(|e| Failure::usage(e.to_string()))?;
                    match self.make_folder(parent, &name).await {
                        Ok(node) => {
                            made.push(node.clone());
                            node
                        }
                        // Another one may have made it just now.
                        Err(failure) => self.child(parent, part).await?.ok_or(failure)?,
                    }
                }
            };
            at = RemoteNode::Node(Box::new(node));
        }
        at.folder()?;
        Ok((at, made))
    }

    /// Moves or renames a node, in one step. It must be as it was when it was found.
    pub(crate) async fn move_node(
        &self,
        node: &Node,
        parent: Option<NodeId>,
        name: &Name,
    ) -> CommandResult<Node> {
        let moved = self
            .space
            .move_node(node, parent, name)
            .await
            .context(format_args!("move {}", node.name))?;
        if let Some(change) = NodeChange::move_between(node, &moved) {
            self.journal.note(Record::new(change, Some(node), &moved));
        }
        Ok(moved)
    }

    /// Copies a node, a folder with everything below it, in one step.
    pub(crate) async fn copy_node(
        &self,
        node: &Node,
        parent: Option<NodeId>,
        name: &Name,
    ) -> CommandResult<CopiedNode> {
        let copy = self
            .space
            .copy_node(node, parent, name)
            .await
            .context(format_args!("copy {}", node.name))?;
        self.journal
            .note(Record::new(NodeChange::Copied, None, &copy.node));
        Ok(copy)
    }

    /// Moves a node into the service's trash, with everything below it.
    pub(crate) async fn trash_node(&self, node: &Node) -> CommandResult {
        self.space
            .trash_node(node)
            .await
            .context(format_args!("delete {}", node.name))?;
        self.note_trashed(node).await;
        Ok(())
    }

    /// Returns the place to which `to` moves a node: into it if it is a folder, else under its last
    /// name. A `/` at its end says that it is a folder, so that it is none of a file that isn't there.
    pub(crate) async fn destination(
        &self,
        to: &str,
        node: &Node,
    ) -> CommandResult<(Option<NodeId>, Name)> {
        let is_id = to.parse::<NodeId>().is_ok();
        // A synced folder may stand for the top of the space.
        let into = if is_id || self.path(to)? == "/" {
            self.find(to).await?.folder()?
        } else {
            let (parent, last) = self.find_new(to).await?;
            match self.child(parent, last.as_str()).await? {
                Some(found) if found.kind == Kind::Folder => Some(found.id),
                Some(found) if found.id == node.id => return Ok((parent, last)),
                Some(_) => return Err(name_taken_error(to)),
                None if node.kind == Kind::File && to.ends_with('/') => {
                    return Err(Failure::usage(format!(
                        "there is no folder {to} on the service: make it with `cairn mkdir`, or leave out the / at the end to give {} that name",
                        node.name
                    )));
                }
                None => {
                    self.not_into_itself(node, parent).await?;
                    return Ok((parent, last));
                }
            }
        };
        self.not_into_itself(node, into).await?;
        let own = Name::new(node.name.as_str()).map_err(|e| Failure::failed(e.to_string()))?;
        match self.child(into, own.as_str()).await? {
            Some(_) => Err(name_taken_error(&format!(
                "{}/{own}",
                to.trim_end_matches('/')
            ))),
            None => Ok((into, own)),
        }
    }

    async fn not_into_itself(&self, node: &Node, folder: Option<NodeId>) -> CommandResult {
        let is_inside = self.space.is_at_or_below(folder, node.id).await;
        if is_inside.context("find the folder above")? {
            return Err(Failure::usage(format!(
                "the folder {} can't go into itself: choose another place",
                node.name
            )));
        }
        Ok(())
    }
}

fn name_taken_error(path: &str) -> Failure {
    Failure::new(
        Exit::Decision,
        format!("there is something at {path} already: choose another name"),
    )
}
