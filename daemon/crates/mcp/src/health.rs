//! `check_service_health`: an unreachable service is a result here, not an error.

use crate::call::Call;
use crate::error::ToolError;
use crate::tool::ToolFuture;
use futures_util::FutureExt as _;
use serde_json::json;
use std::time::{Duration, Instant};

const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) fn check(call: Call) -> ToolFuture {
    async move {
        let api = &call.services.writes;
        let started = Instant::now();
        let response = tokio::time::timeout(REQUEST_TIMEOUT, api.health()).await;
        let response_time_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let response = response.unwrap_or_else(|_| {
            let text = format!("no response within {} s", REQUEST_TIMEOUT.as_secs());
            Err(cairn_api::ApiError::Offline(text))
        });
        Ok(match response {
            Ok(health) => json!({
                "reachable": true,
                "response_time_ms": response_time_ms,
                "health": health,
                "api_url": api.base_url(),
            }),
            Err(error) => json!({
                "reachable": false,
                "response_time_ms": response_time_ms,
                "error": ToolError::from(error).public_message(),
                "api_url": api.base_url(),
            }),
        })
    }
    .boxed()
}
