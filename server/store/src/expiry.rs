//! Deletes what has expired: the trash after its time, chunks (encrypted pieces of files) that nothing needs, share
//! links that ended, notifications that were read.
//!
//! Each pass works in transactions of bounded size, so that requests get their turn between them.

use super::purge::{Purged, purge_root};
use super::rows::id as read_id;
use super::{Space, Store, chunks, needed};
use crate::db::{self, params};
use crate::error::Result;
use cairn_model::{ChunkId, NodeId};

const DAY_MS: i64 = 86_400_000;
/// Nodes in the trash that one transaction goes through, each with what went along with it.
const ROOTS_PER_PASS: u64 = 50;
/// Rows of other tables that one transaction deletes.
const ROWS_PER_PASS: u64 = 1_000;

/// The result of a collection: how many chunks went, and the objects that nothing refers to any more.
#[derive(Debug, Default)]
pub struct CollectedChunks {
    pub chunks: u64,
    pub objects: Vec<String>,
}

impl Store {
    /// Returns the time that lies so many days back.
    fn days_ago(&self, days: u32) -> i64 {
        self.source().now_ms() - i64::from(days) * DAY_MS
    }

    /// Deletes for good what was put into the trash at least so many days ago. A file that an upload still
    /// goes to stays until that has ended.
    pub fn expire_trash(&self, days: u32) -> Result<Purged> {
        let mut all = Purged::default();
        let before = self.days_ago(days);
        loop {
            let (found, purged) = self.write(|tx| {
                // A node that goes into the trash is stamped with that time.
                let roots: Vec<(NodeId, Space)> = tx
                    .conn
                    .prepare_cached(&format!(
                        "SELECT o.id, s.row, s.id FROM nodes o JOIN spaces s ON s.row = o.space \
                         WHERE o.updated_at <= ?1 AND {} LIMIT ?2",
                        needed::all(&needed::TRASHED)
                    ))?
                    .query_map(params![before, ROOTS_PER_PASS], |row| {
                        let space = Space {
                            row: row.get(1)?,
                            id: read_id(row, 2)?,
                        };
                        Ok((read_id(row, 0)?, space))
                    })?
                    .collect::<db::Result<_>>()?;
                let mut purged = Purged::default();
                for (root, space) in &roots {
                    purge_root(tx, *space, *root, &mut purged)?;
                }
                Ok((roots.len() as u64, purged))
            })?;
            all.nodes += purged.nodes;
            all.objects.extend(purged.objects);
            if found < ROOTS_PER_PASS {
                return Ok(all);
            }
        }
    }

    /// Deletes chunks that no revision uses and no open upload has announced.
    pub fn collect_chunks(&self) -> Result<CollectedChunks> {
        let mut all = CollectedChunks::default();
        loop {
            let found = self.write(|tx| {
                let unused: Vec<(NodeId, ChunkId)> = tx
                    .conn
                    .prepare_cached(&format!(
                        "SELECT o.node, o.id FROM chunks o WHERE {} LIMIT ?1",
                        needed::all(&needed::CHUNK)
                    ))?
                    .query_map([ROWS_PER_PASS], |row| {
                        Ok((read_id(row, 0)?, ChunkId(row.get(1)?)))
                    })?
                    .collect::<db::Result<_>>()?;
                for (node, chunk) in &unused {
                    chunks::remove(tx.conn, *node, *chunk, &mut all.objects)?;
                }
                Ok(unused.len() as u64)
            })?;
            all.chunks += found;
            if found < ROWS_PER_PASS {
                return Ok(all);
            }
        }
    }

    /// Deletes share links that expired at least so many days ago, with their access logs.
    pub fn forget_expired_shares(&self, days: u32) -> Result<u64> {
        self.delete_old("shares", "expires_at <= ?1", days)
    }

    /// Deletes notifications that were read, and are at least so many days old.
    pub fn forget_old_notifications(&self, days: u32) -> Result<u64> {
        let old = "created_at <= ?1 AND read_at IS NOT NULL";
        self.delete_old("notifications", old, days)
    }

    /// Deletes rows that an age lets go, some at a time; returns their number.
    fn delete_old(&self, table: &str, old: &str, days: u32) -> Result<u64> {
        let before = self.days_ago(days);
        let sql = format!(
            "DELETE FROM {table} WHERE row IN (SELECT row FROM {table} WHERE {old} LIMIT ?2)"
        );
        let mut all = 0;
        loop {
            let gone = self.write(|tx| {
                let mut delete = tx.conn.prepare_cached(&sql)?;
                Ok(delete.execute(params![before, ROWS_PER_PASS])? as u64)
            })?;
            all += gone;
            if gone < ROWS_PER_PASS {
                return Ok(all);
            }
        }
    }
}
