//! Accounts as the one who runs the server sees and changes them.

use super::deletion::GRACE_MS;
use super::purge::Purged;
use super::rows::id as read_id;
use super::sessions::OPEN;
use super::{Administrator, Store, Tx, deletion, erasure};
use crate::db::{self, Optional as _, Row, params};
use crate::error::{Error, Result};
use crate::options::NewLimits;
use crate::usage::{self, LimitsOf};
use cairn_model::AccountId;
use cairn_wire::Timestamp;
use cairn_wire::account::AccountStatus;
use cairn_wire::admin::{AccountCondition, AccountOverview, AdminAction};
use cairn_wire::notifications::NotificationKind;
use serde_json::json;

/// More than a table can have.
pub(super) const EVERYTHING: u64 = i64::MAX.unsigned_abs();

fn overview(row: &Row<'_>) -> db::Result<AccountOverview> {
    let (disabled, requested): (Option<i64>, Option<i64>) = (row.get(3)?, row.get(4)?);
    Ok(AccountOverview {
        id: read_id(row, 0)?,
        email: row.get(1)?,
        state: if disabled.is_some() {
            AccountCondition::Disabled
        } else if requested.is_some() {
            AccountCondition::PendingDeletion
        } else {
            AccountCondition::Active
        },
        created_at: Timestamp(row.get(2)?),
        purge_at: requested.map(|at| Timestamp(at + GRACE_MS)),
        storage_used: row.get(5)?,
        storage_limit: row.get(6)?,
        bandwidth_limit: row.get(7)?,
        file_count: row.get(8)?,
        file_count_limit: row.get(9)?,
        devices: row.get(10)?,
        active_api_keys: row.get(11)?,
        sessions: row.get(12)?,
        teams: row.get(13)?,
        email_verified: row.get(14)?,
        second_factor: row.get(15)?,
        admin: row.get(16)?,
    })
}

impl Tx<'_> {
    /// Replaces the password of an account by another one with this hash, which ends its logins; the owner is told
    /// by a notification with this title.
    pub fn set_password(&self, account: AccountId, hash: &str, notice: &str) -> Result<()> {
        self.conn.execute(
            "UPDATE accounts SET password = ?2 WHERE id = ?1",
            params![account.as_bytes(), hash],
        )?;
        self.end_all_logins(account)?;
        self.notify(account, NotificationKind::Security, notice, &json!({}))
    }
}

/// Accounts as [`overview`] reads them; without an end.
fn accounts_sql() -> String {
    format!(
        "SELECT a.id, a.email, a.created_at, a.disabled_at, a.deletion_requested_at, s.storage_used, \
         a.storage_limit, a.bandwidth_limit, s.file_count, a.file_count_limit, \
         (SELECT count(*) FROM devices d WHERE d.account = a.id AND (d.removed_at IS NULL OR d.seen_at > d.removed_at)), \
         (SELECT count(*) FROM api_keys k WHERE k.account = a.id AND k.revoked_at IS NULL \
         AND (k.expires_at IS NULL OR k.expires_at > ?1)), \
         (SELECT count(*) FROM grants g WHERE g.account = a.id AND {OPEN}), \
         (SELECT count(*) FROM team_members m WHERE m.account = a.id), a.email_verified_at IS NOT NULL, \
         EXISTS (SELECT 1 FROM second_factors f WHERE f.account = a.id AND f.confirmed_at IS NOT NULL), \
         a.admin_since IS NOT NULL \
         FROM accounts a JOIN spaces s ON s.row = a.space"
    )
}

impl Store {
    /// Lists all accounts, by their addresses.
    pub fn accounts(&self) -> Result<Vec<AccountOverview>> {
        Ok(self.accounts_page(0, EVERYTHING)?.0)
    }

    /// One page of all accounts, by their addresses, and their number.
    pub fn accounts_page(&self, skip: u64, take: u64) -> Result<(Vec<AccountOverview>, u64)> {
        let now = self.source().now_ms();
        let sql = format!("{} ORDER BY a.email LIMIT ?2 OFFSET ?3", accounts_sql());
        self.read(|conn| {
            let total = conn.query_row("SELECT count(*) FROM accounts", [], |row| row.get(0))?;
            let found = conn
                .prepare(&sql)?
                .query_map(params![now, take, skip], overview)?
                .collect::<db::Result<_>>()?;
            Ok((found, total))
        })
    }

