//! Counters that several servers share, in single statements: requests per minute, and failed logins.

use crate::Store;
use crate::db::{Optional as _, params};
use crate::error::Result;

/// Microseconds of a minute.
const MINUTE_US: i64 = 60_000_000;

/// The outcome of taking requests from a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The requests were let through, and so many more would be.
    Yes { remaining: u32 },
    /// The bucket is empty for so many milliseconds more.
    No { wait_ms: u64 },
}

impl Store {
    /// Takes requests, all or none, from a bucket that holds those of a minute and fills up steadily (GCRA), with one
    /// request each microsecond at most.
    ///
    /// # Errors
    /// A database that fails.
    pub fn take_requests(&self, key: &[u8; 16], per_minute: u32, count: u32) -> Result<Taken> {
        let now = self.source.now_ms().saturating_mul(1000);
        let each = (MINUTE_US / i64::from(per_minute.max(1))).max(1);
        let size = each * i64::from(per_minute.max(1));
        let taken = each * i64::from(count);
        self.each_alone(|conn| {
            let full_at: Option<i64> = conn
                .prepare_cached(
                    "INSERT INTO request_buckets AS b (key, full_at) VALUES (?1, ?2) \
                     ON CONFLICT (key) DO UPDATE SET full_at = greatest(b.full_at, ?3) + ?4 \
                     WHERE greatest(b.full_at, ?3) + ?4 <= ?5 RETURNING full_at",
                )?
                .query_row(params![key, now + taken, now, taken, now + size], |row| {
                    row.get(0)
                })
                .optional()?;
            if let Some(full_at) = full_at {
                let left = (now + size - full_at) / each;
                let remaining = u32::try_from(left.max(0)).unwrap_or(per_minute);
                return Ok(Taken::Yes { remaining });
            }
            let full_at: Option<i64> = conn
                .prepare_cached("SELECT full_at FROM request_buckets WHERE key = ?1")?
                .query_row([key], |row| row.get(0))
                .optional()?;
            let wait = full_at.map_or(0, |full_at| full_at + taken - size - now);
            Ok(Taken::No {
                wait_ms: wait.max(1).unsigned_abs().div_ceil(1000),
            })
        })
    }

    /// Forgets buckets that are full, and failures that count no more; returns their number.
    ///
    /// # Errors
    /// A database that fails.
    pub fn forget_old_counts(&self, failures_before_ms: i64) -> Result<u64> {
        if !self.is_shared() {
            return Ok(0);
        }
        let now = self.source.now_ms().saturating_mul(1000);
        self.each_alone(|conn| {
            let full = conn.execute("DELETE FROM request_buckets WHERE full_at <= ?1", [now])?;
            let sql = "DELETE FROM login_failures WHERE since <= ?1";
            Ok((full + conn.execute(sql, [failures_before_ms])?) as u64)
        })
    }

    /// Forgets all counts.
    ///
    /// # Errors
    /// A database that fails.
    pub fn clear_counts(&self) -> Result<()> {
        if !self.is_shared() {
            return Ok(());
        }
        self.each_alone(|conn| {
            Ok(conn.execute_batch("DELETE FROM request_buckets; DELETE FROM login_failures")?)
        })
    }

    /// Returns the failed logins of a subject, and the time of the first of them.
    ///
    /// # Errors
    /// A database that fails.
    pub fn login_failures(&self, subject: &[u8; 32]) -> Result<Option<(u32, i64)>> {
        self.each_alone(|conn| {
            Ok(conn
                .prepare_cached("SELECT count, since FROM login_failures WHERE subject = ?1")?
                .query_row([subject], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?)
        })
    }

    /// Counts a failed login of a subject that has fewer than `most` since `since_ms`; returns how many there are now,
    /// or `None` if it has as many.
    ///
    /// # Errors
    /// A database that fails.
    pub fn count_login_failure(
        &self,
        subject: &[u8; 32],
        now_ms: i64,
        since_ms: i64,
        most: u32,
    ) -> Result<Option<u32>> {
        self.each_alone(|conn| {
            Ok(conn
                .prepare_cached(
                    "INSERT INTO login_failures AS f (subject, count, since) VALUES (?1, 1, ?2) \
                     ON CONFLICT (subject) DO UPDATE SET \
                     count = CASE WHEN f.since <= ?3 THEN 1 ELSE f.count + 1 END, \
                     since = CASE WHEN f.since <= ?3 THEN ?2 ELSE f.since END \
                     WHERE f.since <= ?3 OR f.count < ?4 RETURNING count",
                )?
                .query_row(params![subject, now_ms, since_ms, most], |row| row.get(0))
                .optional()?)
        })
    }

    /// Forgets the failed logins of a subject.
    ///
    /// # Errors
    /// A database that fails.
    pub fn forget_login_failures(&self, subject: &[u8; 32]) -> Result<()> {
        self.each_alone(|conn| {
            conn.prepare_cached("DELETE FROM login_failures WHERE subject = ?1")?
                .execute([subject])?;
            Ok(())
        })
    }
}
