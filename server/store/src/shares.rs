//! Share links as rows: making, reading, changing and deleting them, and the files they carry.
//!
//! [`ShareRow::issues`] alone decides whether a link opens.

use super::rows::id as read_id;
use super::{Actor, Space, Store, Tx, nodes, revisions, teams};
use crate::error::{Error, Result};
use crate::events::EventKind;
use crate::rights::{Right, allows};
use cairn_model::{AccountId, Kind, NodeId};
use cairn_wire::shares::{
    AccessMode, GateKdf, Share, ShareIssue, ShareStatus, SharedFile, StorageType,
};
use cairn_wire::{Sealed, Timestamp};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde_json::json;
use uuid::Uuid;

/// Characters of a short code: none that are mistaken for another when read aloud or copied.
const CODE_ALPHABET: &[u8; 32] = b"23456789abcdefghijkmnpqrstuvwxyz";
/// 32^10 codes: guessing one takes longer than any rate limit allows.
const CODE_LENGTH: usize = 10;
/// Files that one link carries at most.
const MAX_FILES: u64 = 20_000;

/// A link's row, with what never travels.
#[derive(Clone, Debug)]
pub struct ShareRow {
    pub(super) row: i64,
    pub account: AccountId,
    /// bcrypt of what a visitor sends as the password.
    pub password_check: Option<String>,
    /// The shared node is no longer there, or in the trash.
    pub(crate) node_gone: bool,
    /// Its maker has left the team whose files it shares.
    pub(crate) maker_left: bool,
    /// The row of the space that the shared node lies in.
    space: i64,
    pub share: Share,
}

/// The values that a new link is made of; checked already.
#[derive(Clone, Debug)]
pub struct NewShare {
    pub id: Option<Uuid>,
    pub node: NodeId,
    pub storage_type: Option<StorageType>,
    pub settings: ShareSettings,
}

/// Everything about a link that can be changed later, too.
#[derive(Clone, Debug, Default)]
pub struct ShareSettings {
    pub is_active: bool,
    pub access_mode: AccessMode,
    pub password_check: Option<String>,
    pub kdf: Option<GateKdf>,
    pub expires_at: Option<i64>,
    pub download_limit: Option<u64>,
    pub allowed_emails: Vec<String>,
    pub active_from: Option<i64>,
    pub active_until: Option<i64>,
    pub notify: bool,
    pub key_blob: Option<Sealed>,
}

const COLUMNS: &str = "s.row, s.account, s.gate, s.id, s.code, s.node, s.storage_type, s.is_active, s.access_mode, \
     s.kdf, s.expires_at, s.download_limit, s.download_count, s.access_count, s.allowed_emails, s.active_from, \
     s.active_until, s.notify, s.key_blob, s.created_at, s.updated_at, n.name, n.state, \
     (SELECT count(*) FROM share_files f WHERE f.share = s.row), \
     EXISTS (SELECT 1 FROM accounts a WHERE a.id = s.account AND a.space = n.space) \
     OR EXISTS (SELECT 1 FROM team_members m JOIN teams t ON t.id = m.team \
     WHERE m.account = s.account AND t.space = n.space), n.space";

const TABLES: &str = "shares s JOIN nodes n ON n.id = s.node";

fn storage_name(kind: StorageType) -> &'static str {
    match kind {
        StorageType::File => "VR_FILE",
        StorageType::Folder => "VR_FOLDER",
    }
}

fn mode_name(mode: AccessMode) -> &'static str {
    match mode {
        AccessMode::Download => "download",
        AccessMode::ViewOnly => "view_only",
    }
}

