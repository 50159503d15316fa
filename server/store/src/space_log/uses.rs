//! The references to the objects (encrypted blobs) of a signed log: from statements, and from manifests that list them.
//! An object stays as long as something refers to it.

use super::objects::{SpaceObject, find};
use crate::db::{Connection, params};
use crate::error::{Error, Result};
use crate::{Actor, Space, Tx};
use cairn_log::{
    Commit, ControlBody, Flags, ManifestObjects, NodeOp, NodeStatement, ObjectId, Statement,
};
use std::collections::BTreeSet;

/// The longest content of one object, in bytes: a chunk.
const MAX_CONTENT: u64 = 4 << 20;

/// Returns the name of a statement among those that use objects.
pub(super) fn statement_user(position: u64, part: u32) -> [u8; 12] {
    let mut user = [0; 12];
    user[..8].copy_from_slice(&position.to_be_bytes());
    user[8..].copy_from_slice(&part.to_be_bytes());
    user
}

fn add_use(conn: &Connection, space: Space, user: &[u8], id: ObjectId) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO log_uses (space, \"user\", id) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
    )?
    .execute(params![space.row, user, id.0])?;
    Ok(())
}

/// A commit whose objects are being named.
pub(super) struct Naming<'a> {
    pub(super) tx: &'a Tx<'a>,
    pub(super) actor: &'a Actor,
    pub(super) position: u64,
}

impl Naming<'_> {
    /// Names all objects of a commit: they are everybody's in the space from now on.
    ///
    /// # Errors
    /// 409 for an object that is neither named yet nor the sender's, for one that isn't what a statement says of it, and
    /// for a manifest that comes without the objects in it.
    pub(super) fn name_all(&self, commit: &Commit, manifests: &[ManifestObjects]) -> Result<()> {
        let mut unlisted = BTreeSet::new();
        for (part, body) in (0..).zip(&commit.statements) {
            match Statement::decode(body) {
                Ok(Statement::Node(node)) => self.name_of_node(part, &node, &mut unlisted)?,
                Ok(Statement::Control(control)) => self.name_boxes(part, &control.body)?,
                Err(_) => {}
            }
        }
        for list in manifests.iter().filter(|list| !list.objects.is_empty()) {
            self.name_list(list)?;
            unlisted.remove(&list.manifest);
        }
        match unlisted.first() {
            None => Ok(()),
            Some(manifest) => Err(Error::conflict(format!(
                "the commit names the manifest {manifest} without the objects in it; send their ids beside the \
                 commit"
            ))),
        }
    }

    /// Makes an object everybody's, and returns it as it was before.
    fn name(&self, user: &[u8], id: ObjectId) -> Result<SpaceObject> {
        let Actor { space, account, .. } = *self.actor;
        let conn = self.tx.conn;
        let Some(known) = find(conn, space, id, account)? else {
            return Err(Error::conflict(format!(
                "the object {id} isn't there; PUT it before the commit"
            )));
        };
        if !known.is_named {
            conn.prepare_cached(
                "UPDATE log_objects SET named_at = ?4 WHERE space = ?1 AND id = ?2 AND sender = ?3",
            )?
            .execute(params![space.row, id.0, account.as_bytes(), self.position])?;
        }
        add_use(conn, space, user, id)?;
        Ok(known)
    }

    fn name_of_node(
        &self,
        part: u32,
        node: &NodeStatement,
        unlisted: &mut BTreeSet<ObjectId>,
    ) -> Result<()> {
        let conn = self.tx.conn;
        if node.op == NodeOp::Purge {
            conn.prepare_cached(
                "INSERT INTO log_ended (space, element) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            )?
            .execute(params![self.actor.space.row, node.node.as_bytes()])?;
            return Ok(());
        }
        let Some(file) = node.file else {
            return Ok(());
        };
        let user = statement_user(self.position, part);
        let content = self.name(&user, file.object)?;
        if !node.flags.has(Flags::MANIFEST) {
            let declared = file.facts.map(|facts| facts.size);
            check_size(file.object, content.size, declared)?;
        } else if !content.is_used() {
            unlisted.insert(file.object);
        }
        if let Some(attributes) = file.attributes {
            self.name(&user, attributes.object)?;
        }
        Ok(())
    }

    /// Boxes are named by their SHA-256.
    fn name_boxes(&self, part: u32, body: &ControlBody) -> Result<()> {
        let boxes = match body {
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
        if boxes == [0; 32] {
            return Ok(());
        }
        let known = self.name(&statement_user(self.position, part), ObjectId(boxes))?;
        if known.sha256 == boxes {
            return Ok(());
        }
        Err(Error::conflict(format!(
            "the object {} isn't the boxes that the statement names: it has another SHA-256",
            ObjectId(boxes)
        )))
    }

    fn name_list(&self, list: &ManifestObjects) -> Result<()> {
        let Actor { space, account, .. } = *self.actor;
        let manifest = find(self.tx.conn, space, list.manifest, account)?;
        if !manifest.is_some_and(|manifest| manifest.is_named) {
            return Err(Error::conflict(format!(
                "no statement names {}, whose objects the commit brings",
                list.manifest
            )));
        }
        for object in list.objects.iter().filter(|id| **id != list.manifest) {
            self.name(&list.manifest.0, *object)?;
        }
        Ok(())
    }
}

/// Holds what a statement says about the content of one object against the object: padding makes it an eighth longer
/// at most, compression shorter.
fn check_size(id: ObjectId, stored: u64, declared: Option<u64>) -> Result<()> {
    let Some(declared) = declared else {
        return Ok(());
    };
    if declared <= MAX_CONTENT && stored <= declared + declared / 8 + 64 {
        return Ok(());
    }
    Err(Error::conflict(format!(
        "the object {id} has {stored} bytes, which can't be the {declared} bytes of content that the statement declares"
    )))
}
