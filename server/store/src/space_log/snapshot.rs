//! Snapshots: the newest statements and entries as of a size, sorted by node and chain.

use crate::error::{Error, Result};
use crate::log_guard::has_log;
use crate::{Space, Store};
use cairn_log::{SnapshotItem, encode_snapshot};
use rusqlite::{Connection, OptionalExtension as _, params};

/// The most bytes of items on a page; a larger single one doesn't exist.
const MAX_PAGE: usize = 8 << 20;

/// The newest rows of an element before a position.
#[derive(Default)]
struct Newest {
    element: [u8; 16],
    statement: Option<(u64, u32)>,
    entry: Option<(u64, u32)>,
    has_ended: bool,
}

impl Newest {
    fn note(&mut self, at: (u64, u32), is_entry: bool, is_end: bool) {
        if !is_entry {
            self.statement = Some(at);
            self.has_ended = is_end;
        } else if self.statement.is_none_or(|statement| at > statement) {
            self.entry = Some(at);
            self.has_ended |= is_end;
        }
    }
}

fn body(conn: &Connection, space: Space, (position, part): (u64, u32)) -> Result<Vec<u8>> {
    let body: Option<Vec<u8>> = conn
        .prepare_cached(
            "SELECT body FROM log_items WHERE space = ?1 AND position = ?2 AND part = ?3",
        )?
        .query_row(params![space.row, position, part], |row| row.get(0))?;
    body.ok_or_else(|| {
        Error::Gone("the snapshot is too old: bodies that it needs are pruned".into())
    })
}

/// Adds what an element has to a page; returns false if there is no room for it.
fn add(
    conn: &Connection,
    space: Space,
    newest: &Newest,
    items: &mut Vec<SnapshotItem>,
    room: &mut usize,
) -> Result<bool> {
    if newest.has_ended {
        return Ok(true);
    }
    let mut fresh = Vec::new();
    if let Some(at) = newest.statement {
        fresh.push(SnapshotItem::Statement(body(conn, space, at)?));
    }
    if let Some(at) = newest.entry {
        fresh.push(SnapshotItem::Entry(body(conn, space, at)?));
    }
    let size = encode_snapshot(&fresh).len();
    if size > *room && !items.is_empty() {
        return Ok(false);
    }
    *room = room.saturating_sub(size);
    items.extend(fresh);
    Ok(true)
}

fn page(conn: &Connection, space: Space, size: u64, after: Option<[u8; 16]>) -> Result<Vec<u8>> {
    let mut select = conn.prepare_cached(
        "SELECT element, is_entry, position, part, is_end FROM log_items \
         WHERE space = ?1 AND element > ?2 AND position < ?3 ORDER BY element, is_entry, position, part",
    )?;
    let after = after.as_ref().map_or(&[][..], |after| &after[..]);
    let mut rows = select.query(params![space.row, after, size])?;
    let (mut items, mut room) = (Vec::new(), MAX_PAGE);
    let mut open: Option<Newest> = None;
    loop {
        let row = rows.next()?;
        let element: Option<[u8; 16]> = row.map(|row| row.get(0)).transpose()?;
        if let Some(whole) = open.take_if(|newest| Some(newest.element) != element)
            && !add(conn, space, &whole, &mut items, &mut room)?
        {
            break;
        }
        let (Some(row), Some(element)) = (row, element) else {
            break;
        };
        let newest = open.get_or_insert_with(|| Newest {
            element,
            ..Newest::default()
        });
        let at = (row.get(2)?, row.get(3)?);
        newest.note(at, row.get(1)?, row.get(4)?);
    }
    Ok(encode_snapshot(&items))
}

impl Store {
    /// Returns a page of the snapshot of the state at a size that a checkpoint can name: what comes behind
    /// a node or chain. The pages one after the other are the snapshot; the last one is empty.
    ///
    /// # Errors
    /// 404 for a space without a log or a size at which none is kept, 410 for one that was pruned.
    pub fn log_snapshot(
        &self,
        space: Space,
        size: u64,
        after: Option<[u8; 16]>,
    ) -> Result<Vec<u8>> {
        // Beyond it, the database has no numbers.
        let size = size.min(i64::MAX as u64);
        self.read(|conn| {
            let has_mark: Option<i64> = conn
                .prepare_cached("SELECT 1 FROM log_marks WHERE space = ?1 AND size = ?2")?
                .query_row(params![space.row, size], |row| row.get(0))
                .optional()?;
            if has_mark.is_none() {
                let reason = if has_log(conn, space)? {
                    "`size` has to be a multiple of 64 that the log has reached"
                } else {
                    "it has no log"
                };
                return Err(Error::not_found(format!(
                    "the space {} has no snapshot at {size}: {reason}",
                    space.id
                )));
            }
            page(conn, space, size, after)
        })
    }
}
