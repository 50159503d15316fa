//! The service's own check of who may write a log, within the transaction of the commit: what the request was let in
//! with may have ended since.

use crate::db::{Connection, Optional as _, params};
use crate::error::{Error, Result};
use crate::{Actor, teams};
use cairn_wire::teams::TeamRole;

/// Refuses a writer who has no part in the space any more. `is_first` is for the commit that founds the log, whose
/// signer becomes its owner.
///
/// # Errors
/// 403.
pub(super) fn check_writer(conn: &Connection, actor: &Actor, is_first: bool) -> Result<()> {
    let account: Option<(i64, bool, bool)> = conn
        .prepare_cached(
            "SELECT space, disabled_at IS NOT NULL, deletion_requested_at IS NOT NULL FROM accounts WHERE id = ?1",
        )?
        .query_row([actor.account.as_bytes()], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    let forbidden = |why: &str| Err(Error::Forbidden(why.into()));
    let Some((own, is_disabled, is_leaving)) = account else {
        return forbidden("the account is gone");
    };
    if is_disabled {
        return forbidden("the account is disabled; ask the operator of this server");
    }
    if is_leaving {
        return forbidden("the account is to be deleted and can't change anything until then");
    }
    if is_removed(conn, actor)? {
        return forbidden("the device was removed; log in on it again");
    }
    if own == actor.space.row {
        return Ok(());
    }
    match teams::role_in_space(conn, actor.account, actor.space.row)? {
        None => forbidden("you have no access to the space"),
        Some(role) if is_first && role != TeamRole::Owner => {
            forbidden("only the team's owner may begin its log")
        }
        Some(_) => Ok(()),
    }
}

/// Returns true if the device that the request names was taken off the account's list and not seen since.
fn is_removed(conn: &Connection, actor: &Actor) -> Result<bool> {
    let Some(device) = actor.device else {
        return Ok(false);
    };
    let is_removed = conn
        .prepare_cached(
            "SELECT removed_at IS NOT NULL AND (seen_at IS NULL OR seen_at <= removed_at) FROM devices \
             WHERE account = ?1 AND id = ?2",
        )?
        .query_row(
            params![actor.account.as_bytes(), device.as_bytes()],
            |row| row.get(0),
        )
        .optional()?;
    Ok(is_removed.unwrap_or(false))
}
