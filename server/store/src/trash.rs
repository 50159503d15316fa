//! Moves nodes (files and folders) into the trash and out again.
//!
//! Trashing is one change of the top node; what lies below follows without changes of its own.
//! Restoring makes a change for each, because clients have dropped them all.

use super::rows::{NodeRow, State, id as read_id, parent_blob};
use super::{Actor, Space, Tx, names, nodes, usage};
use crate::db::{self, Connection, Optional as _, params};
use crate::error::{Error, Result};
use crate::events::node_data;
use cairn_model::{DeviceId, EventKind, Kind, Name, NodeId};
use cairn_wire::Sealed;
use cairn_wire::nodes::Node;

/// An active node and all active ones below it. Left to itself, SQLite takes the index by space and
/// state, and reads the whole space for every node; `CROSS JOIN` keeps the folder outside.
const SUBTREE: &str = "WITH RECURSIVE sub (id) AS (SELECT CAST(?1 AS BLOB) UNION ALL \
     SELECT n.id FROM sub CROSS JOIN nodes n INDEXED BY nodes_name ON n.parent = sub.id AND n.space = ?2 AND n.state = 0)";

/// A node of the subtree that another device changed after a position. With a plain join, SQLite reads the whole space
/// in the order of the ids to find the first.
const UNSEEN: &str = "SELECT n.id FROM sub CROSS JOIN nodes n ON n.id = sub.id \
     WHERE n.seq > ?3 AND (n.device IS DISTINCT FROM ?4 OR ?4 IS NULL) ORDER BY n.id LIMIT 1";

/// The same for a node that has nothing below it, by its row.
const UNSEEN_ITSELF: &str = "SELECT id FROM nodes n WHERE n.row = ?1 AND n.seq > ?2 AND (n.device IS DISTINCT FROM ?3 OR ?3 IS NULL)";

/// Numbers tried for a name that is taken.
const MAX_COPIES: u32 = 10_000;

/// Refuses if another device changed anything in the subtree after position `seen`.
fn check_seen(
    conn: &Connection,
    space: Space,
    top: &NodeRow,
    seen: i64,
    device: Option<&DeviceId>,
) -> Result<()> {
    let device = device.map(DeviceId::as_bytes);
    let unseen: Option<NodeId> = match top.node.kind {
        Kind::Folder => conn
            .prepare_cached(&format!("{SUBTREE} {UNSEEN}"))?
            .query_row(
                params![top.node.id.as_bytes(), space.row, seen, device],
                |row| read_id(row, 0),
            ),
        Kind::File => conn
            .prepare_cached(UNSEEN_ITSELF)?
            .query_row(params![top.row, seen, device], |row| read_id(row, 0)),
    }
    .optional()?;
    match unseen {
        Some(node) => Err(Error::conflict(format!(
            "the node {node} changed after the position in `seen`; read the feed and decide again"
        ))),
        None => Ok(()),
    }
}

/// A free name in a folder: the one asked for, or `stem (2).ext`, `stem (3).ext` and so on.
fn free_name(conn: &Connection, space: Space, parent: Option<NodeId>, name: &Name) -> Result<Name> {
    if nodes::child_named(conn, space, parent, name)?.is_none() {
        return Ok(name.clone());
    }
    if space.id.is_private() {
        return Err(Error::conflict(
            "the name is taken in this folder, and no other one can be made of it: it is sealed; the operation `restore` of POST /nodes/batch takes one",
        ));
    }
    for number in 2..MAX_COPIES {
        let candidate = name.with_number(number);
        if nodes::child_named(conn, space, parent, &candidate)?.is_none() {
            return Ok(candidate);
        }
    }
    Err(Error::conflict(format!(
        "the name {name:?} and its numbered forms are all taken in this folder"
    )))
}

/// The trashed descendants of a node that went into the trash with `top` (itself, or above the node), parents first.
fn trashed_with(conn: &Connection, top: NodeId, node: NodeId) -> Result<Vec<NodeId>> {
    Ok(conn
        .prepare_cached(
            "WITH RECURSIVE sub (id, depth) AS (SELECT CAST(?2 AS BLOB), 0 UNION ALL SELECT n.id, sub.depth + 1 FROM sub \
             CROSS JOIN nodes n INDEXED BY nodes_trash_children ON n.trash_root = ?1 AND n.parent = sub.id \
             WHERE n.state = 1 AND n.id <> ?1) \
             SELECT id FROM sub WHERE depth > 0 ORDER BY depth, id",
        )?
        .query_map(params![top.as_bytes(), node.as_bytes()], |row| {
            read_id(row, 0)
        })?
        .collect::<db::Result<_>>()?)
}

