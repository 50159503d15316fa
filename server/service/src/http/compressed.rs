//! Compressed responses: zstd, for clients that ask for it, of the routes on which sync spends its bytes.
//!
//! No other route compresses: where a response has a secret beside a text that others choose, its length would tell
//! something about the secret. These have ids, names and sealed fields.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use cairn_wire::compression::{MIN_SIZE, ZSTD, compress};
use http_body::Body as _;

/// The routes whose JSON is compressed, beside [the lists of the objects of revisions](is_manifest).
const ROUTES: [&str; 6] = [
    "/api/v1/changes",
    "/api/v1/changes/snapshot",
    "/api/v1/nodes",
    "/api/v1/nodes/batch",
    "/api/v1/revisions/batch",
    "/api/v1/uploads/batch",
];
/// Longer responses are sent as they are.
const MAX_SIZE: u64 = 16 * 1024 * 1024;

/// Returns whether a route gives the list of the objects of a revision: ids, lengths and what is sealed.
fn is_manifest(path: &str) -> bool {
    let revision = path.strip_prefix("/api/v1/nodes/");
    revision.is_some_and(|rest| rest.contains("/revisions/") && rest.ends_with("/manifest"))
}

/// Returns `true` if a request accepts zstd (RFC 9110, section 12.5.3).
pub(crate) fn is_accepted(headers: &HeaderMap) -> bool {
    headers
        .get_all(header::ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|choice| {
            let mut parts = choice.split(';').map(str::trim);
            let is_zstd = parts
                .next()
                .is_some_and(|name| name.eq_ignore_ascii_case(ZSTD));
            let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok());
            is_zstd && weight.unwrap_or(1.0) > 0.0
        })
}

/// Compresses the response of a route whose JSON is compressed.
pub(crate) async fn apply(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_one_of_them = ROUTES.contains(&path) || is_manifest(path);
    let is_accepted = is_accepted(request.headers());
    let mut response = next.run(request).await;
    if !is_one_of_them {
        return response;
    }
    let vary = HeaderValue::from(header::ACCEPT_ENCODING);
    response.headers_mut().append(header::VARY, vary);
    // A body without a known length is not JSON that a handler has made, or is to break off.
    let size = response.body().size_hint().exact();
    let is_json = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().starts_with(b"application/json"));
    let is_coded = response.headers().contains_key(header::CONTENT_ENCODING);
    let in_range = size.is_some_and(|size| (MIN_SIZE as u64..=MAX_SIZE).contains(&size));
    if !is_accepted || !is_json || is_coded || !in_range {
        return response;
    }
    compressed(response).await
}

async fn compressed(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let Ok(text) = to_bytes(body, usize::MAX).await else {
        // The body is in memory: it can't fail.
        return Response::from_parts(parts, Body::empty());
    };
    let Ok(frame) = compress(&text) else {
        return Response::from_parts(parts, text.into());
    };
    let coding = HeaderValue::from_static(ZSTD);
    parts.headers.insert(header::CONTENT_ENCODING, coding);
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, frame.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zstd_is_sent_to_whoever_asks_for_it() {
        for (accept, expected) in [
            ("zstd", true),
            ("gzip, ZSTD;q=0.5", true),
            ("gzip;q=1.0, deflate", false),
            ("zstd;q=0", false),
            ("*", false),
        ] {
            let value = HeaderValue::from_static(accept);
            let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, value)]);
            assert_eq!(is_accepted(&headers), expected, "{accept}");
        }
        assert!(!is_accepted(&HeaderMap::new()));
    }
}
