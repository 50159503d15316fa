//! Folder pairs and what the user chose for each.

use crate::error::IndexError;
use crate::local::FileIdentity;
use crate::open::Db;
use crate::sql_types::{
    TOP, bits_from, bits_to, collect, first_row, parent_node_from, parent_node_to,
};
use cairn_model::{DeletionGate, FolderId, NodeId, SyncMode};
use rusqlite::Row;
use serde::{Deserialize, Serialize};

/// The user's settings of a folder.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FolderSettings {
    pub mode: SyncMode,
    /// Patterns (gitignore syntax) that this device leaves out, on top of `.cairnignore`.
    pub exclude: Vec<String>,
    /// If not empty: only these subfolders come to this device. The entries follow their folders.
    pub only: Vec<String>,
    /// The number of deletions from which a person is asked; `None`: never.
    pub gate: Option<DeletionGate>,
    pub paused: bool,
    /// Milliseconds since 1970-01-01 UTC; with `paused`: until then.
    pub paused_until: Option<i64>,
}

impl FolderSettings {
    /// Returns whether anything was selected or excluded.
    pub(crate) fn has_selection(&self) -> bool {
        !(self.exclude.is_empty() && self.only.is_empty())
    }
}

/// A pair of a local and a remote folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FolderRow {
    pub id: FolderId,
    /// Absolute path of the local folder.
    pub root: String,
    /// Path on the service, from the top of the space: `/` or `/a/b`.
    pub remote_path: String,
    /// `None`: not looked up yet. `Some(None)`: the top of the space.
    pub remote_node: Option<Option<NodeId>>,
    /// The file identity of the root directory when the pair was attached.
    pub root_file: Option<FileIdentity>,
    pub settings: FolderSettings,
}

const COLUMNS: &str =
    "id, root, remote_path, remote_node, root_device, root_inode, root_birth, settings";

fn read(row: &Row<'_>) -> Result<FolderRow, IndexError> {
    let node: Option<Vec<u8>> = row.get(3)?;
    let device: Option<i64> = row.get(4)?;
    let inode: Option<i64> = row.get(5)?;
    let birth = row.get(6)?;
    let settings: String = row.get(7)?;
    Ok(FolderRow {
        id: FolderId(row.get(0)?),
        root: row.get(1)?,
        remote_path: row.get(2)?,
        remote_node: node.map(|b| parent_node_from(&b)).transpose()?,
        root_file: device.zip(inode).map(|(device, inode)| FileIdentity {
            device: bits_from(device),
            inode: bits_from(inode),
            birth,
        }),
        settings: serde_json::from_str(&settings)
            .map_err(|_| IndexError::Corrupt("folder settings"))?,
    })
}

fn settings_text(settings: &FolderSettings) -> Result<String, IndexError> {
    serde_json::to_string(settings).map_err(|_| IndexError::Corrupt("folder settings"))
}

