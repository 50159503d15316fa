//! The signals at which the server ends: the one place of its program that asks for the system.

#[cfg(unix)]
use anyhow::Context as _;
use anyhow::Result;

/// Ends at SIGTERM or SIGINT. The handlers are in place before the server says that it listens.
#[cfg(unix)]
pub(crate) fn stop() -> Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).context("can't wait for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("can't wait for SIGINT")?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// Ends at Ctrl-C.
#[cfg(not(unix))]
pub(crate) fn stop() -> Result<impl Future<Output = ()>> {
    Ok(async {
        if let Err(error) = tokio::signal::ctrl_c().await {
            tracing::warn!(%error, "can't wait for Ctrl-C");
            std::future::pending::<()>().await;
        }
    })
}
