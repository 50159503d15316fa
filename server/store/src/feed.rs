//! The change feed, which has each node (file or folder) of a space once, in the order of its latest change; and
//! positions in it.
//!
//! A position is `EPOCH.SEQ.NONCE.SPACE`. `EPOCH` is the id that the feed's history began with: another one means that
//! the server was reset. (The id that clients are shown beside it is another one after a restore, too.) The nonce
//! belongs to the transaction that gave out `SEQ`, so a database restored from a backup refuses positions of the
//! history that it lost, even when it has reached the same numbers again. The numbers are those of the whole server, so
//! a client that mixes up two spaces would skip changes without a sign of it: the end of a position says which space it
//! is for. Positions from before that have no such end, and hold in every space.

use super::rows::{NODE_COLUMNS, NODE_TABLES, NodeRow, State, node_row};
use super::{Space, Store};
use crate::db::{self, Connection, Optional as _, params};
use crate::error::{Error, Result};
use crate::history_id;
use cairn_model::Cursor;
use cairn_wire::changes::{Change, ChangeKind, Changes, Snapshot};

pub(super) fn last_commit(conn: &Connection) -> Result<i64> {
    Ok(conn
        .prepare_cached("SELECT coalesce(max(seq), 0) FROM commits")?
        .query_row([], |row| row.get(0))?)
}

/// The nonce of the transaction that gave out `seq`.
fn nonce(conn: &Connection, seq: i64) -> Result<Option<String>> {
    if seq == 0 {
        return Ok(Some("0".into()));
    }
    Ok(conn
        .prepare_cached("SELECT nonce FROM commits WHERE seq >= ?1 ORDER BY seq LIMIT 1")?
        .query_row([seq], |row| row.get(0))
        .optional()?)
}

/// Returns the part of a position that stands for its space.
fn space_mark(space: Space) -> String {
    hex::encode(&space.id.as_bytes()[..8])
}

fn write_position(conn: &Connection, history_id: &str, space: Space, seq: i64) -> Result<Cursor> {
    let nonce = nonce(conn, seq)?
        .ok_or_else(|| Error::Internal(format!("feed position {seq} has no commit")))?;
    let mark = space_mark(space);
    Ok(Cursor(format!("{history_id}.{seq}.{nonce}.{mark}")))
}

fn read_position(conn: &Connection, history_id: &str, space: Space, text: &str) -> Result<i64> {
    let bad = || {
        Error::invalid(format!(
            "`{text}` is not a valid cursor: pass one that the feed gave out, unchanged"
        ))
    };
    let mut parts = text.split('.');
    let (Some(its_history_id), Some(seq), Some(its_nonce), its_mark, None) = (
        parts.next(),
        parts.next(),
        parts.next(),
        parts.next(),
        parts.next(),
    ) else {
        return Err(bad());
    };
    let is_mark =
        |mark: &str| mark.len() == 16 && mark.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !its_mark.is_none_or(is_mark) {
        return Err(bad());
    }
    let seq: i64 = seq.parse().ok().filter(|seq| *seq >= 0).ok_or_else(bad)?;
    if its_history_id != history_id || nonce(conn, seq)?.as_deref() != Some(its_nonce) {
        return Err(Error::Gone(
            "the cursor belongs to another history of this server; take a snapshot".into(),
        ));
    }
    if its_mark.is_some_and(|mark| mark != space_mark(space)) {
        return Err(Error::Gone(
            "the cursor belongs to another space; take a snapshot of this one".into(),
        ));
    }
    Ok(seq)
}

fn last_seq(conn: &Connection, space: Space) -> Result<i64> {
    Ok(conn
        .prepare_cached("SELECT coalesce(max(seq), 0) FROM nodes WHERE space = ?1")?
        .query_row([space.row], |row| row.get(0))?)
}

