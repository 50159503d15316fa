//! `Idempotency-Key`: a creating POST that is sent again gets the response of the first time.
//!
//! Uploads are left out: the ids that clients choose make them repeatable without keeping responses.

pub(crate) mod kept;

use self::kept::Name;
use crate::auth::authorize;
use crate::error::{Error, Result};
use crate::http::body;
use crate::http::extract::MAX_LIST;
use crate::state::AppState;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use cairn_store::Remembered;
use cairn_wire::headers::{IDEMPOTENCY_KEY, SPACE_ID};
use sha2::{Digest as _, Sha256};

const MAX_KEY: usize = 255;
/// Requests that can be repeated by what they say themselves: ids that the client chose, numbers of commits.
const UNKEPT: [&str; 2] = ["/api/v1/uploads", "/api/v1/spaces/"];
/// The longest response that is kept: a batch of 1,000 nodes.
const MAX_RESPONSE: usize = 8 * 1024 * 1024;

/// Replays the response of a repeated request, and remembers that of a new one.
pub(crate) async fn repeat(State(app): State<AppState>, request: Request, next: Next) -> Response {
    let applies = request.method() == Method::POST
        && request.headers().contains_key(IDEMPOTENCY_KEY)
        && request.uri().path().starts_with("/api/")
        && !UNKEPT
            .iter()
            .any(|prefix| request.uri().path().starts_with(prefix));
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
                "`Idempotency-Key` has to be 1 to {MAX_KEY} visible characters"
            ))
        })?
        .to_owned();
    let caller = authorize(app, &parts)?;
    let name = (caller.account, key);
    let _running = app.kept.begin(&name).await;

    let mut copy = Request::new(body);
    copy.headers_mut().clone_from(&parts.headers);
    let bytes = body::read_all(copy, MAX_LIST).await?;
    let hash: [u8; 32] = Sha256::new()
        .chain_update(parts.method.as_str())
        .chain_update([0])
        .chain_update(parts.uri.path())
        .chain_update([0])
        // The same request in another space is another request.
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
    let (parts, body) = response.into_parts();
    let body = axum::body::to_bytes(body, MAX_RESPONSE)
        .await
        .map_err(|e| Error::internal(format!("a response is too long to be kept: {e}")))?;
    let kept = [
        header::CONTENT_TYPE,
        header::ETAG,
        header::LOCATION,
        header::CACHE_CONTROL,
    ];
    let response = Remembered {
        request,
        status: status.as_u16(),
        headers: kept
            .iter()
            .filter_map(|name| {
                Some((
                    name.to_string(),
                    parts.headers.get(name)?.to_str().ok()?.to_owned(),
                ))
            })
            .collect(),
        body: body.to_vec(),
    };
    let secret = parts
        .headers
        .get(header::CACHE_CONTROL)
        .is_some_and(|value| value.as_bytes() == b"no-store");
    if secret {
        app.kept.keep(name, response, app.source.now_ms());
    } else {
        app.store.remember(name.0, &name.1, &response)?;
    }
    Ok(Response::from_parts(parts, Body::from(body)))
}
