//! Snapshots of a signed log: the newest statements (of devices) and entries (of the server) at a size of the log,
//! sorted by node and by chain of control statements.

use crate::db::{Connection, Optional as _, Row, params};
use crate::error::{Error, Result};
use crate::log_guard::has_log;
use crate::{Space, Store};
use cairn_log::{ElementName, SnapshotItem, SnapshotPage, encode_snapshot};

/// The most bytes of items on a page; a larger single one doesn't exist.
const MAX_PAGE: usize = (8 << 20) - 64;

/// The most nodes and chains that a page looks at, with an item or without.
const MAX_ELEMENTS: usize = 4096;

/// The place of a row: position and part.
type Place = (u64, u32);

/// The newest rows of an element before a size.
#[derive(Default)]
struct Newest {
    statement: Option<Place>,
    /// The entry on the statement.
    entry: Option<Place>,
    has_ended: bool,
}

/// Finds the node or chain behind another one. A comparison of both columns at once would read all rows of the one before.
fn next_element(
    conn: &Connection,
    space: Space,
    after: Option<ElementName>,
) -> Result<Option<ElementName>> {
    let read = |row: &Row<'_>| {
        Ok(ElementName {
            id: row.get(0)?,
            class: row.get(1)?,
        })
    };
    let from = "SELECT element, class FROM log_items INDEXED BY log_items_element WHERE space = ?1";
    let Some(name) = after else {
        let sql = format!("{from} ORDER BY element, class LIMIT 1");
        let mut first = conn.prepare_cached(&sql)?;
        return Ok(first.query_row([space.row], read).optional()?);
    };
    // Nearly always the id has one class.
    let sql = format!("{from} AND element = ?2 AND class > ?3 ORDER BY class LIMIT 1");
    let same_id = conn
        .prepare_cached(&sql)?
        .query_row(params![space.row, name.id, name.class], read)
        .optional()?;
    if same_id.is_some() {
        return Ok(same_id);
    }
    let sql = format!("{from} AND element > ?2 ORDER BY element, class LIMIT 1");
    let mut next = conn.prepare_cached(&sql)?;
    Ok(next
        .query_row(params![space.row, name.id], read)
        .optional()?)
}

/// Finds the newest row of a kind about an element before a size, however many there are.
fn newest_row(
    conn: &Connection,
    space: Space,
    name: &ElementName,
    is_entry: bool,
    size: u64,
) -> Result<Option<(Place, bool)>> {
    Ok(conn
        .prepare_cached(
            "SELECT position, part, is_end FROM log_items INDEXED BY log_items_element \
             WHERE space = ?1 AND element = ?2 AND class = ?3 AND is_entry = ?4 AND position < ?5 \
             ORDER BY position DESC, part DESC LIMIT 1",
        )?
        .query_row(
            params![space.row, name.id, name.class, is_entry, size],
            |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)),
        )
        .optional()?)
}

fn newest_rows(conn: &Connection, space: Space, name: &ElementName, size: u64) -> Result<Newest> {
    let statement = newest_row(conn, space, name, false, size)?;
    let stands_at = statement.map(|(place, _)| place);
    let entry = newest_row(conn, space, name, true, size)?;
    let entry = entry.filter(|(place, _)| stands_at.is_none_or(|at| *place > at));
    let is_end = |row: Option<(Place, bool)>| row.is_some_and(|(_, is_end)| is_end);
    Ok(Newest {
        statement: stands_at,
        entry: entry.map(|(place, _)| place),
        has_ended: is_end(statement) || is_end(entry),
    })
}

fn body(conn: &Connection, space: Space, (position, part): Place) -> Result<Vec<u8>> {
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

fn page(
    conn: &Connection,
    space: Space,
    size: u64,
    after: Option<ElementName>,
) -> Result<SnapshotPage> {
    let (mut items, mut room) = (Vec::new(), MAX_PAGE);
    let mut last = after;
    for _ in 0..MAX_ELEMENTS {
        let name = next_element(conn, space, last)?;
        let Some(name) = name else {
            last = None;
            break;
        };
        let newest = newest_rows(conn, space, &name, size)?;
        if !add(conn, space, &newest, &mut items, &mut room)? {
            break;
        }
        last = Some(name);
    }
    Ok(SnapshotPage {
        next: last,
        items: encode_snapshot(&items),
    })
}

impl Store {
    /// Returns a page of the snapshot of the state at a size that a checkpoint can name: what comes behind
    /// a node or chain. The items of all pages, one after the other, are the snapshot.
    ///
    /// # Errors
    /// 404 for a space without a log or a size at which none is kept, 410 for one that was pruned.
    pub fn log_snapshot(
        &self,
        space: Space,
        size: u64,
        after: Option<ElementName>,
    ) -> Result<SnapshotPage> {
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
