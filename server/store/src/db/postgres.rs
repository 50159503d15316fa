//! PostgreSQL: connections that are made when they are needed, statements in its words, values in its types.
//!
//! The store calls a database and waits. The library is asynchronous: one thread of its own carries the bytes of all
//! connections, so that a caller may be on any thread, also on one of a runtime.

mod client;
mod listen;
mod schema;
mod tls;
mod translate;
mod types;
mod wait;

pub(super) use client::{Client, PgRow};
pub(crate) use listen::Listening;
pub(super) use tokio_postgres::Statement as PgStatement;
pub(super) use translate::translate;

use super::connection::{Backend, Connection};
use super::error::Result;

impl Connection {
    /// Reads the address of a database; the connection is made when it is needed.
    pub(crate) fn postgres(url: &str) -> Result<Self> {
        Ok(Self {
            backend: Backend::Postgres(Box::new(Client::new(url)?)),
        })
    }

    /// Listens to a channel for as long as the result lives. `handler` gets the payload of each notification, and `None`
    /// whenever some may have been missed.
    pub(crate) fn listen(
        url: &str,
        channel: String,
        handler: impl Fn(Option<&str>) + Send + Sync + 'static,
    ) -> Result<Listening> {
        listen::listen(url, channel, handler)
    }

    /// Returns the schema that the tables lie in; none in a file.
    pub(crate) fn schema(&self) -> Result<Option<String>> {
        match &self.backend {
            Backend::Sqlite(_) => Ok(None),
            Backend::Postgres(_) => {
                let sql = "SELECT CAST(current_schema() AS text)";
                self.query_row(sql, [], |row| row.get(0))
            }
        }
    }

    /// Gets ready for statements outside of transactions: a connection that broke is made again. Returns true for one
    /// that was not there.
    pub(crate) fn forget_broken(&mut self) -> bool {
        match &mut self.backend {
            Backend::Sqlite(_) => false,
            Backend::Postgres(client) => client.forget_broken(),
        }
    }

    /// Makes the schema that the address names, if there is none yet.
    pub(crate) fn make_schema(&self) -> Result<()> {
        match &self.backend {
            Backend::Sqlite(_) => Ok(()),
            Backend::Postgres(client) => client.make_schema(),
        }
    }
}
