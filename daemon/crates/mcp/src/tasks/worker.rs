//! The work of a task, in its own process: runs the call, writes how far it is, and stops when it is requested to.

use super::{Stage, TaskCall, TaskState};
use crate::call;
use crate::error::{ToolError, ToolResult};
use crate::progress::{Report, Reporter};
use crate::services::Services;
use crate::task_files::TaskFiles;
use crate::time_limit::TimeLimit;
use crate::tool::Tool;
use crate::toolset;
use cairn_model::SpaceId;
use futures_util::FutureExt as _;
use serde_json::Value;
use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

/// The interval in which the state is written and a request to stop is looked for.
const TICK: Duration = Duration::from_millis(500);

/// Runs the call of a task and writes its result.
///
/// # Errors
/// A task or call that can't be read, and the error of writing the result.
pub(crate) async fn run(
    services: Arc<Services>,
    files: &dyn TaskFiles,
    id: &str,
    call: &str,
) -> io::Result<()> {
    let call = TaskCall::read(call)?;
    let mut tools = toolset::ALL.iter().flat_map(|set| set.tools);
    let tool = tools.find(|tool| tool.name == call.tool);
    let tool = tool.ok_or(io::ErrorKind::InvalidInput)?;
    let stored = files.read(id)?.ok_or(io::ErrorKind::NotFound)?;
    let state = serde_json::from_str(&stored.state)?;
    let given = call.given.clone();
    let mut task = Running { files, id, state };
    let (progress, reports) = Reporter::new();
    let work = work(tool, call, services, progress, task.state.space);
    let stage = match task.watch(work, reports).await {
        Some(outcome) => {
            if let Err(error) = &outcome {
                tracing::info!(tool = tool.name, %error, "the tool failed");
            }
            Stage::of_outcome(tool, &given, outcome)
        }
        None => Stage::Cancelled,
    };
    task.write(stage)
}

async fn work(
    tool: &'static Tool,
    call: TaskCall,
    services: Arc<Services>,
    progress: Reporter,
    space: SpaceId,
) -> ToolResult<Value> {
    // Somebody may have logged in as another one since.
    if services.own_space_id().await? != space {
        return Err(ToolError::refused(
            "the account was changed while the transfer began: call the tool again",
        ));
    }
    let run = call::run(tool, call.into_call(services, progress), TimeLimit::NONE);
    AssertUnwindSafe(run)
        .catch_unwind()
        .await
        .unwrap_or_else(|_| {
            tracing::error!(tool = tool.name, "the tool panicked");
            Err(ToolError::Internal)
        })
}

/// A task with the process that works on it, this one.
struct Running<'a> {
    files: &'a dyn TaskFiles,
    id: &'a str,
    state: TaskState,
}

impl Running<'_> {
    /// Awaits the work and writes its progress; `None` if it was stopped on request, and then it has ended, too.
    async fn watch<T>(
        &mut self,
        work: impl Future<Output = T>,
        mut reports: watch::Receiver<Report>,
    ) -> Option<T> {
        tokio::pin!(work);
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                // A task that is stopped before it has begun changes nothing.
                biased;
                _ = ticks.tick() => {
                    if self.files.is_stop_requested(self.id) {
                        return None;
                    }
                    let changed = reports.has_changed().unwrap_or(false);
                    let stage = changed.then(|| Stage::of_report(&reports.borrow_and_update()));
                    if let Some(Err(error)) = stage.map(|stage| self.write(stage)) {
                        tracing::warn!(%error, "the progress of the transfer can't be written");
                    }
                }
                done = &mut work => return Some(done),
            }
        }
    }

    fn write(&mut self, stage: Stage) -> io::Result<()> {
        self.state.set(stage);
        self.files.write(self.id, &self.state.text()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task_files::{StoredTask, TaskProcess};
    use parking_lot::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};
    use tokio::sync::Notify;

    /// The files of one task in memory.
    #[derive(Default)]
    struct OneTask {
        states: Mutex<Vec<String>>,
        written: Notify,
        stop: AtomicBool,
    }

    impl TaskFiles for OneTask {
        fn new_id(&self) -> String {
            "1".to_owned()
        }

        fn write(&self, _: &str, state: &str) -> io::Result<()> {
            self.states.lock().push(state.to_owned());
            self.written.notify_one();
            Ok(())
        }

        fn read(&self, _: &str) -> io::Result<Option<StoredTask>> {
            Ok(None)
        }

        fn remove(&self, _: &str) {}

        fn request_stop(&self, _: &str) -> io::Result<()> {
            self.stop.store(true, Ordering::SeqCst);
            Ok(())
        }

        fn is_stop_requested(&self, _: &str) -> bool {
            self.stop.load(Ordering::SeqCst)
        }

        fn start(&self, _: &str, _: String) -> io::Result<TaskProcess> {
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    fn task_in(files: &OneTask) -> Running<'_> {
        let tool = toolset::ALL.iter().flat_map(|set| set.tools).next();
        Running {
            files,
            id: "1",
            state: TaskState::new(SpaceId::from_random_bytes([1; 16]), tool.unwrap()),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn progress_is_written_while_the_work_goes_on() {
        let files = OneTask::default();
        let (progress, reports) = Reporter::new();
        let work = async {
            progress.set_total(7);
            progress.set_message("plan.txt");
            files.written.notified().await;
            "done"
        };
        assert_eq!(task_in(&files).watch(work, reports).await, Some("done"));
        let states = files.states.lock();
        assert!(
            states[0].contains("\"total\":7") && states[0].contains("plan.txt"),
            "{states:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_to_stop_ends_the_work() {
        let files = OneTask::default();
        let (_progress, reports) = Reporter::new();
        let is_dropped = AtomicBool::new(false);
        let work = async {
            let _at_end = DropMark(&is_dropped);
            files.request_stop("1").unwrap();
            std::future::pending::<()>().await;
        };
        assert_eq!(task_in(&files).watch(work, reports).await, None);
        assert!(is_dropped.load(Ordering::SeqCst));
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_was_stopped_before_does_not_begin() {
        let files = OneTask::default();
        files.request_stop("1").unwrap();
        let (_progress, reports) = Reporter::new();
        let has_begun = AtomicBool::new(false);
        let work = async { has_begun.store(true, Ordering::SeqCst) };
        assert_eq!(task_in(&files).watch(work, reports).await, None);
        assert!(!has_begun.load(Ordering::SeqCst));
    }

    struct DropMark<'a>(&'a AtomicBool);

    impl Drop for DropMark<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
}
