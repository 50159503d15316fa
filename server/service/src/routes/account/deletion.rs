//! Account deletion: request and cancel.

use crate::auth::Caller;
use crate::error::Result;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use cairn_wire::account::AccountStatus;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(request_deletion))
        .routes(routes!(restore_account))
}

/// Requests the deletion of the account. For 60 days the account can be used for reading only, and the
/// deletion can be cancelled; then the account is deleted with all of its data.
#[utoipa::path(
    delete, path = "/api/v1/useraccount", tag = "account",
    responses(
        (status = 200, description = "The account is pending deletion", body = AccountStatus),
        (status = 403, description = "It is pending deletion already")
    )
)]
async fn request_deletion(
    caller: Caller,
    State(app): State<AppState>,
) -> Result<Json<AccountStatus>> {
    Ok(Json(app.store.request_deletion(caller.account)?))
}

/// Cancels the deletion of the account, within the 60 days.
#[utoipa::path(
    post, path = "/api/v1/useraccount/restore", tag = "account",
    responses(
        (status = 200, description = "The account is active", body = AccountStatus),
        (status = 409, description = "The account is not pending deletion"),
        (status = 410, description = "The 60 days are over")
    )
)]
async fn restore_account(
    caller: Caller,
    State(app): State<AppState>,
) -> Result<Json<AccountStatus>> {
    Ok(Json(app.store.restore_account(caller.account)?))
}
