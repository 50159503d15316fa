//! Packs of AI tokens, with which the assistant is paid.

use super::billing::portal_url;
use crate::auth::Caller;
use crate::error::Result;
use crate::http::address::Address;
use crate::http::extract::Input;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cairn_store::catalog;
use cairn_wire::payments::{BuyTokens, Receipt, TokenBalance, TokenPacks};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(token_balance))
        .routes(routes!(token_packs))
        .routes(routes!(buy_tokens))
}

/// The number of AI tokens the caller has left: those of the plan this month, and bought ones.
#[utoipa::path(
    get, path = "/api/v1/payment/tokens/balance", tag = "payments",
    responses((status = 200, description = "The balance", body = TokenBalance))
)]
async fn token_balance(caller: Caller, State(app): State<AppState>) -> Result<Json<TokenBalance>> {
    Ok(Json(app.store.token_balance(caller.account)?))
}

/// The packs of AI tokens, and where to pay for them.
#[utoipa::path(
    get, path = "/api/v1/payment/tokens/packs", tag = "payments",
    responses(
        (status = 200, description = "The packs, the smallest first", body = TokenPacks),
        (status = 403, description = "The access token was given to an application of somebody else")
    )
)]
async fn token_packs(
    caller: Caller,
    State(app): State<AppState>,
    Address(base): Address,
) -> Result<Json<TokenPacks>> {
    Ok(Json(TokenPacks {
        packs: catalog::packs(),
        checkout_url: portal_url(&app, caller.account, &base)?.url,
    }))
}

/// Buys a pack of AI tokens with the caller's card.
#[utoipa::path(
    post, path = "/api/v1/payment/tokens/purchase", tag = "payments", request_body = BuyTokens,
    responses(
        (status = 201, description = "The receipt", body = Receipt),
        (status = 400, description = "There is no such pack"),
        (status = 402, description = "The card is declined"),
        (status = 404, description = "There is no such coupon"),
        (status = 409, description = "The coupon was used by the caller already"),
        (status = 410, description = "The coupon has expired")
    )
)]
async fn buy_tokens(
    caller: Caller,
    State(app): State<AppState>,
    Input(request): Input<BuyTokens>,
) -> Result<(StatusCode, Json<Receipt>)> {
    let receipt =
        app.store
            .buy_ai_tokens(caller.account, request.pack, request.coupon.as_deref())?;
    Ok((StatusCode::CREATED, Json(receipt)))
}
