//! The remote nodes with seals, and the latest change: what people compare between two devices.

use crate::error::IndexError;
use crate::open::Db;
use crate::remote::{self, COLUMNS, RemoteRow};
use crate::sql_types::id_from;
use cairn_model::DeviceId;
use uuid::Uuid;

/// The latest change of a space that this device was told of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LastChange {
    /// Milliseconds since 1970-01-01 UTC, as the service has it.
    pub changed_ms: i64,
    /// `None` for a change that no device made.
    pub device: Option<DeviceId>,
}

impl Db<'_> {
    /// Passes each remote node to `visit`, in the order of their ids.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn visit_remote(&self, visit: &mut dyn FnMut(&RemoteRow)) -> Result<(), IndexError> {
        let mut statement =
            self.prepare_whole(&format!("SELECT {COLUMNS} FROM remote ORDER BY node"))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            visit(&remote::read(row)?);
        }
        Ok(())
    }

    /// Passes each remote node that has a seal to `visit`, in the order of their ids. Returns the number of the others.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn visit_sealed(&self, visit: &mut dyn FnMut(&RemoteRow)) -> Result<u64, IndexError> {
        let mut unsealed = 0;
        self.visit_remote(&mut |row| match row.seal {
            Some(_) => visit(row),
            None => unsealed += 1,
        })?;
        Ok(unsealed)
    }

    /// Returns the latest change among the present nodes of the space; `None` where no time is known.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn last_change(&self) -> Result<Option<LastChange>, IndexError> {
        let mut statement = self.prepare_whole(
            "SELECT changed, device FROM remote WHERE changed IS NOT NULL ORDER BY changed DESC, node LIMIT 1",
        )?;
        let mut rows = statement.query([])?;
        let Some(row) = rows.next()? else {
            return Ok(None);
        };
        let device: Option<Vec<u8>> = row.get(1)?;
        let device = device.map(|bytes| id_from(&bytes)).transpose()?;
        Ok(Some(LastChange {
            changed_ms: row.get(0)?,
            device: device.map(|id| DeviceId(Uuid::from_bytes(id))),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Index;
    use cairn_model::{Name, NodeId};

    fn row(n: u8, seal: Option<u8>) -> RemoteRow {
        RemoteRow {
            seal: seal.map(|byte| vec![byte]),
            changed_ms: Some(i64::from(n)),
            device: Some(DeviceId::from_random_bytes([n; 16])),
            ..RemoteRow::folder(
                NodeId::from_random_bytes([n; 16]),
                None,
                Name::new(format!("n{n}")).unwrap(),
            )
        }
    }

    #[test]
    fn nodes_with_seals_come_in_the_order_of_their_ids() {
        let dir = tempfile::tempdir().unwrap();
        let opened = Index::open(&dir.path().join("index.db")).unwrap();
        let index = opened.index;
        let seen = || {
            let mut names = Vec::new();
            let unsealed = index
                .read(|db| db.visit_sealed(&mut |row| names.push(row.name.as_str().to_owned())));
            (names, unsealed.unwrap())
        };
        assert_eq!(seen(), (Vec::new(), 0));
        assert_eq!(index.read(|db| db.last_change()).unwrap(), None);
        index
            .write(|db| {
                for row in [row(3, Some(1)), row(1, Some(2)), row(2, None)] {
                    db.put_remote(&[], &row)?;
                }
                Ok(())
            })
            .unwrap();
        assert_eq!(seen(), (vec!["n1".to_owned(), "n3".to_owned()], 1));
        let last = index.read(|db| db.last_change()).unwrap().unwrap();
        assert_eq!(last.changed_ms, 3);
        assert_eq!(last.device, Some(DeviceId::from_random_bytes([3; 16])));
    }
}
