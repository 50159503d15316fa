//! Sealed objects beside commits: sent first, then named by a commit, and kept as long as something names them.

use super::quota;
use crate::db::{self, Connection, Optional as _, Row, params};
use crate::error::{Error, Result};
use crate::log_guard::check_log;
use crate::{Actor, Space, Store, chunks};
use cairn_log::ObjectId;
use cairn_model::AccountId;
use std::collections::HashMap;

/// An object on its way in; its bytes are stored already.
#[derive(Clone, Copy, Debug)]
pub struct NewSpaceObject<'a> {
    pub id: ObjectId,
    pub sha256: [u8; 32],
    pub size: u64,
    /// The name of its file.
    pub file: &'a str,
    /// The file with the same bytes that was found damaged.
    pub heals: Option<&'a str>,
}

/// An object that somebody may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceObject {
    pub sha256: [u8; 32],
    pub size: u64,
    /// The name of its file.
    pub file: String,
    /// True if the bytes were found missing or changed.
    pub is_damaged: bool,
    pub(super) is_named: bool,
    uses: u64,
    is_kept: bool,
}

impl SpaceObject {
    /// Returns true if something names the object, or did before uses were counted.
    pub(super) fn is_used(&self) -> bool {
        self.uses > 0 || self.is_kept
    }
}

fn space_object(row: &Row<'_>) -> db::Result<SpaceObject> {
    Ok(SpaceObject {
        sha256: row.get(0)?,
        size: row.get(1)?,
        file: row.get(2)?,
        is_damaged: row.get(3)?,
        is_named: row.get(4)?,
        uses: row.get(5)?,
        is_kept: row.get(6)?,
    })
}

/// Finds the object that a commit named, or else the account's own.
pub(super) fn find(
    conn: &Connection,
    space: Space,
    id: ObjectId,
    account: AccountId,
) -> Result<Option<SpaceObject>> {
    Ok(conn
        .prepare_cached(
            "SELECT l.sha256, l.size, o.name, l.is_damaged, l.named_at IS NOT NULL, l.uses, l.is_kept \
             FROM log_objects l JOIN objects o ON o.id = l.object WHERE l.space = ?1 AND l.id = ?2 \
             AND (l.named_at IS NOT NULL OR l.sender = ?3) ORDER BY l.named_at IS NULL LIMIT 1",
        )?
        .query_row(params![space.row, id.0, account.as_bytes()], space_object)
        .optional()?)
}

/// Deletes rows that a condition finds, and returns the names of their files.
pub(super) fn delete(
    conn: &Connection,
    condition: &str,
    with: &[&dyn db::ToSql],
) -> Result<Vec<String>> {
    let objects: Vec<i64> = conn
        .prepare_cached(&format!(
            "DELETE FROM log_objects WHERE {condition} RETURNING object"
        ))?
        .query_map(with, |row| row.get(0))?
        .collect::<db::Result<_>>()?;
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

/// Puts the bytes that came in the place of those that were found damaged. Returns the file that nothing refers to
/// then: its own if somebody else was faster.
fn heal(
    conn: &Connection,
    known: &SpaceObject,
    new: &NewSpaceObject<'_>,
) -> Result<Option<String>> {
    if new.heals != Some(known.file.as_str()) {
        return Ok(Some(new.file.to_owned()));
    }
    let object = chunks::add_object(conn, new.file)?;
    chunks::set_object_refs(conn, object, 1)?;
    let old: i64 = conn.query_row(
        "SELECT id FROM objects WHERE name = ?1",
        [&known.file],
        |row| row.get(0),
    )?;
    conn.prepare_cached("UPDATE log_objects SET object = ?2, is_damaged = 0 WHERE object = ?1")?
        .execute([old, object])?;
    chunks::set_object_refs(conn, old, 0)
}

fn insert(conn: &Connection, actor: &Actor, new: &NewSpaceObject<'_>, now: i64) -> Result<()> {
    let object = chunks::add_object(conn, new.file)?;
    chunks::set_object_refs(conn, object, 1)?;
    conn.prepare_cached(
        "INSERT INTO log_objects (space, id, sender, sha256, size, object, sent_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        actor.space.row,
        new.id.0,
        actor.account.as_bytes(),
        new.sha256,
        new.size,
        object,
        now
    ])?;
    Ok(())
}

impl Store {
    /// Returns an object with these bytes, if it is there for an account.
    pub fn space_object_like(
        &self,
        actor: &Actor,
        id: ObjectId,
        sha256: [u8; 32],
    ) -> Result<Option<SpaceObject>> {
        let found = self.read(|conn| find(conn, actor.space, id, actor.account))?;
        Ok(found.filter(|found| found.sha256 == sha256))
    }

    /// Returns an object that a commit named, or the account's own.
    ///
    /// # Errors
    /// 404.
    pub fn space_object(&self, actor: &Actor, id: ObjectId) -> Result<SpaceObject> {
        let found = self.read(|conn| find(conn, actor.space, id, actor.account))?;
        found.ok_or_else(|| Error::not_found(format!("there is no object {id}")))
    }

    /// Makes an object known, or heals one. Returns the files that nothing refers to then: the one that it replaces, or
    /// its own if the same bytes are there already.
    ///
    /// # Errors
    /// 409 if a commit named other bytes under this id, 507.
    pub fn add_space_object(&self, actor: &Actor, new: &NewSpaceObject<'_>) -> Result<Vec<String>> {
        self.write(|tx| {
            check_log(tx.conn, actor.space)?;
            let known = find(tx.conn, actor.space, new.id, actor.account)?;
            if let Some(known) = known {
                if known.sha256 == new.sha256 {
                    return Ok(Vec::from_iter(heal(tx.conn, &known, new)?));
                }
                if known.is_named {
                    return Err(Error::conflict(format!(
                        "the object {} is there with other bytes, which a commit has named; seal the content \
                         so that it gets another id",
                        new.id
                    )));
                }
            }
            let own = "space = ?1 AND id = ?2 AND sender = ?3";
            let (space, sender) = (actor.space.row, actor.account.as_bytes());
            let garbage = delete(tx.conn, own, &[&space, &new.id.0, sender])?;
            let bytes = i64::try_from(new.size).unwrap_or(i64::MAX);
            quota::check_object(tx.conn, actor.space, bytes, new.id.0 == new.sha256)?;
            insert(tx.conn, actor, new, tx.now)?;
            Ok(garbage)
        })
    }

    /// Notes what was found in the file of an object: whoever has its bytes is asked to send them again, or no longer.
    pub fn note_space_object(&self, file: &str, is_damaged: bool) -> Result<()> {
        self.write(|tx| {
            tx.conn
                .prepare_cached(
                    "UPDATE log_objects SET is_damaged = ?2 \
                     WHERE object = (SELECT id FROM objects WHERE name = ?1) AND is_damaged <> ?2",
                )?
                .execute(params![file, is_damaged])?;
            Ok(())
        })
    }

    /// Returns SHA-256 of what each file of an object beside commits has to have.
    pub fn space_object_hashes(&self) -> Result<HashMap<String, [u8; 32]>> {
        self.read(|conn| {
            Ok(conn
                .prepare(
                    "SELECT o.name, l.sha256 FROM log_objects l JOIN objects o ON o.id = l.object",
                )?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<db::Result<_>>()?)
        })
    }
}
