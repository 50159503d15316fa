//! PostgreSQL: connections that are made when they are needed, statements in its words, values in its types.
//!
//! The store calls a database and waits. The library is asynchronous: one thread of its own carries the bytes of all
//! connections, so that a caller may be on any thread, also on one of a runtime.

mod client;
mod schema;
mod translate;
mod types;
mod wait;

pub(super) use client::{Client, PgRow};
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

    /// Makes the schema that the address names, if there is none yet.
    pub(crate) fn make_schema(&self) -> Result<()> {
        match &self.backend {
            Backend::Sqlite(_) => Ok(()),
            Backend::Postgres(client) => client.make_schema(),
        }
    }
}
