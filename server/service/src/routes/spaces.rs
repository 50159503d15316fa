//! The signed log of a space (the files of an account or team), in which devices sign every change: commits in; pages,
//! proofs and snapshots out. All of it is binary, as `cairn-log` reads and writes it (docs/design/format-2.md).

mod objects;

use crate::auth::Caller;
use crate::error::{Error, Result};
use crate::http::body;
use crate::http::extract::{PathArgs, QueryParams};
use crate::identity::page::OwnPage;
use crate::state::AppState;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use cairn_log::{CommitRequest, CommitResponse, ElementName, LogPage};
use cairn_model::SpaceId;
use cairn_store::MAX_LOG_PAGE;
use cairn_wire::ErrorBody;
use cairn_wire::teams::TeamRole;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(commit))
        .routes(routes!(log))
        .routes(routes!(proof))
        .routes(routes!(snapshot))
        .merge(objects::routes())
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct LogQuery {
    /// The position of the first entry; 0 unless it is given.
    from: Option<u64>,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct ProofQuery {
    /// The size of the log that is to be its beginning. This, or `position`.
    from: Option<u64>,
    /// The position of the entry that is to be in it.
    position: Option<u64>,
    /// The size of the log that the proof is about; the present one unless it is given.
    size: Option<u64>,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct LogSnapshotQuery {
    /// A multiple of 64 that the log has reached.
    size: u64,
    /// The node or chain that the page before said to go on behind, 34 hexadecimal digits; nothing for the first page.
    #[param(pattern = "^[0-9a-fA-F]{34}$")]
    after: Option<String>,
}

/// A binary response.
fn binary(status: StatusCode, bytes: Vec<u8>) -> Response {
    let content_type = [(header::CONTENT_TYPE, "application/octet-stream")];
    (status, content_type, bytes).into_response()
}

/// Returns the caller in a space whose log this server would keep.
///
/// # Errors
/// 404 from a server that keeps none; else those of [`Caller::into_space`].
fn in_space(caller: Caller, app: &AppState, id: SpaceId) -> Result<Caller> {
    if !app.options.signed_logs {
        return Err(Error::not_found(
            "this server keeps no signed logs of spaces",
        ));
    }
    caller.into_space(app, id)
}

/// Refuses anybody but the owner of a team, who founds its log: its first roster makes whoever signs it the owner.
fn check_founder(app: &AppState, caller: &Caller) -> Result<()> {
    let is_owner = caller.team.is_none_or(|team| team.role == TeamRole::Owner);
    if is_owner || app.store.has_log(caller.space)? {
        return Ok(());
    }
    Err(Error::forbidden("only the team's owner may begin its log"))
}

/// Appends a signed commit to the log of a space. The body is the commit with its length, count v, and for each
/// manifest that it brings the manifest's id, count v, and the ids of the objects in it, 32 bytes each.
/// The response to an accepted or refused commit has the entries since the size that it had seen, at most
/// 1 MiB of them: outcome u8 (0 or the reason's code), the position
/// if it was taken, and a page as GET `/spaces/{id}/log` has it.
#[utoipa::path(
    post, path = "/api/v1/spaces/{id}/commits", tag = "spaces", params(("id" = String, Path, format = Uuid)),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses(
        (status = 200, description = "It is in the log, and on the disk", body = Vec<u8>, content_type = "application/octet-stream"),
        (status = 403, description = "The caller has no access to the space (any more), or another account's device has signed"),
        (status = 409, description = "It breaks a rule of the log (binary, with the reason), names an object that isn't there or a manifest without the objects in it, or is to begin a log in a space with files (JSON)",
            content((Vec<u8> = "application/octet-stream"), (ErrorBody = "application/json"))),
        (status = 413, description = "The body has more than 5 MiB"),
        (status = 429, description = "More than ten control statements a minute from this device"),
        (status = 507, description = "The storage is full; what deletes, removes members or revokes devices is taken all the same")
    )
)]
async fn commit(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<SpaceId>,
    request: Request,
) -> Result<Response> {
    let caller = in_space(caller, &app, id)?;
    let bytes = body::read_all(request, CommitRequest::MAX).await?;
    let request = CommitRequest::decode(&bytes)
        .map_err(|_| Error::invalid("the body is no commit with its objects"))?;
    check_founder(&app, &caller)?;
    let response = app.store.commit(&caller.actor(), &request)?;
    let status = match &response {
        CommitResponse::Accepted { .. } => StatusCode::OK,
        CommitResponse::Refused { .. } => StatusCode::CONFLICT,
    };
    let mut response = binary(status, response.encode());
    response.extensions_mut().insert(OwnPage);
    Ok(response)
}

