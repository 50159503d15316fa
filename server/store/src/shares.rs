//! Share links: making, finding, changing and revoking them.

use super::caps::Cap;
use super::page::read_page;
use super::rows::fresh_id;
use super::share_rows::{COLUMNS, ShareRow, ShareSettings, TABLES, share_row, storage_name};
use super::share_visits::end_visits;
use super::{Actor, Space, Store, Tx, nodes, teams};
use crate::db::{self, Connection, Optional as _, Value, params};
use crate::error::{Error, Result};
use crate::rights::Right;
use cairn_model::{AccountId, EventKind, Kind, NodeId};
use cairn_wire::shares::StorageType;
use uuid::Uuid;

/// Characters of a short code: none that are mistaken for another when read aloud or copied.
const CODE_ALPHABET: &[u8; 32] = b"23456789abcdefghijkmnpqrstuvwxyz";
/// 32^10 codes: guessing one takes longer than any rate limit allows.
const CODE_LENGTH: usize = 10;

const MAX_SHARES: Cap = Cap {
    rows: "shares WHERE account = ?1",
    most: 10_000,
    whose: "the account has",
    name: "share links",
};

/// The values that a new link is made of; checked already.
#[derive(Clone, Debug)]
pub struct NewShare {
    pub id: Option<Uuid>,
    pub node: NodeId,
    pub storage_type: Option<StorageType>,
    pub settings: ShareSettings,
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
pub(super) fn find_owned(conn: &Connection, account: AccountId, which: &str) -> Result<ShareRow> {
    let found = find(conn, which)?;
    if found.account != account {
        return Err(Error::Forbidden(format!(
            "the share link {which} belongs to somebody else"
        )));
    }
    if found.creator_left {
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
/// As [`find_owned`].
fn find_managed(conn: &Connection, account: AccountId, which: &str) -> Result<ShareRow> {
    let found = find(conn, which)?;
    if manages(conn, account, found.space)? {
        return Ok(found);
    }
    find_owned(conn, account, which)
}

/// Returns true if an account manages the links of the team whose space this is.
fn manages(conn: &Connection, account: AccountId, space: i64) -> Result<bool> {
    teams::has_right_in_space(conn, account, space, Right::ManageShares)
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

/// Ends the visits of those whom a link's new settings might not let in. Its times, its download limit and its
/// mode need nothing here: each request of a visit is checked against them.
fn end_narrowed_visits(conn: &Connection, old: &ShareRow, new: &ShareSettings) -> Result<()> {
    let allowed = &new.allowed_emails;
    let known = &old.share.allowed_emails;
    // Whoever opened it with the old password has to give the new one; a link that was switched off begins anew.
    if new.password_check != old.password_check || !new.is_active {
        return end_visits(conn, old.row, &[]);
    }
    if allowed.is_empty() || allowed == known {
        return Ok(());
    }
    // A link for everybody took any address for the visitor's.
    let staying = if known.is_empty() { &[][..] } else { allowed };
    end_visits(conn, old.row, staying)
}

impl Tx<'_> {
    /// Makes a link; asking again with the same id finds the one that was made.
    ///
    /// # Errors
    /// 404 for the node, 400 for the wrong `storage_type`, 409 in the trash, for a used id or one link too many.
    pub fn create_share(&self, actor: &Actor, new: &NewShare) -> Result<ShareRow> {
        let node = nodes::active_node(self.conn, actor.space, new.node)?.node;
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
        MAX_SHARES.check(self.conn, params![actor.account.as_bytes()])?;
        let id = new.id.unwrap_or_else(|| fresh_id(self.source));
        let code = fresh_code(self)?;
        let head = [
            Value::from(id.as_bytes().to_vec()),
            Value::from(code),
            Value::from(actor.account.as_bytes().to_vec()),
            Value::from(new.node.as_bytes().to_vec()),
            Value::from(storage_name(is).to_owned()),
        ];
        let mut values = Vec::from(head);
        values.extend(new.settings.values()?);
        values.push(self.now.into());
        self.conn
            .prepare_cached(
                "INSERT INTO shares (id, code, account, node, storage_type, is_active, access_mode, gate, kdf, \
                 expires_at, download_limit, allowed_emails, active_from, active_until, notify, key_blob, \
                 created_at, updated_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?17)",
            )?
            .execute(values.as_slice())?;
        let made = find_owned(self.conn, actor.account, &id.to_string())?;
        self.emit(actor.account, EventKind::ShareCreated, &made.event_data())?;
        Ok(made)
    }

    /// Returns a link that an account may change, by its id or short code.
    ///
    /// # Errors
    /// 404 for an unknown link, 403 for one that the account may not change.
    pub fn share(&self, account: AccountId, which: &str) -> Result<ShareRow> {
        find_owned(self.conn, account, which)
    }

    /// Replaces a link's settings; switching it off is a revocation that webhooks hear of.
    pub fn set_share(&self, old: &ShareRow, settings: &ShareSettings) -> Result<ShareRow> {
        let mut values = vec![Value::from(old.row)];
        values.extend(settings.values()?);
        values.push(self.now.into());
        self.conn
            .prepare_cached(
                "UPDATE shares SET is_active = ?2, access_mode = ?3, gate = ?4, kdf = ?5, expires_at = ?6, \
                 download_limit = ?7, allowed_emails = ?8, active_from = ?9, active_until = ?10, notify = ?11, \
                 key_blob = ?12, updated_at = ?13 WHERE row = ?1",
            )?
            .execute(values.as_slice())?;
        end_narrowed_visits(self.conn, old, settings)?;
        if old.share.is_active && !settings.is_active {
            self.emit(old.account, EventKind::ShareRevoked, &old.event_data())?;
        }
        find(self.conn, &old.share.id.to_string())
    }

    /// Ends the share links that an account made on the files of a space, also those that it may no longer
    /// change itself: a disabled account is taken out of its teams like any other.
    pub(super) fn revoke_shares(&self, account: AccountId, space: Space) -> Result<u64> {
        let sql = format!(
            "SELECT {COLUMNS} FROM {TABLES} WHERE s.account = ?1 AND s.is_active = 1 AND n.space = ?2"
        );
        let links: Vec<ShareRow> = self
            .conn
            .prepare_cached(&sql)?
            .query_map(params![account.as_bytes(), space.row], share_row)?
            .collect::<db::Result<_>>()?;
        for old in &links {
            let settings = ShareSettings {
                is_active: false,
                ..old.settings()
            };
            self.set_share(old, &settings)?;
        }
        Ok(links.len() as u64)
    }

    /// Revokes a link for good, with its log.
    ///
    /// # Errors
    /// 404, 403 for a link that is neither the account's nor of a team whose links it manages.
    pub fn delete_share(&self, account: AccountId, which: &str) -> Result<()> {
        let old = find_managed(self.conn, account, which)?;
        self.conn
            .prepare_cached("DELETE FROM shares WHERE row = ?1")?
            .execute([old.row])?;
        self.emit(old.account, EventKind::ShareRevoked, &old.event_data())
    }
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
            let filter = format!("{filter} AND (s.node = ?2 OR ?2 IS NULL)");
            let count = format!("SELECT count(*) FROM {TABLES} WHERE {filter}");
            let list = format!(
                "SELECT {COLUMNS} FROM {TABLES} WHERE {filter} ORDER BY s.row DESC LIMIT ?4 OFFSET ?3"
            );
            let which = params![whose, node];
            read_page(conn, (&count, &list), which, (skip, take), share_row)
        })
    }

    /// Returns a link that an account may see, by its id or short code.
    ///
    /// # Errors
    /// 404 for an unknown link, 403 for one that the account may not see.
    pub fn share(&self, account: AccountId, which: &str) -> Result<ShareRow> {
        self.read(|conn| find_managed(conn, account, which))
    }

    /// A link by its short code, for visitors without an account.
    ///
    /// # Errors
    /// 404, also if the shared node is in the trash, or the maker has left its team.
    pub fn public_share(&self, code: &str) -> Result<ShareRow> {
        self.read(|conn| by_code(conn, code))?
            .filter(|found| !found.node_gone && !found.creator_left)
            .ok_or_else(|| Error::not_found("there is no such share link; ask who sent it to you"))
    }
}
