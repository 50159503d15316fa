//! Notifications of the caller.

use crate::auth::Caller;
use crate::error::{Error, Result};
use crate::http::extract::{PathArgs, QueryParams};
use crate::http::page::Window;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use cairn_wire::Page;
use cairn_wire::notifications::{ListNotifications, Notification};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(list_notifications))
        .routes(routes!(mark_read))
}

/// Lists what the caller was told, latest first.
#[utoipa::path(
    get, path = "/api/v1/social/notifications", tag = "social", params(ListNotifications),
    responses(
        (status = 200, description = "One page", body = Page<Notification>),
        (status = 400, description = "`limit` or `page_size` is not 1 to 100")
    )
)]
async fn list_notifications(
    caller: Caller,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<ListNotifications>,
) -> Result<Json<Page<Notification>>> {
    if let Some(limit) = query.limit
        && !(1..=100).contains(&limit)
    {
        return Err(Error::invalid(format!(
            "`limit` is {limit}; it has to be 1 to 100"
        )));
    }
    let window = Window::new(query.page, query.limit.or(query.page_size))?;
    let found = app.store.notifications(
        caller.account,
        query.unread_only.unwrap_or(false),
        window.skip(),
        window.take(),
    )?;
    Ok(Json(window.envelope(found)))
}

/// Marks a notification as read.
#[utoipa::path(
    put, path = "/api/v1/social/notifications/{id}/read", tag = "social",
    params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The notification", body = Notification),
        (status = 404, description = "The caller has no such notification")
    )
)]
async fn mark_read(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<Uuid>,
) -> Result<Json<Notification>> {
    Ok(Json(app.store.read_notification(caller.account, id)?))
}
