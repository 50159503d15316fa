//! Errors of calls, and the one place where a status of HTTP becomes one.

use cairn_model::RevisionId;
use cairn_wire::ErrorBody;
use std::time::Duration;

/// The longest text of a server that is quoted; it may be hostile.
const MAX_QUOTE: usize = 300;
/// The longest address that a request can have, in bytes: more than any server takes.
const MAX_ADDRESS: usize = 65_534;
/// The beginning of what is said of a request with a longer one.
const TOO_LONG: &str = "the request is too long to be sent";

/// A failed call. Texts quote the server, shortened and without control characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    #[error("the server doesn't accept the access token: log in again")]
    Unauthorized,
    #[error("the server forbids it: {message}")]
    Forbidden { message: String },
    #[error("the server doesn't know it: {message}")]
    NotFound { message: String },
    /// The name is taken, or the base is no longer the head; `head` is the revision that is.
    #[error("it changed on the service meanwhile: {message}")]
    Conflict {
        head: Option<RevisionId>,
        message: String,
    },
    #[error("it has another version on the service: {message}")]
    PreconditionFailed { message: String },
    /// A cursor from another history, or an exhausted link.
    #[error("it is no longer available: {message}")]
    Gone { message: String },
    /// A body, or an address, that is too large; [`ApiError::is_too_long_to_send`] tells one that was not sent.
    #[error("{}", too_large_text(message))]
    TooLarge { message: String },
    #[error("a quota on the service is used up: {message}")]
    QuotaFull { message: String },
    #[error("the server asks to slow down: try again in {} s", retry_after.as_secs())]
    RateLimited { retry_after: Duration },
    #[error("the server can't be reached: {0}; check the address and the network")]
    Offline(String),
    #[error("the server failed with {status}: {message}; try again later")]
    Server {
        status: u16,
        message: String,
        /// The time after which it expects to serve requests again, where it says so.
        retry_after: Option<Duration>,
    },
    /// Any other 4xx.
    #[error("the server refused with {status}: {message}")]
    Rejected { status: u16, message: String },
    /// The response broke the contract.
    #[error("the server's response can't be used: {0}")]
    Protocol(String),
}

/// A failed call, with what is known of its effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFailure {
    /// The error of the last try.
    pub error: ApiError,
    /// True if the server may have carried the call out all the same: the response to a try was lost or could not be
    /// read, or the server failed after it had begun. A refusal of a later try doesn't change that: it may be about
    /// what the earlier one has done, such as a name that is taken since.
    pub may_be_done: bool,
}

impl From<ApiError> for CallFailure {
    fn from(error: ApiError) -> Self {
        Self {
            error,
            may_be_done: false,
        }
    }
}

impl From<CallFailure> for ApiError {
    fn from(failure: CallFailure) -> Self {
        failure.error
    }
}

/// The class of an error: the reaction that it calls for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// The server failed or asks to slow down: the same call may succeed later.
    Transient,
    /// The server can't be reached.
    Offline,
    /// The credential is not accepted: a person has to log in.
    Auth,
    /// The server has another state than the call was made for: read it again and decide anew.
    Stale,
    /// The object does not exist (any more).
    Missing,
    /// A quota or a limit of the server does not allow it.
    Limit,
    /// The server does not do it, however often it is asked.
    Refused,
    /// The response broke the contract.
    Protocol,
}

