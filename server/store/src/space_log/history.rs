//! The id of a log's history: before its first commit, and after the service was restored.

use super::records::{Rows, damaged};
use crate::error::Result;
use crate::rows::id;
use cairn_log::SpaceState;
use cairn_model::SpaceId;
use rusqlite::{Connection, params};
use sha2::{Digest as _, Sha256};
use std::path::Path;
use uuid::Uuid;

/// Returns the history id with which a space's log begins. It follows from the history of this server's
/// database, so that it can be told before there is a log, and differs after a reset.
pub(super) fn of(server: &str, space: SpaceId) -> [u8; 16] {
    let hash: [u8; 32] = Sha256::new()
        .chain_update(b"cairn history")
        .chain_update(space.as_bytes())
        .chain_update(server)
        .finalize()
        .into();
    *hash.first_chunk().unwrap_or(&[0; 16])
}

/// Gives each log of a restored database another history: what it forgot may be known to devices, which
/// would else take the server for one that shows two histories.
///
/// # Errors
/// A file that is no database of this or an older server.
pub fn begin_restored_histories(database: &Path, now_ms: i64) -> Result<()> {
    let mut conn = Connection::open(database)?;
    // A database of an older server has no logs.
    if !conn.table_exists(None, "logs")? {
        return Ok(());
    }
    let tx = conn.transaction()?;
    let logs: Vec<(i64, SpaceId, Vec<u8>)> = tx
        .prepare("SELECT s.row, s.id, l.core FROM logs l JOIN spaces s ON s.row = l.space")?
        .query_map([], |row| Ok((row.get(0)?, id(row, 1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (space, id, core) in logs {
        let rows = Rows { conn: &tx, space };
        let state = SpaceState::resume(id, &core, rows).map_err(|_| damaged("the state"))?;
        let state = state.with_history(*Uuid::new_v4().as_bytes());
        tx.execute(
            "UPDATE logs SET history = ?2, core = ?3, restored_at = ?4, restored_to = size \
             WHERE space = ?1",
            params![space, state.history(), state.core(), now_ms],
        )?;
    }
    tx.commit()?;
    Ok(())
}
