//! The database behind the store: connections, statements, rows and values, in the few forms that the store uses.
//!
//! Nothing outside of this module names the library of a database. Statements are written once; `dialect` has what
//! has no common form.

mod connection;
mod error;
mod params;
mod row;
mod sqlite;
mod statement;
mod value;

pub(crate) use connection::{Begin, Connection};
pub(crate) use error::{Error, Optional, Result};
pub(crate) use params::params;
pub(crate) use row::Row;
pub(crate) use value::{ToSql, Value, ValueRef};
