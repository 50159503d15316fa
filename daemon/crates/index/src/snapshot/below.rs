//! Marks for a snapshot that lacks what lies in a folder: where only the rules say that the folder has left, the index
//! can't know it.

use crate::error::IndexError;
use crate::local::BELOW_LOCAL;
use crate::open::Db;
use crate::remote::BELOW_REMOTE;
use cairn_model::{FolderId, LocalId, NodeId};

impl Db<'_> {
    /// Marks a local row and everything below it. Returns whether any of it was not marked.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn mark_below_local(&self, folder: FolderId, local: LocalId) -> Result<bool, IndexError> {
        let marked = self
            .prepare(&format!(
                "{BELOW_LOCAL} INSERT OR IGNORE INTO dirty_local (folder, local, changed) \
                 SELECT ?1, b.id, EXISTS (SELECT 1 FROM synced s WHERE s.local = b.id) FROM below b"
            ))?
            .execute((folder.0, local.0))?;
        Ok(marked > 0)
    }

    /// Marks a node and everything below it. Returns whether any of it was not marked.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn mark_below_node(&self, folder: FolderId, node: NodeId) -> Result<bool, IndexError> {
        let marked = self
            .prepare(&format!(
                "{BELOW_REMOTE} INSERT OR IGNORE INTO dirty_node (folder, node, changed) \
                 SELECT ?2, b.node, EXISTS (SELECT 1 FROM synced s WHERE s.node = b.node AND s.folder = ?2) \
                 FROM below b"
            ))?
            .execute((node.as_bytes(), folder.0))?;
        Ok(marked > 0)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{local, name, node};
    use crate::{Dirty, FolderSettings, Index, LocalRow, RemoteRow};
    use cairn_model::Kind;

    #[test]
    fn what_is_below_a_folder_is_marked_with_it_on_either_side_and_once() {
        let index = Index::memory().unwrap();
        let marked = index.write(|db| {
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
            for local in [top, below, file, beside] {
                db.clean_local(id, local)?;
            }
            assert!(db.mark_below_local(id, top)?);
            assert!(db.mark_below_node(id, node(1))?);
            let dirty = db.dirty_keys(id)?;
            let expected = Dirty {
                local: vec![top, below, file],
                node: vec![node(1), node(2), node(3)],
            };
            assert_eq!(dirty, expected);
            Ok(db.mark_below_local(id, top)? || db.mark_below_node(id, node(1))?)
        });
        assert!(!marked.unwrap(), "all of it was marked");
    }
}
