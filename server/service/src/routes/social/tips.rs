//! Tips from one user to another.

use crate::auth::Caller;
use crate::bounds::{TIP, TIP_MESSAGE};
use crate::error::{Error, Result};
use crate::http::extract::{Input, PathArgs};
use crate::http::text::bounded_lines;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cairn_store::NewTip;
use cairn_wire::Amount;
use cairn_wire::social::{SendTip, TipCurrency, TipJar, TipReceipt};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

const AMOUNTS: std::ops::RangeInclusive<i64> = 1..=TIP;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(tip_jar))
        .routes(routes!(send_tip))
}

/// Returns a tip jar with its owner, who receives the tips.
#[utoipa::path(
    get, path = "/api/v1/social/tip-jars/{id}", tag = "social", params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The jar and its owner", body = TipJar),
        (status = 403, description = "The jar's owner blocks the caller"),
        (status = 404, description = "There is no such tip jar")
    )
)]
async fn tip_jar(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(jar): PathArgs<Uuid>,
) -> Result<Json<TipJar>> {
    Ok(Json(app.store.tip_jar(caller.account, jar)?))
}

/// Gives a tip: dollars from the caller's card, or tokens from the caller's wallet.
#[utoipa::path(
    post, path = "/api/v1/social/tips", tag = "social", request_body = SendTip,
    responses(
        (status = 201, description = "The receipt", body = TipReceipt),
        (status = 400, description = "The amount is out of range, `token_amount` is missing, or the jar is the caller's own"),
        (status = 402, description = "The card is declined, or the wallet holds too few tokens"),
        (status = 403, description = "The jar's owner blocks the caller"),
        (status = 404, description = "There is no such tip jar")
    )
)]
async fn send_tip(
    caller: Caller,
    State(app): State<AppState>,
    Input(tip): Input<SendTip>,
) -> Result<(StatusCode, Json<TipReceipt>)> {
    if !AMOUNTS.contains(&tip.amount.0) {
        return Err(Error::invalid("`amount` has to be 0.01 to 10000.00"));
    }
    let amount = match tip.currency_type {
        TipCurrency::Fiat => tip.amount,
        TipCurrency::Tokens => Amount(
            tip.token_amount
                .filter(|amount| AMOUNTS.contains(amount))
                .ok_or_else(|| {
                    Error::invalid(
                        "`token_amount` has to be 1 to 1000000 hundredths of a token with `currency_type` `tokens`",
                    )
                })?,
        ),
    };
    let message = bounded_lines(
        "message",
        tip.message.as_deref().unwrap_or_default(),
        0..=TIP_MESSAGE,
    )?;
    let receipt = app.store.tip(&NewTip {
        sender: caller.account,
        jar: tip.tip_jar_id,
        currency: tip.currency_type,
        amount,
        message: &message,
        is_anonymous: tip.is_anonymous,
    })?;
    Ok((StatusCode::CREATED, Json(receipt)))
}
