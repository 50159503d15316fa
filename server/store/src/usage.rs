//! Usage and limits of an account or a team: bytes and files stored in its space (its tree of files), and bytes
//! transferred in a month.

use super::rows::HELD;
use super::{Space, Store, Tx};
use crate::db::{Connection, params};
use crate::error::{Error, Result};
use crate::options::{NewLimits, to_sql_limit};
use cairn_model::{AccountId, TeamId};
use cairn_wire::account::Quota;
use cairn_wire::{Sealed, Timestamp};

/// Bytes of a node's seal (the record by which clients authenticate a node's name, folder and content) that count for
/// nothing, as in `sql/0055_counted_metadata.sql`.
pub(super) const FREE_SEAL: usize = 1_024;

/// The amounts that a change adds to a space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Growth {
    pub(super) bytes: i64,
    pub(super) files: i64,
}

impl std::ops::AddAssign for Growth {
    fn add_assign(&mut self, other: Self) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.files += other.files;
    }
}

/// Returns the bytes that a revision's record counts for: those of its manifest, which describes the content,
/// encrypted.
pub(super) fn record_bytes(manifest: &[u8]) -> i64 {
    i64::try_from(manifest.len()).unwrap_or(i64::MAX)
}

/// Returns the bytes of a list of chunks beyond those of 64 chunks, which count for nothing.
fn beyond_free_list(bytes: i64) -> i64 {
    bytes.saturating_sub(3_584).max(0)
}

/// Returns the bytes that a revision's list of chunks counts for, as `sql/0055_counted_metadata.sql` counts it.
pub(super) fn list_bytes(chunks: &[u8]) -> i64 {
    beyond_free_list(record_bytes(chunks))
}

/// Returns the bytes that the list of so many announced chunks counts for: those of the revision that they are for.
pub(super) fn announced_list_bytes(chunks: usize) -> i64 {
    i64::try_from(chunks.saturating_mul(HELD)).map_or(i64::MAX, beyond_free_list)
}

/// Refuses a growth beyond the quota. The stored counts include what this transaction has written: triggers keep them.
///
/// # Errors
/// [`Error::QuotaFull`], 507.
pub(super) fn check_quota(conn: &Connection, space: Space, growth: Growth) -> Result<()> {
    if growth.bytes <= 0 && growth.files <= 0 {
        return Ok(());
    }
    let (used, files, limit, file_limit): (i64, i64, i64, i64) = conn
        .prepare_cached(
            "SELECT s.storage_used, s.file_count, coalesce(a.storage_limit, t.storage_limit), \
             coalesce(a.file_count_limit, t.file_count_limit) FROM spaces s \
             LEFT JOIN accounts a ON a.space = s.row LEFT JOIN teams t ON t.space = s.row WHERE s.row = ?1",
        )?
        .query_row([space.row], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })?;
    if growth.bytes > 0 && used.saturating_add(growth.bytes) > limit {
        return Err(Error::QuotaFull(format!(
            "the storage is full: {used} of {limit} bytes are used and this needs {} more; \
             delete files for good or get more storage",
            growth.bytes
        )));
    }
    if growth.files > 0 && files.saturating_add(growth.files) > file_limit {
        return Err(Error::QuotaFull(format!(
            "the account has {files} of at most {file_limit} files; delete some for good first"
        )));
    }
    Ok(())
}

