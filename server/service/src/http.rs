//! The steps that every request goes through, whatever its route.
//!
//! From the outside in: recording, request id, log, metrics and error bodies, pages of other origins, panics, compression, fault
//! rules, path forms, then the routes with their rate limits and repeated requests.

pub(crate) mod address;
pub(crate) mod body;
pub(crate) mod check;
pub(crate) mod compressed;
mod conditional;
pub(crate) mod cors;
pub(crate) mod day;
pub(crate) mod extract;
pub(crate) mod form;
pub(crate) mod idempotency;
pub(crate) mod if_match;
mod json_text;
pub(crate) mod limit;
mod measured;
pub(crate) mod metrics;
pub(crate) mod nul;
pub(crate) mod observed;
mod outer_middleware;
pub(crate) mod page;
pub(crate) mod rate;
pub(crate) mod secret;
pub(crate) mod text;
pub(crate) mod visitor;
mod whole_numbers;

use crate::error::Error;
use crate::hooks::Hooks;
use crate::identity::failure::Failure;
use crate::state::AppState;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::Uri;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use std::any::Any;
use std::sync::Arc;
use tower_http::catch_panic::CatchPanicLayer;

/// Wraps the routes. They are the fallback of an outer router, because a path can only be
/// rewritten before it is routed.
pub(crate) fn serve_all(app: &AppState, hooks: Option<&Arc<dyn Hooks>>, routes: Router) -> Router {
    let family = hooks.map(|hooks| hooks.path_family());
    let mut outer = Router::new()
        .fallback_service(routes)
        .layer(from_fn_with_state(family, canonical_path));
    if let Some(hooks) = hooks {
        let hooked = Hooked(app.clone(), hooks.clone());
        outer = outer.layer(from_fn_with_state(hooked, intercept));
    }
    outer = outer.layer(from_fn(compressed::apply));
    outer = outer.layer(CatchPanicLayer::custom(panic_response));
    if let Some(cors) = app.options.cors.layer() {
        outer = outer.layer(from_fn_with_state(cors, cors::apply));
    }
    outer = outer.layer(from_fn_with_state(app.clone(), outer_middleware::wrap));
    if let Some(hooks) = hooks {
        let hooked = Hooked(app.clone(), hooks.clone());
        outer = outer.layer(from_fn_with_state(hooked, observe));
    }
    outer
}

/// The state of the layers that call the hooks.
#[derive(Clone)]
struct Hooked(AppState, Arc<dyn Hooks>);

async fn intercept(
    State(Hooked(app, hooks)): State<Hooked>,
    request: Request,
    next: Next,
) -> Response {
    hooks.intercept(&app, request, next).await
}

async fn observe(
    State(Hooked(app, hooks)): State<Hooked>,
    request: Request,
    next: Next,
) -> Response {
    hooks.observe(&app, request, next).await
}

fn panic_response(panic: Box<dyn Any + Send + 'static>) -> Response {
    let message = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_default();
    Error::internal(format!("a handler panicked: {message}")).into_response()
}

/// Families of paths that are served under another name.
const ALIASES: [(&str, &str); 3] = [
    ("/v2/nodes", "/api/v1/nodes"),
    ("/api/v1/team", "/api/v1/teams"),
    ("/api/v1/webshare/url", "/api/v1/shares"),
];

/// Returns one form for paths that mean the same: no trailing slash, `/api/v1/nodes` for `/v2/nodes`. `family` is
/// the beginning of further paths that have one form, those of the [`Hooks`].
pub fn canonical_form(path: &str, family: Option<&str>) -> Option<String> {
    let mut families = ["/api/", "/v2/"].into_iter().chain(family);
    if !families.any(|family| path.starts_with(family)) {
        return None;
    }
    // Two slashes have nothing between them: mostly an id that a client left empty.
    let trimmed = path
        .strip_suffix('/')
        .filter(|trimmed| !trimmed.ends_with('/'))
        .unwrap_or(path);
    let renamed = ALIASES.iter().find_map(|(alias, name)| {
        let rest = trimmed.strip_prefix(alias)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| format!("{name}{rest}"))
    });
    renamed.or_else(|| (trimmed.len() < path.len()).then(|| trimmed.to_owned()))
}

async fn canonical_path(
    State(family): State<Option<&'static str>>,
    mut request: Request,
    next: Next,
) -> Response {
    if let Some(path) = canonical_form(request.uri().path(), family) {
        let mut parts = request.uri().clone().into_parts();
        let full = match request.uri().query() {
            Some(query) => format!("{path}?{query}"),
            None => path,
        };
        if let Ok(full) = full.parse() {
            parts.path_and_query = Some(full);
            if let Ok(uri) = Uri::from_parts(parts) {
                *request.uri_mut() = uri;
            }
        }
    }
    next.run(request).await
}

/// 404 for paths that no route has.
pub(crate) async fn not_found(uri: Uri) -> Response {
    respond(uri.path(), nothing_at(&uri))
}

/// Returns the error for a path that no route has.
pub(crate) fn nothing_at(uri: &Uri) -> Error {
    Error::not_found(format!(
        "there is nothing at {}; /api/v1/openapi.json lists what there is",
        uri.path()
    ))
}

/// 405 for paths that have a route for other methods.
pub(crate) async fn method_not_allowed(request: Request) -> Response {
    let path = request.uri().path();
    let error = Error::MethodNotAllowed(format!("{} {path}", request.method()));
    respond(path, error)
}

/// Returns the response of an error in the form that errors of a path have.
pub(crate) fn respond(path: &str, error: Error) -> Response {
    if path.starts_with("/oauth/") {
        return Failure::from(error).into_response();
    }
    error.into_response()
}

#[cfg(test)]
mod tests {
    fn canonical_form(path: &str) -> Option<String> {
        super::canonical_form(path, Some("/more/"))
    }

    #[test]
    fn paths_of_both_families_become_one() {
        assert_eq!(
            canonical_form("/v2/nodes").as_deref(),
            Some("/api/v1/nodes")
        );
        assert_eq!(
            canonical_form("/v2/nodes/x/").as_deref(),
            Some("/api/v1/nodes/x")
        );
        assert_eq!(
            canonical_form("/api/v1/nodes/").as_deref(),
            Some("/api/v1/nodes")
        );
        assert_eq!(canonical_form("/api/v1/nodes"), None);
        assert_eq!(canonical_form("/api/v1/nodes//"), None);
        assert_eq!(canonical_form("/v2/nodesque"), None);
        assert_eq!(
            canonical_form("/api/v1/team/x").as_deref(),
            Some("/api/v1/teams/x")
        );
        assert_eq!(canonical_form("/api/v1/teams/x"), None);
        assert_eq!(
            canonical_form("/api/v1/webshare/url/").as_deref(),
            Some("/api/v1/shares")
        );
        assert_eq!(canonical_form("/more/x/").as_deref(), Some("/more/x"));
        assert_eq!(super::canonical_form("/more/x/", None), None);
        assert_eq!(canonical_form("/swagger-ui/"), None);
    }
}
