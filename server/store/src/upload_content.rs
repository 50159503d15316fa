//! Completes an upload: its content becomes a revision, a version of a file, with the checks and the write in one
//! transaction. `upload_batch` uses them for many small files.

use super::names::name_in;
use super::rows::{HeldChunk, State, pack_held};
use super::usage::{self, Growth};
use super::{Actor, OpenUpload, Space, Tx, chunks, holders, log_guard, nodes, revisions, uploads};
use crate::db::{Connection, params};
use crate::error::{Error, Result};
use cairn_model::{Kind, Name, NodeId};
use cairn_wire::nodes::Node;
use cairn_wire::transfer::{CompleteUpload, CreateUpload};
use std::cell::Cell;

/// The effect that an upload would have now.
pub(super) enum Target {
    /// The revision is there already.
    Done(Box<Node>),
    NewNode {
        parent: Option<NodeId>,
        name: Name,
        /// An upload has stored chunks for it.
        has_chunks: bool,
    },
    /// A new revision of the node as it is now.
    NewRevision(Box<Node>),
}

impl Target {
    /// The number of files that it adds to its space.
    pub(super) fn files(&self) -> i64 {
        match self {
            Self::NewNode { .. } => 1,
            Self::Done(_) | Self::NewRevision(_) => 0,
        }
    }

    /// Returns false if no chunk can be there for the node.
    pub(super) fn may_have_chunks(&self) -> bool {
        match self {
            Self::NewNode { has_chunks, .. } => *has_chunks,
            Self::Done(_) | Self::NewRevision(_) => true,
        }
    }
}

/// The folder that was checked last: many files of a transaction are in one.
#[derive(Default)]
pub(super) struct CheckedFolder(Cell<Option<NodeId>>);

impl CheckedFolder {
    /// Checks that something can be put into a folder.
    fn check(&self, conn: &Connection, space: Space, parent: Option<NodeId>) -> Result<()> {
        if parent.is_none() || parent != self.0.get() {
            nodes::check_folder(conn, space, parent)?;
            self.0.set(parent);
        }
        Ok(())
    }
}

/// Finds out what completing an upload would do now.
///
/// # Errors
/// Fails like [`check_target`], and with 412 for a revision of another version of the node than the present one.
pub(super) fn check_commit(
    conn: &Connection,
    space: Space,
    create: &CreateUpload,
    complete: &CompleteUpload,
) -> Result<Target> {
    log_guard::check_no_log(conn, space)?;
    check_one_of_many(conn, space, (create, complete), &CheckedFolder::default())
}

/// The same for one of many in one transaction, in a space that has no log.
pub(super) fn check_one_of_many(
    conn: &Connection,
    space: Space,
    (create, complete): (&CreateUpload, &CompleteUpload),
    folder: &CheckedFolder,
) -> Result<Target> {
    let target = find_target(conn, space, create, folder)?;
    if let Target::NewRevision(old) = &target {
        nodes::check_version(old, complete.base_version)?;
    }
    Ok(target)
}

/// Finds out what an upload would do now.
pub(super) fn check_target(
    conn: &Connection,
    space: Space,
    create: &CreateUpload,
) -> Result<Target> {
    log_guard::check_no_log(conn, space)?;
    find_target(conn, space, create, &CheckedFolder::default())
}

fn find_target(
    conn: &Connection,
    space: Space,
    create: &CreateUpload,
    folder: &CheckedFolder,
) -> Result<Target> {
    let id = create.node_id;
    let Some(old) = nodes::find(conn, id)? else {
        if create.base_revision_id.is_some() {
            return Err(Error::not_found(format!(
                "there is no node {id}, so nothing has the revision in `base_revision_id`"
            )));
        }
        let name = create
            .name
            .as_ref()
            .ok_or_else(|| Error::invalid("`name` is missing; a new node needs one"))?;
        let name = name_in(space.id, name)?;
        check_revision_id(conn, create)?;
        let has_chunks = check_unclaimed(conn, space, id)?;
        folder.check(conn, space, create.parent_id)?;
        nodes::check_free(conn, space, create.parent_id, &name, None)?;
        return Ok(Target::NewNode {
            parent: create.parent_id,
            name,
            has_chunks,
        });
    };
    if !old.is_in(space) {
        return Err(other_space_error(conn, space, create));
    }
    if revisions::owner(conn, create.revision_id)? == Some(id) {
        return Ok(Target::Done(Box::new(old.node)));
    }
    if old.node.kind == Kind::Folder {
        return Err(Error::invalid(format!(
            "{id} is a folder; content belongs to files"
        )));
    }
    if create.base_revision_id != old.node.revision_id {
        return Err(Error::Conflict {
            message: create.base_revision_id.map_or_else(
                || format!("the node {id} exists; a new revision needs `base_revision_id`"),
                |base| format!("the revision {base} is no longer the head of the node {id}"),
            ),
            head: old.node.revision_id,
        });
    }
    if old.state == State::Trashed {
        return Err(Error::conflict(format!(
            "the node {id} is in the trash; restore it or upload a new node"
        )));
    }
    check_revision_id(conn, create)?;
    Ok(Target::NewRevision(Box::new(old.node)))
}

