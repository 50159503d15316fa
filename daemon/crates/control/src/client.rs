//! The other end: asks the daemon and listens to its events.

use crate::envelope::{Ask, Hello, PROTOCOL, Told, Welcome};
use crate::error::ControlError;
use crate::event::Event;
use crate::line;
use crate::request::{Done, Request};
use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, StreamExt as _};
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncRead, AsyncWrite, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::UnboundedReceiverStream;

/// Events until the daemon ends.
pub type EventStream = BoxStream<'static, Event>;

type Answered = oneshot::Sender<Result<serde_json::Value, ControlError>>;

#[derive(Default)]
struct Waiting {
    answers: HashMap<u64, Answered>,
    subscribers: Vec<mpsc::UnboundedSender<Event>>,
    closed: bool,
}

/// A connection to the daemon. Requests may be made side by side.
pub struct Client {
    welcome: Welcome,
    next: AtomicU64,
    asks: mpsc::Sender<Ask>,
    waiting: Arc<Mutex<Waiting>>,
    task: tokio::task::JoinHandle<()>,
}

impl Client {
    /// Connects to the daemon that listens at `socket`. `name` says who asks: `cli`, `tray`, `mcp`.
    ///
    /// # Errors
    /// [`ControlError::NotRunning`] if nobody listens there, [`ControlError::Version`] if the two
    /// don't understand each other.
    pub async fn connect(socket: &Path, name: &str) -> Result<Self, ControlError> {
        match cairn_platform::socket::connect(socket).await {
            Ok(stream) => Self::over(stream, name).await,
            Err(e)
                if matches!(
                    e.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
                ) =>
            {
                Err(ControlError::NotRunning)
            }
            Err(source) => Err(ControlError::Socket {
                path: socket.to_owned(),
                source,
            }),
        }
    }

    /// Speaks over a stream that is connected already.
    ///
    /// # Errors
    /// [`ControlError::Version`] if the two don't understand each other.
    pub async fn over<S>(stream: S, name: &str) -> Result<Self, ControlError>
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        let (reader, mut writer) = tokio::io::split(stream);
        let mut reader = BufReader::new(reader);
        let hello = Hello {
            protocol: PROTOCOL,
            client: name.to_owned(),
        };
        line::write(&mut writer, &hello)
            .await
            .map_err(|_| ControlError::Closed)?;
        let welcome: Welcome = line::read(&mut reader)
            .await
            .map_err(|e| ControlError::Protocol(e.to_string()))?
            .ok_or(ControlError::Closed)?;
        if welcome.protocol != PROTOCOL {
            return Err(ControlError::Version {
                version: welcome.version,
                theirs: welcome.protocol,
                ours: PROTOCOL,
            });
        }
        let waiting = Arc::new(Mutex::new(Waiting::default()));
        let (asks, mut asked) = mpsc::channel::<Ask>(16);
        let shared = waiting.clone();
        let task = tokio::spawn(async move {
            let reading = async {
                while let Ok(Some(told)) = line::read::<Told>(&mut reader).await {
                    deliver(&shared, told);
                }
            };
            let writing = async {
                while let Some(ask) = asked.recv().await {
                    if line::write(&mut writer, &ask).await.is_err() {
                        return;
                    }
                }
            };
            tokio::select! { () = reading => {}, () = writing => {} }
            let mut waiting = shared.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.closed = true;
            waiting.answers.clear();
            waiting.subscribers.clear();
        });
        Ok(Self {
            welcome,
            next: AtomicU64::new(1),
            asks,
            waiting,
            task,
        })
    }

    /// The daemon's version.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.welcome.version
    }

    /// The daemon's process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.welcome.pid
    }

    /// Makes a request whose answer is a `T` (see [`Request`]).
    ///
    /// # Errors
    /// [`ControlError::Refused`] with the daemon's reason, [`ControlError::Closed`] if it went away.
    pub async fn request<T: DeserializeOwned>(&self, request: Request) -> Result<T, ControlError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answered, answer) = oneshot::channel();
        {
            let mut waiting = self.lock();
            if waiting.closed {
                return Err(ControlError::Closed);
            }
            waiting.answers.insert(id, answered);
        }
        self.asks
            .send(Ask { id, request })
            .await
            .map_err(|_| ControlError::Closed)?;
        let value = answer.await.map_err(|_| ControlError::Closed)??;
        serde_json::from_value(value).map_err(|e| ControlError::Protocol(e.to_string()))
    }

    /// Makes a request that only has to be done.
    ///
    /// # Errors
    /// As [`Client::request`].
    pub async fn order(&self, request: Request) -> Result<(), ControlError> {
        self.request::<Done>(request).await.map(|_| ())
    }

    /// Listens to the daemon's events; the first is the status. The stream ends with the daemon.
    ///
    /// # Errors
    /// As [`Client::request`].
    pub async fn subscribe(&self) -> Result<EventStream, ControlError> {
        let (sender, receiver) = mpsc::unbounded_channel();
        {
            let mut waiting = self.lock();
            if waiting.closed {
                return Err(ControlError::Closed);
            }
            waiting.subscribers.push(sender);
        }
        self.order(Request::Subscribe).await?;
        Ok(UnboundedReceiverStream::new(receiver).boxed())
    }

    /// Waits until the daemon has closed the connection, which it does when it ends.
    pub async fn closed(mut self) {
        // The task ends in no other way that would matter here.
        (&mut self.task).map(drop).await;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn deliver(waiting: &Mutex<Waiting>, told: Told) {
    let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(event) = told.event {
        waiting
            .subscribers
            .retain(|subscriber| subscriber.send(event.clone()).is_ok());
    }
    let Some(answered) = told.id.and_then(|id| waiting.answers.remove(&id)) else {
        return;
    };
    let answer = match (told.ok, told.error) {
        (Some(ok), _) => Ok(ok),
        (None, Some(failure)) => Err(ControlError::Refused(failure)),
        (None, None) => Err(ControlError::Protocol("an answer without content".into())),
    };
    // Whoever asked may have gone.
    let _ = answered.send(answer);
}
