//! The local tree: the files and directories that the last scans found.

use crate::below::Below;
use crate::error::IndexError;
use crate::open::Db;
use crate::sql_types::{
    bits_from, bits_to, collect, first_row, hash_from, kind_from, kind_to, name_from,
    parent_local_from, parent_local_to, to_signed, to_unsigned,
};
use cairn_model::{ContentHash, FolderId, Kind, LocalId, Name, RelPath};
use rusqlite::{Row, Statement};

/// The part of a file's stat that tells whether it may have changed, and its identity.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LocalStat {
    /// Bytes; 0 for a directory.
    pub size: u64,
    /// Nanoseconds since 1970-01-01 UTC; 0 for a directory, whose times are not used.
    pub mtime: i64,
    pub ctime: i64,
    pub device: u64,
    pub inode: u64,
    /// Birth time in nanoseconds: file ids are used again, a file id with a birth time is not.
    pub birth: Option<i64>,
}

impl LocalStat {
    /// Returns the numbers by which its file system tells it from others.
    #[must_use]
    pub fn identity(&self) -> FileIdentity {
        FileIdentity {
            device: self.device,
            inode: self.inode,
            birth: self.birth,
        }
    }

    /// Returns whether both have one identity, whatever became of the content. [`FileIdentity::is_proof`]
    /// says whether they are the same file then.
    #[must_use]
    pub fn same_file(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }

    /// Returns whether its disk keeps times in steps of 10 ms or more: two changes may have one time.
    #[must_use]
    pub fn has_coarse_time(&self) -> bool {
        self.ctime % COARSE_STEP == 0
    }
}

/// The steps of the birth times of FAT, and the finest of the disks that don't keep nanoseconds.
const COARSE_STEP: i64 = 10_000_000;

/// The numbers by which a file system tells files apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileIdentity {
    pub device: u64,
    pub inode: u64,
    /// Nanoseconds since 1970-01-01 UTC.
    pub birth: Option<i64>,
}

impl FileIdentity {
    /// Returns whether two files that have this identity are one. Without a fine birth time they may not
    /// be: inodes are used again, and FAT and many network file systems number files anew at each mount.
    #[must_use]
    pub fn is_proof(&self) -> bool {
        self.birth
            .is_some_and(|birth| birth != 0 && birth % COARSE_STEP != 0)
    }
}

/// The reason why a local file stays as it is and is not synced.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Skipped {
    #[default]
    No,
    /// Left out by `.cairnignore`, the built-in rules or the folder's exclude list.
    Ignored,
    /// A symlink, socket or device stands there now.
    Special,
    /// The name equals another's on the service, or can't be held there.
    Name,
    /// A file that can't be read.
    Unreadable,
    /// The file system that was mounted there is gone, or another one hides it.
    Unmounted,
    /// A directory that was found, and that no scan has looked into yet.
    Unscanned,
}

impl Skipped {
    fn to_column(self) -> i64 {
        match self {
            Self::No => 0,
            Self::Ignored => 1,
            Self::Special => 2,
            Self::Name => 3,
            Self::Unreadable => 4,
            Self::Unmounted => 5,
            Self::Unscanned => 6,
        }
    }

    fn from_column(value: i64) -> Result<Self, IndexError> {
        [
            Self::No,
            Self::Ignored,
            Self::Special,
            Self::Name,
            Self::Unreadable,
            Self::Unmounted,
            Self::Unscanned,
        ]
        .into_iter()
        .find(|skipped| skipped.to_column() == value)
        .ok_or(IndexError::Corrupt("held"))
    }
}

/// A local file or directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalRow {
    pub id: LocalId,
    pub folder: FolderId,
    pub parent: Option<LocalId>,
    pub name: Name,
    pub kind: Kind,
    pub stat: LocalStat,
    pub executable: bool,
    /// The hash of the bytes that `stat` describes; `None` where those were not read.
    pub hash: Option<ContentHash>,
    pub skipped: Skipped,
}

const COLUMNS: &str = "id, folder, parent, name, kind, size, mtime, ctime, device, inode, birth, executable, hash, held";

