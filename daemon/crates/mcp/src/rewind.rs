//! Bringing a folder back to a time. The plan and the changes are those of `cairn rewind`, which the program gives
//! to the server: what was where in the past is known on this device.

use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::question::{Asking, quote};
use crate::rewinder::RewindMode;
use crate::tool::ToolFuture;
use futures_util::FutureExt as _;
use serde_json::Value;

pub(crate) fn rewind(call: Call) -> ToolFuture {
    async move {
        let mode = if is_carried_out(&call) {
            RewindMode::CarryOut
        } else {
            RewindMode::Plan
        };
        run(&call, mode).await
    }
    .boxed()
}

/// Returns the question before a plan is carried out, with its numbers.
pub(crate) fn question_of(call: &Call) -> Asking<'_> {
    async move {
        if !is_carried_out(call) {
            return Ok(None);
        }
        let planned = run(call, RewindMode::Plan).await?;
        Ok(question(&planned))
    }
    .boxed()
}

fn is_carried_out(call: &Call) -> bool {
    call.arguments.get("carry_out").and_then(Value::as_bool) == Some(true)
}

async fn run(call: &Call, mode: RewindMode) -> ToolResult<Value> {
    let rewinder = call.services.rewinder.as_ref().ok_or_else(|| {
        ToolError::refused(
            "folders are brought back for the account that this machine is logged in to, and these tools use another one",
        )
    })?;
    let path = call.arguments.required_text("path")?.to_owned();
    let to = call.arguments.required_text("to")?.to_owned();
    let done = rewinder.rewind(path, to, mode).await;
    done.map_err(ToolError::Quoting)
}

/// Returns the question of a plan; `None` if it changes nothing.
fn question(planned: &Value) -> Option<String> {
    let plan = &planned["plan"];
    let number = |name: &str| plan[name].as_u64().unwrap_or_default();
    let moved = plan["moves"].as_array().map_or(0, Vec::len) as u64;
    let parts: Vec<String> = [
        (number("files_back"), "come back from the trash"),
        (number("files_trashed"), "go to the trash"),
        (number("files_changed"), "get an earlier version"),
        (moved, "move back"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{count} {what}"))
    .collect();
    let text = |name: &str| quote(planned[name].as_str().unwrap_or_default());
    (!parts.is_empty()).then(|| {
        format!(
            "Make {} what it was at {}? Of its files and folders {}.",
            text("path"),
            text("at"),
            parts.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_question_has_the_numbers_of_the_plan() {
        let plan = json!({
            "files_back": 412, "files_trashed": 0, "files_changed": 8,
            "moves": [{ "from": "/a", "to": "/b" }],
        });
        let at = "2026-11-20T14:00:00Z";
        let planned = json!({ "path": "/docs", "at": at, "plan": plan });
        assert_eq!(
            question(&planned).as_deref(),
            Some(
                "Make `/docs` what it was at `2026-11-20T14:00:00Z`? Of its files and folders 412 come back from the trash, 8 get an earlier version, 1 move back."
            )
        );
        let nothing = json!({ "plan": { "files_back": 0, "moves": [] } });
        assert_eq!(question(&nothing), None);
    }
}
