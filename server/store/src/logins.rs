//! Logins of clients: authorization codes, and the refresh tokens that replace each other.
//!
//! A code that comes twice, or a refresh token whose successor has been used, is in the hands of
//! two: its login ends. A successor that was never used is replaced without harm, so that a response
//! that got lost costs nobody a login. For a minute a replaced successor can still be used, so that two refreshes at
//! the same moment cost nobody a login either, whichever response is kept.

use super::rows::id as read_id;
use super::{Store, Tx};
use crate::db::{self, Optional as _, Row, params};
use crate::error::Result;
use crate::scope::Scopes;
use cairn_model::AccountId;
use uuid::Uuid;

/// RFC 6749 asks for ten minutes at most; a browser needs a second.
const CODE_MS: i64 = 60_000;
/// The time that a login lasts without being used.
const REFRESH_MS: i64 = 60 * 24 * 3600 * 1000;

/// The age up to which a refresh token that was never used may have been sent to the same client as its replacement:
/// two requests of one client at the same moment, or one and its repetition.
const PARALLEL_MS: i64 = 60_000;

/// The SHA-256 of a code or token.
pub type Hash = [u8; 32];

/// A login of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    pub id: Uuid,
    pub account: AccountId,
    pub client: String,
    pub scope: Scopes,
    pub auth_time: i64,
}

/// The data that an authorization code stands for.
#[derive(Clone, Debug)]
pub struct NewCode {
    pub account: AccountId,
    pub client: String,
    pub redirect_uri: String,
    pub challenge: String,
    pub scope: Scopes,
    pub nonce: Option<String>,
}

/// The result of presenting a code or a refresh token.
#[derive(Debug)]
pub enum Presented {
    /// The login, and the nonce of its authorization request.
    Good {
        login: Login,
        nonce: Option<String>,
    },
    /// A token that has been used before: the login has ended.
    Again(Uuid),
    Unknown,
}

const LOGIN: &str = "id, account, client, scope, auth_time";

fn login(row: &Row<'_>) -> db::Result<Login> {
    Ok(Login {
        id: Uuid::from_bytes(row.get(0)?),
        account: read_id(row, 1)?,
        client: row.get(2)?,
        scope: Scopes::parse(&row.get::<String>(3)?).unwrap_or_default(),
        auth_time: row.get(4)?,
    })
}

impl Tx<'_> {
    /// Makes a login; with `refresh`, its first refresh token.
    pub(super) fn add_login(&self, new: &Login, refresh: Option<&Hash>) -> Result<()> {
        self.conn.execute(
            "INSERT INTO grants (id, account, client, scope, auth_time, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                new.id.as_bytes(),
                new.account.as_bytes(),
                new.client,
                new.scope.to_string(),
                new.auth_time,
                self.now
            ],
        )?;
        if let Some(hash) = refresh.filter(|_| new.scope.has(Scopes::OFFLINE)) {
            self.add_refresh(new.id, hash)?;
        }
        Ok(())
    }

    pub(super) fn fresh_uuid(&self) -> Uuid {
        self.source
            .id(|bytes| uuid::Builder::from_random_bytes(bytes).into_uuid())
    }

    fn add_refresh(&self, login: Uuid, hash: &Hash) -> Result<()> {
        self.conn.execute(
            "INSERT INTO refresh_tokens (hash, grant_id, expires_at) VALUES (?1, ?2, ?3)",
            params![hash, login.as_bytes(), self.now + REFRESH_MS],
        )?;
        Ok(())
    }

    /// Replaces the successor of a refresh token, which was never used, by `next`; false if it was used, or was given
    /// up.
    ///
    /// A young one may still come from a client that refreshed more than once at the same moment: it has `next` as its
    /// successor, and so have those that it has replaced itself. An older one is given up, so that whoever has it is
    /// noticed when using it: two who take turns would otherwise share the login for good.
    fn replace_unused(
        &self,
        presented: &RefreshRow,
        successor: &[u8],
        next: &Hash,
    ) -> Result<bool> {
        let young = self.now + REFRESH_MS - PARALLEL_MS;
        let changed = self.conn.execute(
            "UPDATE refresh_tokens SET replaced_by = CASE WHEN expires_at > ?3 THEN ?2 ELSE x'' END \
             WHERE hash = ?1 AND replaced_by IS NULL",
            params![successor, next, young],
        )?;
        if changed == 0 {
            return Ok(false);
        }
        // Not those before the presented one: their successor has been used.
        self.conn.execute(
            "UPDATE refresh_tokens SET replaced_by = ?3 WHERE grant_id = ?1 AND replaced_by = ?2 AND expires_at > ?4 \
             AND expires_at > ?5",
            params![presented.login, successor, next, presented.expires_at, young],
        )?;
        Ok(true)
    }

    pub(super) fn end_login(&self, login: Uuid) -> Result<()> {
        self.conn.execute(
            "UPDATE grants SET revoked_at = coalesce(revoked_at, ?2) WHERE id = ?1",
            params![login.as_bytes(), self.now],
        )?;
        self.conn.execute(
            "DELETE FROM refresh_tokens WHERE grant_id = ?1",
            [login.as_bytes()],
        )?;
        Ok(())
    }

    fn login_in_force(&self, id: Uuid) -> Result<Option<Login>> {
        let sql = format!("SELECT {LOGIN} FROM grants WHERE id = ?1 AND revoked_at IS NULL");
        Ok(self
            .conn
            .prepare_cached(&sql)?
            .query_row([id.as_bytes()], login)
            .optional()?)
    }
}

