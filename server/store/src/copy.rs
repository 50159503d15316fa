//! Copying by a caller without keys: new nodes (files and folders) whose content stays encrypted as that of the
//! originals, so that none of it is sent or encrypted anew.

use super::rows::{NODE_COLUMNS, NODE_TABLES, NodeRow, State, node_row, optional_id};
use super::usage::{self, Growth};
use super::{Actor, Space, Tx, chunks, names, nodes, revisions};
use crate::db::{self, Connection, params};
use crate::error::{Error, Result};
use cairn_model::{Name, NodeId, RevisionId};
use cairn_wire::Sealed;
use cairn_wire::nodes::{CopyNode, Node};
use std::collections::HashMap;

/// Files and folders of one copy at most: a copy is one transaction, for which every other change waits.
const MOST_NODES: i64 = 20_000;
/// Bytes of metadata, manifests and lists of chunks that one copy writes at most.
const MOST_BYTES: i64 = 64 * 1024 * 1024;

/// A node and everything active below it, parents first.
fn subtree(conn: &Connection, space: Space, top: NodeId) -> Result<Vec<NodeRow>> {
    let sql = format!(
        "WITH RECURSIVE sub (id, depth) AS (SELECT CAST(?1 AS BLOB), 0 UNION ALL SELECT n.id, sub.depth + 1 FROM sub \
         CROSS JOIN nodes n INDEXED BY nodes_name ON n.parent = sub.id AND n.space = ?2 AND n.state = 0) \
         SELECT {NODE_COLUMNS} FROM sub, {NODE_TABLES} WHERE n.id = sub.id ORDER BY sub.depth, n.id"
    );
    Ok(conn
        .prepare_cached(&sql)?
        .query_map(params![top.as_bytes(), space.row], node_row)?
        .collect::<db::Result<_>>()?)
}

/// Makes the copy's first revision, with the original's chunks.
fn copy_content(
    tx: &Tx<'_>,
    actor: &Actor,
    original: RevisionId,
    to: NodeId,
) -> Result<RevisionId> {
    let content = revisions::find(tx.conn, original)?
        .ok_or_else(|| Error::Internal(format!("the head revision {original} is missing")))?;
    let copy = revisions::RevisionRow {
        id: tx.source.id(RevisionId::from_random_bytes),
        node: to,
        number: 1,
        source: Some(content.origin()),
        ..content
    };
    for one in &copy.chunks()? {
        chunks::retain(tx.conn, one.holder, one.chunk.id)?;
    }
    revisions::insert(tx, actor, &copy)?;
    Ok(copy.id)
}

/// Copies what a node says about itself, and notes of which node it is a copy.
fn copy_metadata(tx: &Tx<'_>, from: NodeId, to: NodeId) -> Result<()> {
    tx.conn
        .prepare_cached(
            "UPDATE nodes SET copied_from = ?1, (description, labels, tags) = \
             (SELECT o.description, o.labels, o.tags FROM nodes o WHERE o.id = ?1) WHERE id = ?2",
        )?
        .execute(params![from.as_bytes(), to.as_bytes()])?;
    Ok(())
}

/// Returns the node that another one was copied from by the server.
fn copied_from(conn: &Connection, node: NodeId) -> Result<Option<NodeId>> {
    Ok(conn
        .prepare_cached("SELECT copied_from FROM nodes WHERE id = ?1")?
        .query_row([node.as_bytes()], |row| optional_id(row, 0))?)
}

/// The node that an earlier, same request made; `None` if the id that the caller chose is free.
///
/// # Errors
/// 409 for an id that is another node's, or that of a copy with another place or name.
fn earlier_copy(
    conn: &Connection,
    space: Space,
    original: NodeId,
    wanted: NodeId,
    how: &CopyNode,
) -> Result<Option<Node>> {
    let Some(known) = nodes::find(conn, wanted)? else {
        return Ok(None);
    };
    let is_the_copy = known.space == space.row
        && known.state == State::Active
        && known.node.parent_id == how.parent_id
        && how
            .name
            .as_ref()
            .is_none_or(|name| *name == known.node.name)
        && copied_from(conn, wanted)? == Some(original);
    if !is_the_copy {
        return Err(Error::conflict(format!(
            "the id {wanted} can't be used any more; choose another"
        )));
    }
    Ok(Some(known.node))
}

/// The amounts that a copy adds to a space (the files of an account or team).
struct Extent {
    growth: Growth,
    folders: i64,
}

