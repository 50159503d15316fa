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
            // There is nothing to do for this server, which keeps its lease no longer.
            () = work(state.clone()) => return,
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

/// Lets the other servers know that this one lives: what it carries out from now on is its.
pub(crate) fn begin_to_live(state: &AppState) {
    if let Err(error) = state.store.stay_alive(LIFETIME) {
        tracing::debug!(%error, "can't tell the other servers that this one lives");
    }
}

/// Lets the other servers know that this one lives on, and what was transferred through it; forgets what is old in memory.
pub(crate) async fn stay_alive(state: AppState) {
    if !state.store.is_shared() {
        return std::future::pending().await;
    }
    let mut flushed = Instant::now();
    loop {
        begin_to_live(&state);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;
    use crate::state::ServerState;
    use cairn_store::PostgresUrl;
    use std::path::Path;
    use std::sync::Arc;
    use tokio::sync::watch;
    use tokio::task::JoinHandle;
    use tokio::time::timeout;
    use uuid::Uuid;

    const SOON: Duration = Duration::from_secs(20);

    fn server(data: &Path, database: &str) -> AppState {
        let options = Options {
            data: data.to_owned(),
            database: Some(PostgresUrl(database.to_owned())),
            ..Options::default()
        };
        Arc::new(ServerState::open(options, None).unwrap())
    }

    /// Sets a flag for as long as it lives.
    struct Working(watch::Sender<bool>);

    impl Drop for Working {
        fn drop(&mut self) {
            self.0.send_replace(false);
        }
    }

    /// Starts work under a lease on a server; returns its task, and whether it is done at the moment.
    fn start(state: &AppState) -> (JoinHandle<()>, watch::Receiver<bool>) {
        let (sender, receiver) = watch::channel(false);
        let task = tokio::spawn(run(state.clone(), "work", move |_| {
            let working = Working(sender.clone());
            async move {
                working.0.send_replace(true);
                std::future::pending::<()>().await;
            }
        }));
        (task, receiver)
    }

    async fn becomes(flag: &mut watch::Receiver<bool>, wanted: bool) {
        timeout(SOON, flag.wait_for(|is| *is == wanted))
            .await
            .unwrap()
            .unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "needs PostgreSQL: `cargo xtask test --only PostgreSQL`"]
    async fn work_is_done_by_one_server_and_goes_over_to_another_one() {
        let url = std::env::var("CAIRN_TEST_POSTGRES").unwrap();
        let database = format!(
            "{url}?options=-csearch_path%3Dtest_{}",
            Uuid::new_v4().simple()
        );
        let data = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let one = server(data[0].path(), &database);
        std::fs::copy(
            data[0].path().join("records.key"),
            data[1].path().join("records.key"),
        )
        .unwrap();
        let other = server(data[1].path(), &database);
        let (_task, mut first) = start(&one);
        becomes(&mut first, true).await;
        let (task, mut second) = start(&other);
        // As if it had not renewed it in time: the other one takes it, and this one learns that and stops.
        while !*second.borrow_and_update() {
            one.store.give_up_leases().unwrap();
            drop(timeout(RENEWAL, second.changed()).await);
        }
        becomes(&mut first, false).await;
        assert!(*second.borrow());
        // The other one ends, and with it the lease: the first one goes on.
        task.abort();
        becomes(&mut second, false).await;
        other.store.give_up_leases().unwrap();
        becomes(&mut first, true).await;
    }
}
