//! The sync daemon of this machine: its state, what it did, conflicts, pauses.

mod account;
mod activity;
mod confirm;
mod conflicts;
mod connection;
mod folders;
mod locate;
mod meaning;
pub(crate) mod status;
mod target;
mod tool_names;
pub(crate) mod watch;
mod why;

pub(crate) use confirm::{confirm, held_changes};
pub(crate) use folders::{Place, SyncedFolders};
pub(crate) use meaning::{Found, find_path, is_unmistakable};

use crate::call::{Call, with_success};
use crate::error::ToolResult;
use crate::tool::ToolFuture;
use cairn_control::{DoctorInfo, Resolved, Status, typed};
use cairn_model::Keep;
use connection::{request, request_within};
use futures_util::FutureExt as _;
use serde_json::{Value, json};
use std::time::Duration;

/// The time that a reply may take beyond the wait that was asked for.
const GRACE: Duration = Duration::from_secs(5);
/// The longest wait until the daemon has asked the service for changes; it gives up before.
const POLL_TIMEOUT: Duration = Duration::from_secs(25);

pub(crate) fn status(call: Call) -> ToolFuture {
    async move { status::read(&call.services).await }.boxed()
}

pub(crate) fn activity(call: Call) -> ToolFuture {
    async move { activity::read(&call).await }.boxed()
}

pub(crate) fn locate(call: Call) -> ToolFuture {
    async move { locate::find(&call).await }.boxed()
}

pub(crate) fn why(call: Call) -> ToolFuture {
    async move { why::read(&call).await }.boxed()
}

pub(crate) fn doctor(call: Call) -> ToolFuture {
    async move {
        let doctor: DoctorInfo = request(&call.services, typed::Doctor {}).await?;
        let mut value = json!(doctor);
        tool_names::name_tools(&mut value);
        value["hint"] = json!("`cairn doctor` checks more, also while the daemon does not run");
        Ok(value)
    }
    .boxed()
}

pub(crate) fn devices(call: Call) -> ToolFuture {
    async move {
        let devices = call.services.reads.devices().await?;
        // The list is of use without the daemon, too.
        let doctor = request(&call.services, typed::Doctor {}).await.ok();
        let own_device = doctor.map(|doctor| doctor.device_id);
        let is_known = own_device.is_some();
        let shown: Vec<_> = devices
            .iter()
            .map(|device| {
                let this = own_device.as_deref() == Some(device.id.to_string().as_str());
                let mut shown = json!(device);
                if is_known {
                    shown["this_device"] = json!(this);
                }
                shown
            })
            .collect();
        let mut list = json!({ "devices": shown });
        if !is_known {
            list["note"] = json!(
                "which of them is this machine is known only while its sync daemon runs: `cairn start`"
            );
        }
        Ok(list)
    }
    .boxed()
}

pub(crate) fn conflicts(call: Call) -> ToolFuture {
    async move { conflicts::read(&call).await }.boxed()
}

pub(crate) fn resolve(call: Call) -> ToolFuture {
    async move {
        // The schema has let through nothing else.
        let keep = call.arguments.required_text("keep")?.parse();
        let keep = keep.unwrap_or(Keep::Both);
        let list = request(&call.services, typed::Conflicts {}).await?;
        let path = target::conflict(&list, call.arguments.required_text("path")?)?;
        let resolved = request(&call.services, typed::Resolve { path, keep }).await?;
        Ok(resolution(&resolved))
    }
    .boxed()
}

fn resolution(resolved: &Resolved) -> Value {
    let message = match resolved.copy {
        Some(_) => "both versions stay; `copy` is the new path of the copy",
        None => "the conflict is resolved",
    };
    with_success(json!(resolved), Some(message))
}

pub(crate) fn now(call: Call) -> ToolFuture {
    async move {
        let folder = folder(&call).await?;
        request_within(&call.services, typed::SyncNow { folder }, POLL_TIMEOUT).await?;
        let seconds = call.arguments.get("wait_seconds").and_then(Value::as_u64);
        if let Some(seconds) = seconds.filter(|seconds| *seconds > 0) {
            let wait = typed::WaitUntilSynced {
                timeout_ms: Some(seconds.saturating_mul(1000)),
            };
            let limit = Duration::from_secs(seconds) + GRACE;
            request_within(&call.services, wait, limit).await?;
            let done = json!({ "in_sync": true });
            return Ok(with_success(done, Some("both sides are the same")));
        }
        const STARTED: &str = "looking for changes: sync_status shows when nothing is left";
        Ok(with_success(Value::Null, Some(STARTED)))
    }
    .boxed()
}

pub(crate) fn pause(call: Call) -> ToolFuture {
    async move {
        let folder = folder(&call).await?;
        let until = None;
        let response = request(&call.services, typed::Pause { folder, until }).await?;
        Ok(with_success(json!(response), Some("sync is paused")))
    }
    .boxed()
}

pub(crate) fn resume(call: Call) -> ToolFuture {
    async move {
        let folder = folder(&call).await?;
        let response = request(&call.services, typed::Resume { folder }).await?;
        Ok(with_success(json!(response), Some("sync is resumed")))
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
    let status: Status = request(&call.services, typed::Status {}).await?;
    target::folder(&status, given).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_new_path_of_a_copy_is_shown() {
        let copy = Some("/x/f (laptop)".to_owned());
        let shown = resolution(&Resolved { copy });
        assert_eq!(shown["copy"], "/x/f (laptop)");
        assert_eq!(shown["success"], true);
        let plain = resolution(&Resolved::default());
        let message = json!({ "success": true, "message": "the conflict is resolved" });
        assert_eq!(plain, message);
    }
}
