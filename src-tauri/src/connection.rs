//! The connection to the daemon: reconnects, and starts the daemon if none runs.
//!
//! One task owns it. Others make requests through [`Daemon`] and receive [`ConnectionEvent`]s.

use crate::program::{Program, ProgramError, ProgramErrorCode, Run};
use async_trait::async_trait;
use cairn_control::{Client, ControlError, Event, Request};
use futures_util::StreamExt as _;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{Notify, RwLock, mpsc};
use tokio::time::{sleep, timeout};

/// A daemon that went away may be on its way back (a restart), before another one is started.
const GRACE: Duration = Duration::from_secs(2);
/// The interval of connection attempts during that time.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);
/// The pause after a start that failed. A person may try again at once.
const BACK_OFF: Duration = Duration::from_secs(15);

/// A change of the connection, or an event that came over it.
#[derive(Clone, PartialEq, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all of them are events, and few are kept at once"
)]
pub enum ConnectionEvent {
    /// The daemon is being looked for, or started.
    Starting,
    Up,
    /// No daemon runs, for this reason; tried again later.
    Down(ProgramError),
    Event(Event),
}

/// The daemon, or a double of it in tests.
#[async_trait]
pub trait Daemon: Send + Sync + 'static {
    /// Makes a request and returns its reply.
    ///
    /// # Errors
    /// [`ProgramError`], [`ProgramErrorCode::NoDaemon`] while none is connected.
    async fn request(&self, request: Request) -> Result<Value, ProgramError>;

    /// Stops the daemon and starts none until [`Daemon::allow`].
    ///
    /// # Errors
    /// The error of the `cairn` program.
    async fn suspend(&self) -> Result<(), ProgramError>;

    /// Allows the daemon to run again, and connects at once.
    fn allow(&self);
}

/// The connection to the daemon of one home.
pub struct Connection {
    socket: PathBuf,
    program: Arc<dyn Program>,
    client: RwLock<Option<Arc<Client>>>,
    suspended: AtomicBool,
    wake: Notify,
}

impl Connection {
    /// Returns a connection that is not made yet: [`Connection::maintain`] makes it.
    #[must_use]
    pub fn new(socket: PathBuf, program: Arc<dyn Program>) -> Arc<Self> {
        Arc::new(Self {
            socket,
            program,
            client: RwLock::new(None),
            suspended: AtomicBool::new(false),
            wake: Notify::new(),
        })
    }

    /// Keeps the connection up until the receiver of the events is dropped.
    pub async fn maintain(&self, events: mpsc::Sender<ConnectionEvent>) {
        while !events.is_closed() {
            if self.suspended.load(Ordering::Acquire) {
                self.wake.notified().await;
                continue;
            }
            match self.connect().await {
                Ok(client) => {
                    self.forward_events(Arc::new(client), &events).await;
                    // A dropped receiver shows at the top of the loop.
                    let _ = events.send(ConnectionEvent::Starting).await;
                    if !self.suspended.load(Ordering::Acquire) {
                        self.wait_for_return().await;
                    }
                }
                Err(ControlError::NotRunning | ControlError::Closed) => {
                    let _ = events.send(ConnectionEvent::Starting).await;
                    if let Err(fault) = self.program.run(Run::of(["start"])).await {
                        self.back_off(fault, &events).await;
                    }
                }
                Err(error) => self.back_off(error.into(), &events).await,
            }
        }
    }

    async fn connect(&self) -> Result<Client, ControlError> {
        Client::connect(&self.socket, "tray").await
    }

    /// Forwards the daemon's events until it ends.
    async fn forward_events(&self, client: Arc<Client>, events: &mpsc::Sender<ConnectionEvent>) {
        let Ok(mut received) = client.subscribe().await else {
            return;
        };
        *self.client.write().await = Some(client);
        let mut connected = events.send(ConnectionEvent::Up).await.is_ok();
        while connected {
            connected = match received.next().await {
                Some(event) => events.send(ConnectionEvent::Event(event)).await.is_ok(),
                None => false,
            };
        }
        *self.client.write().await = None;
    }

    /// Waits a little for a daemon that is restarted by somebody else.
    async fn wait_for_return(&self) {
        let looking = async {
            while self.connect().await.is_err() {
                sleep(RETRY_INTERVAL).await;
            }
        };
        // In vain: then one is started.
        let _ = timeout(GRACE, looking).await;
    }

    /// Reports a failure and waits until the next attempt is due, or a person wants one now.
    async fn back_off(&self, fault: ProgramError, events: &mpsc::Sender<ConnectionEvent>) {
        if self.suspended.load(Ordering::Acquire) {
            return;
        }
        let _ = events.send(ConnectionEvent::Down(fault)).await;
        let _ = timeout(BACK_OFF, self.wake.notified()).await;
    }
}

#[async_trait]
impl Daemon for Connection {
    async fn request(&self, request: Request) -> Result<Value, ProgramError> {
        let client = self.client.read().await.clone();
        let client = client.ok_or_else(|| {
            ProgramError::new(
                ProgramErrorCode::NoDaemon,
                "the daemon is not running: it is being started, try again in a moment",
            )
        })?;
        Ok(client.request::<Value>(request).await?)
    }

    async fn suspend(&self) -> Result<(), ProgramError> {
        self.suspended.store(true, Ordering::Release);
        self.program.run(Run::of(["stop"])).await.map(drop)
    }

    fn allow(&self) {
        self.suspended.store(false, Ordering::Release);
        self.wake.notify_one();
    }
}

#[cfg(test)]
mod tests;
