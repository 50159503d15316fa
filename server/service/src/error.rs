//! The service's one error, and its HTTP response: `{code, message}`.
//!
//! Errors of the store get their status here, and nowhere else. Failures inside the server are
//! logged with their cause; the response doesn't name it.

use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cairn_store::Error as StoreError;
use cairn_wire::ErrorBody;

/// The seconds after which a client tries again if the server's disk was full: making room takes its operator a while.
const FULL_DISK_S: u64 = 30;

/// The result of the crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A request, or the server's start, that failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0} is not allowed here; the Allow header lists the methods that are")]
    MethodNotAllowed(String),
    #[error("{0}")]
    TooLarge(String),
    /// A body that stopped on its way, or trickled in: the same may come faster the next time.
    #[error("the body broke off: nothing came in time, or too little")]
    TooSlow,
    /// A body of another media type than the one that belongs there.
    #[error("{0}")]
    MediaType(String),
    /// A compressed body.
    #[error("the body is compressed (`Content-Encoding: {0}`); send it as it is")]
    ContentCoding(String),
    #[error("the range lies outside the chunk's {size} bytes")]
    Range { size: u64 },
    /// The server is not ready: a load balancer should send requests elsewhere.
    #[error("{0}")]
    Unavailable(String),
    /// The stored bytes of a content are damaged, or lost.
    #[error(
        "what is stored of this file is damaged; a device that has the file sends it again by itself"
    )]
    Damaged,
    /// An access token whose scopes don't reach that far.
    #[error("{0}")]
    Scope(&'static str),
    #[error("too many requests to {endpoint}; try again in {retry_after} s")]
    RateLimited { endpoint: String, retry_after: u64 },
}

impl Error {
    pub fn invalid(message: impl Into<String>) -> Self {
        StoreError::Invalid(message.into()).into()
    }

    pub fn unauthorized(message: impl Into<String>) -> Self {
        StoreError::Unauthorized(message.into()).into()
    }

    pub fn forbidden(message: impl Into<String>) -> Self {
        StoreError::Forbidden(message.into()).into()
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        StoreError::NotFound(message.into()).into()
    }

    pub fn conflict(message: impl Into<String>) -> Self {
        StoreError::conflict(message).into()
    }

    pub fn gone(message: impl Into<String>) -> Self {
        StoreError::Gone(message.into()).into()
    }

    pub fn quota_full(message: impl Into<String>) -> Self {
        StoreError::QuotaFull(message.into()).into()
    }

    pub fn config(message: impl Into<String>) -> Self {
        StoreError::Config(message.into()).into()
    }

    pub fn internal(message: impl Into<String>) -> Self {
        StoreError::Internal(message.into()).into()
    }

    pub fn io(what: impl Into<String>, source: std::io::Error) -> Self {
        StoreError::Io {
            what: what.into(),
            source,
        }
        .into()
    }

