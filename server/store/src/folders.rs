//! Creates the missing folders of many paths in one transaction.

use super::{Actor, NewFolder, Tx, nodes};
use crate::error::{Error, Result};
use cairn_model::{Kind, Name, NodeId};
use cairn_wire::nodes::CreatedFolders;

impl Tx<'_> {
    /// Walks down `names` from `parent`, making what is missing; all of it or nothing.
    ///
    /// # Errors
    /// 404 for the parent, 409 where a file has one of the names.
    pub fn create_folders(
        &self,
        actor: &Actor,
        parent: Option<NodeId>,
        names: Vec<Name>,
    ) -> Result<CreatedFolders> {
        nodes::check_folder(self.conn, actor.space, parent)?;
        let (mut at, mut folders, mut created) = (parent, Vec::new(), Vec::new());
        for name in names {
            let folder = match nodes::child_named(self.conn, actor.space, at, &name)? {
                Some(known) => {
                    let node = nodes::visible_node(self.conn, actor.space, known)?.node;
                    if node.kind == Kind::File {
                        return Err(Error::conflict(format!(
                            "the name {name:?} is taken in this folder by the file {known}"
                        )));
                    }
                    node
                }
                None => {
                    let new = NewFolder {
                        id: None,
                        parent: at,
                        name,
                        seal: None,
                    };
                    let (node, _) = nodes::create_folder(self, actor, &new)?;
                    created.push(node.id);
                    node
                }
            };
            at = Some(folder.id);
            folders.push(folder);
        }
        let leaf_id = at.ok_or_else(|| Error::invalid("`path` names no folder"))?;
        Ok(CreatedFolders {
            folders,
            created,
            leaf_id,
        })
    }
}
