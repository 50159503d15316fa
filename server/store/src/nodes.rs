//! Single nodes (files and folders): finding one, checking a parent and name for it, inserting it.

use super::rows::{
    NODE_COLUMNS, NODE_TABLES, NodeRow, State, media, name_format, node_row, parent_blob,
};
use super::{Actor, Space, Store, Tx, access, usage};
use crate::db::{Connection, Optional as _, params};
use crate::error::{Error, Result};
use cairn_model::{Kind, Name, NodeId, RevisionId};
use cairn_wire::nodes::{Node, NodeState};
use cairn_wire::{Sealed, Timestamp};
use std::collections::BTreeMap;

/// A folder to be made.
#[derive(Clone, Debug)]
pub struct NewFolder {
    pub id: Option<NodeId>,
    pub parent: Option<NodeId>,
    pub name: Name,
    pub seal: Option<Sealed>,
}

/// A row to be inserted.
pub(super) struct Insert<'a> {
    pub(super) id: NodeId,
    pub(super) parent: Option<NodeId>,
    pub(super) kind: Kind,
    pub(super) name: &'a Name,
    pub(super) size: u64,
    pub(super) revision: Option<RevisionId>,
    pub(super) modified_at: Option<i64>,
    pub(super) executable: bool,
    pub(super) seal: Option<&'a Sealed>,
}

/// Any node, of any space (file tree of an account or team) and in any state.
pub(super) fn find(conn: &Connection, id: NodeId) -> Result<Option<NodeRow>> {
    let sql = format!("SELECT {NODE_COLUMNS} FROM {NODE_TABLES} WHERE n.id = ?1");
    Ok(conn
        .prepare_cached(&sql)?
        .query_row([id.as_bytes()], node_row)
        .optional()?)
}

/// A node that the space's owner can see: active or trashed.
pub(super) fn visible_node(conn: &Connection, space: Space, id: NodeId) -> Result<NodeRow> {
    match find(conn, id)? {
        Some(found) if found.is_in(space) => Ok(found),
        Some(found) if found.state != State::Deleted && found.space != space.row => Err(
            access::forbidden_error(&format!("node {id} from this space (`X-Space-Id`)")),
        ),
        Some(_) | None => Err(Error::not_found(format!("there is no node {id}"))),
    }
}

/// A visible node that is not in the trash.
pub(super) fn active_node(conn: &Connection, space: Space, id: NodeId) -> Result<NodeRow> {
    let found = visible_node(conn, space, id)?;
    if found.state != State::Active {
        return Err(Error::conflict(format!(
            "the node {id} is in the trash; restore it first"
        )));
    }
    Ok(found)
}

