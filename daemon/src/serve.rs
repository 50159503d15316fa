//! The daemon: a sync engine for each space that an installation has folders in, controlled through a socket until it
//! is asked to end.
//!
//! Wiring and lifetime only; the requests are carried out in [`handler`], and converted in [`convert`].

mod automatic;
mod checks;
mod convert;
mod disk;
mod engine_slot;
mod engines;
mod events;
mod halt;
mod handler;
mod limits;
mod merge;
mod own_engine;
mod ports;
mod shared;
mod team_engine;
mod why;

use crate::config::Config;
use crate::failure::{CommandResult, Context as _};
use crate::folders::spaces::{self, SpaceIndex};
use crate::logging;
use crate::session::{RetryProfile, Session};
use cairn_platform::Zone;
use cairn_platform::socket::Listener;
use cairn_platform::{DaemonLock, Home, process};
use engines::Engines;
use handler::Daemon;
use shared::Shared;
use std::sync::Arc;
use tokio::sync::Notify;

/// Options of a running daemon.
pub(crate) struct Options {
    pub(crate) home: Home,
    pub(crate) zone: Zone,
    /// True to leave the terminal and log to files alone.
    pub(crate) background: bool,
    /// The level on stderr in the foreground.
    pub(crate) log: Option<String>,
}

/// Runs the daemon of a home until it is asked to end.
pub(crate) async fn run(options: Options) -> CommandResult {
    let Options {
        home,
        zone,
        background,
        log,
    } = options;
    if background {
        process::leave_terminal();
    }
    home.create()?;
    let lock = DaemonLock::acquire(&home.lock_file())?;
    let config = Config::load(&home)?;
    let to_stderr = (!background).then(|| log.as_deref().unwrap_or("info"));
    let log_level = logging::for_daemon(&home, &config.log_level, to_stderr)?;
    let session = Session::open(&home, RetryProfile::Background)?;
    let own = open_own_index(&home)?;
    let shared = Arc::new(Shared::new(home, session, config, zone));
    own_engine::check_before_start(&shared).await;
    // Before the engines begin to work: who sees the socket sees a daemon that answers.
    let listener = Listener::bind(&shared.home.socket_path())?;
    let (server, device) = {
        let account = &shared.session().account;
        (account.server.clone(), account.device_name.clone())
    };
    let engines = Engines::start(shared.clone(), own).await?;
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        pid = std::process::id(),
        server,
        device,
        "the daemon runs"
    );
    let stop = Arc::new(Notify::new());
    let scheduled = shared.clone();
    let daemon = Arc::new(Daemon::new(
        shared,
        engines.clone(),
        stop.clone(),
        log_level,
    ));
    let automatic = tokio::spawn(automatic::watch_power(daemon.clone()));
    let schedules = tokio::spawn(async move {
        let config = || scheduled.config.lock().clone();
        limits::follow_schedules(config, &scheduled.limits, &scheduled.clock()).await;
    });
    let result = tokio::select! {
        () = cairn_control::serve(&listener, daemon.clone()) => Ok(()),
        () = stop.notified() => Ok(()),
        requested = process::wait_for_stop_request() => requested.context("listen for signals"),
    };
    tracing::info!("the daemon ends");
    automatic.abort();
    schedules.abort();
    engines.shutdown().await;
    // Released last: whoever waits for the lock finds nothing of this daemon left.
    drop(listener);
    drop(lock);
    result
}

/// Opens the index of the account's own space, and says in the log if an unreadable one had to be set aside.
fn open_own_index(home: &Home) -> CommandResult<SpaceIndex> {
    let own = spaces::open_own(home)?;
    if let Some(path) = &own.set_aside {
        tracing::warn!(
            set_aside = %path.display(),
            "the index was unreadable: it was set aside and is built again from the disk and the server; \
             the folder pairs are restored from their backup, nothing was deleted"
        );
    }
    Ok(own)
}
