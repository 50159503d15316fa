//! The feed of those whom the caller follows.

use crate::auth::Caller;
use crate::error::Result;
use crate::http::extract::QueryParams;
use crate::http::page::Window;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use cairn_wire::Page;
use cairn_wire::social::FeedEntry;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Entries of a page; nobody chooses another number.
const PAGE_SIZE: u64 = 20;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(feed))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct FeedQuery {
    /// From 1.
    page: Option<u64>,
}

/// Lists what the people whom the caller follows did, latest first; 20 entries a page.
#[utoipa::path(
    get, path = "/api/v1/social/feed", tag = "social", params(FeedQuery),
    responses((status = 200, description = "One page", body = Page<FeedEntry>))
)]
async fn feed(
    caller: Caller,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<FeedQuery>,
) -> Result<Json<Page<FeedEntry>>> {
    let window = Window::new(query.page, Some(PAGE_SIZE))?;
    let found = app
        .store
        .feed(caller.account, window.skip(), window.take())?;
    Ok(Json(window.envelope(found)))
}
