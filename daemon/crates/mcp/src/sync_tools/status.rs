//! The state of sync: of which account and device, what is open, and what happened last.

use super::connection::request;
use crate::error::{ToolError, ToolResult};
use crate::services::Services;
use cairn_control::{ActivityList, ConflictList, ControlError, DoctorInfo, Status, typed};
use cairn_model::SyncState;
use serde_json::{Value, json};
use std::time::Duration;

/// Problems of one folder that are listed; the rest is counted.
const MAX_PROBLEMS: usize = 20;
/// The time limit for asking the service whose account these tools use.
const ACCOUNT_TIMEOUT: Duration = Duration::from_secs(2);

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
    let conflicts: ConflictList = request(services, typed::Conflicts {}).await?;
    let doctor: DoctorInfo = request(services, typed::Doctor {}).await?;
    let last: ActivityList = request(services, typed::Activity { limit: 1 }).await?;
    let open = conflicts.conflicts.len();
    // A conflict waits for a person although nothing is left to transfer.
    let attention = open > 0 && status.state == SyncState::Idle;
    let mut value = shown(&status);
    value["running"] = json!(true);
    value["account"] = json!(doctor.account);
    value["device"] = json!(doctor.device);
    value["open_conflicts"] = json!(open);
    value["connected"] = json!(doctor.online);
    value["server"] = json!(doctor.server);
    value["version"] = json!(doctor.version);
    value["last_activity"] = json!(last.events.first());
    if attention {
        value["state"] = json!(SyncState::Attention);
    }
    if open > 0 {
        value["hint"] = json!("sync_conflicts lists the open conflicts");
    }
    if let Some(other) = other_account(services, &doctor).await {
        value["note"] = json!(format!(
            "the daemon syncs the files of {}, but the other tools here use the account {other}",
            doctor.account
        ));
    }
    Ok(value)
}

/// Returns the status with at most some problems of each folder.
fn shown(status: &Status) -> Value {
    let mut value = json!(status);
    for folder in value["folders"].as_array_mut().into_iter().flatten() {
        let Some(problems) = folder["errors"].as_array_mut() else {
            continue;
        };
        let more = problems.len().saturating_sub(MAX_PROBLEMS);
        problems.truncate(MAX_PROBLEMS);
        if more > 0 {
            folder["more_errors"] = json!(more);
        }
    }
    value
}

/// Returns the address of the account that the other tools use, if it is not the daemon's.
async fn other_account(services: &Services, doctor: &DoctorInfo) -> Option<String> {
    if !doctor.online || doctor.account.is_empty() {
        return None;
    }
    let account = tokio::time::timeout(ACCOUNT_TIMEOUT, services.reads.account()).await;
    let own = account.ok()?.ok()?.email;
    (own != doctor.account).then_some(own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_control::{FolderStatus, Problem};
    use cairn_model::ProblemCode;

    #[test]
    fn of_many_problems_some_are_shown_and_the_rest_counted() {
        let problem = Problem {
            path: "x".to_owned(),
            code: ProblemCode::Watch,
            message: String::new(),
            hint: String::new(),
        };
        let status = Status {
            folders: vec![
                FolderStatus {
                    errors: vec![problem.clone(); MAX_PROBLEMS + 3],
                    ..FolderStatus::default()
                },
                FolderStatus {
                    errors: vec![problem],
                    ..FolderStatus::default()
                },
            ],
            ..Status::default()
        };
        let value = shown(&status);
        let folder = &value["folders"][0];
        assert_eq!(folder["errors"].as_array().unwrap().len(), MAX_PROBLEMS);
        assert_eq!(folder["more_errors"], 3);
        assert!(value["folders"][1].get("more_errors").is_none());
    }
}
