//! `check_service_health`: that the service can't be reached is an answer here, not an error.

use crate::call::Call;
use crate::failure::{Outcome, ToolError};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn check(call: Call) -> BoxFuture<'static, Outcome<Value>> {
    async move {
        let api = &call.services.writes;
        let begun = Instant::now();
        let answer = tokio::time::timeout(PATIENCE, api.health()).await;
        let response_time_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let answer = answer.unwrap_or_else(|_| {
            let text = format!("no answer within {} s", PATIENCE.as_secs());
            Err(cairn_api::ApiError::Offline(text))
        });
        Ok(match answer {
            Ok(health) => json!({
                "reachable": true,
                "response_time_ms": response_time_ms,
                "health": health,
                "api_url": api.base_url(),
            }),
            Err(error) => json!({
                "reachable": false,
                "response_time_ms": response_time_ms,
                "error": ToolError::from(error).told(),
                "api_url": api.base_url(),
            }),
        })
    }
    .boxed()
}
