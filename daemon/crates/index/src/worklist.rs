//! The dirty keys that one plan is about: all of them, or where there are many a part, so that a plan takes neither the
//! time nor the memory of a whole tree.
//!
//! A part has everything that was in sync before (what is deleted or overwritten is judged together), what was marked
//! since the last plan, and some of the new files and folders that are left. Those come in rounds, the newest first.

mod seen;

use crate::dirty::Dirty;
use crate::error::IndexError;
use crate::open::Db;
use crate::sql_types::{collect, node_at};
use cairn_model::{FolderId, LocalId};
use rusqlite::Row;

pub use seen::SeenMarks;

/// The sizes of plans, in keys of either kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlanSizes {
    /// Fewer dirty keys than these are planned together.
    pub whole: usize,
    /// The new files and folders of a part.
    pub part: usize,
}

impl Default for PlanSizes {
    fn default() -> Self {
        Self {
            whole: 2_000,
            part: 4_000,
        }
    }
}

/// The marks of one table that are planned in this round: those from `next` to `top`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Reach {
    next: i64,
    top: i64,
}

impl Reach {
    /// The reach of a round in which nothing is planned yet.
    const BEGIN: Self = Self {
        next: i64::MAX,
        top: i64::MAX,
    };

    /// Returns the reach of a plan of everything up to a mark.
    fn of_everything(top: i64) -> Self {
        Self { next: 0, top }
    }
}

/// The part of a folder's marks that is planned in this round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Round {
    local: Reach,
    node: Reach,
}

impl Default for Round {
    /// Returns a round in which nothing is planned yet.
    fn default() -> Self {
        Self {
            local: Reach::BEGIN,
            node: Reach::BEGIN,
        }
    }
}

/// The keys of one plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Worklist {
    pub keys: Dirty,
    /// These are all dirty keys.
    pub is_whole: bool,
    /// The round with these keys.
    pub round: Round,
    /// New files and folders are left for further parts of the round.
    pub is_more: bool,
}

impl Worklist {
    /// Returns the number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.local.len() + self.keys.node.len()
    }

    /// Adds keys. Returns whether any of them was missing.
    pub fn add(&mut self, keys: Dirty) -> bool {
        let before = self.len();
        let Dirty { local, node } = std::mem::take(&mut self.keys);
        self.keys = Dirty {
            local: united(local, keys.local),
            node: united(node, keys.node),
        };
        self.len() > before
    }

    /// Returns whether there are no keys.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The keys that were taken of one table.
struct Taken<K> {
    keys: Vec<K>,
    reach: Reach,
}

