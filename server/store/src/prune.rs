//! Deletes old revisions (versions of contents) as the configuration says.
//!
//! The current one stays, and so does whatever a share link carries or a running upload builds on.

use super::rows::id as read_id;
use super::{Store, chunks, holders, needed, revisions};
use crate::db::{self, params};
use crate::error::Result;
use crate::options::KeptRevisions;
use cairn_model::RevisionId;

const DAY_MS: i64 = 86_400_000;
/// Revisions that one transaction deletes.
const PER_PASS: u64 = 500;

/// The result of pruning: how many revisions went, and the objects (stored blobs) that nothing refers to any more.
#[derive(Debug, Default)]
pub struct PrunedRevisions {
    pub revisions: u64,
    pub objects: Vec<String>,
}

impl Store {
    /// Deletes revisions beyond what is to be kept.
    pub fn prune_revisions(&self, kept: KeptRevisions) -> Result<PrunedRevisions> {
        let mut pruned = PrunedRevisions::default();
        // As for all that goes by itself, 0 is for never.
        let newest = kept.newest.filter(|newest| *newest > 0);
        let days = kept.days.filter(|days| *days > 0);
        if newest.is_none() && days.is_none() {
            return Ok(pruned);
        }
        let newest = newest.map_or(i64::MAX, i64::from);
        let since = days.map_or(i64::MIN, |days| {
            self.source().now_ms() - i64::from(days) * DAY_MS
        });
        loop {
            let gone = self.write(|tx| {
                let due: Vec<RevisionId> = tx
                    .conn
                    .prepare_cached(&format!(
                        "SELECT id FROM (SELECT r.id, r.node, r.created_at, \
                         row_number() OVER (PARTITION BY r.node ORDER BY r.number DESC) AS age FROM revisions r) o \
                         WHERE (o.age > ?1 OR o.created_at < ?2) AND {} LIMIT ?3",
                        needed::all(&needed::REVISION)
                    ))?
                    .query_map(params![newest, since, PER_PASS], |row| read_id(row, 0))?
                    .collect::<db::Result<_>>()?;
                for id in &due {
                    let Some(revision) = revisions::find(tx.conn, *id)? else { continue };
                    for one in &revision.chunks()? {
                        chunks::release(tx.conn, one.holder, one.chunk.id, &mut pruned.objects)?;
                    }
                    tx.conn
                        .prepare_cached("DELETE FROM revisions WHERE id = ?1")?
                        .execute([id.as_bytes()])?;
                    holders::forget_unused(tx.conn, revision.node)?;
                }
                Ok(due.len() as u64)
            })?;
            pruned.revisions += gone;
            if gone < PER_PASS {
                return Ok(pruned);
            }
        }
    }
}
