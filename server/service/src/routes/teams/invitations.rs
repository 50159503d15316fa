//! Invitations: sending them, and what the invited does with them.

use crate::auth::Caller;
use crate::error::{Error, Result};
use crate::http::extract::{Input, PathArgs, QueryParams};
use crate::http::page::Window;
use crate::http::text::email_address;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cairn_model::TeamId;
use cairn_wire::Page;
use cairn_wire::page::PageQuery;
use cairn_wire::teams::{Invitation, InviteMember, Team, TeamRole};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(invite))
        .routes(routes!(list_sent))
        .routes(routes!(withdraw))
        .routes(routes!(list_received))
        .routes(routes!(accept))
        .routes(routes!(decline))
}

/// Invites an address into a team and sends the mail. The response does not tell whether the address
/// has an account.
#[utoipa::path(
    post, path = "/api/v1/teams/{id}/invite", tag = "teams", request_body = InviteMember,
    params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 201, description = "The invitation; it can be accepted for 7 days", body = Invitation),
        (status = 400, description = "`email` is not a valid address, or `role` is `owner`"),
        (status = 403, description = "The caller is neither owner nor admin"),
        (status = 404, description = "There is no such team"),
        (status = 409, description = "The address is a member's, or has an open invitation"),
        (status = 507, description = "The team has as many members as its plan allows")
    )
)]
async fn invite(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<TeamId>,
    Input(new): Input<InviteMember>,
) -> Result<(StatusCode, Json<Invitation>)> {
    let email = email_address(&new.email).ok_or_else(|| {
        Error::invalid(format!(
            "`email` is `{}`, which is not a valid e-mail address",
            new.email.trim()
        ))
    })?;
    let role = new.role.unwrap_or(TeamRole::Member);
    if role == TeamRole::Owner {
        return Err(Error::invalid("`role` has to be `admin` or `member`"));
    }
    let sent = app.store.invite(caller.account, id, &email, role)?;
    Ok((StatusCode::CREATED, Json(sent)))
}

/// Lists the invitations of a team that nobody has answered yet.
#[utoipa::path(
    get, path = "/api/v1/teams/{id}/invitations", tag = "teams",
    params(("id" = String, Path, format = Uuid), PageQuery),
    responses(
        (status = 200, description = "One page, latest first", body = Page<Invitation>),
        (status = 403, description = "The caller is neither owner nor admin"),
        (status = 404, description = "There is no such team")
    )
)]
async fn list_sent(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<TeamId>,
    QueryParams(query): QueryParams<PageQuery>,
) -> Result<Json<Page<Invitation>>> {
    let window = Window::new(query.page, query.page_size)?;
    let found = app
        .store
        .team_invitations(caller.account, id, window.skip(), window.take())?;
    Ok(Json(window.envelope(found)))
}

/// Takes back an invitation that nobody has answered yet.
#[utoipa::path(
    delete, path = "/api/v1/teams/{id}/invitations/{invitation_id}", tag = "teams",
    params(("id" = String, Path, format = Uuid), ("invitation_id" = String, Path, format = Uuid)),
    responses(
        (status = 204, description = "It can't be accepted any more"),
        (status = 403, description = "The caller is neither owner nor admin"),
        (status = 404, description = "There is no such team or open invitation")
    )
)]
async fn withdraw(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs((id, invitation)): PathArgs<(TeamId, Uuid)>,
) -> Result<StatusCode> {
    app.store
        .withdraw_invitation(caller.account, id, invitation)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lists the invitations that wait for the caller's answer.
#[utoipa::path(
    get, path = "/api/v1/teams/invitations", tag = "teams", params(PageQuery),
    responses((status = 200, description = "One page, latest first", body = Page<Invitation>))
)]
async fn list_received(
    caller: Caller,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<PageQuery>,
) -> Result<Json<Page<Invitation>>> {
    let window = Window::new(query.page, query.page_size)?;
    let found = app
        .store
        .invitations(caller.account, window.skip(), window.take())?;
    Ok(Json(window.envelope(found)))
}

/// Accepts an invitation: the caller becomes a member.
#[utoipa::path(
    post, path = "/api/v1/teams/invitations/{invitation_id}/accept", tag = "teams",
    params(("invitation_id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The team", body = Team),
        (status = 404, description = "The caller has no such invitation"),
        (status = 409, description = "It was answered already"),
        (status = 410, description = "It has expired or was withdrawn")
    )
)]
async fn accept(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(invitation): PathArgs<Uuid>,
) -> Result<Json<Team>> {
    Ok(Json(
        app.store.accept_invitation(caller.account, invitation)?,
    ))
}

/// Declines an invitation.
#[utoipa::path(
    post, path = "/api/v1/teams/invitations/{invitation_id}/decline", tag = "teams",
    params(("invitation_id" = String, Path, format = Uuid)),
    responses(
        (status = 204, description = "It is declined"),
        (status = 404, description = "The caller has no such invitation"),
        (status = 409, description = "It was answered already"),
        (status = 410, description = "It has expired or was withdrawn")
    )
)]
async fn decline(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(invitation): PathArgs<Uuid>,
) -> Result<StatusCode> {
    app.store.decline_invitation(caller.account, invitation)?;
    Ok(StatusCode::NO_CONTENT)
}
