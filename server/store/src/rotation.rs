//! Rotation of `records.key`: a new key, with which every record (an encrypted secret in the database) is encrypted
//! anew.
//!
//! The steps, each of which a crash may follow: the new key stands beside the old one in the file; records are
//! sealed anew, some at a time; the database is on the disk; the old key goes. After
//! any of them the server starts and opens every record, and the next rotation goes on from there.

use super::key_file::{self, Key};
use super::outbox::associated_data;
use super::seal::Resealed;
use super::second_factors::secret_of as factor_secret_of;
use super::source::Source;
use super::webhook_deliveries::response_of;
use super::webhooks::secret_of;
use super::{Store, Tx};
use crate::db::{self, Optional as _, Value, params};
use crate::error::{Error, Result};
use cairn_model::AccountId;
use std::path::Path;
use std::sync::Arc;
use uuid::Uuid;

/// Records that one transaction seals anew.
const PER_TRANSACTION: usize = 500;

/// The result of a rotation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rotated {
    /// Records that were sealed anew.
    pub resealed: u64,
    /// Records that were sealed with a key that was lost before; they stay as they are.
    pub unopenable: u64,
    /// An earlier rotation had not ended: it did now, and the key that it made is the one in force.
    pub completed_earlier: bool,
}

/// A step that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    KeyAdded,
    /// One transaction of them.
    RecordsSealed,
    OnDisk,
    OldKeyRemoved,
}

/// A column with sealed records, and its rows: a key of one column or two.
struct SealedColumn {
    table: &'static str,
    column: &'static str,
    key: &'static str,
    /// `NULL` where one column is enough.
    second: &'static str,
    /// The condition for a row to be one of them.
    only: &'static str,
    /// Returns what a record is sealed for, by the first column of its key.
    about: fn(&Value) -> Option<Vec<u8>>,
}

/// All columns that hold sealed records.
const COLUMNS: [SealedColumn; 6] = [
    SealedColumn {
        table: "settings",
        column: "value",
        key: "key",
        second: "NULL",
        only: "key NOT IN ('epoch', 'log_history')",
        about: |key| {
            let Value::Text(key) = key else { return None };
            Some(key.as_bytes().to_vec())
        },
    },
    SealedColumn {
        table: "second_factors",
        column: "secret",
        key: "account",
        second: "NULL",
        only: "true",
        about: |key| Some(factor_secret_of(AccountId(uuid_in(key)?))),
    },
    SealedColumn {
        table: "webhooks",
        column: "secret",
        key: "id",
        second: "NULL",
        only: "true",
        about: |key| Some(secret_of(uuid_in(key)?)),
    },
    SealedColumn {
        table: "webhooks",
        column: "previous",
        key: "id",
        second: "NULL",
        only: "true",
        about: |key| Some(secret_of(uuid_in(key)?)),
    },
    SealedColumn {
        table: "webhook_deliveries",
        column: "payload",
        key: "id",
        second: "NULL",
        only: "true",
        about: |key| Some(associated_data(uuid_in(key)?)),
    },
    SealedColumn {
        table: "webhook_attempts",
        column: "response",
        key: "delivery",
        second: "number",
        only: "true",
        about: |key| {
            let Value::Integer(delivery) = key else {
                return None;
            };
            Some(response_of(*delivery))
        },
    },
];

fn uuid_in(value: &Value) -> Option<Uuid> {
    let Value::Blob(bytes) = value else {
        return None;
    };
    Uuid::from_slice(bytes).ok()
}

/// Replaces `records.key` under `data`, whose database nobody else may have open.
///
/// # Errors
/// A data directory that is in use, and a `records.key` that opens nothing of its database; both change nothing.
pub fn rotate_records_key(data: &Path, source: &Arc<Source>) -> Result<Rotated> {
    rotate(data, source, PER_TRANSACTION, &mut |_| Ok(()))
}

