//! Keys for a snapshot that lacks what lies in a folder: where only the rules say that the folder has left, the index
//! can't know it.

use crate::below::{BELOW_LOCAL, BELOW_REMOTE};
use crate::error::IndexError;
use crate::open::Db;
use crate::sql_types::{collect, node_at};
use cairn_model::{FolderId, LocalId, NodeId};

impl Db<'_> {
    /// Returns a local row and everything below it.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn all_below_local(
        &self,
        folder: FolderId,
        local: LocalId,
    ) -> Result<Vec<LocalId>, IndexError> {
        let mut statement = self.prepare(&format!("{BELOW_LOCAL} SELECT id FROM below"))?;
        let mut rows = statement.query((folder.0, local.0))?;
        collect(&mut rows, |row| Ok(LocalId(row.get(0)?)))
    }

    /// Returns a node and everything below it.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn all_below_node(&self, node: NodeId) -> Result<Vec<NodeId>, IndexError> {
        let mut statement = self.prepare(&format!("{BELOW_REMOTE} SELECT node FROM below"))?;
        let mut rows = statement.query([node.as_bytes()])?;
        collect(&mut rows, |row| node_at(row, 0))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{local, name, node};
    use crate::{FolderSettings, Index, LocalRow, RemoteRow};
    use cairn_model::Kind;

    #[test]
    fn all_that_is_below_a_folder_is_found_with_it_on_either_side() {
        let index = Index::memory().unwrap();
        let found = index.write(|db| {
            let id = db.add_folder("/home/x", "/", &FolderSettings::default())?;
            let dir = |parent, text| LocalRow {
                kind: Kind::Folder,
                ..local(id, parent, text)
            };
            let top = db.insert_local(&dir(None, "d"))?;
            let below = db.insert_local(&dir(Some(top), "e"))?;
            let file = db.insert_local(&local(id, Some(below), "f"))?;
            let beside = db.insert_local(&local(id, None, "g"))?;
            for (number, parent, text) in [
                (1, None, "d"),
                (2, Some(node(1)), "e"),
                (3, Some(node(2)), "f"),
                (4, None, "g"),
            ] {
                db.put_remote(&[], &RemoteRow::folder(node(number), parent, name(text)))?;
            }
            assert_eq!(db.all_below_local(id, top)?, [top, below, file]);
            assert_eq!(db.all_below_local(id, beside)?, [beside]);
            assert_eq!(db.all_below_node(node(1))?, [1, 2, 3].map(node));
            Ok(())
        });
        found.unwrap();
    }
}
