//! The daemon: one engine for one home, steered through the control socket until it is asked to end.
//!
//! Wiring and lifetime only; what a request means is in [`handler`], what it looks like in [`convert`].

mod automatic;
mod convert;
mod disk;
mod events;
mod handler;
mod ports;
mod why;

use crate::config::Config;
use crate::failure::{CommandResult, Context as _};
use crate::session::{RetryProfile, Session};
use crate::{folders, logging};
use cairn_engine::{EngineHandle, EngineOptions};
use cairn_index::Index;
use cairn_platform::Zone;
use cairn_platform::socket::Listener;
use cairn_platform::{DaemonLock, Home, process};
use cairn_transfer::{Limits, Transfer};
use disk::GuardedDisk;
use handler::Daemon;
use parking_lot::Mutex;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::Notify;

/// Options of a running daemon.
pub(crate) struct Options {
    pub(crate) home: Home,
    pub(crate) zone: Zone,
    /// Nobody watches: leave the terminal, log to files only.
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
    logging::for_daemon(&home, &config.log_level, to_stderr)?;
    let session = Session::open(&home, RetryProfile::Background)?;
    let index = open_index(&home)?;
    // Before the engine begins to work: who sees the socket sees a daemon that answers.
    let listener = Listener::bind(&home.socket_path())?;
    let disk = Arc::new(GuardedDisk::new(roots_of(&index)?));
    let engine = start_engine(
        &home,
        &session,
        Arc::new(index),
        &config,
        disk.clone(),
        zone,
    )?;
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        pid = std::process::id(),
        server = session.account.server,
        device = session.account.device_name,
        "the daemon runs"
    );
    let stop = Arc::new(Notify::new());
    let daemon = Arc::new(Daemon::new(
        home,
        session,
        engine,
        disk,
        config,
        stop.clone(),
    ));
    let automatic = tokio::spawn(automatic::watch_power(daemon.clone()));
    let result = tokio::select! {
        () = cairn_control::serve(&listener, daemon.clone()) => Ok(()),
        () = stop.notified() => Ok(()),
        requested = process::wait_for_stop_request() => requested.context("listen for signals"),
    };
    tracing::info!("the daemon ends");
    automatic.abort();
    daemon.engine().shutdown().await;
    // Released last: whoever waits for the lock finds nothing of this daemon left.
    drop(listener);
    drop(lock);
    result
}

/// Returns the local folders of all pairs.
fn roots_of(index: &Index) -> CommandResult<Vec<PathBuf>> {
    let folders = index.read(|db| db.folders())?;
    Ok(folders.into_iter().map(|row| row.root.into()).collect())
}

/// Opens the index, and says in the log if an unreadable one had to be set aside.
fn open_index(home: &Home) -> CommandResult<Index> {
    let (index, set_aside) = folders::open_index(home)?;
    if let Some(path) = &set_aside {
        tracing::warn!(
            set_aside = %path.display(),
            "the index was unreadable: it was set aside and is built again from the disk and the server; \
             the folder pairs are restored from their backup, nothing was deleted"
        );
    }
    Ok(index)
}

fn start_engine(
    home: &Home,
    session: &Session,
    index: Arc<Index>,
    config: &Config,
    disk: Arc<GuardedDisk>,
    zone: Zone,
) -> CommandResult<Arc<EngineHandle>> {
    let transfer = Transfer::new(
        session.api.clone(),
        session.keys.space.clone(),
        session.account.device,
        cairn_transfer::Options {
            limits: Arc::new(Limits::new(config.limits.up, config.limits.down)),
            ..cairn_transfer::Options::default()
        },
    );
    let ports = cairn_engine::ports::Ports {
        disk,
        watch: Arc::new(ports::RealWatch),
        clock: Arc::new(ports::RealClock::new(zone)),
        random: Arc::new(Mutex::new(cairn_space::SystemRandom)),
        threads: true,
    };
    let options = EngineOptions {
        settings: config.engine(),
        own_places: folders::own_places(home, &index)?,
        ..EngineOptions::new(
            index,
            session.api.clone(),
            Arc::new(transfer),
            session.keys.space.clone(),
            session.account.device_name.clone(),
            ports,
        )
    };
    Ok(Arc::new(cairn_engine::start(options)?))
}
