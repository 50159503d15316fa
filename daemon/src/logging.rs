//! Targets of log lines: for the daemon files that rotate daily, for everything stderr when asked.
//!
//! Nothing is ever logged to stdout, and no log line holds a key, a token or a file's content.

use crate::failure::{CommandResult, Failure};
use cairn_platform::Home;
use std::io::IsTerminal as _;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::Registry;
use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::reload;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Days that are kept.
const KEEP: usize = 14;

/// The beginning of every log file's name.
pub(crate) const PREFIX: &str = "cairn";

/// The file beside them that has what a daemon in the background writes to standard error.
pub(crate) const DAEMON_ERRORS: &str = "daemon.stderr";

/// The file beside them that has what the processes of assistants' tasks write to standard error.
pub(crate) const TASK_ERRORS: &str = "tasks.stderr";

/// Sets up a command's log: only what was asked for, to stderr.
pub(crate) fn for_command(level: Option<&str>) -> CommandResult {
    let Some(level) = level else { return Ok(()) };
    tracing_subscriber::registry()
        .with(to_stderr(level)?)
        .try_init()
        .map_err(|e| Failure::failed(e.to_string()))
}

/// The level of the daemon's log files, which can be changed while it runs.
#[derive(Clone)]
pub(crate) struct FileLevel(reload::Handle<EnvFilter, Registry>);

impl FileLevel {
    /// Puts another level in force, for the lines from now on.
    pub(crate) fn set(&self, level: &str) -> CommandResult {
        self.0
            .reload(filter(level)?)
            .map_err(|e| Failure::failed(e.to_string()))
    }
}

/// Sets up the daemon's log: to the home's log files, and to stderr unless nobody reads it. Returns the level of the
/// files.
pub(crate) fn for_daemon(
    home: &Home,
    file_level: &str,
    stderr_level: Option<&str>,
) -> CommandResult<FileLevel> {
    let dir = home.logs_dir();
    let files = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix(PREFIX)
        .filename_suffix("log")
        .max_log_files(KEEP)
        .build(&dir)
        .map_err(|e| Failure::failed(format!("can't write logs to {}: {e}", dir.display())))?;
    let (level, handle) = reload::Layer::new(filter(file_level)?);
    let to_files = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(files)
        .with_filter(level);
    let to_stderr = stderr_level.map(to_stderr).transpose()?;
    tracing_subscriber::registry()
        .with(to_files)
        .with(to_stderr)
        .try_init()
        .map_err(|e| Failure::failed(e.to_string()))?;
    Ok(FileLevel(handle))
}

fn to_stderr<S>(level: &str) -> CommandResult<impl tracing_subscriber::Layer<S> + use<S>>
where
    S: tracing::Subscriber + for<'a> tracing_subscriber::registry::LookupSpan<'a>,
{
    Ok(tracing_subscriber::fmt::layer()
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .with_filter(filter(level)?))
}

fn filter(level: &str) -> CommandResult<EnvFilter> {
    // The protocol's library logs whole tool calls, with passwords of links in their arguments: whatever is chosen for
    // it counts for nothing.
    let mut parts: Vec<&str> = level.split(',').collect();
    parts.retain(|part| !part.trim_start().starts_with("rmcp"));
    let chosen: Result<EnvFilter, _> = parts.join(",").parse();
    let quiet = "rmcp=warn".parse();
    let both = chosen.and_then(|filter| Ok(filter.add_directive(quiet?)));
    both.map_err(|_| {
        Failure::usage(format!("`{level}` is not a valid log level (use error, warn, info, debug, trace or a filter of them)"))
    })
}

#[cfg(test)]
mod tests {
    use super::filter;

    #[test]
    fn whole_tool_calls_are_logged_at_no_level() {
        for level in [
            "debug,rmcp::service=trace",
            "trace, rmcp=debug",
            "rmcp::service=trace",
        ] {
            let Ok(filter) = filter(level) else {
                panic!("{level} is refused");
            };
            let directives = filter.to_string();
            assert!(directives.contains("rmcp=warn"), "{directives}");
            assert!(!directives.contains("rmcp::service"), "{directives}");
            assert!(!directives.contains("rmcp=debug"), "{directives}");
        }
    }
}