    /// Returns one account.
    ///
    /// # Errors
    /// 404.
    pub fn account_overview(&self, account: AccountId) -> Result<AccountOverview> {
        let now = self.source().now_ms();
        let sql = format!("{} WHERE a.id = ?2", accounts_sql());
        self.read(|conn| {
            conn.prepare(&sql)?
                .query_row(params![now, account.as_bytes()], overview)
                .optional()?
                .ok_or_else(|| Error::not_found(format!("there is no account {account}")))
        })
    }

    /// Switches an account off, which ends its logins, or on again.
    pub fn set_disabled(
        &self,
        by: Administrator,
        account: AccountId,
        disabled: bool,
    ) -> Result<()> {
        self.write(|tx| {
            let changed = if disabled {
                tx.conn.execute(
                    "UPDATE accounts SET disabled_at = ?2 WHERE id = ?1 AND disabled_at IS NULL",
                    params![account.as_bytes(), tx.now],
                )?
            } else {
                tx.conn.execute(
                    "UPDATE accounts SET disabled_at = NULL WHERE id = ?1 AND disabled_at IS NOT NULL",
                    [account.as_bytes()],
                )?
            };
            if changed == 0 {
                return Ok(());
            }
            let action = if disabled {
                tx.end_all_logins(account)?;
                AdminAction::Disabled
            } else {
                tx.resume_plan(account)?;
                AdminAction::Enabled
            };
            tx.note_admin_action(by, action, account, &json!({}))
        })
    }

    /// Replaces the hash of a password, which ends all logins.
    pub fn reset_password(&self, by: Administrator, account: AccountId, hash: &str) -> Result<()> {
        self.write(|tx| {
            let notice = "Your password was reset by the administrator";
            tx.set_password(account, hash, notice)?;
            tx.note_admin_action(by, AdminAction::PasswordReset, account, &json!({}))
        })
    }

    /// Removes the second factor of an account.
    ///
    /// # Errors
    /// 404 for an account that has none.
    pub fn reset_second_factor(&self, by: Administrator, account: AccountId) -> Result<()> {
        self.write(|tx| {
            let notice = "Your second factor was removed by the administrator";
            if !tx.remove_second_factor(account, notice)? {
                return Err(Error::not_found("the account has no second factor"));
            }
            tx.note_admin_action(by, AdminAction::SecondFactorReset, account, &json!({}))
        })
    }

    /// Changes what an account may use.
    pub fn change_limits(
        &self,
        by: Administrator,
        account: AccountId,
        new: NewLimits,
    ) -> Result<()> {
        self.write(|tx| {
            if new == NewLimits::default() {
                return Ok(());
            }
            usage::change_limits(tx.conn, LimitsOf::Account(account), new)?;
            tx.note_admin_action(by, AdminAction::QuotaChanged, account, &new.event_data())
        })
    }

    /// Makes an account an administrator of the others, or an ordinary one again.
    pub fn set_admin(&self, by: Administrator, account: AccountId, admin: bool) -> Result<()> {
        self.write(|tx| {
            if !tx.set_admin_role(account, admin)? {
                return Ok(());
            }
            let (action, title) = if admin {
                (AdminAction::AdminMade, "You administer other accounts now")
            } else {
                (
                    AdminAction::AdminUnmade,
                    "You administer other accounts no more",
                )
            };
            tx.notify(account, NotificationKind::Security, title, &json!({}))?;
            tx.note_admin_action(by, action, account, &json!({}))
        })
    }

    /// Begins the 60 days after which an account is deleted.
    ///
    /// # Errors
    /// 409 if they run already.
    pub fn begin_deletion(&self, by: Administrator, account: AccountId) -> Result<AccountStatus> {
        self.write(|tx| {
            let status = deletion::request(tx, account)?;
            tx.note_admin_action(by, AdminAction::DeletionRequested, account, &json!({}))?;
            Ok(status)
        })
    }

    /// Deletes an account at once, without the 60 days. The objects are to be deleted by the caller.
    pub fn delete_account(&self, by: Administrator, account: AccountId) -> Result<Purged> {
        self.write(|tx| {
            tx.note_admin_action(by, AdminAction::Deleted, account, &json!({}))?;
            let mut purged = Purged::default();
            erasure::erase_account(tx, account, &mut purged)?;
            Ok(purged)
        })
    }
}
