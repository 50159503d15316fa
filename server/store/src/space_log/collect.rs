//! Deletes objects (encrypted blobs) of signed logs: those that no commit named in time, and those that nothing names
//! any more. Each pass is a transaction over a bounded number of rows.

use super::objects::delete;
use super::uses::statement_user;
use crate::db::{self, Optional as _, params};
use crate::error::Result;
use crate::{Store, Tx, needed};

/// The time for which an object waits for the commit that names it.
const KEPT_MS: i64 = 7 * 24 * 3600 * 1000;
/// Rows of a kind that one pass works off.
const PER_PASS: usize = 1_000;

/// The result of a pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CollectedSpaceObjects {
    /// The names of files to delete.
    pub files: Vec<String>,
    /// Another pass would find nothing.
    pub is_done: bool,
}

/// Deletes objects that have waited for a commit in vain. One by one: a deletion of all that a query finds would read the
/// whole table.
fn collect_unnamed(tx: &Tx<'_>) -> Result<Vec<String>> {
    let old: Vec<(i64, [u8; 32], [u8; 16])> = tx
        .conn
        .prepare_cached(
            "SELECT space, id, sender FROM log_objects INDEXED BY log_objects_unnamed \
             WHERE named_at IS NULL AND sent_at <= ?1 LIMIT ?2",
        )?
        .query_map(params![tx.now - KEPT_MS, PER_PASS], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?
        .collect::<db::Result<_>>()?;
    let mut files = Vec::new();
    for (space, id, sender) in &old {
        let one = "space = ?1 AND id = ?2 AND sender = ?3";
        files.extend(delete(tx.conn, one, &[space, id, sender])?);
    }
    Ok(files)
}

/// Takes their uses from statements about a node that was deleted for good. Returns false if there is no such node.
fn collect_ended(tx: &Tx<'_>) -> Result<bool> {
    let ended: Option<(i64, [u8; 16], i64)> = tx
        .conn
        .prepare_cached("SELECT space, element, reached FROM log_ended LIMIT 1")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((space, element, reached)) = ended else {
        return Ok(false);
    };
    // One more than is worked off: it tells that something is left. A node has one statement in a commit.
    let statements: Vec<(u64, u32)> = tx
        .conn
        .prepare_cached(
            "SELECT position, part FROM log_items INDEXED BY log_items_element \
             WHERE space = ?1 AND element = ?2 AND class = 0 AND is_entry = 0 AND position > ?3 \
             ORDER BY position LIMIT ?4",
        )?
        .query_map(params![space, element, reached, PER_PASS], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?
        .collect::<db::Result<_>>()?;
    let mut release = tx
        .conn
        .prepare_cached("DELETE FROM log_uses WHERE space = ?1 AND \"user\" = ?2")?;
    for (position, part) in &statements {
        release.execute(params![space, statement_user(*position, *part)])?;
    }
    match statements.last() {
        Some((position, _)) => tx
            .conn
            .prepare_cached("UPDATE log_ended SET reached = ?3 WHERE space = ?1 AND element = ?2")?
            .execute(params![space, element, position])?,
        None => tx
            .conn
            .prepare_cached("DELETE FROM log_ended WHERE space = ?1 AND element = ?2")?
            .execute(params![space, element])?,
    };
    Ok(true)
}

/// Deletes objects that nothing names any more. A manifest first lets go of what lies within it, in as many passes as that
/// takes. Returns the files and whether there was anything to do.
fn collect_unused(tx: &Tx<'_>) -> Result<(Vec<String>, bool)> {
    let sql = format!(
        "SELECT o.space, o.id FROM log_objects o INDEXED BY log_objects_unused WHERE {} LIMIT ?1",
        needed::all(&needed::SPACE_OBJECT)
    );
    let unused: Vec<(i64, [u8; 32])> = tx
        .conn
        .prepare_cached(&sql)?
        .query_map([PER_PASS], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<db::Result<_>>()?;
    let (mut files, mut room) = (Vec::new(), PER_PASS);
    for (space, id) in &unused {
        let released = tx
            .conn
            .prepare_cached(
                "DELETE FROM log_uses WHERE space = ?1 AND \"user\" = ?2 AND id IN \
                 (SELECT id FROM log_uses WHERE space = ?1 AND \"user\" = ?2 LIMIT ?3)",
            )?
            .execute(params![space, id, room])?;
        room -= released.min(room);
        if room == 0 {
            break;
        }
        let named = "space = ?1 AND id = ?2 AND named_at IS NOT NULL";
        files.extend(delete(tx.conn, named, &[space, id])?);
    }
    Ok((files, !unused.is_empty()))
}

impl Store {
    /// Forgets some of the objects that are no longer needed. A copy that names one again brings it again.
    pub fn collect_space_objects(&self) -> Result<CollectedSpaceObjects> {
        self.write(|tx| {
            let mut files = collect_unnamed(tx)?;
            let has_ended = collect_ended(tx)?;
            let has_more = files.len() >= PER_PASS;
            let (unused, has_unused) = collect_unused(tx)?;
            files.extend(unused);
            Ok(CollectedSpaceObjects {
                files,
                is_done: !(has_more || has_ended || has_unused),
            })
        })
    }
}
