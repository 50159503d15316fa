//! The tier of the service, coupons and spending alerts.

use crate::auth::Caller;
use crate::bounds::BUDGET;
use crate::error::{Error, Result};
use crate::http::extract::{Input, PathArgs};
use crate::http::text::bounded_text;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use cairn_wire::payments::{ChangePlan, Coupon, SetSpendingAlerts, SpendingAlerts, Subscription};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Characters of a coupon's code.
const MAX_CODE: usize = 50;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(subscription, change_plan))
        .routes(routes!(coupon))
        .routes(routes!(spending_alerts, set_spending_alerts))
}

/// The tier that the caller is on, until when, and every tier there is.
#[utoipa::path(
    get, path = "/api/v1/payment/subscriptions", tag = "payments",
    responses((status = 200, description = "The subscription", body = Subscription))
)]
async fn subscription(caller: Caller, State(app): State<AppState>) -> Result<Json<Subscription>> {
    let base = app.options.limits.storage;
    Ok(Json(app.store.subscription(caller.account, base)?))
}

/// Puts the caller on another tier: a dearer one is charged and holds at once, a cheaper one holds
/// from the next renewal. The tier in force calls such a change off.
#[utoipa::path(
    post, path = "/api/v1/payment/subscriptions", tag = "payments", request_body = ChangePlan,
    responses(
        (status = 200, description = "The subscription", body = Subscription),
        (status = 400, description = "There is no such tier, or the coupon has nothing to lower"),
        (status = 402, description = "The card is declined"),
        (status = 404, description = "There is no such coupon"),
        (status = 409, description = "The coupon was used by the caller already"),
        (status = 410, description = "The coupon has expired")
    )
)]
async fn change_plan(
    caller: Caller,
    State(app): State<AppState>,
    Input(request): Input<ChangePlan>,
) -> Result<Json<Subscription>> {
    let base = app.options.limits.storage;
    Ok(Json(app.store.change_plan(
        caller.account,
        request.plan,
        request.coupon.as_deref(),
        base,
    )?))
}

/// Returns what a coupon takes off a price.
#[utoipa::path(
    get, path = "/api/v1/payment/coupons/{code}", tag = "payments", params(("code" = String, Path)),
    responses(
        (status = 200, description = "The discount", body = Coupon),
        (status = 400, description = "The code is not 1 to 50 characters"),
        (status = 404, description = "There is no such coupon"),
        (status = 409, description = "It was used by the caller already"),
        (status = 410, description = "It has expired")
    )
)]
async fn coupon(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(code): PathArgs<String>,
) -> Result<Json<Coupon>> {
    let code = bounded_text("code", &code, 1..=MAX_CODE)?;
    Ok(Json(app.store.coupon(caller.account, &code)?))
}

/// The caller's monthly budget, and what was spent of it.
#[utoipa::path(
    get, path = "/api/v1/payment/spending-alerts", tag = "payments",
    responses((status = 200, description = "The budget", body = SpendingAlerts))
)]
async fn spending_alerts(
    caller: Caller,
    State(app): State<AppState>,
) -> Result<Json<SpendingAlerts>> {
    Ok(Json(app.store.spending_alerts(caller.account)?))
}

/// Changes the caller's monthly budget; what is absent stays.
#[utoipa::path(
    put, path = "/api/v1/payment/spending-alerts", tag = "payments", request_body = SetSpendingAlerts,
    responses(
        (status = 200, description = "The budget", body = SpendingAlerts),
        (status = 400, description = "The budget is not above zero, or the threshold not 1 to 100")
    )
)]
async fn set_spending_alerts(
    caller: Caller,
    State(app): State<AppState>,
    Input(request): Input<SetSpendingAlerts>,
) -> Result<Json<SpendingAlerts>> {
    if request
        .monthly_budget
        .is_some_and(|budget| !(1..=BUDGET).contains(&budget.0))
    {
        return Err(Error::invalid(
            "`monthly_budget` has to be above zero, and at most 1000000.00",
        ));
    }
    if request
        .alert_threshold_percent
        .is_some_and(|percent| !(100..=10_000).contains(&percent.0))
    {
        return Err(Error::invalid(
            "`alert_threshold_percent` has to be 1 to 100",
        ));
    }
    Ok(Json(
        app.store.set_spending_alerts(caller.account, &request)?,
    ))
}
