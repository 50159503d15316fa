//! The key to a team's files, and its grants: the key encrypted to one member's public key, one for each member and key
//! epoch (a new key, counted by a number, replaces the old one when a member leaves). The server can't open them.

use crate::auth::Caller;
use crate::bounds::GRANTS;
use crate::error::{Error, Result};
use crate::http::extract::{Input, PathArgs};
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use cairn_model::TeamId;
use cairn_wire::teams::{PutGrants, TeamKeys};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(team_keys, put_grants))
}

/// The caller's grants of the team's space key, and the public keys of all members.
#[utoipa::path(
    get, path = "/api/v1/teams/{id}/keys", tag = "teams", params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "Grants, oldest epoch first, and members", body = TeamKeys),
        (status = 404, description = "There is no such team")
    )
)]
async fn team_keys(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<TeamId>,
) -> Result<Json<TeamKeys>> {
    Ok(Json(app.store.team_keys(caller.account, id)?))
}

/// Stores grants of the space key for members. A grant that is there stays; the same one again
/// changes nothing. With `raise`, they are of the next epoch, which is in force from then on.
#[utoipa::path(
    put, path = "/api/v1/teams/{id}/keys", tag = "teams", request_body = PutGrants,
    params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The grants as they are now", body = TeamKeys),
        (status = 403, description = "The caller is neither owner nor admin"),
        (status = 404, description = "There is no such team or member"),
        (status = 409, description = "The epoch is yet to come, or, with `raise`, not the next one; or a member has another grant of it")
    )
)]
async fn put_grants(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<TeamId>,
    Input(new): Input<PutGrants>,
) -> Result<Json<TeamKeys>> {
    if new.grants.is_empty() || new.grants.len() > GRANTS {
        return Err(Error::invalid(format!(
            "`grants` has to have 1 to {GRANTS} elements"
        )));
    }
    Ok(Json(app.store.put_grants(
        caller.account,
        id,
        new.epoch,
        new.raise,
        &new.grants,
    )?))
}
