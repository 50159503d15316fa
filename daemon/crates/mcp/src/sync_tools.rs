//! Requests to the sync daemon of this machine over its socket. Each call connects anew: the daemon may have
//! been restarted since the last one.

use crate::call::{Call, with_success};
use crate::error::{ToolError, ToolResult};
use crate::services::Services;
use crate::tool::ToolFuture;
use cairn_control::{Client, ControlError, Request};
use cairn_model::Keep;
use futures_util::FutureExt as _;
use serde_json::Value;
use std::time::Duration;

const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) fn status(call: Call) -> ToolFuture {
    async move { request(&call.services, Request::Status).await }.boxed()
}

pub(crate) fn activity(call: Call) -> ToolFuture {
    async move {
        let limit = call.arguments.get("limit").and_then(Value::as_u64);
        let limit = limit.and_then(|n| u32::try_from(n).ok()).unwrap_or(20);
        request(&call.services, Request::Activity { limit }).await
    }
    .boxed()
}

pub(crate) fn conflicts(call: Call) -> ToolFuture {
    async move { request(&call.services, Request::Conflicts).await }.boxed()
}

pub(crate) fn resolve(call: Call) -> ToolFuture {
    async move {
        // The schema has let through nothing else.
        let keep = call.arguments.required("keep")?.parse();
        let keep = keep.unwrap_or(Keep::Both);
        let path = call.arguments.required("path")?.to_owned();
        let response = request(&call.services, Request::Resolve { path, keep }).await?;
        Ok(with_success(response, Some("the conflict is resolved")))
    }
    .boxed()
}

pub(crate) fn pause(call: Call) -> ToolFuture {
    async move {
        let folder = call.arguments.text("folder").map(str::to_owned);
        let until = None;
        let response = request(&call.services, Request::Pause { folder, until }).await?;
        Ok(with_success(response, Some("sync is paused")))
    }
    .boxed()
}

pub(crate) fn resume(call: Call) -> ToolFuture {
    async move {
        let folder = call.arguments.text("folder").map(str::to_owned);
        let response = request(&call.services, Request::Resume { folder }).await?;
        Ok(with_success(response, Some("sync is resumed")))
    }
    .boxed()
}

/// Sends a request to the daemon.
pub(crate) async fn request(services: &Services, request: Request) -> ToolResult<Value> {
    let socket = services.daemon.as_deref().ok_or(ControlError::NotRunning)?;
    let confirmations = async {
        let client = Client::connect(socket, "mcp").await?;
        client.request::<Value>(request).await
    };
    match tokio::time::timeout(REQUEST_TIMEOUT, confirmations).await {
        Ok(response) => Ok(response?),
        Err(_) => Err(ToolError::TimedOut {
            seconds: REQUEST_TIMEOUT.as_secs(),
        }),
    }
}
