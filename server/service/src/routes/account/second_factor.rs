//! The second factor of the caller's account: set up, confirmed, removed. Logins ask for it on their page.

use crate::auth::Caller;
use crate::error::{Error, Result};
use crate::http::extract::Input;
use crate::http::secret::show_once;
use crate::http::visitor::MaskedIp;
use crate::identity::password;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use cairn_store::Account;
use cairn_wire::second_factor::{
    BeginSecondFactor, BegunSecondFactor, ConfirmSecondFactor, RecoveryCodes, RemoveSecondFactor,
    SecondFactorStatus,
};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(second_factor, begin_second_factor))
        .routes(routes!(confirm_second_factor))
        .routes(routes!(remove_second_factor))
}

/// Returns the caller's account, whose password this has to be.
///
/// # Errors
/// 403 for a wrong password, 429 after too many.
async fn prove(app: &AppState, caller: Caller, from: &str, password: &str) -> Result<Account> {
    let account = app
        .store
        .account(caller.account)?
        .ok_or_else(|| Error::unauthorized("the account is gone; log in again"))?;
    password::check(app, &account.email, from, password)
        .await?
        .ok_or_else(|| Error::forbidden("the password is wrong"))
}

/// Returns the state of the caller's second factor.
#[utoipa::path(
    get, path = "/api/v1/useraccount/second-factor", tag = "account",
    responses((status = 200, description = "The state", body = SecondFactorStatus))
)]
async fn second_factor(
    caller: Caller,
    State(app): State<AppState>,
) -> Result<Json<SecondFactorStatus>> {
    Ok(Json(app.store.second_factor_status(caller.account)?))
}

/// Begins to set up a second factor: the response shows its secret, this once. One that was begun before and not
/// confirmed is replaced.
#[utoipa::path(
    post, path = "/api/v1/useraccount/second-factor", tag = "account", request_body = BeginSecondFactor,
    responses(
        (status = 200, description = "The secret, which no login asks for yet", body = BegunSecondFactor),
        (status = 403, description = "The password is wrong, or the token is for files"),
        (status = 409, description = "The account has a second factor")
    )
)]
async fn begin_second_factor(
    caller: Caller,
    State(app): State<AppState>,
    MaskedIp(from): MaskedIp,
    Input(begin): Input<BeginSecondFactor>,
) -> Result<Response> {
    let account = prove(&app, caller, &from, &begin.password).await?;
    Ok(show_once(Json(app.begin_second_factor(&account)?)))
}

/// Confirms the second factor with a code of the app: logins ask for one from then on. The response shows the
/// recovery codes, this once.
#[utoipa::path(
    post, path = "/api/v1/useraccount/second-factor/confirm", tag = "account", request_body = ConfirmSecondFactor,
    responses(
        (status = 200, description = "The recovery codes", body = RecoveryCodes),
        (status = 403, description = "The code is wrong, or the token is for files"),
        (status = 409, description = "There is none to confirm, or it was begun more than 15 minutes ago")
    )
)]
async fn confirm_second_factor(
    caller: Caller,
    State(app): State<AppState>,
    Input(confirm): Input<ConfirmSecondFactor>,
) -> Result<Response> {
    let codes = app.confirm_second_factor(caller.account, &confirm.code)?;
    Ok(show_once(Json(codes)))
}

/// Removes the second factor, by the password and one of its codes.
#[utoipa::path(
    post, path = "/api/v1/useraccount/second-factor/remove", tag = "account", request_body = RemoveSecondFactor,
    responses(
        (status = 204, description = "It is removed, and so are its recovery codes"),
        (status = 403, description = "The password or the code is wrong, or the token is for files"),
        (status = 409, description = "The account has none")
    )
)]
async fn remove_second_factor(
    caller: Caller,
    State(app): State<AppState>,
    MaskedIp(from): MaskedIp,
    Input(remove): Input<RemoveSecondFactor>,
) -> Result<StatusCode> {
    let account = prove(&app, caller, &from, &remove.password).await?;
    app.remove_second_factor(account.id, &remove.code)?;
    Ok(StatusCode::NO_CONTENT)
}
