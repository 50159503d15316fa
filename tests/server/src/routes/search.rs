//! `/search`: nodes by name and metadata.

use crate::app::Shared;
use crate::auth::Caller;
use crate::error::{Error, Result};
use crate::http::extract::Params;
use crate::http::page::Window;
use crate::store::{Listing, Order};
use axum::Json;
use axum::extract::State;
use cairn_wire::Page;
use cairn_wire::nodes::Node;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

const MAX_QUERY: usize = 255;

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(search))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct SearchQuery {
    /// Text to be found in names, descriptions, tags and labels; 1 to 255 bytes.
    query: Option<String>,
    page: Option<u64>,
    page_size: Option<u64>,
}

/// Finds active nodes by a part of their name or metadata, by name.
#[utoipa::path(
    get, path = "/api/v1/search", tag = "search", params(SearchQuery),
    responses((status = 200, description = "One page", body = Page<Node>))
)]
async fn search(
    caller: Caller,
    State(app): State<Shared>,
    Params(query): Params<SearchQuery>,
) -> Result<Json<Page<Node>>> {
    let window = Window::new(query.page, query.page_size)?;
    let text = query.query.unwrap_or_default();
    if text.is_empty() || text.len() > MAX_QUERY {
        return Err(Error::invalid(format!(
            "`query` has to have 1 to {MAX_QUERY} bytes"
        )));
    }
    let found = app.store.list(
        caller.space,
        &Listing::Matching { text },
        Order::Name,
        window.skip(),
        window.take(),
    )?;
    Ok(Json(window.envelope(found)))
}
