//! The logins of an account, as its owner and its administrators see and end them.

use super::administration::EVERYTHING;
use super::{Administrator, Store, Tx};
use crate::db::{self, Row, params};
use crate::error::{Error, Result};
use cairn_model::AccountId;
use cairn_wire::Timestamp;
use cairn_wire::admin::{AdminAction, Session};
use serde_json::json;
use uuid::Uuid;

/// The time for which an unused login lasts; a refresh token expires that long after it was made.
const LOGIN_MS: i64 = 60 * 24 * 3600 * 1000;

/// Logins that have not ended at the time `?1`; one without a refresh token lasts as long as its access token.
pub(super) const OPEN: &str = "g.revoked_at IS NULL AND EXISTS (SELECT 1 FROM refresh_tokens t \
     WHERE t.grant_id = g.id AND t.expires_at > ?1)";

fn session(row: &Row<'_>) -> db::Result<Session> {
    let expires: Option<i64> = row.get(4)?;
    Ok(Session {
        id: Uuid::from_bytes(row.get(0)?),
        client: row.get(1)?,
        scope: row.get(2)?,
        created_at: Timestamp(row.get(3)?),
        last_used_at: expires.map(|at| Timestamp(at - LOGIN_MS)),
    })
}

impl Tx<'_> {
    /// Ends every login of an account, and what could still become one.
    pub(super) fn end_all_logins(&self, account: AccountId) -> Result<()> {
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

    /// Ends one login of an account, or all of them.
    ///
    /// # Errors
    /// 404 for a login that the account has not.
    fn end_logins(&self, account: AccountId, only: Option<Uuid>) -> Result<()> {
        let Some(id) = only else {
            return self.end_all_logins(account);
        };
        let ended = self.conn.execute(
            "UPDATE grants SET revoked_at = ?3 WHERE account = ?1 AND id = ?2 AND revoked_at IS NULL",
            params![account.as_bytes(), id.as_bytes(), self.now],
        )?;
        if ended == 0 {
            return Err(Error::not_found(format!(
                "the account has no login {id} that goes on"
            )));
        }
        self.conn.execute(
            "DELETE FROM refresh_tokens WHERE grant_id = ?1",
            [id.as_bytes()],
        )?;
        Ok(())
    }
}

impl Store {
    /// Lists the logins of an account that have not ended, the oldest first.
    pub fn sessions(&self, account: AccountId) -> Result<Vec<Session>> {
        Ok(self.sessions_page(account, 0, EVERYTHING)?.0)
    }

    /// One page of the logins of an account that have not ended, the oldest first, and their number.
    pub fn sessions_page(
        &self,
        account: AccountId,
        skip: u64,
        take: u64,
    ) -> Result<(Vec<Session>, u64)> {
        let now = self.source().now_ms();
        let these = format!("FROM grants g WHERE g.account = ?2 AND {OPEN}");
        let sql = format!(
            "SELECT g.id, g.client, g.scope, g.created_at, \
             (SELECT max(t.expires_at) FROM refresh_tokens t WHERE t.grant_id = g.id) \
             {these} ORDER BY g.created_at, g.id LIMIT ?3 OFFSET ?4"
        );
        let account = account.as_bytes();
        self.read(|conn| {
            let total = conn.query_row(
                &format!("SELECT count(*) {these}"),
                params![now, account],
                |row| row.get(0),
            )?;
            let found = conn
                .prepare(&sql)?
                .query_map(params![now, account, take, skip], session)?
                .collect::<db::Result<_>>()?;
            Ok((found, total))
        })
    }

    /// Ends one login of an account, or all of them.
    ///
    /// # Errors
    /// 404 for a login that the account has not.
    pub fn end_sessions(
        &self,
        by: Administrator,
        account: AccountId,
        only: Option<Uuid>,
    ) -> Result<()> {
        self.write(|tx| {
            let data = json!({ "session": only });
            tx.note_admin_action(by, AdminAction::SessionsEnded, account, &data)?;
            tx.end_logins(account, only)
        })
    }

    /// Ends one login of an account, or all of them, for its owner.
    ///
    /// # Errors
    /// 404 for a login that the account has not.
    pub fn end_own_sessions(&self, account: AccountId, only: Option<Uuid>) -> Result<()> {
        self.write(|tx| tx.end_logins(account, only))
    }

    /// Returns true if a login or service account has ended, or a single token of it: another process may have seen to
    /// that.
    pub fn login_has_ended(&self, login: Uuid, token: Option<Uuid>) -> Result<bool> {
        let token = token.unwrap_or(login);
        self.read_one(|conn| {
            Ok(conn
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM grants WHERE id IN (?1, ?2) AND revoked_at IS NOT NULL) \
                     OR EXISTS (SELECT 1 FROM service_accounts WHERE id = ?1 AND deleted_at IS NOT NULL)",
                )?
                .query_row(params![login.as_bytes(), token.as_bytes()], |row| row.get(0))?)
        })
    }
}