fn share_row(row: &Row<'_>) -> rusqlite::Result<ShareRow> {
    let password_check: Option<String> = row.get(2)?;
    let time = |column| -> rusqlite::Result<Option<Timestamp>> {
        Ok(row.get::<_, Option<i64>>(column)?.map(Timestamp))
    };
    let kdf: Option<String> = row.get(9)?;
    let emails: String = row.get(14)?;
    let storage: String = row.get(6)?;
    let mode: String = row.get(8)?;
    let state: i64 = row.get(22)?;
    Ok(ShareRow {
        row: row.get(0)?,
        account: read_id(row, 1)?,
        node_gone: state != 0,
        maker_left: !row.get::<_, bool>(24)?,
        space: row.get(25)?,
        share: Share {
            id: Uuid::from_bytes(row.get(3)?),
            short_code: row.get(4)?,
            url: String::new(),
            file_id: read_id(row, 5)?,
            file_name: row.get(21)?,
            storage_type: if storage == storage_name(StorageType::Folder) {
                StorageType::Folder
            } else {
                StorageType::File
            },
            is_active: row.get(7)?,
            status: ShareStatus::Active,
            access_mode: if mode == mode_name(AccessMode::ViewOnly) {
                AccessMode::ViewOnly
            } else {
                AccessMode::Download
            },
            has_password: password_check.is_some(),
            expires_at: time(10)?,
            download_limit: row.get(11)?,
            download_count: row.get(12)?,
            access_count: row.get(13)?,
            allowed_emails: serde_json::from_str(&emails).unwrap_or_default(),
            active_from: time(15)?,
            active_until: time(16)?,
            notify_on_download: row.get(17)?,
            files: row.get(23)?,
            key_blob: row.get::<_, Option<Vec<u8>>>(18)?.map(Sealed),
            kdf: kdf.and_then(|text| serde_json::from_str(&text).ok()),
            created_at: Timestamp(row.get(19)?),
            updated_at: Timestamp(row.get(20)?),
        },
        password_check,
    })
}

impl ShareRow {
    /// Everything that keeps the link from opening at a time.
    pub fn issues(&self, now: i64) -> Vec<ShareIssue> {
        let share = &self.share;
        let past = |at: Option<Timestamp>| at.is_some_and(|at| at.0 <= now);
        [
            (self.node_gone, ShareIssue::FileGone),
            (self.maker_left, ShareIssue::MakerLeft),
            (!share.is_active, ShareIssue::Deactivated),
            (past(share.expires_at), ShareIssue::Expired),
            (
                share
                    .download_limit
                    .is_some_and(|limit| share.download_count >= limit),
                ShareIssue::AtDownloadLimit,
            ),
            (
                share.active_from.is_some_and(|from| from.0 > now),
                ShareIssue::NotYetActive,
            ),
            (past(share.active_until), ShareIssue::ActiveWindowEnded),
        ]
        .into_iter()
        .filter_map(|(is, issue)| is.then_some(issue))
        .collect()
    }

    /// The link as its owner sees it now, at an address below `base`.
    pub fn show(&self, now: i64, base: &str) -> Share {
        let mut share = self.share.clone();
        share.url = format!("{base}/s/{}", share.short_code);
        share.status = match self.issues(now).first() {
            None | Some(ShareIssue::NoFiles) => ShareStatus::Active,
            Some(ShareIssue::FileGone) => ShareStatus::FileGone,
            Some(ShareIssue::MakerLeft) => ShareStatus::MakerLeft,
            Some(ShareIssue::Deactivated) => ShareStatus::Deactivated,
            Some(ShareIssue::Expired) => ShareStatus::Expired,
            Some(ShareIssue::AtDownloadLimit) => ShareStatus::AtDownloadLimit,
            Some(ShareIssue::NotYetActive) => ShareStatus::NotYetActive,
            Some(ShareIssue::ActiveWindowEnded) => ShareStatus::ActiveWindowEnded,
        };
        share
    }

    /// The changeable part.
    pub fn settings(&self) -> ShareSettings {
        let share = self.share.clone();
        ShareSettings {
            is_active: share.is_active,
            access_mode: share.access_mode,
            password_check: self.password_check.clone(),
            kdf: share.kdf,
            expires_at: share.expires_at.map(|at| at.0),
            download_limit: share.download_limit,
            allowed_emails: share.allowed_emails,
            active_from: share.active_from.map(|at| at.0),
            active_until: share.active_until.map(|at| at.0),
            notify: share.notify_on_download,
            key_blob: share.key_blob,
        }
    }

    /// Returns the data that its events carry.
    pub(super) fn event_data(&self) -> serde_json::Value {
        json!({
            "share_id": self.share.id,
            "short_code": self.share.short_code,
            "file_id": self.share.file_id,
            "file_name": self.share.file_name,
            "storage_type": self.share.storage_type,
        })
    }
}

/// A link by its short code.
pub(super) fn by_code(conn: &Connection, code: &str) -> Result<Option<ShareRow>> {
    let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE s.code = ?1");
    Ok(conn
        .prepare_cached(&sql)?
        .query_row([code], share_row)
        .optional()?)
}

