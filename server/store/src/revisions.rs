//! Revisions: the content versions of files.

use super::page::read_page;
use super::rows::{HeldChunk, content_source, id as read_id, optional_id, unpack_held};
use super::usage::{self, Growth};
use super::{Actor, Space, Store, Tx, chunks, holders, nodes};
use crate::db::{self, Connection, Optional as _, Row, params};
use crate::error::{Error, Result};
use cairn_model::{DeviceId, Kind, NodeId, RevisionId};
use cairn_wire::nodes::{ContentSource, FileRevisions, Node, Revision};
use cairn_wire::transfer::RevisionContent;
use cairn_wire::{Sealed, Timestamp};

/// A revision's row.
#[derive(Clone, Debug)]
pub(super) struct RevisionRow {
    pub(super) id: RevisionId,
    pub(super) node: NodeId,
    pub(super) number: u64,
    pub(super) size: u64,
    pub(super) source: Option<ContentSource>,
    pub(super) modified_at: Option<i64>,
    pub(super) executable: bool,
    pub(super) packed: Vec<u8>,
    pub(super) manifest: Vec<u8>,
}

impl RevisionRow {
    /// The chunks, each with the node that it was stored for.
    pub(super) fn chunks(&self) -> Result<Vec<HeldChunk>> {
        unpack_held(&self.packed)
    }

    /// Returns the place where the content was sealed, for somebody who takes it over without keys.
    pub(super) fn origin(&self) -> ContentSource {
        self.source.unwrap_or(ContentSource {
            node_id: self.node,
            revision_id: self.id,
        })
    }
}

const COLUMNS: &str = "id, node, number, size, source_node, source_revision, modified_at, executable, \
     chunks, manifest";

fn revision_row(row: &Row<'_>) -> db::Result<RevisionRow> {
    Ok(RevisionRow {
        id: read_id(row, 0)?,
        node: read_id(row, 1)?,
        number: row.get(2)?,
        size: row.get(3)?,
        source: content_source(row, 4)?,
        modified_at: row.get(6)?,
        executable: row.get(7)?,
        packed: row.get(8)?,
        manifest: row.get(9)?,
    })
}

pub(super) fn find(conn: &Connection, id: RevisionId) -> Result<Option<RevisionRow>> {
    let sql = format!("SELECT {COLUMNS} FROM revisions WHERE id = ?1");
    Ok(conn
        .prepare_cached(&sql)?
        .query_row([id.as_bytes()], revision_row)
        .optional()?)
}

/// Returns the node that a revision id is used for.
pub(super) fn owner(conn: &Connection, id: RevisionId) -> Result<Option<NodeId>> {
    Ok(conn
        .prepare_cached("SELECT node FROM revisions WHERE id = ?1")?
        .query_row([id.as_bytes()], |row| read_id(row, 0))
        .optional()?)
}

pub(super) fn of_node(conn: &Connection, node: NodeId) -> Result<Vec<RevisionRow>> {
    let sql = format!("SELECT {COLUMNS} FROM revisions WHERE node = ?1");
    Ok(conn
        .prepare_cached(&sql)?
        .query_map([node.as_bytes()], revision_row)?
        .collect::<db::Result<_>>()?)
}

pub(super) fn of_visible(
    conn: &Connection,
    space: Space,
    node: NodeId,
    id: RevisionId,
) -> Result<RevisionRow> {
    nodes::visible_node(conn, space, node)?;
    find(conn, id)?
        .filter(|revision| revision.node == node)
        .ok_or_else(|| Error::not_found(format!("the node {node} has no revision {id}")))
}

