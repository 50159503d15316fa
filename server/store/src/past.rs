//! States that nodes (files and folders) had until they were moved, renamed, put into the trash or taken out of it. Triggers
//! write it; here it is read, and forgotten.
//!
//! It is kept as long as the node is, that is until it is deleted for good; of each space the newest 200,000 changes.

use super::rows::{id as read_id, optional_id, parent_id};
use super::{Space, Store};
use crate::db::{self, Connection, Row, params};
use crate::error::{Error, Result};
use cairn_model::NodeId;
use cairn_wire::Timestamp;
use cairn_wire::changes::{PastState, PastStates};
use cairn_wire::nodes::NodeState;

/// The number of changes that are kept of each space.
const KEPT: u64 = 200_000;
/// Rows that one transaction deletes.
const ROWS_PER_PASS: u64 = 1_000;

/// A position in the past of a space: a time, and a row among those of that time.
type Position = (i64, i64);

/// Deletes the past of a node that is deleted for good.
pub(super) fn forget(conn: &Connection, node: NodeId) -> Result<()> {
    conn.prepare_cached("DELETE FROM node_past WHERE node = ?1")?
        .execute([node.as_bytes()])?;
    Ok(())
}

fn past_state(row: &Row<'_>) -> db::Result<(Position, PastState)> {
    let until = row.get(4)?;
    let state = match row.get::<i64>(3)? {
        0 => NodeState::Active,
        _ => NodeState::Trashed,
    };
    let past = PastState {
        node_id: read_id(row, 0)?,
        parent_id: parent_id(row, 1)?,
        name: row.get(2)?,
        state,
        until: Timestamp(until),
        device_id: optional_id(row, 5)?,
    };
    Ok(((until, row.get(6)?), past))
}

fn read_position(text: &str) -> Result<Position> {
    let parts = text.split_once('.');
    let position = parts.and_then(|(until, row)| Some((until.parse().ok()?, row.parse().ok()?)));
    position.ok_or_else(|| {
        Error::invalid(format!(
            "`{text}` is not a valid `after`: pass `next` of the page before, unchanged"
        ))
    })
}

/// Returns the time since which the past of a space is known without gaps.
fn known_from(conn: &Connection, space: Space) -> Result<i64> {
    Ok(conn
        .prepare_cached("SELECT past_from FROM spaces WHERE row = ?1")?
        .query_row([space.row], |row| row.get(0))?)
}

