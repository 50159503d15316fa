//! Visits of share links: visitors' tokens, what is logged of them, the counts, and which chunks (encrypted pieces of
//! files) they may download.

use super::names::shown_name;
use super::rows::{id as read_id, name_of};
use super::share_files::{carries, is_at_or_below};
use super::share_rows::ShareRow;
use super::shares;
use super::{ChunkPlace, Store, Tx, holders};
use crate::db::{Connection, Optional as _, ToSql, params};
use crate::error::{Error, Result};
use cairn_model::{ChunkId, EventKind, NodeId};
use cairn_wire::notifications::NotificationKind;
use cairn_wire::shares::{AccessMode, VisitAction};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// The time for which a token of a visit is valid: enough for a large folder over a slow line.
const VISIT_MS: i64 = 24 * 3600 * 1000;
/// Wrong passwords from one address, before it has to wait.
const MAX_DENIED: u64 = 20;
const DENIED_WINDOW_MS: i64 = 15 * 60 * 1000;

/// The visitor; nothing more of the address is kept.
#[derive(Clone, Debug)]
pub struct Visitor {
    pub email: Option<String>,
    pub masked_ip: String,
}

impl Visitor {
    fn data(&self, share: &ShareRow) -> Value {
        let mut data = share.event_data();
        data["email"] = json!(self.email.as_deref().unwrap_or("anonymous"));
        data["masked_ip"] = json!(self.masked_ip);
        data
    }
}

/// A visit whose token is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Visit {
    row: i64,
    share: i64,
    is_download: bool,
    /// The file or folder that a download was begun of; everything if absent.
    node: Option<NodeId>,
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

fn visit(conn: &Connection, token: &str, now: i64) -> Result<Option<Visit>> {
    Ok(conn
        .prepare_cached(
            "SELECT row, share, action = 'downloaded', node FROM share_visits WHERE token = ?1 AND expires_at > ?2",
        )?
        .query_row(params![hash(token), now], |row| {
            Ok(Visit {
                row: row.get(0)?,
                share: row.get(1)?,
                is_download: row.get(2)?,
                node: row.get::<Option<Vec<u8>>>(3)?.map(|_| read_id(row, 3)).transpose()?,
            })
        })
        .optional()?)
}

fn no_visit() -> Error {
    Error::Unauthorized("`X-Share-Access` is missing or has expired; open the link again".into())
}

/// True if chunks may be fetched before a download is begun: where it would not get around a limit.
pub fn may_view(share: &ShareRow) -> bool {
    share.share.access_mode == AccessMode::ViewOnly || share.share.download_limit.is_none()
}

