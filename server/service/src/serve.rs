//! Serving over TCP until the process is asked to end.

mod connections;
mod head_errors;

use crate::error::{Error, Result};
use crate::server::Server;
use crate::{compaction, webhooks};
use std::fs::{File, TryLockError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::net::TcpListener;

/// The time that requests on their way may take once the server is to end.
const GRACE: Duration = Duration::from_secs(5);
const HOUSEKEEPING: Duration = Duration::from_secs(600);
/// The interval at which objects that nobody knows are looked for.
const SWEEPING: Duration = Duration::from_secs(24 * 3600);
/// File systems stamp files up to a clock tick early.
const STAMP_MARGIN_MS: i64 = 1_000;
/// A sweep while serving spares what may still be on its way into the database.
const ON_THE_WAY_MS: i64 = 3_600_000;

/// Serves until `stop` is there, then ends streams and waits up to 5 s for the other requests.
///
/// # Errors
/// [`Error::Config`] if another server uses the data directory, [`Error::Io`] if accepting fails.
pub async fn serve(
    server: &Server,
    listener: TcpListener,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    let _lock = lock(server)?;
    let background = tokio::spawn(look_after(server.clone(), machine_ms()));
    let dispatcher = tokio::spawn(webhooks::run(server.state.clone()));
    let mut connections = tokio::spawn(connections::serve(
        listener,
        server.router(),
        server.state.clone(),
    ));
    let ended = tokio::select! {
        ended = &mut connections => ended,
        () = stop => {
            server.close();
            match tokio::time::timeout(GRACE, &mut connections).await {
                Ok(ended) => ended,
                Err(_) => {
                    connections.abort();
                    Ok(())
                }
            }
        }
    };
    background.abort();
    dispatcher.abort();
    server.state.bandwidth.flush_all(&server.state.store)?;
    ended.map_err(|e| Error::internal(format!("the server task ended: {e}")))
}

/// Keeps a second server off the data directory; the command line may still work on it.
fn lock(server: &Server) -> Result<Option<File>> {
    let options = &server.state.options;
    if options.ephemeral {
        return Ok(None);
    }
    let path = options.data.join("server.lock");
    let io = |source| Error::io(format!("can't lock {}", path.display()), source);
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(io)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(Error::config(format!(
            "another cairn-server uses {}; stop it, or choose another --data",
            options.data.display()
        ))),
        Err(TryLockError::Error(source)) => Err(io(source)),
    }
}

/// The machine's own clock, which also stamps objects.
fn machine_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(0))
}

/// Deletes what a crash left behind at the start and daily, and what has expired more often.
async fn look_after(server: Server, started_ms: i64) {
    sweep(&server, started_ms - STAMP_MARGIN_MS).await;
    let mut housekeeping = tokio::time::interval(HOUSEKEEPING);
    let mut sweeping = tokio::time::interval(SWEEPING);
    sweeping.reset();
    loop {
        tokio::select! {
            _ = housekeeping.tick() => {
                if let Err(error) = server.housekeep().await {
                    tracing::warn!(%error, "housekeeping failed");
                }
            }
            _ = sweeping.tick() => {
                sweep(&server, machine_ms() - ON_THE_WAY_MS).await;
                compact(&server).await;
            }
        }
    }
}

async fn compact(server: &Server) {
    match compaction::compact_large(&server.state).await {
        Ok(0) => {}
        Ok(count) => tracing::info!(count, "rewrote objects that were mostly unreferenced"),
        Err(error) => tracing::warn!(%error, "can't look for objects that are mostly unreferenced"),
    }
}

async fn sweep(server: &Server, before_ms: i64) {
    match server.sweep_objects(before_ms).await {
        Ok(0) => {}
        Ok(count) => tracing::info!(count, "deleted objects that nothing refers to"),
        Err(error) => tracing::warn!(%error, "can't look for objects that nothing refers to"),
    }
}
