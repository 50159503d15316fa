//! The wallet: its balance, tokens in, tokens out.

use crate::auth::Caller;
use crate::bounds::{DEPOSIT, WITHDRAWAL};
use crate::error::{Error, Result};
use crate::http::extract::{Input, QueryParams};
use crate::http::page::Window;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cairn_wire::Page;
use cairn_wire::page::PageQuery;
use cairn_wire::payments::{Deposit, Receipt, RequestWithdrawal, Wallet, Withdrawal};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(wallet))
        .routes(routes!(deposit))
        .routes(routes!(withdrawals, withdraw))
}

/// Dollars, tokens, and tokens on their way out.
#[utoipa::path(
    get, path = "/api/v1/payment/wallet", tag = "payments",
    responses((status = 200, description = "The wallet", body = Wallet))
)]
async fn wallet(caller: Caller, State(app): State<AppState>) -> Result<Json<Wallet>> {
    Ok(Json(app.store.wallet(caller.account)?))
}

/// Buys wallet tokens with the caller's card, one for a dollar.
#[utoipa::path(
    post, path = "/api/v1/payment/wallet/deposits", tag = "payments", request_body = Deposit,
    responses(
        (status = 201, description = "The receipt", body = Receipt),
        (status = 400, description = "The amount is not 0.01 to 10000.00"),
        (status = 402, description = "The card is declined")
    )
)]
async fn deposit(
    caller: Caller,
    State(app): State<AppState>,
    Input(request): Input<Deposit>,
) -> Result<(StatusCode, Json<Receipt>)> {
    if !(1..=DEPOSIT).contains(&request.amount.0) {
        return Err(Error::invalid("`amount` has to be 0.01 to 10000.00"));
    }
    Ok((
        StatusCode::CREATED,
        Json(app.store.deposit(caller.account, request.amount)?),
    ))
}

/// Lists the caller's withdrawals, latest first.
#[utoipa::path(
    get, path = "/api/v1/payment/withdrawals", tag = "payments", params(PageQuery),
    responses((status = 200, description = "One page", body = Page<Withdrawal>))
)]
async fn withdrawals(
    caller: Caller,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<PageQuery>,
) -> Result<Json<Page<Withdrawal>>> {
    let window = Window::new(query.page, query.page_size)?;
    let found = app
        .store
        .withdrawals(caller.account, window.skip(), window.take())?;
    Ok(Json(window.envelope(found)))
}

/// Asks for tokens to be paid out; they are, a day later.
#[utoipa::path(
    post, path = "/api/v1/payment/withdrawals", tag = "payments", request_body = RequestWithdrawal,
    responses(
        (status = 201, description = "The withdrawal", body = Withdrawal),
        (status = 400, description = "The amount is not 0.01 to 100000.00"),
        (status = 402, description = "The wallet holds fewer tokens")
    )
)]
async fn withdraw(
    caller: Caller,
    State(app): State<AppState>,
    Input(request): Input<RequestWithdrawal>,
) -> Result<(StatusCode, Json<Withdrawal>)> {
    if !(1..=WITHDRAWAL).contains(&request.amount.0) {
        return Err(Error::invalid("`amount` has to be 0.01 to 100000.00"));
    }
    Ok((
        StatusCode::CREATED,
        Json(app.store.withdraw(caller.account, request.amount)?),
    ))
}
