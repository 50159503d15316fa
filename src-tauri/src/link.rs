//! The connection to the daemon: kept up, with the daemon started where none runs.
//!
//! One task owns it. Others ask through [`Daemon`], and hear of changes as [`LinkEvent`]s.

use crate::program::{Fault, FaultCode, Program, Run};
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
/// How often to look during that time.
const LOOK: Duration = Duration::from_millis(100);
/// After a start that failed. A person may try again at once.
const AGAIN: Duration = Duration::from_secs(15);

/// What became of the connection, or came over it.
#[derive(Clone, PartialEq, Debug)]
pub enum LinkEvent {
    /// It is being looked for, or started.
    Starting,
    Up,
    /// There is none, for this reason; tried again later.
    Down(Fault),
    Told(Event),
}

/// The daemon, or a double of it in tests.
#[async_trait]
pub trait Daemon: Send + Sync + 'static {
    /// Makes a request and gives its answer.
    ///
    /// # Errors
    /// [`Fault`], [`FaultCode::NoDaemon`] while none can be asked.
    async fn ask(&self, request: Request) -> Result<Value, Fault>;

    /// Ends the daemon and keeps it so until [`Daemon::release`].
    ///
    /// # Errors
    /// The `cairn` program's.
    async fn hold(&self) -> Result<(), Fault>;

    /// Lets the daemon run again, and looks for it at once.
    fn release(&self);
}

/// The connection to the daemon of one home.
pub struct Link {
    socket: PathBuf,
    program: Arc<dyn Program>,
    client: RwLock<Option<Arc<Client>>>,
    held: AtomicBool,
    wake: Notify,
}

impl Link {
    /// A connection that is not made yet: [`Link::keep`] makes it.
    #[must_use]
    pub fn new(socket: PathBuf, program: Arc<dyn Program>) -> Arc<Self> {
        Arc::new(Self {
            socket,
            program,
            client: RwLock::new(None),
            held: AtomicBool::new(false),
            wake: Notify::new(),
        })
    }

    /// Keeps the connection up until nobody listens any more.
    pub async fn keep(&self, events: mpsc::Sender<LinkEvent>) {
        while !events.is_closed() {
            if self.held.load(Ordering::Acquire) {
                self.wake.notified().await;
                continue;
            }
            match self.connect().await {
                Ok(client) => {
                    self.listen(Arc::new(client), &events).await;
                    // Whether anybody hears it shows at the top of the loop.
                    let _ = events.send(LinkEvent::Starting).await;
                    if !self.held.load(Ordering::Acquire) {
                        self.wait_for_return().await;
                    }
                }
                Err(ControlError::NotRunning | ControlError::Closed) => {
                    let _ = events.send(LinkEvent::Starting).await;
                    if let Err(fault) = self.program.run(Run::of(["start"])).await {
                        self.wait_after(fault, &events).await;
                    }
                }
                Err(error) => self.wait_after(error.into(), &events).await,
            }
        }
    }

    async fn connect(&self) -> Result<Client, ControlError> {
        Client::connect(&self.socket, "tray").await
    }

    /// Passes on what the daemon tells until it ends.
    async fn listen(&self, client: Arc<Client>, events: &mpsc::Sender<LinkEvent>) {
        let Ok(mut told) = client.subscribe().await else {
            return;
        };
        *self.client.write().await = Some(client);
        let mut going = events.send(LinkEvent::Up).await.is_ok();
        while going {
            going = match told.next().await {
                Some(event) => events.send(LinkEvent::Told(event)).await.is_ok(),
                None => false,
            };
        }
        *self.client.write().await = None;
    }

    /// Waits a little for a daemon that is restarted by somebody else.
    async fn wait_for_return(&self) {
        let looking = async {
            while self.connect().await.is_err() {
                sleep(LOOK).await;
            }
        };
        // In vain: then one is started.
        let _ = timeout(GRACE, looking).await;
    }

    /// Tells of a failure and waits, but no longer than until a person wants it tried again.
    async fn wait_after(&self, fault: Fault, events: &mpsc::Sender<LinkEvent>) {
        if self.held.load(Ordering::Acquire) {
            return;
        }
        let _ = events.send(LinkEvent::Down(fault)).await;
        let _ = timeout(AGAIN, self.wake.notified()).await;
    }
}

#[async_trait]
impl Daemon for Link {
    async fn ask(&self, request: Request) -> Result<Value, Fault> {
        let client = self.client.read().await.clone();
        let client = client.ok_or_else(|| {
            Fault::new(
                FaultCode::NoDaemon,
                "the daemon is not running just now: it is being started",
            )
        })?;
        Ok(client.request::<Value>(request).await?)
    }

    async fn hold(&self) -> Result<(), Fault> {
        self.held.store(true, Ordering::Release);
        self.program.run(Run::of(["stop"])).await.map(drop)
    }

    fn release(&self) {
        self.held.store(false, Ordering::Release);
        self.wake.notify_one();
    }
}

#[cfg(test)]
mod tests;