/// A page of a space's log, at most 8 MiB: history id 16, size v, root 32, restored-at u48, restored-to v,
/// then the entries, each with its length and type. A space without a log has a page of size 0, whose
/// history id its first commit names.
#[utoipa::path(
    get, path = "/api/v1/spaces/{id}/log", tag = "spaces", params(("id" = String, Path, format = Uuid), LogQuery),
    responses((status = 200, description = "The page", body = Vec<u8>, content_type = "application/octet-stream"))
)]
async fn log(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<SpaceId>,
    QueryParams(query): QueryParams<LogQuery>,
) -> Result<Response> {
    let caller = in_space(caller, &app, id)?;
    let from = query.from.unwrap_or(0);
    let page: LogPage = app.store.log_page(caller.space, from, MAX_LOG_PAGE)?;
    Ok(binary(StatusCode::OK, page.encode()))
}

/// A proof that the log at size `from` is the beginning of the log at `size`, or that the entry at
/// `position` is in it (RFC 9162): size v, the leaf with its length (empty for the former), count u8,
/// hashes of 32 bytes.
#[utoipa::path(
    get, path = "/api/v1/spaces/{id}/proof", tag = "spaces", params(("id" = String, Path, format = Uuid), ProofQuery),
    responses(
        (status = 200, description = "The proof", body = Vec<u8>, content_type = "application/octet-stream"),
        (status = 404, description = "There is no such space, or it has no log")
    )
)]
async fn proof(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<SpaceId>,
    QueryParams(query): QueryParams<ProofQuery>,
) -> Result<Response> {
    let caller = in_space(caller, &app, id)?;
    let (store, space) = (&app.store, caller.space);
    let proof = match (query.from, query.position) {
        (Some(from), None) => store.log_consistency(space, from, query.size)?,
        (None, Some(position)) => store.log_inclusion(space, position, query.size)?,
        (None, None) | (Some(_), Some(_)) => {
            return Err(Error::invalid("give either `from` or `position`"));
        }
    };
    Ok(binary(StatusCode::OK, proof.encode()))
}

/// A page of the snapshot at a size that a checkpoint can name, at most 8 MiB: 0 if it is the last one, else 1 and the
/// node or chain that the next page goes on behind (id 16, class u8; `after`), then the newest statement of each node and
/// chain, and the entry on it, each with its length. All of these one after the other are the snapshot.
#[utoipa::path(
    get, path = "/api/v1/spaces/{id}/snapshot", tag = "spaces",
    params(("id" = String, Path, format = Uuid), LogSnapshotQuery),
    responses(
        (status = 200, description = "The page", body = Vec<u8>, content_type = "application/octet-stream"),
        (status = 404, description = "There is no such space, or none is kept at this size"),
        (status = 410, description = "What it needs is pruned; ask for a later one")
    )
)]
async fn snapshot(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<SpaceId>,
    QueryParams(query): QueryParams<LogSnapshotQuery>,
) -> Result<Response> {
    let caller = in_space(caller, &app, id)?;
    let after = query.after.as_deref().map(element).transpose()?;
    let page = app.store.log_snapshot(caller.space, query.size, after)?;
    Ok(binary(StatusCode::OK, page.encode()))
}

fn element(text: &str) -> Result<ElementName> {
    let mut name = [0; 17];
    hex::decode_to_slice(text, &mut name)
        .map_err(|_| Error::invalid("`after` has to be 34 hexadecimal digits"))?;
    let [id @ .., class] = name;
    Ok(ElementName { id, class })
}
