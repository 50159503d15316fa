//! The files that a link to a folder shares, found by walking down from it.
//!
//! Nothing authenticates a listing of the server. Only nodes whose names and parents are sealed, from the top of the
//! space to each file, are certain to have been put there by somebody with the keys.

use super::ShareError;
use crate::Space;
use crate::verify::{check_name, cycle, path_in};
use cairn_model::{Kind, NodeId};
use cairn_transfer::TransferError;
use cairn_wire::nodes::Node;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use std::collections::HashSet;

/// Folders listed at once.
const FOLDERS_AT_ONCE: usize = 8;

/// The treatment of nodes without a valid seal of a device with the keys, when a link is made or refreshed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnverifiedNodes {
    /// No file is shared.
    Refuse,
    /// Shares them like others, because a person has looked at them.
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
    /// The same, of nodes whose seals are older than what this device has seen.
    past: Vec<String>,
}

impl Space {
    /// Returns a shared file itself, or all files below a shared folder.
    ///
    /// # Errors
    /// [`ShareError::Unverified`] with the paths of all nodes that are not sealed, unless they are to
    /// be included; [`ShareError::Rollback`] with those of which this device has seen a later state.
    pub(super) async fn files_to_share(
        &self,
        top: &Node,
        unverified: UnverifiedNodes,
    ) -> Result<Vec<FileToShare>, ShareError> {
        let chain = self.chain(top).await?;
        let base = path_in(&chain);
        let mut walk = Walk {
            files: Vec::new(),
            seen: HashSet::from([top.id]),
            level: Vec::new(),
            unverified: Vec::new(),
            past: Vec::new(),
        };
        for (path, node) in chain {
            self.judge(&mut walk, path, &node, node.parent_id)?;
        }
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
        if !walk.past.is_empty() {
            return Err(ShareError::Rollback { paths: walk.past });
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
    ) -> Result<(), ShareError> {
        check_name(&node)?;
        if !walk.seen.insert(node.id) {
            return Err(cycle().into());
        }
        let path = if path.is_empty() {
            node.name.clone()
        } else {
            format!("{path}/{}", node.name)
        };
        self.judge(walk, format!("{base}/{path}"), &node, Some(parent))?;
        match node.kind {
            Kind::Folder => walk.level.push((node.id, path)),
            Kind::File => walk.files.push(FileToShare { node, path }),
        }
        Ok(())
    }

    /// Notes a node that no seal covers, or only one of a past state. The latter first: nobody may include that.
    fn judge(
        &self,
        walk: &mut Walk,
        path: String,
        node: &Node,
        parent: Option<NodeId>,
    ) -> Result<(), ShareError> {
        if self
            .is_past(node)
            .map_err(ShareError::SeenSealsUnreadable)?
        {
            walk.past.push(path);
        } else if !self.is_sealed_in(node, parent) {
            walk.unverified.push(path);
        }
        Ok(())
    }
}
