//! The client side of the connection to the daemon: requests and events.
//!
//! A reply may take as long as the work takes, and a daemon that works on it responds to other requests meanwhile. One
//! that responds to nothing for [`SILENCE_LIMIT`] has failed.

use crate::envelope::{Hello, IncomingMessage, PROTOCOL, RequestEnvelope, Welcome};
use crate::error::ControlError;
use crate::event::Event;
use crate::line;
use crate::request::{Request, TypedRequest, typed};
use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, StreamExt as _};
use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_stream::wrappers::UnboundedReceiverStream;

/// Events until the daemon ends.
pub type EventStream = BoxStream<'static, Event>;

/// The time without a reply after which the daemon is asked whether it responds at all.
const PING_AFTER: Duration = Duration::from_secs(2);
/// The silence after which whoever waits is notified.
const NOTICE_AFTER: Duration = Duration::from_secs(3);
/// The silence after which the daemon counts as hung: longer than a busy disk holds it up.
pub const SILENCE_LIMIT: Duration = Duration::from_secs(30);

/// Called once the daemon has not responded for some seconds.
pub type SilenceNotice = Arc<dyn Fn() + Send + Sync>;

type ReplySender = oneshot::Sender<Result<serde_json::Value, ControlError>>;

#[derive(Default)]
struct Waiting {
    replies: HashMap<u64, ReplySender>,
    subscribers: Vec<mpsc::UnboundedSender<Event>>,
    closed: bool,
}

/// A connection to the daemon. Requests may be made side by side.
pub struct Client {
    welcome: Welcome,
    next: AtomicU64,
    requests: mpsc::Sender<RequestEnvelope>,
    waiting: Arc<Mutex<Waiting>>,
    task: tokio::task::JoinHandle<()>,
    on_silence: SilenceNotice,
}

impl Client {
    /// Connects to the daemon that listens at `socket`. `name` is that of the client: `cli`, `tray`, `mcp`.
    ///
    /// # Errors
    /// [`ControlError::NotRunning`] if nobody listens there, [`ControlError::Silent`] if it does not respond,
    /// [`ControlError::Version`] if the two don't understand each other.
    pub async fn connect(socket: &Path, name: &str) -> Result<Self, ControlError> {
        Self::connect_watched(socket, name, Arc::new(|| {})).await
    }

    /// Connects like [`Client::connect`]; `on_silence` is called when the daemon doesn't respond for some seconds, now
    /// or during a request.
    ///
    /// # Errors
    /// As [`Client::connect`].
    pub async fn connect_watched(
        socket: &Path,
        name: &str,
        on_silence: SilenceNotice,
    ) -> Result<Self, ControlError> {
        let connecting = async {
            match Self::try_connect(socket, name).await {
                // It ended, or was killed, just then: another one may listen by now, or none.
                Err(ControlError::Closed) => Self::try_connect(socket, name).await,
                other => other,
            }
        };
        let mut client = within_limit(connecting, &*on_silence, None).await?;
        client.on_silence = on_silence;
        Ok(client)
    }

