//! Failures of the endpoints under `/oauth`, in the form of RFC 6749, section 5.2.

use crate::error::{Error, add_header};
use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cairn_wire::identity::OAuthErrorBody;

/// The reason why no token is given out.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    pub(crate) error: &'static str,
    pub(crate) description: String,
    /// The header that belongs to the status, such as `Retry-After`.
    pub(crate) header: Option<(HeaderName, String)>,
}

/// The word for a request without the token that it needs.
pub(crate) const NO_TOKEN: &str = "invalid_request";

/// The responses of the endpoints.
pub(crate) type OAuthResult<T> = Result<T, Failure>;

impl Failure {
    pub(crate) fn new(error: &'static str, description: impl Into<String>) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            error,
            description: description.into(),
            header: None,
        }
    }

    pub(crate) fn request(description: impl Into<String>) -> Self {
        Self::new("invalid_request", description)
    }

    pub(crate) fn invalid_grant(description: impl Into<String>) -> Self {
        Self::new("invalid_grant", description)
    }

    pub(crate) fn client(description: impl Into<String>) -> Self {
        Self {
            status: StatusCode::UNAUTHORIZED,
            ..Self::new("invalid_client", description)
        }
    }
}

impl From<cairn_store::Error> for Failure {
    fn from(error: cairn_store::Error) -> Self {
        Error::from(error).into()
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = error.status();
        if status == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::error!(%error, "request failed");
        }
        Self {
            status,
            error: kind(status),
            description: error.body().message,
            header: error.header(),
        }
    }
}

/// Returns the word of RFC 6749 for a status.
fn kind(status: StatusCode) -> &'static str {
    match status {
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            "temporarily_unavailable"
        }
        _ if status.is_server_error() => "server_error",
        _ => "invalid_request",
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        // Without the characters that RFC 6749 excludes, and with one kind of quotation mark.
        let description = self
            .description
            .chars()
            .map(|c| match c {
                '"' | '`' | '\\' => '\'',
                ' '..='~' => c,
                _ => '?',
            })
            .collect();
        let body = OAuthErrorBody {
            error: self.error.into(),
            error_description: Some(description),
        };
        let mut response = (self.status, Json(body)).into_response();
        add_header(&mut response, self.header);
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        let challenge = match (self.status, self.error) {
            (StatusCode::UNAUTHORIZED, "invalid_client") => Some("Basic realm=\"cairn\""),
            // Who sends no token learns of no error (RFC 6750, section 3.1).
            (StatusCode::UNAUTHORIZED, NO_TOKEN) => Some("Bearer"),
            (StatusCode::UNAUTHORIZED, _) => Some("Bearer error=\"invalid_token\""),
            (StatusCode::FORBIDDEN, "insufficient_scope") => {
                Some("Bearer error=\"insufficient_scope\", scope=\"openid\"")
            }
            _ => None,
        };
        if let Some(challenge) = challenge {
            headers.insert(
                header::WWW_AUTHENTICATE,
                HeaderValue::from_static(challenge),
            );
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_keeps_the_header_of_its_error_and_has_the_word_of_its_class() {
        let limited = Error::RateLimited {
            endpoint: "the login".into(),
            retry_after: 30,
        };
        for (error, status, word) in [
            (limited, 429, "temporarily_unavailable"),
            (
                Error::Unavailable("not now".into()),
                503,
                "temporarily_unavailable",
            ),
            (Error::quota_full("no space"), 507, "server_error"),
            (Error::internal("a bug"), 500, "server_error"),
            (Error::invalid("a typo"), 400, "invalid_request"),
        ] {
            let failure = Failure::from(error);
            assert_eq!((failure.status.as_u16(), failure.error), (status, word));
            let response = failure.into_response();
            let wait = response.headers().get(header::RETRY_AFTER);
            assert_eq!(wait.is_some(), status == 429, "{status}");
        }
    }
}
