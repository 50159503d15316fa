//! Statements and the rows that they answer with.

use super::error::{Error, Result};
use super::params::Params;
use super::postgres::{Client, PgRow, PgStatement};
use super::row::Row;
use super::value::ValueRef;
use rusqlite::CachedStatement;
use rusqlite::types;

/// A prepared statement.
pub(crate) struct Statement<'a>(pub(super) Prepared<'a>);

/// A statement of SQLite goes back into the cache of its connection, or it is used once.
pub(super) enum Prepared<'a> {
    Cached(CachedStatement<'a>),
    Once(rusqlite::Statement<'a>),
    Postgres(&'a Client, PgStatement),
}

/// Rows, one after another.
pub(crate) enum Rows<'a> {
    Sqlite(rusqlite::Rows<'a>),
    /// All of them came at once; the last one is the one that is read.
    Postgres(std::vec::IntoIter<PgRow>, Option<PgRow>),
}

/// Rows that a function makes something of.
pub(crate) struct Mapped<'a, F> {
    rows: Rows<'a>,
    read: F,
}

fn bind(statement: &mut rusqlite::Statement<'_>, params: &impl Params) -> Result<()> {
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

fn execute(statement: &mut rusqlite::Statement<'_>, params: &impl Params) -> Result<usize> {
    bind(statement, params)?;
    Ok(statement.raw_execute()?)
}

fn query<'s>(statement: &'s mut rusqlite::Statement<'_>, params: &impl Params) -> Result<Rows<'s>> {
    bind(statement, params)?;
    Ok(Rows::Sqlite(statement.raw_query()))
}

impl Statement<'_> {
    /// Runs it and returns the number of rows that it changed.
    pub(crate) fn execute(&mut self, params: impl Params) -> Result<usize> {
        match &mut self.0 {
            Prepared::Cached(statement) => execute(statement, &params),
            Prepared::Once(statement) => execute(statement, &params),
            Prepared::Postgres(client, statement) => client.execute(statement, &params),
        }
    }

    pub(crate) fn query(&mut self, params: impl Params) -> Result<Rows<'_>> {
        match &mut self.0 {
            Prepared::Cached(statement) => query(statement, &params),
            Prepared::Once(statement) => query(statement, &params),
            Prepared::Postgres(client, statement) => {
                let rows = client.query(statement, &params)?;
                Ok(Rows::Postgres(rows.into_iter(), None))
            }
        }
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
        match self {
            Self::Sqlite(rows) => Ok(rows.next()?.map(Row::Sqlite)),
            Self::Postgres(rows, row) => {
                *row = rows.next();
                Ok(row.as_ref().map(Row::Postgres))
            }
        }
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
