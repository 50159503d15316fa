//! An account on its way out: asked for, called off, and done after 60 days.

use super::purge::Purged;
use super::rows::id;
use super::{Store, Tx, erasure};
use crate::error::{Error, Result};
use cairn_model::AccountId;
use cairn_wire::Timestamp;
use cairn_wire::account::{AccountState, AccountStatus, PendingDeletion};
use cairn_wire::notifications::NotificationKind;
use rusqlite::{Connection, params};
use serde_json::json;

/// The time for which an account can be restored.
pub(super) const GRACE_MS: i64 = 60 * 24 * 3600 * 1000;

fn requested_at(conn: &Connection, account: AccountId) -> Result<Option<i64>> {
    Ok(conn
        .prepare_cached("SELECT deletion_requested_at FROM accounts WHERE id = ?1")?
        .query_row([account.as_bytes()], |row| row.get(0))?)
}

fn status(requested: Option<i64>) -> AccountStatus {
    AccountStatus {
        status: if requested.is_some() {
            AccountState::PendingDeletion
        } else {
            AccountState::Active
        },
        deletion: requested.map(|at| PendingDeletion {
            requested_at: Timestamp(at),
            purge_at: Timestamp(at + GRACE_MS),
        }),
    }
}

fn set(tx: &Tx<'_>, account: AccountId, at: Option<i64>) -> Result<AccountStatus> {
    tx.conn.execute(
        "UPDATE accounts SET deletion_requested_at = ?2 WHERE id = ?1",
        params![account.as_bytes(), at],
    )?;
    Ok(status(at))
}

/// Begins the 60 days.
pub(super) fn request(tx: &Tx<'_>, account: AccountId) -> Result<AccountStatus> {
    if let Some(at) = requested_at(tx.conn, account)? {
        return Err(Error::conflict(format!(
            "the account is to be deleted on {} already",
            Timestamp(at + GRACE_MS)
        )));
    }
    let new = set(tx, account, Some(tx.now))?;
    let data = json!({"purge_at": Timestamp(tx.now + GRACE_MS)});
    tx.notify(
        account,
        NotificationKind::System,
        "Your account will be deleted in 60 days",
        &data,
    )?;
    Ok(new)
}

impl Store {
    /// Returns the time at which an account will be deleted, if that was asked for.
    pub fn deletion_due(&self, account: AccountId) -> Result<Option<i64>> {
        self.read(|conn| Ok(requested_at(conn, account)?.map(|at| at + GRACE_MS)))
    }

    /// Returns the status of an account.
    pub fn account_status(&self, account: AccountId) -> Result<AccountStatus> {
        self.read(|conn| Ok(status(requested_at(conn, account)?)))
    }

    /// Begins the 60 days.
    ///
    /// # Errors
    /// 409 if they run already.
    pub fn request_deletion(&self, account: AccountId) -> Result<AccountStatus> {
        self.write(|tx| request(tx, account))
    }

    /// Calls the deletion off.
    ///
    /// # Errors
    /// 409 for an account that is not to be deleted; 410 once the 60 days are over.
    pub fn restore_account(&self, account: AccountId) -> Result<AccountStatus> {
        self.write(|tx| {
            let Some(at) = requested_at(tx.conn, account)? else {
                return Err(Error::conflict("the account is not to be deleted"));
            };
            if at + GRACE_MS <= tx.now {
                return Err(Error::Gone(
                    "the 60 days in which the account could be restored are over".into(),
                ));
            }
            let new = set(tx, account, None)?;
            tx.notify(
                account,
                NotificationKind::System,
                "Your account was restored",
                &json!({}),
            )?;
            Ok(new)
        })
    }

    /// Deletes the accounts whose 60 days are over. The objects are to be deleted by the caller.
    pub fn purge_accounts(&self) -> Result<Purged> {
        self.write(|tx| {
            let due: Vec<AccountId> = tx
                .conn
                .prepare_cached(
                    "SELECT id FROM accounts WHERE deletion_requested_at <= ?1 ORDER BY id",
                )?
                .query_map([tx.now - GRACE_MS], |row| id(row, 0))?
                .collect::<rusqlite::Result<_>>()?;
            let mut purged = Purged::default();
            for account in due {
                erasure::erase_account(tx, account, &mut purged)?;
            }
            Ok(purged)
        })
    }
}
