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

/// The filter if `CAIRN_LOG` is not set. A certificate of somebody else's server that can't be verified is no error of
/// this one: whoever has a webhook there reads it in its deliveries.
const DEFAULT_FILTER: &str = "info,rustls_platform_verifier=off";

/// Starts the log; `CAIRN_LOG` says how much of it there is.
pub fn start_log(format: LogFormat) {
    let filter =
        EnvFilter::try_from_env("CAIRN_LOG").unwrap_or_else(|_| EnvFilter::new(DEFAULT_FILTER));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    match format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    #[test]
    fn certificates_of_others_are_no_errors_of_this_server() {
        let log = tracing_subscriber::fmt()
            .with_env_filter(EnvFilter::new(DEFAULT_FILTER))
            .finish();
        tracing::subscriber::with_default(log, || {
            assert!(tracing::enabled!(target: "cairn_service", Level::INFO));
            assert!(!tracing::enabled!(
                target: "rustls_platform_verifier::verification::others",
                Level::ERROR
            ));
        });
    }
}
