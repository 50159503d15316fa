//! Open conflicts: each is a conflict copy that is still on this disk.

use crate::error::IndexError;
use crate::local::LocalRow;
use crate::open::Db;
use crate::sql_types::{collect, id_from, node_from};
use cairn_model::{ConflictKind, FolderId, LocalId, Name, NodeId, RevisionId};
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
    /// Milliseconds since 1970-01-01 UTC.
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

    /// Opens the conflict of a local row that came to the name of a conflict copy, if it did: another device made
    /// it, and a person may resolve it here as well.
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
            // When the copy came to this disk.
            at_ms: row.stat.ctime / 1_000_000,
            made_here: false,
            base: None,
        })
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
