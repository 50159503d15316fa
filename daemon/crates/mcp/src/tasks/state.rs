//! The state of a task as it is kept, and as a client gets it.
//!
//! The result is kept in two forms, with the texts that others wrote and without: which one a session gets is decided
//! by its own settings, not by those of the session that began the task.

use crate::error::ToolError;
use crate::progress::Report;
use crate::response;
use crate::task_files::{StoredTask, TASK_KEPT_FOR};
use crate::text_policy::ForeignTexts;
use crate::tool::Tool;
use cairn_model::{SpaceId, size};
use cairn_wire::Timestamp;
use rmcp::model::{CallToolResult, DetailedTask, JsonObject, Task, TaskPayload, TaskStatus};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io;

/// The interval that a client is advised to ask in.
const POLL_MS: u64 = 2_000;

/// The state of a task.
#[derive(Serialize, Deserialize)]
pub(crate) struct TaskState {
    /// The account's own space: only sessions of the same account see the task.
    pub(crate) space: SpaceId,
    tool: String,
    created_at: Timestamp,
    updated_at: Timestamp,
    pub(crate) stage: Stage,
}

/// The stage of a task.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stage {
    Working {
        done: u64,
        total: Option<u64>,
        /// The step that it is at; may name a file.
        message: Option<String>,
    },
    /// The results of the call for sessions with either treatment of texts that others wrote.
    Ended {
        fenced: Box<CallToolResult>,
        withheld: Box<CallToolResult>,
    },
    Cancelled,
    /// Found by the reader where the process was killed before it could write an end; never written.
    #[serde(skip)]
    Interrupted,
}

impl Stage {
    pub(crate) fn of_report(report: &Report) -> Self {
        Self::Working {
            done: report.done,
            total: report.total,
            message: report.message.clone(),
        }
    }

    /// Returns the stage after the call has ended like this.
    pub(crate) fn of_outcome(
        tool: &Tool,
        given: &JsonObject,
        outcome: Result<Value, ToolError>,
    ) -> Self {
        let result = |texts| match &outcome {
            Ok(value) => response::success(texts, tool, Some(given), value.clone()),
            Err(error) => response::error(texts, error, Some(given)),
        };
        Self::Ended {
            fenced: Box::new(result(ForeignTexts::Fenced)),
            withheld: Box::new(result(ForeignTexts::Withheld)),
        }
    }
}

impl TaskState {
    /// Returns the state of a new task.
    pub(crate) fn new(space: SpaceId, tool: &Tool) -> Self {
        let now = Timestamp::now();
        Self {
            space,
            tool: tool.name.to_owned(),
            created_at: now,
            updated_at: now,
            stage: Stage::of_report(&Report::default()),
        }
    }

    /// Sets the stage, at the time of now.
    pub(crate) fn set(&mut self, stage: Stage) {
        self.stage = stage;
        self.updated_at = Timestamp::now();
    }

    pub(crate) fn text(&self) -> io::Result<String> {
        Ok(serde_json::to_string(self)?)
    }

    /// Reads a task. One that nobody works on any more, and that did not end, was interrupted.
    ///
    /// # Errors
    /// A text of another form.
    pub(crate) fn read(stored: &StoredTask) -> io::Result<Self> {
        let mut state: Self = serde_json::from_str(&stored.state)?;
        if !stored.is_running && matches!(state.stage, Stage::Working { .. }) {
            state.stage = Stage::Interrupted;
        }
        Ok(state)
    }

    /// Returns the result of the call for a session with this treatment of texts; `None` without one.
    pub(crate) fn result(&self, texts: ForeignTexts) -> Option<CallToolResult> {
        match (&self.stage, texts) {
            (Stage::Ended { fenced, .. }, ForeignTexts::Fenced) => Some((**fenced).clone()),
            (Stage::Ended { withheld, .. }, ForeignTexts::Withheld) => Some((**withheld).clone()),
            (Stage::Interrupted, _) => Some(response::error(texts, &self.interruption(), None)),
            (Stage::Working { .. } | Stage::Cancelled, _) => None,
        }
    }

    fn interruption(&self) -> ToolError {
        let again = match self.tool.as_str() {
            "upload_folder" | "download_folder" => "it skips the files that are done",
            _ => "it begins anew",
        };
        ToolError::refused(format!(
            "the transfer was interrupted: its process ended before it was done, as it does when the machine is restarted. Call {} again: {again}",
            self.tool
        ))
    }

    /// Returns the task for a session with this treatment of texts.
    pub(crate) fn task(&self, id: &str, texts: ForeignTexts) -> Task {
        let (created, updated) = (self.created_at.to_string(), self.updated_at.to_string());
        let mut task = Task::new(id, self.status(), created, updated);
        task.status_message = self.status_message(texts);
        if let Stage::Working { .. } = self.stage {
            return task.with_poll_interval_ms(POLL_MS);
        }
        let lasted = self.updated_at.0.saturating_sub(self.created_at.0);
        let kept = u64::try_from(TASK_KEPT_FOR.as_millis()).unwrap_or(u64::MAX);
        task.with_ttl_ms(kept.saturating_add(u64::try_from(lasted).unwrap_or(0)))
    }

