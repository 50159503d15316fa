//! The devices of an account: their names, when they were seen, and the end of their logins.

use super::Store;
use super::page::read_page;
use super::rows::id;
use crate::db::{self, params};
use crate::error::{Error, Result};
use cairn_model::{AccountId, DeviceId};
use cairn_wire::Timestamp;
use cairn_wire::account::{Device, KnownDevice};
use uuid::Uuid;

/// The condition of devices that were not removed, or were seen since.
const LISTED: &str = "account = ?1 AND (removed_at IS NULL OR seen_at > removed_at)";

impl Store {
    /// Registers a device or renames it.
    pub fn put_device(&self, account: AccountId, device: &Device) -> Result<()> {
        self.write(|tx| {
            tx.conn.execute(
                "INSERT INTO devices (account, id, name, created_at) VALUES (?1, ?2, ?3, ?4) \
                 ON CONFLICT (account, id) DO UPDATE SET name = excluded.name, removed_at = NULL",
                params![
                    account.as_bytes(),
                    device.id.as_bytes(),
                    device.name,
                    tx.now
                ],
            )?;
            Ok(())
        })
    }

    /// One page of an account's devices, oldest first, and their number.
    pub fn devices(
        &self,
        account: AccountId,
        skip: u64,
        take: u64,
    ) -> Result<(Vec<KnownDevice>, u64)> {
        self.read(|conn| {
            let count = format!("SELECT count(*) FROM devices WHERE {LISTED}");
            let list = format!(
                "SELECT id, name, seen_at FROM devices WHERE {LISTED} \
                 ORDER BY created_at, id LIMIT ?3 OFFSET ?2"
            );
            let which = params![account.as_bytes()];
            read_page(conn, (&count, &list), which, (skip, take), |row| {
                Ok(KnownDevice {
                    id: id(row, 0)?,
                    name: row.get(1)?,
                    last_seen_at: row.get::<Option<i64>>(2)?.map(Timestamp),
                })
            })
        })
    }

    /// Notes that a device of the account was there, and which login it uses.
    pub fn see_device(
        &self,
        account: AccountId,
        device: DeviceId,
        login: Option<Uuid>,
    ) -> Result<()> {
        self.write(|tx| {
            tx.conn.execute(
                "UPDATE devices SET seen_at = ?3 WHERE account = ?1 AND id = ?2",
                params![account.as_bytes(), device.as_bytes(), tx.now],
            )?;
            // A login stays with the device that used it first: whoever holds its token can send any id.
            if let Some(login) = login {
                tx.conn.execute(
                    "UPDATE grants SET device = ?3 WHERE id = ?2 AND account = ?1 AND device IS NULL",
                    params![account.as_bytes(), login.as_bytes(), device.as_bytes()],
                )?;
            }
            Ok(())
        })
    }

    /// Removes a device from the list and ends its logins. Returns these.
    ///
    /// # Errors
    /// 404 for a device that is not listed.
    pub fn remove_device(&self, account: AccountId, device: DeviceId) -> Result<Vec<Uuid>> {
        self.write(|tx| {
            let removed = tx.conn.execute(
                &format!("UPDATE devices SET removed_at = ?3 WHERE {LISTED} AND id = ?2"),
                params![account.as_bytes(), device.as_bytes(), tx.now],
            )?;
            if removed == 0 {
                return Err(Error::not_found(format!("there is no device {device}")));
            }
            let logins: Vec<Uuid> = tx
                .conn
                .prepare_cached(
                    "SELECT id FROM grants WHERE account = ?1 AND device = ?2 AND revoked_at IS NULL",
                )?
                .query_map(params![account.as_bytes(), device.as_bytes()], |row| {
                    row.get(0).map(Uuid::from_bytes)
                })?
                .collect::<db::Result<_>>()?;
            for login in &logins {
                tx.end_login(*login)?;
            }
            Ok(logins)
        })
    }
}
