//! The files that a link to a folder shares, found by walking down from it.
//!
//! A listing is the server's word. Only nodes whose names and places are sealed, from the top of the
//! space to each file, are certain to have been put there by somebody with the keys.

use super::ShareError;
use crate::Space;
use cairn_model::{Kind, Name, NodeId};
use cairn_transfer::TransferError;
use cairn_wire::nodes::Node;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use std::collections::HashSet;

/// Folders listed at once.
const FOLDERS_AT_ONCE: usize = 8;
/// The most folders above one another; more is a ring, which a server must not be able to make us
/// follow.
const MAX_DEPTH: usize = 1_000;

/// The treatment of nodes that no device with the keys vouches for, when a link is made or refreshed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnverifiedNodes {
    /// Nothing is shared.
    Refuse,
    /// They are shared like others, because a person has looked at them.
    Include,
}

/// A file to share, and its path below what is shared.
pub(super) struct FileToShare {
    pub(super) node: Node,
    pub(super) path: String,
}

/// The files found so far.
struct Walk {
    files: Vec<FileToShare>,
    seen: HashSet<NodeId>,
    /// Folders still to be listed, with their paths below what is shared.
    level: Vec<(NodeId, String)>,
    /// Paths from the top of the space.
    unverified: Vec<String>,
}

impl Space {
    /// Returns a shared file itself, or all files below a shared folder.
    ///
    /// # Errors
    /// [`ShareError::Unverified`] with the paths of all nodes that are not sealed, unless they are to
    /// be included.
    pub(super) async fn files_to_share(
        &self,
        top: &Node,
        unverified: UnverifiedNodes,
    ) -> Result<Vec<FileToShare>, ShareError> {
        let (base, above) = self.path_and_unverified(top).await?;
        let mut walk = Walk {
            files: Vec::new(),
            seen: HashSet::from([top.id]),
            level: Vec::new(),
            unverified: above,
        };
        match top.kind {
            Kind::File => walk.files.push(FileToShare {
                node: top.clone(),
                path: top.name.clone(),
            }),
            Kind::Folder => walk.level.push((top.id, String::new())),
        }
        while !walk.level.is_empty() {
            let children = stream::iter(std::mem::take(&mut walk.level))
                .map(|(id, path)| async move {
                    let children = self.api.children(Some(id), None).await?;
                    Ok::<_, TransferError>((id, path, children))
                })
                .buffered(FOLDERS_AT_ONCE)
                .try_collect::<Vec<_>>()
                .await?;
            for (parent, path, nodes) in children {
                for node in nodes {
                    self.add(&mut walk, &base, parent, &path, node)?;
                }
            }
        }
        if unverified == UnverifiedNodes::Refuse && !walk.unverified.is_empty() {
            return Err(ShareError::Unverified {
                paths: walk.unverified,
            });
        }
        Ok(walk.files)
    }

    fn add(
        &self,
        walk: &mut Walk,
        base: &str,
        parent: NodeId,
        path: &str,
        node: Node,
    ) -> Result<(), TransferError> {
        check_name(&node)?;
        if !walk.seen.insert(node.id) {
            return Err(ring());
        }
        let path = if path.is_empty() {
            node.name.clone()
        } else {
            format!("{path}/{}", node.name)
        };
        // The seal names the parent: a node listed where it is not would pass with its own.
        if self.seal(&node).is_none() || node.parent_id != Some(parent) {
            walk.unverified.push(format!("{base}/{path}"));
        }
        match node.kind {
            Kind::Folder => walk.level.push((node.id, path)),
            Kind::File => walk.files.push(FileToShare { node, path }),
        }
        Ok(())
    }

    /// Returns the paths of those nodes from the top of the space down to one, itself included, that
    /// no device with the keys has put where they are.
    ///
    /// # Errors
    /// [`TransferError::Protocol`] for folders that contain each other.
    pub async fn unverified_path(&self, node: &Node) -> Result<Vec<String>, TransferError> {
        Ok(self.path_and_unverified(node).await?.1)
    }

    /// Returns the path of a node, and the paths of the unverified nodes on it.
    async fn path_and_unverified(
        &self,
        node: &Node,
    ) -> Result<(String, Vec<String>), TransferError> {
        let mut chain = vec![node.clone()];
        let mut above = node.parent_id;
        while let Some(id) = above {
            if chain.len() > MAX_DEPTH {
                return Err(ring());
            }
            let parent = self.node(id).await?;
            if parent.id != id {
                return Err(TransferError::Protocol(format!(
                    "it sent the node {} instead of {id}",
                    parent.id
                )));
            }
            above = parent.parent_id;
            chain.push(parent);
        }
        let mut path = String::new();
        let mut unverified = Vec::new();
        for node in chain.iter().rev() {
            check_name(node)?;
            path = format!("{path}/{}", node.name);
            if self.seal(node).is_none() {
                unverified.push(path.clone());
            }
        }
        Ok((path, unverified))
    }
}

fn ring() -> TransferError {
    TransferError::Protocol("the server's folders contain each other: nothing was done".into())
}

/// Refuses a name that can't be one: names become paths in somebody else's archive.
fn check_name(node: &Node) -> Result<(), TransferError> {
    match Name::new(node.name.clone()) {
        Ok(_) => Ok(()),
        Err(error) => Err(TransferError::Protocol(format!(
            "the node {} has an impossible name: {error}",
            node.id
        ))),
    }
}
