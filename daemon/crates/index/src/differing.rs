//! Marks what is not equal on both sides, whatever was marked before.

use crate::error::IndexError;
use crate::folders::FolderRow;
use crate::open::Db;
use crate::sql_types::{collect, node_at, parent_node_from, parent_node_to};

impl Db<'_> {
    /// Marks everything in a folder whose three trees are not equal: after a start, after a change of
    /// rules, and now and then, so that nothing that once waited is forgotten.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn mark_differing(&self, folder: &FolderRow) -> Result<(), IndexError> {
        let Some(base) = folder.remote_node else {
            return Ok(());
        };
        let base = parent_node_to(base);
        // Each tree in the order of its key, or of an index that has all columns: with a page of random ids after
        // the other, a large index would be read many times over.
        self.prepare_whole(
            "INSERT OR REPLACE INTO dirty_local (folder, local, changed) \
             SELECT l.folder, l.id, s.node IS NOT NULL FROM local l \
             LEFT JOIN synced s ON s.local = l.id LEFT JOIN synced p ON p.local = l.parent \
             WHERE l.folder = ?1 AND NOT (s.node IS NULL AND l.held = 2) \
             AND (s.node IS NULL OR l.hash IS NOT s.hash OR l.name <> s.name \
             OR l.executable <> s.executable \
             OR CASE l.parent WHEN 0 THEN ?2 ELSE p.node END IS NOT s.parent) ORDER BY l.id",
        )?
        .execute((folder.id.0, base))?;
        self.prepare_whole(
            "INSERT OR REPLACE INTO dirty_node (folder, node, changed) \
             SELECT s.folder, s.node, 1 FROM synced s \
             WHERE s.folder = ?1 AND NOT EXISTS (SELECT 1 FROM local l WHERE l.id = s.local)",
        )?
        .execute([folder.id.0])?;
        self.prepare_whole(
            "INSERT OR REPLACE INTO dirty_node (folder, node, changed) \
             SELECT s.folder, s.node, 1 FROM synced s LEFT JOIN remote r ON r.node = s.node \
             WHERE s.folder = ?1 AND (r.node IS NULL OR r.revision IS NOT s.revision \
             OR r.name <> s.name OR r.parent <> s.parent OR r.executable <> s.executable) \
             ORDER BY s.node, s.folder",
        )?
        .execute([folder.id.0])?;
        self.mark_unsynced_nodes(folder)
    }

    /// Marks the nodes of the service's folder that are not synced, those of one directory together.
    fn mark_unsynced_nodes(&self, folder: &FolderRow) -> Result<(), IndexError> {
        let mut statement = self.prepare_whole(
            "SELECT r.parent, r.node FROM remote r \
             WHERE NOT EXISTS (SELECT 1 FROM synced s WHERE s.folder = ?1 AND s.node = r.node) \
             ORDER BY r.node",
        )?;
        let mut unsynced = collect(&mut statement.query([folder.id.0])?, |row| {
            let parent: Vec<u8> = row.get(0)?;
            Ok((parent_node_from(&parent)?, node_at(row, 1)?))
        })?;
        unsynced.sort_unstable();
        let folders = std::slice::from_ref(folder);
        for siblings in unsynced.chunk_by(|(one, _), (next, _)| one == next) {
            let Some((parent, _)) = siblings.first() else {
                continue;
            };
            let is_inside = folder.remote_node == Some(None)
                || !self.pairs_containing(folders, *parent)?.is_empty();
            for (_, node) in siblings.iter().filter(|_| is_inside) {
                self.mark_node(folder.id, *node)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, name, node};
    use crate::{Dirty, FolderSettings, Index, LocalRow, LocalStat, RemoteRow, Skipped, SyncedRow};
    use cairn_model::{ContentHash, FolderId, Kind, LocalId, RevisionId};

    fn revision(id: u8) -> Option<RevisionId> {
        Some(RevisionId::from_random_bytes([id; 16]))
    }

    fn local(folder: FolderId, text: &str) -> LocalRow {
        LocalRow {
            hash: Some(ContentHash([1; 32])),
            ..testing::local(folder, None, text)
        }
    }

    fn remote(id: u8, text: &str) -> RemoteRow {
        RemoteRow {
            kind: Kind::File,
            revision: revision(id),
            version: 1,
            ..RemoteRow::folder(node(id), Some(node(1)), name(text))
        }
    }

    /// A pair of the service's folder 1, with the file `f` in sync as node 2, and nothing marked.
    fn in_sync() -> (Index, FolderRow, LocalRow) {
        let index = Index::memory().unwrap();
        let made = index.write(|db| {
            let id = db.add_folder("/home/x", "/x", &FolderSettings::default())?;
            db.attach_folder(id, Some(node(1)), LocalStat::default().identity())?;
            let row = local(id, "f");
            let row = LocalRow {
                id: db.insert_local(&row)?,
                ..row
            };
            db.put_remote(&[], &RemoteRow::folder(node(1), None, name("x")))?;
            db.put_remote(&[], &remote(2, "f"))?;
            db.put_synced(&SyncedRow {
                folder: id,
                node: node(2),
                local: row.id,
                name: name("f"),
                parent: Some(node(1)),
                kind: Kind::File,
                hash: row.hash,
                revision: revision(2),
                size: 0,
                executable: false,
            })?;
            Ok((db.folders()?.remove(0), row))
        });
        let (folder, row) = made.unwrap();
        (index, folder, row)
    }

    /// Returns what is marked after a change, without the marks of the change itself.
    fn marked(change: impl FnOnce(&Db<'_>, &LocalRow) -> Result<(), IndexError>) -> Dirty {
        let (index, folder, row) = in_sync();
        let marked = index.write(|db| {
            change(db, &row)?;
            let before = db.dirty_keys(folder.id)?;
            for id in before.local {
                db.clean_local(folder.id, id)?;
            }
            for id in before.node {
                db.clean_node(folder.id, id)?;
            }
            db.mark_differing(&folder)?;
            db.dirty_keys(folder.id)
        });
        marked.unwrap()
    }

    #[test]
    fn what_is_equal_is_not_marked() {
        assert_eq!(marked(|_, _| Ok(())), Dirty::default());
    }

    #[test]
    fn each_difference_of_a_local_file_marks_it() {
        type Change = fn(LocalRow) -> LocalRow;
        let changes: [Change; 4] = [
            |row| LocalRow { hash: None, ..row },
            |row| LocalRow {
                name: name("g"),
                ..row
            },
            |row| LocalRow {
                executable: true,
                ..row
            },
            |row| LocalRow {
                parent: Some(LocalId(99)),
                ..row
            },
        ];
        for change in changes {
            let dirty = marked(|db, row| db.update_local(&change(row.clone())));
            assert_eq!((dirty.local.len(), dirty.node.len()), (1, 0));
        }
        let dirty = marked(|db, row| db.remove_local(row.folder, row.id));
        assert_eq!(dirty.node, [node(2)], "gone");
        let dirty = marked(|db, row| db.insert_local(&local(row.folder, "new")).map(drop));
        assert_eq!(dirty.local.len(), 1, "new");
        let link = |folder| LocalRow {
            skipped: Skipped::Special,
            ..local(folder, "link")
        };
        let dirty = marked(|db, row| db.insert_local(&link(row.folder)).map(drop));
        assert_eq!(dirty, Dirty::default(), "a symbolic link");
    }

    #[test]
    fn each_difference_of_a_node_marks_it() {
        type Change = fn(RemoteRow) -> RemoteRow;
        let changes: [Change; 4] = [
            |row| RemoteRow {
                revision: revision(9),
                ..row
            },
            |row| RemoteRow {
                name: name("g"),
                ..row
            },
            |row| RemoteRow {
                executable: true,
                ..row
            },
            |row| RemoteRow {
                parent: None,
                ..row
            },
        ];
        for change in changes {
            let changed = change(remote(2, "f"));
            let changed = RemoteRow {
                version: 2,
                ..changed
            };
            let dirty = marked(|db, _| db.put_remote(&[], &changed).map(drop));
            assert_eq!((dirty.local.len(), dirty.node), (0, vec![node(2)]));
        }
        let dirty = marked(|db, _| db.remove_remote(node(2)).map(drop));
        assert_eq!(dirty.node, [node(2)], "gone");
    }

    #[test]
    fn new_nodes_are_marked_if_they_are_in_the_folder_of_the_pair() {
        let dirty = marked(|db, _| {
            let below = RemoteRow {
                parent: Some(node(3)),
                ..remote(4, "below")
            };
            let outside = RemoteRow {
                parent: None,
                ..remote(5, "outside")
            };
            let dir = RemoteRow::folder(node(3), Some(node(1)), name("dir"));
            for row in [dir, below, outside] {
                db.put_remote(&[], &row)?;
            }
            Ok(())
        });
        assert_eq!(dirty.node, [node(3), node(4)]);
    }
}