/// The error for a node of another account or team: not found where a revision of it was meant.
fn other_space_error(conn: &Connection, space: Space, create: &CreateUpload) -> Error {
    let id = create.node_id;
    if create.base_revision_id.is_none() {
        return Error::conflict(format!("the id {id} can't be used; choose another"));
    }
    nodes::visible_node(conn, space, id)
        .err()
        .unwrap_or_else(|| Error::Internal(format!("the node {id} is in its space and is not")))
}

/// Refuses the id of a new node if another space has chunks or uploads under it: who stores a chunk first
/// pays for it, and a space pays for its own files alone. Returns true if this space has chunks under it.
fn check_unclaimed(conn: &Connection, space: Space, id: NodeId) -> Result<bool> {
    let (is_claimed, has_chunks): (bool, bool) = conn
        .prepare_cached(
            "SELECT count(*) FILTER (WHERE space <> ?2) > 0 \
             OR EXISTS (SELECT 1 FROM uploads WHERE node = ?1 AND space <> ?2), count(*) > 0 \
             FROM chunks WHERE node = ?1",
        )?
        .query_row(params![id.as_bytes(), space.row], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    if is_claimed {
        return Err(Error::conflict(format!(
            "the id {id} can't be used; choose another"
        )));
    }
    Ok(has_chunks)
}

fn check_revision_id(conn: &Connection, create: &CreateUpload) -> Result<()> {
    match revisions::owner(conn, create.revision_id)? {
        Some(_) => Err(Error::conflict(format!(
            "the id {} can't be used (`revision_id`); choose another",
            create.revision_id
        ))),
        None => Ok(()),
    }
}

pub(super) fn record_of(complete: &CompleteUpload) -> i64 {
    usage::record_bytes(&complete.manifest.0)
}

/// Writes the revision and the node. The chunks are there and hold a reference for it.
pub(super) fn commit(
    tx: &Tx<'_>,
    actor: &Actor,
    target: &Target,
    create: &CreateUpload,
    complete: &CompleteUpload,
    held: &[HeldChunk],
) -> Result<Node> {
    let (number, new) = match target {
        Target::Done(node) => return Ok(node.as_ref().clone()),
        Target::NewNode { parent, name, .. } => (1, Some((*parent, name))),
        Target::NewRevision(_) => {
            let last: u64 = tx
                .conn
                .prepare_cached("SELECT coalesce(max(number), 0) FROM revisions WHERE node = ?1")?
                .query_row([create.node_id.as_bytes()], |row| row.get(0))?;
            (last + 1, None)
        }
    };
    let content = revisions::RevisionRow {
        id: create.revision_id,
        node: create.node_id,
        number,
        size: create.size,
        source: None,
        modified_at: complete.modified_at.map(|at| at.0),
        executable: complete.executable,
        packed: pack_held(held),
        manifest: complete.manifest.0.clone(),
    };
    revisions::insert(tx, actor, &content)?;
    let node = match new {
        Some((parent, name)) => nodes::insert(
            tx,
            actor,
            &nodes::Insert {
                id: create.node_id,
                parent,
                kind: Kind::File,
                name,
                size: create.size,
                revision: Some(create.revision_id),
                modified_at: content.modified_at,
                executable: complete.executable,
                seal: complete.seal.as_ref(),
            },
        )?,
        None => {
            revisions::set_head(tx, actor, &content, complete.seal.as_ref())?;
            nodes::visible_node(tx.conn, actor.space, create.node_id)?.node
        }
    };
    tx.emit_upload(actor.account, &node)?;
    Ok(node)
}

impl Tx<'_> {
    /// Makes an upload's content a revision; repeating it returns the same.
    ///
    /// # Errors
    /// 400 while chunks are missing, or others have sent what lies there for them; 409 if the base is no longer
    /// the head or the name is taken, 412 if the node has another version than the seal was made for, 507.
    pub fn complete_upload(
        &self,
        actor: &Actor,
        upload: &OpenUpload,
        complete: &CompleteUpload,
    ) -> Result<Node> {
        upload.check_space(actor.space)?;
        let create = &upload.create;
        let target = check_commit(self.conn, actor.space, create, complete)?;
        if let Target::Done(node) = target {
            self.finish(upload)?;
            return Ok(*node);
        }
        let found = holders::look_up(self.conn, create.node_id, &create.chunks, upload.account)?;
        let missing = uploads::unconfirmed_chunks(&found);
        if let Some(first) = missing.first() {
            return Err(Error::invalid(format!(
                "{} chunks are missing, the first is {first}; PUT them before completing the upload",
                missing.len()
            )));
        }
        // First, because what it had set aside and does not need is room as well.
        self.finish(upload)?;
        // The chunks are all there, and counted. Their list is the revision's from now on.
        let growth = Growth {
            bytes: record_of(complete).saturating_add(usage::announced_list_bytes(found.len())),
            files: target.files(),
        };
        usage::check_quota(self.conn, actor.space, growth)?;
        let held: Vec<HeldChunk> = found.into_iter().map(|one| one.held).collect();
        for one in &held {
            chunks::retain(self.conn, one.holder, one.chunk.id)?;
        }
        let node = commit(self, actor, &target, create, complete, &held)?;
        usage::count_files(self.conn, actor.space, growth.files)?;
        Ok(node)
    }

    fn finish(&self, upload: &OpenUpload) -> Result<()> {
        self.conn
            .prepare_cached("UPDATE uploads SET done = 1, reserved = 0 WHERE id = ?1 AND done = 0")?
            .execute(params![upload.id.as_bytes()])?;
        Ok(())
    }
}
