//! The texts of the ignore rules files, kept for times when the file itself can't be read.

use crate::error::IndexError;
use crate::open::Db;
use crate::remote::{COLUMNS, RemoteRow, read};
use crate::sql_types::{collect, first_row, id_from, node_from};
use cairn_model::{FolderId, NodeId, RelPath, RevisionId};
use std::collections::BTreeMap;
use uuid::Uuid;

/// A rules file of the service while it is not synced here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SharedRules {
    pub node: NodeId,
    pub revision: RevisionId,
    pub text: String,
}

impl Db<'_> {
    /// Returns the last texts of the rules files that could be read on this disk, by their directories.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn rules_texts(&self, folder: FolderId) -> Result<BTreeMap<RelPath, String>, IndexError> {
        let mut statement = self.prepare("SELECT dir, text FROM rules_texts WHERE folder = ?1")?;
        let texts = collect(&mut statement.query([folder.0])?, |row| {
            let dir: String = row.get(0)?;
            let dir = RelPath::parse(&dir).map_err(|_| IndexError::Corrupt("rules"))?;
            Ok((dir, row.get(1)?))
        })?;
        Ok(texts.into_iter().collect())
    }

    /// Returns whether rules files count, or have counted, anywhere in a folder.
    pub(crate) fn has_rules(&self, folder: FolderId) -> Result<bool, IndexError> {
        let mut statement = self.prepare(
            "SELECT EXISTS (SELECT 1 FROM rules_texts WHERE folder = ?1) \
             OR EXISTS (SELECT 1 FROM shared_rules WHERE folder = ?1)",
        )?;
        let found = first_row(&mut statement.query([folder.0])?, |row| Ok(row.get(0)?))?;
        Ok(found.unwrap_or_default())
    }

    /// Returns the last text of the rules file in one directory.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn rules_text(
        &self,
        folder: FolderId,
        dir: &RelPath,
    ) -> Result<Option<String>, IndexError> {
        let mut statement =
            self.prepare("SELECT text FROM rules_texts WHERE folder = ?1 AND dir = ?2")?;
        let values = (folder.0, dir.to_string());
        first_row(&mut statement.query(values)?, |row| Ok(row.get(0)?))
    }

    /// Records the text of the rules file in a directory on this disk.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn set_rules_text(
        &self,
        folder: FolderId,
        dir: &RelPath,
        text: &str,
    ) -> Result<(), IndexError> {
        self.prepare(
            "INSERT INTO rules_texts (folder, dir, text) VALUES (?1, ?2, ?3) \
             ON CONFLICT (folder, dir) DO UPDATE SET text = ?3",
        )?
        .execute((folder.0, dir.to_string(), text))?;
        Ok(())
    }

    /// Forgets the text of the rules file in a directory: there is none any more.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn remove_rules_text(&self, folder: FolderId, dir: &RelPath) -> Result<(), IndexError> {
        self.prepare("DELETE FROM rules_texts WHERE folder = ?1 AND dir = ?2")?
            .execute((folder.0, dir.to_string()))?;
        Ok(())
    }

    /// Returns the service's rules that are not synced here.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn shared_rules(&self, folder: FolderId) -> Result<Vec<SharedRules>, IndexError> {
        let mut statement =
            self.prepare("SELECT node, revision, text FROM shared_rules WHERE folder = ?1")?;
        collect(&mut statement.query([folder.0])?, |row| {
            let node: Vec<u8> = row.get(0)?;
            let revision: Vec<u8> = row.get(1)?;
            Ok(SharedRules {
                node: node_from(&node)?,
                revision: RevisionId(Uuid::from_bytes(id_from(&revision)?)),
                text: row.get(2)?,
            })
        })
    }

    /// Records the text of a rules file of the service that is not synced here.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn put_shared_rules(
        &self,
        folder: FolderId,
        rules: &SharedRules,
    ) -> Result<(), IndexError> {
        self.prepare(
            "INSERT INTO shared_rules (folder, node, revision, text) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT (folder, node) DO UPDATE SET revision = ?3, text = ?4",
        )?
        .execute((
            folder.0,
            rules.node.as_bytes(),
            rules.revision.as_bytes(),
            &rules.text,
        ))?;
        Ok(())
    }

    /// Forgets the text of a rules file of the service: it is synced here, or gone.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn remove_shared_rules(&self, folder: FolderId, node: NodeId) -> Result<(), IndexError> {
        self.prepare("DELETE FROM shared_rules WHERE folder = ?1 AND node = ?2")?
            .execute((folder.0, node.as_bytes()))?;
        Ok(())
    }

    /// Returns the rules files of the whole space that are not synced in a folder pair as the service has them.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn unsynced_rules(&self, folder: FolderId) -> Result<Vec<RemoteRow>, IndexError> {
        // The name as text, because SQLite takes the partial index for no parameter.
        let mut statement = self.prepare(&format!(
            "SELECT {COLUMNS} FROM remote INDEXED BY remote_rules \
             WHERE name = '.cairnignore' AND kind = 0 AND revision IS NOT NULL AND NOT EXISTS \
             (SELECT 1 FROM synced s WHERE s.node = remote.node AND s.folder = ?1 \
             AND s.revision = remote.revision)"
        ))?;
        collect(&mut statement.query([folder.0])?, read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FolderSettings, Index, SyncedRow};
    use cairn_model::{Kind, LocalId, Name};

    fn id(n: u8) -> NodeId {
        NodeId(Uuid::from_bytes([n; 16]))
    }

    fn rules_file(n: u8, name: &str) -> RemoteRow {
        let name = Name::new(name.to_owned()).unwrap();
        RemoteRow {
            kind: Kind::File,
            revision: Some(RevisionId::from_random_bytes([n; 16])),
            ..RemoteRow::folder(id(n), None, name)
        }
    }

    #[test]
    fn the_texts_of_each_directory_are_kept_apart() {
        let index = Index::memory().unwrap();
        let db = |db: &Db<'_>| {
            let folder = db.add_folder("/r", "/", &FolderSettings::default())?;
            let (top, sub) = (RelPath::root(), RelPath::parse("a/b").unwrap());
            db.set_rules_text(folder, &top, "*.log")?;
            db.set_rules_text(folder, &sub, "*.tmp")?;
            db.set_rules_text(folder, &sub, "*.key")?;
            let texts = db.rules_texts(folder)?;
            assert_eq!(texts.len(), 2);
            assert_eq!(texts[&sub], "*.key");
            db.remove_rules_text(folder, &top)?;
            assert_eq!(db.rules_text(folder, &top)?, None);
            assert_eq!(db.rules_text(folder, &sub)?.as_deref(), Some("*.key"));
            db.remove_folder(folder)?;
            assert!(db.rules_texts(folder)?.is_empty());
            Ok(())
        };
        index.write(db).unwrap();
    }

    #[test]
    fn rules_files_count_as_unsynced_until_their_revision_is_here() {
        let index = Index::memory().unwrap();
        let db = |db: &Db<'_>| {
            let folder = db.add_folder("/r", "/", &FolderSettings::default())?;
            let row = rules_file(1, ".cairnignore");
            db.put_remote(&[], &row)?;
            db.put_remote(&[], &rules_file(2, "other"))?;
            assert_eq!(db.unsynced_rules(folder)?, std::slice::from_ref(&row));
            db.put_synced(&SyncedRow {
                folder,
                node: row.node,
                local: LocalId(1),
                parent: None,
                name: row.name.clone(),
                kind: Kind::File,
                revision: row.revision,
                hash: None,
                size: 0,
                executable: false,
            })?;
            assert_eq!(db.unsynced_rules(folder)?, []);
            Ok(())
        };
        index.write(db).unwrap();
    }
}
