//! The devices of an account.

use super::Store;
use super::rows::id;
use crate::error::Result;
use cairn_model::AccountId;
use cairn_wire::account::Device;
use rusqlite::params;

impl Store {
    /// Registers a device or renames it.
    pub fn put_device(&self, account: AccountId, device: &Device) -> Result<()> {
        self.write(|tx| {
            tx.conn.execute(
                "INSERT INTO devices (account, id, name, created_at) VALUES (?1, ?2, ?3, ?4) \
                 ON CONFLICT (account, id) DO UPDATE SET name = excluded.name",
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
    pub fn devices(&self, account: AccountId, skip: u64, take: u64) -> Result<(Vec<Device>, u64)> {
        self.read(|conn| {
            let total = conn.query_row(
                "SELECT count(*) FROM devices WHERE account = ?1",
                [account.as_bytes()],
                |row| row.get(0),
            )?;
            let devices = conn
                .prepare_cached(
                    "SELECT id, name FROM devices WHERE account = ?1 ORDER BY created_at, id LIMIT ?3 OFFSET ?2",
                )?
                .query_map(params![account.as_bytes(), skip, take], |row| {
                    Ok(Device { id: id(row, 0)?, name: row.get(1)? })
                })?
                .collect::<rusqlite::Result<_>>()?;
            Ok((devices, total))
        })
    }
}
