//! Requests to the sync daemon over its socket. Each connects anew: the daemon may have been restarted since
//! the last one, or be started only later.

use super::tool_names::with_tools;
use crate::error::ToolResult;
use crate::services::Services;
use cairn_control::{Client, ControlError, TypedRequest};
use std::time::Duration;

const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Sends a request to the daemon.
///
/// # Errors
/// [`ToolError::Daemon`] if none runs, it refuses, or it does not respond in time.
pub(super) async fn request<R: TypedRequest>(
    services: &Services,
    request: R,
) -> ToolResult<R::Reply> {
    request_within(services, request, REQUEST_TIMEOUT).await
}

/// Sends a request whose reply may take longer than usual.
pub(super) async fn request_within<R: TypedRequest>(
    services: &Services,
    request: R,
    limit: Duration,
) -> ToolResult<R::Reply> {
    let socket = services.daemon.as_deref().ok_or(ControlError::NotRunning)?;
    let exchange = async {
        let client = Client::connect(socket, "mcp").await?;
        client.send(request).await
    };
    match tokio::time::timeout(limit, exchange).await {
        Ok(Err(ControlError::Refused(mut failure))) => {
            failure.message = with_tools(&failure.message);
            Err(ControlError::Refused(failure).into())
        }
        Ok(response) => Ok(response?),
        Err(_) => Err(ControlError::Silent { pid: None }.into()),
    }
}
