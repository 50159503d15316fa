//! Deletes nodes in the trash for good: their contents go, a tombstone row stays so that the id is never used again.
//!
//! A purge makes no entry in the change feed: clients dropped these nodes when they were trashed.

use super::rows::{State, id as read_id};
use super::{Actor, Space, Tx, chunks, comments, holders, nodes, past, revisions, search, usage};
use crate::db::{self, Connection, params};
use crate::error::{Error, Result};
use cairn_model::NodeId;

/// The result of a purge: how many nodes (files and folders) went, and the objects (stored blobs) that nothing refers
/// to any more.
#[derive(Debug, Default)]
pub struct Purged {
    pub nodes: u64,
    pub objects: Vec<String>,
}

impl Purged {
    /// Adds what another purge deleted.
    pub(super) fn add(&mut self, other: Self) {
        self.nodes += other.nodes;
        self.objects.extend(other.objects);
    }
}

fn trashed_together(conn: &Connection, root: NodeId) -> Result<Vec<(NodeId, i64)>> {
    Ok(conn
        .prepare_cached("SELECT id, kind FROM nodes WHERE trash_root = ?1 AND state = 1")?
        .query_map([root.as_bytes()], |row| Ok((read_id(row, 0)?, row.get(1)?)))?
        .collect::<db::Result<_>>()?)
}

pub(super) fn erase(tx: &Tx<'_>, node: NodeId, purged: &mut Purged) -> Result<()> {
    for revision in revisions::of_node(tx.conn, node)? {
        for one in &revision.chunks()? {
            chunks::release(tx.conn, one.holder, one.chunk.id, &mut purged.objects)?;
        }
    }
    chunks::drop_unused(tx.conn, node, &mut purged.objects)?;
    tx.conn
        .prepare_cached("DELETE FROM revisions WHERE node = ?1")?
        .execute([node.as_bytes()])?;
    tx.conn
        .prepare_cached("DELETE FROM uploads WHERE node = ?1")?
        .execute([node.as_bytes()])?;
    tx.conn
        .prepare_cached(
            "UPDATE nodes SET state = 2, trash_root = NULL, name = '', name_key = '', size = 0, revision = NULL, \
             description = '', labels = NULL, tags = NULL, seal = NULL, modified_at = NULL, copied_from = NULL, \
             updated_at = ?2 \
             WHERE id = ?1",
        )?
        .execute(params![node.as_bytes(), tx.now])?;
    past::forget(tx.conn, node)?;
    search::forget(tx.conn, node)?;
    holders::forget_borrowed(tx.conn, node)?;
    comments::forget(tx.conn, node)?;
    tx.conn
        .prepare_cached("DELETE FROM share_files WHERE node = ?1")?
        .execute([node.as_bytes()])?;
    purged.nodes += 1;
    Ok(())
}

pub(super) fn purge_root(
    tx: &Tx<'_>,
    space: Space,
    root: NodeId,
    purged: &mut Purged,
) -> Result<()> {
    let mut files = 0;
    for (node, kind) in trashed_together(tx.conn, root)? {
        erase(tx, node, purged)?;
        files += i64::from(kind == 0);
    }
    usage::count_files(tx.conn, space, -files)
}

impl Tx<'_> {
    /// Deletes a trashed node and what went with it for good. The objects are to be deleted after
    /// the transaction.
    ///
    /// # Errors
    /// 404, or 409 for a node that is not itself in the trash.
    pub fn purge(&self, actor: &Actor, id: NodeId) -> Result<Purged> {
        let found = nodes::visible_node(self.conn, actor.space, id)?;
        if found.state != State::Trashed {
            return Err(Error::conflict(format!(
                "the node {id} is not in the trash; DELETE /nodes/{id} puts it there"
            )));
        }
        if found.trash_root != Some(id) {
            return Err(Error::conflict(format!(
                "the node {id} is in the trash with its folder; purge that one"
            )));
        }
        let mut purged = Purged::default();
        purge_root(self, actor.space, id, &mut purged)?;
        Ok(purged)
    }

    /// Deletes everything in the trash for good.
    pub fn purge_all(&self, actor: &Actor) -> Result<Purged> {
        let roots: Vec<NodeId> = self
            .conn
            .prepare_cached(
                "SELECT id FROM nodes WHERE space = ?1 AND state = 1 AND trash_root = id",
            )?
            .query_map([actor.space.row], |row| read_id(row, 0))?
            .collect::<db::Result<_>>()?;
        let mut purged = Purged::default();
        for root in roots {
            purge_root(self, actor.space, root, &mut purged)?;
        }
        Ok(purged)
    }
}
