//! Accounts as the one who runs the server sees and changes them.

use super::deletion::GRACE_MS;
use super::purge::Purged;
use super::rows::id as read_id;
use super::{Store, Tx, erasure};
use crate::error::{Error, Result};
use cairn_model::AccountId;
use cairn_wire::Timestamp;
use cairn_wire::notifications::NotificationKind;
use rusqlite::{Row, named_params, params};
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

/// The time for which an unused login lasts; a refresh token expires that long after it was made.
const LOGIN_MS: i64 = 60 * 24 * 3600 * 1000;

/// The state of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountCondition {
    Active,
    Disabled,
    /// To be deleted at the end of its 60 days.
    PendingDeletion,
}

/// An account, what it uses and what it may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AccountOverview {
    pub id: AccountId,
    pub email: String,
    pub state: AccountCondition,
    pub created_at: Timestamp,
    /// Present if it is to be deleted.
    pub purge_at: Option<Timestamp>,
    pub storage_used: u64,
    pub storage_limit: u64,
    pub bandwidth_limit: u64,
    pub file_count: u64,
    pub file_count_limit: u64,
    pub devices: u64,
    pub active_api_keys: u64,
    pub sessions: u64,
    pub teams: u64,
    /// Somebody has proved to read the mails of the address.
    pub email_verified: bool,
}

/// A login of an account that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Session {
    pub id: Uuid,
    pub client: String,
    pub scope: String,
    pub created_at: Timestamp,
    /// Absent for one that never renewed itself.
    pub last_used_at: Option<Timestamp>,
}

/// Limits to be changed; what is absent stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewLimits {
    pub storage: Option<u64>,
    pub bandwidth: Option<u64>,
    pub files: Option<u64>,
}

/// Logins that have not ended; one without a refresh token lasts as long as its access token.
const OPEN: &str = "g.revoked_at IS NULL AND EXISTS (SELECT 1 FROM refresh_tokens t \
     WHERE t.grant_id = g.id AND t.expires_at > :now)";

fn overview(row: &Row<'_>) -> rusqlite::Result<AccountOverview> {
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
    })
}

fn to_sql_limit(limit: Option<u64>) -> Option<i64> {
    limit.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX))
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

    /// Ends every login of an account, and what could still become one.
    fn end_all_logins(&self, account: AccountId) -> Result<()> {
        self.conn.execute(
            "UPDATE grants SET revoked_at = ?2 WHERE account = ?1 AND revoked_at IS NULL",
            params![account.as_bytes(), self.now],
        )?;
        for sql in [
            "DELETE FROM refresh_tokens WHERE grant_id IN (SELECT id FROM grants WHERE account = ?1)",
            "DELETE FROM authorization_codes WHERE account = ?1",
            "DELETE FROM device_codes WHERE account = ?1",
        ] {
            self.conn.execute(sql, [account.as_bytes()])?;
        }
        Ok(())
    }
}

