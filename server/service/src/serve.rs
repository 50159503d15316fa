//! Serving over TCP until the process is asked to end.

mod bodies;
mod connections;
mod head_errors;
mod vanished;
mod writes;

use crate::background::{self, Task};
use crate::error::{Error, Result};
use crate::leased;
use crate::mail;
use crate::options::Options;
use crate::routes::metrics;
use crate::server::Server;
use crate::state::AppState;
use crate::webhooks;
use cairn_store::lock_server;
use std::fs::File;
use std::time::Duration;
use tokio::net::TcpListener;

/// The time that requests on their way may take once the server is to end.
const GRACE: Duration = Duration::from_secs(5);
const HOUSEKEEPING: Duration = Duration::from_secs(600);
/// The interval at which objects that nobody knows are looked for.
const SWEEPING: Duration = Duration::from_secs(24 * 3600);
/// File systems stamp files up to a clock tick early.
const STAMP_MARGIN_MS: i64 = 1_000;

/// Serves until `stop` is there, then ends streams and waits up to 5 s for the other requests.
///
/// # Errors
/// [`Error::Config`] if another server uses the data directory, [`Error::Io`] if accepting fails.
pub async fn serve(
    server: &Server,
    listener: TcpListener,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    // One that was built for this has it already.
    let _lock = match server.state.lock {
        Some(_) => None,
        None => lock(&server.state.options)?,
    };
    let state = &server.state;
    let started_ms = background::machine_ms();
    leased::begin_to_live(state);
    let tasks = [
        tokio::spawn(leased::stay_alive(state.clone())),
        tokio::spawn(leased::run(state.clone(), "background", move |state| {
            run_background(state, started_ms)
        })),
        tokio::spawn(leased::run(state.clone(), "webhooks", webhooks::run)),
        tokio::spawn(leased::run(state.clone(), "mails", mail::run)),
    ];
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
    for task in tasks {
        task.abort();
        // Until it has ended it might take a lease anew.
        drop(task.await);
    }
    if let Err(error) = state.store.give_up_leases() {
        tracing::warn!(%error, "other servers wait until the leases of this one end");
    }
    state.bandwidth.flush_all(&state.store)?;
    ended.map_err(|e| Error::internal(format!("the server task ended: {e}")))
}

/// Serves metrics at an address of their own until the server is closed.
pub async fn serve_metrics(server: Server, listener: TcpListener) {
    let routes = metrics::own_address(&server.state);
    connections::serve(listener, routes, server.state).await;
}

/// Keeps a second server off the data directory; the command line may still work on it.
pub(crate) fn lock(options: &Options) -> Result<Option<File>> {
    if options.ephemeral {
        return Ok(None);
    }
    let held = lock_server(&options.data)?;
    held.map(Some).ok_or_else(|| {
        Error::config(format!(
            "another cairn-server uses {}; stop it, or choose another --data",
            options.data.display()
        ))
    })
}

/// Deletes what a crash left behind at the start and daily, and what has expired more often.
async fn run_background(state: AppState, started_ms: i64) {
    let state = &state;
    // Where other servers write as well, an object from before the start may be on its way into the database: it has
    // the time that the daily sweep gives it. Failures are logged and counted where they happen.
    if state.options.database.is_none() {
        drop(background::sweep(state, started_ms - STAMP_MARGIN_MS).await);
    }
    let mut housekeeping = tokio::time::interval(HOUSEKEEPING);
    let mut sweeping = tokio::time::interval(SWEEPING);
    sweeping.reset();
    loop {
        tokio::select! {
            _ = housekeeping.tick() => drop(state.housekeep().await),
            _ = sweeping.tick() => {
                drop(background::run(state, Task::Objects).await);
                drop(background::run(state, Task::Compaction).await);
            }
        }
    }
}
