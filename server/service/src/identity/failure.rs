//! Failures of the endpoints under `/oauth`, in the form of RFC 6749, section 5.2.

use crate::error::Error;
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cairn_wire::identity::OAuthErrorBody;

/// The reason why no token is given out.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    pub(crate) error: &'static str,
    pub(crate) description: String,
}

/// The responses of the endpoints.
pub(crate) type OAuthResult<T> = Result<T, Failure>;

impl Failure {
    pub(crate) fn new(error: &'static str, description: impl Into<String>) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            error,
            description: description.into(),
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
            return Self {
                status,
                error: "server_error",
                description: error.body().message,
            };
        }
        Self {
            status,
            error: "invalid_request",
            description: error.to_string(),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        // The characters that RFC 6749 allows in a description.
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
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if self.status == StatusCode::UNAUTHORIZED {
            let scheme = if self.error == "invalid_client" {
                "Basic realm=\"cairn\""
            } else {
                "Bearer error=\"invalid_token\""
            };
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(scheme));
        }
        response
    }
}
