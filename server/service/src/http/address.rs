//! The address under which the server is reached: the configured one, or the one of the request.

use crate::error::{Error, Result};
use crate::state::AppState;
use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;

/// Scheme, host and port, without a trailing slash.
pub(crate) struct Address(pub(crate) String);

impl Address {
    pub(crate) fn of(app: &AppState, parts: &Parts) -> Self {
        let text = app.options.public_url.clone().unwrap_or_else(|| {
            let host = parts
                .uri
                .authority()
                .map(ToString::to_string)
                .or_else(|| {
                    let host = parts.headers.get(header::HOST)?;
                    host.to_str().ok().map(str::to_owned)
                })
                .unwrap_or_else(|| "localhost".to_owned());
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

impl FromRequestParts<AppState> for Address {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> Result<Self> {
        Ok(Self::of(app, parts))
    }
}