/// A refresh token, as it is kept.
struct RefreshRow {
    login: [u8; 16],
    /// The successor; empty if it was given up before it was used.
    replaced_by: Option<Vec<u8>>,
    expires_at: i64,
}

fn refresh_row(row: &Row<'_>) -> db::Result<RefreshRow> {
    Ok(RefreshRow {
        login: row.get(0)?,
        replaced_by: row.get(1)?,
        expires_at: row.get(2)?,
    })
}

struct CodeRow {
    code: NewCode,
    auth_time: i64,
    used_for: Option<[u8; 16]>,
}

fn code_row(row: &Row<'_>) -> db::Result<CodeRow> {
    Ok(CodeRow {
        code: NewCode {
            account: read_id(row, 0)?,
            client: row.get(1)?,
            redirect_uri: row.get(2)?,
            challenge: row.get(3)?,
            scope: Scopes::parse(&row.get::<String>(4)?).unwrap_or_default(),
            nonce: row.get(5)?,
        },
        auth_time: row.get(6)?,
        used_for: row.get(7)?,
    })
}

impl Store {
    /// Keeps a code for a minute.
    pub fn add_code(&self, hash: &Hash, new: &NewCode) -> Result<()> {
        self.write(|tx| {
            tx.conn.execute(
                "INSERT INTO authorization_codes (hash, account, client, redirect_uri, challenge, scope, nonce, \
                 auth_time, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                params![
                    hash,
                    new.account.as_bytes(),
                    new.client,
                    new.redirect_uri,
                    new.challenge,
                    new.scope.to_string(),
                    new.nonce,
                    tx.now,
                    tx.now + CODE_MS
                ],
            )?;
            Ok(())
        })
    }

    /// Makes a login of a code, if `fits` says that it was issued to whoever presents it.
    pub fn redeem_code(
        &self,
        hash: &Hash,
        refresh: &Hash,
        fits: impl FnOnce(&NewCode) -> bool,
    ) -> Result<Presented> {
        self.write(|tx| {
            let found = tx
                .conn
                .prepare_cached(
                    "SELECT account, client, redirect_uri, challenge, scope, nonce, auth_time, grant_id \
                     FROM authorization_codes WHERE hash = ?1 AND expires_at > ?2",
                )?
                .query_row(params![hash, tx.now], code_row)
                .optional()?;
            let Some(found) = found.filter(|found| fits(&found.code)) else {
                return Ok(Presented::Unknown);
            };
            if let Some(used_for) = found.used_for.map(Uuid::from_bytes) {
                tx.end_login(used_for)?;
                return Ok(Presented::Again(used_for));
            }
            let new = Login {
                id: tx.fresh_uuid(),
                account: found.code.account,
                client: found.code.client,
                scope: found.code.scope,
                auth_time: found.auth_time,
            };
            tx.add_login(&new, Some(refresh))?;
            tx.conn.execute(
                "UPDATE authorization_codes SET grant_id = ?2 WHERE hash = ?1",
                params![hash, new.id.as_bytes()],
            )?;
            Ok(Presented::Good {
                login: new,
                nonce: found.code.nonce,
            })
        })
    }

    /// Replaces a client's refresh token by `next`.
    pub fn rotate_refresh(&self, hash: &Hash, next: &Hash, client: &str) -> Result<Presented> {
        self.write(|tx| {
            let found = tx
                .conn
                .prepare_cached(
                    "SELECT grant_id, replaced_by, expires_at FROM refresh_tokens WHERE hash = ?1 AND expires_at > ?2",
                )?
                .query_row(params![hash, tx.now], refresh_row)
                .optional()?;
            let Some(found) = found else {
                return Ok(Presented::Unknown);
            };
            let id = Uuid::from_bytes(found.login);
            let Some(login) = tx.login_in_force(id)?.filter(|one| one.client == client) else {
                return Ok(Presented::Unknown);
            };
            if let Some(successor) = &found.replaced_by
                && !tx.replace_unused(&found, successor, next)?
            {
                tx.end_login(id)?;
                return Ok(Presented::Again(id));
            }
            tx.add_refresh(id, next)?;
            tx.conn.execute(
                "UPDATE refresh_tokens SET replaced_by = ?2 WHERE hash = ?1",
                params![hash, next],
            )?;
            Ok(Presented::Good { login, nonce: None })
        })
    }

    /// Ends the login of a client's refresh token.
    pub fn revoke_refresh(&self, hash: &Hash, client: &str) -> Result<Option<Uuid>> {
        self.write(|tx| {
            let found: Option<[u8; 16]> = tx
                .conn
                .query_row(
                    "SELECT g.id FROM refresh_tokens t JOIN grants g ON g.id = t.grant_id \
                     WHERE t.hash = ?1 AND g.client = ?2",
                    params![hash, client],
                    |row| row.get(0),
                )
                .optional()?;
            let found = found.map(Uuid::from_bytes);
            if let Some(login) = found {
                tx.end_login(login)?;
            }
            Ok(found)
        })
    }

    /// Ends a client's login.
    pub fn revoke_login(&self, login: Uuid, client: &str) -> Result<bool> {
        self.write(|tx| {
            let ours = tx
                .login_in_force(login)?
                .is_some_and(|found| found.client == client);
            if ours {
                tx.end_login(login)?;
            }
            Ok(ours)
        })
    }

    /// Ends a single access token of a service account, which has no login of its own: it is kept as one that has
    /// ended, under the token's id.
    pub fn end_token(&self, token: &Login) -> Result<()> {
        self.write(|tx| {
            tx.conn.execute(
                "INSERT INTO grants (id, account, client, scope, auth_time, created_at, revoked_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6) ON CONFLICT DO NOTHING",
                params![
                    token.id.as_bytes(),
                    token.account.as_bytes(),
                    token.client,
                    token.scope.to_string(),
                    token.auth_time,
                    tx.now
                ],
            )?;
            Ok(())
        })
    }

    /// Logins and service accounts that ended after `since`: their access tokens may not have expired.
    pub fn logins_ended_since(&self, since: i64) -> Result<Vec<Uuid>> {
        self.read(|conn| {
            Ok(conn
                .prepare(
                    "SELECT id FROM grants WHERE revoked_at > ?1 \
                     UNION ALL SELECT id FROM service_accounts WHERE deleted_at > ?1",
                )?
                .query_map([since], |row| row.get(0).map(Uuid::from_bytes))?
                .collect::<db::Result<_>>()?)
        })
    }

    /// Forgets codes and tokens that have expired, and logins that have none left.
    pub fn forget_old_logins(&self) -> Result<u64> {
        self.write(|tx| {
            let mut gone = 0;
            for table in ["authorization_codes", "device_codes", "refresh_tokens"] {
                let sql = format!("DELETE FROM {table} WHERE expires_at <= ?1");
                gone += tx.conn.execute(&sql, [tx.now])?;
            }
            // An access token outlives its login by ten minutes.
            gone += tx.conn.execute(
                "DELETE FROM grants WHERE created_at <= ?1 AND coalesce(revoked_at, 0) <= ?1 AND NOT EXISTS \
                 (SELECT 1 FROM refresh_tokens WHERE grant_id = grants.id)",
                [tx.now - 24 * 3600 * 1000],
            )?;
            Ok(gone as u64)
        })
    }
}
