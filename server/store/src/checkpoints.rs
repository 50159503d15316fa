//! Checkpoints: the state of a space (one account's files, or a team's) that each device says to the others that it
//! sees. They are sealed; the server can't read them.

use super::rows::id;
use super::{Space, Store};
use crate::db::{self, params};
use crate::error::{Error, Result};
use cairn_model::{AccountId, DeviceId};
use cairn_wire::checkpoints::{Checkpoints, DeviceCheckpoint};
use cairn_wire::{Sealed, Timestamp};

/// Checkpoints that are returned at most.
const MOST: u64 = 200;

/// Lists those of devices that are still listed, and of people who still belong to the space.
const LIST: &str = "SELECT c.device, c.sealed, c.updated_at FROM checkpoints c \
     JOIN devices d ON d.account = c.account AND d.id = c.device \
     WHERE c.space = ?1 AND (d.removed_at IS NULL OR d.seen_at > d.removed_at) \
     AND (NOT EXISTS (SELECT 1 FROM teams t WHERE t.space = ?1) \
     OR EXISTS (SELECT 1 FROM teams t JOIN team_members m ON m.team = t.id \
     WHERE t.space = ?1 AND m.account = c.account)) \
     ORDER BY c.updated_at DESC, c.device LIMIT ?2";

impl Store {
    /// Replaces the checkpoint of a device.
    ///
    /// # Errors
    /// 404 for a device that is not registered.
    pub fn put_checkpoint(
        &self,
        space: Space,
        account: AccountId,
        device: DeviceId,
        sealed: Sealed,
    ) -> Result<DeviceCheckpoint> {
        self.write(|tx| {
            let put = tx.conn.execute(
                "INSERT INTO checkpoints (space, account, device, sealed, updated_at) \
                 SELECT ?1, account, id, ?4, ?5 FROM devices WHERE account = ?2 AND id = ?3 \
                 ON CONFLICT (space, account, device) \
                 DO UPDATE SET sealed = excluded.sealed, updated_at = excluded.updated_at",
                params![
                    space.row,
                    account.as_bytes(),
                    device.as_bytes(),
                    sealed.0,
                    tx.now
                ],
            )?;
            if put == 0 {
                return Err(Error::not_found(format!("there is no device {device}")));
            }
            Ok(DeviceCheckpoint {
                device_id: device,
                sealed,
                updated_at: Timestamp(tx.now),
            })
        })
    }

    /// Returns the checkpoints of a space, the latest first.
    pub fn checkpoints(&self, space: Space) -> Result<Checkpoints> {
        self.read(|conn| {
            let checkpoints = conn
                .prepare_cached(LIST)?
                .query_map(params![space.row, MOST], |row| {
                    Ok(DeviceCheckpoint {
                        device_id: id(row, 0)?,
                        sealed: Sealed(row.get(1)?),
                        updated_at: Timestamp(row.get(2)?),
                    })
                })?
                .collect::<db::Result<_>>()?;
            Ok(Checkpoints { checkpoints })
        })
    }
}
