//! The rate limit of control statements, those of a signed log that are about devices and members and not about files:
//! each is kept for ever and sent to everybody who joins.

use crate::db::params;
use crate::error::{Error, Result};
use crate::{Space, Tx};

/// Control statements that a device may make in a minute.
const PER_MINUTE: i64 = 10;
const MINUTE_MS: i64 = 60_000;

/// Counts the control statements of a commit for its device.
///
/// # Errors
/// 429 with the time until there is room for them.
pub(super) fn admit(tx: &Tx<'_>, space: Space, device: u32, count: usize) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    let (used, at): (i64, i64) = tx
        .conn
        .prepare_cached(
            "SELECT used_ms, used_at FROM log_devices WHERE space = ?1 AND number = ?2",
        )?
        .query_row(params![space.row, device], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    // A clock that was put back gives nothing back.
    let left = (used - (tx.now - at).max(0)).max(0);
    let cost = i64::try_from(count).unwrap_or(PER_MINUTE + 1) * (MINUTE_MS / PER_MINUTE);
    let beyond = left + cost - MINUTE_MS;
    if beyond > 0 {
        return Err(Error::TooManyAttempts {
            message: format!(
                "a device may make {PER_MINUTE} control statements a minute, and this commit has {count}"
            ),
            retry_after: (beyond as u64).div_ceil(1000),
        });
    }
    tx.conn
        .prepare_cached(
            "UPDATE log_devices SET used_ms = ?3, used_at = ?4 WHERE space = ?1 AND number = ?2",
        )?
        .execute(params![space.row, device, left + cost, tx.now])?;
    Ok(())
}
