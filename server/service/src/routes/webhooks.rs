//! `/webhooks`: addresses that events are posted to, and what became of the deliveries.

use crate::auth::Caller;
use crate::error::{Error, Result};
use crate::http::extract::{Input, PathArgs, QueryParams};
use crate::http::page::Window;
use crate::http::secret::show_once;
use crate::state::AppState;
use crate::webhooks::target::{self, AddressPolicy};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use cairn_model::EventKind;
use cairn_wire::Page;
use cairn_wire::webhooks::{
    CreateWebhook, Delivery, ListDeliveries, ListWebhooks, UpdateWebhook, Webhook,
    WebhookWithSecret,
};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

/// The prefix of every secret, so that one can be recognised where it should not be.
const SECRET_PREFIX: &str = "whsec_";

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(list, create))
        .routes(routes!(update, delete))
        .routes(routes!(test))
        .routes(routes!(rotate))
        .routes(routes!(enable))
        .routes(routes!(disable))
        .routes(routes!(deliveries))
        .routes(routes!(retry))
}

fn kinds(events: &[EventKind]) -> Result<Vec<EventKind>> {
    if events.is_empty() {
        return Err(Error::invalid("`events` is empty; name at least one event"));
    }
    Ok(events.to_vec())
}

fn check_url(app: &AppState, url: &str) -> Result<String> {
    let policy = AddressPolicy::of(app.options.allow_private_webhooks);
    Ok(target::check(url, policy)?.into())
}

fn fresh_secret(app: &AppState) -> String {
    format!("{SECRET_PREFIX}{}", hex::encode(app.source.bytes::<32>()))
}

fn with_secret(status: StatusCode, secret: String, webhook: Webhook) -> Response {
    show_once((status, Json(WebhookWithSecret { secret, webhook })))
}

/// Lists the caller's active webhooks, oldest first; `status` asks for others.
#[utoipa::path(
    get, path = "/api/v1/webhooks", tag = "webhooks", params(ListWebhooks),
    responses((status = 200, description = "One page", body = Page<Webhook>))
)]
async fn list(
    caller: Caller,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<ListWebhooks>,
) -> Result<Json<Page<Webhook>>> {
    let window = Window::new(query.page, query.page_size)?;
    let which = query.status.unwrap_or_default();
    let found = app
        .store
        .webhooks(caller.account, which, window.skip(), window.take())?;
    Ok(Json(window.envelope(found)))
}

/// Registers a webhook and sends it a test event; the response shows its secret, this once.
#[utoipa::path(
    post, path = "/api/v1/webhooks", tag = "webhooks", request_body = CreateWebhook,
    responses(
        (status = 201, description = "The webhook with its secret", body = WebhookWithSecret),
        (status = 400, description = "The address is not a public https address, or an event is unknown"),
        (status = 409, description = "The account has 50 webhooks")
    )
)]
async fn create(
    caller: Caller,
    State(app): State<AppState>,
    Input(new): Input<CreateWebhook>,
) -> Result<Response> {
    let url = check_url(&app, &new.url)?;
    let events = kinds(&new.events)?;
    let secret = fresh_secret(&app);
    let webhook = app
        .store
        .add_webhook(caller.account, &url, &events, &secret)?;
    Ok(with_secret(StatusCode::CREATED, secret, webhook))
}

/// Replaces the subscribed event types, the address, or both.
#[utoipa::path(
    put, path = "/api/v1/webhooks/{id}", tag = "webhooks", request_body = UpdateWebhook,
    params(("id" = String, Path, format = Uuid)),
    responses((status = 200, description = "The changed webhook", body = Webhook))
)]
async fn update(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<Uuid>,
    Input(change): Input<UpdateWebhook>,
) -> Result<Json<Webhook>> {
    if change == UpdateWebhook::default() {
        return Err(Error::invalid(
            "the body names nothing to change; give `events`, `url`, or both",
        ));
    }
    let url = change
        .url
        .as_deref()
        .map(|url| check_url(&app, url))
        .transpose()?;
    let events = change.events.as_deref().map(kinds).transpose()?;
    Ok(Json(app.store.update_webhook(
        caller.account,
        id,
        url.as_deref(),
        events.as_deref(),
    )?))
}

