//! Leases: the right to a kind of work that one of the servers on a database does at a time.

use super::Cluster;
use crate::Store;
use crate::db::params;
use crate::error::Result;
use std::time::Duration;

/// The time of the database in milliseconds: the clocks of several servers differ.
pub(super) const NOW: &str = "CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS bigint)";

/// The prefix of the lease that a server has on its own name for as long as it runs.
pub(super) const SERVER: &str = "server ";

impl Cluster {
    pub(super) fn id(&self) -> &str {
        &self.id
    }
}

impl Store {
    /// Takes a lease that nobody has, or keeps one's own, for a time from now. Returns false if another server has it.
    /// Without other servers every lease is one's own.
    ///
    /// # Errors
    /// A database that fails: whether the lease was taken is unknown, and it ends by itself.
    pub fn hold_lease(&self, name: &str, lifetime: Duration) -> Result<bool> {
        let Some(cluster) = &self.cluster else {
            return Ok(true);
        };
        let lifetime = i64::try_from(lifetime.as_millis()).unwrap_or(i64::MAX);
        let sql = format!(
            "INSERT INTO leases AS held (name, holder, expires_at) VALUES (?1, ?2, {NOW} + ?3) \
             ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at \
             WHERE held.holder = excluded.holder OR held.expires_at <= {NOW}"
        );
        self.as_it_takes(|| {
            let mut conn = cluster.leases.lock();
            conn.forget_broken();
            let taken =
                conn.prepare_cached(&sql)?
                    .execute(params![name, cluster.id(), lifetime])?;
            Ok(taken > 0)
        })
    }

    /// Keeps the lease of this server on its own name: what it has begun counts as running for so long.
    ///
    /// # Errors
    /// A database that fails.
    pub fn stay_alive(&self, lifetime: Duration) -> Result<()> {
        let Some(cluster) = &self.cluster else {
            return Ok(());
        };
        self.hold_lease(&format!("{SERVER}{}", cluster.id()), lifetime)?;
        Ok(())
    }

    /// Gives up all leases of this server, so that others need not wait for their end.
    ///
    /// # Errors
    /// A database that fails.
    pub fn give_up_leases(&self) -> Result<()> {
        let Some(cluster) = &self.cluster else {
            return Ok(());
        };
        self.as_it_takes(|| {
            let mut conn = cluster.leases.lock();
            conn.forget_broken();
            conn.execute("DELETE FROM leases WHERE holder = ?1", [cluster.id()])?;
            Ok(())
        })
    }

    /// Forgets leases that ended an hour ago; returns their number.
    ///
    /// # Errors
    /// A database that fails.
    pub fn forget_old_leases(&self) -> Result<u64> {
        if !self.is_shared() {
            return Ok(0);
        }
        let sql = format!("DELETE FROM leases WHERE expires_at <= {NOW} - 3600000");
        self.each_alone(|conn| Ok(conn.execute(&sql, [])? as u64))
    }
}
