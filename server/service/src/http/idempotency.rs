//! `Idempotency-Key`: a creating POST that is sent again gets the response of the first time.
//!
//! Uploads are left out: the ids that clients choose make them repeatable without keeping responses. So are
//! requests that only read. Of a response that is too long to be kept, only the fact is kept: the repetition is
//! refused, and nothing is done twice.

pub(crate) mod kept;
mod turn;

use self::kept::Name;
use self::turn::Turn;
use crate::auth::authorize;
use crate::error::{Error, Result};
use crate::http::body;
use crate::http::extract::MAX_LIST;
use crate::state::AppState;
use axum::body::{Body, HttpBody as _};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use cairn_store::Remembered;
use cairn_wire::headers::{IDEMPOTENCY_KEY, SPACE_ID};
use sha2::{Digest as _, Sha256};

/// Characters.
pub(crate) const MAX_KEY: usize = 255;
/// Requests that can be repeated by what they say themselves (ids that the client chose, numbers of commits), and
/// those that change no file.
const UNKEPT: [&str; 5] = [
    "/api/v1/uploads",
    "/api/v1/spaces/",
    "/api/v1/downloads/",
    "/api/v1/revisions/",
    "/api/v1/ai/chat",
];
/// The longest response that is kept: a batch of 1,000 nodes as clients make them.
const MAX_RESPONSE: u64 = 2 * 1024 * 1024;

/// Returns true if the responses to a POST to this path are kept for a request with a key.
pub(crate) fn is_kept(path: &str) -> bool {
    path.starts_with("/api/") && !UNKEPT.iter().any(|prefix| path.starts_with(prefix))
}

/// Replays the response of a repeated request, and remembers that of a new one.
pub(crate) async fn repeat(State(app): State<AppState>, request: Request, next: Next) -> Response {
    let applies = request.method() == Method::POST
        && request.headers().contains_key(IDEMPOTENCY_KEY)
        && is_kept(request.uri().path());
    if !applies {
        return next.run(request).await;
    }
    handle(&app, request, next)
        .await
        .unwrap_or_else(Error::into_response)
}

async fn handle(app: &AppState, request: Request, next: Next) -> Result<Response> {
    let (parts, body) = request.into_parts();
    let key = parts
        .headers
        .get(IDEMPOTENCY_KEY)
        .and_then(|value| value.to_str().ok())
        .filter(|key| !key.is_empty() && key.len() <= MAX_KEY)
        .ok_or_else(|| {
            Error::invalid(format!(
                "`Idempotency-Key` has to be 1 to {MAX_KEY} characters of printable ASCII"
            ))
        })?
        .to_owned();
    let caller = authorize(app, &parts)?;
    let name = (caller.account, key);
    let _running = app.kept.begin(&name).await;
    let _turn = Turn::wait(app, &name).await?;
    carry_out(app, name.clone(), parts, body, next).await
}

/// Carries out a request whose turn it is, or replays the response to it.
async fn carry_out(
    app: &AppState,
    name: Name,
    parts: Parts,
    body: Body,
    next: Next,
) -> Result<Response> {
    let mut copy = Request::new(body);
    copy.headers_mut().clone_from(&parts.headers);
    let bytes = body::read_all(copy, MAX_LIST).await?;
    let hash: [u8; 32] = Sha256::new()
        .chain_update(parts.method.as_str())
        .chain_update([0])
        .chain_update(parts.uri.path())
        .chain_update([0])
        // The same request for the files of another team (`X-Space-Id`) is another request.
        .chain_update(
            parts
                .headers
                .get(SPACE_ID)
                .map_or(&[][..], HeaderValue::as_bytes),
        )
        .chain_update([0])
        .chain_update(&bytes)
        .finalize()
        .into();
    let known = match app.kept.unwritten_response(&name, app.source.now_ms()) {
        Some(known) => Some(known),
        None => app.store.remembered_response(name.0, &name.1)?,
    };
    if let Some(known) = known {
        if known.request != hash {
            return Err(Error::invalid(
                "this `Idempotency-Key` was used for another request; take a new one",
            ));
        }
        return Ok(replay(known));
    }
    let response = next
        .run(Request::from_parts(parts, Body::from(bytes)))
        .await;
    remember(app, name, hash, response).await
}

fn replay(kept: Remembered) -> Response {
    let mut response = Response::new(Body::from(kept.body));
    *response.status_mut() = StatusCode::from_u16(kept.status).unwrap_or(StatusCode::OK);
    for (name, value) in kept.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response
        .headers_mut()
        .insert("idempotent-replayed", HeaderValue::from_static("true"));
    response
}

async fn remember(
    app: &AppState,
    name: Name,
    request: [u8; 32],
    response: Response,
) -> Result<Response> {
    let status = response.status();
    // A failure of the server, or one that passes by itself, is worth a real second try.
    let passing = status.is_server_error()
        || matches!(
            status,
            StatusCode::UNAUTHORIZED
                | StatusCode::TOO_MANY_REQUESTS
                | StatusCode::INSUFFICIENT_STORAGE
        );
    if passing {
        return Ok(response);
    }
    let secret = response
        .headers()
        .get(header::CACHE_CONTROL)
        .is_some_and(|value| value.as_bytes() == b"no-store");
    let length = response.body().size_hint().exact();
    if length.is_none_or(|length| length > MAX_RESPONSE) {
        keep(app, &name, &unkept_response(request)?);
        return Ok(response);
    }
    let (parts, body) = response.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX)
        .await
        .map_err(|e| Error::internal(format!("a response can't be kept: {e}")))?;
    let response = Remembered {
        request,
        status: status.as_u16(),
        headers: kept_headers(&parts.headers),
        body: body.to_vec(),
    };
    if secret {
        // Other servers don't have it, and must not do the same again.
        if app.store.is_shared() {
            keep(app, &name, &unkept_response(request)?);
        }
        app.kept.keep(name, response, app.source.now_ms());
    } else {
        keep(app, &name, &response);
    }
    Ok(Response::from_parts(parts, Body::from(body)))
}

/// Stores what a repetition gets. The request is carried out by now: a failure here must not be the response to it,
/// since clients take an error for a request that changed nothing.
fn keep(app: &AppState, name: &Name, response: &Remembered) {
    if let Err(error) = app.store.remember(name.0, &name.1, response) {
        tracing::error!(%error, "a response can't be kept: the request, sent again, would be carried out again");
    }
}

/// Returns the headers that a repeated response has as well.
fn kept_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let kept = [
        header::CONTENT_TYPE,
        header::ETAG,
        header::LOCATION,
        header::CACHE_CONTROL,
    ];
    kept.iter()
        .filter_map(|name| {
            let value = headers.get(name)?.to_str().ok()?;
            Some((name.to_string(), value.to_owned()))
        })
        .collect()
}

/// Returns what a repetition gets in place of a response that is too long, or too secret, to be kept.
fn unkept_response(request: [u8; 32]) -> Result<Remembered> {
    let error = Error::conflict(
        "the request with this `Idempotency-Key` was carried out, and its response is too long or too secret to be \
         kept; read what it has changed, and take a new key for another request",
    );
    let body = serde_json::to_vec(&error.body())
        .map_err(|e| Error::internal(format!("can't write an error: {e}")))?;
    Ok(Remembered {
        request,
        status: error.status().as_u16(),
        headers: vec![(
            header::CONTENT_TYPE.to_string(),
            "application/json".to_owned(),
        )],
        body,
    })
}
