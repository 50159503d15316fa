//! The offers of creators, and who pays the creators.

use crate::auth::Caller;
use crate::bounds::{PLAN_DESCRIPTION, PLAN_NAME, PLAN_PRICE};
use crate::error::{Error, Result};
use crate::http::extract::{Input, PathArgs, QueryParams};
use crate::http::page::Window;
use crate::http::text::{bounded_lines, bounded_text};
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cairn_model::AccountId;
use cairn_wire::Page;
use cairn_wire::page::PageQuery;
use cairn_wire::payments::{
    CreateCreatorPlan, CreatorEarnings, CreatorPlan, CreatorSubscription, SubscribeToCreator,
};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(creator_plans, create_creator_plan))
        .routes(routes!(creator_plan))
        .routes(routes!(creator_subscriptions, subscribe_to_creator))
        .routes(routes!(cancel_creator_subscription))
        .routes(routes!(creator_earnings))
}

/// Lists the caller's own plans, oldest first.
#[utoipa::path(
    get, path = "/api/v1/payment/creator/plans", tag = "payments", params(PageQuery),
    responses((status = 200, description = "One page", body = Page<CreatorPlan>))
)]
async fn creator_plans(
    caller: Caller,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<PageQuery>,
) -> Result<Json<Page<CreatorPlan>>> {
    let window = Window::new(query.page, query.page_size)?;
    let found = app
        .store
        .creator_plans(caller.account, window.skip(), window.take())?;
    Ok(Json(window.envelope(found)))
}

/// A plan, whoever offers it.
#[utoipa::path(
    get, path = "/api/v1/payment/creator/plans/{id}", tag = "payments",
    params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The plan", body = CreatorPlan),
        (status = 403, description = "The creator blocks the caller"),
        (status = 404, description = "There is no such plan")
    )
)]
async fn creator_plan(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(plan): PathArgs<Uuid>,
) -> Result<Json<CreatorPlan>> {
    Ok(Json(app.store.creator_plan(caller.account, plan)?))
}

/// Makes a plan that others can subscribe to.
#[utoipa::path(
    post, path = "/api/v1/payment/creator/plans", tag = "payments", request_body = CreateCreatorPlan,
    responses(
        (status = 201, description = "The plan", body = CreatorPlan),
        (status = 400, description = "A text is out of bounds, or the price is not 0.01 to 10000.00")
    )
)]
async fn create_creator_plan(
    caller: Caller,
    State(app): State<AppState>,
    Input(request): Input<CreateCreatorPlan>,
) -> Result<(StatusCode, Json<CreatorPlan>)> {
    if !(1..=PLAN_PRICE).contains(&request.price_monthly.0) {
        return Err(Error::invalid("`price_monthly` has to be 0.01 to 10000.00"));
    }
    let new = CreateCreatorPlan {
        name: bounded_text("name", &request.name, 1..=PLAN_NAME)?,
        price_monthly: request.price_monthly,
        description: request
            .description
            .map(|text| bounded_lines("description", &text, 0..=PLAN_DESCRIPTION))
            .transpose()?,
    };
    Ok((
        StatusCode::CREATED,
        Json(app.store.create_creator_plan(caller.account, &new)?),
    ))
}

/// Lists what the caller subscribes to or did, latest first.
#[utoipa::path(
    get, path = "/api/v1/payment/creator/subscriptions", tag = "payments", params(PageQuery),
    responses((status = 200, description = "One page", body = Page<CreatorSubscription>))
)]
async fn creator_subscriptions(
    caller: Caller,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<PageQuery>,
) -> Result<Json<Page<CreatorSubscription>>> {
    let window = Window::new(query.page, query.page_size)?;
    let found = app
        .store
        .creator_subscriptions(caller.account, window.skip(), window.take())?;
    Ok(Json(window.envelope(found)))
}

/// Begins a recurring payment, charged now and every 30 days.
#[utoipa::path(
    post, path = "/api/v1/payment/creator/subscriptions", tag = "payments", request_body = SubscribeToCreator,
    responses(
        (status = 201, description = "The subscription", body = CreatorSubscription),
        (status = 400, description = "The plan is the caller's own"),
        (status = 402, description = "The card is declined"),
        (status = 403, description = "The creator blocks the caller"),
        (status = 404, description = "There is no such plan"),
        (status = 409, description = "The caller subscribes to this creator already")
    )
)]
async fn subscribe_to_creator(
    caller: Caller,
    State(app): State<AppState>,
    Input(request): Input<SubscribeToCreator>,
) -> Result<(StatusCode, Json<CreatorSubscription>)> {
    Ok((
        StatusCode::CREATED,
        Json(
            app.store
                .subscribe_to_creator(caller.account, request.plan_id)?,
        ),
    ))
}

/// Cancels the subscription to a creator; access lasts to the end of the period that is paid for.
#[utoipa::path(
    delete, path = "/api/v1/payment/creator/subscriptions/{creator_id}", tag = "payments",
    params(("creator_id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The subscription, with the end of access", body = CreatorSubscription),
        (status = 404, description = "The caller has no subscription to this creator"),
        (status = 409, description = "It is cancelled already")
    )
)]
async fn cancel_creator_subscription(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(creator): PathArgs<AccountId>,
) -> Result<Json<CreatorSubscription>> {
    Ok(Json(
        app.store
            .cancel_creator_subscription(caller.account, creator)?,
    ))
}

/// Returns what the caller has earned from subscriptions.
#[utoipa::path(
    get, path = "/api/v1/payment/creator/earnings", tag = "payments",
    responses((status = 200, description = "The earnings", body = CreatorEarnings))
)]
async fn creator_earnings(
    caller: Caller,
    State(app): State<AppState>,
) -> Result<Json<CreatorEarnings>> {
    Ok(Json(app.store.creator_earnings(caller.account)?))
}
