//! Secrets of the server's own that are made once and kept sealed, such as signing keys.

use super::Store;
use crate::db::{Connection, Optional as _, params};
use crate::error::{Error, Result};
use crate::source::Source;

const SECRET: usize = 32;

impl Store {
    /// Returns a random value that is made once and kept, sealed, such as a signing key.
    ///
    /// # Errors
    /// A value that was sealed with another `records.key`.
    pub fn secret(&self, key: &str) -> Result<[u8; SECRET]> {
        let is_plain = |stored: &[u8]| stored.len() == SECRET;
        let kept = self.get_or_make(key, is_plain, |source| {
            Ok(source.bytes::<SECRET>().to_vec())
        })?;
        kept.try_into()
            .map_err(|_| Error::Config(format!("the value `{key}` in the database is damaged")))
    }

    /// Deletes secrets, so that the next use of each makes a new one. Returns how many there were.
    ///
    /// # Errors
    /// A database that fails.
    pub fn delete_secrets(&self, keys: &[&str]) -> Result<usize> {
        self.write(|tx| {
            let mut statement = tx
                .conn
                .prepare_cached("DELETE FROM settings WHERE key = ?1")?;
            keys.iter()
                .try_fold(0, |deleted, key| Ok(deleted + statement.execute([*key])?))
        })
    }

    /// Returns true if a secret was made.
    ///
    /// # Errors
    /// A database that fails.
    pub fn has_secret(&self, key: &str) -> Result<bool> {
        self.read(|conn| {
            let sql = "SELECT EXISTS (SELECT 1 FROM settings WHERE key = ?1)";
            Ok(conn.query_row(sql, [key], |row| row.get(0))?)
        })
    }

    /// Returns a longer value that is made once and kept, sealed. It is made outside of any transaction.
    ///
    /// A value that an older version stored as it was (`is_plain`) is replaced: whoever has a copy of
    /// that database could sign with it.
    ///
    /// # Errors
    /// A value that was sealed with another `records.key`.
    pub fn get_or_make(
        &self,
        key: &str,
        is_plain: impl Fn(&[u8]) -> bool,
        make: impl FnOnce(&Source) -> Result<Vec<u8>>,
    ) -> Result<Vec<u8>> {
        let find = |conn: &Connection| -> Result<Option<Vec<u8>>> {
            let stored: Option<Vec<u8>> = conn
                .query_row("SELECT value FROM settings WHERE key = ?1", [key], |row| {
                    row.get(0)
                })
                .optional()?;
            stored
                .filter(|stored| !is_plain(stored))
                .map(|sealed| self.outbox.sealer.open_record(key.as_bytes(), &sealed))
                .transpose()
        };
        if let Some(known) = self.read(find)? {
            return Ok(known);
        }
        let fresh = make(&self.source)?;
        self.write(|tx| {
            if let Some(known) = find(tx.conn)? {
                return Ok(known);
            }
            let sealed = self.outbox.sealer.seal(tx.source, key.as_bytes(), &fresh)?;
            let replaced = tx.conn.execute("DELETE FROM settings WHERE key = ?1", [key])?;
            tx.conn.execute(
                "INSERT INTO settings (key, value) VALUES (?1, ?2)",
                params![key, sealed],
            )?;
            if replaced > 0 {
                tracing::warn!(
                    key,
                    "replaced a secret that an older version had stored unsealed; what was signed with it is \
                     void"
                );
            }
            Ok(fresh)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Clock;
    use std::path::Path;
    use std::sync::Arc;

    fn store(data: Option<&Path>) -> Store {
        Store::open(data, Arc::new(Source::new(Clock::System, None))).unwrap()
    }

    #[test]
    fn another_records_key_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        store(Some(dir.path())).secret("k").unwrap();
        std::fs::write(dir.path().join("records.key"), "ab".repeat(32)).unwrap();
        let error = store(Some(dir.path())).secret("k").unwrap_err();
        assert!(error.to_string().contains("records.key"), "{error}");
    }

    #[test]
    fn a_missing_records_key_stops_the_start_and_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let key = dir.path().join("records.key");
        let open = || Store::open(Some(dir.path()), Arc::new(Source::new(Clock::System, None)));
        // Nothing is sealed yet.
        drop(open().unwrap());
        std::fs::remove_file(&key).unwrap();
        let secret = open().unwrap().secret("k").unwrap();
        let kept = dir.path().join("elsewhere");
        std::fs::rename(&key, &kept).unwrap();
        let error = open().map(drop).unwrap_err().to_string();
        assert!(
            error.contains("records.key") && error.contains("backup"),
            "{error}"
        );
        assert!(!key.exists(), "no other key is in the way of the right one");
        std::fs::rename(&kept, &key).unwrap();
        assert_eq!(open().unwrap().secret("k").unwrap(), secret);
    }

    #[cfg(unix)]
    #[test]
    fn a_records_key_that_others_can_read_is_closed_to_them() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        store(Some(dir.path())).secret("k").unwrap();
        let key = dir.path().join("records.key");
        let mode = || key.metadata().unwrap().permissions().mode() & 0o777;
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
        store(Some(dir.path()));
        assert_eq!(mode(), 0o600);
    }

    #[test]
    fn a_secret_that_an_older_version_stored_unsealed_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let unsealed = [7_u8; SECRET];
        {
            let older = store(Some(dir.path()));
            let put = |tx: &crate::Tx<'_>| {
                tx.conn.execute(
                    "INSERT INTO settings (key, value) VALUES ('k', ?1)",
                    [unsealed],
                )?;
                Ok(())
            };
            older.write(put).unwrap();
        }
        let store = store(Some(dir.path()));
        let fresh = store.secret("k").unwrap();
        assert_ne!(fresh, unsealed);
        assert_eq!(store.secret("k").unwrap(), fresh);
        let stored: Vec<u8> = store
            .read(|conn| {
                Ok(
                    conn.query_row("SELECT value FROM settings WHERE key = 'k'", [], |row| {
                        row.get(0)
                    })?,
                )
            })
            .unwrap();
        assert!(
            !stored
                .windows(SECRET)
                .any(|part| part == fresh || part == unsealed)
        );
    }
}
