//! Open conflicts: each is a conflict copy that is still on this disk.

use crate::error::IndexError;
use crate::local::LocalRow;
use crate::open::Db;
use crate::sql_types::{collect, first_row, id_from, node_from};
use cairn_model::{ConflictKind, FolderId, Kind, LocalId, Name, NodeId, RevisionId};
use uuid::Uuid;

/// An open conflict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConflictRow {
    pub folder: FolderId,
    /// The conflict copy.
    pub copy: LocalId,
    /// The node that kept the name, if it was one.
    pub node: Option<NodeId>,
    pub kind: ConflictKind,
    /// The device whose version kept the name, where it is known.
    pub device: String,
    /// Milliseconds since 1970-01-01 UTC; 0 where an older Cairn recorded the copy of a folder.
    pub at_ms: i64,
    /// The copy is known to have been made on this device. If not, it may have been all the same.
    pub made_here: bool,
    /// The revision of the node that both versions were made from, where it is known.
    pub base: Option<RevisionId>,
}

impl Db<'_> {
    /// Opens a conflict (or replaces the one of the same copy).
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn open_conflict(&self, row: &ConflictRow) -> Result<(), IndexError> {
        self.prepare(
                "INSERT OR REPLACE INTO conflicts (folder, copy, node, kind, device, at, made_here, base) \
                 VALUES (?1,?2,?3,?4,?5,?6,?7,?8)",
            )?
            .execute((
                row.folder.0,
                row.copy.0,
                row.node.as_ref().map(NodeId::as_bytes),
                row.kind.as_str(),
                &row.device,
                row.at_ms,
                row.made_here,
                row.base.as_ref().map(RevisionId::as_bytes),
            ))?;
        Ok(())
    }

    /// Opens the conflict of a local row that came to the name of a conflict copy, if it did: another device made it,
    /// or a person put it there. Devices know a copy by its name alone, and a person may resolve it on each.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn open_conflict_of_copy(&self, copy: LocalId, row: &LocalRow) -> Result<(), IndexError> {
        if !row.name.is_conflict_copy() {
            return Ok(());
        }
        self.open_conflict(&ConflictRow {
            folder: row.folder,
            copy,
            // Whichever node has the name when somebody asks.
            node: None,
            kind: ConflictKind::Edit,
            device: String::new(),
            at_ms: self.time_of_copy(row)?,
            made_here: false,
            base: None,
        })
    }

    /// Returns when a copy came to this disk. Of a folder no times are kept: it is recorded now.
    fn time_of_copy(&self, copy: &LocalRow) -> Result<i64, IndexError> {
        match copy.kind {
            Kind::File => Ok(copy.stat.ctime / 1_000_000),
            Kind::Folder => {
                let mut now = self.prepare("SELECT unixepoch() * 1000")?;
                Ok(now.query_row([], |row| row.get(0))?)
            }
        }
    }

    /// Returns whether a local row, which is known under another name, gets that of a conflict copy. One whose conflict
    /// is open, or was closed under such a name, does not open another one.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub(crate) fn becomes_conflict_copy(&self, row: &LocalRow) -> Result<bool, IndexError> {
        if !row.name.is_conflict_copy() {
            return Ok(false);
        }
        let mut statement = self.prepare(
            "SELECT name FROM local WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM conflicts c WHERE c.copy = ?1)",
        )?;
        let before: Option<String> =
            first_row(&mut statement.query([row.id.0])?, |row| Ok(row.get(0)?))?;
        // A row that makes room in the middle of a scan has a name that no file has.
        Ok(before.is_some_and(|name| !Name::new(name).is_ok_and(|name| name.is_conflict_copy())))
    }

    /// Returns the number of open conflicts of a folder. A copy that was renamed is none.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn conflict_count(&self, folder: FolderId) -> Result<u64, IndexError> {
        let mut statement = self.prepare(
            "SELECT l.name FROM conflicts c CROSS JOIN local l ON l.id = c.copy WHERE c.folder = ?1",
        )?;
        let names: Vec<String> = collect(&mut statement.query([folder.0])?, |row| Ok(row.get(0)?))?;
        let names = names.into_iter().map(Name::new);
        Ok(names.flatten().filter(Name::is_conflict_copy).count() as u64)
    }

    /// Closes the conflict of a copy.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn close_conflict(&self, copy: LocalId) -> Result<(), IndexError> {
        self.prepare("DELETE FROM conflicts WHERE copy = ?1")?
            .execute([copy.0])?;
        Ok(())
    }

    /// Returns all open conflicts, oldest first. (A copy that is removed closes its conflict.)
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn conflicts(&self) -> Result<Vec<ConflictRow>, IndexError> {
        let mut statement =
            self.prepare("SELECT folder, copy, node, kind, device, at, made_here, base FROM conflicts ORDER BY id")?;
        collect(&mut statement.query([])?, |row| {
            let node: Option<Vec<u8>> = row.get(2)?;
            let kind: String = row.get(3)?;
            let base: Option<Vec<u8>> = row.get(7)?;
            Ok(ConflictRow {
                folder: FolderId(row.get(0)?),
                copy: LocalId(row.get(1)?),
                node: node.map(|b| node_from(&b)).transpose()?,
                kind: kind
                    .parse()
                    .map_err(|_| IndexError::Corrupt("kind of a conflict"))?,
                device: row.get(4)?,
                at_ms: row.get(5)?,
                made_here: row.get(6)?,
                base: base
                    .map(|b| Ok::<_, IndexError>(RevisionId(Uuid::from_bytes(id_from(&b)?))))
                    .transpose()?,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folders::FolderSettings;
    use crate::open::Index;
    use crate::testing::local;
    use std::time::{SystemTime, UNIX_EPOCH};

    const COPY: &str = "f (conflicted copy a 2026-01-02 030405).txt";
    const OTHER_COPY: &str = "g (conflicted copy a 2026-01-02 030405).txt";

    struct World<'a> {
        db: &'a Db<'a>,
        folder: FolderId,
    }

    impl World<'_> {
        fn add(&self, text: &str) -> Result<LocalId, IndexError> {
            self.db.insert_local(&local(self.folder, None, text))
        }

        fn rename(&self, id: LocalId, to: &str) -> Result<(), IndexError> {
            self.db.update_local(&LocalRow {
                id,
                ..local(self.folder, None, to)
            })
        }

        /// Returns the copies of the open conflicts, each with whether it is known to be made here.
        fn open(&self) -> Result<Vec<(LocalId, bool)>, IndexError> {
            let rows = self.db.conflicts()?;
            let mut open = Vec::new();
            for row in rows {
                let local = self.db.local_row(row.copy)?;
                if local.is_some_and(|local| local.name.is_conflict_copy()) {
                    open.push((row.copy, row.made_here));
                }
            }
            assert_eq!(open.len() as u64, self.db.conflict_count(self.folder)?);
            Ok(open)
        }
    }

    fn with_world(test: impl Fn(&World<'_>) -> Result<(), IndexError>) {
        let index = Index::memory().unwrap();
        let result = index.write(|db| {
            let settings = FolderSettings::default();
            let folder = db.add_folder("/a", "/", &settings)?;
            test(&World { db, folder })
        });
        result.unwrap();
    }

    #[test]
    fn whatever_a_person_renames_to_the_name_of_a_copy_is_in_conflict() {
        with_world(|world| {
            let (file, copy) = (world.add("f.txt")?, world.add(COPY)?);
            assert_eq!(world.open()?, [(copy, false)]);
            // The two exchange their names, as a scan sees it.
            world.db.move_local_aside(copy)?;
            world.rename(file, COPY)?;
            world.rename(copy, "f.txt")?;
            assert_eq!(world.open()?, [(file, false)]);
            world.rename(file, "elsewhere")?;
            assert_eq!(world.open()?, []);
            Ok(())
        });
    }

    #[test]
    fn the_conflict_of_a_folders_copy_begins_when_it_is_recorded() {
        with_world(|world| {
            let begin = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            let folder = |text| LocalRow {
                kind: Kind::Folder,
                ..local(world.folder, None, text)
            };
            let new = world.db.insert_local(&folder(COPY))?;
            let renamed = world.db.insert_local(&folder("g"))?;
            world.db.update_local(&LocalRow {
                id: renamed,
                ..folder(OTHER_COPY)
            })?;
            let open = world.db.conflicts()?;
            assert_eq!(
                open.iter().map(|row| row.copy).collect::<Vec<_>>(),
                [new, renamed]
            );
            let end = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            let times = begin.as_secs() as i64..=end.as_secs() as i64;
            assert!(
                open.iter().all(|row| times.contains(&(row.at_ms / 1000))),
                "{open:?}"
            );
            Ok(())
        });
    }

    #[test]
    fn a_copy_with_another_name_of_a_copy_keeps_its_conflict_and_a_closed_one_stays_closed() {
        with_world(|world| {
            let copy = world.add(COPY)?;
            let mut row = world.db.conflicts()?.remove(0);
            row.made_here = true;
            world.db.open_conflict(&row)?;
            world.rename(copy, OTHER_COPY)?;
            world.db.move_local_aside(copy)?;
            world.rename(copy, COPY)?;
            assert_eq!(world.open()?, [(copy, true)]);
            world.db.close_conflict(copy)?;
            world.rename(copy, COPY)?;
            world.rename(copy, OTHER_COPY)?;
            assert_eq!(world.open()?, []);
            Ok(())
        });
    }
}
