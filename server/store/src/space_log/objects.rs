//! Sealed objects beside commits: sent first, then named by a commit, and kept from then on.

use crate::error::{Error, Result};
use crate::log_guard::check_log;
use crate::usage::{self, Growth};
use crate::{Actor, Space, Store, Tx, chunks};
use cairn_log::{Commit, ControlBody, ObjectId, Statement};
use cairn_model::AccountId;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

/// The time for which an object waits for the commit that names it.
const KEPT_MS: i64 = 7 * 24 * 3600 * 1000;
/// Objects that one transaction deletes.
const PER_PASS: usize = 1_000;

/// An object on its way in; its bytes are stored already.
#[derive(Clone, Copy, Debug)]
pub struct NewSpaceObject<'a> {
    pub id: ObjectId,
    pub sha256: [u8; 32],
    pub size: u64,
    /// The name of its file.
    pub file: &'a str,
}

/// An object that somebody may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceObject {
    pub sha256: [u8; 32],
    pub size: u64,
    /// The name of its file.
    pub file: String,
    is_named: bool,
}

fn space_object(row: &Row<'_>) -> rusqlite::Result<SpaceObject> {
    Ok(SpaceObject {
        sha256: row.get(0)?,
        size: row.get(1)?,
        file: row.get(2)?,
        is_named: row.get(3)?,
    })
}

/// Finds the object that a commit named, or else the account's own.
fn find(
    conn: &Connection,
    space: Space,
    id: ObjectId,
    account: AccountId,
) -> Result<Option<SpaceObject>> {
    Ok(conn
        .prepare_cached(
            "SELECT l.sha256, l.size, o.name, l.named_at IS NOT NULL FROM log_objects l \
             JOIN objects o ON o.id = l.object WHERE l.space = ?1 AND l.id = ?2 \
             AND (l.named_at IS NOT NULL OR l.sender = ?3) ORDER BY l.named_at IS NULL LIMIT 1",
        )?
        .query_row(params![space.row, id.0, account.as_bytes()], space_object)
        .optional()?)
}

