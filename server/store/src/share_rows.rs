//! Share links as rows of the database, and what keeps one from opening.
//!
//! [`ShareRow::issues`] alone decides whether a link opens.

use super::rows::id as read_id;
use crate::db::{self, Row, Value};
use crate::error::{Error, Result};
use cairn_model::AccountId;
use cairn_wire::shares::{AccessMode, PasswordKdf, Share, ShareIssue, ShareStatus, StorageType};
use cairn_wire::{Sealed, Timestamp};
use serde_json::json;
use uuid::Uuid;

/// A link's row, with what never travels.
#[derive(Clone, Debug)]
pub struct ShareRow {
    pub(super) row: i64,
    pub account: AccountId,
    /// bcrypt of what a visitor sends as the password.
    pub password_check: Option<String>,
    /// The shared node is no longer there, or in the trash.
    pub(crate) node_gone: bool,
    /// True if the maker has left the team whose files it shares, or is disabled.
    pub(crate) creator_left: bool,
    /// The row of the space that the shared node lies in.
    pub(super) space: i64,
    pub share: Share,
}

/// Everything about a link that can be changed later, too.
#[derive(Clone, Debug, Default)]
pub struct ShareSettings {
    pub is_active: bool,
    pub access_mode: AccessMode,
    pub password_check: Option<String>,
    pub kdf: Option<PasswordKdf>,
    pub expires_at: Option<i64>,
    pub download_limit: Option<u64>,
    pub allowed_emails: Vec<String>,
    pub active_from: Option<i64>,
    pub active_until: Option<i64>,
    pub notify: bool,
    pub key_blob: Option<Sealed>,
}

impl ShareSettings {
    /// Returns the values of the columns from `is_active` to `key_blob`, in the order in which the table
    /// has them.
    pub(super) fn values(&self) -> Result<[Value; 11]> {
        let limit = self.download_limit.map(i64::try_from).transpose();
        let limit = limit.map_err(|_| Error::invalid("`download_limit` is too large"))?;
        let kdf = self.kdf.as_ref();
        Ok([
            self.is_active.into(),
            mode_name(self.access_mode).to_owned().into(),
            self.password_check.clone().into(),
            kdf.and_then(|kdf| serde_json::to_string(kdf).ok()).into(),
            self.expires_at.into(),
            limit.into(),
            json!(self.allowed_emails).to_string().into(),
            self.active_from.into(),
            self.active_until.into(),
            self.notify.into(),
            self.key_blob.as_ref().map(|blob| blob.0.clone()).into(),
        ])
    }
}

pub(super) const COLUMNS: &str = "s.row, s.account, s.gate, s.id, s.code, s.node, s.storage_type, s.is_active, s.access_mode, \
     s.kdf, s.expires_at, s.download_limit, s.download_count, s.access_count, s.allowed_emails, s.active_from, \
     s.active_until, s.notify, s.key_blob, s.created_at, s.updated_at, n.name, n.state, \
     (SELECT count(*) FROM share_files f WHERE f.share = s.row), \
     EXISTS (SELECT 1 FROM accounts a WHERE a.id = s.account AND a.disabled_at IS NULL AND (a.space = n.space \
     OR EXISTS (SELECT 1 FROM team_members m JOIN teams t ON t.id = m.team \
     WHERE m.account = a.id AND t.space = n.space))), n.space";

pub(super) const TABLES: &str = "shares s JOIN nodes n ON n.id = s.node";

pub(super) fn storage_name(kind: StorageType) -> &'static str {
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

pub(super) fn share_row(row: &Row<'_>) -> db::Result<ShareRow> {
    let password_check: Option<String> = row.get(2)?;
    let time = |column| -> db::Result<Option<Timestamp>> {
        Ok(row.get::<Option<i64>>(column)?.map(Timestamp))
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
        creator_left: !row.get::<bool>(24)?,
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
            key_blob: row.get::<Option<Vec<u8>>>(18)?.map(Sealed),
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
            (self.creator_left, ShareIssue::MakerLeft),
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
