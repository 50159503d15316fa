//! The log: lines of text or of JSON on stderr.

use serde::Deserialize;
use std::io::IsTerminal as _;
use tracing_subscriber::EnvFilter;

/// The form of a line of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Lines for people; with colours on a terminal alone.
    #[default]
    Text,
    /// One object a line, for programs that collect logs.
    Json,
}

/// Starts the log; `CAIRN_LOG` says how much of it there is.
pub fn start_log(format: LogFormat) {
    let filter = EnvFilter::try_from_env("CAIRN_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    match format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
}
