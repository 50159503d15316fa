//! `check_service_health`: an unreachable service is a result here, not an error, and so is one that responds with an
//! error.

use crate::call::Call;
use crate::error::ToolError;
use crate::tool::ToolFuture;
use cairn_api::ApiError;
use futures_util::FutureExt as _;
use serde_json::json;
use std::time::{Duration, Instant};

/// The statuses with which something in front of the service says that it can't reach it.
const UNREACHED: [u16; 2] = [502, 504];

const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) fn check(call: Call) -> ToolFuture {
    async move {
        let api = &call.services.writes;
        let started = Instant::now();
        let response = tokio::time::timeout(REQUEST_TIMEOUT, api.health()).await;
        let response_time_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let response = response.unwrap_or_else(|_| {
            let text = format!("no response within {} s", REQUEST_TIMEOUT.as_secs());
            Err(ApiError::Offline(text))
        });
        Ok(match response {
            Ok(health) => json!({
                "reachable": true,
                "response_time_ms": response_time_ms,
                "health": health,
                "api_url": api.base_url(),
            }),
            Err(error) => json!({
                "reachable": is_response(&error),
                "response_time_ms": response_time_ms,
                "error": ToolError::from(error).public_message(),
                "api_url": api.base_url(),
            }),
        })
    }
    .boxed()
}

/// Returns true for an error with which the service itself has responded.
fn is_response(error: &ApiError) -> bool {
    match error {
        ApiError::Offline(_) => false,
        ApiError::Server { status, .. } => !UNREACHED.contains(status),
        ApiError::Unauthorized
        | ApiError::Forbidden { .. }
        | ApiError::NotFound { .. }
        | ApiError::Conflict { .. }
        | ApiError::PreconditionFailed { .. }
        | ApiError::Gone { .. }
        | ApiError::TooLarge { .. }
        | ApiError::QuotaFull { .. }
        | ApiError::RateLimited { .. }
        | ApiError::Rejected { .. }
        | ApiError::Protocol(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_that_responds_is_reachable() {
        for status in [401, 403, 418, 429, 500, 503] {
            let error = ApiError::from_status(status, String::new());
            assert!(is_response(&error), "{status}");
        }
        for status in [408, 502, 504] {
            let error = ApiError::from_status(status, String::new());
            assert!(!is_response(&error), "{status}");
        }
    }
}
