//! Requests that pages of other origins make (CORS): the API is open to the origins that the configuration names.
//!
//! Browsers ask with a preflight, which has no token, before they send anything that a form could not. Cookies
//! never come into it: who asks is proved by a token, which a page has to have been given. The pages where people
//! log in, the console and `/_dev` are for this origin alone.

use crate::error::{Error, Result};
use crate::options::CorsOptions;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::Response;
use cairn_wire::headers::{
    CONTENT_DIGEST, DEVICE_ID, IDEMPOTENCY_KEY, NODE_SEAL, REQUEST_ID, SHARE_ACCESS, SPACE_ID,
};
use reqwest::Url;
use std::net::IpAddr;
use std::time::Duration;
use tower::{Layer as _, ServiceExt as _};
use tower_http::cors::{AllowOrigin, CorsLayer};

/// Stands for every origin in the configuration.
const ANY: &str = "*";
/// The time for which browsers keep the response to a preflight; none keeps it longer.
const MAX_AGE: Duration = Duration::from_secs(2 * 3600);
const METHODS: [Method; 5] = [
    Method::GET,
    Method::HEAD,
    Method::POST,
    Method::PUT,
    Method::DELETE,
];
/// The headers that requests may have, besides those that every page may send.
const REQUEST_HEADERS: [HeaderName; 14] = [
    header::AUTHORIZATION,
    header::CONTENT_TYPE,
    header::IF_MATCH,
    header::IF_NONE_MATCH,
    header::IF_RANGE,
    header::RANGE,
    HeaderName::from_static("last-event-id"),
    HeaderName::from_static(IDEMPOTENCY_KEY),
    HeaderName::from_static(DEVICE_ID),
    HeaderName::from_static(SPACE_ID),
    HeaderName::from_static(CONTENT_DIGEST),
    HeaderName::from_static(NODE_SEAL),
    HeaderName::from_static(SHARE_ACCESS),
    HeaderName::from_static(REQUEST_ID),
];
/// The headers of responses that pages may read, besides those that they always may.
const RESPONSE_HEADERS: [HeaderName; 11] = [
    header::ACCEPT_RANGES,
    header::ALLOW,
    header::CONTENT_RANGE,
    header::ETAG,
    header::LOCATION,
    header::RETRY_AFTER,
    header::WWW_AUTHENTICATE,
    HeaderName::from_static("idempotent-replayed"),
    HeaderName::from_static("ratelimit"),
    HeaderName::from_static("ratelimit-policy"),
    HeaderName::from_static(REQUEST_ID),
];
/// Endpoints of the identity provider that programs use; beside them lie pages for people.
const IDENTITY: [&str; 5] = [
    "/oauth/token",
    "/oauth/revoke",
    "/oauth/userinfo",
    "/oauth/jwks",
    "/oauth/device_authorization",
];

/// Returns true for a path that pages of other origins may be let to.
fn is_for_programs(path: &str) -> bool {
    ["/api/", "/v2/", "/.well-known/"]
        .iter()
        .any(|family| path.starts_with(family))
        || IDENTITY.contains(&path)
}

/// Returns an origin as browsers write it; `None` for what is none.
fn origin_of(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let is_bare = matches!(url.path(), "" | "/")
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none();
    // No browser names a pattern, so that one would let nobody in.
    let is_pattern = url.host_str().is_some_and(|host| host.contains('*'));
    let is_web = matches!(url.scheme(), "http" | "https") && !is_pattern;
    (is_bare && is_web).then(|| url.origin().ascii_serialization())
}

