//! The database behind the store: connections, statements, rows and values, in the few forms that the store uses.
//!
//! Nothing outside of this module names the library of a database. Statements are written once, in the common form of
//! SQLite and PostgreSQL; `dialect` and `texts` have what has no common form.

mod connection;
mod dialect;
mod error;
mod migrations;
mod params;
mod postgres;
mod row;
mod sqlite;
mod statement;
mod texts;
mod value;

pub(crate) use connection::{Begin, Connection, Notification};
pub(crate) use dialect::Dialect;
pub(crate) use error::{Error, Optional, Result};
pub(crate) use migrations::SQLITE as SQLITE_MIGRATIONS;
pub(crate) use params::params;
pub(crate) use postgres::Listening;
pub(crate) use row::Row;
pub(crate) use value::{ToSql, Value, ValueRef};
