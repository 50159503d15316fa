//! The id of the history that positions of the feed belong to.

use crate::db::{self, Connection};
use crate::error::{Error, Result};
use crate::source::Source;

/// Returns the id of the history that was begun.
///
/// # Errors
/// A database without one.
pub(crate) fn find(conn: &Connection) -> Result<String> {
    let sql = "SELECT value FROM settings WHERE key = 'epoch'";
    let known: Vec<u8> = conn.query_row(sql, [], |row| row.get(0))?;
    String::from_utf8(known)
        .map_err(|_| Error::Config("the history id in the database is not text".into()))
}

/// Returns the id of the history, which the first one to open the database begins.
///
/// # Errors
/// A database that fails.
pub(crate) fn find_or_make(conn: &Connection, source: &Source) -> Result<String> {
    match find(conn) {
        Err(Error::Sql(db::Error::NoRow)) => {}
        known => return known,
    }
    let fresh = source.nonce();
    conn.execute(
        "INSERT INTO settings (key, value) VALUES ('epoch', ?1)",
        [fresh.as_bytes()],
    )?;
    Ok(fresh)
}
