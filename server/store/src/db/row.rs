//! A row of an answer.

use super::error::{Error, Result};
use super::postgres::PgRow;
use super::value::{FromSql, ValueRef};
use rusqlite::types;

/// A row, as long as its statement stands on it.
pub(crate) enum Row<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Postgres(&'a PgRow),
}

fn sqlite_column<'a>(row: &'a rusqlite::Row<'_>, column: usize) -> Result<ValueRef<'a>> {
    Ok(match row.get_ref(column)? {
        types::ValueRef::Null => ValueRef::Null,
        types::ValueRef::Integer(number) => ValueRef::Integer(number),
        types::ValueRef::Text(text) => ValueRef::Text(text),
        types::ValueRef::Blob(bytes) => ValueRef::Blob(bytes),
        types::ValueRef::Real(_) => return Err(Error::column(column, "no column is a fraction")),
    })
}

impl Row<'_> {
    /// Reads a column, counted from 0.
    pub(crate) fn get<T: FromSql>(&self, column: usize) -> Result<T> {
        self.get_with(column, T::from_sql)
    }

    /// Reads a column by a function, which may leave it where it lies.
    pub(crate) fn get_with<'s, T, E: std::error::Error + Send + Sync + 'static>(
        &'s self,
        column: usize,
        read: impl FnOnce(ValueRef<'s>) -> Result<T, E>,
    ) -> Result<T> {
        let value = match self {
            Self::Sqlite(row) => sqlite_column(row, column)?,
            Self::Postgres(row) => row.get_ref(column)?,
        };
        read(value).map_err(|mismatch| Error::column(column, mismatch))
    }
}