/// Deletes rows that a condition finds, and returns the names of their files.
fn delete(
    conn: &Connection,
    condition: &str,
    with: &[&dyn rusqlite::ToSql],
) -> Result<Vec<String>> {
    let objects: Vec<i64> = conn
        .prepare_cached(&format!(
            "DELETE FROM log_objects WHERE {condition} RETURNING object"
        ))?
        .query_map(with, |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut files = Vec::new();
    for object in objects {
        files.extend(chunks::set_object_refs(conn, object, 0)?);
    }
    Ok(files)
}

/// Deletes the objects of a space, and returns the names of their files.
pub(super) fn delete_all(conn: &Connection, space: Space) -> Result<Vec<String>> {
    delete(conn, "space = ?1", &[&space.row])
}

/// The objects that the statements of a commit name; boxes are named by their SHA-256.
fn objects_named_by(commit: &Commit) -> Vec<ObjectId> {
    let mut named = Vec::new();
    for body in &commit.statements {
        match Statement::decode(body) {
            Ok(Statement::Node(node)) => {
                named.extend(node.file.map(|file| file.object));
                let attributes = node.file.and_then(|file| file.attributes);
                named.extend(attributes.map(|attributes| attributes.object));
            }
            Ok(Statement::Control(control)) => {
                let boxes = match control.body {
                    ControlBody::Roster(roster) => roster.boxes,
                    ControlBody::Epoch(epoch) => epoch.boxes,
                    ControlBody::Genesis(_)
                    | ControlBody::DeviceList(_)
                    | ControlBody::Invitation(_)
                    | ControlBody::Checkpoint(_)
                    | ControlBody::Link(_)
                    | ControlBody::Rejoin(_)
                    | ControlBody::Joined(_)
                    | ControlBody::Identity(_) => [0; 32],
                };
                named.extend(Some(ObjectId(boxes)).filter(|boxes| boxes.0 != [0; 32]));
            }
            Err(_) => {}
        }
    }
    named
}

/// Names the objects of a commit, and the others that it brings: they are everybody's in the space from now on.
///
/// # Errors
/// 409 for one that is neither named yet nor the sender's.
pub(super) fn name(
    tx: &Tx<'_>,
    actor: &Actor,
    commit: &Commit,
    others: &[ObjectId],
    position: u64,
) -> Result<()> {
    let own = objects_named_by(commit);
    for id in own.iter().chain(others) {
        let Some(known) = find(tx.conn, actor.space, *id, actor.account)? else {
            return Err(Error::conflict(format!(
                "the object {id} isn't there; PUT it before the commit"
            )));
        };
        if !known.is_named {
            tx.conn
                .prepare_cached(
                    "UPDATE log_objects SET named_at = ?4 WHERE space = ?1 AND id = ?2 AND sender = ?3",
                )?
                .execute(params![
                    actor.space.row,
                    id.0,
                    actor.account.as_bytes(),
                    position
                ])?;
        }
    }
    Ok(())
}

impl Store {
    /// Returns true if an object with these bytes is there for an account.
    pub fn has_space_object(&self, actor: &Actor, id: ObjectId, sha256: [u8; 32]) -> Result<bool> {
        let found = self.read(|conn| find(conn, actor.space, id, actor.account))?;
        Ok(found.is_some_and(|found| found.sha256 == sha256))
    }

    /// Returns an object that a commit named, or the account's own.
    ///
    /// # Errors
    /// 404.
    pub fn space_object(&self, actor: &Actor, id: ObjectId) -> Result<SpaceObject> {
        let found = self.read(|conn| find(conn, actor.space, id, actor.account))?;
        found.ok_or_else(|| Error::not_found(format!("there is no object {id}")))
    }

    /// Makes an object known. Returns the files that nothing refers to then: the one that it replaces, or
    /// its own if the same bytes are there already.
    ///
    /// # Errors
    /// 409 if a commit named other bytes under this id, 507.
    pub fn add_space_object(&self, actor: &Actor, new: &NewSpaceObject<'_>) -> Result<Vec<String>> {
        self.write(|tx| {
            check_log(tx.conn, actor.space)?;
            let known = find(tx.conn, actor.space, new.id, actor.account)?;
            if known.as_ref().is_some_and(|known| known.sha256 == new.sha256) {
                return Ok(vec![new.file.to_owned()]);
            }
            if known.is_some_and(|known| known.is_named) {
                return Err(Error::conflict(format!(
                    "the object {} is there with other bytes, which a commit has named; seal the content \
                     so that it gets another id",
                    new.id
                )));
            }
            let own = "space = ?1 AND id = ?2 AND sender = ?3";
            let (space, sender) = (actor.space.row, actor.account.as_bytes());
            let garbage = delete(tx.conn, own, &[&space, &new.id.0, sender])?;
            let growth = Growth {
                bytes: i64::try_from(new.size).unwrap_or(i64::MAX),
                files: 0,
            };
            usage::check_quota(tx.conn, actor.space, growth)?;
            let object = chunks::add_object(tx.conn, new.file)?;
            chunks::set_object_refs(tx.conn, object, 1)?;
            tx.conn
                .prepare_cached(
                    "INSERT INTO log_objects (space, id, sender, sha256, size, object, sent_at) \
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?
                .execute(params![
                    space,
                    new.id.0,
                    sender,
                    new.sha256,
                    new.size,
                    object,
                    tx.now
                ])?;
            Ok(garbage)
        })
    }

    /// Forgets objects that have waited for a commit in vain. Returns the files to delete.
    pub fn collect_space_objects(&self) -> Result<Vec<String>> {
        let mut all = Vec::new();
        loop {
            let gone = self.write(|tx| {
                let old = "(space, id, sender) IN (SELECT space, id, sender FROM log_objects \
                           WHERE named_at IS NULL AND sent_at <= ?1 LIMIT ?2)";
                delete(tx.conn, old, &[&(tx.now - KEPT_MS), &PER_PASS])
            })?;
            let count = gone.len();
            all.extend(gone);
            if count < PER_PASS {
                return Ok(all);
            }
        }
    }
}
