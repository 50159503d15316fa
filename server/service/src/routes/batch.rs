//! `POST /nodes/batch`: many folders, moves, deletions and restores in one transaction; each succeeds or fails by itself,
//! or with its group.

use crate::auth::Caller;
use crate::bounds::OPERATIONS;
use crate::error::{Error, Result};
use crate::http::extract::{Input, MAX_LIST};
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cairn_store::{
    Actor, Edit, Error as StoreError, NewFolder, RestorePlace, Result as StoreResult, Space, Tx,
    name_in,
};
use cairn_wire::nodes::{
    Node, NodeBatch, NodeOperation, NodeResult, NodeResults, NodeState, Together,
};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(run))
}

/// The response of one element of a batch.
pub(crate) fn result(outcome: Result<(StatusCode, Node)>) -> NodeResult {
    match outcome {
        Ok((status, node)) => NodeResult {
            status: status.as_u16(),
            node: Some(node),
            error: None,
        },
        Err(error) => NodeResult {
            status: error.status().as_u16(),
            node: None,
            error: Some(error.body()),
        },
    }
}

/// An operation with its feed position read, which can't be done inside the transaction.
struct Prepared {
    operation: NodeOperation,
    seen: StoreResult<Option<i64>>,
}

fn prepare(app: &AppState, space: Space, operation: NodeOperation) -> Prepared {
    let seen = match &operation {
        NodeOperation::Trash {
            seen: Some(cursor), ..
        } => app.store.position(space, cursor).map(Some),
        NodeOperation::Trash { seen: None, .. }
        | NodeOperation::Restore { .. }
        | NodeOperation::CreateFolder { .. }
        | NodeOperation::Move { .. } => Ok(None),
    };
    Prepared { operation, seen }
}

fn create_folder(
    tx: &Tx<'_>,
    actor: &Actor,
    folder: &NewFolder,
) -> StoreResult<(StatusCode, Node)> {
    let (node, is_new) = tx.create_folder(actor, folder)?;
    let status = match is_new {
        true => StatusCode::CREATED,
        false => StatusCode::OK,
    };
    Ok((status, node))
}

fn perform(tx: &Tx<'_>, actor: &Actor, prepared: Prepared) -> StoreResult<(StatusCode, Node)> {
    match prepared.operation {
        NodeOperation::CreateFolder {
            id,
            parent_id,
            name: text,
            seal,
        } => {
            let folder = NewFolder {
                id,
                parent: parent_id,
                name: name_in(actor.space.id, &text)?,
                seal,
            };
            create_folder(tx, actor, &folder)
        }
        NodeOperation::Move {
            id,
            name: text,
            parent_id,
            version,
            seal,
        } => {
            let edit = Edit {
                name: Some(name_in(actor.space.id, &text)?),
                parent: Some(parent_id),
                seal,
                version,
                ..Edit::default()
            };
            Ok((StatusCode::OK, tx.edit(actor, id, &edit)?))
        }
        NodeOperation::Trash {
            id,
            seen: _,
            version,
            seal,
        } => {
            tx.check_seen_version(actor, id, version, Some(NodeState::Trashed))?;
            Ok((
                StatusCode::OK,
                tx.trash(actor, id, prepared.seen?, seal.as_ref())?,
            ))
        }
        NodeOperation::Restore {
            id,
            version,
            seal,
            in_place,
            name,
        } => {
            tx.check_seen_version(actor, id, version, Some(NodeState::Active))?;
            let place = match (in_place, name) {
                (true, _) => RestorePlace::Former,
                (false, None) => RestorePlace::Free,
                (false, Some(name)) => RestorePlace::FormerOr(name_in(actor.space.id, &name)?),
            };
            let node = tx.restore(actor, id, seal.as_ref(), &place)?;
            Ok((StatusCode::OK, node))
        }
    }
}

