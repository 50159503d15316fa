//! The history id of a signed log: the first one, and the new one that a log gets when the server is restored from a
//! backup, so that devices notice that commits may be missing.

use super::records::{Rows, damaged_error};
use crate::db::{self, Begin, Connection, Optional as _, params};
use crate::error::Result;
use crate::rows::id;
use cairn_log::SpaceState;
use cairn_model::SpaceId;
use sha2::{Digest as _, Sha256};
use std::path::Path;
use uuid::Uuid;

/// The key of the setting that a restored database has: the time in milliseconds, u64, and 16 random bytes.
const RESTORED: &str = "log_history";

/// The history with which the log of a space begins.
pub(super) struct FirstHistory {
    pub(super) history: [u8; 16],
    /// The time at which the service was restored, or 0.
    pub(super) restored_at_ms: u64,
}

/// Returns what a restore has left in the database, other bytes each time; none if it was never restored.
///
/// # Errors
/// A database that fails.
pub(crate) fn restored_mark(conn: &Connection) -> Result<Option<Vec<u8>>> {
    Ok(conn
        .prepare_cached("SELECT value FROM settings WHERE key = ?1")?
        .query_row([RESTORED], |row| row.get(0))
        .optional()?)
}

/// Returns the history with which a space's log begins. It follows from the history of this server's
/// database, so that it can be told before there is a log, and differs after a reset and after a restore:
/// the log may have been begun since the backup.
pub(super) fn of(conn: &Connection, server: &str, space: SpaceId) -> Result<FirstHistory> {
    let restored = restored_mark(conn)?.unwrap_or_default();
    let hash: [u8; 32] = Sha256::new()
        .chain_update(b"cairn history")
        .chain_update(space.as_bytes())
        .chain_update(&restored)
        .chain_update(server)
        .finalize()
        .into();
    Ok(FirstHistory {
        history: *hash.first_chunk().unwrap_or(&[0; 16]),
        restored_at_ms: restored
            .first_chunk()
            .map_or(0, |ms| u64::from_be_bytes(*ms)),
    })
}

/// Gives the feed of a restored database another history id, and each log another history, also one that it doesn't
/// know any more: what it forgot may be known to devices, which would else not be told of the restore, or take the
/// server for one that shows two histories.
///
/// # Errors
/// A file that is no database of this or an older server.
pub fn begin_restored_histories(database: &Path, now_ms: i64) -> Result<()> {
    let mut conn = Connection::open(database)?;
    // A database of an older server has no logs.
    let has_logs = conn.has_table("logs")?;
    let tx = conn.transaction(Begin::Write)?;
    if has_logs {
        begin_logs(&tx, now_ms)?;
    }
    let mut restored = now_ms.to_be_bytes().to_vec();
    restored.extend(Uuid::new_v4().as_bytes());
    tx.execute(
        "INSERT INTO settings (key, value) VALUES (?1, ?2) \
         ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        params![RESTORED, restored],
    )?;
    tx.commit()?;
    Ok(())
}

fn begin_logs(tx: &Connection, now_ms: i64) -> Result<()> {
    let logs: Vec<(i64, SpaceId, Vec<u8>)> = tx
        .prepare("SELECT s.row, s.id, l.core FROM logs l JOIN spaces s ON s.row = l.space")?
        .query_map([], |row| Ok((row.get(0)?, id(row, 1)?, row.get(2)?)))?
        .collect::<db::Result<_>>()?;
    for (space, id, core) in logs {
        let rows = Rows { conn: tx, space };
        let state = SpaceState::resume(id, &core, rows).map_err(|_| damaged_error("the state"))?;
        let state = state.with_history(*Uuid::new_v4().as_bytes());
        tx.execute(
            "UPDATE logs SET history = ?2, core = ?3, restored_at = ?4, restored_to = size \
             WHERE space = ?1",
            params![space, state.history(), state.core(), now_ms],
        )?;
    }
    Ok(())
}