fn by_id(conn: &Connection, id: Uuid) -> Result<Option<ShareRow>> {
    let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE s.id = ?1");
    Ok(conn
        .prepare_cached(&sql)?
        .query_row([id.as_bytes()], share_row)
        .optional()?)
}

/// Finds a link by its id or short code.
fn find(conn: &Connection, which: &str) -> Result<ShareRow> {
    let found = match Uuid::try_parse(which) {
        Ok(id) => by_id(conn, id)?,
        Err(_) => by_code(conn, which)?,
    };
    found.ok_or_else(|| Error::not_found(format!("there is no share link {which}")))
}

/// Finds a link that an account made and may still work with.
///
/// # Errors
/// 404 for an unknown link, 403 for one of somebody else, and for one of a team that its maker has
/// left.
fn owned(conn: &Connection, account: AccountId, which: &str) -> Result<ShareRow> {
    let found = find(conn, which)?;
    if found.account != account {
        return Err(Error::Forbidden(format!(
            "the share link {which} belongs to somebody else"
        )));
    }
    if found.maker_left {
        return Err(Error::Forbidden(format!(
            "the share link {which} belongs to a team that you have left"
        )));
    }
    Ok(found)
}

/// Finds a link that an account may see and revoke: one of its own, or one on the files of a team
/// whose links it manages.
///
/// # Errors
/// As [`owned`].
fn managed(conn: &Connection, account: AccountId, which: &str) -> Result<ShareRow> {
    let found = find(conn, which)?;
    if manages(conn, account, found.space)? {
        return Ok(found);
    }
    owned(conn, account, which)
}

/// Returns true if an account manages the links of the team whose space this is.
fn manages(conn: &Connection, account: AccountId, space: i64) -> Result<bool> {
    let role = teams::role_in_space(conn, account, space)?;
    Ok(role.is_some_and(|role| allows(role, Right::ManageShares)))
}

fn fresh_code(tx: &Tx<'_>) -> Result<String> {
    loop {
        let code: String = tx
            .source
            .bytes::<CODE_LENGTH>()
            .iter()
            .map(|byte| char::from(CODE_ALPHABET[usize::from(byte % 32)]))
            .collect();
        if by_code(tx.conn, &code)?.is_none() {
            return Ok(code);
        }
    }
}

fn kdf_text(settings: &ShareSettings) -> Option<String> {
    settings
        .kdf
        .as_ref()
        .and_then(|kdf| serde_json::to_string(kdf).ok())
}