/// Deletes a webhook with everything that waits for it; nothing is sent any more.
#[utoipa::path(
    delete, path = "/api/v1/webhooks/{id}", tag = "webhooks", params(("id" = String, Path, format = Uuid)),
    responses((status = 204, description = "It was deleted"))
)]
async fn delete(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<Uuid>,
) -> Result<StatusCode> {
    app.store.delete_webhook(caller.account, id)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Sends a test event, whatever the webhook subscribed to.
#[utoipa::path(
    post, path = "/api/v1/webhooks/{id}/test", tag = "webhooks", params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 202, description = "The delivery on its way", body = Delivery),
        (status = 409, description = "The webhook is disabled")
    )
)]
async fn test(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<Uuid>,
) -> Result<(StatusCode, Json<Delivery>)> {
    let delivery = app.store.test_webhook(caller.account, id)?;
    Ok((StatusCode::ACCEPTED, Json(delivery)))
}

/// Makes a new secret and shows it, this once; for 24 hours the old one signs, too.
#[utoipa::path(
    post, path = "/api/v1/webhooks/{id}/rotate", tag = "webhooks", params(("id" = String, Path, format = Uuid)),
    responses((status = 200, description = "The webhook with its new secret", body = WebhookWithSecret))
)]
async fn rotate(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<Uuid>,
) -> Result<Response> {
    let secret = fresh_secret(&app);
    let webhook = app.store.rotate_webhook(caller.account, id, &secret)?;
    Ok(with_secret(StatusCode::OK, secret, webhook))
}

/// Lets deliveries be attempted again, beginning with those that waited.
#[utoipa::path(
    post, path = "/api/v1/webhooks/{id}/enable", tag = "webhooks", params(("id" = String, Path, format = Uuid)),
    responses((status = 200, description = "The webhook", body = Webhook))
)]
async fn enable(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<Uuid>,
) -> Result<Json<Webhook>> {
    Ok(Json(app.store.enable_webhook(caller.account, id, true)?))
}

/// Stops deliveries from being attempted; new events are not recorded meanwhile.
#[utoipa::path(
    post, path = "/api/v1/webhooks/{id}/disable", tag = "webhooks", params(("id" = String, Path, format = Uuid)),
    responses((status = 200, description = "The webhook", body = Webhook))
)]
async fn disable(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<Uuid>,
) -> Result<Json<Webhook>> {
    Ok(Json(app.store.enable_webhook(caller.account, id, false)?))
}

/// Lists a webhook's deliveries of the last 30 days with their attempts, newest first.
#[utoipa::path(
    get, path = "/api/v1/webhooks/{id}/deliveries", tag = "webhooks",
    params(("id" = String, Path, format = Uuid), ListDeliveries),
    responses((status = 200, description = "One page", body = Page<Delivery>))
)]
async fn deliveries(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<Uuid>,
    QueryParams(query): QueryParams<ListDeliveries>,
) -> Result<Json<Page<Delivery>>> {
    let window = Window::new(query.page, query.page_size)?;
    let found = app.store.deliveries(
        caller.account,
        id,
        query.state,
        window.skip(),
        window.take(),
    )?;
    Ok(Json(window.envelope(found)))
}

/// Attempts a failed delivery once more, at once and under the same id.
#[utoipa::path(
    post, path = "/api/v1/webhooks/{id}/deliveries/{delivery}/retry", tag = "webhooks",
    params(("id" = String, Path, format = Uuid), ("delivery" = String, Path, format = Uuid)),
    responses(
        (status = 202, description = "The delivery on its way", body = Delivery),
        (status = 409, description = "The delivery has not failed")
    )
)]
async fn retry(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs((id, delivery)): PathArgs<(Uuid, Uuid)>,
) -> Result<(StatusCode, Json<Delivery>)> {
    let delivery = app.store.retry_delivery(caller.account, id, delivery)?;
    Ok((StatusCode::ACCEPTED, Json(delivery)))
}
