//! Steps that create, move, rename, trash and restore nodes on the service. Several of a kind in a row are sent
//! in one request; each succeeds or fails alone.

mod executable;
mod journal;
mod restore;
mod send;
mod trashed;

pub(crate) use executable::set_executable;
pub(crate) use restore::{RESTORES, restore};

use crate::error::EngineError;
use crate::feed;
use crate::node_rows::{self, Next, Trust, next_seal, remote_row};
use crate::record;
use crate::step::Ctx;
use crate::step::batch::{BatchResults, StepResult};
use cairn_index::{RemoteRow, SentPlace};
use cairn_model::{ActivityKind, LocalId, Name, NodeId, Verification};
use cairn_plan::{Parent, ParentAndName, Step};
use cairn_transfer::each;
use cairn_wire::nodes::{Node, NodeOperation};
use send::send;
use std::collections::BTreeMap;
use trashed::Trashed;

/// Operations in one request; twice as many where it carries out an exchange of names.
pub(crate) const BATCH: usize = 500;

/// The state on the service after the operations of a request so far, for its next ones.
#[derive(Default)]
struct AsSent {
    folders: BTreeMap<LocalId, NodeId>,
    moved: BTreeMap<NodeId, RemoteRow>,
}

impl AsSent {
    fn parent(&self, ctx: &Ctx, to: &ParentAndName) -> Result<Option<NodeId>, EngineError> {
        if let Parent::Local(id) = to.parent
            && let Some(made) = self.folders.get(&id)
        {
            return Ok(Some(*made));
        }
        let parent = ctx.engine.index.read(|db| ctx.remote_parent(db, to))?;
        parent.ok_or(EngineError::Stale)
    }
}

/// One step, ready to be sent.
struct Prepared {
    operation: NodeOperation,
    then: Then,
}

/// The record to make in the index when the service has done it.
enum Then {
    Made {
        place: SentPlace,
    },
    Moved {
        sent: Sent,
        /// The sent place; `None` for a node without a merge base.
        place: Option<SentPlace>,
    },
    Trashed(Trashed),
}

/// The attributes of a node that a change of one's own has given it.
pub(crate) struct Sent {
    pub(crate) parent: Option<NodeId>,
    pub(crate) name: Name,
    pub(crate) executable: bool,
    /// The change has given it content, too.
    pub(crate) has_content: bool,
}

/// Executes steps of the same kind (folders to make and moves, or deletions) in order, with one request. Each comes back
/// with its own result.
///
/// An exchange of names moves a node twice: first to a temporary name. The service carries out all of a request or
/// nothing, and refuses the second move of a node whose first one it has refused. So other devices don't see the
/// temporary name, even if the line breaks or this device ends.
pub(crate) async fn run(ctx: &Ctx, steps: Vec<Step>) -> Vec<(Step, StepResult)> {
    let mut as_sent = AsSent::default();
    let mut results = BatchResults::new();
    let prepared = results.proceed(steps.into_iter().map(|step| {
        let prepared = prepare(ctx, &step, &mut as_sent);
        (step, prepared)
    }));
    if let Err(error) = journal::put(ctx, prepared.iter().map(|(_, prepared)| prepared)) {
        tracing::warn!(%error, "steps can't be journalled; they wait");
        let unsent = prepared.into_iter().map(|(step, _)| step);
        results.extend(unsent.map(|step| (step, Err(EngineError::NotRecorded))));
        return results.into_vec();
    }
    let sending = prepared
        .into_iter()
        .map(|(step, prepared)| ((step, prepared.then), prepared.operation));
    let sent = each(sending.collect(), async |operations| {
        send(ctx, operations).await
    });
    let mut trashed = Vec::new();
    for ((step, then), response) in sent.await {
        if let Err(error) = &response {
            journal::end_refused(ctx, &then, error);
        }
        match (then, response) {
            (Then::Trashed(node), Ok(_)) => trashed.push((step, node)),
            (Then::Made { place }, Ok(node)) => {
                results.set(step, record_made(ctx, &place, node));
            }
            (Then::Moved { sent, .. }, Ok(node)) => {
                results.set(step, record_moved(ctx, &sent, node));
            }
            (_, Err(error)) => results.set(step, Err(error)),
        }
    }
    trashed::record(ctx, trashed, &mut results);
    results.into_vec()
}

