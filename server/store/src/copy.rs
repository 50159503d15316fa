//! Copying without keys: new nodes whose content stays sealed to the originals.

use super::rows::{NODE_COLUMNS, NODE_TABLES, NodeRow, State, node_row};
use super::usage::{self, Growth};
use super::{Actor, Space, Tx, chunks, nodes, revisions};
use crate::error::{Error, Result};
use cairn_model::{Kind, Name, NodeId, RevisionId};
use cairn_wire::nodes::{CopyNode, Node};
use rusqlite::{Connection, params};
use std::collections::HashMap;

/// A node and everything active below it, parents first.
fn subtree(conn: &Connection, space: Space, top: NodeId) -> Result<Vec<NodeRow>> {
    let sql = format!(
        "WITH RECURSIVE sub (id, depth) AS (SELECT ?1, 0 UNION ALL SELECT n.id, sub.depth + 1 FROM sub \
         CROSS JOIN nodes n INDEXED BY nodes_name ON n.parent = sub.id AND n.space = ?2 AND n.state = 0) \
         SELECT {NODE_COLUMNS} FROM sub JOIN {NODE_TABLES} WHERE n.id = sub.id ORDER BY sub.depth, n.id"
    );
    Ok(conn
        .prepare_cached(&sql)?
        .query_map(params![top.as_bytes(), space.row], node_row)?
        .collect::<rusqlite::Result<_>>()?)
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
    for chunk in &copy.chunks()? {
        chunks::retain(tx.conn, copy.holder(to), chunk.id)?;
    }
    revisions::insert(tx, actor, &copy)?;
    Ok(copy.id)
}

fn copy_metadata(tx: &Tx<'_>, from: NodeId, to: NodeId) -> Result<()> {
    tx.conn
        .prepare_cached(
            "UPDATE nodes SET (description, labels, tags) = \
             (SELECT o.description, o.labels, o.tags FROM nodes o WHERE o.id = ?1) WHERE id = ?2",
        )?
        .execute(params![from.as_bytes(), to.as_bytes()])?;
    Ok(())
}

impl Tx<'_> {
    /// Copies an active node with everything below it; all of it or nothing.
    ///
    /// # Errors
    /// 404 for the node or the folder, 409 for a taken name or id, 507.
    pub fn copy(&self, actor: &Actor, id: NodeId, how: &CopyNode) -> Result<Node> {
        let top = nodes::active(self.conn, actor.space, id)?;
        if let Some(wanted) = how.id
            && let Some(known) = nodes::find(self.conn, wanted)?
        {
            let copied_before = known.space == actor.space.row
                && known.state == State::Active
                && known.node.kind == top.node.kind
                && wanted != id;
            return if copied_before {
                Ok(known.node)
            } else {
                Err(Error::conflict(format!(
                    "the id {wanted} can't be used any more; choose another"
                )))
            };
        }
        let name = Name::new(how.name.clone().unwrap_or_else(|| top.node.name.clone()))
            .map_err(|e| Error::invalid(format!("`name`: {e}")))?;
        nodes::check_folder(self.conn, actor.space, how.parent_id)?;
        nodes::check_free(self.conn, actor.space, how.parent_id, &name, None)?;
        let originals = subtree(self.conn, actor.space, id)?;
        let mut growth = Growth::default();
        for original in originals
            .iter()
            .filter(|original| original.node.kind == Kind::File)
        {
            growth += Growth {
                bytes: revisions::signed(original.node.size),
                files: 1,
            };
        }
        usage::check_quota(self.conn, actor.space, growth)?;

        let mut copies: HashMap<NodeId, NodeId> = HashMap::with_capacity(originals.len());
        for original in &originals {
            let is_top = original.node.id == id;
            let to = how
                .id
                .filter(|_| is_top)
                .unwrap_or_else(|| self.source.id(NodeId::from_random_bytes));
            let parent = if is_top {
                how.parent_id
            } else {
                original
                    .node
                    .parent_id
                    .and_then(|parent| copies.get(&parent).copied())
            };
            let name = if is_top {
                Ok(name.clone())
            } else {
                Name::new(original.node.name.clone())
            }
            .map_err(|e| Error::Internal(format!("a stored name is bad: {e}")))?;
            let revision = original
                .node
                .revision_id
                .map(|revision| copy_content(self, actor, revision, to))
                .transpose()?;
            nodes::insert(
                self,
                actor,
                &nodes::Insert {
                    id: to,
                    parent,
                    kind: original.node.kind,
                    name: &name,
                    size: original.node.size,
                    revision,
                    modified_at: original.node.modified_at.map(|at| at.0),
                    executable: original.node.executable,
                    seal: how.seal.as_ref().filter(|_| is_top),
                },
            )?;
            copy_metadata(self, original.node.id, to)?;
            copies.insert(original.node.id, to);
        }
        usage::grow(self.conn, actor.space, growth)?;
        let copied = copies.get(&id).copied().unwrap_or(id);
        Ok(nodes::visible(self.conn, actor.space, copied)?.node)
    }
}
