//! Responses kept for a day, so that a repeated request with the same key gets the same one.

use super::Store;
use crate::db::{Connection, Optional as _, params};
use crate::error::Result;
use cairn_model::AccountId;

/// The time that a response is kept.
const KEPT_MS: i64 = 24 * 3600 * 1000;
/// The bytes of the responses that are kept for one account; beyond them the oldest go.
const KEPT_BYTES: i64 = 16 * 1024 * 1024;

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

/// Deletes the oldest responses of an account until the others fit; the one to `latest` stays.
fn forget_beyond(conn: &Connection, account: AccountId, latest: &str) -> Result<()> {
    let mut kept = conn.prepare_cached("SELECT bytes FROM kept_responses WHERE account = ?1")?;
    let mut forget = conn.prepare_cached(
        "DELETE FROM idempotency WHERE account = ?1 AND key = (SELECT key FROM idempotency \
         WHERE account = ?1 AND key <> ?2 ORDER BY created_at LIMIT 1)",
    )?;
    loop {
        let bytes: i64 = kept.query_row([account.as_bytes()], |row| row.get(0))?;
        if bytes <= KEPT_BYTES || forget.execute(params![account.as_bytes(), latest])? == 0 {
            return Ok(());
        }
    }
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

    /// Keeps a response, and of those that are kept for the account as many of the latest as fit.
    pub fn remember(&self, account: AccountId, key: &str, response: &Remembered) -> Result<()> {
        let headers = serde_json::to_string(&response.headers).unwrap_or_default();
        self.write(|tx| {
            tx.conn
                .prepare_cached(
                    "DELETE FROM idempotency WHERE account = ?1 AND key = ?2",
                )?
                .execute(params![account.as_bytes(), key])?;
            tx.conn
                .prepare_cached(
                    "INSERT INTO idempotency (account, key, request, status, headers, body, created_at) \
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
            forget_beyond(tx.conn, account, key)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clock, Source};
    use std::sync::Arc;

    #[test]
    fn the_latest_responses_are_kept_within_a_bound() {
        let clock = Clock::Virtual { start_ms: 1_000 };
        let store = crate::testing::open(Arc::new(Source::new(clock, None)));
        let account = AccountId::from_random_bytes([1; 16]);
        let response = Remembered {
            request: [0; 32],
            status: 200,
            headers: Vec::new(),
            body: vec![b'x'; 1024 * 1024],
        };
        for number in 0..20 {
            store
                .remember(account, &format!("k{number:02}"), &response)
                .unwrap();
            store.source().advance(1);
        }
        // The same key again takes the place of the first.
        store.remember(account, "k19", &response).unwrap();
        let kept: Vec<u32> = (0..20)
            .filter(|number| {
                let key = format!("k{number:02}");
                store.remembered_response(account, &key).unwrap().is_some()
            })
            .collect();
        assert_eq!(kept, (5..20).collect::<Vec<u32>>());
        let other = AccountId::from_random_bytes([2; 16]);
        store.remember(other, "k", &response).unwrap();
        assert!(store.remembered_response(account, "k05").unwrap().is_some());
        store.source().advance(u64::try_from(KEPT_MS).unwrap());
        assert_eq!(store.forget_old_responses().unwrap(), 16);
        let bytes: i64 = store
            .read(|conn| {
                let sum = "SELECT sum(bytes) FROM kept_responses";
                Ok(conn.query_row(sum, [], |row| row.get(0))?)
            })
            .unwrap();
        assert_eq!(bytes, 0);
    }
}
