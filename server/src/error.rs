//! The crate's one error, and its face towards HTTP: `{code, message}`.
//!
//! Variants follow what a caller can do. Internal ones are logged with their cause and answered
//! without it.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cairn_model::RevisionId;
use cairn_wire::ErrorBody;

/// What the crate's functions answer.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a request, or the server's start, failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Invalid(String),
    #[error("{0}")]
    Unauthorized(String),
    /// The card was declined, or the wallet holds too little.
    #[error("{0}")]
    PaymentRequired(String),
    #[error("{0}")]
    Forbidden(String),
    #[error("{0}")]
    NotFound(String),
    #[error("{0} is not allowed here; the Allow header names what is")]
    MethodNotAllowed(String),
    /// A name is taken or the base revision moved on; `head` is the present one where there is one.
    #[error("{message}")]
    Conflict {
        message: String,
        head: Option<RevisionId>,
    },
    #[error("{0}")]
    Gone(String),
    /// `If-Match` named another version than the present one.
    #[error("{message}")]
    Stale { message: String, version: u64 },
    #[error("{0}")]
    TooLarge(String),
    #[error("the range lies outside the chunk's {size} bytes")]
    Range { size: u64 },
    #[error("too many requests to {endpoint}; try again in {retry_after} s")]
    RateLimited { endpoint: String, retry_after: u64 },
    #[error("{0}")]
    QuotaFull(String),
    #[error("the database failed: {0}")]
    Sql(#[from] rusqlite::Error),
    #[error("the object store failed: {0}")]
    Objects(#[from] object_store::Error),
    #[error("{what}: {source}")]
    Io {
        what: String,
        source: std::io::Error,
    },
    /// The configuration or the data directory can't be used.
    #[error("{0}")]
    Config(String),
    #[error("{0}")]
    Internal(String),
}

impl Error {
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid(message.into())
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::NotFound(message.into())
    }

    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::Conflict {
            message: message.into(),
            head: None,
        }
    }

    /// The HTTP status that tells it.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Invalid(_) => StatusCode::BAD_REQUEST,
            Self::Unauthorized(_) => StatusCode::UNAUTHORIZED,
            Self::PaymentRequired(_) => StatusCode::PAYMENT_REQUIRED,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::Conflict { .. } => StatusCode::CONFLICT,
            Self::Gone(_) => StatusCode::GONE,
            Self::Stale { .. } => StatusCode::PRECONDITION_FAILED,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Range { .. } => StatusCode::RANGE_NOT_SATISFIABLE,
            Self::RateLimited { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::QuotaFull(_) => StatusCode::INSUFFICIENT_STORAGE,
            Self::Sql(_)
            | Self::Objects(_)
            | Self::Io { .. }
            | Self::Config(_)
            | Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The body that tells it; causes inside the server are not part of it.
    #[must_use]
    pub fn body(&self) -> ErrorBody {
        let status = self.status();
        let message = if status == StatusCode::INTERNAL_SERVER_ERROR {
            "the server failed; its log has the cause under this answer's X-Request-Id".to_owned()
        } else {
            self.to_string()
        };
        ErrorBody {
            code: status.as_u16(),
            message,
        }
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let status = self.status();
        if status == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::error!(error = %self, "request failed");
        }
        let mut response = (status, Json(self.body())).into_response();
        let extra = match &self {
            Self::Conflict {
                head: Some(head), ..
            } => Some((header::ETAG, format!("\"{head}\""))),
            Self::Stale { version, .. } => Some((header::ETAG, format!("\"{version}\""))),
            Self::Range { size } => Some((header::CONTENT_RANGE, format!("bytes */{size}"))),
            Self::RateLimited { retry_after, .. } => {
                Some((header::RETRY_AFTER, retry_after.to_string()))
            }
            Self::Unauthorized(_) => Some((header::WWW_AUTHENTICATE, "Bearer".to_owned())),
            Self::Invalid(_)
            | Self::PaymentRequired(_)
            | Self::Forbidden(_)
            | Self::NotFound(_)
            | Self::MethodNotAllowed(_)
            | Self::Conflict { head: None, .. }
            | Self::Gone(_)
            | Self::TooLarge(_)
            | Self::QuotaFull(_)
            | Self::Sql(_)
            | Self::Objects(_)
            | Self::Io { .. }
            | Self::Config(_)
            | Self::Internal(_) => None,
        };
        if let Some((name, value)) = extra
            && let Ok(value) = HeaderValue::from_str(&value)
        {
            response.headers_mut().insert(name, value);
        }
        response
    }
}
