//! The places (parent folder and name) where nodes were before they were moved or renamed, as far as this device saw
//! them. The newest 500,000 are kept.

use crate::error::IndexError;
use crate::open::Db;
use crate::remote::RemoteRow;
use crate::sql_types::{collect, node_from, parent_node_from, parent_node_to};
use cairn_model::PastPlace;

/// The number of rows that are kept.
const KEEP: i64 = 500_000;

impl Db<'_> {
    /// Remembers the place that a node had, if the new row has another one and says since when.
    pub(crate) fn remember_place(
        &self,
        before: &RemoteRow,
        now: &RemoteRow,
    ) -> Result<(), IndexError> {
        let Some(until) = now.changed_ms else {
            return Ok(());
        };
        if (before.parent, &before.name) == (now.parent, &now.name) {
            return Ok(());
        }
        self.prepare(
            "INSERT INTO past_places (node, parent, name, until) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute((
            before.node.as_bytes(),
            parent_node_to(before.parent),
            before.name.as_str(),
            until,
        ))?;
        let id = self.0.last_insert_rowid();
        if id % 1_000 == 0 {
            self.prepare("DELETE FROM past_places WHERE id <= ?1")?
                .execute([id - KEEP])?;
        }
        Ok(())
    }

    /// Returns the places that nodes left after a time, in milliseconds since 1970-01-01 UTC, oldest first.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn places_left_after(&self, at_ms: i64) -> Result<Vec<PastPlace>, IndexError> {
        let mut statement = self.prepare_whole(
            "SELECT node, parent, name, until FROM past_places WHERE until > ?1 ORDER BY until, id",
        )?;
        collect(&mut statement.query([at_ms])?, |row| {
            let (node, parent): (Vec<u8>, Vec<u8>) = (row.get(0)?, row.get(1)?);
            Ok(PastPlace {
                node: node_from(&node)?,
                parent: parent_node_from(&parent)?,
                name: row.get(2)?,
                until_ms: row.get(3)?,
            })
        })
    }
}
