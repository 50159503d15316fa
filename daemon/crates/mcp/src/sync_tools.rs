//! Requests to the sync daemon of this machine over its socket. Each call connects anew: the daemon may have
//! been restarted since the last one, or be started only later.

mod target;

use crate::call::{Call, with_success};
use crate::error::{ToolError, ToolResult};
use crate::services::Services;
use crate::tool::ToolFuture;
use cairn_control::{Client, ConflictList, ControlError, DoctorInfo, Request, Status};
use cairn_model::{Keep, SyncState};
use futures_util::FutureExt as _;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::time::Duration;

const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) fn status(call: Call) -> ToolFuture {
    async move { read_status(&call.services).await }.boxed()
}

/// Returns the daemon's state, also where it does not run: that is what the caller wants to know.
pub(crate) async fn read_status(services: &Services) -> ToolResult<Value> {
    let status: Status = match request(services, Request::Status).await {
        Ok(status) => status,
        Err(ToolError::Daemon(ControlError::NotRunning)) => {
            return Ok(json!({
                "running": false,
                "hint": "the sync daemon is not running: start it with `cairn start`, or look at `cairn doctor` if it ends again",
            }));
        }
        Err(error) => return Err(error),
    };
    let conflicts: ConflictList = request(services, Request::Conflicts).await?;
    let doctor: DoctorInfo = request(services, Request::Doctor).await?;
    let open = conflicts.conflicts.len();
    // A conflict waits for a person although nothing is left to transfer.
    let attention = open > 0 && status.state == SyncState::Idle;
    let mut value = json!(status);
    value["running"] = json!(true);
    value["open_conflicts"] = json!(open);
    value["connected"] = json!(doctor.online);
    value["server"] = json!(doctor.server);
    value["version"] = json!(doctor.version);
    if attention {
        value["state"] = json!(SyncState::Attention);
        value["hint"] = json!("sync_conflicts lists the open conflicts");
    }
    Ok(value)
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
        let list = request(&call.services, Request::Conflicts).await?;
        let path = target::conflict(&list, call.arguments.required("path")?)?;
        let resolve = Request::Resolve { path, keep };
        let response = request(&call.services, resolve).await?;
        Ok(with_success(response, Some("the conflict is resolved")))
    }
    .boxed()
}

pub(crate) fn pause(call: Call) -> ToolFuture {
    async move {
        let folder = folder(&call).await?;
        let until = None;
        let response = request(&call.services, Request::Pause { folder, until }).await?;
        Ok(with_success(response, Some("sync is paused")))
    }
    .boxed()
}

pub(crate) fn resume(call: Call) -> ToolFuture {
    async move {
        let folder = folder(&call).await?;
        let response = request(&call.services, Request::Resume { folder }).await?;
        Ok(with_success(response, Some("sync is resumed")))
    }
    .boxed()
}

/// Returns the local path of the synced folder that the call names, `None` for all folders.
async fn folder(call: &Call) -> ToolResult<Option<String>> {
    let Some(given) = call
        .arguments
        .text("folder")
        .filter(|text| !text.is_empty())
    else {
        return Ok(None);
    };
    let status: Status = request(&call.services, Request::Status).await?;
    target::folder(&status, given).map(Some)
}

/// Sends a request to the daemon.
async fn request<T: DeserializeOwned>(services: &Services, request: Request) -> ToolResult<T> {
    let socket = services.daemon.as_deref().ok_or(ControlError::NotRunning)?;
    let exchange = async {
        let client = Client::connect(socket, "mcp").await?;
        client.request::<T>(request).await
    };
    match tokio::time::timeout(REQUEST_TIMEOUT, exchange).await {
        Ok(response) => Ok(response?),
        Err(_) => Err(ToolError::TimedOut {
            seconds: REQUEST_TIMEOUT.as_secs(),
        }),
    }
}
