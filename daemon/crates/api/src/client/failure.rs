//! Failed tries: the error, and whether another try makes sense.

use super::Api;
use crate::error::{ApiError, quote};
use crate::retry::{Again, Retry, RetryPolicy, retry_after};
use crate::transport::{Response, TransportError};
use cairn_wire::ErrorBody;
use http::{HeaderName, header};
use std::time::Duration;

const MAX_ERROR_BODY: usize = 64 * 1024;

/// A failed try, and whether another one makes sense.
pub(super) struct Failure {
    pub(super) error: ApiError,
    pub(super) again: Again,
    /// The wait that the server asks for.
    pub(super) at_least: Duration,
}

impl Failure {
    /// Returns whether the request may go out again, and whether that makes sense.
    pub(super) fn is_worth_a_try(&self, retry: Retry, policy: &RetryPolicy) -> bool {
        let may_go_out = match self.again {
            Again::Never => false,
            Again::IfSafe => retry == Retry::Idempotent,
            Again::AfterSilence => policy.after_silence && retry == Retry::Idempotent,
            Again::Always => true,
        };
        // Room is not made within seconds.
        may_go_out && !self.error.is_service_full() && self.at_least <= policy.longest_retry_after
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self {
            error,
            again: Again::Never,
            at_least: Duration::ZERO,
        }
    }
}

impl From<TransportError> for Failure {
    fn from(error: TransportError) -> Self {
        let (error, again) = match error {
            TransportError::Connect(text) => (ApiError::Offline(text), Again::Always),
            TransportError::Interrupted(text) => (ApiError::Offline(text), Again::IfSafe),
            TransportError::Silent(text) => (ApiError::Offline(text), Again::AfterSilence),
            TransportError::Invalid(text) => (ApiError::Protocol(text), Again::Never),
        };
        Self {
            error,
            again,
            at_least: Duration::ZERO,
        }
    }
}

impl Api {
    /// Makes the error of a response that is no success. Its body is read as far as it helps.
    pub(super) async fn failure(&self, response: Response) -> Failure {
        let status = response.status;
        let wait = retry_after(&response.headers);
        if status.is_redirection() {
            let to = header_text(&response, &header::LOCATION).unwrap_or_else(|| "nowhere".into());
            let text = format!(
                "it redirects to {}, and redirects are not followed",
                quote(&to)
            );
            return ApiError::Protocol(text).into();
        }
        let head = header_text(&response, &header::ETAG)
            .and_then(|tag| tag.trim_start_matches("W/").trim_matches('"').parse().ok());
        let message = self.error_message(response).await;
        let mut error = ApiError::from_status(status.as_u16(), message);
        if let ApiError::Conflict { head: known, .. } = &mut error {
            *known = head;
        }
        if let (ApiError::RateLimited { retry_after }, Some(wait)) = (&mut error, wait) {
            *retry_after = wait;
        }
        if let ApiError::Server { retry_after, .. } = &mut error {
            *retry_after = wait;
        }
        Failure {
            again: if matches!(error, ApiError::RateLimited { .. }) {
                Again::Always
            } else if error.is_transient() {
                Again::IfSafe
            } else {
                Again::Never
            },
            error,
            at_least: wait.unwrap_or_default(),
        }
    }

    /// Reads the server's reason, or returns that of the status.
    async fn error_message(&self, response: Response) -> String {
        let status = response.status;
        let body = self.collect(response, MAX_ERROR_BODY).await.ok();
        let body = body.and_then(|body| serde_json::from_slice::<ErrorBody>(&body).ok());
        match body {
            Some(body) => quote(&self.open_text(body.message)),
            None => status
                .canonical_reason()
                .unwrap_or("no reason given")
                .to_owned(),
        }
    }
}

fn header_text(response: &Response, name: &HeaderName) -> Option<String> {
    let value = response.headers.get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}
