//! Revisions that this device has sent, until it is known whether the service has them: a response may be lost. The
//! statements here that forget what was sent of a node, a directory or a folder pair do so for places and executable
//! bits, too.

use crate::below::Below;
use crate::error::IndexError;
use crate::open::Db;
use crate::sql_types::{first_row, hash_from, id_from, node_at, node_from, to_signed, to_unsigned};
use cairn_model::{ContentHash, FolderId, LocalId, NodeId, RevisionId};
use rusqlite::Row;
use uuid::Uuid;

/// A revision that was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SentRow {
    pub revision: RevisionId,
    pub node: NodeId,
    pub folder: FolderId,
    /// The file that was read; it may have changed or gone since.
    pub local: LocalId,
    /// True if the revision was sent as that of a new node.
    pub creates: bool,
    pub hash: ContentHash,
    /// Bytes.
    pub size: u64,
    pub executable: bool,
}

/// The tables of what was sent.
const TABLES: [&str; 3] = ["sent", "sent_places", "sent_bits"];

const COLUMNS: &str = "revision, node, folder, local, creates, hash, size, executable";

fn read(row: &Row<'_>) -> Result<SentRow, IndexError> {
    let (revision, node): (Vec<u8>, Vec<u8>) = (row.get(0)?, row.get(1)?);
    Ok(SentRow {
        revision: RevisionId(Uuid::from_bytes(id_from(&revision)?)),
        node: node_from(&node)?,
        folder: FolderId(row.get(2)?),
        local: LocalId(row.get(3)?),
        creates: row.get(4)?,
        hash: hash_from(row.get(5)?)?.ok_or(IndexError::Corrupt("hash"))?,
        size: to_unsigned(row.get(6)?)?,
        executable: row.get(7)?,
    })
}

impl Db<'_> {
    /// Records a revision before it is sent.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn put_sent(&self, row: &SentRow) -> Result<(), IndexError> {
        self.prepare(&format!(
            "INSERT OR REPLACE INTO sent ({COLUMNS}) VALUES (?1,?2,?3,?4,?5,?6,?7,?8)"
        ))?
        .execute(rusqlite::params![
            row.revision.as_bytes(),
            row.node.as_bytes(),
            row.folder.0,
            row.local.0,
            row.creates,
            row.hash.0,
            to_signed(row.size),
            row.executable,
        ])?;
        Ok(())
    }

    /// Returns what was sent as a revision, if this device did.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn sent_row(&self, revision: RevisionId) -> Result<Option<SentRow>, IndexError> {
        let mut statement =
            self.prepare(&format!("SELECT {COLUMNS} FROM sent WHERE revision = ?1"))?;
        first_row(&mut statement.query([revision.as_bytes()])?, read)
    }

    /// Returns the node as which a file was sent, if it was sent as a new one and it is not known whether the
    /// service has it.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn sent_as_new(&self, local: LocalId) -> Result<Option<NodeId>, IndexError> {
        let mut statement =
            self.prepare("SELECT node FROM sent WHERE local = ?1 AND creates LIMIT 1")?;
        first_row(&mut statement.query([local.0])?, |row| node_at(row, 0))
    }

    /// Forgets a revision that the service has refused.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn end_sent_revision(&self, revision: RevisionId) -> Result<(), IndexError> {
        self.prepare("DELETE FROM sent WHERE revision = ?1")?
            .execute([revision.as_bytes()])?;
        Ok(())
    }

    /// Forgets what was sent of a file: the service has it, or something newer.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn end_sent(&self, local: LocalId) -> Result<(), IndexError> {
        self.prepare("DELETE FROM sent WHERE local = ?1")?
            .execute([local.0])?;
        Ok(())
    }

    /// Forgets what was sent of a file, or of everything below a directory. Call it before the rows are
    /// removed.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn forget_sent_below(&self, folder: FolderId, local: LocalId) -> Result<(), IndexError> {
        let Below { with, ids, .. } = self.below_local(folder, local)?;
        for table in TABLES {
            self.prepare(&format!("{with}DELETE FROM {table} WHERE local IN {ids}"))?
                .execute((folder.0, local.0))?;
        }
        Ok(())
    }

    /// Forgets all that was sent of a folder.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn forget_sent(&self, folder: FolderId) -> Result<(), IndexError> {
        for table in TABLES {
            self.prepare_whole(&format!("DELETE FROM {table} WHERE folder = ?1"))?
                .execute([folder.0])?;
        }
        Ok(())
    }

    /// Forgets what was sent of a node: it was deleted.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn end_sent_node(&self, node: NodeId) -> Result<(), IndexError> {
        for table in TABLES {
            self.prepare(&format!("DELETE FROM {table} WHERE node = ?1"))?
                .execute([node.as_bytes()])?;
        }
        Ok(())
    }

    /// Forgets all that was sent: the service has another history now.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn clear_sent(&self) -> Result<(), IndexError> {
        self.0
            .execute_batch("DELETE FROM sent; DELETE FROM sent_places; DELETE FROM sent_bits;")?;
        Ok(())
    }
}
