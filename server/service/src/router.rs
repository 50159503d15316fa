//! Everything that is served, put together: the endpoints, their documents and the pages, behind what
//! every request goes through.

use crate::hooks::Hooks;
use crate::http::{self, idempotency, limit, method_not_allowed, not_found};
use crate::routes::{payments, welcome};
use crate::state::AppState;
use crate::{openapi, routes, share_page};
use axum::Router;
use axum::middleware::from_fn_with_state;
use std::sync::Arc;

/// Returns the whole HTTP interface.
pub(crate) fn build(app: &AppState, hooks: Option<&Arc<dyn Hooks>>) -> Router {
    let routes = router(app, hooks.map(|hooks| hooks.routes()));
    http::serve_all(app, hooks, routes)
}

/// Returns what is served, behind rate limits and repeated requests.
fn router(app: &AppState, added: Option<Router<AppState>>) -> Router {
    let (mut router, _) = routes::api().split_for_parts();
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
        .layer(from_fn_with_state(app.clone(), limit::limit))
        .with_state(app.clone())
}
