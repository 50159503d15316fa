//! The sync daemon of this machine: its state, what it did, conflicts, pauses.

mod account;
mod activity;
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

pub(crate) use folders::{Place, SyncedFolders};
pub(crate) use meaning::{Found, find_path, is_unmistakable};

use crate::call::{Call, with_success};
use crate::error::{ToolError, ToolResult};
use crate::question::Asking;
use crate::tool::ToolFuture;
use cairn_control::{DoctorInfo, Resolved, Status, typed};
use cairn_model::{ConfirmationKind, DeletionDecision, Keep};
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

pub(crate) fn confirm(call: Call) -> ToolFuture {
    async move {
        // The schema has let through nothing else; what keeps files is the safe one.
        let decision = call.arguments.required_text("answer")?.parse();
        let decision = decision.unwrap_or(DeletionDecision::Keep);
        let given = call.arguments.required_text("folder")?;
        if decision != DeletionDecision::Keep && !call.is_confirmed {
            return Err(unconfirmed_error(given, decision));
        }
        let status: Status = request(&call.services, typed::Status {}).await?;
        let folder = target::folder(&status, given)?;
        let done = match decision {
            DeletionDecision::Delete => "the files are deleted on the other side too",
            DeletionDecision::Overwrite => "the service's versions are overwritten",
            DeletionDecision::Keep => {
                "the files come back; versions that were not to be overwritten stay, with what is here beside them"
            }
        };
        let response = request(&call.services, typed::Confirm { folder, decision }).await?;
        Ok(with_success(json!(response), Some(done)))
    }
    .boxed()
}

/// Returns the error for what waits for a person, so that a client that can't ask one can't let it go on.
fn unconfirmed_error(folder: &str, decision: DeletionDecision) -> ToolError {
    ToolError::refused(format!(
        "only a person can let what waits in {} go on, and nobody was asked here: have them run `cairn confirm FOLDER {decision}`; the answer `keep` brings the files back and overwrites nothing",
        crate::question::quote(folder)
    ))
}

/// Returns the question before files are deleted or overwritten; keeping them needs none.
pub(crate) fn held_changes(call: &Call) -> Asking<'_> {
    async move {
        let answer = call.arguments.text("answer");
        let kind = match answer.and_then(|answer| answer.parse().ok()) {
            Some(DeletionDecision::Delete) => ConfirmationKind::Deletion,
            Some(DeletionDecision::Overwrite) => ConfirmationKind::Overwriting,
            Some(DeletionDecision::Keep) | None => return Ok(None),
        };
        let status: Status = request(&call.services, typed::Status {}).await?;
        let local = target::folder(&status, call.arguments.required_text("folder")?)?;
        let folder = status.folders.iter().find(|folder| folder.local == local);
        let confirmations = folder.map(|folder| folder.confirmations.as_slice());
        let files: u64 = confirmations
            .unwrap_or_default()
            .iter()
            .filter(|waiting| waiting.kind == kind)
            .map(|waiting| waiting.files)
            .sum();
        let files = if files == 1 {
            "1 file".to_owned()
        } else {
            format!("{files} files")
        };
        let local = crate::question::quote(&local);
        Ok(Some(match kind {
            ConfirmationKind::Deletion => {
                format!("Delete {files} of {local} on the other side too?")
            }
            ConfirmationKind::Overwriting => format!(
                "{files} of {local} look encrypted now. Overwrite the service's versions with them?"
            ),
        }))
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
