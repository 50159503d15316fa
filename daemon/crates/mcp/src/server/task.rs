//! Tasks for clients: calls that are handed to a process of their own, and the requests about them.

use super::handler::Handler;
use super::tool_call::ToolReply;
use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::task_files::{TaskFiles, TaskProcess};
use crate::tasks::{self, Stage, TaskCall, TaskState};
use crate::tool::Tool;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, ClientCapabilities, CreateTaskResult, ErrorData};
use rmcp::service::RequestContext;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// The time in which a transfer has to end to be answered like any other call.
const ANSWERED_AT_ONCE: Duration = Duration::from_secs(2);
/// The time limit for a process to start.
const START: Duration = Duration::from_secs(30);

impl Handler {
    /// Hands a call that may take long to a process of its own, where this client knows tasks; `None` if the call is to
    /// run here.
    pub(super) async fn run_as_task(
        &self,
        tool: &'static Tool,
        call: &Call,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> ToolResult<Option<ToolReply>> {
        let Some(files) = &self.services.tasks else {
            return Ok(None);
        };
        if !declares_tasks(context) || !tasks::is_long(tool, call).await {
            return Ok(None);
        }
        let state = TaskState::new(self.services.own_space_id().await?, tool);
        let id = files.new_id();
        let given = request.arguments.clone().unwrap_or_default();
        let started = TaskCall::of(tool, call, given).text().and_then(|text| {
            files.write(&id, &state.text()?)?;
            files.start(&id, text)
        });
        let process = match started {
            Ok(process) => process,
            Err(error) => {
                tracing::warn!(%error, "the transfer has no process of its own and ends with this one");
                files.remove(&id);
                return Ok(None);
            }
        };
        self.first_reply(files, id, process).await
    }

    /// Returns the result of a task that ends at once, else the task.
    async fn first_reply(
        &self,
        files: &Arc<dyn TaskFiles>,
        id: String,
        mut process: TaskProcess,
    ) -> ToolResult<Option<ToolReply>> {
        // The client may cancel the call as long as it knows no task.
        let task = StopOnDrop {
            files: files.clone(),
            id,
            is_known: false,
        };
        match timeout(START, process.ready).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => {
                tracing::warn!("the process of a transfer ended before it began");
                return Ok(None);
            }
            Err(_) => {
                return Err(ToolError::TimedOut {
                    seconds: START.as_secs(),
                });
            }
        }
        let has_ended = timeout(ANSWERED_AT_ONCE, &mut process.ended).await.is_ok();
        let stored = files
            .read(&task.id)
            .and_then(|stored| stored.ok_or_else(|| io::ErrorKind::NotFound.into()))
            .and_then(|stored| TaskState::read(&stored))
            .map_err(ToolError::local("read the state of the transfer"))?;
        let texts = self.services.foreign_texts;
        if has_ended {
            return match stored.result(texts) {
                Some(result) => Ok(Some(ToolReply::Finished(Box::new(result)))),
                None => Err(ToolError::Cancelled),
            };
        }
        let reply = CreateTaskResult::new(stored.task(&task.id, texts));
        task.leave();
        Ok(Some(ToolReply::Task(Box::new(reply))))
    }

    /// Returns a task of this session's account.
    ///
    /// # Errors
    /// A client that doesn't know tasks, or an id that is none of the account.
    pub(super) async fn find_task(
        &self,
        id: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<(Arc<dyn TaskFiles>, TaskState), ErrorData> {
        if !declares_tasks(context) {
            return Err(ErrorData::missing_required_client_capability(
                ClientCapabilities::builder().enable_tasks().build(),
            ));
        }
        let files = self
            .services
            .tasks
            .clone()
            .ok_or_else(|| unknown_task(id))?;
        let stored = files.read(id).unwrap_or_else(|error| {
            tracing::warn!(%error, "a task can't be read");
            None
        });
        let stored = stored.ok_or_else(|| unknown_task(id))?;
        let state = TaskState::read(&stored).map_err(|_| unknown_task(id))?;
        let space = self.services.own_space_id().await.map_err(|error| {
            ErrorData::internal_error(ToolError::from(error).public_message(), None)
        })?;
        if state.space != space {
            return Err(unknown_task(id));
        }
        Ok((files, state))
    }

    /// Requests a task to stop; one that has ended stays as it is.
    ///
    /// # Errors
    /// As [`Self::find_task`], and a disk that can't be written.
    pub(super) async fn stop_task(
        &self,
        id: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let (files, state) = self.find_task(id, context).await?;
        if !matches!(state.stage, Stage::Working { .. }) {
            return Ok(());
        }
        files.request_stop(id).map_err(|error| {
            tracing::warn!(%error, "a task can't be stopped");
            ErrorData::internal_error(
                "the transfer can't be stopped: the disk can't be written",
                None,
            )
        })
    }
}

/// Returns whether the request itself says that its client knows tasks: what was declared before doesn't count.
fn declares_tasks(context: &RequestContext<RoleServer>) -> bool {
    let declared = context.meta.client_capabilities();
    declared.is_some_and(|capabilities| capabilities.supports_tasks())
}

fn unknown_task(id: &str) -> ErrorData {
    let id: String = id.chars().take(100).collect();
    ErrorData::invalid_params(
        format!(
            "there is no task `{id}`: tasks are kept for 24 hours after their end, for the account that began them"
        ),
        None,
    )
}

/// Stops a task of which no client has heard, and removes one that has ended.
struct StopOnDrop {
    files: Arc<dyn TaskFiles>,
    id: String,
    is_known: bool,
}

impl StopOnDrop {
    /// Leaves the task to its client.
    fn leave(mut self) {
        self.is_known = true;
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        if self.is_known {
            return;
        }
        let stored = self.files.read(&self.id);
        if stored.is_ok_and(|stored| stored.is_some_and(|stored| stored.is_running)) {
            if let Err(error) = self.files.request_stop(&self.id) {
                tracing::warn!(%error, "a transfer that was cancelled goes on");
            }
        } else {
            self.files.remove(&self.id);
        }
    }
}
