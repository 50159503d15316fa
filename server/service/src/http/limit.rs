//! Holds requests to their rate, and tells in headers how much of it is left.

use super::outer_middleware::Reached;
use super::rate::Requester;
use super::respond;
use super::visitor::network;
use crate::auth::{bearer, holder};
use crate::error::Error;
use crate::state::AppState;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::Response;

fn set(headers: &mut HeaderMap, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(HeaderName::from_static(name), value);
    }
}

/// Returns the account behind the request's token, or the network of a request without a valid one. The
/// facts about the token stay with the request.
fn requester(app: &AppState, request: &mut Request) -> Requester {
    let holder = bearer(request.headers()).and_then(|token| holder(app, token).ok());
    match holder {
        Some(holder) => {
            request.extensions_mut().insert(holder);
            Requester::Account(holder.account)
        }
        None => Requester::Network(network(app, request)),
    }
}

/// Returns the response to a request beyond its rate, in the form that errors of its endpoint have.
fn too_many(method: &Method, route: &str, retry_after: u64) -> Response {
    let error = Error::RateLimited {
        endpoint: format!("{method} {route}"),
        retry_after,
    };
    respond(route, error)
}

/// Lets a request through or answers 429; either way with the state of its bucket
/// (draft-ietf-httpapi-ratelimit-headers).
pub(crate) async fn limit(
    State(app): State<AppState>,
    mut request: Request,
    next: Next,
) -> Response {
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or("unknown path", MatchedPath::as_str)
        .to_owned();
    let method = request.method().clone();
    let requester = requester(&app, &mut request);
    if let Some(reached) = request.extensions().get::<Reached>() {
        reached.set(&route, requester.account());
    }
    let admission = app.rate.check(&app.store, &method, &route, requester);
    let mut response = match admission.wait {
        None => next.run(request).await,
        Some(retry_after) => too_many(&method, &route, retry_after),
    };
    let (name, quota) = (admission.class.name(), admission.per_minute);
    let used = u64::from(quota - admission.remaining.min(quota));
    // Seconds until the bucket is full again.
    let full_in = (used * 60).div_ceil(u64::from(quota.max(1)));
    set(
        response.headers_mut(),
        "ratelimit-policy",
        &format!("\"{name}\";q={quota};w=60"),
    );
    set(
        response.headers_mut(),
        "ratelimit",
        &format!("\"{name}\";r={};t={full_in}", admission.remaining),
    );
    response
}