/// The same with `after` called after each step; its error ends the rotation there.
fn rotate(
    data: &Path,
    source: &Arc<Source>,
    per_transaction: usize,
    after: &mut dyn FnMut(Step) -> Result<()>,
) -> Result<Rotated> {
    let _lock = key_file::lock_exclusive(data)?;
    key_file::remove_leftovers(data)?;
    let store = Store::open_unlocked(data, source.clone())?;
    store.check_opens_something()?;
    drop(store);

    let mut keys: Vec<Key> = key_file::read(data)?;
    let completed_earlier = keys.len() > 1;
    if !completed_earlier {
        keys.insert(0, source.bytes());
        key_file::replace(data, source, &keys)?;
    }
    after(Step::KeyAdded)?;
    let store = Store::open_unlocked(data, source.clone())?;
    let mut rotated = Rotated {
        completed_earlier,
        ..Rotated::default()
    };
    for sealed in &COLUMNS {
        store.seal_anew(sealed, per_transaction, &mut rotated, after)?;
    }
    // Before that, a power failure could bring records back that only the old key opens.
    store.write_through()?;
    after(Step::OnDisk)?;
    key_file::replace(data, source, &keys[..1])?;
    after(Step::OldKeyRemoved)?;
    Ok(rotated)
}

impl Store {
    /// Refuses a database of which no record can be opened: the key beside it is another one's.
    fn check_opens_something(&self) -> Result<()> {
        let secrets = &COLUMNS[0];
        let keys = self.rows_with(secrets)?;
        let sealed = keys.len();
        for (key, second) in keys {
            let record = self.write(|tx| tx.record(secrets, &key, &second))?;
            let about = (secrets.about)(&key).unwrap_or_default();
            let sealer = &self.outbox.sealer;
            if record.is_some_and(|record| sealer.open_record(&about, &record).is_ok()) {
                return Ok(());
            }
        }
        if sealed == 0 {
            return Ok(());
        }
        Err(Error::Config(format!(
            "{} opens none of the records of the database beside it; restore the right one from a backup first. \
             Nothing was changed",
            key_file::KEY_FILE
        )))
    }

    /// Returns the keys of the rows with a sealed record in a column.
    fn rows_with(&self, sealed: &SealedColumn) -> Result<Vec<(Value, Value)>> {
        let SealedColumn {
            table,
            column,
            key,
            second,
            only,
            ..
        } = sealed;
        let sql = format!(
            "SELECT {key}, {second} FROM {table} WHERE {column} IS NOT NULL AND {only} ORDER BY 1, 2"
        );
        self.read(|conn| {
            Ok(conn
                .prepare(&sql)?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<db::Result<_>>()?)
        })
    }

    /// Seals the records of a column anew that are sealed with an earlier key.
    fn seal_anew(
        &self,
        sealed: &SealedColumn,
        per_transaction: usize,
        rotated: &mut Rotated,
        after: &mut dyn FnMut(Step) -> Result<()>,
    ) -> Result<()> {
        for keys in self.rows_with(sealed)?.chunks(per_transaction) {
            let (anew, unopenable) = self.write(|tx| {
                let (mut anew, mut unopenable) = (0, 0);
                for (key, second) in keys {
                    match tx.seal_record_anew(sealed, key, second)? {
                        Resealed::Already => {}
                        Resealed::Replaced(_) => anew += 1,
                        Resealed::Unopenable => unopenable += 1,
                    }
                }
                Ok((anew, unopenable))
            })?;
            rotated.resealed += anew;
            rotated.unopenable += unopenable;
            after(Step::RecordsSealed)?;
        }
        Ok(())
    }
}

impl Tx<'_> {
    fn record(
        &self,
        sealed: &SealedColumn,
        key: &Value,
        second: &Value,
    ) -> Result<Option<Vec<u8>>> {
        let sql = format!(
            "SELECT {} FROM {} WHERE {} = ?1 AND {} IS NOT DISTINCT FROM ?2",
            sealed.column, sealed.table, sealed.key, sealed.second
        );
        Ok(self
            .conn
            .prepare_cached(&sql)?
            .query_row(params![key, second], |row| row.get(0))
            .optional()?
            .flatten())
    }

    fn seal_record_anew(
        &self,
        sealed: &SealedColumn,
        key: &Value,
        second: &Value,
    ) -> Result<Resealed> {
        let Some((record, about)) = self.record(sealed, key, second)?.zip((sealed.about)(key))
        else {
            return Ok(Resealed::Unopenable);
        };
        let resealed = self.outbox.sealer.reseal(self.source, &about, &record)?;
        if let Resealed::Replaced(record) = &resealed {
            let sql = format!(
                "UPDATE {} SET {} = ?3 WHERE {} = ?1 AND {} IS NOT DISTINCT FROM ?2",
                sealed.table, sealed.column, sealed.key, sealed.second
            );
            self.conn
                .prepare_cached(&sql)?
                .execute(params![key, second, record])?;
        }
        Ok(resealed)
    }
}

#[cfg(test)]
mod tests;