/// Takes a node that went into the trash with `top` from it, with everything below, to be put there for itself.
fn take_from(conn: &Connection, top: NodeId, node: NodeId) -> Result<()> {
    let mut update =
        conn.prepare_cached("UPDATE nodes SET state = 0, trash_root = NULL WHERE id = ?1")?;
    for id in std::iter::once(node).chain(trashed_with(conn, top, node)?) {
        update.execute([id.as_bytes()])?;
    }
    Ok(())
}

/// The place to which a node may come back from the trash.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RestorePlace {
    /// The one that it had, and no other.
    Former,
    /// The nearest that is free.
    Free,
    /// The one that it had, or under this name where its own is in use.
    FormerOr(Name),
}

/// Returns the name under which a node comes back to a folder.
fn name_back(
    conn: &Connection,
    space: Space,
    parent: Option<NodeId>,
    own: &Name,
    place: &RestorePlace,
) -> Result<Name> {
    match place {
        RestorePlace::Former | RestorePlace::Free => free_name(conn, space, parent, own),
        RestorePlace::FormerOr(other) => {
            let is_taken = |name: &Name| -> Result<bool> {
                Ok(nodes::child_named(conn, space, parent, name)?.is_some())
            };
            match (is_taken(own)?, is_taken(other)?) {
                (false, _) => Ok(own.clone()),
                (true, false) => Ok(other.clone()),
                (true, true) => Err(Error::conflict(
                    "the name is taken in this folder, and so is the other one",
                )),
            }
        }
    }
}

/// Takes the top of what went to the trash out of it. `seal` is of the state at its old place: it is not kept at
/// another one.
fn restore_top(
    tx: &Tx<'_>,
    actor: &Actor,
    top: &NodeRow,
    seal: Option<&Sealed>,
    place: &RestorePlace,
) -> Result<()> {
    let parent = match nodes::check_folder(tx.conn, actor.space, top.node.parent_id) {
        Ok(()) => top.node.parent_id,
        // Its folder is gone: the top of the space is always there.
        Err(Error::NotFound(_) | Error::Conflict { .. }) => None,
        Err(other) => return Err(other),
    };
    let name = names::stored_name(actor.space.id, &top.node.name)?;
    let name = name_back(tx.conn, actor.space, parent, &name, place)?;
    let is_former = (parent, name.as_str()) == (top.node.parent_id, top.node.name.as_str());
    if *place == RestorePlace::Former && !is_former {
        return Err(Error::conflict(format!(
            "the folder of the node {} is gone, or its name is taken there",
            top.node.id
        )));
    }
    let seal = seal.filter(|_| is_former);
    let seq = tx.next_seq(actor.space)?;
    tx.conn
        .prepare_cached(
            "UPDATE nodes SET state = 0, trash_root = NULL, parent = ?2, name = ?3, name_key = ?4, seal = ?8, \
             version = version + 1, seq = ?5, updated_at = ?6, device = ?7 WHERE row = ?1",
        )?
        .execute(params![
            top.row,
            parent_blob(parent.as_ref()),
            name.as_str(),
            name.key().as_str(),
            seq,
            tx.now,
            actor.device.as_ref().map(DeviceId::as_bytes),
            seal.map(|seal| &seal.0),
        ])?;
    Ok(())
}