impl Store {
    /// Lists all accounts, by their addresses.
    pub fn accounts(&self) -> Result<Vec<AccountOverview>> {
        let now = self.source().now_ms();
        let sql = format!(
            "SELECT a.id, a.email, a.created_at, a.disabled_at, a.deletion_requested_at, s.storage_used, \
             a.storage_limit, a.bandwidth_limit, s.file_count, a.file_count_limit, \
             (SELECT count(*) FROM devices d WHERE d.account = a.id AND (d.removed_at IS NULL OR d.seen_at > d.removed_at)), \
             (SELECT count(*) FROM api_keys k WHERE k.account = a.id AND k.revoked_at IS NULL \
             AND coalesce(k.expires_at, :now + 1) > :now), \
             (SELECT count(*) FROM grants g WHERE g.account = a.id AND {OPEN}), \
             (SELECT count(*) FROM team_members m WHERE m.account = a.id), a.email_verified_at IS NOT NULL \
             FROM accounts a JOIN spaces s ON s.row = a.space ORDER BY a.email"
        );
        self.read(|conn| {
            Ok(conn
                .prepare(&sql)?
                .query_map(named_params! {":now": now}, overview)?
                .collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Switches an account off, which ends its logins, or on again.
    pub fn set_disabled(&self, account: AccountId, disabled: bool) -> Result<()> {
        self.write(|tx| {
            let at = disabled.then_some(tx.now);
            tx.conn.execute(
                "UPDATE accounts SET disabled_at = iif(?2 IS NULL, NULL, coalesce(disabled_at, ?2)) WHERE id = ?1",
                params![account.as_bytes(), at],
            )?;
            if disabled {
                tx.end_all_logins(account)?;
            }
            Ok(())
        })
    }

    /// Replaces the hash of a password, which ends all logins.
    pub fn set_password(&self, account: AccountId, hash: &str, notice: &str) -> Result<()> {
        self.write(|tx| tx.set_password(account, hash, notice))
    }

    /// Changes what an account may use.
    pub fn change_limits(&self, account: AccountId, new: NewLimits) -> Result<()> {
        self.write(|tx| {
            tx.conn.execute(
                "UPDATE accounts SET storage_limit = coalesce(?2, storage_limit), \
                 bandwidth_limit = coalesce(?3, bandwidth_limit), \
                 file_count_limit = coalesce(?4, file_count_limit) WHERE id = ?1",
                params![
                    account.as_bytes(),
                    to_sql_limit(new.storage),
                    to_sql_limit(new.bandwidth),
                    to_sql_limit(new.files)
                ],
            )?;
            Ok(())
        })
    }

    /// Lists the logins of an account that have not ended, the oldest first.
    pub fn sessions(&self, account: AccountId) -> Result<Vec<Session>> {
        let now = self.source().now_ms();
        let sql = format!(
            "SELECT g.id, g.client, g.scope, g.created_at, \
             (SELECT max(t.expires_at) FROM refresh_tokens t WHERE t.grant_id = g.id) \
             FROM grants g WHERE g.account = :account AND {OPEN} ORDER BY g.created_at, g.id"
        );
        self.read(|conn| {
            Ok(conn
                .prepare(&sql)?
                .query_map(
                    named_params! {":account": account.as_bytes(), ":now": now},
                    |row| {
                        let expires: Option<i64> = row.get(4)?;
                        Ok(Session {
                            id: Uuid::from_bytes(row.get(0)?),
                            client: row.get(1)?,
                            scope: row.get(2)?,
                            created_at: Timestamp(row.get(3)?),
                            last_used_at: expires.map(|at| Timestamp(at - LOGIN_MS)),
                        })
                    },
                )?
                .collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Ends one login of an account, or all of them.
    ///
    /// # Errors
    /// 404 for a login that the account has not.
    pub fn end_sessions(&self, account: AccountId, only: Option<Uuid>) -> Result<()> {
        self.write(|tx| {
            let Some(id) = only else {
                return tx.end_all_logins(account);
            };
            let ended = tx.conn.execute(
                "UPDATE grants SET revoked_at = ?3 WHERE account = ?1 AND id = ?2 AND revoked_at IS NULL",
                params![account.as_bytes(), id.as_bytes(), tx.now],
            )?;
            if ended == 0 {
                return Err(Error::not_found(format!(
                    "the account has no login {id}; `user sessions` lists those it has"
                )));
            }
            tx.conn.execute(
                "DELETE FROM refresh_tokens WHERE grant_id = ?1",
                [id.as_bytes()],
            )?;
            Ok(())
        })
    }

    /// Returns true if a login has ended, which another process may have seen to.
    pub fn login_has_ended(&self, login: Uuid) -> Result<bool> {
        self.read(|conn| {
            Ok(conn
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM grants WHERE id = ?1 AND revoked_at IS NOT NULL)",
                )?
                .query_row([login.as_bytes()], |row| row.get(0))?)
        })
    }

    /// Deletes an account at once, without the 60 days. The objects are to be deleted by the caller.
    pub fn delete_account(&self, account: AccountId) -> Result<Purged> {
        self.write(|tx| {
            let mut purged = Purged::default();
            erasure::erase_account(tx, account, &mut purged)?;
            Ok(purged)
        })
    }
}