    /// Returns the task with what came of it.
    pub(crate) fn detailed(&self, id: &str, texts: ForeignTexts) -> DetailedTask {
        let payload = match self.result(texts).map(|result| serde_json::json!(result)) {
            Some(Value::Object(result)) => TaskPayload::Completed { result },
            _ if matches!(self.stage, Stage::Cancelled) => TaskPayload::Cancelled,
            _ => TaskPayload::Working,
        };
        DetailedTask::new(self.task(id, texts), payload)
    }

    fn status(&self) -> TaskStatus {
        match self.stage {
            Stage::Working { .. } => TaskStatus::Working,
            Stage::Ended { .. } | Stage::Interrupted => TaskStatus::Completed,
            Stage::Cancelled => TaskStatus::Cancelled,
        }
    }

    fn status_message(&self, texts: ForeignTexts) -> Option<String> {
        let Stage::Working {
            done,
            total,
            message,
        } = &self.stage
        else {
            return None;
        };
        let mut text = size::binary(*done);
        if let Some(total) = total {
            text = format!("{text} of {}", size::binary(*total));
        }
        if let Some(message) = texts.progress_message(message.clone()) {
            text = format!("{text}: {message}");
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(name: &str) -> &'static Tool {
        let mut tools = crate::toolset::ALL.iter().flat_map(|set| set.tools);
        tools.find(|tool| tool.name == name).unwrap()
    }

    fn state(tool_name: &str, stage: Stage) -> TaskState {
        let mut state = TaskState::new(SpaceId::from_random_bytes([1; 16]), tool(tool_name));
        state.stage = stage;
        state
    }

    /// Returns what a session gets of a task after it was kept.
    fn read_back(state: &TaskState, is_running: bool, texts: ForeignTexts) -> Value {
        let stored = StoredTask {
            state: state.text().unwrap(),
            is_running,
        };
        json!(TaskState::read(&stored).unwrap().detailed("1", texts))
    }

    #[test]
    fn a_working_task_says_how_far_it_is_and_never_expires() {
        let working = state(
            "download_folder",
            Stage::Working {
                done: 3 << 20,
                total: Some(12 << 20),
                message: Some("plan.txt".to_owned()),
            },
        );
        let task = read_back(&working, true, ForeignTexts::Fenced);
        assert_eq!(task["status"], "working");
        assert_eq!(task["statusMessage"], "3.0 MiB of 12.0 MiB: plan.txt");
        assert_eq!(task["ttlMs"], Value::Null);
        let task = read_back(&working, true, ForeignTexts::Withheld);
        assert_eq!(task["statusMessage"], "3.0 MiB of 12.0 MiB");
    }

    #[test]
    fn the_session_that_asks_decides_about_texts_of_others() {
        let value =
            json!({ "file_uuid": "123e4567-e89b-42d3-a456-426614174000", "name": "call me" });
        let stage = Stage::of_outcome(tool("download_file"), &JsonObject::new(), Ok(value));
        let ended = state("download_file", stage);
        for (texts, is_named) in [
            (ForeignTexts::Fenced, true),
            (ForeignTexts::Withheld, false),
        ] {
            let task = read_back(&ended, false, texts);
            assert_eq!(task["status"], "completed");
            assert_eq!(task.to_string().contains("call me"), is_named, "{task}");
            assert!(task["ttlMs"].as_u64() >= Some(24 * 3_600_000), "{task}");
        }
    }

    #[test]
    fn a_task_whose_process_is_gone_says_what_to_do() {
        for (name, again) in [
            ("upload_folder", "skips the files that are done"),
            ("upload_file", "begins anew"),
        ] {
            let left = state(name, Stage::of_report(&Report::default()));
            assert_eq!(
                read_back(&left, true, ForeignTexts::Fenced)["status"],
                "working"
            );
            let task = read_back(&left, false, ForeignTexts::Withheld);
            assert_eq!(task["status"], "completed");
            assert_eq!(task["result"]["isError"], true);
            let text = task["result"]["content"][0]["text"].as_str().unwrap();
            assert!(text.contains(name) && text.contains(again), "{text}");
        }
    }

    #[test]
    fn a_failed_call_is_a_completed_task_with_an_error() {
        let outcome = Err(ToolError::NoPassphrase);
        let stage = Stage::of_outcome(tool("upload_file"), &JsonObject::new(), outcome);
        let task = read_back(&state("upload_file", stage), false, ForeignTexts::Fenced);
        assert_eq!(task["status"], "completed");
        assert_eq!(task["result"]["isError"], true);
        assert!(task.get("error").is_none(), "{task}");
    }

    #[test]
    fn a_cancelled_task_has_no_result() {
        let task = read_back(
            &state("upload_file", Stage::Cancelled),
            false,
            ForeignTexts::Fenced,
        );
        assert_eq!(task["status"], "cancelled");
        assert!(task.get("result").is_none(), "{task}");
    }
}
