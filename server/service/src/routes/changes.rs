//! The change feed (each file and folder once, in the order of its latest change) by pages, the snapshot that a client
//! reads whose position in the feed is no longer valid, and what files and folders were before.

use crate::auth::Caller;
use crate::bounds::CHANGES_PAGE;
use crate::error::{Error, Result};
use crate::http::extract::QueryParams;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use cairn_wire::changes::{
    Changes, ChangesQuery, PastStates, PastStatesQuery, Snapshot, SnapshotQuery,
};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(changes))
        .routes(routes!(snapshot))
        .routes(routes!(past))
}

pub(super) fn limit(requested: Option<u32>) -> Result<usize> {
    let limit = requested.unwrap_or(CHANGES_PAGE);
    if limit == 0 || limit > CHANGES_PAGE {
        return Err(Error::invalid(format!(
            "`limit` is {limit}; it has to be 1 to {CHANGES_PAGE}"
        )));
    }
    Ok(limit as usize)
}

/// The changes after a cursor, or from the beginning.
#[utoipa::path(
    get, path = "/api/v1/changes", tag = "changes", params(ChangesQuery),
    responses(
        (status = 200, description = "One page of the feed", body = Changes),
        (status = 410, description = "The cursor belongs to another history or space; take a snapshot")
    )
)]
async fn changes(
    caller: Caller,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<ChangesQuery>,
) -> Result<Json<Changes>> {
    Ok(Json(app.store.changes(
        caller.space,
        query.cursor.as_ref(),
        limit(query.limit)?,
    )?))
}

/// One page of all active nodes, and the cursor from which to follow.
#[utoipa::path(
    get, path = "/api/v1/changes/snapshot", tag = "changes", params(SnapshotQuery),
    responses((status = 200, description = "One page of the snapshot", body = Snapshot))
)]
async fn snapshot(
    caller: Caller,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<SnapshotQuery>,
) -> Result<Json<Snapshot>> {
    Ok(Json(app.store.snapshot(
        caller.space,
        query.after.as_deref(),
        limit(query.limit)?,
    )?))
}

/// One page of what nodes were until they were moved, renamed, put into the trash or taken out of it.
#[utoipa::path(
    get, path = "/api/v1/changes/past", tag = "changes", params(PastStatesQuery),
    responses((status = 200, description = "One page, oldest first", body = PastStates))
)]
async fn past(
    caller: Caller,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<PastStatesQuery>,
) -> Result<Json<PastStates>> {
    Ok(Json(app.store.past_states(
        caller.space,
        query.since.map(|since| since.0),
        query.after.as_deref(),
        limit(query.limit)?,
    )?))
}
