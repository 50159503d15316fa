//! Responses kept for a day, so that a repeated request with the same key gets the same one.

use super::Store;
use crate::error::Result;
use cairn_model::AccountId;
use rusqlite::{OptionalExtension as _, params};

/// The time that a response is kept.
const KEPT_MS: i64 = 24 * 3600 * 1000;

/// A response as it went out, and the request that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// SHA-256 of method, path and body.
    pub request: [u8; 32],
    pub status: u16,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Store {
    pub fn remembered_response(&self, account: AccountId, key: &str) -> Result<Option<Remembered>> {
        let oldest = self.source().now_ms() - KEPT_MS;
        self.read(|conn| {
            Ok(conn
                .prepare_cached(
                    "SELECT request, status, headers, body FROM idempotency \
                     WHERE account = ?1 AND key = ?2 AND created_at > ?3",
                )?
                .query_row(params![account.as_bytes(), key, oldest], |row| {
                    let headers: String = row.get(2)?;
                    Ok(Remembered {
                        request: row.get(0)?,
                        status: row.get(1)?,
                        headers: serde_json::from_str(&headers).unwrap_or_default(),
                        body: row.get(3)?,
                    })
                })
                .optional()?)
        })
    }

    pub fn remember(&self, account: AccountId, key: &str, response: &Remembered) -> Result<()> {
        let headers = serde_json::to_string(&response.headers).unwrap_or_default();
        self.write(|tx| {
            tx.conn
                .prepare_cached(
                    "INSERT OR REPLACE INTO idempotency (account, key, request, status, headers, body, created_at) \
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?
                .execute(params![
                    account.as_bytes(),
                    key,
                    response.request,
                    response.status,
                    headers,
                    response.body,
                    tx.now
                ])?;
            Ok(())
        })
    }

    /// Deletes responses that nobody may ask for any more; returns their number.
    pub fn forget_old_responses(&self) -> Result<u64> {
        self.write(|tx| {
            let gone = tx.conn.execute(
                "DELETE FROM idempotency WHERE created_at <= ?1",
                [tx.now - KEPT_MS],
            )?;
            Ok(gone as u64)
        })
    }
}
