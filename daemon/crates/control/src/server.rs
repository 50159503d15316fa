//! The daemon's side of the connection: accepts connections, passes requests to a [`Handler`], sends events.
//!
//! Requests of one connection run concurrently, so that one which waits holds up no other. A
//! connection that ends cancels its pending requests.

use crate::envelope::{
    Failure, FailureCode, Hello, PROTOCOL, RequestEnvelope, ServerMessage, Welcome,
};
use crate::event::Event;
use crate::line;
use crate::request::{Reply, Request};
use async_trait::async_trait;
use cairn_platform::socket::Listener;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, BufReader};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// More requests of one connection at once than any client of ours makes.
const MAX_CONCURRENT_REQUESTS: usize = 64;
/// Lines that wait for a slow client before its own requests wait too.
const BACKLOG: usize = 256;

/// Keeps a lasting failure to accept from using a whole core.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Events for one subscriber, beginning with the status.
pub type EventSource = BoxStream<'static, Event>;

/// The daemon behind the protocol.
#[async_trait]
pub trait Handler: Send + Sync + 'static {
    /// Carries out one request; [`Request::Subscribe`] and [`Request::Ping`] never get here.
    ///
    /// # Errors
    /// [`Failure`], with a text for a person.
    async fn handle(&self, request: Request) -> Result<Reply, Failure>;

    /// The events of a new subscriber.
    fn events(&self) -> EventSource;

    /// The daemon's version, for the greeting.
    fn version(&self) -> String;
}

/// Takes connections until the future is dropped; their tasks end with it.
pub async fn serve(listener: &Listener, handler: Arc<dyn Handler>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(stream) => {
                    // What a client did wrong ends its own connection and concerns nobody else.
                    let serving = serve_connection(stream, handler.clone());
                    connections.spawn(async move { serving.await.ok() });
                }
                // Too many open files, most likely: the next connection may find room again.
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Serves one client until it disconnects.
///
/// # Errors
/// The stream's, or a line that is no message.
pub async fn serve_connection<S>(stream: S, handler: Arc<dyn Handler>) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let (reader, mut writer) = tokio::io::split(stream);
    let mut reader = BufReader::new(reader);
    let Some(hello) = line::read::<Hello>(&mut reader).await? else {
        return Ok(());
    };
    let welcome = Welcome {
        protocol: PROTOCOL,
        version: handler.version(),
        pid: std::process::id(),
    };
    line::write(&mut writer, &welcome).await?;
    if hello.protocol != PROTOCOL {
        return Ok(());
    }
    let (outgoing, mut queue) = mpsc::channel::<ServerMessage>(BACKLOG);
    let reading = async move {
        let mut tasks = JoinSet::new();
        while let Some(numbered) = line::read::<RequestEnvelope>(&mut reader).await? {
            while tasks.len() >= MAX_CONCURRENT_REQUESTS {
                tasks.join_next().await;
            }
            while tasks.try_join_next().is_some() {}
            let (handler, outgoing) = (handler.clone(), outgoing.clone());
            tasks.spawn(async move { respond(numbered, handler, outgoing).await });
        }
        Ok(())
    };
    let writing = async move {
        while let Some(message) = queue.recv().await {
            line::write(&mut writer, &message).await?;
        }
        Ok(())
    };
    tokio::select! { done = reading => done, done = writing => done }
}

async fn respond(
    numbered: RequestEnvelope,
    handler: Arc<dyn Handler>,
    outgoing: mpsc::Sender<ServerMessage>,
) {
    let id = numbered.id;
    if numbered.request == Request::Subscribe {
        // Subscribed before the reply goes out, so that nothing after it is missed.
        let mut events = handler.events();
        if outgoing
            .send(ServerMessage::Reply {
                id,
                ok: Reply::DONE,
            })
            .await
            .is_err()
        {
            return;
        }
        while let Some(event) = events.next().await {
            if outgoing.send(ServerMessage::Event(event)).await.is_err() {
                return;
            }
        }
        return;
    }
    if numbered.request == Request::Ping {
        let ok = Reply::DONE;
        // The client may have gone.
        drop(outgoing.send(ServerMessage::Reply { id, ok }).await);
        return;
    }
    // A panic in the daemon must not leave a person waiting.
    let handling = tokio::spawn(async move { handler.handle(numbered.request).await });
    let abort = AbortOnDrop(handling.abort_handle());
    let message = match handling.await {
        Ok(Ok(ok)) => ServerMessage::Reply { id, ok },
        Ok(Err(error)) => ServerMessage::Failure { id, error },
        Err(_) => {
            let text = "the daemon failed while it worked on the request: see `cairn logs`";
            ServerMessage::Failure {
                id,
                error: Failure::new(FailureCode::Failed, text),
            }
        }
    };
    drop(abort);
    // The client may have gone.
    let _ = outgoing.send(message).await;
}

struct AbortOnDrop(tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