fn change(found: NodeRow) -> Change {
    let kind = match found.state {
        State::Trashed => ChangeKind::Trashed,
        State::Deleted => ChangeKind::Deleted,
        State::Active if u64::try_from(found.created_seq) == Ok(found.node.seq) => {
            ChangeKind::Created
        }
        State::Active => ChangeKind::Updated,
    };
    let node_id = found.node.id;
    Change {
        seq: found.node.seq,
        kind,
        node_id,
        node: (kind != ChangeKind::Deleted).then_some(found.node),
    }
}

impl Store {
    /// Returns the sequence number that a position of a space stands for.
    ///
    /// # Errors
    /// [`Error::Gone`] for a position of another history or space, [`Error::Invalid`] for no position.
    pub fn position(&self, space: Space, cursor: &str) -> Result<i64> {
        let history_id = self.history_id();
        self.read(|conn| read_position(conn, &history_id, space, cursor))
    }

    /// The changes after a position, or from the beginning.
    pub fn changes(&self, space: Space, cursor: Option<&Cursor>, limit: usize) -> Result<Changes> {
        let history_id = self.history_id();
        self.read(|conn| {
            let after = cursor.map_or(Ok(0), |cursor| {
                read_position(conn, &history_id, space, &cursor.0)
            })?;
            let sql = format!(
                "SELECT {NODE_COLUMNS} FROM {NODE_TABLES} WHERE n.space = ?1 AND n.seq > ?2 ORDER BY n.seq LIMIT ?3"
            );
            let mut changes: Vec<Change> = conn
                .prepare_cached(&sql)?
                .query_map(params![space.row, after, limit + 1], |row| node_row(row).map(change))?
                .collect::<db::Result<_>>()?;
            let has_more = changes.len() > limit;
            changes.truncate(limit);
            let seq = changes.last().map_or(Some(after), |last| i64::try_from(last.seq).ok());
            let cursor = write_position(conn, &history_id, space, seq.unwrap_or(after))?;
            let history_id = history_id::shown_id(conn, &history_id)?;
            Ok(Changes { changes, cursor, has_more, history_id })
        })
    }

    /// The position after the last change of a space.
    pub fn head(&self, space: Space) -> Result<Cursor> {
        let history_id = self.history_id();
        self.read(|conn| write_position(conn, &history_id, space, last_seq(conn, space)?))
    }

    /// One page of all active nodes. `after` is `next` of the page before; it carries the position
    /// that was taken with the first page.
    pub fn snapshot(&self, space: Space, after: Option<&str>, limit: usize) -> Result<Snapshot> {
        let history_id = self.history_id();
        self.read(|conn| {
            let (cursor, seq, last_row) = match after {
                None => {
                    let seq = last_seq(conn, space)?;
                    (write_position(conn, &history_id, space, seq)?, seq, 0)
                }
                Some(text) => {
                    let bad = || Error::invalid("`after` has to be `next` of the page before");
                    let (cursor, row) = text.rsplit_once('~').ok_or_else(bad)?;
                    (
                        Cursor(cursor.to_owned()),
                        read_position(conn, &history_id, space, cursor)?,
                        row.parse::<i64>().map_err(|_| bad())?,
                    )
                }
            };
            let sql = format!(
                "SELECT {NODE_COLUMNS} FROM {NODE_TABLES} \
                 WHERE n.space = ?1 AND n.state = 0 AND n.row > ?2 ORDER BY n.row LIMIT ?3"
            );
            let mut rows: Vec<NodeRow> = conn
                .prepare_cached(&sql)?
                .query_map(params![space.row, last_row, limit + 1], node_row)?
                .collect::<db::Result<_>>()?;
            let more = rows.len() > limit;
            rows.truncate(limit);
            let next = rows
                .last()
                .filter(|_| more)
                .map(|last| format!("{cursor}~{}", last.row));
            Ok(Snapshot {
                nodes: rows.into_iter().map(|row| row.node).collect(),
                next,
                cursor,
                history_id: history_id::shown_id(conn, &history_id)?,
                seq: Some(seq.unsigned_abs()),
            })
        })
    }
}
