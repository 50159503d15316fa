//! The state of sync: the account and device, what is open, and what happened last.

use super::account::{self, Foreign};
use super::connection::request;
use super::tool_names::name_tools;
use crate::error::{ToolError, ToolResult};
use crate::services::Services;
use cairn_control::{
    ActivityList, ControlError, DoctorInfo, PathReport, Status, WaitingList, typed,
};
use serde_json::{Value, json};

/// Paths that wait and are listed; `pending` counts them all.
const WAITING: u32 = 10;

/// Returns the daemon's state, also where it does not run: that is what the caller wants to know.
///
/// # Errors
/// [`ToolError::Daemon`] if a daemon runs and does not respond.
pub(crate) async fn read(services: &Services) -> ToolResult<Value> {
    let status: Status = match request(services, typed::Status {}).await {
        Ok(status) => status,
        Err(ToolError::Daemon(ControlError::NotRunning)) => {
            return Ok(json!({
                "running": false,
                "hint": "the sync daemon is not running: start it with `cairn start`, or look at `cairn doctor` if it ends again",
            }));
        }
        Err(error) => return Err(error),
    };
    let doctor: DoctorInfo = request(services, typed::Doctor {}).await?;
    let last: ActivityList = request(services, typed::Activity { limit: 1 }).await?;
    let mut value = status_json(&status);
    value["running"] = json!(true);
    value["account"] = json!(doctor.account);
    value["device"] = json!(doctor.device);
    value["connected"] = json!(doctor.online);
    value["server"] = json!(doctor.server);
    value["version"] = json!(doctor.version);
    value["last_activity"] = json!(last.events.first());
    if status.pending > 0 {
        let list: WaitingList = request(services, typed::Waiting { limit: WAITING }).await?;
        let waiting = list.waiting.iter().take(WAITING as usize);
        value["waiting"] = waiting.map(waiting_json).collect();
    }
    name_tools(&mut value);
    if status.open_conflicts > 0 {
        value["hint"] = json!("sync_conflicts lists the open conflicts");
    }
    // While the daemon is offline, asking the service would take long.
    if doctor.online
        && let Some(Foreign::Other { tools, .. }) = account::compare_with(services, &doctor).await
    {
        value["tools_account"] = json!(tools);
        value["note"] = json!(
            "the daemon syncs the files of `account`, but the other tools here use the account `tools_account`"
        );
    }
    Ok(value)
}

/// Returns the path, state and reason of something that waits; `sync_why` has the rest.
fn waiting_json(report: &PathReport) -> Value {
    json!({ "path": report.path, "state": report.state, "reason": report.message })
}

/// Returns the status with the problems by cause: their examples are in the groups.
fn status_json(status: &Status) -> Value {
    let mut value = json!(status);
    value["decisions"] = json!(status.decisions());
    let folders = value["folders"].as_array_mut().into_iter().flatten();
    for folder in folders.filter_map(Value::as_object_mut) {
        folder.remove("errors");
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_control::{FolderStatus, ProblemGroup};
    use cairn_model::{Problem, ProblemCode};

    #[test]
    fn problems_are_shown_by_their_cause_and_once() {
        let problem = Problem {
            path: "x".to_owned(),
            code: ProblemCode::Watch,
            ..Problem::default()
        };
        let group = ProblemGroup {
            code: ProblemCode::Watch,
            count: 30_000,
            message: "30,000 problems".to_owned(),
            examples: vec!["x".to_owned()],
            ..ProblemGroup::default()
        };
        let status = Status {
            folders: vec![FolderStatus {
                errors: vec![problem; 20],
                problems: vec![group],
                ..FolderStatus::default()
            }],
            ..Status::default()
        };
        let folder = &status_json(&status)["folders"][0];
        assert!(folder.get("errors").is_none(), "{folder}");
        assert_eq!(folder["problems"][0]["count"], 30_000);
        assert_eq!(folder["problems"][0]["examples"][0], "x");
    }
}