/// Returns the refused attempts of an address within the window, and the time of the first.
fn denials(conn: &Connection, share: &ShareRow, who: &Visitor, now: i64) -> Result<(u64, i64)> {
    Ok(conn
        .prepare_cached(
            "SELECT count(*), coalesce(min(at), 0) FROM share_visits \
             WHERE share = ?1 AND at > ?2 AND action = 'denied' AND masked_ip = ?3",
        )?
        .query_row(
            params![share.row, now - DENIED_WINDOW_MS, who.masked_ip],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?)
}

/// Adds an entry to the log of visits. `node` is what a download is limited to.
fn add_visit(
    tx: &Tx<'_>,
    share: &ShareRow,
    who: &Visitor,
    action: VisitAction,
    node: Option<NodeId>,
) -> Result<(i64, String)> {
    let token = hex::encode(tx.source.bytes::<24>());
    let token_hash = (action != VisitAction::Denied).then(|| hash(&token));
    let visit = params![
        share.row,
        token_hash,
        name_of(&action),
        who.email,
        who.masked_ip,
        tx.now,
        tx.now + VISIT_MS,
        node.map(|node| *node.as_bytes())
    ];
    let row = tx
        .conn
        .prepare_cached(
            "INSERT INTO share_visits (share, token, action, email, masked_ip, at, expires_at, node) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING row",
        )?
        .query_row(visit, |row| row.get(0))?;
    Ok((row, token))
}

/// Ends the visits of a link, so that whoever is still let in opens it again. `staying` are the addresses whose
/// visits go on.
pub(super) fn end_visits(conn: &Connection, share: i64, staying: &[String]) -> Result<()> {
    let mut values: Vec<&dyn ToSql> = vec![&share];
    values.extend(staying.iter().map(|email| email as &dyn ToSql));
    let mut sql =
        "UPDATE share_visits SET token = NULL WHERE share = ?1 AND token IS NOT NULL".to_owned();
    if !staying.is_empty() {
        let places: Vec<String> = (2..=values.len()).map(|n| format!("?{n}")).collect();
        let places = places.join(", ");
        sql += &format!(" AND (email IS NULL OR email NOT IN ({places}))");
    }
    conn.prepare(&sql)?.execute(values.as_slice())?;
    Ok(())
}

impl Tx<'_> {
    /// Begins an attempt to open a link. It counts as a refused one until [`Tx::withdraw_attempt`]. Returns the
    /// attempt's row.
    ///
    /// # Errors
    /// 429 for an address that has tried too many wrong passwords.
    pub fn begin_attempt(&self, share: &ShareRow, who: &Visitor) -> Result<i64> {
        let (count, oldest) = denials(self.conn, share, who, self.now)?;
        if count >= MAX_DENIED {
            let wait = (oldest + DENIED_WINDOW_MS - self.now).max(1000);
            return Err(Error::TooManyAttempts {
                message: "too many refused attempts to open this link".into(),
                retry_after: u64::try_from(wait).map_or(1, |ms| ms.div_ceil(1000)),
            });
        }
        Ok(add_visit(self, share, who, VisitAction::Denied, None)?.0)
    }

    /// Takes back an attempt that was not refused, if there was one.
    pub fn withdraw_attempt(&self, share: &ShareRow, attempt: Option<i64>) -> Result<()> {
        // The row may be another's by now, if the link was deleted meanwhile.
        self.conn
            .prepare_cached(
                "DELETE FROM share_visits WHERE row = ?1 AND share = ?2 AND action = 'denied'",
            )?
            .execute(params![attempt, share.row])?;
        Ok(())
    }

    /// Records a visit and returns its token.
    pub fn open_visit(&self, share: &ShareRow, who: &Visitor) -> Result<String> {
        let (_, token) = add_visit(self, share, who, VisitAction::Opened, None)?;
        self.conn
            .prepare_cached("UPDATE shares SET access_count = access_count + 1 WHERE row = ?1")?
            .execute([share.row])?;
        self.emit(share.account, EventKind::ShareAccessed, &who.data(share))?;
        Ok(token)
    }

    /// Begins a download, which counts towards the link's limit, and returns its token.
    ///
    /// # Errors
    /// 401 without a visit, 403 for a view-only link, 404 for a file that is not in it, 410 at the limit.
    pub fn begin_download(&self, code: &str, token: &str, node: Option<NodeId>) -> Result<String> {
        let share = shares::by_code(self.conn, code)?.ok_or_else(no_visit)?;
        let visit = visit(self.conn, token, self.now)?
            .filter(|visit| visit.share == share.row)
            .ok_or_else(no_visit)?;
        if share.share.access_mode == AccessMode::ViewOnly {
            return Err(Error::Forbidden(
                "this link is for viewing; its files can't be downloaded".into(),
            ));
        }
        if let Some(node) = node
            && !(is_at_or_below(self.conn, share.share.file_id, node)?
                && carries(self.conn, &share, node)?)
        {
            return Err(Error::not_found(format!("{node} is not in the link")));
        }
        let counted = self
            .conn
            .prepare_cached(
                "UPDATE shares SET download_count = download_count + 1 \
                 WHERE row = ?1 AND (download_limit IS NULL OR download_count < download_limit)",
            )?
            .execute([share.row])?;
        if counted == 0 {
            return Err(Error::Gone("the link's download limit is reached".into()));
        }
        let who = self.conn.query_row(
            "SELECT email, masked_ip FROM share_visits WHERE row = ?1",
            [visit.row],
            |row| {
                Ok(Visitor {
                    email: row.get(0)?,
                    masked_ip: row.get(1)?,
                })
            },
        )?;
        let (_, token) = add_visit(self, &share, &who, VisitAction::Downloaded, node)?;
        let mut data = who.data(&share);
        data["downloaded_file_id"] = json!(node);
        self.emit(share.account, EventKind::ShareDownloaded, &data)?;
        if share.share.notify_on_download {
            let title = format!("{} was downloaded", shown_name(&share.share.file_name));
            self.notify(share.account, NotificationKind::Share, &title, &data)?;
        }
        Ok(token)
    }

    /// Adds served bytes to a visit.
    pub fn add_served(&self, visit: i64, bytes: u64) -> Result<()> {
        self.conn
            .prepare_cached("UPDATE share_visits SET bytes = bytes + ?2 WHERE row = ?1")?
            .execute(params![visit, bytes])?;
        Ok(())
    }
}

impl Store {
    /// Returns the place of a chunk of a shared revision, for a visit that may have it; also the
    /// visit's row.
    ///
    /// # Errors
    /// 401 without a visit, 403 where a download has to be begun first, 404 for what is
    /// not in the link.
    pub fn shared_chunk(
        &self,
        share: &ShareRow,
        token: &str,
        node: NodeId,
        chunk: ChunkId,
    ) -> Result<(ChunkPlace, i64)> {
        let now = self.source().now_ms();
        self.read(|conn| {
            let visit = visit(conn, token, now)?
                .filter(|visit| visit.share == share.row)
                .ok_or_else(no_visit)?;
            if !visit.is_download && !may_view(share) {
                return Err(Error::Forbidden(
                    "begin a download first: POST …/downloads".into(),
                ));
            }
            if let Some(begun) = visit.node
                && !may_view(share)
                && !is_at_or_below(conn, begun, node)?
            {
                return Err(Error::Forbidden(format!(
                    "this download is of {begun}; begin another one for {node}: POST …/downloads"
                )));
            }
            let missing = || Error::not_found(format!("the link has no chunk {chunk} of {node}"));
            let revision = conn
                .prepare_cached(
                    "SELECT f.revision FROM share_files f JOIN nodes n ON n.id = f.node \
                     WHERE f.share = ?1 AND f.node = ?2 AND n.state = 0",
                )?
                .query_row(params![share.row, node.as_bytes()], |row| read_id(row, 0))
                .optional()?
                .ok_or_else(missing)?;
            if !is_at_or_below(conn, share.share.file_id, node)? {
                return Err(missing());
            }
            let place = holders::of_revision(conn, revision, chunk)?.ok_or_else(missing)?;
            Ok((place, visit.row))
        })
    }
}
