//! A pair's selection for this device (which subfolders it syncs), kept through moves: what a pattern leaves
//! out stays out whatever its parents are called, and a selected folder stays selected where it is moved to.

#[cfg(test)]
mod tests;

use crate::error::IndexError;
use crate::folders::FolderRow;
use crate::open::Db;
use crate::remote::RemoteRow;
use crate::sql_types::{first_row, node_at, parent_node_to};
use cairn_model::{FolderId, NodeId, RelPath};

/// An entry of a pair's `only`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chosen {
    /// The path on the service, now or soon.
    pub remote: RelPath,
    /// The path on this disk, if the node is here.
    pub local: Option<RelPath>,
}

impl Db<'_> {
    /// Records that a remote node is left out on this device as long as it stays in its folder
    /// under its name.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn exclude(&self, folder: FolderId, row: &RemoteRow) -> Result<(), IndexError> {
        self.prepare(
            "INSERT OR REPLACE INTO excluded (folder, node, parent, name) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute((
            folder.0,
            row.node.as_bytes(),
            parent_node_to(row.parent),
            row.name.as_str(),
        ))?;
        Ok(())
    }

    /// Returns whether a remote node was left out at its present place.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn is_excluded(&self, folder: FolderId, row: &RemoteRow) -> Result<bool, IndexError> {
        Ok(self.prepare(
                "SELECT 1 FROM excluded WHERE folder = ?1 AND node = ?2 AND parent = ?3 AND name = ?4",
            )?
            .exists((
                folder.0,
                row.node.as_bytes(),
                parent_node_to(row.parent),
                row.name.as_str(),
            ))?)
    }

    /// Forgets that a node was left out: it has moved and is wanted where it is now.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn include(&self, folder: FolderId, node: NodeId) -> Result<(), IndexError> {
        self.prepare("DELETE FROM excluded WHERE folder = ?1 AND node = ?2")?
            .execute((folder.0, node.as_bytes()))?;
        Ok(())
    }

    /// Drops the merge bases of a node and of everything below it, and marks them dirty: each side
    /// keeps what it has, as unlinked nodes.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn unlink_below(&self, folder: FolderId, node: NodeId) -> Result<(), IndexError> {
        self.forget_remote_below(folder, node)?;
        self.mark_node(folder, node)?;
        self.mark_remote_below(&[folder], node)
    }

    /// Forgets all that was derived from a pair's choice, because the choice is another one.
    pub(crate) fn forget_choice(&self, folder: FolderId) -> Result<(), IndexError> {
        for table in ["excluded", "chosen"] {
            self.prepare(&format!("DELETE FROM {table} WHERE folder = ?1"))?
                .execute([folder.0])?;
        }
        Ok(())
    }

    /// Returns the entries of a pair's `only`, each at the place where its folder is now. An entry stands for
    /// the folder that was first found under its path; the settings are rewritten when that has moved.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn follow_choice(&self, folder: FolderId) -> Result<Vec<Chosen>, IndexError> {
        let Some(row) = self.folder(folder)? else {
            return Ok(Vec::new());
        };
        let mut settings = row.settings.clone();
        let mut chosen = Vec::with_capacity(settings.only.len());
        let mut found = Vec::new();
        let mut changed = false;
        for entry in &mut settings.only {
            let before = entry.clone();
            let Ok(path) = RelPath::parse(entry.trim_matches('/')) else {
                continue;
            };
            let known = self.stands_for(folder, entry)?;
            let node = match known {
                Some(node) if self.remote_row(node)?.is_some() => Some(node),
                Some(_) | None => self.remote_at(&row, &path)?,
            };
            let (mut remote, mut local) = (path, None);
            if let Some(node) = node {
                // Out of the pair it has no path; it may come back.
                if let Some(now) = self.remote_path_in(&row, node)? {
                    remote = now;
                }
                if let Some(synced) = self.synced_row(folder, node)? {
                    local = self.local_path(synced.local)?;
                }
            }
            let text = remote.to_string();
            if text != entry.trim_matches('/') {
                *entry = text;
            }
            changed |= known != node || *entry != before;
            found.extend(node.map(|node| (entry.clone(), node)));
            chosen.push(Chosen { remote, local });
        }
        if changed {
            self.prepare("DELETE FROM chosen WHERE folder = ?1")?
                .execute([folder.0])?;
            for (path, node) in found {
                self.prepare(
                    "INSERT OR REPLACE INTO chosen (folder, path, node) VALUES (?1, ?2, ?3)",
                )?
                .execute((folder.0, path, node.as_bytes()))?;
            }
            if settings != row.settings {
                self.write_settings(folder, &settings)?;
            }
        }
        Ok(chosen)
    }

    fn stands_for(&self, folder: FolderId, entry: &str) -> Result<Option<NodeId>, IndexError> {
        let mut statement =
            self.prepare("SELECT node FROM chosen WHERE folder = ?1 AND path = ?2")?;
        first_row(&mut statement.query((folder.0, entry))?, |row| {
            node_at(row, 0)
        })
    }

    /// Returns the node at a path of a pair, found by the name key where no name is exactly the same. `None` for the
    /// root.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn remote_at(
        &self,
        folder: &FolderRow,
        path: &RelPath,
    ) -> Result<Option<NodeId>, IndexError> {
        let Some(mut at) = folder.remote_node else {
            return Ok(None);
        };
        for name in path.names() {
            let same = self.remote_children_by_key(at, name)?;
            let exact = same.iter().find(|row| row.name == *name);
            match exact.or_else(|| same.first()) {
                Some(row) => at = Some(row.node),
                None => return Ok(None),
            }
        }
        Ok(at.filter(|_| !path.is_root()))
    }
}
