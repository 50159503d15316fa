//! Blocking, muting and reporting people.

use crate::auth::Caller;
use crate::bounds::REPORT_DETAILS;
use crate::error::Result;
use crate::http::extract::{Input, PathArgs};
use crate::http::text::bounded_lines;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cairn_model::AccountId;
use cairn_wire::social::{Connection, Report, ReportUser};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(block, unblock))
        .routes(routes!(mute, unmute))
        .routes(routes!(report))
}

/// Blocks somebody: both stop following each other, and the other can't follow, see the profile,
/// tip or subscribe.
#[utoipa::path(
    post, path = "/api/v1/social/block/{user_id}", tag = "social",
    params(("user_id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The relationship of the two users", body = Connection),
        (status = 404, description = "There is no such user")
    )
)]
async fn block(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(user): PathArgs<AccountId>,
) -> Result<Json<Connection>> {
    Ok(Json(app.store.block(caller.account, user)?))
}

/// Unblocks somebody.
#[utoipa::path(
    delete, path = "/api/v1/social/block/{user_id}", tag = "social",
    params(("user_id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The relationship of the two users", body = Connection),
        (status = 404, description = "There is no such user")
    )
)]
async fn unblock(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(user): PathArgs<AccountId>,
) -> Result<Json<Connection>> {
    Ok(Json(app.store.unblock(caller.account, user)?))
}

/// Hides somebody's activity from the caller's feed, without notifying them.
#[utoipa::path(
    post, path = "/api/v1/social/mute/{user_id}", tag = "social",
    params(("user_id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The relationship of the two users", body = Connection),
        (status = 404, description = "There is no such user")
    )
)]
async fn mute(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(user): PathArgs<AccountId>,
) -> Result<Json<Connection>> {
    Ok(Json(app.store.mute(caller.account, user)?))
}

/// Shows somebody's activity in the caller's feed again.
#[utoipa::path(
    delete, path = "/api/v1/social/mute/{user_id}", tag = "social",
    params(("user_id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The relationship of the two users", body = Connection),
        (status = 404, description = "There is no such user")
    )
)]
async fn unmute(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(user): PathArgs<AccountId>,
) -> Result<Json<Connection>> {
    Ok(Json(app.store.unmute(caller.account, user)?))
}

/// Reports somebody to the moderators, without notifying them.
#[utoipa::path(
    post, path = "/api/v1/social/reports", tag = "social", request_body = ReportUser,
    responses(
        (status = 201, description = "The report", body = Report),
        (status = 400, description = "`details` is longer than 1000 characters, or the user is the caller"),
        (status = 404, description = "There is no such user")
    )
)]
async fn report(
    caller: Caller,
    State(app): State<AppState>,
    Input(mut new): Input<ReportUser>,
) -> Result<(StatusCode, Json<Report>)> {
    new.details = new
        .details
        .map(|text| bounded_lines("details", &text, 0..=REPORT_DETAILS))
        .transpose()?;
    Ok((
        StatusCode::CREATED,
        Json(app.store.report(caller.account, &new)?),
    ))
}
