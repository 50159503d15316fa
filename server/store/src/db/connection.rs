//! Connections and their transactions.

use super::error::Result;
use super::params::Params;
use super::postgres::{Client, translate};
use super::row::Row;
use super::statement::{Prepared, Statement};
use std::ops::Deref;

/// A connection to the database, with a cache of its statements.
pub(crate) struct Connection {
    pub(super) backend: Backend,
}

/// The databases that there are.
pub(super) enum Backend {
    Sqlite(rusqlite::Connection),
    Postgres(Box<Client>),
}

/// The kinds of transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    /// Sees one state of the database, whatever others write meanwhile.
    Read,
    /// Is the only one that writes.
    Write,
}

/// A text for all who listen to a channel of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notification {
    pub(crate) channel: String,
    pub(crate) payload: String,
}

/// A transaction: rolled back unless it is committed.
pub(crate) struct Transaction<'a> {
    conn: &'a Connection,
    is_open: bool,
}

impl Connection {
    /// Prepares a statement, or takes it out of the cache.
    pub(crate) fn prepare_cached(&self, sql: &str) -> Result<Statement<'_>> {
        Ok(Statement(match &self.backend {
            Backend::Sqlite(conn) => Prepared::Cached(conn.prepare_cached(sql)?),
            Backend::Postgres(client) => Prepared::Postgres(client, client.prepare(sql)?),
        }))
    }

    /// Prepares a statement that is seldom used.
    pub(crate) fn prepare(&self, sql: &str) -> Result<Statement<'_>> {
        Ok(Statement(match &self.backend {
            Backend::Sqlite(conn) => Prepared::Once(conn.prepare(sql)?),
            // To prepare it again would be another round trip.
            Backend::Postgres(client) => Prepared::Postgres(client, client.prepare(sql)?),
        }))
    }

    /// Runs a statement once and returns the number of rows that it changed.
    pub(crate) fn execute(&self, sql: &str, params: impl Params) -> Result<usize> {
        self.prepare(sql)?.execute(params)
    }

    /// Runs statements without parameters, one after another.
    pub(crate) fn execute_batch(&self, sql: &str) -> Result<()> {
        match &self.backend {
            Backend::Sqlite(conn) => Ok(conn.execute_batch(sql)?),
            Backend::Postgres(client) => client.execute_batch(&translate(sql)),
        }
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
        match &mut self.backend {
            Backend::Sqlite(conn) => run_cached(
                conn,
                match kind {
                    Begin::Read => "BEGIN DEFERRED",
                    Begin::Write => "BEGIN IMMEDIATE",
                },
            )?,
            Backend::Postgres(client) => client.begin(kind)?,
        }
        Ok(Transaction {
            conn: self,
            is_open: true,
        })
    }
}

/// Runs a statement that begins or ends a transaction. Each request has one or more of them.
fn run_cached(conn: &rusqlite::Connection, sql: &str) -> rusqlite::Result<()> {
    conn.prepare_cached(sql)?.execute([])?;
    Ok(())
}

impl Transaction<'_> {
    pub(crate) fn commit(self) -> Result<()> {
        self.commit_and_notify(None)
    }

    /// Commits, and sends a notification if that succeeds. SQLite, which one server uses, has none.
    pub(crate) fn commit_and_notify(mut self, notification: Option<&Notification>) -> Result<()> {
        self.is_open = false;
        match &self.conn.backend {
            Backend::Sqlite(conn) => {
                // One that fails has not ended the transaction.
                self.is_open = true;
                run_cached(conn, "COMMIT")?;
                self.is_open = false;
                Ok(())
            }
            Backend::Postgres(client) => client.commit(notification),
        }
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.is_open {
            return;
        }
        match &self.conn.backend {
            // A failed statement may have ended it already.
            Backend::Sqlite(conn) if conn.is_autocommit() => {}
            Backend::Sqlite(conn) => {
                if let Err(error) = run_cached(conn, "ROLLBACK") {
                    tracing::error!(%error, "a transaction could not be rolled back");
                }
            }
            Backend::Postgres(client) => client.roll_back(),
        }
    }
}

impl Deref for Transaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.conn
    }
}