impl Db<'_> {
    /// Returns all folder pairs, oldest first.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn folders(&self) -> Result<Vec<FolderRow>, IndexError> {
        let mut statement = self.prepare(&format!("SELECT {COLUMNS} FROM folders ORDER BY id"))?;
        collect(&mut statement.query([])?, read)
    }

    /// Returns one folder pair.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn folder(&self, id: FolderId) -> Result<Option<FolderRow>, IndexError> {
        let mut statement =
            self.prepare(&format!("SELECT {COLUMNS} FROM folders WHERE id = ?1"))?;
        first_row(&mut statement.query([id.0])?, read)
    }

    /// Adds a folder pair; its remote node is looked up by the engine later.
    ///
    /// # Errors
    /// Returns the error of SQLite, also for a local root that is a pair already.
    pub fn add_folder(
        &self,
        root: &str,
        remote_path: &str,
        settings: &FolderSettings,
    ) -> Result<FolderId, IndexError> {
        self.prepare("INSERT INTO folders (root, remote_path, settings) VALUES (?1, ?2, ?3)")?
            .execute((root, remote_path, settings_text(settings)?))?;
        let id = self.0.last_insert_rowid();
        // By a trigger, SQLite would look for files of the folder before they can be there.
        self.prepare(
            "INSERT INTO counters (folder, files, bytes, unconfirmed) VALUES (?1, 0, 0, 0)",
        )?
        .execute([id])?;
        self.1.set(true);
        Ok(FolderId(id))
    }

    /// Records what the remote folder is, and which directory the root is.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn attach_folder(
        &self,
        id: FolderId,
        remote_node: Option<NodeId>,
        root_file: FileIdentity,
    ) -> Result<(), IndexError> {
        self.prepare(
            "UPDATE folders SET remote_node = ?2, root_device = ?3, root_inode = ?4, root_birth = ?5 \
             WHERE id = ?1",
        )?
        .execute((
            id.0,
            parent_node_to(remote_node),
            bits_to(root_file.device),
            bits_to(root_file.inode),
            root_file.birth,
        ))?;
        Ok(())
    }

    /// Records where the remote folder of a pair is now.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn move_remote_folder(&self, id: FolderId, remote_path: &str) -> Result<(), IndexError> {
        self.prepare("UPDATE folders SET remote_path = ?2 WHERE id = ?1")?
            .execute((id.0, remote_path))?;
        self.1.set(true);
        Ok(())
    }

    /// Replaces a folder's settings. Another choice is judged anew.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn set_folder_settings(
        &self,
        id: FolderId,
        settings: &FolderSettings,
    ) -> Result<(), IndexError> {
        let before = self.folder(id)?.map(|row| row.settings);
        if before.is_some_and(|b| b.exclude != settings.exclude || b.only != settings.only) {
            self.forget_choice(id)?;
        }
        self.write_settings(id, settings)
    }

    pub(crate) fn write_settings(
        &self,
        id: FolderId,
        settings: &FolderSettings,
    ) -> Result<(), IndexError> {
        self.prepare("UPDATE folders SET settings = ?2 WHERE id = ?1")?
            .execute((id.0, settings_text(settings)?))?;
        self.1.set(true);
        Ok(())
    }

    /// Forgets a folder pair with all that is known of it. Files stay on both sides.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn remove_folder(&self, id: FolderId) -> Result<(), IndexError> {
        self.prepare("DELETE FROM folders WHERE id = ?1")?
            .execute([id.0])?;
        self.1.set(true);
        Ok(())
    }

    /// Returns whether the remote folder of one of two pairs is that of the other, or lies in it.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn overlap(&self, one: &FolderRow, other: &FolderRow) -> Result<bool, IndexError> {
        Ok(self.is_within(one, other)? || self.is_within(other, one)?)
    }

    fn is_within(&self, inner: &FolderRow, outer: &FolderRow) -> Result<bool, IndexError> {
        let Some(base) = inner.remote_node else {
            return Ok(false);
        };
        let containing = self.pairs_containing(std::slice::from_ref(outer), base)?;
        Ok(!containing.is_empty())
    }

    /// Returns the pairs that a remote node belongs to, going up its parents.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub(crate) fn pairs_containing(
        &self,
        folders: &[FolderRow],
        parent: Option<NodeId>,
    ) -> Result<Vec<FolderId>, IndexError> {
        let mut out = Vec::new();
        let mut at = parent.map_or(TOP, |id| *id.as_bytes());
        let mut statement = self.prepare("SELECT parent FROM remote WHERE node = ?1")?;
        // A ring can't be recorded (see `remote`); the bound is for a damaged index.
        for _ in 0..10_000 {
            let here = parent_node_from(&at)?;
            out.extend(
                folders
                    .iter()
                    .filter(|f| f.remote_node == Some(here))
                    .map(|f| f.id),
            );
            if at == TOP {
                return Ok(out);
            }
            let up: Option<Vec<u8>> =
                first_row(&mut statement.query([at])?, |row| Ok(row.get(0)?))?;
            match up {
                Some(bytes) => at = crate::sql_types::id_from(&bytes)?,
                None => return Ok(out),
            }
        }
        Err(IndexError::Corrupt("parents that form a cycle"))
    }
}