fn prepare(ctx: &Ctx, step: &Step, as_sent: &mut AsSent) -> Result<Prepared, EngineError> {
    match step {
        Step::CreateRemoteFolder { local, to } => prepare_folder(ctx, *local, to, as_sent),
        Step::MoveRemote { node, to, .. } => prepare_move(ctx, *node, to, as_sent),
        Step::TrashRemote { node } => prepare_trash(ctx, *node),
        Step::Adopt { .. }
        | Step::Forget { .. }
        | Step::Unlink { .. }
        | Step::CreateLocalFolder { .. }
        | Step::MoveLocal { .. }
        | Step::RestoreRemote { .. }
        | Step::SetLocalExecutable { .. }
        | Step::SetRemoteExecutable { .. }
        | Step::Download { .. }
        | Step::Upload { .. }
        | Step::TrashLocal { .. } => Err(EngineError::Stale),
    }
}

fn prepare_folder(
    ctx: &Ctx,
    local: LocalId,
    to: &ParentAndName,
    as_sent: &mut AsSent,
) -> Result<Prepared, EngineError> {
    let parent = as_sent.parent(ctx, to)?;
    // Under another id, a folder whose response was lost would exist twice.
    let sent = ctx.engine.index.read(|db| match db.sent_folder(local)? {
        Some(node) if db.remote_row(node)?.is_none() => Ok(Some(node)),
        Some(_) | None => Ok(None),
    })?;
    let id = sent.unwrap_or_else(|| ctx.engine.new_node());
    as_sent.folders.insert(local, id);
    let seal = node_rows::folder_seal(&ctx.engine.keys, id, parent, to.name.as_str());
    Ok(Prepared {
        operation: NodeOperation::CreateFolder {
            id: Some(id),
            parent_id: parent,
            name: to.name.to_string(),
            seal: Some(seal),
        },
        then: Then::Made {
            place: SentPlace {
                node: id,
                folder: ctx.folder.id,
                local,
                creates: true,
                parent,
                name: to.name.clone(),
                version: 1,
            },
        },
    })
}

fn prepare_move(
    ctx: &Ctx,
    node: NodeId,
    to: &ParentAndName,
    as_sent: &mut AsSent,
) -> Result<Prepared, EngineError> {
    let known = match as_sent.moved.remove(&node) {
        Some(row) => row,
        None => load_row(ctx, node)?,
    };
    let parent = as_sent.parent(ctx, to)?;
    let next = Next {
        parent,
        name: to.name.as_str(),
        executable: known.executable,
    };
    let seal = next_seal(&ctx.engine.keys, &known, &next);
    let operation = NodeOperation::Move {
        id: node,
        name: to.name.to_string(),
        parent_id: parent,
        version: Some(known.version),
        seal: seal.clone(),
    };
    let after = RemoteRow {
        parent,
        name: to.name.clone(),
        version: known.version + 1,
        seal: seal.map(|s| s.0),
        ..known
    };
    let place = sent_place(ctx, &after)?;
    let sent = Sent {
        parent,
        name: after.name.clone(),
        executable: after.executable,
        has_content: false,
    };
    as_sent.moved.insert(node, after);
    Ok(Prepared {
        operation,
        then: Then::Moved { sent, place },
    })
}

/// Returns the place of a node as it is after a move, for the journal.
fn sent_place(ctx: &Ctx, after: &RemoteRow) -> Result<Option<SentPlace>, EngineError> {
    let synced = ctx
        .engine
        .index
        .read(|db| db.synced_row(ctx.folder.id, after.node))?;
    Ok(synced.map(|synced| SentPlace {
        node: after.node,
        folder: ctx.folder.id,
        local: synced.local,
        creates: false,
        parent: after.parent,
        name: after.name.clone(),
        version: after.version,
    }))
}

