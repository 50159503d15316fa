//! The files that a link to a folder shares, found by walking down from it.

use crate::Space;
use cairn_model::{Kind, Name};
use cairn_transfer::TransferError;
use cairn_wire::nodes::Node;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use std::collections::HashSet;

/// Folders asked for at once.
const FOLDERS_AT_ONCE: usize = 8;

/// A file below what is shared, and its path there.
pub(super) struct FileToShare {
    pub(super) node: Node,
    pub(super) path: String,
}

impl Space {
    /// Returns a shared file itself, or all files below a shared folder.
    pub(super) async fn files_below(&self, top: &Node) -> Result<Vec<FileToShare>, TransferError> {
        check(top)?;
        if top.kind == Kind::File {
            return Ok(vec![FileToShare {
                node: top.clone(),
                path: top.name.clone(),
            }]);
        }
        let mut files = Vec::new();
        let mut seen = HashSet::from([top.id]);
        let mut level = vec![(top.id, String::new())];
        while !level.is_empty() {
            let children = stream::iter(level.drain(..))
                .map(|(id, path)| async move {
                    let children = self.api.children(Some(id), None).await?;
                    Ok::<_, TransferError>((path, children))
                })
                .buffered(FOLDERS_AT_ONCE)
                .try_collect::<Vec<_>>()
                .await?;
            for (path, nodes) in children {
                for node in nodes {
                    check(&node)?;
                    if !seen.insert(node.id) {
                        return Err(TransferError::Protocol(
                            "the server's folders contain each other: nothing was shared".into(),
                        ));
                    }
                    let here = if path.is_empty() {
                        node.name.clone()
                    } else {
                        format!("{path}/{}", node.name)
                    };
                    match node.kind {
                        Kind::Folder => level.push((node.id, here)),
                        Kind::File => files.push(FileToShare { node, path: here }),
                    }
                }
            }
        }
        Ok(files)
    }
}

/// Names become paths in somebody else's archive.
fn check(node: &Node) -> Result<(), TransferError> {
    match Name::new(node.name.clone()) {
        Ok(_) => Ok(()),
        Err(error) => Err(TransferError::Protocol(format!(
            "the node {} has an impossible name: {error}",
            node.id
        ))),
    }
}
