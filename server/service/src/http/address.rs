//! The address under which the server is reached: the configured one, or the one of the request.

use crate::error::{Error, Result};
use crate::state::AppState;
use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use axum::http::uri::Authority;

/// Scheme, host and port, without a trailing slash.
pub(crate) struct Address(pub(crate) String);

impl Address {
    pub(crate) fn of(app: &AppState, parts: &Parts) -> Self {
        let text = app.options.public_url.clone().unwrap_or_else(|| {
            let host = host(parts);
            let secure = parts.uri.scheme_str() == Some("https")
                || app.options.behind_proxy
                    && parts
                        .headers
                        .get("x-forwarded-proto")
                        .is_some_and(|value| value.as_bytes() == b"https");
            format!("{}://{host}", if secure { "https" } else { "http" })
        });
        Self(text.trim_end_matches('/').to_owned())
    }

    pub(crate) fn is_secure(&self) -> bool {
        self.0.starts_with("https:")
    }
}

/// The host and port that a request names; `localhost` if it names none, or an invalid one.
fn host(parts: &Parts) -> String {
    let named = || parts.headers.get(header::HOST)?.to_str().ok()?.parse().ok();
    parts
        .uri
        .authority()
        .cloned()
        .or_else(named)
        .filter(|authority: &Authority| !authority.as_str().contains('@'))
        .map_or_else(|| "localhost".to_owned(), |authority| authority.to_string())
}

impl FromRequestParts<AppState> for Address {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> Result<Self> {
        Ok(Self::of(app, parts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::Request;

    #[test]
    fn the_host_is_taken_only_where_it_can_be_one() {
        let of = |named: &'static str| {
            let request = Request::builder().header(header::HOST, named).body(());
            host(&request.unwrap().into_parts().0)
        };
        assert_eq!(of("files.example.com:8443"), "files.example.com:8443");
        assert_eq!(of("[2001:db8::1]:80"), "[2001:db8::1]:80");
        for bad in ["a@evil.example", "a/b", "a\"><script>", "a b", ""] {
            assert_eq!(of(bad), "localhost", "{bad}");
        }
    }
}