    async fn try_connect(socket: &Path, name: &str) -> Result<Self, ControlError> {
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
            // Its process ended with connections that it had not taken yet.
            Err(e)
                if matches!(
                    e.kind(),
                    io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe
                ) =>
            {
                Err(ControlError::Closed)
            }
            Err(source) => Err(ControlError::Socket {
                path: socket.to_owned(),
                source,
            }),
        }
    }

    /// Does the handshake over a stream that is connected already.
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
            .map_err(|error| match error.kind() == io::ErrorKind::InvalidData {
                true => ControlError::Protocol(error.to_string()),
                false => ControlError::Closed,
            })?
            .ok_or(ControlError::Closed)?;
        if welcome.protocol != PROTOCOL {
            return Err(ControlError::Version {
                version: welcome.version,
                theirs: welcome.protocol,
                ours: PROTOCOL,
            });
        }
        let waiting = Arc::new(Mutex::new(Waiting::default()));
        let (requests, mut queue) = mpsc::channel::<RequestEnvelope>(16);
        let shared = waiting.clone();
        let task = tokio::spawn(async move {
            let reading = async {
                while let Ok(Some(incoming)) = line::read::<IncomingMessage>(&mut reader).await {
                    deliver(&shared, incoming);
                }
            };
            let writing = async {
                while let Some(request) = queue.recv().await {
                    if line::write(&mut writer, &request).await.is_err() {
                        return;
                    }
                }
            };
            tokio::select! { () = reading => {}, () = writing => {} }
            let mut waiting = shared.lock();
            waiting.closed = true;
            waiting.replies.clear();
            waiting.subscribers.clear();
        });
        Ok(Self {
            welcome,
            next: AtomicU64::new(1),
            requests,
            waiting,
            task,
            on_silence: Arc::new(|| {}),
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

    /// Makes a request and returns its reply.
    ///
    /// # Errors
    /// As [`Client::request`].
    pub async fn send<R: TypedRequest>(&self, request: R) -> Result<R::Reply, ControlError> {
        self.request(request.into()).await
    }

    /// Makes a request whose reply is read as a `T`, such as a JSON value that is passed on.
    ///
    /// # Errors
    /// [`ControlError::Refused`] with the daemon's reason, [`ControlError::Closed`] if it went away,
    /// [`ControlError::Silent`] if it responds to nothing any more.
    pub async fn request<T: DeserializeOwned>(&self, request: Request) -> Result<T, ControlError> {
        let mut reply = std::pin::pin!(self.exchange(request));
        let value = loop {
            match timeout(PING_AFTER, &mut reply).await {
                Ok(reply) => break reply?,
                Err(_) => self.ping().await?,
            }
        };
        serde_json::from_value(value).map_err(|e| ControlError::Protocol(e.to_string()))
    }

    /// Waits until the daemon has responded to a request that needs no work: whoever waits for its events knows so that
    /// it runs.
    ///
    /// # Errors
    /// [`ControlError::Closed`] if it went away, [`ControlError::Silent`] if it does not respond.
    pub async fn ping(&self) -> Result<(), ControlError> {
        let ping = self.exchange(Request::Ping);
        let pong = within_limit(ping, &*self.on_silence, Some(self.pid())).await;
        pong.map(drop)
    }

    /// Makes a request and waits for its reply, however long that takes.
    async fn exchange(&self, request: Request) -> Result<serde_json::Value, ControlError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, reply) = oneshot::channel();
        {
            let mut waiting = self.lock();
            if waiting.closed {
                return Err(ControlError::Closed);
            }
            waiting.replies.insert(id, sender);
        }
        self.requests
            .send(RequestEnvelope { id, request })
            .await
            .map_err(|_| ControlError::Closed)?;
        reply.await.map_err(|_| ControlError::Closed)?
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
        self.send(typed::Subscribe {}).await?;
        Ok(UnboundedReceiverStream::new(receiver).boxed())
    }

    /// Waits until the daemon has closed the connection, which it does when it ends.
    pub async fn wait_closed(mut self) {
        // The task ends in no other way that would matter here.
        (&mut self.task).map(drop).await;
    }

    fn lock(&self) -> parking_lot::MutexGuard<'_, Waiting> {
        self.waiting.lock()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Waits for a response that a daemon gives at once, whatever it works on.
async fn within_limit<T>(
    response: impl Future<Output = Result<T, ControlError>>,
    on_silence: &(dyn Fn() + Send + Sync),
    pid: Option<u32>,
) -> Result<T, ControlError> {
    let mut response = std::pin::pin!(response);
    if let Ok(response) = timeout(NOTICE_AFTER, &mut response).await {
        return response;
    }
    on_silence();
    let rest = SILENCE_LIMIT.saturating_sub(NOTICE_AFTER);
    let response = timeout(rest, response).await;
    response.unwrap_or(Err(ControlError::Silent { pid }))
}

fn deliver(waiting: &Mutex<Waiting>, incoming: IncomingMessage) {
    let mut waiting = waiting.lock();
    if let Some(event) = incoming.event {
        waiting
            .subscribers
            .retain(|subscriber| subscriber.send(event.clone()).is_ok());
    }
    let Some(sender) = incoming.id.and_then(|id| waiting.replies.remove(&id)) else {
        return;
    };
    let reply = match (incoming.ok, incoming.error) {
        (Some(ok), _) => Ok(ok),
        (None, Some(failure)) => Err(ControlError::Refused(failure)),
        (None, None) => Err(ControlError::Protocol("a reply without content".into())),
    };
    // The caller may have gone.
    let _ = sender.send(reply);
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use cairn_platform::socket::Listener;

    #[tokio::test]
    async fn a_daemon_that_ends_while_it_is_asked_counts_as_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        let mut listener = Some(Listener::bind(&path).unwrap());
        let ends = async {
            let stream = listener.as_ref().unwrap().accept().await.unwrap();
            // First nobody listens, then the connection ends.
            listener = None;
            std::fs::remove_file(&path).ok();
            drop(stream);
        };
        let (connected, ()) = tokio::join!(Client::connect(&path, "test"), ends);
        assert!(matches!(connected, Err(ControlError::NotRunning)));
    }

    #[tokio::test]
    async fn what_is_no_daemon_is_not_taken_for_one_that_ended() {
        let (ours, theirs) = tokio::io::duplex(1024);
        let says = async {
            let mut theirs = BufReader::new(theirs);
            let _: Option<Hello> = line::read(&mut theirs).await.unwrap();
            line::write(&mut theirs, &"hello").await.unwrap();
        };
        let (connected, ()) = tokio::join!(Client::over(ours, "test"), says);
        assert!(matches!(connected, Err(ControlError::Protocol(_))));
    }
}
