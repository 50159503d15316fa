//! A row of an answer.

use super::error::{Error, Result};
use super::value::{FromSql, ValueRef};
use rusqlite::types;

/// A row, as long as its statement stands on it.
pub(crate) struct Row<'a>(pub(super) &'a rusqlite::Row<'a>);

impl Row<'_> {
    /// Reads a column, counted from 0.
    pub(crate) fn get<T: FromSql>(&self, column: usize) -> Result<T> {
        T::from_sql(self.get_ref(column)?).map_err(|mismatch| Error::column(column, mismatch))
    }

    /// Returns a column where it lies.
    fn get_ref(&self, column: usize) -> Result<ValueRef<'_>> {
        Ok(match self.0.get_ref(column)? {
            types::ValueRef::Null => ValueRef::Null,
            types::ValueRef::Integer(number) => ValueRef::Integer(number),
            types::ValueRef::Text(text) => ValueRef::Text(text),
            types::ValueRef::Blob(bytes) => ValueRef::Blob(bytes),
            types::ValueRef::Real(_) => {
                return Err(Error::column(column, "no column is a fraction"));
            }
        })
    }

    /// Reads a text or a blob without copying it.
    pub(crate) fn get_with<'s, T, E: std::error::Error + Send + Sync + 'static>(
        &'s self,
        column: usize,
        read: impl FnOnce(ValueRef<'s>) -> Result<T, E>,
    ) -> Result<T> {
        read(self.get_ref(column)?).map_err(|mismatch| Error::column(column, mismatch))
    }
}
