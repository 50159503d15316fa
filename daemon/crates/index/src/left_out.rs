//! Nodes that the service has shown and the remote tree lacks: those that can't be recorded as they are, and those in
//! folders that were not recorded, because they wait for a person or can't be.

use crate::error::IndexError;
use crate::open::Db;
use crate::sql_types::parent_node_to;
use cairn_model::NodeId;

impl Db<'_> {
    /// Notes that nodes in a folder were left out, because it is not recorded.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn put_left_out(&self, folder: NodeId) -> Result<(), IndexError> {
        self.prepare("INSERT OR IGNORE INTO left_out (folder) VALUES (?1)")?
            .execute([folder.as_bytes()])?;
        Ok(())
    }

    /// Returns whether a folder that nodes were left out of is recorded by now, so that they can be recorded too.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn can_take_left_out(&self) -> Result<bool, IndexError> {
        let mut statement = self
            .prepare("SELECT 1 FROM left_out l CROSS JOIN remote r ON r.node = l.folder LIMIT 1")?;
        Ok(statement.exists([])?)
    }

    /// Forgets that nodes were left out of the folders that are recorded by now: everything was listed since.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn end_left_out(&self) -> Result<(), IndexError> {
        self.prepare(
            "DELETE FROM left_out WHERE EXISTS (SELECT 1 FROM remote r WHERE r.node = left_out.folder)",
        )?
        .execute([])?;
        Ok(())
    }

    /// Forgets all nodes that were left out or can't be recorded, before everything is listed.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn clear_left_out(&self) -> Result<(), IndexError> {
        self.0
            .execute_batch("DELETE FROM left_out; DELETE FROM impossible;")?;
        Ok(())
    }

    /// Notes a node that can't be recorded as it is, and the folder that it is in (`None`: the top of the space).
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn put_impossible(&self, node: NodeId, parent: Option<NodeId>) -> Result<(), IndexError> {
        self.prepare("INSERT OR REPLACE INTO impossible (node, parent) VALUES (?1, ?2)")?
            .execute((node.as_bytes(), parent_node_to(parent)))?;
        Ok(())
    }

    /// Removes the note about a node: the service has shown it as it is now, or that it is gone.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn remove_impossible(&self, node: NodeId) -> Result<(), IndexError> {
        self.prepare("DELETE FROM impossible WHERE node = ?1")?
            .execute([node.as_bytes()])?;
        Ok(())
    }

    /// Returns whether the remote tree is all that the service has shown: no change waits for a person or for its folder,
    /// and no node was left out or can't be recorded.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn has_all_shown(&self) -> Result<bool, IndexError> {
        let mut statement = self.prepare(
            "SELECT 1 FROM left_out UNION ALL SELECT 1 FROM impossible UNION ALL SELECT 1 FROM unaccepted \
             UNION ALL SELECT 1 FROM pending LIMIT 1",
        )?;
        Ok(!statement.exists([])?)
    }

    /// Returns whether the service has shown something in a folder, or below it, that the remote tree doesn't have
    /// there: a change that waits for a person, or a node that can't be recorded or was left out.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn holds_unrecorded(&self, folder: NodeId) -> Result<bool, IndexError> {
        let mut statement = self.prepare(
            "WITH RECURSIVE above(node) AS ( \
             SELECT folder FROM left_out \
             UNION SELECT w.parent FROM unaccepted w LEFT JOIN remote r ON r.node = w.node AND r.parent = w.parent \
             WHERE r.node IS NULL \
             UNION SELECT parent FROM impossible \
             UNION SELECT r.parent FROM above a CROSS JOIN remote r ON r.node = a.node) \
             SELECT 1 FROM above WHERE node = ?1 LIMIT 1",
        )?;
        Ok(statement.exists([folder.as_bytes()])?)
    }
}

#[cfg(test)]
mod tests {
    use crate::error::IndexError;
    use crate::open::{Db, Index};
    use crate::remote::RemoteRow;
    use crate::testing::{name, node, older_index};
    use crate::unaccepted::UnacceptedRow;

    fn put(db: &Db<'_>, n: u8, parent: Option<u8>) -> Result<(), IndexError> {
        let name = name(&format!("n{n}"));
        db.put_remote(&[], &RemoteRow::folder(node(n), parent.map(node), name))?;
        Ok(())
    }

    fn wait(db: &Db<'_>, n: u8, parent: Option<u8>) -> Result<(), IndexError> {
        db.put_unaccepted(&UnacceptedRow {
            node: node(n),
            parent: parent.map(node),
            name: format!("n{n}"),
            deleted: Some(false),
        })
    }

    #[test]
    fn nodes_that_were_left_out_are_taken_once_their_folder_is_recorded() {
        Index::memory()
            .unwrap()
            .write(|db| {
                put(db, 1, None)?;
                db.put_left_out(node(2))?;
                db.put_left_out(node(3))?;
                assert!(!db.can_take_left_out()?, "neither is recorded");
                put(db, 2, Some(1))?;
                assert!(db.can_take_left_out()?);
                db.end_left_out()?;
                assert!(!db.can_take_left_out()?, "that was done");
                put(db, 3, Some(1))?;
                assert!(db.can_take_left_out()?, "the other one was still noted");
                db.clear_left_out()?;
                assert!(!db.can_take_left_out()?);
                Ok(())
            })
            .unwrap();
    }

    #[test]
    fn a_folder_holds_what_waits_or_was_left_out_anywhere_below_it() {
        Index::memory()
            .unwrap()
            .write(|db| {
                let holding = |db: &Db<'_>| -> Result<Vec<u8>, IndexError> {
                    let mut found = Vec::new();
                    for n in 1..=4 {
                        if db.holds_unrecorded(node(n))? {
                            found.push(n);
                        }
                    }
                    Ok(found)
                };
                put(db, 1, None)?;
                put(db, 2, Some(1))?;
                put(db, 3, Some(2))?;
                put(db, 4, None)?;
                wait(db, 3, Some(2))?;
                wait(db, 9, None)?;
                let none: [u8; 0] = [];
                assert_eq!(holding(db)?, none, "it is known there, or in no folder");
                wait(db, 3, Some(4))?;
                assert_eq!(holding(db)?, [4], "the service has it elsewhere");
                wait(db, 8, Some(2))?;
                assert_eq!(holding(db)?, [1, 2, 4], "it is not known at all");
                db.clear_unaccepted()?;
                db.put_left_out(node(3))?;
                db.put_left_out(node(7))?;
                assert_eq!(holding(db)?, [1, 2, 3]);
                db.clear_left_out()?;
                db.put_impossible(node(7), Some(node(2)))?;
                assert_eq!(holding(db)?, [1, 2]);
                db.put_impossible(node(7), Some(node(4)))?;
                assert_eq!(holding(db)?, [4], "it was moved");
                db.remove_impossible(node(7))?;
                assert_eq!(holding(db)?, none);
                Ok(())
            })
            .unwrap();
    }

    #[test]
    fn an_index_of_before_lists_everything_once_if_it_has_listed_anything() {
        for (rows, again) in [
            (
                "INSERT INTO meta (key, value) VALUES ('cursor', x'61')",
                true,
            ),
            ("", false),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("index.db");
            older_index(&path, "left_out", rows);
            let index = Index::open(&path).unwrap().index;
            let mark = index.read(|db| db.meta("list_again")).unwrap();
            assert_eq!(mark.is_some(), again);
        }
    }
}
