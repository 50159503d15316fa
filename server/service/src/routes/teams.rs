//! `/teams` (also `/team`): teams, the caller's permissions in them, and what they use.

mod invitations;
mod keys;
mod members;

use crate::auth::Caller;
use crate::bounds::TEAM_NAME;
use crate::error::Result;
use crate::http::extract::{Input, PathArgs, QueryParams};
use crate::http::page::Window;
use crate::http::text::bounded_text;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cairn_model::{AccountId, TeamId};
use cairn_store::rights;
use cairn_wire::Page;
use cairn_wire::page::PageQuery;
use cairn_wire::teams::{
    CreateTeam, NameTeam, Team, TeamDetails, TeamPermissions, TeamQuota, TeamStorage,
};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The most members in the response about one team.
const MAX_MEMBERS: u64 = 100;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(list_teams, create_team))
        .routes(routes!(get_team, rename_team, delete_team))
        .routes(routes!(quota))
        .routes(routes!(permissions))
        .routes(routes!(storage))
        .merge(members::routes())
        .merge(invitations::routes())
        .merge(keys::routes())
}

/// Lists the teams that the caller belongs to, by name.
#[utoipa::path(
    get, path = "/api/v1/teams", tag = "teams", params(PageQuery),
    responses((status = 200, description = "One page", body = Page<Team>))
)]
async fn list_teams(
    caller: Caller,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<PageQuery>,
) -> Result<Json<Page<Team>>> {
    let window = Window::new(query.page, query.page_size)?;
    let found = app
        .store
        .teams(caller.account, window.skip(), window.take())?;
    Ok(Json(window.envelope(found)))
}

/// Makes a team that the caller owns, with a space of its own. It gets the limits of a new account, or the caller's
/// where these are smaller.
#[utoipa::path(
    post, path = "/api/v1/teams", tag = "teams", request_body = CreateTeam,
    responses(
        (status = 201, description = "The team", body = Team),
        (status = 400, description = "The name is empty or longer than 255 characters"),
        (status = 409, description = "The caller owns 50 teams, the most allowed")
    )
)]
async fn create_team(
    caller: Caller,
    State(app): State<AppState>,
    Input(new): Input<CreateTeam>,
) -> Result<(StatusCode, Json<Team>)> {
    let name = bounded_text("name", &new.name, 1..=TEAM_NAME)?;
    let (owner, limits) = (caller.account, &app.options.limits);
    let team = if new.private {
        app.store.create_private_team(owner, &name, limits)?
    } else {
        app.store.create_team(owner, &name, limits)?
    };
    Ok((StatusCode::CREATED, Json(team)))
}

/// Returns one team with its first 100 members and their roles.
#[utoipa::path(
    get, path = "/api/v1/teams/{id}", tag = "teams", params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The team", body = TeamDetails),
        (status = 404, description = "There is no such team")
    )
)]
async fn get_team(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<TeamId>,
) -> Result<Json<TeamDetails>> {
    let team = app.store.team(caller.account, id)?;
    let (members, _) = app.store.team_members(caller.account, id, 0, MAX_MEMBERS)?;
    Ok(Json(TeamDetails { team, members }))
}

/// Gives a team another name.
#[utoipa::path(
    put, path = "/api/v1/teams/{id}", tag = "teams", request_body = NameTeam,
    params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The team", body = Team),
        (status = 403, description = "The caller is neither owner nor admin"),
        (status = 404, description = "There is no such team")
    )
)]
async fn rename_team(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<TeamId>,
    Input(new): Input<NameTeam>,
) -> Result<Json<Team>> {
    let name = bounded_text("name", &new.name, 1..=TEAM_NAME)?;
    Ok(Json(app.store.rename_team(caller.account, id, &name)?))
}

/// Deletes a team with all of its files, for good.
#[utoipa::path(
    delete, path = "/api/v1/teams/{id}", tag = "teams", params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 204, description = "It was deleted"),
        (status = 403, description = "The caller is not the owner"),
        (status = 404, description = "There is no such team")
    )
)]
async fn delete_team(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<TeamId>,
) -> Result<StatusCode> {
    let purged = app.store.delete_team(caller.account, id)?;
    app.objects.delete(&purged.objects).await;
    Ok(StatusCode::NO_CONTENT)
}

/// Storage, bandwidth, files and members: used and allowed.
#[utoipa::path(
    get, path = "/api/v1/teams/{id}/quota", tag = "teams", params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "Usage and limits", body = TeamQuota),
        (status = 404, description = "There is no such team")
    )
)]
async fn quota(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<TeamId>,
) -> Result<Json<TeamQuota>> {
    app.bandwidth.flush(&app.store, AccountId(id.0))?;
    Ok(Json(app.store.team_quota(caller.account, id)?))
}

/// Returns what the caller's role allows in a team.
#[utoipa::path(
    get, path = "/api/v1/teams/{id}/permissions", tag = "teams", params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "Each permission by name", body = TeamPermissions),
        (status = 404, description = "There is no such team")
    )
)]
async fn permissions(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<TeamId>,
) -> Result<Json<TeamPermissions>> {
    let role = app.store.team_role(caller.account, id)?;
    Ok(Json(TeamPermissions {
        team_id: id,
        role,
        permissions: rights::matrix(role),
    }))
}

/// Returns what each member stores.
#[utoipa::path(
    get, path = "/api/v1/teams/{id}/storage", tag = "teams",
    params(("id" = String, Path, format = Uuid), PageQuery),
    responses(
        (status = 200, description = "One page of members with their bytes, most first", body = TeamStorage),
        (status = 403, description = "The caller is neither owner nor admin"),
        (status = 404, description = "There is no such team")
    )
)]
async fn storage(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<TeamId>,
    QueryParams(query): QueryParams<PageQuery>,
) -> Result<Json<TeamStorage>> {
    let window = Window::new(query.page, query.page_size)?;
    let found = app
        .store
        .team_storage(caller.account, id, window.skip(), window.take())?;
    Ok(Json(TeamStorage {
        page: window.envelope((found.page, found.total)),
        storage_used: found.storage_used,
        storage_limit: found.storage_limit,
    }))
}