impl Tx<'_> {
    /// Makes a link; asking again with the same id finds the one that was made.
    ///
    /// # Errors
    /// 404 for the node, 400 for the wrong `storage_type`, 409 in the trash or for a used id.
    pub fn create_share(&self, actor: &Actor, new: &NewShare) -> Result<ShareRow> {
        let node = nodes::active(self.conn, actor.space, new.node)?.node;
        let is = match node.kind {
            Kind::File => StorageType::File,
            Kind::Folder => StorageType::Folder,
        };
        if new.storage_type.is_some_and(|wanted| wanted != is) {
            return Err(Error::invalid(format!(
                "`storage_type` has to be {}: the node {} is a {}",
                storage_name(is),
                node.id,
                node.kind.as_str()
            )));
        }
        if let Some(id) = new.id
            && let Some(known) = by_id(self.conn, id)?
        {
            return if known.account == actor.account && known.share.file_id == new.node {
                Ok(known)
            } else {
                Err(Error::conflict(format!(
                    "the id {id} can't be used; choose another"
                )))
            };
        }
        let id = new
            .id
            .unwrap_or_else(|| uuid::Builder::from_random_bytes(self.source.bytes()).into_uuid());
        let settings = &new.settings;
        self.conn
            .prepare_cached(
                "INSERT INTO shares (id, code, account, node, storage_type, is_active, access_mode, gate, kdf, \
                 expires_at, download_limit, allowed_emails, active_from, active_until, notify, key_blob, \
                 created_at, updated_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?17)",
            )?
            .execute(params![
                id.as_bytes(),
                fresh_code(self)?,
                actor.account.as_bytes(),
                new.node.as_bytes(),
                storage_name(is),
                settings.is_active,
                mode_name(settings.access_mode),
                settings.password_check,
                kdf_text(settings),
                settings.expires_at,
                settings.download_limit,
                json!(settings.allowed_emails).to_string(),
                settings.active_from,
                settings.active_until,
                settings.notify,
                settings.key_blob.as_ref().map(|blob| &blob.0),
                self.now,
            ])?;
        let made = owned(self.conn, actor.account, &id.to_string())?;
        self.emit(actor.account, EventKind::ShareCreated, &made.event_data())?;
        Ok(made)
    }

    /// Returns a link that an account may change, by its id or short code.
    ///
    /// # Errors
    /// 404 for an unknown link, 403 for one that the account may not change.
    pub fn share(&self, account: AccountId, which: &str) -> Result<ShareRow> {
        owned(self.conn, account, which)
    }

    /// Replaces a link's settings; switching it off is a revocation that webhooks hear of.
    pub fn set_share(&self, old: &ShareRow, settings: &ShareSettings) -> Result<ShareRow> {
        self.conn
            .prepare_cached(
                "UPDATE shares SET is_active = ?2, access_mode = ?3, gate = ?4, kdf = ?5, expires_at = ?6, \
                 download_limit = ?7, allowed_emails = ?8, active_from = ?9, active_until = ?10, notify = ?11, \
                 key_blob = ?12, updated_at = ?13 WHERE row = ?1",
            )?
            .execute(params![
                old.row,
                settings.is_active,
                mode_name(settings.access_mode),
                settings.password_check,
                kdf_text(settings),
                settings.expires_at,
                settings.download_limit,
                json!(settings.allowed_emails).to_string(),
                settings.active_from,
                settings.active_until,
                settings.notify,
                settings.key_blob.as_ref().map(|blob| &blob.0),
                self.now,
            ])?;
        if settings.password_check != old.password_check {
            // Whoever opened it with the old password has to give the new one.
            self.conn
                .prepare_cached("UPDATE share_visits SET token = NULL WHERE share = ?1")?
                .execute([old.row])?;
        }
        if old.share.is_active && !settings.is_active {
            self.emit(old.account, EventKind::ShareRevoked, &old.event_data())?;
        }
        find(self.conn, &old.share.id.to_string())
    }

    /// Revokes a link for good, with its log.
    ///
    /// # Errors
    /// 404, 403 for a link that is neither the account's nor of a team whose links it manages.
    pub fn delete_share(&self, account: AccountId, which: &str) -> Result<()> {
        let old = managed(self.conn, account, which)?;
        self.conn
            .prepare_cached("DELETE FROM shares WHERE row = ?1")?
            .execute([old.row])?;
        self.emit(old.account, EventKind::ShareRevoked, &old.event_data())
    }

    /// Adds files to a link, or replaces them.
    ///
    /// # Errors
    /// 400 for a file that lies outside what is shared, a foreign revision, or too many files.
    pub fn put_shared_files(
        &self,
        actor: &Actor,
        which: &str,
        files: &[SharedFile],
        replace: bool,
    ) -> Result<ShareRow> {
        let share = owned(self.conn, actor.account, which)?;
        if replace {
            self.conn
                .prepare_cached("DELETE FROM share_files WHERE share = ?1")?
                .execute([share.row])?;
        }
        for file in files {
            let node = nodes::active(self.conn, actor.space, file.node_id)?.node;
            if node.kind != Kind::File || !below(self.conn, share.share.file_id, node.id)? {
                return Err(Error::invalid(format!(
                    "`files`: the node {} is no file in what the link shares",
                    node.id
                )));
            }
            if revisions::owner(self.conn, file.revision_id)? != Some(node.id) {
                return Err(Error::invalid(format!(
                    "`files`: the node {} has no revision {}",
                    node.id, file.revision_id
                )));
            }
            self.conn
                .prepare_cached(
                    "INSERT INTO share_files (share, node, revision, sealed) VALUES (?1, ?2, ?3, ?4) \
                     ON CONFLICT (share, node) DO UPDATE SET revision = excluded.revision, sealed = excluded.sealed",
                )?
                .execute(params![
                    share.row,
                    node.id.as_bytes(),
                    file.revision_id.as_bytes(),
                    file.sealed.0
                ])?;
        }
        let changed = owned(self.conn, actor.account, which)?;
        if changed.share.files > MAX_FILES {
            return Err(Error::invalid(format!(
                "`files`: a link carries at most {MAX_FILES} files; share a smaller folder"
            )));
        }
        Ok(changed)
    }
}

