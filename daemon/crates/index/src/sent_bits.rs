//! Executable bits that this device has sent without content, until it is known whether the service has them: a
//! response may be lost.

use crate::error::IndexError;
use crate::open::Db;
use crate::sql_types::{collect, to_signed, to_unsigned};
use cairn_model::{FolderId, LocalId, NodeId};

/// An executable bit that was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SentBit {
    pub node: NodeId,
    pub folder: FolderId,
    pub local: LocalId,
    pub executable: bool,
    /// The version of the node once it has the bit.
    pub version: u64,
}

impl Db<'_> {
    /// Records a bit before it is sent.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn put_sent_bit(&self, bit: &SentBit) -> Result<(), IndexError> {
        self.prepare(
            "INSERT OR REPLACE INTO sent_bits (node, folder, local, executable, version) \
             VALUES (?1,?2,?3,?4,?5)",
        )?
        .execute((
            bit.node.as_bytes(),
            bit.folder.0,
            bit.local.0,
            bit.executable,
            to_signed(bit.version),
        ))?;
        Ok(())
    }

    /// Returns the bits that were sent of a node, in the order of their versions.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn sent_bits(&self, node: NodeId) -> Result<Vec<SentBit>, IndexError> {
        let mut statement = self.prepare(
            "SELECT folder, local, executable, version FROM sent_bits WHERE node = ?1 \
             ORDER BY version, folder, executable",
        )?;
        collect(&mut statement.query([node.as_bytes()])?, |row| {
            Ok(SentBit {
                node,
                folder: FolderId(row.get(0)?),
                local: LocalId(row.get(1)?),
                executable: row.get(2)?,
                version: to_unsigned(row.get(3)?)?,
            })
        })
    }

    /// Forgets a bit that the service has refused.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn end_sent_bit(&self, bit: &SentBit) -> Result<(), IndexError> {
        self.prepare(
            "DELETE FROM sent_bits WHERE node = ?1 AND folder = ?2 AND version = ?3 AND executable = ?4",
        )?
        .execute((
            bit.node.as_bytes(),
            bit.folder.0,
            to_signed(bit.version),
            bit.executable,
        ))?;
        Ok(())
    }

    /// Forgets the bits that were sent of a node up to a version that the service has reached.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn end_sent_bits(&self, node: NodeId, version: u64) -> Result<(), IndexError> {
        self.prepare("DELETE FROM sent_bits WHERE node = ?1 AND version <= ?2")?
            .execute((node.as_bytes(), to_signed(version)))?;
        Ok(())
    }
}
