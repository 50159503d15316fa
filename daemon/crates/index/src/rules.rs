//! Texts of the rules files, kept for the time in which a file itself can't be had.

use crate::error::IndexError;
use crate::open::Db;
use crate::sql_types::{first_row, id_from};
use cairn_model::{FolderId, RevisionId};
use uuid::Uuid;

/// The service's rules file while it is not synced here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SharedRules {
    pub revision: RevisionId,
    pub text: String,
}

impl Db<'_> {
    /// Returns the last text of the rules file that could be read on this disk.
    ///
    /// # Errors
    /// SQLite's.
    pub fn rules_text(&self, folder: FolderId) -> Result<Option<String>, IndexError> {
        let mut statement = self.prepare("SELECT text FROM rules WHERE folder = ?1")?;
        let text = first_row(&mut statement.query([folder.0])?, |row| Ok(row.get(0)?))?;
        Ok(text.flatten())
    }

    /// Records the text of the rules file on this disk.
    ///
    /// # Errors
    /// SQLite's.
    pub fn set_rules_text(&self, folder: FolderId, text: &str) -> Result<(), IndexError> {
        self.prepare(
            "INSERT INTO rules (folder, text) VALUES (?1, ?2) \
             ON CONFLICT (folder) DO UPDATE SET text = ?2",
        )?
        .execute((folder.0, text))?;
        Ok(())
    }

    /// Returns the service's rules that are not synced here.
    ///
    /// # Errors
    /// SQLite's.
    pub fn shared_rules(&self, folder: FolderId) -> Result<Option<SharedRules>, IndexError> {
        let mut statement = self.prepare(
            "SELECT shared_revision, shared_text FROM rules \
             WHERE folder = ?1 AND shared_revision IS NOT NULL",
        )?;
        first_row(&mut statement.query([folder.0])?, |row| {
            let revision: Vec<u8> = row.get(0)?;
            Ok(SharedRules {
                revision: RevisionId(Uuid::from_bytes(id_from(&revision)?)),
                text: row.get(1)?,
            })
        })
    }

    /// Records the service's rules, or that the file is synced here.
    ///
    /// # Errors
    /// SQLite's.
    pub fn set_shared_rules(
        &self,
        folder: FolderId,
        shared: Option<&SharedRules>,
    ) -> Result<(), IndexError> {
        let revision = shared.map(|shared| *shared.revision.as_bytes());
        let text = shared.map(|shared| shared.text.as_str());
        self.prepare(
            "INSERT INTO rules (folder, shared_revision, shared_text) VALUES (?1, ?2, ?3) \
             ON CONFLICT (folder) DO UPDATE SET shared_revision = ?2, shared_text = ?3",
        )?
        .execute((folder.0, revision, text))?;
        Ok(())
    }
}