/// Does operations in order, each alone or with its group, and returns the results.
///
/// # Errors
/// A failure of the server: then the transaction is not to be trusted any more.
fn perform_all(
    tx: &Tx<'_>,
    actor: &Actor,
    prepared: Vec<Prepared>,
    together: &[Together],
) -> StoreResult<Vec<NodeResult>> {
    let operations = prepared.len();
    let mut results = Vec::with_capacity(operations);
    let mut prepared = prepared.into_iter();
    let mut groups = together.iter().peekable();
    while results.len() < operations {
        let group = groups.next_if(|group| group.first as usize == results.len());
        let count = group.map_or(1, |group| (group.last - group.first + 1) as usize);
        let operations = prepared.by_ref().take(count).collect();
        results.extend(perform_together(tx, actor, operations)?);
    }
    Ok(results)
}

/// Does all of a group of operations, or nothing.
fn perform_together(
    tx: &Tx<'_>,
    actor: &Actor,
    mut operations: Vec<Prepared>,
) -> StoreResult<Vec<NodeResult>> {
    if operations.len() == 1
        && let Some(alone) = operations.pop()
    {
        return match perform(tx, actor, alone) {
            Err(error) if error.is_failure() => Err(error),
            outcome => Ok(vec![result(outcome.map_err(Error::from))]),
        };
    }
    let count = operations.len();
    let mut done = Vec::with_capacity(count);
    let outcome = tx.together(|| {
        for operation in operations {
            done.push(perform(tx, actor, operation)?);
        }
        Ok(())
    });
    match outcome {
        Ok(()) => Ok(done.into_iter().map(|done| result(Ok(done))).collect()),
        Err(error) if error.is_failure() => Err(error),
        Err(error) => {
            let mut results: Vec<NodeResult> = (0..count).map(|_| result(Err(undone()))).collect();
            results[done.len()] = result(Err(error.into()));
            Ok(results)
        }
    }
}

/// Makes the response for an operation whose group was refused. It is that of another version (412): what the client
/// takes the node for may be what an earlier try of the group has made.
fn undone() -> Error {
    let message = "another operation that was to be done together with it was refused".to_owned();
    StoreError::Stale {
        message,
        // No response has it in a batch.
        version: 0,
    }
    .into()
}

/// Checks that groups are runs of the operations, in order and apart from each other.
fn check_groups(together: &[Together], operations: usize) -> Result<()> {
    let mut next = 0;
    for group in together {
        if group.first < next || group.last < group.first || group.last as usize >= operations {
            return Err(Error::invalid(format!(
                "`together` has the group from {} to {}: groups are positions of operations from 0, in order, and share none",
                group.first, group.last
            )));
        }
        next = group.last + 1;
    }
    Ok(())
}

/// Does up to 1,000 operations in order; each succeeds or fails alone, or with its group (`together`): if one of a
/// group is refused, none of it is done, and the others answer 412.
#[utoipa::path(
    post, path = "/api/v1/nodes/batch", tag = "nodes", request_body = NodeBatch,
    responses((status = 200, description = "One result per operation, in order", body = NodeResults))
)]
async fn run(
    caller: Caller,
    State(app): State<AppState>,
    Input(batch): Input<NodeBatch, MAX_LIST>,
) -> Result<Json<NodeResults>> {
    if batch.operations.len() > OPERATIONS {
        return Err(Error::invalid(format!(
            "`operations` has {} elements; at most {OPERATIONS} are allowed",
            batch.operations.len()
        )));
    }
    let too_high = |operation: &NodeOperation| match operation {
        NodeOperation::Move { version, .. }
        | NodeOperation::Trash { version, .. }
        | NodeOperation::Restore { version, .. } => {
            version.is_some_and(|v| i64::try_from(v).is_err())
        }
        NodeOperation::CreateFolder { .. } => false,
    };
    if batch.operations.iter().any(too_high) {
        return Err(Error::invalid("a `version` is too large"));
    }
    check_groups(&batch.together, batch.operations.len())?;
    let prepared: Vec<Prepared> = batch
        .operations
        .into_iter()
        .map(|operation| prepare(&app, caller.space, operation))
        .collect();
    let actor = caller.actor();
    let results = app
        .store
        .write_many(|tx| perform_all(tx, &actor, prepared, &batch.together))?;
    Ok(Json(NodeResults { results }))
}