/// Refuses more folders than a space may have: as many as files.
pub(super) fn check_folders(conn: &Connection, space: Space, more: i64) -> Result<()> {
    let (folders, limit): (i64, i64) = conn
        .prepare_cached(
            "SELECT s.folder_count, coalesce(a.file_count_limit, t.file_count_limit) FROM spaces s \
             LEFT JOIN accounts a ON a.space = s.row LEFT JOIN teams t ON t.space = s.row WHERE s.row = ?1",
        )?
        .query_row([space.row], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if more > 0 && folders.saturating_add(more) > limit {
        return Err(Error::QuotaFull(format!(
            "the account has {folders} of at most {limit} folders; delete some for good first"
        )));
    }
    Ok(())
}

/// Counts the spaces whose numbers are not those of what is stored for them.
pub(super) fn miscounted_spaces(conn: &Connection) -> Result<u64> {
    Ok(conn.query_row(
        "WITH held AS MATERIALIZED (SELECT space, sum(bytes) AS bytes, sum(folder) AS folders FROM (\
         SELECT space, size AS bytes, 0 AS folder FROM chunks UNION ALL \
         SELECT space, size, 0 FROM log_objects UNION ALL \
         SELECT space, coalesce(length(body), 0) + 160, 0 FROM log_items UNION ALL \
         SELECT space, length(leaf) + 160, 0 FROM log_leaves UNION ALL \
         SELECT space, 100, 0 FROM log_uses UNION ALL \
         SELECT space, reserved, 0 FROM uploads UNION ALL \
         SELECT space, length(sealed), 0 FROM share_files UNION ALL \
         SELECT space, length(manifest) + CASE WHEN length(chunks) > 3584 THEN length(chunks) - 3584 ELSE 0 END, 0 FROM revisions UNION ALL \
         SELECT space, octet_length(description) + coalesce(octet_length(labels), 0) \
         + coalesce(octet_length(tags), 0) + CASE WHEN length(seal) > 1024 THEN length(seal) - 1024 ELSE 0 END, kind \
         FROM nodes WHERE state < 2) parts GROUP BY space) \
         SELECT count(*) FROM spaces s LEFT JOIN held h ON h.space = s.row \
         WHERE s.storage_used <> coalesce(h.bytes, 0) OR s.folder_count <> coalesce(h.folders, 0)",
        [],
        |row| row.get(0),
    )?)
}

/// Refuses a long seal that was stored and does not fit. Those that clients make are short, and always pass.
pub(super) fn check_seal_fits(
    conn: &Connection,
    space: Space,
    seal: Option<&Sealed>,
) -> Result<()> {
    match seal {
        Some(seal) if seal.0.len() > FREE_SEAL => check_fits(conn, space.row),
        Some(_) | None => Ok(()),
    }
}

/// Returns the bytes that a space uses, and how many it may.
pub(super) fn used_and_limit(conn: &Connection, space: i64) -> Result<(i64, i64)> {
    Ok(conn
        .prepare_cached(
            "SELECT s.storage_used, coalesce(a.storage_limit, t.storage_limit) FROM spaces s \
             LEFT JOIN accounts a ON a.space = s.row LEFT JOIN teams t ON t.space = s.row WHERE s.row = ?1",
        )?
        .query_row([space], |row| Ok((row.get(0)?, row.get(1)?)))?)
}

/// Refuses what a transaction has stored if it does not fit.
pub(super) fn check_fits(conn: &Connection, space: i64) -> Result<()> {
    let (used, limit) = used_and_limit(conn, space)?;
    if used > limit {
        return Err(Error::QuotaFull(format!(
            "the storage is full: {used} of {limit} bytes would be used; delete files for good or \
             get more storage"
        )));
    }
    Ok(())
}

/// The account or the team that limits are for.
#[derive(Clone, Copy)]
pub(super) enum LimitsOf {
    Account(AccountId),
    Team(TeamId),
}

/// Changes how much an account or a team may use.
pub(super) fn change_limits(conn: &Connection, of: LimitsOf, new: NewLimits) -> Result<()> {
    let (table, id) = match &of {
        LimitsOf::Account(account) => ("accounts", account.as_bytes()),
        LimitsOf::Team(team) => ("teams", team.as_bytes()),
    };
    let sql = format!(
        "UPDATE {table} SET storage_limit = coalesce(?2, storage_limit), \
         bandwidth_limit = coalesce(?3, bandwidth_limit), \
         file_count_limit = coalesce(?4, file_count_limit) WHERE id = ?1"
    );
    conn.execute(
        &sql,
        params![
            id,
            new.storage.map(to_sql_limit),
            new.bandwidth.map(to_sql_limit),
            new.files.map(to_sql_limit)
        ],
    )?;
    Ok(())
}

/// Changes the number of a space's files. Its bytes count themselves (`sql/0031_stored_bytes.sql`).
pub(super) fn count_files(conn: &Connection, space: Space, files: i64) -> Result<()> {
    if files != 0 {
        conn.prepare_cached("UPDATE spaces SET file_count = file_count + ?2 WHERE row = ?1")?
            .execute(params![space.row, files])?;
    }
    Ok(())
}

/// `2026-01`: bandwidth counts by calendar month.
pub(super) fn month(now_ms: i64) -> String {
    Timestamp(now_ms).to_string().chars().take(7).collect()
}

fn bandwidth(conn: &Connection, account: AccountId, month: &str) -> Result<(u64, u64)> {
    Ok(conn
        .prepare_cached(
            "SELECT coalesce((SELECT bytes FROM bandwidth WHERE account = ?1 AND month = ?2), 0), \
             coalesce((SELECT bandwidth_limit FROM accounts WHERE id = ?1), \
             (SELECT bandwidth_limit FROM teams WHERE id = ?1), 0)",
        )?
        .query_row(params![account.as_bytes(), month], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?)
}

impl Tx<'_> {
    /// The month that transfers count in now.
    pub fn month(&self) -> String {
        month(self.now)
    }

    /// The same as [`Store::bandwidth`], within the transaction.
    pub fn bandwidth(&self, account: AccountId) -> Result<(u64, u64)> {
        bandwidth(self.conn, account, &self.month())
    }
}

impl Store {
    pub fn quota(&self, account: AccountId) -> Result<Quota> {
        let month = month(self.source().now_ms());
        self.read(|conn| {
            Ok(conn.query_row(
                "SELECT s.storage_used, a.storage_limit, coalesce(b.bytes, 0), a.bandwidth_limit, s.file_count, \
                 a.file_count_limit FROM accounts a JOIN spaces s ON s.row = a.space \
                 LEFT JOIN bandwidth b ON b.account = a.id AND b.month = ?2 WHERE a.id = ?1",
                params![account.as_bytes(), month],
                |row| {
                    Ok(Quota {
                        storage_used: row.get(0)?,
                        storage_limit: row.get(1)?,
                        bandwidth_used: row.get(2)?,
                        bandwidth_limit: row.get(3)?,
                        file_count: row.get(4)?,
                        file_count_limit: row.get(5)?,
                    })
                },
            )?)
        })
    }

    /// The month that transfers count in now.
    pub fn month(&self) -> String {
        month(self.source().now_ms())
    }

    /// Returns the bytes that an account or a team has transferred this month, as far as they are
    /// written down, and its limit.
    pub fn bandwidth(&self, account: AccountId) -> Result<(u64, u64)> {
        let month = self.month();
        self.read_one(|conn| bandwidth(conn, account, &month))
    }

    /// Adds transferred bytes to a month of the account.
    pub fn add_bandwidth(&self, account: AccountId, month: &str, bytes: u64) -> Result<()> {
        self.write(|tx| {
            tx.conn
                .prepare_cached(
                    "INSERT INTO bandwidth (account, month, bytes) VALUES (?1, ?2, ?3) \
                     ON CONFLICT (account, month) DO UPDATE SET bytes = bandwidth.bytes + excluded.bytes",
                )?
                .execute(params![
                    account.as_bytes(),
                    month,
                    i64::try_from(bytes).unwrap_or(i64::MAX)
                ])?;
            Ok(())
        })
    }

    /// Changes how many bytes an account may store, and transfer in a month.
    pub fn set_limits(
        &self,
        account: AccountId,
        storage: Option<u64>,
        bandwidth: Option<u64>,
    ) -> Result<()> {
        let new = NewLimits {
            storage,
            bandwidth,
            files: None,
        };
        self.write(|tx| change_limits(tx.conn, LimitsOf::Account(account), new))
    }
}
