//! The context of every command: the home (the directories of this installation), the output streams, and the
//! connection to the daemon.

use crate::config::Config;
use crate::failure::{CommandResult, Context as _, Failure};
use crate::logging;
use crate::output::Out;
use crate::session::{RetryProfile, Session};
use cairn_control::{Client, ControlError, SILENCE_LIMIT, typed};
use cairn_platform::Zone;
use cairn_platform::{DaemonLock, Holder, Home, process};
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

/// Time limit for a daemon to accept connections: opening a big index after a crash included.
const START: Duration = Duration::from_secs(30);
/// Time limit for a daemon to end; its own limit is 5 s.
const STOP: Duration = Duration::from_secs(10);
/// Time limit for it to take the request; then its process gets the signal for it.
const SHUTDOWN: Duration = Duration::from_secs(3);
/// Interval between tries to connect.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The context of a command.
pub(crate) struct App {
    pub(crate) home: Home,
    pub(crate) out: Out,
    /// `--no-start`: a daemon that is not running is an error.
    pub(crate) no_start: bool,
    pub(crate) zone: Zone,
}

impl App {
    /// Opens the session of the logged-in account.
    pub(crate) fn session(&self) -> CommandResult<Session> {
        Session::open(&self.home, RetryProfile::Interactive)
    }

    /// The running daemon, if there is one.
    pub(crate) async fn running_daemon(&self) -> CommandResult<Option<Client>> {
        match self.connect().await {
            Ok(client) => Ok(Some(client)),
            Err(ControlError::NotRunning) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Connects to the daemon; a person reads after some seconds that it does not respond.
    async fn connect(&self) -> Result<Client, ControlError> {
        let lock = self.home.lock_file();
        let pid = move || DaemonLock::holder(&lock).ok().flatten()?.pid;
        let (out, of_lock) = (self.out, pid.clone());
        let notice = move || {
            let process = pid().map(|pid| format!(" (process {pid})"));
            out.note(format_args!(
                "The daemon{} does not respond; waiting for it up to {} s.",
                process.unwrap_or_default(),
                SILENCE_LIMIT.as_secs()
            ));
        };
        let socket = self.home.socket_path();
        let connected = Client::connect_watched(&socket, "cli", Arc::new(notice)).await;
        connected.map_err(
            |error| match matches!(error, ControlError::Silent { pid: None }) {
                true => ControlError::Silent { pid: of_lock() },
                false => error,
            },
        )
    }

    /// The daemon, started if need be.
    pub(crate) async fn daemon(&self) -> CommandResult<Client> {
        match self.running_daemon().await? {
            Some(client) => Ok(client),
            None if self.no_start => Err(ControlError::NotRunning.into()),
            None => self.start().await,
        }
    }

    /// Checks what a daemon needs to start: a valid configuration and the account's keys.
    pub(crate) fn check_start(&self) -> CommandResult {
        drop(Config::load(&self.home)?);
        drop(Session::open(&self.home, RetryProfile::Background)?);
        Ok(())
    }

    /// Starts the daemon in the background and waits until it responds.
    pub(crate) async fn start(&self) -> CommandResult<Client> {
        // Better reported here than in a log.
        self.check_start()?;
        let exe = std::env::current_exe().context("find the program itself")?;
        self.home.create()?;
        let log = self.home.logs_dir().join(logging::DAEMON_ERRORS);
        let before = std::fs::metadata(&log).map_or(0, |meta| meta.len());
        let args: [OsString; 4] = [
            "--home".into(),
            self.home.data_dir().into(),
            "daemon".into(),
            "--background".into(),
        ];
        let args = if self.home.is_default() {
            &args[2..]
        } else {
            &args[..]
        };
        let mut child = process::spawn_daemon(&exe, args, &log)?;
        let deadline = Instant::now() + START;
        let mut ticks = interval(POLL_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if let Some(client) = self.running_daemon().await? {
                return Ok(client);
            }
            if let Some(status) = child.try_wait()? {
                return self.after_early_end(&log, before, status.code()).await;
            }
            if Instant::now() > deadline {
                let text = format!(
                    "the daemon didn't respond within {} s: see `cairn logs`",
                    START.as_secs()
                );
                return Err(Failure::failed(text));
            }
        }
    }

    /// Connects after our daemon ended at once, as it does where another command started one at the same time;
    /// else reports the last line of its log.
    async fn after_early_end(
        &self,
        log: &Path,
        before: u64,
        code: Option<i32>,
    ) -> CommandResult<Client> {
        let deadline = Instant::now() + START;
        let mut ticks = interval(POLL_INTERVAL);
        while DaemonLock::holder(&self.home.lock_file())?.is_some() && Instant::now() < deadline {
            ticks.tick().await;
            if let Some(client) = self.running_daemon().await? {
                return Ok(client);
            }
        }
        let text = std::fs::read(log).unwrap_or_default();
        let message = text
            .get(usize::try_from(before).unwrap_or(0)..)
            .unwrap_or_default();
        let message = String::from_utf8_lossy(message);
        let last = message
            .lines()
            .map(|line| line.trim_start_matches("cairn: "))
            .rfind(|line| !line.is_empty());
        let code = code.map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
        Err(Failure::failed(format!(
            "the daemon didn't start ({code}): {}",
            last.unwrap_or("see `cairn logs`")
        )))
    }

    /// Ends the daemon if it runs. Returns true if it did.
    pub(crate) async fn stop(&self) -> CommandResult<bool> {
        let lock = self.home.lock_file();
        let shutdown = async {
            let client = Client::connect(&self.home.socket_path(), "cli").await?;
            match client.send(typed::Shutdown {}).await {
                // It may end before its reply is out.
                Ok(_) | Err(ControlError::Closed) => Ok(client.pid()),
                Err(error) => Err(error),
            }
        };
        let pid = match timeout(SHUTDOWN, shutdown).await {
            Ok(Ok(pid)) => Some(pid),
            Ok(Err(error @ ControlError::Refused(_))) => return Err(error.into()),
            // A daemon of another version, or one that has only begun or does not respond.
            Ok(Err(_)) | Err(_) => {
                let pid = DaemonLock::holder(&lock)?.map(known_pid).transpose()?;
                pid.map(process::terminate).transpose()?;
                pid
            }
        };
        let Some(pid) = pid else { return Ok(false) };
        let deadline = Instant::now() + STOP;
        let mut ticks = interval(POLL_INTERVAL);
        while DaemonLock::holder(&lock)?.is_some() {
            if Instant::now() > deadline {
                return Err(Failure::failed(format!(
                    "the daemon (process {pid}) did not exit within {} s: end it with `kill -9 {pid}`, nothing is lost by it",
                    STOP.as_secs()
                )));
            }
            ticks.tick().await;
        }
        Ok(true)
    }
}

fn known_pid(holder: Holder) -> CommandResult<u32> {
    holder.pid.ok_or_else(|| {
        Failure::failed(
            "a daemon runs for this home, but the files with its process id and its socket are gone: end the process `cairn daemon` yourself, nothing is lost by it",
        )
    })
}
