//! Work that one of the servers on a database does at a time, for as long as it holds the work's lease. A server whose
//! data is its own does all of it.

use crate::state::AppState;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The time after which the lease of a server that was killed is free.
const LIFETIME: Duration = Duration::from_secs(5);
/// The interval at which a lease is renewed, and looked at by those who wait for it.
const RENEWAL: Duration = Duration::from_secs(1);
/// The interval at which transferred bytes become known to the other servers, and old responses are forgotten.
const FLUSH: Duration = Duration::from_secs(5);

/// Does `work` whenever this server has its lease, for as long as the future is polled. It stops in the middle where the
/// lease is lost, or could not be renewed in time.
pub(crate) async fn run<F: Future<Output = ()>>(
    state: AppState,
    name: &'static str,
    work: impl Fn(AppState) -> F,
) {
    if !state.store.is_shared() {
        return work(state).await;
    }
    loop {
        until_held(&state, name).await;
        tracing::info!(work = name, "this server does it from now on");
        tokio::select! {
            () = work(state.clone()) => {}
            () = until_lost(&state, name) => {
                tracing::warn!(work = name, "another server does it, or this one could not keep its lease");
            }
        }
    }
}

async fn until_held(state: &AppState, name: &str) {
    loop {
        match state.store.hold_lease(name, LIFETIME) {
            Ok(true) => return,
            Ok(false) => {}
            Err(error) => tracing::debug!(%error, work = name, "can't ask for a lease"),
        }
        sleep(RENEWAL).await;
    }
}

async fn until_lost(state: &AppState, name: &str) {
    let mut renewed = Instant::now();
    loop {
        sleep(RENEWAL).await;
        let asked = Instant::now();
        match state.store.hold_lease(name, LIFETIME) {
            Ok(true) => renewed = asked,
            Ok(false) => return,
            // It may have been renewed or not. Before it can be another's, this server stops.
            Err(_) if renewed.elapsed() + RENEWAL < LIFETIME => {}
            Err(_) => return,
        }
    }
}

/// Lets the other servers know that this one lives, and what was transferred through it; forgets what is old in memory.
pub(crate) async fn stay_alive(state: AppState) {
    if !state.store.is_shared() {
        return std::future::pending().await;
    }
    let mut flushed = Instant::now();
    loop {
        if let Err(error) = state.store.stay_alive(LIFETIME) {
            tracing::debug!(%error, "can't tell the other servers that this one lives");
        }
        if flushed.elapsed() >= FLUSH {
            flushed = Instant::now();
            state.kept.forget_old(state.source.now_ms());
            if let Err(error) = state.bandwidth.flush_all(&state.store) {
                tracing::warn!(%error, "transferred bytes are not counted yet");
            }
        }
        sleep(RENEWAL).await;
    }
}
