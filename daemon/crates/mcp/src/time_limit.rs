//! The time limit of a whole call: the programs of assistants give up after 60 seconds, and then nobody hears whether
//! something was done.

use crate::error::{ToolError, ToolResult};
use crate::outcome;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The time limit of a call, all of its requests and their retries together.
pub(crate) const CALL_TIMEOUT: Duration = Duration::from_secs(50);

/// Tools that work for as long as there is something to work on: they move contents, or take many steps, each of which
/// is noted or can be repeated, or of which the last ones belong to the first, as the keys of all files in a folder do
/// to its new link or copy. `sync_now` waits for as long as the call says.
const WITHOUT_LIMIT: [&str; 16] = [
    "auto_classify_folder",
    "bulk_create_share_links",
    "copy_file",
    "create_share_link",
    "download_file",
    "download_folder",
    "move_files",
    "read_file_content",
    "read_file_version",
    "share_file_by_email",
    "sync_now",
    "sync_rewind",
    "undo_session",
    "update_share_link",
    "upload_file",
    "upload_folder",
];

/// The end of the time for a call.
#[derive(Clone, Copy)]
pub(crate) struct TimeLimit {
    /// The end, and how long it was to it from the start.
    end: Option<(Instant, Duration)>,
}

impl TimeLimit {
    /// No limit, for a call that nobody waits for.
    pub(crate) const NONE: Self = Self { end: None };

    /// Starts the time of a call of a tool.
    pub(crate) fn start(tool: &str) -> Self {
        if WITHOUT_LIMIT.contains(&tool) {
            Self::NONE
        } else {
            Self::start_for(CALL_TIMEOUT)
        }
    }

    /// Starts the time of one of many steps.
    pub(crate) fn start_for(time: Duration) -> Self {
        Self {
            end: Some((Instant::now() + time, time)),
        }
    }

    /// Runs what goes before the tool itself.
    ///
    /// # Errors
    /// [`ToolError::TimedOut`], and those of the work.
    pub(crate) async fn prepare<T>(
        self,
        work: impl Future<Output = ToolResult<T>>,
    ) -> ToolResult<T> {
        match self.end {
            None => work.await,
            Some((end, time)) => timeout_at(end, work).await.unwrap_or_else(|_| {
                Err(ToolError::TimedOut {
                    seconds: time.as_secs(),
                })
            }),
        }
    }

    /// Runs the tool of a name.
    ///
    /// # Errors
    /// [`ToolError::MayBeDone`] for a change that has not ended in time, and as [`Self::prepare`].
    pub(crate) async fn run<T>(
        self,
        (tool, is_read_only): (&str, bool),
        work: impl Future<Output = ToolResult<T>>,
    ) -> ToolResult<T> {
        let result = self.prepare(work).await;
        result.map_err(|error| {
            let has_run_out = matches!(error, ToolError::TimedOut { .. });
            if has_run_out && !is_read_only {
                outcome::of_ended_call(tool, error)
            } else {
                error
            }
        })
    }

    /// Runs what only adds to a result that is there, as far as there is time; returns whether there was enough. Nobody
    /// waits for longer than [`CALL_TIMEOUT`] for that alone.
    pub(crate) async fn complete(self, work: impl Future<Output = ()>) -> bool {
        let longest = Instant::now() + CALL_TIMEOUT;
        let end = self.end.map_or(longest, |(end, _)| end);
        let is_complete = timeout_at(end, work).await.is_ok();
        if !is_complete {
            tracing::debug!("there was no time to complete the result");
        }
        is_complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolset;
    use std::future::pending;

    #[test]
    fn the_tools_without_a_limit_exist() {
        for name in WITHOUT_LIMIT {
            assert!(TimeLimit::start(name).end.is_none(), "{name}");
            let mut tools = toolset::ALL.iter().flat_map(|set| set.tools);
            assert!(tools.any(|tool| tool.name == name), "{name}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_service_that_hangs_is_reported_before_the_client_gives_up() {
        for (name, may_be_done) in [("list_files", false), ("create_folder", true)] {
            let begin = Instant::now();
            let limit = TimeLimit::start(name);
            limit.prepare(async { Ok(()) }).await.unwrap();
            let hung = limit.run((name, !may_be_done), pending::<ToolResult>());
            let hung = hung.await.unwrap_err();
            assert!(begin.elapsed() < Duration::from_secs(55), "{name}");
            let message = hung.public_message();
            assert!(message.contains("50 s"), "{message}");
            let says_so = message.contains("may have been done");
            assert_eq!(says_so, may_be_done, "{message}");
            let mut value = 1;
            assert!(!limit.complete(pending()).await);
            assert!(limit.complete(async { value += 1 }).await);
            assert!(begin.elapsed() < Duration::from_secs(55), "{name}");
            assert_eq!(value, 2, "what needs no time is still added");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_transfer_takes_as_long_as_it_takes() {
        let slow = async {
            tokio::time::advance(Duration::from_secs(3600)).await;
            Ok(1)
        };
        assert_eq!(
            TimeLimit::start("download_file")
                .run(("download_file", false), slow)
                .await
                .unwrap(),
            1
        );
        let limit = TimeLimit::start("download_file");
        assert!(!limit.complete(pending()).await, "its result is there");
    }
}
