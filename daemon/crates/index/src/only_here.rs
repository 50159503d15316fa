//! Counts of files of which the service has not what this disk has.

use crate::error::IndexError;
use crate::open::Db;
use crate::sql_types::{first_row, to_unsigned};
use cairn_model::FolderId;

impl Db<'_> {
    /// Counts the files of a folder whose present content is not on the service, as far as the index knows: those that
    /// were never sent, were changed since, or whose node is gone there. Files that are left out by rules don't count.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn files_only_here(&self, folder: FolderId) -> Result<u64, IndexError> {
        // Kind 0 is a file; `held` as `Skipped::to_column` has it: ignored and special ones don't count.
        let mut statement = self.prepare_whole(
            "SELECT count(*) FROM local l LEFT JOIN synced s ON s.local = l.id \
             LEFT JOIN remote r ON r.node = s.node \
             WHERE l.folder = ?1 AND l.kind = 0 AND l.held NOT IN (1, 2) \
             AND (s.node IS NULL OR l.hash IS NOT s.hash OR r.node IS NULL)",
        )?;
        let counted = first_row(&mut statement.query([folder.0])?, |row| {
            to_unsigned(row.get(0)?)
        })?;
        Ok(counted.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{local, name, node};
    use crate::{FolderSettings, Index, LocalRow, RemoteRow, Skipped, SyncedRow};
    use cairn_model::{ContentHash, Kind};

    #[test]
    fn files_that_the_service_has_not_as_they_are_here_are_counted() {
        let index = Index::memory().unwrap();
        let counted = index.write(|db| {
            let folder = db.add_folder("/r", "/", &FolderSettings::default())?;
            let hash = Some(ContentHash([1; 32]));
            let sent = LocalRow {
                hash,
                ..local(folder, None, "sent")
            };
            let sent = LocalRow {
                id: db.insert_local(&sent)?,
                ..sent
            };
            db.put_remote(
                &[],
                &RemoteRow {
                    kind: Kind::File,
                    version: 1,
                    ..RemoteRow::folder(node(1), None, name("sent"))
                },
            )?;
            db.put_synced(&SyncedRow {
                folder,
                node: node(1),
                local: sent.id,
                name: name("sent"),
                parent: None,
                kind: Kind::File,
                hash,
                revision: None,
                size: 0,
                executable: false,
            })?;
            let ignored = LocalRow {
                skipped: Skipped::Ignored,
                ..local(folder, None, "ignored")
            };
            db.insert_local(&ignored)?;
            let mut counted = vec![db.files_only_here(folder)?];
            db.insert_local(&local(folder, None, "new"))?;
            counted.push(db.files_only_here(folder)?);
            let changed = LocalRow {
                hash: Some(ContentHash([2; 32])),
                ..sent.clone()
            };
            db.update_local(&changed)?;
            counted.push(db.files_only_here(folder)?);
            db.update_local(&sent)?;
            db.remove_remote(node(1))?;
            counted.push(db.files_only_here(folder)?);
            Ok(counted)
        });
        assert_eq!(counted.unwrap(), [0, 1, 2, 2]);
    }
}
