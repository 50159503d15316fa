//! API keys: only the SHA-256 of a key is stored.

use super::access::{self, Table};
use super::caps::Cap;
use super::page::read_page;
use super::rows::id;
use super::{Space, Store};
use crate::db::{self, Optional as _, Row, params};
use crate::error::Result;
use cairn_model::AccountId;
use cairn_wire::Timestamp;
use cairn_wire::account::ApiKey;
use uuid::Uuid;

/// Keys that are in force; `?2` is the time.
const MAX_ACTIVE: Cap = Cap {
    rows: "api_keys WHERE account = ?1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?2)",
    most: 10,
    whose: "the account has",
    name: "active API keys",
};
/// `last_used_at` is written at most this often, so that a request costs no write.
const USE_PRECISION_MS: i64 = 60_000;

/// The holder of a key.
#[derive(Clone, Copy, Debug)]
pub struct KeyHolder {
    pub account: AccountId,
    pub space: Space,
    /// The administrator has switched the account off.
    pub disabled: bool,
}

fn api_key(row: &Row<'_>, now: i64) -> db::Result<ApiKey> {
    let expires_at: Option<i64> = row.get(4)?;
    let revoked: Option<i64> = row.get(6)?;
    Ok(ApiKey {
        id: Uuid::from_bytes(row.get(0)?).to_string(),
        name: row.get(1)?,
        prefix: row.get(2)?,
        created_at: Timestamp(row.get(3)?),
        expires_at: expires_at.map(Timestamp),
        last_used_at: row.get::<Option<i64>>(5)?.map(Timestamp),
        active: revoked.is_none() && expires_at.is_none_or(|at| at > now),
    })
}

impl Store {
    /// Stores a key's hash under a new id.
    ///
    /// # Errors
    /// 409 if the account has ten active keys.
    pub fn add_api_key(
        &self,
        account: AccountId,
        name: &str,
        prefix: &str,
        hash: [u8; 32],
        expires_in_ms: Option<i64>,
    ) -> Result<ApiKey> {
        self.write(|tx| {
            MAX_ACTIVE.check(tx.conn, params![account.as_bytes(), tx.now])?;
            let id = uuid::Builder::from_random_bytes(tx.source.bytes()).into_uuid();
            let expires_at = expires_in_ms.map(|ms| tx.now.saturating_add(ms));
            tx.conn.execute(
                "INSERT INTO api_keys (id, account, name, prefix, hash, created_at, expires_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    id.as_bytes(),
                    account.as_bytes(),
                    name,
                    prefix,
                    hash,
                    tx.now,
                    expires_at
                ],
            )?;
            Ok(ApiKey {
                id: id.to_string(),
                name: name.to_owned(),
                prefix: prefix.to_owned(),
                created_at: Timestamp(tx.now),
                expires_at: expires_at.map(Timestamp),
                last_used_at: None,
                active: true,
            })
        })
    }

    /// Returns `true` for a key that was ever stored, in force or not.
    pub fn knows_key(&self, hash: &[u8; 32]) -> Result<bool> {
        self.read(|conn| {
            Ok(conn.query_row(
                "SELECT EXISTS (SELECT 1 FROM api_keys WHERE hash = ?1)",
                [hash],
                |row| row.get(0),
            )?)
        })
    }

    /// The holder of an active key.
    pub fn key_holder(&self, hash: &[u8; 32]) -> Result<Option<KeyHolder>> {
        let now = self.source().now_ms();
        let found = self.read_one(|conn| {
            Ok(conn
                .prepare_cached(
                    "SELECT k.account, k.last_used_at, s.row, s.id, a.disabled_at IS NOT NULL FROM api_keys k \
                     JOIN accounts a ON a.id = k.account JOIN spaces s ON s.row = a.space \
                     WHERE k.hash = ?1 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ?2)",
                )?
                .query_row(params![hash, now], |row| {
                    let space = Space { row: row.get(2)?, id: id(row, 3)? };
                    let holder = KeyHolder { account: id(row, 0)?, space, disabled: row.get(4)? };
                    Ok((holder, row.get::<Option<i64>>(1)?))
                })
                .optional()?)
        })?;
        let Some((holder, last_used)) = found else {
            return Ok(None);
        };
        if last_used.is_none_or(|at| now - at >= USE_PRECISION_MS) {
            self.write(|tx| {
                tx.conn
                    .prepare_cached("UPDATE api_keys SET last_used_at = ?2 WHERE hash = ?1")?
                    .execute(params![hash, now])?;
                Ok(())
            })?;
        }
        Ok(Some(holder))
    }

    /// One page of an account's keys, newest first, and their number.
    pub fn api_keys(&self, account: AccountId, skip: u64, take: u64) -> Result<(Vec<ApiKey>, u64)> {
        let now = self.source().now_ms();
        self.read(|conn| {
            let count = "SELECT count(*) FROM api_keys WHERE account = ?1";
            let list = "SELECT id, name, prefix, created_at, expires_at, last_used_at, revoked_at FROM api_keys \
                        WHERE account = ?1 ORDER BY created_at DESC, id LIMIT ?3 OFFSET ?2";
            let which = params![account.as_bytes()];
            read_page(conn, (count, list), which, (skip, take), |row| api_key(row, now))
        })
    }

    /// Revokes a key; one that is revoked already stays so.
    ///
    /// # Errors
    /// 404 for a key that does not exist, 403 for one of somebody else.
    pub fn revoke_api_key(&self, account: AccountId, key: Uuid) -> Result<()> {
        self.write(|tx| {
            let changed = tx.conn.execute(
                "UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?3) WHERE account = ?1 AND id = ?2",
                params![account.as_bytes(), key.as_bytes(), tx.now],
            )?;
            if changed == 0 {
                let what = format!("API key {key}");
                return Err(access::absent_error(tx.conn, Table::ApiKeys, key.as_bytes(), &what));
            }
            Ok(())
        })
    }
}
