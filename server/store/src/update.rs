//! Changing the metadata of a node (a file or folder): name, folder and the rest in one atomic step.

use super::names::name_in;
use super::rows::{NodeRow, parent_blob};
use super::{Actor, Space, Tx, nodes, usage};
use crate::db::{Connection, params};
use crate::error::{Error, Result};
use cairn_model::{Kind, Name, NodeId};
use cairn_wire::Sealed;
use cairn_wire::nodes::Node;
use std::collections::BTreeMap;

/// The fields to change; `None` leaves one as it is.
#[derive(Clone, Debug, Default)]
pub struct Edit {
    pub name: Option<Name>,
    pub parent: Option<Option<NodeId>>,
    pub executable: Option<bool>,
    pub description: Option<String>,
    pub labels: Option<BTreeMap<String, String>>,
    pub tags: Option<Vec<String>>,
    pub favorite: Option<bool>,
    pub seal: Option<Sealed>,
    /// The version that the change was decided on.
    pub version: Option<u64>,
}

impl Edit {
    /// Returns true if the edit names no field.
    fn is_empty(&self) -> bool {
        let Self {
            name,
            parent,
            executable,
            description,
            labels,
            tags,
            favorite,
            seal,
            version: _,
        } = self;
        name.is_none()
            && parent.is_none()
            && executable.is_none()
            && description.is_none()
            && labels.is_none()
            && tags.is_none()
            && favorite.is_none()
            && seal.is_none()
    }
}

/// Refuses what would tell the server of a private space what is in it.
fn check_texts(space: Space, edit: &Edit) -> Result<()> {
    let has_texts = edit.description.is_some() || edit.labels.is_some() || edit.tags.is_some();
    if space.id.is_private() && has_texts {
        return Err(Error::conflict(
            "nothing in a private space has a description, labels or tags: the server could read them",
        ));
    }
    Ok(())
}

/// Returns the node as it is afterwards, as far as an edit can change it.
fn apply_edit(old: &Node, edit: &Edit) -> Node {
    let mut new = old.clone();
    if let Some(name) = &edit.name {
        new.name = name.as_str().to_owned();
    }
    if let Some(parent) = edit.parent {
        new.parent_id = parent;
    }
    if let Some(executable) = edit.executable {
        new.executable = executable;
    }
    if let Some(description) = &edit.description {
        new.description.clone_from(description);
    }
    if let Some(labels) = &edit.labels {
        new.labels.clone_from(labels);
    }
    if let Some(tags) = &edit.tags {
        new.tags.clone_from(tags);
    }
    if let Some(favorite) = edit.favorite {
        new.favorite = favorite;
    }
    let sealed_part =
        new.name != old.name || new.parent_id != old.parent_id || new.executable != old.executable;
    if edit.seal.is_some() || sealed_part {
        new.seal.clone_from(&edit.seal);
    }
    new
}

/// Refuses to put a folder into itself or below itself.
fn check_no_cycle(
    conn: &Connection,
    space: Space,
    moved: NodeId,
    into: Option<NodeId>,
) -> Result<()> {
    let Some(into) = into else { return Ok(()) };
    let inside: bool = conn
        .prepare_cached(
            "WITH RECURSIVE up (id) AS (SELECT CAST(?1 AS BLOB) UNION SELECT n.parent FROM up JOIN nodes n ON n.id = up.id \
             WHERE n.space = ?3 AND n.parent <> x'') SELECT EXISTS (SELECT 1 FROM up WHERE id = ?2)",
        )?
        .query_row(params![into.as_bytes(), moved.as_bytes(), space.row], |row| row.get(0))?;
    if inside {
        return Err(Error::conflict(format!(
            "the folder {moved} can't be moved into {into}, which lies inside it"
        )));
    }
    Ok(())
}

fn json_unless_empty<T: serde::Serialize>(value: &T, is_empty: bool) -> Option<String> {
    if is_empty {
        None
    } else {
        serde_json::to_string(value).ok()
    }
}

/// Returns the bytes of a node that count as storage, besides its content.
fn counted_bytes(node: &Node) -> usize {
    let labels = json_unless_empty(&node.labels, node.labels.is_empty());
    let tags = json_unless_empty(&node.tags, node.tags.is_empty());
    let seal = node.seal.as_ref().map_or(0, |seal| seal.0.len());
    node.description.len()
        + labels.map_or(0, |text| text.len())
        + tags.map_or(0, |text| text.len())
        + seal.saturating_sub(usage::FREE_SEAL)
}

fn apply(tx: &Tx<'_>, actor: &Actor, old: &NodeRow, new: &Node, name: &Name) -> Result<()> {
    let seq = tx.next_seq(actor.space)?;
    tx.conn
        .prepare_cached(
            "UPDATE nodes SET parent = ?2, name = ?3, name_key = ?4, executable = ?5, favorite = ?6, \
             description = ?7, labels = ?8, tags = ?9, seal = ?10, version = version + 1, seq = ?11, \
             updated_at = ?12, device = ?13 WHERE row = ?1",
        )?
        .execute(params![
            old.row,
            parent_blob(new.parent_id.as_ref()),
            name.as_str(),
            name.key().as_str(),
            new.executable,
            new.favorite,
            new.description,
            json_unless_empty(&new.labels, new.labels.is_empty()),
            json_unless_empty(&new.tags, new.tags.is_empty()),
            new.seal.as_ref().map(|seal| &seal.0),
            seq,
            tx.now,
            actor.device.as_ref().map(|device| device.as_bytes()),
        ])?;
    Ok(())
}

impl Tx<'_> {
    /// Changes an active node. An edit that changes nothing writes nothing.
    ///
    /// # Errors
    /// 404 for the node or the new folder, 409 for a taken name or a cycle, 412 for another version, 507 for
    /// metadata that does not fit.
    pub fn edit(&self, actor: &Actor, id: NodeId, edit: &Edit) -> Result<Node> {
        let old = nodes::active_node(self.conn, actor.space, id)?;
        let new = apply_edit(&old.node, edit);
        let changes_nothing = new == old.node;
        let is_repeated = changes_nothing
            && !edit.is_empty()
            && nodes::may_be_repeated(&old.node, actor, edit.version);
        if !is_repeated {
            nodes::check_version(&old.node, edit.version)?;
        }
        if changes_nothing {
            return Ok(old.node);
        }
        if edit.executable.is_some() && old.node.kind == Kind::Folder {
            return Err(Error::invalid(
                "`executable` belongs to files, and this is a folder",
            ));
        }
        let name = name_in(actor.space.id, &new.name)?;
        check_texts(actor.space, edit)?;
        if new.parent_id != old.node.parent_id {
            nodes::check_folder(self.conn, actor.space, new.parent_id)?;
            if old.node.kind == Kind::Folder {
                check_no_cycle(self.conn, actor.space, id, new.parent_id)?;
            }
        }
        nodes::check_free(self.conn, actor.space, new.parent_id, &name, Some(id))?;
        apply(self, actor, &old, &new, &name)?;
        if counted_bytes(&new) > counted_bytes(&old.node) {
            usage::check_fits(self.conn, actor.space.row)?;
        }
        let changed = nodes::visible_node(self.conn, actor.space, id)?.node;
        self.emit_edit(actor.account, &old.node, &changed)?;
        Ok(changed)
    }
}