impl Store {
    /// One page of what nodes of a space were until a time later than `since`, oldest first. `after` is `next` of the
    /// page before.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an `after` that is none.
    pub fn past_states(
        &self,
        space: Space,
        since: Option<i64>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<PastStates> {
        let since = since.map_or((i64::MIN, 0), |since| (since, i64::MAX));
        let (until, row) = match after {
            Some(text) => read_position(text)?.max(since),
            None => since,
        };
        self.read(|conn| {
            let mut states: Vec<(Position, PastState)> = conn
                .prepare_cached(
                    "SELECT node, parent, name, state, until_at, device, row FROM node_past \
                     WHERE space = ?1 AND (until_at, row) > (?2, ?3) ORDER BY until_at, row LIMIT ?4",
                )?
                .query_map(params![space.row, until, row, limit + 1], past_state)?
                .collect::<db::Result<_>>()?;
            let has_more = states.len() > limit;
            states.truncate(limit);
            let last = states.last().filter(|_| has_more);
            Ok(PastStates {
                next: last.map(|((until, row), _)| format!("{until}.{row}")),
                known_from: Timestamp(known_from(conn, space)?),
                states: states.into_iter().map(|(_, state)| state).collect(),
            })
        })
    }

    /// Deletes what is beyond the number of changes that are kept of each space.
    pub fn forget_old_past(&self) -> Result<u64> {
        self.keep_past(KEPT)
    }

    fn keep_past(&self, kept: u64) -> Result<u64> {
        let crowded: Vec<(i64, u64)> = self.read(|conn| {
            Ok(conn
                .prepare_cached(
                    "SELECT space, count(*) FROM node_past GROUP BY space HAVING count(*) > ?1",
                )?
                .query_map([kept], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<db::Result<_>>()?)
        })?;
        let mut all = 0;
        for (space, count) in crowded {
            let mut surplus = count.saturating_sub(kept);
            while surplus > 0 {
                let gone = self.forget_oldest(space, surplus.min(ROWS_PER_PASS))?;
                if gone == 0 {
                    break;
                }
                all += gone;
                surplus = surplus.saturating_sub(gone);
            }
        }
        Ok(all)
    }

    /// Deletes the oldest changes of a space, and notes since when all are known.
    fn forget_oldest(&self, space: i64, count: u64) -> Result<u64> {
        self.write(|tx| {
            let oldest: Vec<Position> = tx
                .conn
                .prepare_cached(
                    "SELECT until_at, row FROM node_past WHERE space = ?1 ORDER BY until_at, row LIMIT ?2",
                )?
                .query_map(params![space, count], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<db::Result<_>>()?;
            let mut delete = tx
                .conn
                .prepare_cached("DELETE FROM node_past WHERE row = ?1")?;
            for (_, row) in &oldest {
                delete.execute([*row])?;
            }
            if let Some((until, _)) = oldest.last() {
                tx.conn
                    .prepare_cached(
                        "UPDATE spaces SET past_from = ?2 WHERE row = ?1 AND past_from < ?2",
                    )?
                    .execute(params![space, *until])?;
            }
            Ok(oldest.len() as u64)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::SQLITE_MIGRATIONS;
    use crate::testing::{add_actor, make_folder};
    use crate::{Actor, Clock, Edit, Source};
    use cairn_model::Name;
    use std::sync::Arc;

    /// A store with a folder of somebody, whose name is `0`.
    fn renamed_folder() -> (Store, Actor, NodeId) {
        let clock = Clock::Virtual { start_ms: 1_000 };
        let store = crate::testing::open(Arc::new(Source::new(clock, Some(1))));
        let actor = add_actor(&store);
        let folder = make_folder(&store, &actor, "0");
        (store, actor, folder)
    }

    fn rename(store: &Store, actor: &Actor, folder: NodeId, name: &str) -> i64 {
        store.source().advance(10);
        let edit = Edit {
            name: Some(Name::new(name.to_owned()).unwrap()),
            ..Edit::default()
        };
        let renamed = store.write(|tx| tx.edit(actor, folder, &edit)).unwrap();
        renamed.updated_at.0
    }

    #[test]
    fn the_newest_changes_are_kept_and_the_time_since_then_is_given() {
        let (store, actor, folder) = renamed_folder();
        let ends: Vec<i64> = (1..=5)
            .map(|n| rename(&store, &actor, folder, &n.to_string()))
            .collect();
        let read = || store.past_states(actor.space, None, None, 9).unwrap();
        assert_eq!(store.keep_past(5).unwrap(), 0);
        assert_eq!((read().states.len(), read().known_from), (5, Timestamp(0)));
        assert_eq!(store.keep_past(2).unwrap(), 3);
        let left = read();
        let names: Vec<_> = left.states.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(
            (names, left.known_from),
            (vec!["3", "4"], Timestamp(ends[2]))
        );
        assert_eq!(store.forget_old_past().unwrap(), 0);
    }

    #[test]
    fn an_older_database_knows_the_past_from_its_latest_change_on() {
        let conn = Connection::open_in_memory().unwrap();
        let last = SQLITE_MIGRATIONS
            .iter()
            .position(|sql| sql.contains("CREATE TABLE node_past"))
            .unwrap();
        for sql in &SQLITE_MIGRATIONS[..last] {
            conn.execute_batch(sql).unwrap();
        }
        conn.execute_batch(
            "INSERT INTO spaces (row, id, kind, created_at) VALUES (1, x'01', 'own', 5), (2, x'02', 'own', 5); \
             INSERT INTO nodes (id, space, parent, kind, name, name_key, size, state, version, seq, created_seq, \
             created_at, updated_at, executable) VALUES (x'0a', 1, x'', 1, 'a', 'a', 0, 0, 1, 1, 1, 7, 70, 0), \
             (x'0b', 1, x'', 1, 'b', 'b', 0, 1, 1, 2, 2, 7, 90, 0)",
        )
        .unwrap();
        conn.execute_batch(SQLITE_MIGRATIONS[last]).unwrap();
        let from = |row: i64| -> i64 {
            let sql = "SELECT past_from FROM spaces WHERE row = ?1";
            conn.query_row(sql, [row], |row| row.get(0)).unwrap()
        };
        assert_eq!([from(1), from(2)], [90, 0]);
    }
}