/// Returns true if an active node is another one or lies below it.
pub(super) fn below(conn: &Connection, top: NodeId, node: NodeId) -> Result<bool> {
    Ok(conn
        .prepare_cached(
            "WITH RECURSIVE up (id) AS (SELECT ?1 UNION SELECT n.parent FROM up JOIN nodes n ON n.id = up.id \
             WHERE n.parent <> x'' AND n.state = 0) SELECT EXISTS (SELECT 1 FROM up WHERE id = ?2)",
        )?
        .query_row(params![node.as_bytes(), top.as_bytes()], |row| row.get(0))?)
}

impl Store {
    /// Returns one page of links, the newest first, and their number: those of the account, or in the
    /// space of a team whose links it manages those of all members.
    pub fn shares(
        &self,
        account: AccountId,
        space: Space,
        node: Option<NodeId>,
        skip: u64,
        take: u64,
    ) -> Result<(Vec<ShareRow>, u64)> {
        self.read(|conn| {
            let node = node.map(|node| *node.as_bytes());
            let (filter, whose) = if manages(conn, account, space.row)? {
                ("n.space = ?1", Value::Integer(space.row))
            } else {
                ("s.account = ?1", Value::Blob(account.as_bytes().to_vec()))
            };
            let filter = format!("{filter} AND (?2 IS NULL OR s.node = ?2)");
            let total = conn
                .prepare_cached(&format!("SELECT count(*) FROM {TABLES} WHERE {filter}"))?
                .query_row(params![whose, node], |row| row.get(0))?;
            let sql = format!(
                "SELECT {COLUMNS} FROM {TABLES} WHERE {filter} ORDER BY s.row DESC LIMIT ?4 OFFSET ?3"
            );
            let page = conn
                .prepare_cached(&sql)?
                .query_map(params![whose, node, skip, take], share_row)?
                .collect::<rusqlite::Result<_>>()?;
            Ok((page, total))
        })
    }

    /// Returns a link that an account may see, by its id or short code.
    ///
    /// # Errors
    /// 404 for an unknown link, 403 for one that the account may not see.
    pub fn share(&self, account: AccountId, which: &str) -> Result<ShareRow> {
        self.read(|conn| managed(conn, account, which))
    }

    /// A link by its short code, for strangers.
    ///
    /// # Errors
    /// 404, also if the shared node is in the trash, or the maker has left its team.
    pub fn public_share(&self, code: &str) -> Result<ShareRow> {
        self.read(|conn| by_code(conn, code))?
            .filter(|found| !found.node_gone && !found.maker_left)
            .ok_or_else(|| Error::not_found("there is no such share link; ask who sent it to you"))
    }

    /// Returns true if a link carries no file although there is one to carry.
    pub fn lacks_files(&self, share: &ShareRow) -> Result<bool> {
        if share.share.files > 0 || share.node_gone {
            return Ok(false);
        }
        self.read(|conn| {
            Ok(conn
                .prepare_cached(
                    "WITH RECURSIVE sub (id) AS (SELECT ?1 UNION ALL SELECT n.id FROM sub CROSS JOIN nodes n \
                     INDEXED BY nodes_name ON n.parent = sub.id AND n.space = ?2 AND n.state = 0) \
                     SELECT EXISTS (SELECT 1 FROM sub JOIN nodes n ON n.id = sub.id WHERE n.kind = 0)",
                )?
                .query_row(params![share.share.file_id.as_bytes(), share.space], |row| {
                    row.get(0)
                })?)
        })
    }

    /// The files of a link that are still where they were shared.
    pub fn shared_files(&self, share: &ShareRow) -> Result<Vec<SharedFile>> {
        self.read(|conn| {
            let all: Vec<SharedFile> = conn
                .prepare_cached(
                    "SELECT f.node, f.revision, f.sealed FROM share_files f JOIN nodes n ON n.id = f.node \
                     WHERE f.share = ?1 AND n.state = 0 ORDER BY n.name_key, n.id",
                )?
                .query_map([share.row], |row| {
                    Ok(SharedFile {
                        node_id: read_id(row, 0)?,
                        revision_id: read_id(row, 1)?,
                        sealed: Sealed(row.get(2)?),
                    })
                })?
                .collect::<rusqlite::Result<_>>()?;
            let mut files = Vec::with_capacity(all.len());
            for file in all {
                // What was moved out of the folder is shared no longer.
                if below(conn, share.share.file_id, file.node_id)? {
                    files.push(file);
                }
            }
            Ok(files)
        })
    }
}
