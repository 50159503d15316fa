//! The members of a team: listing, roles, going.

use crate::auth::Caller;
use crate::error::{Error, Result};
use crate::http::extract::{Input, PathArgs, QueryParams};
use crate::http::page::Window;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cairn_model::{AccountId, TeamId};
use cairn_wire::Page;
use cairn_wire::page::PageQuery;
use cairn_wire::teams::{ChangeRole, Offboarded, TeamMember, TeamRole};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(list_members))
        .routes(routes!(change_role, remove_member))
        .routes(routes!(offboard))
}

/// Lists a team's members, the owner first.
#[utoipa::path(
    get, path = "/api/v1/teams/{id}/members", tag = "teams",
    params(("id" = String, Path, format = Uuid), PageQuery),
    responses(
        (status = 200, description = "One page", body = Page<TeamMember>),
        (status = 404, description = "There is no such team")
    )
)]
async fn list_members(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<TeamId>,
    QueryParams(query): QueryParams<PageQuery>,
) -> Result<Json<Page<TeamMember>>> {
    let window = Window::new(query.page, query.page_size)?;
    let found = app
        .store
        .team_members(caller.account, id, window.skip(), window.take())?;
    Ok(Json(window.envelope(found)))
}

/// Makes a member an admin, or an admin a member.
#[utoipa::path(
    put, path = "/api/v1/teams/{id}/members/{user_id}", tag = "teams", request_body = ChangeRole,
    params(("id" = String, Path, format = Uuid), ("user_id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The member", body = TeamMember),
        (status = 400, description = "`role` is neither `admin` nor `member`"),
        (status = 403, description = "The caller is neither owner nor admin, or the member is the owner"),
        (status = 404, description = "There is no such team or member")
    )
)]
async fn change_role(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs((id, user)): PathArgs<(TeamId, AccountId)>,
    Input(change): Input<ChangeRole>,
) -> Result<Json<TeamMember>> {
    if change.role == TeamRole::Owner {
        return Err(Error::invalid("`role` has to be `admin` or `member`"));
    }
    Ok(Json(app.store.change_role(
        caller.account,
        id,
        user,
        change.role,
    )?))
}

/// Takes a member out of a team; a member may take out themselves.
#[utoipa::path(
    delete, path = "/api/v1/teams/{id}/members/{user_id}", tag = "teams",
    params(("id" = String, Path, format = Uuid), ("user_id" = String, Path, format = Uuid)),
    responses(
        (status = 204, description = "The member is out"),
        (status = 403, description = "The caller is neither owner nor admin, or the member is the owner"),
        (status = 404, description = "There is no such team or member")
    )
)]
async fn remove_member(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs((id, user)): PathArgs<(TeamId, AccountId)>,
) -> Result<StatusCode> {
    app.store.remove_member(caller.account, id, user)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Takes a member out of a team and ends every access to its files that the member had given.
#[utoipa::path(
    post, path = "/api/v1/teams/{id}/members/{user_id}/offboard", tag = "teams",
    params(("id" = String, Path, format = Uuid), ("user_id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "What was revoked", body = Offboarded),
        (status = 403, description = "The caller is neither owner nor admin, or the member is the owner"),
        (status = 404, description = "There is no such team or member")
    )
)]
async fn offboard(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs((id, user)): PathArgs<(TeamId, AccountId)>,
) -> Result<Json<Offboarded>> {
    Ok(Json(app.store.offboard_member(caller.account, id, user)?))
}
