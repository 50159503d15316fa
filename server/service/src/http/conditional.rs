//! `If-None-Match`: what the client has already is not sent again.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;

/// The condition of a request that reads.
pub(super) struct Request {
    none_match: Option<HeaderValue>,
}

impl Request {
    pub(super) fn of(request: &axum::extract::Request) -> Self {
        let reads = matches!(*request.method(), Method::GET | Method::HEAD);
        let none_match = request.headers().get(header::IF_NONE_MATCH).cloned();
        Self {
            none_match: none_match.filter(|_| reads),
        }
    }

    /// Replaces a content that the client has by 304.
    pub(super) fn apply(&self, response: Response) -> Response {
        let known = self.none_match.as_ref().is_some_and(|wanted| {
            response.status() == StatusCode::OK && has(wanted, response.headers())
        });
        if !known {
            return response;
        }
        let (mut parts, _) = response.into_parts();
        parts.status = StatusCode::NOT_MODIFIED;
        for name in [header::CONTENT_LENGTH, header::CONTENT_TYPE] {
            parts.headers.remove(name);
        }
        Response::from_parts(parts, Body::empty())
    }
}

/// Compares as RFC 9110 asks of `If-None-Match`: a weak tag is as good as a strong one.
fn has(wanted: &HeaderValue, headers: &HeaderMap) -> bool {
    let Some(tag) = headers.get(header::ETAG).and_then(|tag| tag.to_str().ok()) else {
        return false;
    };
    matches(wanted.to_str().unwrap_or_default(), tag)
}

/// Returns true if a list of tags has this one.
pub(crate) fn matches(wanted: &str, tag: &str) -> bool {
    let plain = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    wanted.trim() == "*" || wanted.split(',').any(|one| plain(one) == plain(tag))
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_list_has_a_tag_whether_weak_or_strong() {
        assert!(matches("\"1\"", "\"1\""));
        assert!(matches("\"0\", W/\"1\"", "\"1\""));
        assert!(matches("*", "\"1\""));
        assert!(!matches("\"2\"", "\"1\""));
        assert!(!matches("1", "\"1\""));
    }
}
