//! The sync daemon of this machine, asked over its socket. Each call connects anew: the daemon may have
//! been restarted since the last one.

use crate::call::{Call, finished};
use crate::failure::{Outcome, ToolError};
use crate::services::Services;
use cairn_control::{Client, ControlError, Keep, Request};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::time::Duration;

type Answer = BoxFuture<'static, Outcome<Value>>;

const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) fn status(call: Call) -> Answer {
    async move { ask(&call.services, Request::Status).await }.boxed()
}

pub(crate) fn activity(call: Call) -> Answer {
    async move {
        let limit = call.arguments.get("limit").and_then(Value::as_u64);
        let limit = limit.and_then(|n| u32::try_from(n).ok()).unwrap_or(20);
        ask(&call.services, Request::Activity { limit }).await
    }
    .boxed()
}

pub(crate) fn conflicts(call: Call) -> Answer {
    async move { ask(&call.services, Request::Conflicts).await }.boxed()
}

pub(crate) fn resolve(call: Call) -> Answer {
    async move {
        let keep = match call.arguments.required("keep")? {
            "mine" => Keep::Mine,
            "theirs" => Keep::Theirs,
            "merge" => Keep::Merge,
            _ => Keep::Both,
        };
        let path = call.arguments.required("path")?.to_owned();
        let answer = ask(&call.services, Request::Resolve { path, keep }).await?;
        Ok(finished(answer, Some("the conflict is settled")))
    }
    .boxed()
}

pub(crate) fn pause(call: Call) -> Answer {
    async move {
        let folder = call.arguments.text("folder").map(str::to_owned);
        let until = None;
        let answer = ask(&call.services, Request::Pause { folder, until }).await?;
        Ok(finished(answer, Some("sync is paused")))
    }
    .boxed()
}

pub(crate) fn resume(call: Call) -> Answer {
    async move {
        let folder = call.arguments.text("folder").map(str::to_owned);
        let answer = ask(&call.services, Request::Resume { folder }).await?;
        Ok(finished(answer, Some("sync goes on")))
    }
    .boxed()
}

/// Asks the daemon.
pub(crate) async fn ask(services: &Services, request: Request) -> Outcome<Value> {
    let socket = services.daemon.as_deref().ok_or(ControlError::NotRunning)?;
    let asking = async {
        let client = Client::connect(socket, "mcp").await?;
        client.request::<Value>(request).await
    };
    match tokio::time::timeout(PATIENCE, asking).await {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(ToolError::Late {
            seconds: PATIENCE.as_secs(),
        }),
    }
}