/// Checks that something can be put into `parent`.
pub(super) fn check_folder(conn: &Connection, space: Space, parent: Option<NodeId>) -> Result<()> {
    let Some(parent) = parent else { return Ok(()) };
    let found: Option<(i64, i64, i64)> = conn
        .prepare_cached("SELECT space, state, kind FROM nodes WHERE id = ?1")?
        .query_row([parent.as_bytes()], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    match found {
        Some((in_space, 0, 1)) if in_space == space.row => Ok(()),
        Some((in_space, 0, _)) if in_space == space.row => Err(Error::invalid(format!(
            "`parent_id` {parent} is a file; it has to be a folder"
        ))),
        Some((in_space, 1, _)) if in_space == space.row => Err(Error::conflict(format!(
            "the folder {parent} is in the trash; restore it first"
        ))),
        Some((in_space, 0 | 1, _)) if in_space != space.row => Err(access::forbidden_error(
            &format!("folder {parent} from this space (`parent_id`)"),
        )),
        Some(_) | None => Err(Error::not_found(format!(
            "there is no folder {parent} (`parent_id`)"
        ))),
    }
}

/// The active node with this name in a folder.
pub(super) fn child_named(
    conn: &Connection,
    space: Space,
    parent: Option<NodeId>,
    name: &Name,
) -> Result<Option<NodeId>> {
    Ok(conn
        .prepare_cached(
            "SELECT id FROM nodes WHERE space = ?1 AND parent = ?2 AND name_key = ?3 AND state = 0",
        )?
        .query_row(
            params![space.row, parent_blob(parent.as_ref()), name.key().as_str()],
            |row| super::rows::id(row, 0),
        )
        .optional()?)
}

/// Refuses a node that is at another version than the caller has seen.
pub(super) fn check_version(node: &Node, seen: Option<u64>) -> Result<()> {
    match seen {
        Some(seen) if seen != node.version => Err(Error::Stale {
            message: format!(
                "the node {} is at version {}, not {seen}; read it again",
                node.id, node.version
            ),
            version: node.version,
        }),
        Some(_) | None => Ok(()),
    }
}

/// Returns true if a change may be the one that made the present version, sent again because the first response was
/// lost (RFC 9110, section 13.1.1): it comes from the same device and names the version before. Callers that name no
/// device are never the same one.
pub(super) fn may_be_repeated(node: &Node, actor: &Actor, seen: Option<u64>) -> bool {
    let follows = seen.and_then(|seen| seen.checked_add(1)) == Some(node.version);
    follows && actor.device.is_some() && node.device_id == actor.device
}

/// Checks that a name is free in a folder for `who`.
pub(super) fn check_free(
    conn: &Connection,
    space: Space,
    parent: Option<NodeId>,
    name: &Name,
    who: Option<NodeId>,
) -> Result<()> {
    match child_named(conn, space, parent, name)? {
        Some(other) if Some(other) != who => Err(Error::conflict(format!(
            "the name {name:?} is taken in this folder by the node {other}"
        ))),
        Some(_) | None => Ok(()),
    }
}

/// Inserts an active node, and returns it as it would be read, without the source of a copy. The caller has checked the
/// place.
pub(super) fn insert(tx: &Tx<'_>, actor: &Actor, new: &Insert<'_>) -> Result<Node> {
    let seq = tx.next_seq(actor.space)?;
    tx.conn
        .prepare_cached(
            "INSERT INTO nodes (id, space, parent, kind, name, name_key, size, state, revision, version, seq, \
             created_seq, created_at, updated_at, modified_at, executable, seal, device) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, ?8, 1, ?9, ?9, ?10, ?10, ?11, ?12, ?13, ?14)",
        )?
        .execute(params![
            new.id.as_bytes(),
            actor.space.row,
            parent_blob(new.parent.as_ref()),
            i64::from(new.kind == Kind::Folder),
            new.name.as_str(),
            new.name.key().as_str(),
            new.size,
            new.revision.as_ref().map(RevisionId::as_bytes),
            seq,
            tx.now,
            new.modified_at,
            new.executable,
            new.seal.map(|seal| &seal.0),
            actor.device.as_ref().map(|device| device.as_bytes()),
        ])?;
    let (mime_type, category) = media(new.kind, new.name.as_str());
    Ok(Node {
        id: new.id,
        space_id: actor.space.id,
        parent_id: new.parent,
        kind: new.kind,
        name: new.name.as_str().to_owned(),
        name_format: name_format(actor.space.id),
        size: new.size,
        mime_type,
        category,
        state: NodeState::Active,
        revision_id: new.revision,
        content_source: None,
        version: 1,
        created_at: Timestamp(tx.now),
        updated_at: Timestamp(tx.now),
        modified_at: new.modified_at.map(Timestamp),
        executable: new.executable,
        description: String::new(),
        labels: BTreeMap::new(),
        tags: Vec::new(),
        favorite: false,
        seal: new.seal.cloned(),
        seq: seq.unsigned_abs(),
        device_id: actor.device,
    })
}

/// Makes a folder; asking again with the same id finds the one that was made.
pub(super) fn create_folder(tx: &Tx<'_>, actor: &Actor, new: &NewFolder) -> Result<(Node, bool)> {
    if let Some(id) = new.id
        && let Some(known) = find(tx.conn, id)?
    {
        let untouched = known.node.version == 1;
        let same = known.node.name == new.name.as_str() && known.node.parent_id == new.parent;
        let made_before = known.space == actor.space.row
            && known.state == State::Active
            && known.node.kind == Kind::Folder
            && (same || !untouched);
        return if made_before {
            Ok((known.node, false))
        } else {
            Err(Error::conflict(format!(
                "the id {id} can't be used any more; choose another"
            )))
        };
    }
    check_folder(tx.conn, actor.space, new.parent)?;
    check_free(tx.conn, actor.space, new.parent, &new.name, None)?;
    usage::check_folders(tx.conn, actor.space, 1)?;
    let id = new
        .id
        .unwrap_or_else(|| tx.source.id(NodeId::from_random_bytes));
    let made = insert(
        tx,
        actor,
        &Insert {
            id,
            parent: new.parent,
            kind: Kind::Folder,
            name: &new.name,
            size: 0,
            revision: None,
            modified_at: None,
            executable: false,
            seal: new.seal.as_ref(),
        },
    )?;
    usage::check_seal_fits(tx.conn, actor.space, new.seal.as_ref())?;
    Ok((made, true))
}

impl Tx<'_> {
    /// Refuses a change of a node that is at another version than the caller has seen, except for the repetition of a
    /// request whose response got lost: the node has the `result` of the change then.
    ///
    /// # Errors
    /// 404 for the node, 412 for another version.
    pub fn check_seen_version(
        &self,
        actor: &Actor,
        id: NodeId,
        seen: Option<u64>,
        result: Option<NodeState>,
    ) -> Result<()> {
        if seen.is_none() {
            return Ok(());
        }
        let found = visible_node(self.conn, actor.space, id)?;
        // One that went into the trash with its folder was not put there for itself yet.
        let is_there =
            result == Some(found.node.state) && found.trash_root.is_none_or(|root| root == id);
        if is_there && may_be_repeated(&found.node, actor, seen) {
            return Ok(());
        }
        check_version(&found.node, seen)
    }

    /// Makes a folder; the flag tells whether it is new.
    pub fn create_folder(&self, actor: &Actor, new: &NewFolder) -> Result<(Node, bool)> {
        create_folder(self, actor, new)
    }
}

impl Store {
    /// An active or trashed node.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Forbidden`] for a node of another space.
    pub fn node(&self, space: Space, id: NodeId) -> Result<Node> {
        self.read_one(|conn| Ok(visible_node(conn, space, id)?.node))
    }
}