impl Db<'_> {
    /// Returns the keys of the next plan of a folder. Of what is left of the round, some are taken only `with_left`.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn worklist(
        &self,
        folder: FolderId,
        round: Round,
        sizes: PlanSizes,
        with_left: bool,
    ) -> Result<Worklist, IndexError> {
        let most = u32::try_from(sizes.whole).unwrap_or(u32::MAX);
        let some = self.some_dirty(folder, most)?;
        if some.local.len() + some.node.len() < sizes.whole {
            return self.whole_worklist(folder, some);
        }
        let changed = self.dirty_changed(folder, most)?;
        if changed.local.len() + changed.node.len() >= sizes.whole {
            let all = self.dirty_keys(folder)?;
            return self.whole_worklist(folder, all);
        }
        let left = if with_left { sizes.part } else { 0 };
        let local = self.take(LOCAL, folder, round.local, (sizes.part, left), |row| {
            Ok(LocalId(row.get(1)?))
        })?;
        let node = self.take(NODE, folder, round.node, (sizes.part, left), |row| {
            node_at(row, 1)
        })?;
        let round = Round {
            local: local.reach,
            node: node.reach,
        };
        let is_more = self.is_left(LOCAL, folder, round.local.next)?
            || self.is_left(NODE, folder, round.node.next)?;
        Ok(Worklist {
            keys: Dirty {
                local: united(changed.local, local.keys),
                node: united(changed.node, node.keys),
            },
            is_whole: false,
            round,
            is_more,
        })
    }

    fn whole_worklist(&self, folder: FolderId, keys: Dirty) -> Result<Worklist, IndexError> {
        let round = Round {
            local: Reach::of_everything(self.newest_mark(LOCAL, folder)?),
            node: Reach::of_everything(self.newest_mark(NODE, folder)?),
        };
        Ok(Worklist {
            keys,
            is_whole: true,
            round,
            is_more: false,
        })
    }

    /// Returns the dirty keys, at most `limit` of either kind, that were in sync when they were marked.
    fn dirty_changed(&self, folder: FolderId, limit: u32) -> Result<Dirty, IndexError> {
        let mut statement = self.prepare(
            "SELECT local FROM dirty_local WHERE folder = ?1 AND changed = 1 ORDER BY local LIMIT ?2",
        )?;
        let local = collect(&mut statement.query((folder.0, limit))?, |row| {
            Ok(LocalId(row.get(0)?))
        })?;
        let mut statement = self.prepare(
            "SELECT node FROM dirty_node WHERE folder = ?1 AND changed = 1 ORDER BY node LIMIT ?2",
        )?;
        let node = collect(&mut statement.query((folder.0, limit))?, |row| {
            node_at(row, 0)
        })?;
        Ok(Dirty { local, node })
    }

    /// Takes what is new, and what is left as far as there is room: at most `(new, left)` in all.
    fn take<K>(
        &self,
        table: Table,
        folder: FolderId,
        reach: Reach,
        (new, left): (usize, usize),
        key: impl Fn(&Row<'_>) -> Result<K, IndexError>,
    ) -> Result<Taken<K>, IndexError> {
        let mut out = Taken {
            keys: Vec::new(),
            reach,
        };
        let fresh = self.marks(table, folder, (reach.top, i64::MAX), new, &key)?;
        if let Some((top, _)) = fresh.first() {
            out.reach.top = *top;
        }
        if fresh.len() >= new {
            // More has come than one plan takes: the round goes on from here, over what it had planned before.
            out.reach.next = fresh.last().map_or(out.reach.next, |(mark, _)| *mark);
        }
        let room = left.saturating_sub(fresh.len());
        out.keys.extend(fresh.into_iter().map(|(_, key)| key));
        if room == 0 {
            return Ok(out);
        }
        let old = self.marks(table, folder, (0, out.reach.next - 1), room, &key)?;
        if out.reach.top == i64::MAX {
            out.reach.top = old.first().map_or(0, |(mark, _)| *mark);
        }
        out.reach.next = match old.last() {
            Some((mark, _)) if old.len() >= room => *mark,
            Some(_) | None => 0,
        };
        out.keys.extend(old.into_iter().map(|(_, key)| key));
        Ok(out)
    }

    /// Returns marks above `after` up to `to`, with their keys, the newest first.
    fn marks<K>(
        &self,
        table: Table,
        folder: FolderId,
        (after, to): (i64, i64),
        limit: usize,
        key: impl Fn(&Row<'_>) -> Result<K, IndexError>,
    ) -> Result<Vec<(i64, K)>, IndexError> {
        let Table { table, column } = table;
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        let mut statement = self.prepare(&format!(
            "SELECT mark, {column} FROM {table} INDEXED BY {table}_marks \
             WHERE folder = ?1 AND mark > ?2 AND mark <= ?3 ORDER BY mark DESC LIMIT ?4"
        ))?;
        let mut rows = statement.query((folder.0, after, to, limit))?;
        collect(&mut rows, |row| Ok((row.get(0)?, key(row)?)))
    }

    fn newest_mark(&self, table: Table, folder: FolderId) -> Result<i64, IndexError> {
        let newest = self.marks(table, folder, (0, i64::MAX), 1, |_| Ok(()))?;
        Ok(newest.first().map_or(0, |(mark, ())| *mark))
    }

    fn is_left(&self, table: Table, folder: FolderId, next: i64) -> Result<bool, IndexError> {
        let left = self.marks(table, folder, (0, next - 1), 1, |_| Ok(()))?;
        Ok(!left.is_empty())
    }

    /// Returns the files and bytes that are left for further parts of a round.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn files_left(&self, folder: FolderId, round: Round) -> Result<(u64, u64), IndexError> {
        let mut sum = (0, 0);
        for (sql, next) in [
            (
                "SELECT count(*), coalesce(sum(l.size), 0) FROM dirty_local d INDEXED BY dirty_local_marks \
                 CROSS JOIN local l ON l.id = d.local WHERE d.folder = ?1 AND d.mark < ?2 AND l.kind = 0",
                round.local.next,
            ),
            (
                "SELECT count(*), coalesce(sum(r.size), 0) FROM dirty_node d INDEXED BY dirty_node_marks \
                 CROSS JOIN remote r ON r.node = d.node WHERE d.folder = ?1 AND d.mark < ?2 AND r.kind = 0",
                round.node.next,
            ),
        ] {
            let (files, bytes): (i64, i64) = self
                .prepare(sql)?
                .query_row((folder.0, next), |row| Ok((row.get(0)?, row.get(1)?)))?;
            sum.0 += files.unsigned_abs();
            sum.1 += bytes.unsigned_abs();
        }
        Ok(sum)
    }

    /// Returns which of some keys are dirty.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn still_dirty(&self, folder: FolderId, keys: &Dirty) -> Result<Dirty, IndexError> {
        let mut out = Dirty::default();
        let mut statement =
            self.prepare("SELECT 1 FROM dirty_local WHERE folder = ?1 AND local = ?2")?;
        for local in &keys.local {
            if statement.exists((folder.0, local.0))? {
                out.local.push(*local);
            }
        }
        let mut statement =
            self.prepare("SELECT 1 FROM dirty_node WHERE folder = ?1 AND node = ?2")?;
        for node in &keys.node {
            if statement.exists((folder.0, node.as_bytes()))? {
                out.node.push(*node);
            }
        }
        Ok(out)
    }
}

/// A table of marks, and the column of its keys.
#[derive(Clone, Copy)]
struct Table {
    table: &'static str,
    column: &'static str,
}

const LOCAL: Table = Table {
    table: "dirty_local",
    column: "local",
};
const NODE: Table = Table {
    table: "dirty_node",
    column: "node",
};

/// Returns all of two lists, each once, in order.
fn united<K: Ord>(mut one: Vec<K>, other: Vec<K>) -> Vec<K> {
    one.extend(other);
    one.sort();
    one.dedup();
    one
}

#[cfg(test)]
mod tests;
