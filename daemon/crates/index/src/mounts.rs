//! Directories on which another file system is mounted, and the device numbers of file systems.

use crate::below::BELOW_LOCAL;
use crate::error::IndexError;
use crate::open::Db;
use crate::sql_types::{bits_to, collect};
use cairn_model::{FolderId, LocalId};
use std::collections::BTreeSet;

impl Db<'_> {
    /// Records that another file system is mounted on a directory, or that none is.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn set_mount(&self, local: LocalId, mounted: bool) -> Result<(), IndexError> {
        let sql = if mounted {
            "INSERT OR IGNORE INTO mounts (local) VALUES (?1)"
        } else {
            "DELETE FROM mounts WHERE local = ?1"
        };
        self.prepare(sql)?.execute([local.0])?;
        Ok(())
    }

    /// Returns all directories, of all folders, on which another file system was mounted when they were last seen.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn mounts(&self) -> Result<BTreeSet<LocalId>, IndexError> {
        let mut statement = self.prepare_whole("SELECT local FROM mounts")?;
        let mounts = collect(&mut statement.query([])?, |row| Ok(LocalId(row.get(0)?)))?;
        Ok(mounts.into_iter().collect())
    }

    /// Returns whether another file system was mounted on a directory or anywhere below it.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn has_mount(&self, folder: FolderId, local: LocalId) -> Result<bool, IndexError> {
        if !self.prepare("SELECT 1 FROM mounts LIMIT 1")?.exists([])? {
            return Ok(false);
        }
        Ok(self
            .prepare(&format!(
                "{BELOW_LOCAL} SELECT 1 FROM below b CROSS JOIN mounts m ON m.local = b.id"
            ))?
            .exists((folder.0, local.0))?)
    }

    /// Records that the file system of a folder has another device number now: the files are the same.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn change_device(&self, folder: FolderId, from: u64, to: u64) -> Result<(), IndexError> {
        let values = (folder.0, bits_to(from), bits_to(to));
        self.prepare_whole("UPDATE local SET device = ?3 WHERE folder = ?1 AND device = ?2")?
            .execute(values)?;
        self.prepare("UPDATE folders SET root_device = ?3 WHERE id = ?1 AND root_device = ?2")?
            .execute(values)?;
        Ok(())
    }
}
