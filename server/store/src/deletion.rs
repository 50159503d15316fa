//! Account deletion: requested, cancelled, and carried out after 60 days.

use super::purge::Purged;
use super::rows::id;
use super::{Store, Tx, erasure};
use crate::db::{self, Connection, params};
use crate::error::{Error, Result};
use cairn_model::AccountId;
use cairn_wire::Timestamp;
use cairn_wire::account::{AccountState, AccountStatus, PendingDeletion};
use cairn_wire::notifications::NotificationKind;
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
        self.read_one(|conn| Ok(requested_at(conn, account)?.map(|at| at + GRACE_MS)))
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
            tx.resume_plan(account)?;
            tx.notify(
                account,
                NotificationKind::System,
                "Your account was restored",
                &json!({}),
            )?;
            Ok(new)
        })
    }

    /// Deletes the accounts whose 60 days are over, each in a transaction of its own: one that can't be
    /// deleted keeps none of the others. The objects are to be deleted by the caller.
    pub fn purge_accounts(&self) -> Result<Purged> {
        let before = self.source().now_ms() - GRACE_MS;
        let due: Vec<AccountId> = self.read(|conn| {
            Ok(conn
                .prepare_cached(
                    "SELECT id FROM accounts WHERE deletion_requested_at <= ?1 ORDER BY id",
                )?
                .query_map([before], |row| id(row, 0))?
                .collect::<db::Result<_>>()?)
        })?;
        let mut purged = Purged::default();
        for account in due {
            match self.write(|tx| purge_if_due(tx, account)) {
                Ok(its) => purged.add(its),
                Err(error) => {
                    tracing::error!(%account, %error, "an account can't be deleted");
                }
            }
        }
        Ok(purged)
    }
}

/// Deletes an account whose 60 days are over; one that was deleted or restored meanwhile is left alone.
fn purge_if_due(tx: &Tx<'_>, account: AccountId) -> Result<Purged> {
    let is_due: bool = tx
        .conn
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM accounts WHERE id = ?1 AND deletion_requested_at <= ?2)",
        )?
        .query_row(params![account.as_bytes(), tx.now - GRACE_MS], |row| {
            row.get(0)
        })?;
    let mut purged = Purged::default();
    if is_due {
        erasure::erase_account(tx, account, &mut purged)?;
    }
    Ok(purged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Clock, Source};
    use crate::testing::add_account;
    use std::sync::Arc;

    #[test]
    fn an_account_that_cannot_be_deleted_keeps_none_of_the_others() {
        let clock = Clock::Virtual { start_ms: 1_000 };
        let store = Store::open(None, Arc::new(Source::new(clock, Some(1)))).unwrap();
        let accounts: Vec<AccountId> = (0..3)
            .map(|number| {
                let id = add_account(&store, &format!("p{number}@example.com")).id;
                store.request_deletion(id).unwrap();
                id
            })
            .collect();
        store.source().advance(GRACE_MS.unsigned_abs());
        // The smallest id is deleted first.
        let stuck = *accounts.iter().min().unwrap();
        store
            .write(|tx| {
                tx.conn.execute_batch(&format!(
                    "CREATE TRIGGER stuck BEFORE DELETE ON accounts WHEN old.id = x'{}' \
                     BEGIN SELECT RAISE(ABORT, 'stuck'); END",
                    stuck.0.simple()
                ))?;
                Ok(())
            })
            .unwrap();
        store.purge_accounts().unwrap();
        for account in accounts {
            let left = store.account(account).unwrap().is_some();
            assert_eq!(left, account == stuck);
        }
    }
}