/// Returns true for the origin of a page that this machine serves.
fn is_loopback(origin: &str) -> bool {
    let Some(url) = origin_of(origin).and_then(|origin| Url::parse(&origin).ok()) else {
        return false;
    };
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

impl CorsOptions {
    /// Refuses origins that no browser would name.
    ///
    /// # Errors
    /// [`Error::Store`] with a configuration that has one.
    pub(crate) fn check(&self) -> Result<()> {
        let wrong = |origin: &&String| *origin != ANY && origin_of(origin).is_none();
        match self.origins.iter().find(wrong) {
            Some(origin) => Err(Error::config(format!(
                "[cors] origins: `{origin}` is not an origin; write scheme, host and port alone, such as \
                 \"https://app.example.com\""
            ))),
            None => Ok(()),
        }
    }

    /// Returns the origins that are let in.
    fn allow_origin(&self) -> AllowOrigin {
        if self.origins.iter().any(|origin| origin == ANY) {
            return AllowOrigin::any();
        }
        let known: Vec<String> = self
            .origins
            .iter()
            .filter_map(|origin| origin_of(origin))
            .collect();
        let loopback = self.loopback;
        AllowOrigin::predicate(move |origin, _| {
            origin.to_str().is_ok_and(|origin| {
                known.iter().any(|one| one == origin) || loopback && is_loopback(origin)
            })
        })
    }

    /// Returns the layer that answers preflights and marks responses; `None` where no origin is let in.
    pub(super) fn layer(&self) -> Option<CorsLayer> {
        (self.loopback || !self.origins.is_empty()).then(|| {
            CorsLayer::new()
                .allow_origin(self.allow_origin())
                .allow_methods(METHODS)
                .allow_headers(REQUEST_HEADERS)
                .expose_headers(RESPONSE_HEADERS)
                .max_age(MAX_AGE)
        })
    }
}

/// Responds to preflights, and marks the responses that pages of other origins may read.
pub(super) async fn apply(
    State(layer): State<CorsLayer>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let is_preflight = headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let is_other = request.method() == Method::OPTIONS && !is_preflight;
    if is_other || !is_for_programs(request.uri().path()) {
        return next.run(request).await;
    }
    if !headers.contains_key(header::ORIGIN) {
        let mut response = next.run(request).await;
        // What a cache keeps of this response has no mark, and must not be given to a page that needs one.
        let vary = HeaderValue::from_static("origin");
        response.headers_mut().append(header::VARY, vary);
        return response;
    }
    let Ok(response) = layer.layer(next).oneshot(request).await;
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_read_as_a_browser_writes_it() {
        for (typed, origin) in [
            ("https://app.example.com", "https://app.example.com"),
            ("https://App.Example.com:443/", "https://app.example.com"),
            ("http://127.0.0.1:5173", "http://127.0.0.1:5173"),
        ] {
            assert_eq!(origin_of(typed).as_deref(), Some(origin), "{typed}");
        }
        for wrong in [
            "null",
            "",
            "app.example.com",
            "https://app.example.com/login",
            "https://app.example.com?x",
            "https://me@app.example.com",
            "file:///index.html",
            "https://*.example.com",
        ] {
            assert_eq!(origin_of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_page_of_this_machine_is_known_by_its_host() {
        for origin in [
            "http://localhost:5173",
            "https://localhost",
            "http://127.0.0.1:8080",
            "http://[::1]:3000",
        ] {
            assert!(is_loopback(origin), "{origin}");
        }
        for origin in [
            "http://localhost.example",
            "http://127.0.0.1.example",
            "http://192.168.0.2",
            "null",
            "file://",
        ] {
            assert!(!is_loopback(origin), "{origin}");
        }
    }

    #[test]
    fn pages_for_people_are_for_their_own_origin() {
        for path in ["/api/v1/nodes", "/v2/nodes", "/oauth/token"] {
            assert!(is_for_programs(path), "{path}");
        }
        for path in [
            "/",
            "/oauth/authorize",
            "/oauth/device",
            "/oauth/second-factor",
            "/oauth/password",
            "/s/abc",
            "/billing/x",
            "/_dev/clock",
            "/console",
            "/metrics",
        ] {
            assert!(!is_for_programs(path), "{path}");
        }
    }

    #[test]
    fn nothing_is_let_in_unless_it_is_configured() {
        assert!(CorsOptions::default().layer().is_none());
        let options = |origin: &str| CorsOptions {
            origins: vec![origin.to_owned()],
            loopback: false,
        };
        assert!(options("*").check().is_ok());
        let error = options("app.example.com").check().unwrap_err();
        assert!(error.to_string().contains("app.example.com"), "{error}");
    }
}
