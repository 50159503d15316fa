//! The outermost middleware: gives a request its id, writes the access log and the metrics, and gives all errors the
//! one body that they have.

use super::conditional;
use super::measured::count_bytes;
use super::visitor;
use crate::auth::bearer;
use crate::error::{Error, Result};
use crate::identity::page::OwnPage;
use crate::state::AppState;
use crate::telemetry::{AnsweredRequest, Traces};
use axum::Json;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use cairn_model::AccountId;
use cairn_wire::ErrorBody;
use cairn_wire::headers::REQUEST_ID;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use tracing::Instrument as _;

/// A request id that a client may choose is at most this long.
const MAX_REQUEST_ID: usize = 100;
/// The route of a request that reached none.
const NO_ROUTE: &str = "none";
/// The beginning of the paths of share links.
const PUBLIC: &str = "/api/v1/public/";

/// The route that a request has reached, and the account that it is counted for. It is filled in on the
/// way, so that it is known after a panic, too.
#[derive(Clone, Default)]
pub(super) struct Reached(Arc<OnceLock<(String, Option<AccountId>)>>);

impl Reached {
    pub(super) fn set(&self, route: &str, account: Option<AccountId>) {
        // A request is routed once.
        drop(self.0.set((route.to_owned(), account)));
    }

    fn route(&self) -> &str {
        self.0.get().map_or(NO_ROUTE, |(route, _)| route)
    }

    fn account(&self) -> Option<AccountId> {
        self.0.get().and_then(|(_, account)| *account)
    }
}

/// Returns true for an id that can stand in a header and a log: visible ASCII, not too long.
fn is_sane(id: &HeaderValue) -> bool {
    (1..=MAX_REQUEST_ID).contains(&id.len()) && id.as_bytes().iter().all(u8::is_ascii_graphic)
}

/// Returns the id that the request came with, or a new one.
fn request_id(app: &AppState, request: &Request) -> String {
    let given = request.headers().get(REQUEST_ID).filter(|id| is_sane(id));
    given
        .and_then(|id| id.to_str().ok())
        .map_or_else(|| hex::encode(app.source.bytes::<8>()), str::to_owned)
}

/// The facts of a request for its line in the access log.
struct Entry {
    id: String,
    method: Method,
    reached: Reached,
    address: String,
    status: StatusCode,
    started: Instant,
}

impl Entry {
    fn write(&self, bytes: u64) {
        tracing::info!(
            target: "access",
            id = self.id,
            method = %self.method,
            route = self.reached.route(),
            status = self.status.as_u16(),
            bytes,
            ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            account = self.reached.account().map(|account| account.to_string()),
            address = self.address,
            "answered"
        );
    }
}

/// Refuses a request over a connection that names no host, or more than one: a proxy in front of the server may have
/// used another of them than the server would (RFC 9112, section 3.2).
fn check_host(request: &Request) -> Result<()> {
    let over_a_connection = request
        .extensions()
        .get::<ConnectInfo<SocketAddr>>()
        .is_some();
    let hosts = request.headers().get_all(header::HOST).iter().count();
    let allowed = match request.version() {
        Version::HTTP_11 => 1..=1,
        _ => 0..=1,
    };
    if !over_a_connection || allowed.contains(&hosts) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the request has {hosts} Host headers; it has to have one"
    )))
}

/// Tells a client whose token was refused so (RFC 6750, section 3.1): getting a new one may help.
fn mark_bad_token(response: &mut Response) {
    let headers = response.headers_mut();
    if headers
        .get(header::WWW_AUTHENTICATE)
        .is_some_and(|value| value == "Bearer")
    {
        let value = HeaderValue::from_static("Bearer error=\"invalid_token\"");
        headers.insert(header::WWW_AUTHENTICATE, value);
    }
}

/// Returns the response with what errors have in common.
fn completed(response: Response, sent_token: bool) -> Response {
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return response;
    }
    let mut response = with_error_body(response);
    if status == StatusCode::UNAUTHORIZED && sent_token {
        mark_bad_token(&mut response);
    }
    response
}

/// Gives every response its request id, every error the one body that errors have, and counts both.
pub(super) async fn wrap(
    State(app): State<AppState>,
    mut request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    let id = request_id(&app, &request);
    let reached = Reached::default();
    request.extensions_mut().insert(reached.clone());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let address = visitor::masked_address(&app, request.headers(), request.extensions());
    let conditional = conditional::Request::of(&request);
    // Links are opened with other secrets than tokens.
    let sent_token = bearer(request.headers()).is_some() && !path.starts_with(PUBLIC);
    let traces = app.traces.as_ref();
    let traces = traces.map(|traces| (traces, Traces::parent_of(request.headers())));
    let request = request.map(|body| count_bytes(body, &app.metrics.received, |_| {}));
    // At the level of errors, so that lines of any level have it.
    let span = tracing::error_span!("request", id);
    let response = match check_host(&request) {
        Ok(()) => next.run(request).instrument(span).await,
        Err(error) => error.into_response(),
    };
    let mut response = completed(conditional.apply(response), sent_token);
    let status = response.status();
    let elapsed = started.elapsed();
    app.metrics.count(&method, reached.route(), status, elapsed);
    if let Some((traces, parent)) = traces {
        traces.record(&AnsweredRequest {
            method: &method,
            route: reached.route(),
            status,
            id: &id,
            elapsed,
            parent,
        });
    }
    tracing::debug!(%method, path, status = status.as_u16(), id, "answered");
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    let entry = app.options.access_log.then_some(Entry {
        id,
        method,
        reached,
        address,
        status,
        started,
    });
    response.map(|body| {
        count_bytes(body, &app.metrics.sent, move |bytes| {
            if let Some(entry) = entry {
                entry.write(bytes);
            }
        })
    })
}

/// Replaces an error that a library answered; ours are JSON already.
fn with_error_body(response: Response) -> Response {
    let is_json = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().starts_with(b"application/json"));
    if is_json || response.extensions().get::<OwnPage>().is_some() {
        return response;
    }
    let status = match response.status() {
        StatusCode::UNPROCESSABLE_ENTITY => StatusCode::BAD_REQUEST,
        status => status,
    };
    let (mut parts, _) = response.into_parts();
    let body = ErrorBody {
        code: status.as_u16(),
        message: status
            .canonical_reason()
            .unwrap_or("the request failed")
            .to_lowercase(),
    };
    let (own, body) = (status, Json(body)).into_response().into_parts();
    for name in [
        header::CONTENT_LENGTH,
        header::CONTENT_TYPE,
        header::TRANSFER_ENCODING,
    ] {
        parts.headers.remove(name);
    }
    parts.status = own.status;
    parts.headers.extend(own.headers);
    Response::from_parts(parts, Body::new(body))
}

#[cfg(test)]
mod tests {
    use super::is_sane;
    use axum::http::HeaderValue;

    #[test]
    fn an_id_of_a_client_is_short_and_visible() {
        let sane = |text: &str| is_sane(&HeaderValue::from_bytes(text.as_bytes()).unwrap());
        assert!(sane("mine-1") && sane("7b/a+c=:.~") && sane(&"x".repeat(100)));
        for bad in ["", "a b", "a\tb", "é", &"x".repeat(101)] {
            assert!(!sane(bad), "{bad:?}");
        }
    }
}
