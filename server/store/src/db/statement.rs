//! Statements and the rows that they answer with.

use super::error::{Error, Result};
use super::params::Params;
use super::row::Row;
use super::value::ValueRef;
use rusqlite::CachedStatement;
use rusqlite::types;
use std::ops::DerefMut;

/// A prepared statement.
pub(crate) struct Statement<'a>(pub(super) Prepared<'a>);

/// A statement goes back into the cache of its connection, or it is used once.
pub(super) enum Prepared<'a> {
    Cached(CachedStatement<'a>),
    Once(rusqlite::Statement<'a>),
}

/// Rows, one after another.
pub(crate) struct Rows<'a>(rusqlite::Rows<'a>);

/// Rows that a function makes something of.
pub(crate) struct Mapped<'a, F> {
    rows: Rows<'a>,
    read: F,
}

impl<'a> Statement<'a> {
    fn inner(&mut self) -> &mut rusqlite::Statement<'a> {
        match &mut self.0 {
            Prepared::Cached(statement) => statement.deref_mut(),
            Prepared::Once(statement) => statement,
        }
    }

    fn bind(&mut self, params: &impl Params) -> Result<()> {
        let statement = self.inner();
        let (expected, given) = (statement.parameter_count(), params.count());
        if expected != given {
            return Err(Error::ParameterCount { expected, given });
        }
        for index in 0..given {
            let value = match params.value(index)? {
                ValueRef::Null => types::ValueRef::Null,
                ValueRef::Integer(number) => types::ValueRef::Integer(number),
                ValueRef::Text(text) => types::ValueRef::Text(text),
                ValueRef::Blob(bytes) => types::ValueRef::Blob(bytes),
            };
            let value = types::ToSqlOutput::Borrowed(value);
            statement.raw_bind_parameter(index + 1, value)?;
        }
        Ok(())
    }

    /// Runs it and returns the number of rows that it changed.
    pub(crate) fn execute(&mut self, params: impl Params) -> Result<usize> {
        self.bind(&params)?;
        Ok(self.inner().raw_execute()?)
    }

    pub(crate) fn query(&mut self, params: impl Params) -> Result<Rows<'_>> {
        self.bind(&params)?;
        Ok(Rows(self.inner().raw_query()))
    }

    /// Reads each row by a function.
    pub(crate) fn query_map<T, F>(&mut self, params: impl Params, read: F) -> Result<Mapped<'_, F>>
    where
        F: FnMut(&Row<'_>) -> Result<T>,
    {
        let rows = self.query(params)?;
        Ok(Mapped { rows, read })
    }

    /// Reads the first row.
    ///
    /// # Errors
    /// [`Error::NoRow`] if there is none.
    pub(crate) fn query_row<T>(
        &mut self,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut rows = self.query(params)?;
        let row = rows.next()?.ok_or(Error::NoRow)?;
        read(&row)
    }
}

impl Rows<'_> {
    /// Returns the next row.
    pub(crate) fn next(&mut self) -> Result<Option<Row<'_>>> {
        Ok(self.0.next()?.map(Row))
    }
}

impl<T, F: FnMut(&Row<'_>) -> Result<T>> Iterator for Mapped<'_, F> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.rows.next() {
            Ok(row) => row.map(|row| (self.read)(&row)),
            Err(error) => Some(Err(error)),
        }
    }
}