/// Inserts a revision. Its chunks' references are the caller's business; who stored them is noted.
pub(super) fn insert(tx: &Tx<'_>, actor: &Actor, new: &RevisionRow) -> Result<()> {
    tx.conn
        .prepare_cached(
            "INSERT INTO revisions (id, node, number, size, source_node, source_revision, created_at, \
             modified_at, executable, device, account, chunks, manifest, space) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        )?
        .execute(params![
            new.id.as_bytes(),
            new.node.as_bytes(),
            new.number,
            new.size,
            new.source.as_ref().map(|source| source.node_id.as_bytes()),
            new.source.as_ref().map(|source| source.revision_id.as_bytes()),
            tx.now,
            new.modified_at,
            new.executable,
            actor.device.as_ref().map(DeviceId::as_bytes),
            actor.account.as_bytes(),
            new.packed,
            new.manifest,
            actor.space.row,
        ])?;
    holders::borrow_from(
        tx.conn,
        new.node,
        new.chunks()?.iter().map(|one| one.holder),
    )
}

/// Makes `content` the node's current content.
pub(super) fn set_head(
    tx: &Tx<'_>,
    actor: &Actor,
    content: &RevisionRow,
    seal: Option<&Sealed>,
) -> Result<()> {
    let seq = tx.next_seq(actor.space)?;
    tx.conn
        .prepare_cached(
            "UPDATE nodes SET revision = ?2, size = ?3, modified_at = ?4, executable = ?5, seal = ?6, \
             version = version + 1, seq = ?7, updated_at = ?8, device = ?9 WHERE id = ?1",
        )?
        .execute(params![
            content.node.as_bytes(),
            content.id.as_bytes(),
            content.size,
            content.modified_at,
            content.executable,
            seal.map(|seal| &seal.0),
            seq,
            tx.now,
            actor.device.as_ref().map(DeviceId::as_bytes),
        ])?;
    Ok(())
}

/// The columns that [`read_listed`] reads.
const LISTED: &str = "SELECT r.id, r.number, r.size, r.created_at, r.modified_at, r.device, coalesce(a.email, ''), \
     r.source_node, r.source_revision FROM revisions r LEFT JOIN accounts a ON a.id = r.account";

/// The newest revision of the node ?1 at the time ?2, and the revision ?3.
const AT: &str = "WHERE r.node = ?1 AND (r.id = ?3 OR r.number = (SELECT max(o.number) FROM revisions o \
     WHERE o.node = ?1 AND o.created_at <= ?2))";

/// Reads a revision of a node as clients see it.
fn read_listed(row: &Row<'_>, node: &Node) -> db::Result<Revision> {
    let id: RevisionId = read_id(row, 0)?;
    Ok(Revision {
        id,
        node_id: node.id,
        number: row.get(1)?,
        size: row.get(2)?,
        created_at: Timestamp(row.get(3)?),
        modified_at: row.get::<Option<i64>>(4)?.map(Timestamp),
        current: node.revision_id == Some(id),
        device_id: optional_id(row, 5)?,
        uploaded_by: row.get(6)?,
        content_source: content_source(row, 7)?,
    })
}

/// A byte count as SQLite has it.
pub(super) fn to_signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

impl Tx<'_> {
    /// Makes an older revision the current one again, as a new revision with its content.
    ///
    /// # Errors
    /// 404, 409 in the trash, 507.
    pub fn restore_revision(&self, actor: &Actor, node: NodeId, id: RevisionId) -> Result<Node> {
        let found = nodes::active_node(self.conn, actor.space, node)?;
        let old = of_visible(self.conn, actor.space, node, id)?;
        if found.node.revision_id == Some(id) {
            return Ok(found.node);
        }
        let growth = Growth {
            bytes: usage::record_bytes(&old.manifest)
                .saturating_add(usage::list_bytes(&old.packed)),
            files: 0,
        };
        usage::check_quota(self.conn, actor.space, growth)?;
        let number: u64 = self.conn.query_row(
            "SELECT max(number) FROM revisions WHERE node = ?1",
            [node.as_bytes()],
            |row| row.get(0),
        )?;
        let new = RevisionRow {
            id: self.source.id(RevisionId::from_random_bytes),
            number: number + 1,
            source: Some(old.origin()),
            ..old.clone()
        };
        for one in &new.chunks()? {
            chunks::retain(self.conn, one.holder, one.chunk.id)?;
        }
        insert(self, actor, &new)?;
        set_head(self, actor, &new, None)?;
        Ok(nodes::visible_node(self.conn, actor.space, node)?.node)
    }
}

impl Store {
    /// One page of a file's revisions, newest first, and their number.
    pub fn revisions(
        &self,
        space: Space,
        node: NodeId,
        skip: u64,
        take: u64,
    ) -> Result<(Vec<Revision>, u64)> {
        self.read(|conn| {
            let found = nodes::visible_node(conn, space, node)?;
            if found.node.kind == Kind::Folder {
                return Err(Error::invalid(format!(
                    "{node} is a folder; only files have revisions"
                )));
            }
            let count = "SELECT count(*) FROM revisions WHERE node = ?1";
            let list =
                format!("{LISTED} WHERE r.node = ?1 ORDER BY r.number DESC LIMIT ?3 OFFSET ?2");
            let which = params![node.as_bytes()];
            read_page(conn, (count, &list), which, (skip, take), |row| {
                read_listed(row, &found.node)
            })
        })
    }

    /// Returns for each file the newest revision that it had at a time, in milliseconds since 1970, and its present
    /// one, newest first; nothing for a folder, and for what is not in the space.
    pub fn revisions_at(
        &self,
        space: Space,
        files: &[NodeId],
        at: i64,
    ) -> Result<Vec<FileRevisions>> {
        let sql = format!("{LISTED} {AT} ORDER BY r.number DESC");
        let of_file = |conn: &Connection, id: NodeId| -> Result<Vec<Revision>> {
            let node = match nodes::visible_node(conn, space, id) {
                Ok(found) => found.node,
                Err(Error::NotFound(_) | Error::Forbidden(_)) => return Ok(Vec::new()),
                Err(other) => return Err(other),
            };
            let head = node.revision_id.as_ref().map(RevisionId::as_bytes);
            Ok(conn
                .prepare_cached(&sql)?
                .query_map(params![id.as_bytes(), at, head], |row| {
                    read_listed(row, &node)
                })?
                .collect::<db::Result<_>>()?)
        };
        self.read(|conn| {
            let found = files.iter().map(|id| {
                Ok(FileRevisions {
                    node_id: *id,
                    revisions: of_file(conn, *id)?,
                })
            });
            found.collect()
        })
    }

    /// Returns everything that a revision consists of, chunks aside.
    pub fn revision_content(
        &self,
        space: Space,
        node: NodeId,
        id: RevisionId,
    ) -> Result<RevisionContent> {
        self.read(|conn| {
            let revision = of_visible(conn, space, node, id)?;
            Ok(RevisionContent {
                node_id: node,
                revision_id: id,
                content_source: revision.source,
                chunks: revision.chunks()?.iter().map(|one| one.chunk).collect(),
                manifest: Sealed(revision.manifest),
            })
        })
    }
}