fn prepare_trash(ctx: &Ctx, node: NodeId) -> Result<Prepared, EngineError> {
    let row = load_row(ctx, node)?;
    trashed::check_known(ctx, &row)?;
    let seen = feed::cursor(&ctx.engine)?.map(|c| c.0);
    // The other devices ask nobody about it: that holds only where a person has agreed to each file in it.
    let confirmed = ctx
        .engine
        .index
        .read(|db| db.is_deletion_confirmed(ctx.folder.id, node))?;
    let seal = node_rows::deletion_seal(&ctx.engine.keys, &row, confirmed);
    let number = seal.as_ref().and_then(|_| {
        let known = node_rows::known_numbers(&ctx.engine.keys, &row);
        known.next_seal().ok()
    });
    let operation = NodeOperation::Trash {
        id: node,
        seen,
        // What is deleted is guarded by what this device has seen of it and of all below.
        version: None,
        seal,
    };
    let path = crate::planning::remote_path(&ctx.engine, &ctx.folder, node);
    Ok(Prepared {
        operation,
        then: Then::Trashed(Trashed { node, path, number }),
    })
}

fn load_row(ctx: &Ctx, node: NodeId) -> Result<RemoteRow, EngineError> {
    let row = ctx.engine.index.read(|db| db.remote_row(node))?;
    row.ok_or(EngineError::Stale)
}

fn record_made(ctx: &Ctx, place: &SentPlace, response: Option<Node>) -> Result<(), EngineError> {
    let sent = Sent {
        parent: place.parent,
        name: place.name.clone(),
        executable: false,
        has_content: false,
    };
    let row = row_of(ctx, response, &sent)?;
    if row.node != place.node {
        return Err(EngineError::Protocol("another folder than was sent".into()));
    }
    ctx.engine.index.write(|db| {
        db.put_remote(&db.folders()?, &row)?;
        record::end_sent_places(db, &row, ctx.engine.api.device())
    })?;
    Ok(())
}

fn record_moved(ctx: &Ctx, sent: &Sent, response: Option<Node>) -> Result<(), EngineError> {
    let row = row_of(ctx, response, sent)?;
    ctx.engine.index.write(|db| {
        db.put_remote(&db.folders()?, &row)?;
        // A temporary name, too: otherwise a crash in the middle would look like the service's own
        // change of the name.
        record::update_synced_place(db, &ctx.folder, row.node)?;
        db.end_sent_places(row.node, row.version)
    })?;
    if cairn_model::is_temporary_name(&row.name) {
        return Ok(());
    }
    ctx.engine.count(|c| c.renames += 1);
    let path = crate::planning::remote_path(&ctx.engine, &ctx.folder, row.node);
    ctx.engine.activity(
        ctx.folder.id,
        ActivityKind::Renamed,
        &path,
        Some(ctx.engine.device_name.clone()),
        0,
    );
    Ok(())
}

/// Returns the row of a node as it is after a change of one's own.
///
/// # Errors
/// [`EngineError::Protocol`] without a node, or for one that can't be.
pub(crate) fn row_of(
    ctx: &Ctx,
    response: Option<Node>,
    sent: &Sent,
) -> Result<RemoteRow, EngineError> {
    let node =
        response.ok_or_else(|| EngineError::Protocol("a response without the node".into()))?;
    let (row, trust) = remote_row(&ctx.engine.keys, &node)
        .map_err(|why| EngineError::Protocol(format!("node {}: {why}", node.id)))?;
    if trust == Trust::Verified {
        return Ok(row);
    }
    if ctx.engine.verification.get() == Verification::Warn {
        return Ok(RemoteRow {
            executable: sent.executable,
            seal: None,
            ..row
        });
    }
    // What waits for a person does not come in with the response to a change of one's own.
    let known = ctx.engine.index.read(|db| db.remote_row(row.node))?;
    let content = match known {
        Some(known) if !sent.has_content => RemoteRow {
            version: row.version,
            seal: row.seal,
            seen: row.seen,
            device: row.device,
            changed_ms: row.changed_ms,
            ..known
        },
        Some(_) | None => row,
    };
    Ok(RemoteRow {
        parent: sent.parent,
        name: sent.name.clone(),
        executable: sent.executable,
        ..content
    })
}