pub(crate) fn read(row: &Row<'_>) -> Result<LocalRow, IndexError> {
    Ok(LocalRow {
        id: LocalId(row.get(0)?),
        folder: FolderId(row.get(1)?),
        parent: parent_local_from(row.get(2)?),
        name: name_from(row.get(3)?)?,
        kind: kind_from(row.get(4)?)?,
        stat: LocalStat {
            size: to_unsigned(row.get(5)?)?,
            mtime: row.get(6)?,
            ctime: row.get(7)?,
            device: bits_from(row.get(8)?),
            inode: bits_from(row.get(9)?),
            birth: row.get(10)?,
        },
        executable: row.get(11)?,
        hash: hash_from(row.get(12)?)?,
        skipped: Skipped::from_column(row.get(13)?)?,
    })
}

impl Db<'_> {
    /// Returns one local row.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn local_row(&self, id: LocalId) -> Result<Option<LocalRow>, IndexError> {
        let mut statement = self.prepare(&format!("SELECT {COLUMNS} FROM local WHERE id = ?1"))?;
        first_row(&mut statement.query([id.0])?, read)
    }

    /// Returns the children of a directory (`None`: of the root), by name.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn children(
        &self,
        folder: FolderId,
        parent: Option<LocalId>,
    ) -> Result<Vec<LocalRow>, IndexError> {
        let mut statement = self.prepare(&format!(
            "SELECT {COLUMNS} FROM local WHERE folder = ?1 AND parent = ?2 ORDER BY name"
        ))?;
        collect(
            &mut statement.query((folder.0, parent_local_to(parent)))?,
            read,
        )
    }

    /// Returns the child of that name.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn child(
        &self,
        folder: FolderId,
        parent: Option<LocalId>,
        name: &Name,
    ) -> Result<Option<LocalRow>, IndexError> {
        let mut statement = self.prepare(&format!(
            "SELECT {COLUMNS} FROM local WHERE folder = ?1 AND parent = ?2 AND name = ?3"
        ))?;
        first_row(
            &mut statement.query((folder.0, parent_local_to(parent), name.as_str()))?,
            read,
        )
    }

    /// Returns the children whose names compare equal (more than one only where the disk allows it), by id: by name, SQLite
    /// would read all children.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn children_by_key(
        &self,
        folder: FolderId,
        parent: Option<LocalId>,
        name: &Name,
    ) -> Result<Vec<LocalRow>, IndexError> {
        let mut statement = self.prepare(&format!(
            "SELECT {COLUMNS} FROM local WHERE folder = ?1 AND parent = ?2 AND key = ?3 ORDER BY id"
        ))?;
        collect(
            &mut statement.query((folder.0, parent_local_to(parent), name.key().as_str()))?,
            read,
        )
    }

    /// Returns the rows that were seen as this very file (more than one for hard links).
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn locals_by_file(
        &self,
        folder: FolderId,
        stat: &LocalStat,
    ) -> Result<Vec<LocalRow>, IndexError> {
        let mut statement = self.prepare(&format!(
            "SELECT {COLUMNS} FROM local WHERE folder = ?1 AND inode = ?2 AND device = ?3 AND birth IS ?4 ORDER BY id"
        ))?;
        let values = (
            folder.0,
            bits_to(stat.inode),
            bits_to(stat.device),
            stat.birth,
        );
        collect(&mut statement.query(values)?, read)
    }

    /// Returns the path of a row from the folder's root; `None` if it (or a parent) is not in the index.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn local_path(&self, id: LocalId) -> Result<Option<RelPath>, IndexError> {
        let mut names = Vec::new();
        let mut at = id.0;
        let mut statement = self.prepare("SELECT parent, name FROM local WHERE id = ?1")?;
        while at != 0 {
            let up = first_row(&mut statement.query([at])?, |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
            let Some((parent, name)): Option<(i64, String)> = up else {
                return Ok(None);
            };
            names.push(name_from(name)?);
            if names.len() > 10_000 {
                return Err(IndexError::Corrupt("local parents that form a cycle"));
            }
            at = parent;
        }
        names.reverse();
        Ok(Some(names.into_iter().collect()))
    }

    /// Returns the row at a path; `Ok(None)` if nothing is known there.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn local_at(
        &self,
        folder: FolderId,
        path: &RelPath,
    ) -> Result<Option<LocalRow>, IndexError> {
        let mut found: Option<LocalRow> = None;
        for name in path.names() {
            let parent = found.as_ref().map(|row| row.id);
            found = self.child(folder, parent, name)?;
            if found.is_none() {
                return Ok(None);
            }
        }
        Ok(found)
    }

    /// Adds a row; `row.id` is ignored, the new id is returned. It becomes dirty.
    ///
    /// # Errors
    /// Returns the error of SQLite, also for a name that the directory has already.
    pub fn insert_local(&self, row: &LocalRow) -> Result<LocalId, IndexError> {
        let mut insert = self.prepare(
                "INSERT INTO local (folder, parent, name, key, kind, size, mtime, ctime, device, inode, birth, \
                 executable, hash, held) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14)",
            )?;
        execute(&mut insert, row.folder.0, row)?;
        let id = LocalId(self.0.last_insert_rowid());
        self.mark_local(row.folder, id)?;
        self.open_conflict_of_copy(id, row)?;
        Ok(id)
    }

    /// Replaces everything but id and folder of a row. It becomes dirty, and so does what it has kept from this disk until
    /// now by its name, because nobody had looked into it, or because the directory took no part.
    ///
    /// # Errors
    /// Returns the error of SQLite, also for a name that the directory has already.
    pub fn update_local(&self, row: &LocalRow) -> Result<(), IndexError> {
        if self.unblocks_nodes(row)? {
            self.mark_blocked_by(row.id)?;
        }
        let mut update = self.prepare(
                "UPDATE local SET parent=?2, name=?3, key=?4, kind=?5, size=?6, mtime=?7, ctime=?8, device=?9, \
                 inode=?10, birth=?11, executable=?12, hash=?13, held=?14 WHERE id=?1",
            )?;
        let opens_conflict = self.becomes_conflict_copy(row)?;
        let takes_part_again = self.takes_part_again(row)?;
        execute(&mut update, row.id.0, row)?;
        if takes_part_again {
            self.mark_differing_below(row.folder, row.id)?;
        }
        if opens_conflict {
            self.open_conflict_of_copy(row.id, row)?;
        }
        self.mark_local(row.folder, row.id)
    }

    /// Returns whether a row is known under another name than the one that it gets, or as one that takes no part.
    fn unblocks_nodes(&self, row: &LocalRow) -> Result<bool, IndexError> {
        let mut statement = self.prepare(
            "SELECT 1 FROM local WHERE id = ?1 AND (parent <> ?2 OR key <> ?3 OR held <> 0 AND ?4 = 0)",
        )?;
        let (parent, key) = (parent_local_to(row.parent), row.name.key());
        let skipped = row.skipped.to_column();
        Ok(statement.exists((row.id.0, parent, key.as_str(), skipped))?)
    }

    /// Returns whether a row is a directory that was skipped until now, other than for not having been looked into.
    fn takes_part_again(&self, row: &LocalRow) -> Result<bool, IndexError> {
        if row.kind != Kind::Folder || row.skipped != Skipped::No {
            return Ok(false);
        }
        let columns = [Skipped::No, Skipped::Unscanned].map(Skipped::to_column);
        let mut statement =
            self.prepare("SELECT 1 FROM local WHERE id = ?1 AND held <> ?2 AND held <> ?3")?;
        Ok(statement.exists((row.id.0, columns[0], columns[1]))?)
    }

    /// Records the hash of the bytes that `stat` describes; nothing happens if the row has changed since. Returns
    /// whether it was recorded.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn set_local_hash(
        &self,
        id: LocalId,
        stat: &LocalStat,
        hash: ContentHash,
    ) -> Result<bool, IndexError> {
        let changed = self.prepare(
                "UPDATE local SET hash = ?2 WHERE id = ?1 AND size = ?3 AND mtime = ?4 AND ctime = ?5 AND inode = ?6",
            )?
            .execute((id.0, hash.0, to_signed(stat.size), stat.mtime, stat.ctime, bits_to(stat.inode)))?;
        Ok(changed == 1)
    }

    /// Moves a row out of the way under a name that no file has, so that rows can exchange names within one
    /// transaction. The caller renames or removes such a row before the commit.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn move_local_aside(&self, id: LocalId) -> Result<(), IndexError> {
        self.mark_blocked_by(id)?;
        self.prepare("UPDATE local SET name = char(1) || 'parked-' || id, key = char(1) || 'parked-' || id WHERE id = ?1")?
            .execute([id.0])?;
        Ok(())
    }

    /// Removes a row with everything below it; what was synced there becomes dirty, and so does what had no place
    /// because of it.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn remove_local(&self, folder: FolderId, id: LocalId) -> Result<(), IndexError> {
        self.mark_synced_below(folder, id)?;
        self.mark_blocked_by(id)?;
        let Below { with, ids, .. } = self.below_local(folder, id)?;
        for (table, column) in [
            ("dirty_local", "local"),
            ("journal", "local"),
            ("conflicts", "copy"),
            ("mounts", "local"),
            ("local", "id"),
        ] {
            // By id alone: with the folder in the condition SQLite goes through all its rows.
            let own = match table {
                "dirty_local" => "folder = ?1 AND ",
                _ => "",
            };
            self.prepare(&format!(
                "{with}DELETE FROM {table} WHERE {own}{column} IN {ids}"
            ))?
            .execute((folder.0, id.0))?;
        }
        Ok(())
    }

    /// Removes a row with everything below it, and forgets that any of it was synced or sent: it was not
    /// deleted, and what the service has of it is new here.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn forget_local(&self, folder: FolderId, id: LocalId) -> Result<(), IndexError> {
        self.mark_synced_below(folder, id)?;
        // Were the arrival of a revision heard of later, it would be paired with a file that is not there, and
        // count as deleted here.
        self.forget_sent_below(folder, id)?;
        self.forget_local_below(folder, id)?;
        self.remove_local(folder, id)
    }

    /// Returns the parts of a statement about a row, whose parameters begin with its folder and its id.
    pub(crate) fn below_local(&self, folder: FolderId, id: LocalId) -> Result<Below, IndexError> {
        let has_children = self
            .prepare("SELECT 1 FROM local WHERE folder = ?1 AND parent = ?2 LIMIT 1")?
            .exists((folder.0, id.0))?;
        Ok(match has_children {
            true => Below::LOCAL,
            false => Below::LOCAL_ALONE,
        })
    }

    fn mark_synced_below(&self, folder: FolderId, id: LocalId) -> Result<(), IndexError> {
        let below = self.below_local(folder, id)?;
        let (with, rows) = (below.with, below.rows_of("synced", "local"));
        self.prepare(&format!(
            "{with}INSERT OR REPLACE INTO dirty_node (folder, node, changed) \
             SELECT s.folder, s.node, 1 FROM {rows}"
        ))?
        .execute((folder.0, id.0))?;
        Ok(())
    }

    /// Returns all rows of a folder.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn all_locals(&self, folder: FolderId) -> Result<Vec<LocalRow>, IndexError> {
        let mut statement =
            self.prepare_whole(&format!("SELECT {COLUMNS} FROM local WHERE folder = ?1"))?;
        collect(&mut statement.query([folder.0])?, read)
    }
}

/// Carries out a statement whose first parameter is an id and whose further ones are the columns from
/// `parent` to `held`.
fn execute(statement: &mut Statement<'_>, id: i64, row: &LocalRow) -> rusqlite::Result<usize> {
    statement.execute(rusqlite::params![
        id,
        parent_local_to(row.parent),
        row.name.as_str(),
        row.name.key().as_str(),
        kind_to(row.kind),
        to_signed(row.stat.size),
        row.stat.mtime,
        row.stat.ctime,
        bits_to(row.stat.device),
        bits_to(row.stat.inode),
        row.stat.birth,
        row.executable,
        row.hash.map(|h| h.0),
        row.skipped.to_column(),
    ])
}
