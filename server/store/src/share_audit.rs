//! The log of a share link's visits as its owner reads it: page by page, and summed up.

use super::Store;
use super::page::read_page;
use super::rows::word;
use super::share_rows::ShareRow;
use crate::db::{self, Connection, params};
use crate::error::Result;
use cairn_wire::Timestamp;
use cairn_wire::shares::AccessEntry;
use std::collections::BTreeMap;

const DAY_MS: i64 = 86_400_000;
/// The visits of a link in a span of time.
const FILTER: &str = "share = ?1 AND at >= ?2 AND at <= ?3";

/// A span of time; `None` means that it has no beginning or no end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    pub from: Option<i64>,
    pub to: Option<i64>,
}

impl Span {
    fn bounds(self) -> (i64, i64) {
        (self.from.unwrap_or(i64::MIN), self.to.unwrap_or(i64::MAX))
    }
}

/// The sums over the visits of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VisitSums {
    /// Openings, which a link's `access_count` counts, too.
    pub accesses: u64,
    pub downloads: u64,
    /// Attempts that were refused.
    pub denied: u64,
    /// Different e-mail addresses that visitors gave, refused ones aside.
    pub emails: u64,
    /// Different masked IP addresses, refused ones aside.
    pub addresses: u64,
    /// Bytes that were served.
    pub bytes: u64,
    /// Openings by day (UTC), `2026-01-31`.
    pub by_day: BTreeMap<String, u64>,
}

/// Counts the openings of each day.
fn by_day(conn: &Connection, share: i64, (from, to): (i64, i64)) -> Result<BTreeMap<String, u64>> {
    let sql = format!(
        "SELECT day, count(*) FROM (SELECT at / {DAY_MS} AS day FROM share_visits WHERE {FILTER} AND action = 'opened') \
         AS days GROUP BY day"
    );
    Ok(conn
        .prepare_cached(&sql)?
        .query_map(params![share, from, to], |row| {
            let day = Timestamp(row.get::<i64>(0)? * DAY_MS).to_string();
            Ok((day.chars().take(10).collect(), row.get(1)?))
        })?
        .collect::<db::Result<_>>()?)
}

impl Store {
    /// Returns one page of the visits of a link in a span of time, the newest first, and their number.
    pub fn visits(
        &self,
        share: &ShareRow,
        span: Span,
        skip: u64,
        take: u64,
    ) -> Result<(Vec<AccessEntry>, u64)> {
        let (from, to) = span.bounds();
        self.read(|conn| {
            let count = format!("SELECT count(*) FROM share_visits WHERE {FILTER}");
            let list = format!(
                "SELECT coalesce(email, 'anonymous'), masked_ip, bytes, action, at FROM share_visits \
                 WHERE {FILTER} ORDER BY row DESC LIMIT ?5 OFFSET ?4"
            );
            let which = params![share.row, from, to];
            read_page(conn, (&count, &list), which, (skip, take), |row| {
                Ok(AccessEntry {
                    email: row.get(0)?,
                    masked_ip: row.get(1)?,
                    bytes_served: row.get(2)?,
                    action: word(row, 3)?,
                    at: Timestamp(row.get(4)?),
                })
            })
        })
    }

    /// Sums up the visits of a link in a span of time.
    pub fn visit_sums(&self, share: &ShareRow, span: Span) -> Result<VisitSums> {
        let (from, to) = span.bounds();
        self.read(|conn| {
            let sql = format!(
                "SELECT count(CASE WHEN action = 'opened' THEN 1 END), \
                 count(CASE WHEN action = 'downloaded' THEN 1 END), \
                 count(CASE WHEN action = 'denied' THEN 1 END), \
                 count(DISTINCT CASE WHEN action <> 'denied' THEN email END), \
                 count(DISTINCT CASE WHEN action <> 'denied' THEN masked_ip END), \
                 CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM share_visits WHERE {FILTER}"
            );
            let sums =
                conn.prepare_cached(&sql)?
                    .query_row(params![share.row, from, to], |row| {
                        Ok(VisitSums {
                            accesses: row.get(0)?,
                            downloads: row.get(1)?,
                            denied: row.get(2)?,
                            emails: row.get(3)?,
                            addresses: row.get(4)?,
                            bytes: row.get(5)?,
                            by_day: BTreeMap::new(),
                        })
                    })?;
            Ok(VisitSums {
                by_day: by_day(conn, share.row, (from, to))?,
                ..sums
            })
        })
    }
}
