//! Connections and their transactions.

use super::error::Result;
use super::params::Params;
use super::row::Row;
use super::statement::{Prepared, Statement};
use std::ops::Deref;

/// A connection to the database, with a cache of its statements.
pub(crate) struct Connection {
    pub(super) sqlite: rusqlite::Connection,
}

/// The kinds of transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    /// Sees one state of the database, whatever others write meanwhile.
    Read,
    /// Is the only one that writes.
    Write,
}

/// A transaction: rolled back unless it is committed.
pub(crate) struct Transaction<'a> {
    conn: &'a Connection,
    is_open: bool,
}

impl Connection {
    /// Prepares a statement, or takes it out of the cache.
    pub(crate) fn prepare_cached(&self, sql: &str) -> Result<Statement<'_>> {
        Ok(Statement(Prepared::Cached(
            self.sqlite.prepare_cached(sql)?,
        )))
    }

    /// Prepares a statement that is seldom used.
    pub(crate) fn prepare(&self, sql: &str) -> Result<Statement<'_>> {
        Ok(Statement(Prepared::Once(self.sqlite.prepare(sql)?)))
    }

    /// Runs a statement once and returns the number of rows that it changed.
    pub(crate) fn execute(&self, sql: &str, params: impl Params) -> Result<usize> {
        self.prepare(sql)?.execute(params)
    }

    /// Runs statements without parameters, one after another.
    pub(crate) fn execute_batch(&self, sql: &str) -> Result<()> {
        Ok(self.sqlite.execute_batch(sql)?)
    }

    /// Reads the first row of a statement that is seldom used.
    pub(crate) fn query_row<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        self.prepare(sql)?.query_row(params, read)
    }

    /// Begins a transaction.
    pub(crate) fn transaction(&mut self, kind: Begin) -> Result<Transaction<'_>> {
        self.execute_batch(match kind {
            Begin::Read => "BEGIN DEFERRED",
            Begin::Write => "BEGIN IMMEDIATE",
        })?;
        Ok(Transaction {
            conn: self,
            is_open: true,
        })
    }
}

impl Transaction<'_> {
    pub(crate) fn commit(mut self) -> Result<()> {
        self.conn.execute_batch("COMMIT")?;
        self.is_open = false;
        Ok(())
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        // A failed statement may have ended it already.
        if self.is_open && !self.conn.sqlite.is_autocommit() {
            if let Err(error) = self.conn.execute_batch("ROLLBACK") {
                tracing::error!(%error, "a transaction could not be rolled back");
            }
        }
    }
}

impl Deref for Transaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.conn
    }
}
