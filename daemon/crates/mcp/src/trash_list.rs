//! The trash of the account, last deleted first, so that what was deleted by mistake is found among much.

use crate::call::Call;
use crate::error::ToolResult;
use crate::services::Services;
use crate::tool::ToolFuture;
use futures_util::FutureExt as _;
use serde_json::{Value, json};
use std::cmp::Reverse;

/// Nodes that are listed without another wish.
const LIMIT: usize = 20;

pub(crate) fn list_trash(call: Call) -> ToolFuture {
    async move {
        let limit = call.arguments.get("limit").and_then(Value::as_u64);
        let limit = limit.and_then(|n| usize::try_from(n).ok()).unwrap_or(LIMIT);
        read(&call.services, limit).await
    }
    .boxed()
}

/// Returns what was deleted last.
///
/// # Errors
/// The service's.
pub(crate) async fn read(services: &Services, limit: usize) -> ToolResult<Value> {
    let mut nodes = services.reads.trash().await?;
    let total = nodes.len();
    nodes.sort_by_key(|node| Reverse(node.updated_at));
    nodes.truncate(limit);
    Ok(json!({ "content": nodes, "totalElements": total }))
}
