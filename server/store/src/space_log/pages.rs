//! Pages of a signed log, and Merkle proofs that a log contains an entry or continues an older state.

use super::history::FirstHistory;
use super::records::{CommitError, Rows, damaged_error};
use crate::db::{self, Connection, Optional as _, params};
use crate::error::{Error, Result};
use crate::log_guard::check_log;
use crate::{Space, Store};
use cairn_log::{
    Commit, CommitLeaf, EMPTY_ROOT, Frame, LogPage, Proof, prove_consistency, prove_inclusion,
};

/// The most bytes of entries on a page: with what stands before them, it is below the 8 MiB that readers
/// take.
pub const MAX_LOG_PAGE: usize = (8 << 20) - 1024;
/// The most entries on a page: short ones, whose bodies are pruned, are many in few bytes.
const MAX_FRAMES: usize = 4096;
/// The most bytes that a frame has besides its body.
const FRAME: usize = 8;

/// Makes the frame of a leaf with the bodies of its items; without them, if one is pruned.
fn frame(is_commit: bool, leaf: Vec<u8>, bodies: Option<Vec<Vec<u8>>>) -> Result<Frame> {
    Ok(match (is_commit, bodies) {
        (true, None) => Frame::CommitLeaf(leaf),
        (false, None) => Frame::EntryLeaf(leaf),
        (true, Some(statements)) => {
            let leaf = CommitLeaf::decode(&leaf).map_err(|_| damaged_error("a leaf"))?;
            let commit = Commit {
                header: leaf.header,
                signature: leaf.signature,
                statements,
            };
            Frame::Commit(commit.encode())
        }
        (false, Some(mut bodies)) => {
            Frame::Entry(bodies.pop().ok_or_else(|| damaged_error("an entry"))?)
        }
    })
}

fn size_of(frame: &Frame) -> usize {
    let (Frame::Commit(bytes)
    | Frame::CommitLeaf(bytes)
    | Frame::Entry(bytes)
    | Frame::EntryLeaf(bytes)) = frame;
    bytes.len() + FRAME
}

/// A page without entries: what is said of the whole log.
fn head(conn: &Connection, space: Space, first_history: &FirstHistory) -> Result<LogPage> {
    let known = conn
        .prepare_cached(
            "SELECT history, size, root, restored_at, restored_to FROM logs WHERE space = ?1",
        )?
        .query_row([space.row], |row| {
            Ok(LogPage {
                history: row.get(0)?,
                size: row.get(1)?,
                root: row.get(2)?,
                restored_at_ms: row.get(3)?,
                restored_to: row.get(4)?,
                frames: Vec::new(),
            })
        })
        .optional()?;
    Ok(known.unwrap_or(LogPage {
        history: first_history.history,
        size: 0,
        root: EMPTY_ROOT,
        restored_at_ms: first_history.restored_at_ms,
        restored_to: 0,
        frames: Vec::new(),
    }))
}

/// Reads a page from a position on.
pub(super) fn read(
    conn: &Connection,
    space: Space,
    first_history: &FirstHistory,
    from: u64,
    most: usize,
) -> Result<LogPage> {
    let mut page = head(conn, space, first_history)?;
    if from >= page.size {
        return Ok(page);
    }
    let mut leaves = conn.prepare_cached(
        "SELECT position, is_commit, leaf FROM log_leaves WHERE space = ?1 AND position >= ?2 \
         ORDER BY position LIMIT ?3",
    )?;
    let mut items = conn.prepare_cached(
        "SELECT body FROM log_items WHERE space = ?1 AND position = ?2 ORDER BY part",
    )?;
    let mut rows = leaves.query(params![space.row, from, MAX_FRAMES])?;
    let mut room = most;
    while let Some(row) = rows.next()? {
        let position: u64 = row.get(0)?;
        let bodies: Vec<Option<Vec<u8>>> = items
            .query_map(params![space.row, position], |row| row.get(0))?
            .collect::<db::Result<_>>()?;
        let bodies = bodies.into_iter().collect();
        let frame = frame(row.get(1)?, row.get(2)?, bodies)?;
        let size = size_of(&frame);
        if size > room && !page.frames.is_empty() {
            break;
        }
        room = room.saturating_sub(size);
        page.frames.push(frame);
    }
    Ok(page)
}

fn map_commit_error<T>(result: std::result::Result<T, CommitError>) -> Result<T> {
    result.map_err(|failed| match failed {
        CommitError::Store(error) => error,
        CommitError::Refused(rule) => Error::Internal(format!("a proof was refused: {rule}")),
    })
}

fn size(conn: &Connection, space: Space) -> Result<u64> {
    check_log(conn, space)?;
    map_commit_error(
        Rows {
            conn,
            space: space.row,
        }
        .size(),
    )
}

fn check_size(asked: u64, size: u64) -> Result<()> {
    if asked <= size {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "`size` is {asked}, and the log has {size} entries"
    )))
}

impl Store {
    /// Proves that the log at size `from` is the beginning of the log at `size`, or now.
    ///
    /// # Errors
    /// 404 for a space without a log, 400 for sizes that it doesn't have.
    pub fn log_consistency(&self, space: Space, from: u64, size: Option<u64>) -> Result<Proof> {
        self.read(|conn| {
            let now = self::size(conn, space)?;
            let size = size.unwrap_or(now);
            check_size(size, now)?;
            if from > size {
                return Err(Error::invalid(format!(
                    "`from` is {from}; it has to be at most `size`, {size}"
                )));
            }
            let rows = Rows {
                conn,
                space: space.row,
            };
            let mut read = |level, place| rows.subtree(level, place);
            let path = map_commit_error(prove_consistency(from, size, &mut read))?;
            Ok(Proof {
                size,
                leaf: None,
                path,
            })
        })
    }

    /// Proves that a leaf is at a position of the log at `size`, or now.
    ///
    /// # Errors
    /// As [`Store::log_consistency`].
    pub fn log_inclusion(&self, space: Space, position: u64, size: Option<u64>) -> Result<Proof> {
        self.read(|conn| {
            let now = self::size(conn, space)?;
            let size = size.unwrap_or(now);
            check_size(size, now)?;
            if position >= size {
                return Err(Error::invalid(format!(
                    "`position` is {position}; it has to be below `size`, {size}"
                )));
            }
            let leaf = conn
                .prepare_cached("SELECT leaf FROM log_leaves WHERE space = ?1 AND position = ?2")?
                .query_row(params![space.row, position], |row| row.get(0))?;
            let rows = Rows {
                conn,
                space: space.row,
            };
            let mut read = |level, place| rows.subtree(level, place);
            let path = map_commit_error(prove_inclusion(position, size, &mut read))?;
            Ok(Proof {
                size,
                leaf: Some(leaf),
                path,
            })
        })
    }
}
