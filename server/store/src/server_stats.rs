//! Sums over the whole server, for those who watch it, and the check that it can still write.

use super::Store;
use crate::db::Connection;
use crate::error::{Error, Result};

/// Sums over all accounts and teams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerStats {
    pub active_accounts: i64,
    pub disabled_accounts: i64,
    /// Bytes that count for storage quotas.
    pub stored_bytes: i64,
    /// Files, those in the trash included.
    pub files: i64,
    pub open_uploads: i64,
    pub pending_deliveries: i64,
    pub failed_deliveries: i64,
    /// Stored chunks that were found missing or with other bytes, and that nobody has sent again.
    pub damaged_chunks: i64,
    /// The size of the database file.
    pub database_bytes: i64,
}

fn check_schema(conn: &Connection) -> Result<()> {
    let done = conn.schema_version()?;
    let known = conn.dialect().migrations().len();
    if done == known {
        return Ok(());
    }
    Err(Error::Config(format!(
        "the database has the schema {done}, and this server needs {known}: another version of cairn-server \
         has worked on it"
    )))
}

impl Store {
    /// Returns the sums as they are now. Every part reads a small table or an index, so that asking
    /// often costs little.
    pub fn server_stats(&self) -> Result<ServerStats> {
        let now = self.source().now_ms();
        self.read(|conn| {
            Ok(conn
                .prepare_cached(
                    "SELECT (SELECT count(*) FROM accounts WHERE disabled_at IS NULL), \
                     (SELECT count(*) FROM accounts WHERE disabled_at IS NOT NULL), \
                     (SELECT coalesce(sum(storage_used), 0) FROM spaces), \
                     (SELECT coalesce(sum(file_count), 0) FROM spaces), \
                     (SELECT count(*) FROM uploads WHERE done = 0 AND expires_at > ?1), \
                     (SELECT count(*) FROM webhook_deliveries WHERE due_at IS NOT NULL), \
                     (SELECT count(*) FROM webhook_deliveries WHERE state = 3), \
                     (SELECT count(*) FROM damaged_chunks)",
                )?
                .query_row([now], |row| {
                    Ok(ServerStats {
                        active_accounts: row.get(0)?,
                        disabled_accounts: row.get(1)?,
                        stored_bytes: row.get(2)?,
                        files: row.get(3)?,
                        open_uploads: row.get(4)?,
                        pending_deliveries: row.get(5)?,
                        failed_deliveries: row.get(6)?,
                        damaged_chunks: row.get(7)?,
                        database_bytes: conn.size()?,
                    })
                })?)
        })
    }

    /// Checks that the database has this version's schema and takes writes.
    ///
    /// # Errors
    /// [`Error::Config`] for another schema; a database that is locked, full or gone.
    pub fn check_writable(&self) -> Result<()> {
        self.write(|tx| {
            check_schema(tx.conn)?;
            // A write that changes nothing still has to get the lock and a place in the log.
            tx.conn
                .prepare_cached("UPDATE settings SET value = value WHERE key = 'epoch'")?
                .execute([])?;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clock, Source};
    use std::sync::Arc;

    #[test]
    fn a_database_that_takes_no_writes_is_noticed() {
        let store = Store::open(None, Arc::new(Source::new(Clock::System, None))).unwrap();
        store.check_writable().unwrap();
        store.writer.lock().refuse_writes(true);
        assert!(matches!(store.check_writable(), Err(Error::Sql(_))));
        store.writer.lock().refuse_writes(false);
        store.writer.lock().set_schema_version(1).unwrap();
        let error = store.check_writable().unwrap_err();
        assert!(error.to_string().contains("schema 1"), "{error}");
    }

    #[test]
    fn an_empty_server_has_only_a_database() {
        let store = crate::testing::open(Arc::new(Source::new(Clock::System, None)));
        let figures = store.server_stats().unwrap();
        assert!(figures.database_bytes > 0);
        let rest = ServerStats {
            database_bytes: 0,
            ..figures
        };
        assert_eq!(rest, ServerStats::default());
    }
}