impl Tx<'_> {
    /// Moves a node with everything below it into the trash; one that is there stays there. One that went there with
    /// its folder is deleted for itself from then on, and does not come back with the folder.
    ///
    /// # Errors
    /// 404, or 409 if something below changed after `seen` by another device.
    pub fn trash(
        &self,
        actor: &Actor,
        id: NodeId,
        seen: Option<i64>,
        seal: Option<&Sealed>,
    ) -> Result<Node> {
        let top = nodes::visible_node(self.conn, actor.space, id)?;
        let went_with = top.trash_root.filter(|root| *root != id);
        if top.state == State::Trashed && went_with.is_none() {
            return Ok(top.node);
        }
        if let Some(seen) = seen {
            check_seen(self.conn, actor.space, &top, seen, actor.device.as_ref())?;
        }
        if let Some(root) = went_with {
            take_from(self.conn, root, id)?;
        }
        // Itself first, with the time and the device: what it was until now is noted with them.
        let seq = self.next_seq(actor.space)?;
        self.conn
            .prepare_cached(
                "UPDATE nodes SET state = 1, trash_root = ?6, version = version + 1, seq = ?2, updated_at = ?3, \
                 device = ?4, seal = ?5 WHERE row = ?1",
            )?
            .execute(params![
                top.row,
                seq,
                self.now,
                actor.device.as_ref().map(DeviceId::as_bytes),
                seal.map(|seal| &seal.0),
                id.as_bytes()
            ])?;
        if top.node.kind == Kind::Folder {
            self.conn
                .prepare_cached(&format!(
                    "{SUBTREE} UPDATE nodes SET state = 1, trash_root = ?1 WHERE id IN (SELECT id FROM sub)"
                ))?
                .execute(params![id.as_bytes(), actor.space.row])?;
        }
        let trashed = nodes::visible_node(self.conn, actor.space, id)?.node;
        self.emit_with(actor.account, EventKind::FileDeleted, || {
            node_data(&trashed)
        })?;
        Ok(trashed)
    }

    /// Takes a node with everything that went with it out of the trash, under another name where
    /// its own is taken, at the top of the space where its folder is gone, unless `place` forbids that. `seal` is of
    /// its state at the place that it had, and is kept only if it comes back to that.
    ///
    /// # Errors
    /// 404, or 409 for a node that went into the trash with its folder, or can't come back to its place.
    pub fn restore(
        &self,
        actor: &Actor,
        id: NodeId,
        seal: Option<&Sealed>,
        place: &RestorePlace,
    ) -> Result<Node> {
        let top = nodes::visible_node(self.conn, actor.space, id)?;
        if top.state == State::Active {
            return Ok(top.node);
        }
        if let Some(root) = top.trash_root
            && root != id
        {
            return Err(Error::conflict(format!(
                "the node {id} is in the trash with the folder {root}; restore that one"
            )));
        }
        usage::check_seal_fits(self.conn, actor.space, seal)?;
        let below = trashed_with(self.conn, id, id)?;
        restore_top(self, actor, &top, seal, place)?;
        let mut restore = self.conn.prepare_cached(
            "UPDATE nodes SET state = 0, trash_root = NULL, seq = ?2, updated_at = ?3, device = ?4 WHERE id = ?1",
        )?;
        for node in below {
            let seq = self.next_seq(actor.space)?;
            restore.execute(params![
                node.as_bytes(),
                seq,
                self.now,
                actor.device.as_ref().map(DeviceId::as_bytes)
            ])?;
        }
        Ok(nodes::visible_node(self.conn, actor.space, id)?.node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clock, Source, Store};
    use std::sync::Arc;

    fn plan(sql: &str, parameters: &[&dyn db::ToSql]) -> String {
        let source = Arc::new(Source::new(Clock::System, None));
        let store = Store::open(None, source).unwrap();
        store
            .read(|conn| {
                let mut statement = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
                let lines = statement
                    .query_map(parameters, |row| row.get::<String>(3))?
                    .collect::<db::Result<Vec<_>>>()?;
                Ok(lines.join("\n"))
            })
            .unwrap()
    }

    #[test]
    fn a_deletion_walks_the_folder_and_not_the_space() {
        let sql = format!(
            "{SUBTREE} UPDATE nodes SET state = 1, trash_root = ?1 WHERE id IN (SELECT id FROM sub)"
        );
        let plan = plan(&sql, params![[0_u8; 16], 1]);
        assert!(
            plan.contains("SEARCH n USING INDEX nodes_name (space=? AND parent=?)")
                || plan.contains("SEARCH n USING COVERING INDEX nodes_name (space=? AND parent=?)"),
            "{plan}"
        );
        assert!(!plan.contains("nodes_state"), "{plan}");
    }

    #[test]
    fn the_check_of_a_deletion_looks_up_the_folder_alone() {
        let plan = plan(
            &format!("{SUBTREE} {UNSEEN}"),
            params![[0_u8; 16], 1, 0, [0_u8; 16]],
        );
        assert!(
            plan.contains("SEARCH n USING INDEX sqlite_autoindex_nodes_1 (id=?)"),
            "{plan}"
        );
        assert!(!plan.contains("SCAN n"), "{plan}");
    }
}
