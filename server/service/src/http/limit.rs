//! Holds requests to their rate, and tells in headers how much of it is left.

use super::outer_middleware::Reached;
use super::rate::Requester;
use super::respond;
use super::visitor::network;
use crate::auth::{bearer, holder};
use crate::error::{Error, add_header};
use crate::identity::page::{accepts_html, notice};
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

/// Returns the response to a request beyond its rate, in the form that errors of its endpoint have; a browser that is to
/// show it gets a page.
fn too_many(app: &AppState, method: &Method, route: &str, wait: (u64, bool)) -> Response {
    let (retry_after, is_shown) = wait;
    let error = Error::RateLimited {
        endpoint: format!("{method} {route}"),
        retry_after,
    };
    if !is_shown {
        return respond(route, error);
    }
    let text = format!("Too many requests came from where you are. Try again in {retry_after} s.");
    let mut page = notice(&app.source, error.status(), "Please wait", &text);
    add_header(&mut page, error.header());
    page
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
    let is_shown = !route.starts_with("/api/") && accepts_html(request.headers());
    let requester = requester(&app, &mut request);
    if let Some(reached) = request.extensions().get::<Reached>() {
        reached.set(&route, requester.account());
    }
    let admission = app.rate.check(&app.store, &method, &route, requester);
    let mut response = match admission.wait {
        None => next.run(request).await,
        Some(retry_after) => too_many(&app, &method, &route, (retry_after, is_shown)),
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