impl ApiError {
    /// Returns the class of the error.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::RateLimited { .. } | Self::Server { .. } => ErrorClass::Transient,
            Self::Offline(_) => ErrorClass::Offline,
            Self::Unauthorized => ErrorClass::Auth,
            Self::Conflict { .. } | Self::PreconditionFailed { .. } => ErrorClass::Stale,
            Self::NotFound { .. } | Self::Gone { .. } => ErrorClass::Missing,
            Self::TooLarge { .. } | Self::QuotaFull { .. } => ErrorClass::Limit,
            Self::Forbidden { .. } | Self::Rejected { .. } => ErrorClass::Refused,
            Self::Protocol(_) => ErrorClass::Protocol,
        }
    }

    /// Returns whether the same call may succeed later without anyone doing anything.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self.class(), ErrorClass::Transient | ErrorClass::Offline)
    }

    /// Returns whether the server can't carry out anything now, whatever it is asked: it can't be reached, asks
    /// to slow down, or has said so (502 to 504). Any other failure may concern the one object.
    #[must_use]
    pub fn is_overload(&self) -> bool {
        match self {
            Self::Offline(_) | Self::RateLimited { .. } => true,
            Self::Server { status, .. } => matches!(status, 502..=504) && !self.is_service_full(),
            Self::Unauthorized
            | Self::Forbidden { .. }
            | Self::NotFound { .. }
            | Self::Conflict { .. }
            | Self::PreconditionFailed { .. }
            | Self::Gone { .. }
            | Self::TooLarge { .. }
            | Self::QuotaFull { .. }
            | Self::Rejected { .. }
            | Self::Protocol(_) => false,
        }
    }

    /// Returns whether the server has no room on its disk: it stores nothing more, and carries out all else.
    #[must_use]
    pub fn is_service_full(&self) -> bool {
        if let Self::Server {
            status: 503,
            message,
            ..
        } = self
        {
            return message.starts_with(ErrorBody::DISK_FULL);
        }
        false
    }

    /// Checks that an address is short enough to be sent: it has the texts of the query.
    ///
    /// # Errors
    /// [`Self::TooLarge`], of which [`Self::is_too_long_to_send`] is true.
    pub(crate) fn check_address(bytes: usize) -> Result<(), Self> {
        if bytes <= MAX_ADDRESS {
            return Ok(());
        }
        let message = format!(
            "{TOO_LONG}: its address would have {bytes} bytes, and at most {MAX_ADDRESS} are possible; give a shorter text"
        );
        Err(Self::TooLarge { message })
    }

    /// Returns whether a text of the caller made the request too long to be sent at all.
    #[must_use]
    pub fn is_too_long_to_send(&self) -> bool {
        matches!(self, Self::TooLarge { message } if message.starts_with(TOO_LONG))
    }

    /// Returns the time for which the server asks to be left alone.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        if let Self::RateLimited { retry_after } = self {
            return Some(*retry_after);
        }
        if let Self::Server { retry_after, .. } = self {
            return *retry_after;
        }
        None
    }

    /// Makes the error of a status that is no success, of a response or of one part of a batch.
    #[must_use]
    pub fn from_status(status: u16, message: String) -> Self {
        match status {
            401 => Self::Unauthorized,
            403 => Self::Forbidden { message },
            404 => Self::NotFound { message },
            408 => Self::Offline(message),
            409 => Self::Conflict {
                head: None,
                message,
            },
            410 => Self::Gone { message },
            412 => Self::PreconditionFailed { message },
            413 => Self::TooLarge { message },
            429 => Self::RateLimited {
                retry_after: Duration::from_secs(1),
            },
            507 => Self::QuotaFull { message },
            400..=499 => Self::Rejected { status, message },
            500..=599 => Self::Server {
                status,
                message,
                retry_after: None,
            },
            _ => Self::Protocol(format!("the status {status} has no meaning here")),
        }
    }
}

fn too_large_text(message: &str) -> String {
    match message.starts_with(TOO_LONG) {
        true => message.to_owned(),
        false => format!("it is too large for the server: {message}"),
    }
}

/// Returns a server's text, fit for a line of output.
pub(crate) fn quote(text: &str) -> String {
    let clean: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(MAX_QUOTE)
        .collect();
    clean.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_says_what_can_be_done() {
        let cases = [
            (401, ErrorClass::Auth),
            (403, ErrorClass::Refused),
            (404, ErrorClass::Missing),
            (408, ErrorClass::Offline),
            (409, ErrorClass::Stale),
            (412, ErrorClass::Stale),
            (413, ErrorClass::Limit),
            (422, ErrorClass::Refused),
            (429, ErrorClass::Transient),
            (503, ErrorClass::Transient),
            (507, ErrorClass::Limit),
            (302, ErrorClass::Protocol),
        ];
        for (status, class) in cases {
            let error = ApiError::from_status(status, String::new());
            assert_eq!(error.class(), class, "{status}");
        }
    }

    #[test]
    fn a_failure_of_one_call_is_no_overload() {
        let overload = |status| ApiError::from_status(status, String::new()).is_overload();
        let (all, one) = (
            [408, 429, 502, 503, 504],
            [400, 401, 404, 409, 413, 500, 501, 507],
        );
        assert!(all.into_iter().all(overload));
        assert!(!one.into_iter().any(overload));
    }

    #[test]
    fn a_full_disk_of_the_server_is_no_overload() {
        let message = "the server's disk is full: its operator has to make room";
        let full = ApiError::from_status(503, message.into());
        assert!(full.is_service_full() && !full.is_overload());
        assert_eq!(full.class(), ErrorClass::Transient);
        assert!(!ApiError::from_status(503, "no".into()).is_service_full());
        assert!(!ApiError::from_status(500, message.into()).is_service_full());
    }

    #[test]
    fn a_file_that_is_too_large_is_no_quota() {
        let error = ApiError::from_status(413, "10 GiB at most".into());
        assert!(!error.to_string().contains("quota"), "{error}");
    }
}
