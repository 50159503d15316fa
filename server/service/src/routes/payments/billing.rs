//! The payment provider's billing portal: its address, and the page that stands in for it here.

use crate::auth::{Caller, disabled_error};
use crate::error::{Error, Result};
use crate::http::address::Address;
use crate::http::extract::PathArgs;
use crate::http::form::FormInput;
use crate::signing_keys;
use crate::state::{AppState, ServerState};
use axum::extract::State;
use axum::http::{HeaderName, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use cairn_model::AccountId;
use cairn_store::provider::{portal_account, portal_session};
use cairn_store::{Account, catalog};
use cairn_wire::Timestamp;
use cairn_wire::payments::{BillingPortal, BuyTokens};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The time that a portal's address is good.
const VALID_MS: i64 = 3600 * 1000;
/// The page has one form and no script, and frames nothing.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'";

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(billing_portal))
}

/// The page itself; whoever has its address may use it, so no token is asked for.
pub(crate) fn page_routes() -> Router<AppState> {
    Router::new()
        .route("/billing/{session}", get(page))
        .route("/billing/{session}/tokens", post(buy))
}

fn secret(app: &ServerState) -> Result<[u8; 32]> {
    Ok(app.store.secret(signing_keys::BILLING)?)
}

/// A fresh address of the portal for an account.
pub(super) fn portal_url(
    app: &ServerState,
    account: AccountId,
    base: &str,
) -> Result<BillingPortal> {
    let expires_at = app.source.now_ms() + VALID_MS;
    let session = portal_session(&secret(app)?, account, expires_at);
    Ok(BillingPortal {
        url: format!("{base}/billing/{session}"),
        expires_at: Timestamp(expires_at),
    })
}

/// The address of the payment provider's billing portal for the caller, valid for an hour.
#[utoipa::path(
    get, path = "/api/v1/payment/billing-portal", tag = "payments",
    responses(
        (status = 200, description = "The address", body = BillingPortal),
        (status = 403, description = "The access token was given to an application of somebody else")
    )
)]
async fn billing_portal(
    caller: Caller,
    State(app): State<AppState>,
    Address(base): Address,
) -> Result<Json<BillingPortal>> {
    Ok(Json(portal_url(&app, caller.account, &base)?))
}

/// Returns the account whose portal has this address. The address ends with the account, and opens nothing while
/// the account is disabled or about to be deleted.
///
/// # Errors
/// 410 for an address that has ended, 403 for an account that is not in use.
fn visitor(app: &ServerState, session: &str) -> Result<Account> {
    let gone = || Error::gone("this address of the billing portal has expired; ask for another");
    let id = portal_account(&secret(app)?, session, app.source.now_ms()).ok_or_else(gone)?;
    let account = app.store.account(id)?.ok_or_else(gone)?;
    if account.disabled {
        return Err(disabled_error());
    }
    if app.store.deletion_due(id)?.is_some() {
        return Err(Error::forbidden(
            "the account is about to be deleted; restore it before you buy anything",
        ));
    }
    Ok(account)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

async fn page(
    State(app): State<AppState>,
    PathArgs(session): PathArgs<String>,
) -> Result<Response> {
    let Account {
        id: account, email, ..
    } = visitor(&app, &session)?;
    let plan = app
        .store
        .subscription(account, app.options.limits.storage)?;
    let tokens = app.store.token_balance(account)?;
    let wallet = app.store.wallet(account)?;
    let packs: String = catalog::packs()
        .iter()
        .map(|pack| {
            format!(
                "<p><button name=pack value={}>Buy {} tokens ({}) for {} {}</button></p>",
                pack.id, pack.tokens, pack.name, pack.price, pack.currency
            )
        })
        .collect();
    let html = format!(
        "<!doctype html><html lang=en><meta charset=utf-8><title>Billing</title>\
         <style>body{{font:16px sans-serif;max-width:40em;margin:3em auto}}</style>\
         <h1>Billing of {email}</h1><p>Test mode: no money moves.</p>\
         <p>Plan: {plan} ({price} {currency} a month)</p><p>AI tokens: {tokens}</p>\
         <p>Wallet: {fiat} {currency}, {held} tokens</p>\
         <form method=post action=\"/billing/{session}/tokens\">{packs}</form></html>",
        email = escape(&email),
        plan = escape(&plan.tier.name),
        price = plan.tier.price_monthly,
        currency = catalog::CURRENCY,
        tokens = tokens.balance,
        fiat = wallet.fiat_balance,
        held = wallet.token_balance,
        session = escape(&session),
    );
    let headers = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("referrer-policy"), "no-referrer"),
    ];
    Ok((headers, Html(html)).into_response())
}

async fn buy(
    State(app): State<AppState>,
    PathArgs(session): PathArgs<String>,
    FormInput(request): FormInput<BuyTokens>,
) -> Result<Redirect> {
    let account = visitor(&app, &session)?.id;
    app.store
        .buy_ai_tokens(account, request.pack, request.coupon.as_deref())?;
    Ok(Redirect::to(&format!("/billing/{session}")))
}