    /// Returns true if the server failed, rather than the request.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_failure())
    }

    /// Returns true if the database can't be reached now.
    fn is_unreachable(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_unreachable())
    }

    /// Returns true if a disk of the server is full.
    fn is_disk_full(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_disk_full())
    }

    /// Returns the HTTP status of the error.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Store(error) => status(error),
            Self::MethodNotAllowed(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::MediaType(_) | Self::ContentCoding(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Range { .. } => StatusCode::RANGE_NOT_SATISFIABLE,
            Self::RateLimited { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Damaged => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Scope(_) => StatusCode::FORBIDDEN,
        }
    }

    /// Returns the body of the error's response; causes inside the server are not part of it.
    #[must_use]
    pub fn body(&self) -> ErrorBody {
        let status = self.status();
        let message = if self.is_unreachable() {
            "the server can't reach its database; try again".to_owned()
        } else if self.is_disk_full() {
            format!("{}: its operator has to make room", ErrorBody::DISK_FULL)
        } else if self.is_failure() && status == StatusCode::INTERNAL_SERVER_ERROR {
            "the server failed; its log has the cause under this response's X-Request-Id".to_owned()
        } else {
            self.to_string()
        };
        ErrorBody {
            code: status.as_u16(),
            message,
        }
    }

    /// Returns the header that belongs to the error besides its status.
    pub(crate) fn header(&self) -> Option<(HeaderName, String)> {
        match self {
            Self::Store(StoreError::Conflict {
                head: Some(head), ..
            }) => Some((header::ETAG, format!("\"{head}\""))),
            Self::Store(StoreError::Stale { version, .. }) => {
                Some((header::ETAG, format!("\"{version}\"")))
            }
            Self::Store(StoreError::Unauthorized(_)) => {
                Some((header::WWW_AUTHENTICATE, "Bearer".to_owned()))
            }
            Self::Store(StoreError::TooManyAttempts { retry_after, .. })
            | Self::RateLimited { retry_after, .. } => {
                Some((header::RETRY_AFTER, retry_after.to_string()))
            }
            Self::Store(_) if self.is_unreachable() => Some((header::RETRY_AFTER, "1".to_owned())),
            Self::Store(_) if self.is_disk_full() => {
                Some((header::RETRY_AFTER, FULL_DISK_S.to_string()))
            }
            // RFC 6750, section 3.
            Self::Scope(_) => Some((
                header::WWW_AUTHENTICATE,
                "Bearer error=\"insufficient_scope\", scope=\"files\"".to_owned(),
            )),
            // RFC 9110, section 15.5.16.
            Self::ContentCoding(_) => Some((header::ACCEPT_ENCODING, "identity".to_owned())),
            Self::Range { size } => Some((header::CONTENT_RANGE, format!("bytes */{size}"))),
            Self::Store(_)
            | Self::MethodNotAllowed(_)
            | Self::TooLarge(_)
            | Self::TooSlow
            | Self::MediaType(_)
            | Self::Unavailable(_)
            | Self::Damaged => None,
        }
    }
}

/// Maps an error of the store to its HTTP status.
fn status(error: &StoreError) -> StatusCode {
    match error {
        StoreError::Invalid(_) => StatusCode::BAD_REQUEST,
        StoreError::Unauthorized(_) => StatusCode::UNAUTHORIZED,
        StoreError::PaymentRequired(_) => StatusCode::PAYMENT_REQUIRED,
        StoreError::Forbidden(_) => StatusCode::FORBIDDEN,
        StoreError::NotFound(_) => StatusCode::NOT_FOUND,
        StoreError::Conflict { .. } => StatusCode::CONFLICT,
        StoreError::Gone(_) => StatusCode::GONE,
        StoreError::Stale { .. } => StatusCode::PRECONDITION_FAILED,
        StoreError::TooManyAttempts { .. } => StatusCode::TOO_MANY_REQUESTS,
        StoreError::QuotaFull(_) => StatusCode::INSUFFICIENT_STORAGE,
        // A full disk is no 507: that is what a client gets whose own quota is used up, and deleting files would not help.
        StoreError::Sql(_) | StoreError::Objects(_) | StoreError::Io { .. }
            if error.is_unreachable() || error.is_disk_full() =>
        {
            StatusCode::SERVICE_UNAVAILABLE
        }
        StoreError::Sql(_)
        | StoreError::Objects(_)
        | StoreError::Io { .. }
        | StoreError::Unopenable(_)
        | StoreError::Config(_)
        | StoreError::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Adds the header that belongs to an error, as [`Error::header`] gives it, to the response that shows the error.
pub(crate) fn add_header(response: &mut Response, header: Option<(HeaderName, String)>) {
    if let Some((name, value)) = header
        && let Ok(value) = HeaderValue::from_str(&value)
    {
        response.headers_mut().insert(name, value);
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let status = self.status();
        if self.is_failure() {
            tracing::error!(error = %self, "request failed");
        }
        let mut response = (status, Json(self.body())).into_response();
        add_header(&mut response, self.header());
        response
    }
}
