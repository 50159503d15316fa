//! Marks what is not equal on both sides, whatever was marked before.

use crate::below::{BELOW_LOCAL, BELOW_REMOTE};
use crate::error::IndexError;
use crate::folders::FolderRow;
use crate::open::Db;
use crate::sql_types::{collect, node_at, parent_node_from, parent_node_to};
use cairn_model::{FolderId, LocalId};

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

    /// Marks everything below a local directory whose three trees are not equal. While the directory took no part, plans
    /// could do nothing about it.
    pub(crate) fn mark_differing_below(
        &self,
        folder: FolderId,
        dir: LocalId,
    ) -> Result<(), IndexError> {
        self.prepare(&format!(
            "{BELOW_LOCAL} INSERT OR REPLACE INTO dirty_local (folder, local, changed) \
             SELECT ?1, l.id, s.node IS NOT NULL FROM below b CROSS JOIN local l ON l.id = b.id \
             LEFT JOIN synced s ON s.local = l.id LEFT JOIN synced p ON p.local = l.parent \
             LEFT JOIN remote r ON r.node = s.node \
             WHERE s.node IS NULL OR l.hash IS NOT s.hash OR l.name <> s.name \
             OR l.executable <> s.executable OR p.node IS NOT s.parent \
             OR r.revision IS NOT s.revision OR r.name IS NOT s.name OR r.parent IS NOT s.parent"
        ))?
        .execute((folder.0, dir.0))?;
        let Some(synced) = self.synced_by_local(dir)? else {
            return Ok(());
        };
        self.prepare(&format!(
            "{BELOW_REMOTE} INSERT OR REPLACE INTO dirty_node (folder, node, changed) \
             SELECT ?2, r.node, s.node IS NOT NULL FROM below b CROSS JOIN remote r ON r.node = b.node \
             LEFT JOIN synced s ON s.folder = ?2 AND s.node = r.node \
             WHERE s.node IS NULL OR r.revision IS NOT s.revision OR r.name <> s.name \
             OR r.parent <> s.parent OR r.executable <> s.executable \
             OR NOT EXISTS (SELECT 1 FROM local l WHERE l.id = s.local)"
        ))?
        .execute((synced.node.as_bytes(), folder.0))?;
        Ok(())
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
    use cairn_model::{ContentHash, Kind, RevisionId};

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

    /// The nodes of the directory `d` and of what is in it.
    const DIR: u8 = 10;
    const KEPT: u8 = 11;
    const CHANGED: u8 = 12;
    const NEW: u8 = 13;

    /// Adds the directory `d`, in sync with two files, then an own one, and a change and a new file on the service.
    /// Returns its row and that of the own file.
    fn add_dir(db: &Db<'_>, folder: FolderId) -> Result<(LocalRow, LocalId), IndexError> {
        let dir = LocalRow {
            kind: Kind::Folder,
            hash: None,
            ..local(folder, "d")
        };
        let dir = LocalRow {
            id: db.insert_local(&dir)?,
            ..dir
        };
        let inside = |text| LocalRow {
            parent: Some(dir.id),
            ..local(folder, text)
        };
        let below = |id, text| RemoteRow {
            parent: Some(node(DIR)),
            ..remote(id, text)
        };
        db.put_remote(&[], &RemoteRow::folder(node(DIR), Some(node(1)), name("d")))?;
        let top = SyncedRow {
            folder,
            node: node(DIR),
            local: dir.id,
            name: name("d"),
            parent: Some(node(1)),
            kind: Kind::Folder,
            hash: None,
            revision: None,
            size: 0,
            executable: false,
        };
        for (id, text) in [(KEPT, "kept"), (CHANGED, "changed")] {
            db.put_remote(&[], &below(id, text))?;
            db.put_synced(&SyncedRow {
                node: node(id),
                local: db.insert_local(&inside(text))?,
                name: name(text),
                parent: Some(node(DIR)),
                kind: Kind::File,
                hash: inside(text).hash,
                revision: revision(id),
                ..top.clone()
            })?;
        }
        db.put_synced(&top)?;
        let changed = RemoteRow {
            revision: revision(9),
            version: 2,
            ..below(CHANGED, "changed")
        };
        db.put_remote(&[], &changed)?;
        db.put_remote(&[], &below(NEW, "new"))?;
        let own = db.insert_local(&inside("own"))?;
        Ok((dir, own))
    }

    #[test]
    fn what_differs_below_a_directory_is_marked_when_it_takes_part_again() {
        for skipped in [
            Skipped::Ignored,
            Skipped::Special,
            Skipped::Name,
            Skipped::Unreadable,
            Skipped::Unmounted,
        ] {
            let (index, folder, _) = in_sync();
            let marked = index.write(|db| {
                let (dir, own) = add_dir(db, folder.id)?;
                let away = LocalRow {
                    skipped,
                    ..dir.clone()
                };
                db.update_local(&away)?;
                let plan = db.dirty_keys(folder.id)?;
                for id in plan.local {
                    db.clean_local(folder.id, id)?;
                }
                for id in plan.node {
                    db.clean_node(folder.id, id)?;
                }
                db.update_local(&away)?;
                let before = db.dirty_keys(folder.id)?;
                assert_eq!((before.local, before.node), (vec![dir.id], vec![]));
                db.update_local(&dir)?;
                let marked = db.dirty_keys(folder.id)?;
                assert!(marked.local.contains(&own), "{skipped:?}");
                Ok((marked.local.len(), marked.node))
            });
            // The changed file is marked on both sides.
            let nodes = [DIR, CHANGED, NEW].map(node).to_vec();
            assert_eq!(marked.unwrap(), (3, nodes), "{skipped:?}");
        }
    }
}
