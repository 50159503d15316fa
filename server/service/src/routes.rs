//! The endpoints, one module per resource; each handler stays within a screen.
//!
//! A module registers its handlers with their OpenAPI description, so nothing can be served and
//! not described.

pub(crate) mod account;
pub(crate) mod ai;
pub(crate) mod api_keys;
pub(crate) mod batch;
pub(crate) mod changes;
pub(crate) mod comments;
pub(crate) mod devices;
pub(crate) mod diagnostics;
pub(crate) mod downloads;
pub(crate) mod folders;
pub(crate) mod health;
pub(crate) mod keys;
pub(crate) mod nodes;
pub(crate) mod oauth;
pub(crate) mod payments;
pub(crate) mod public_shares;
pub(crate) mod retention;
pub(crate) mod revisions;
pub(crate) mod search;
pub(crate) mod service_accounts;
pub(crate) mod shares;
pub(crate) mod social;
pub(crate) mod stream;
pub(crate) mod teams;
pub(crate) mod trash;
pub(crate) mod upload_batch;
pub(crate) mod uploads;
pub(crate) mod webhooks;
pub(crate) mod welcome;

use crate::http::{idempotency, method_not_allowed, not_found, rate};
use crate::state::AppState;
use crate::{openapi, share_page};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::{Json, Router};
use cairn_wire::nodes::Node;
use utoipa_axum::router::OpenApiRouter;

/// Every endpoint of the API, with its description.
pub(crate) fn api() -> OpenApiRouter<AppState> {
    OpenApiRouter::with_openapi(openapi::head())
        .merge(nodes::routes())
        .merge(batch::routes())
        .merge(folders::routes())
        .merge(comments::routes())
        .merge(trash::routes())
        .merge(revisions::routes())
        .merge(uploads::routes())
        .merge(upload_batch::routes())
        .merge(downloads::routes())
        .merge(changes::routes())
        .merge(stream::routes())
        .merge(keys::routes())
        .merge(account::routes())
        .merge(api_keys::routes())
        .merge(devices::routes())
        .merge(search::routes())
        .merge(teams::routes())
        .merge(social::routes())
        .merge(payments::routes())
        .merge(shares::routes())
        .merge(public_shares::routes())
        .merge(retention::routes())
        .merge(diagnostics::routes())
        .merge(ai::routes())
        .merge(health::routes())
        .merge(webhooks::routes())
        .merge(service_accounts::routes())
        .merge(oauth::routes())
}

/// Everything that is served, behind rate limits and repeated requests.
pub(crate) fn router(app: &AppState, added: Option<Router<AppState>>) -> Router {
    let (mut router, _) = api().split_for_parts();
    router = router
        .merge(openapi::routes())
        .merge(payments::billing::page_routes())
        .merge(share_page::routes())
        .merge(welcome::routes());
    if let Some(added) = added {
        router = router.merge(added);
    }
    router
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(from_fn_with_state(app.clone(), idempotency::repeat))
        .layer(from_fn_with_state(app.clone(), rate::limit))
        .with_state(app.clone())
}

/// A node as an answer, with its version as `ETag`.
pub(crate) fn node_answer(status: StatusCode, node: Node) -> Response {
    let tag = HeaderValue::from_str(&format!("\"{}\"", node.version));
    let mut response = (status, Json(node)).into_response();
    if let Ok(tag) = tag {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}