/// Measures what the copy of a node with everything active below it takes: a manifest for each file, and the
/// metadata. The chunks are there already.
///
/// # Errors
/// 400 for more than one copy makes.
fn measure(conn: &Connection, space: Space, top: NodeId) -> Result<Extent> {
    let (nodes, files, counted, written): (i64, i64, i64, i64) = conn
        .prepare_cached(
            "WITH RECURSIVE sub (id) AS (SELECT CAST(?1 AS BLOB) UNION ALL SELECT n.id FROM sub \
             CROSS JOIN nodes n INDEXED BY nodes_name ON n.parent = sub.id AND n.space = ?2 AND n.state = 0), \
             sizes AS (SELECT n.kind, octet_length(n.description) \
             + coalesce(octet_length(n.labels), 0) + coalesce(octet_length(n.tags), 0) AS metadata, \
             coalesce(length(r.manifest), 0) AS manifest, coalesce(length(r.chunks), 0) AS list \
             FROM (SELECT id FROM sub LIMIT ?3) sub \
             CROSS JOIN nodes n ON n.id = sub.id LEFT JOIN revisions r ON r.id = n.revision) \
             SELECT count(*), count(*) FILTER (WHERE kind = 0), \
             coalesce(sum(metadata + manifest + CASE WHEN list > 3584 THEN list - 3584 ELSE 0 END), 0), \
             coalesce(sum(metadata + manifest + list), 0) FROM sizes",
        )?
        .query_row(params![top.as_bytes(), space.row, MOST_NODES + 1], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })?;
    if nodes > MOST_NODES {
        return Err(Error::invalid(format!(
            "the folder has more than the {MOST_NODES} files and folders that one copy may have; copy what is \
             in it piece by piece"
        )));
    }
    if written > MOST_BYTES {
        return Err(Error::invalid(format!(
            "the descriptions, labels, tags and lists of chunks in the folder have {written} bytes, and one copy \
             may write {MOST_BYTES}; copy what is in it piece by piece"
        )));
    }
    let growth = Growth {
        bytes: counted,
        files,
    };
    Ok(Extent {
        growth,
        folders: nodes - files,
    })
}

/// The id, folder, name and seal of one copy.
struct Target<'a> {
    id: NodeId,
    parent: Option<NodeId>,
    name: Name,
    seal: Option<&'a Sealed>,
}

fn copy_node(tx: &Tx<'_>, actor: &Actor, original: &Node, target: &Target<'_>) -> Result<()> {
    let revision = original
        .revision_id
        .map(|revision| copy_content(tx, actor, revision, target.id))
        .transpose()?;
    nodes::insert(
        tx,
        actor,
        &nodes::Insert {
            id: target.id,
            parent: target.parent,
            kind: original.kind,
            name: &target.name,
            size: original.size,
            revision,
            modified_at: original.modified_at.map(|at| at.0),
            executable: original.executable,
            seal: target.seal,
        },
    )?;
    copy_metadata(tx, original.id, target.id)
}

impl Tx<'_> {
    /// Copies an active node with everything below it; all of it or nothing. `seen` is the version that the
    /// copy was decided, and perhaps sealed, for.
    ///
    /// # Errors
    /// 400 for more than one copy may have, 404 for the node or the folder, 409 for a taken name or id, 412 for
    /// another version, 507.
    pub fn copy(
        &self,
        actor: &Actor,
        id: NodeId,
        how: &CopyNode,
        seen: Option<u64>,
    ) -> Result<Node> {
        let top = nodes::active_node(self.conn, actor.space, id)?;
        if let Some(wanted) = how.id
            && let Some(known) = earlier_copy(self.conn, actor.space, id, wanted, how)?
        {
            return Ok(known);
        }
        nodes::check_version(&top.node, seen)?;
        let name = how.name.as_ref().unwrap_or(&top.node.name);
        let name = names::name_in(actor.space.id, name)?;
        nodes::check_folder(self.conn, actor.space, how.parent_id)?;
        nodes::check_free(self.conn, actor.space, how.parent_id, &name, None)?;
        let Extent { growth, folders } = measure(self.conn, actor.space, id)?;
        usage::check_quota(self.conn, actor.space, growth)?;
        usage::check_folders(self.conn, actor.space, folders)?;
        let originals = subtree(self.conn, actor.space, id)?;
        let copied = self.copy_all(actor, &originals, how, name)?;
        usage::check_seal_fits(self.conn, actor.space, how.seal.as_ref())?;
        usage::count_files(self.conn, actor.space, growth.files)?;
        Ok(nodes::visible_node(self.conn, actor.space, copied)?.node)
    }

    /// Copies a subtree, its top first; returns the copy of the top.
    fn copy_all(
        &self,
        actor: &Actor,
        originals: &[NodeRow],
        how: &CopyNode,
        name: Name,
    ) -> Result<NodeId> {
        let fresh = || self.source.id(NodeId::from_random_bytes);
        let mut copies: HashMap<NodeId, NodeId> = HashMap::with_capacity(originals.len());
        let mut originals = originals.iter().map(|original| &original.node);
        let Some(top) = originals.next() else {
            return Err(Error::Internal("a node to be copied has vanished".into()));
        };
        let target = Target {
            id: how.id.unwrap_or_else(fresh),
            parent: how.parent_id,
            name,
            seal: how.seal.as_ref(),
        };
        copy_node(self, actor, top, &target)?;
        copies.insert(top.id, target.id);
        for original in originals {
            let target = Target {
                id: fresh(),
                parent: original
                    .parent_id
                    .and_then(|parent| copies.get(&parent).copied()),
                name: names::stored_name(actor.space.id, &original.name)?,
                seal: None,
            };
            copy_node(self, actor, original, &target)?;
            copies.insert(original.id, target.id);
        }
        Ok(target.id)
    }
}
