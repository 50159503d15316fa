//! Device authorization (RFC 8628): a code for the device, a short one for the person.

use super::logins::{Hash, Login};
use super::rows::optional_id;
use super::{Store, Tx};
use crate::db::{Optional as _, params};
use crate::error::{Error, Result};
use crate::scope::Scopes;
use cairn_model::AccountId;

/// The time that a person has to find the other device.
pub const DEVICE_CODE_S: u64 = 600;
/// Seconds between two polls, and what is added for a device that does not wait.
pub const INTERVAL_S: i64 = 2;
const SLOWER_S: i64 = 5;

/// A device that waits for its person.
#[derive(Clone, Debug)]
pub struct WaitingDevice {
    pub client: String,
    pub scope: Scopes,
}

/// The result of a poll.
#[derive(Debug)]
pub enum Polled {
    Pending,
    TooSoon,
    Denied,
    Allowed(Login),
    /// Unknown, expired, or used.
    Unknown,
}

struct DeviceRow {
    scope: Scopes,
    interval_s: i64,
    polled_at: Option<i64>,
    state: i64,
    account: Option<AccountId>,
    auth_time: Option<i64>,
}

impl Tx<'_> {
    fn poll(&self, hash: &Hash, client: &str, refresh: &Hash) -> Result<Polled> {
        let found = self
            .conn
            .prepare_cached(
                "SELECT scope, interval_s, polled_at, state, account, auth_time FROM device_codes \
                 WHERE hash = ?1 AND client = ?2 AND expires_at > ?3",
            )?
            .query_row(params![hash, client, self.now], |row| {
                Ok(DeviceRow {
                    scope: Scopes::parse(&row.get::<String>(0)?).unwrap_or_default(),
                    interval_s: row.get(1)?,
                    polled_at: row.get(2)?,
                    state: row.get(3)?,
                    account: optional_id(row, 4)?,
                    auth_time: row.get(5)?,
                })
            })
            .optional()?;
        let Some(device) = found else {
            return Ok(Polled::Unknown);
        };
        match (device.state, device.account) {
            (1, Some(account)) => {
                let login = Login {
                    id: self.fresh_uuid(),
                    account,
                    client: client.to_owned(),
                    scope: device.scope,
                    auth_time: device.auth_time.unwrap_or(self.now),
                };
                self.add_login(&login, Some(refresh))?;
                self.conn
                    .execute("DELETE FROM device_codes WHERE hash = ?1", [hash])?;
                Ok(Polled::Allowed(login))
            }
            (0, _) => {
                let too_soon = device
                    .polled_at
                    .is_some_and(|at| self.now - at < device.interval_s * 1000);
                let slower = if too_soon { SLOWER_S } else { 0 };
                self.conn.execute(
                    "UPDATE device_codes SET polled_at = ?2, interval_s = interval_s + ?3 WHERE hash = ?1",
                    params![hash, self.now, slower],
                )?;
                Ok(if too_soon {
                    Polled::TooSoon
                } else {
                    Polled::Pending
                })
            }
            _ => Ok(Polled::Denied),
        }
    }
}

impl Store {
    /// Keeps a pair of codes.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the person's code is in use.
    pub fn add_device_code(
        &self,
        hash: &Hash,
        user_code: &str,
        client: &str,
        scope: Scopes,
    ) -> Result<()> {
        let lifetime = i64::try_from(DEVICE_CODE_S * 1000).unwrap_or(i64::MAX);
        self.write(|tx| {
            let added = tx.conn.execute(
                "INSERT INTO device_codes (hash, user_code, client, scope, expires_at, interval_s, state) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0) ON CONFLICT (user_code) DO NOTHING",
                params![
                    hash,
                    user_code,
                    client,
                    scope.to_string(),
                    tx.now + lifetime,
                    INTERVAL_S
                ],
            )?;
            if added == 0 {
                return Err(Error::conflict("the code is in use; ask for another"));
            }
            Ok(())
        })
    }

    /// The device that waits under a person's code.
    pub fn waiting_device(&self, user_code: &str) -> Result<Option<WaitingDevice>> {
        let now = self.source.now_ms();
        self.read(|conn| {
            Ok(conn
                .prepare_cached(
                    "SELECT client, scope FROM device_codes WHERE user_code = ?1 AND state = 0 AND expires_at > ?2",
                )?
                .query_row(params![user_code, now], |row| {
                    Ok(WaitingDevice {
                        client: row.get(0)?,
                        scope: Scopes::parse(&row.get::<String>(1)?).unwrap_or_default(),
                    })
                })
                .optional()?)
        })
    }

    /// Lets a waiting device into an account, or, without one, turns it away; tells whether it waited.
    pub fn decide_device(&self, user_code: &str, account: Option<AccountId>) -> Result<bool> {
        self.write(|tx| {
            let changed = tx.conn.execute(
                "UPDATE device_codes SET state = \
                 CASE WHEN CAST(?2 AS BLOB) IS NULL THEN 2 ELSE 1 END, account = ?2, auth_time = ?3 \
                 WHERE user_code = ?1 AND state = 0 AND expires_at > ?3",
                params![user_code, account.as_ref().map(AccountId::as_bytes), tx.now],
            )?;
            Ok(changed > 0)
        })
    }

    /// Finds out what a person decided about a device.
    pub fn poll_device(&self, hash: &Hash, client: &str, refresh: &Hash) -> Result<Polled> {
        self.write(|tx| tx.poll(hash, client, refresh))
    }
}
