//! Guards of spaces that keep a signed log, in which devices sign every change (docs/design/format-2.md): changes that
//! are no signed commit are refused.

use super::Space;
use super::error::{Error, Result};
use crate::db::Connection;

/// Returns true if a space has a log.
pub(super) fn has_log(conn: &Connection, space: Space) -> Result<bool> {
    Ok(conn
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM logs WHERE space = ?1)")?
        .query_row([space.row], |row| row.get(0))?)
}

/// Refuses a change without a commit in a space that has a log, which would not tell of it.
///
/// # Errors
/// 409.
pub(super) fn check_no_log(conn: &Connection, space: Space) -> Result<()> {
    if !has_log(conn, space)? {
        return Ok(());
    }
    Err(Error::conflict(format!(
        "the space {} keeps a signed log: its files are changed by commits \
         (POST /api/v1/spaces/{}/commits) and in no other way",
        space.id, space.id
    )))
}

/// Refuses what belongs to a log in a space without one.
///
/// # Errors
/// 404.
pub(super) fn check_log(conn: &Connection, space: Space) -> Result<()> {
    if has_log(conn, space)? {
        return Ok(());
    }
    Err(Error::not_found(format!(
        "the space {} has no log",
        space.id
    )))
}
